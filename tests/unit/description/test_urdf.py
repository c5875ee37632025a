"""Reading URDF: what is in the file is in the description, and nothing else gets in."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinpair.description.parts import Link, Mimic, Origin, Shape
from kinpair.description.urdf import parse_urdf, read_urdf
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
TENSOR = '<inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0.2" iyz="0.3"/>'


def read(body, **options):
    warnings = options.pop("warnings", None) or WarningList(strict=True)
    return parse_urdf(f'<robot name="r">{body}</robot>', source="r.urdf", warnings=warnings, **options)


def link(inside, **options):
    return read(f'<link name="a">{inside}</link>', **options).links[0]


def joint(kind, inside="", **options):
    text = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{inside}</joint>'
    return read(text, **options).joints[0]


def visual(geometry, **options):
    return link(f"<visual><geometry>{geometry}</geometry></visual>", **options).shapes


@pytest.fixture
def no_ros(monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("solid")
    return path


# links


def test_a_link_without_inertial_has_no_mass_and_no_doubt():
    assert link("") == Link("a")


def test_an_inertial_that_is_not_turned_is_taken_number_by_number():
    inside = f'<inertial><origin xyz="1 2 3"/><mass value="4"/>{TENSOR}</inertial>'
    assert link(inside) == Link("a", 4.0, (1.0, 2.0, 3.0), (1.0, 2.0, 2.5, 0.1, 0.2, 0.3))


@pytest.mark.parametrize("seed", range(5))
def test_a_turned_inertial_is_the_tensor_in_axes_of_the_link(seed):
    rpy = np.random.default_rng(seed).uniform(-3, 3, 3)
    written = np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]])
    origin = f'<origin xyz="1 2 3" rpy="{" ".join(map(str, rpy))}"/>'
    result = link(f'<inertial>{origin}<mass value="4"/>{TENSOR}</inertial>')
    turn = Rotation.from_euler("xyz", rpy).as_matrix()  # lower case: fixed axes
    expected = np.einsum("ia,jb,ab->ij", turn, turn, written)
    assert result.com == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(result.tensor(), expected, rtol=0, atol=1e-14)


def test_a_quarter_turn_about_z_swaps_xx_and_yy():
    origin = '<origin rpy="0 0 1.5707963267948966"/>'
    inertia = '<inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/>'
    result = link(f'<inertial>{origin}<mass value="4"/>{inertia}</inertial>')
    assert result.inertia == (2.0, 1.0, 2.5, 0.0, 0.0, 0.0)


def test_an_origin_may_have_a_quaternion():
    assert joint("fixed", '<origin quat_xyzw="0 0 1 1"/>').origin == Origin(turn=(0.0, 0.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("geometry", "kind", "size"),
    [
        ('<box size="1 2 3"/>', "box", (1.0, 2.0, 3.0)),
        ('<sphere radius="1"/>', "sphere", (1.0,)),
        ('<cylinder length="2" radius="1"/>', "cylinder", (1.0, 2.0)),
        ('<capsule length="2" radius="1"/>', "capsule", (1.0, 2.0)),
    ],
)
def test_every_shape_is_kept_with_its_size(geometry, kind, size):
    assert visual(geometry) == (Shape(kind, size),)


def test_a_link_has_a_shape_for_every_visual_where_it_sits():
    one = '<visual><origin xyz="1 2 3" rpy="0 0 1"/><geometry><sphere radius="1"/></geometry></visual>'
    two = '<visual><geometry><sphere radius="2"/></geometry></visual>'
    collision = '<collision><geometry><sphere radius="3"/></geometry></collision>'
    shapes = link(one + two + collision).shapes
    assert shapes == (
        Shape("sphere", (1.0,), Origin((1.0, 2.0, 3.0), (0.0, 0.0, 1.0))),
        Shape("sphere", (2.0,)),
    )


# joints


@pytest.mark.parametrize(
    ("written", "kind", "axis"),
    [
        ("revolute", "revolute", (0.0, 2.0, 0.0)),
        ("continuous", "revolute", (0.0, 2.0, 0.0)),
        ("prismatic", "prismatic", (0.0, 2.0, 0.0)),
        ("planar", "planar", (0.0, 2.0, 0.0)),
        ("fixed", "fixed", (0.0, 0.0, 1.0)),
        ("floating", "free", (0.0, 0.0, 1.0)),
    ],
)
def test_every_joint_type_has_its_kind_and_an_axis_as_written_where_it_has_one(written, kind, axis):
    result = joint(written, f'<origin xyz="1 2 3" rpy="4 5 6"/><axis xyz="0 2 0"/>{LIMIT}')
    assert (result.kind, result.axis, result.parent, result.child) == (kind, axis, "a", "b")
    assert result.origin == Origin((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar"])
def test_the_axis_is_x_when_none_is_written(kind):
    assert joint(kind, LIMIT).axis == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("revolute", ((-1.0,), (2.0,), (3.0,), (4.0,))),
        ("prismatic", ((-1.0,), (2.0,), (3.0,), (4.0,))),
        ("continuous", ((), (), (3.0,), (4.0,))),
        ("fixed", ((), (), (), ())),
        ("floating", ((), (), (), ())),
        ("planar", ((), (), (), ())),
    ],
)
def test_limits_are_kept_where_they_mean_something(kind, limits):
    result = joint(kind, LIMIT)
    assert (result.lower, result.upper, result.velocity, result.effort) == limits


def test_one_limit_alone_leaves_the_other_at_zero():
    result = joint("prismatic", '<limit upper="0.04" velocity="1" effort="1"/>')
    assert (result.lower, result.upper) == ((0.0,), (0.04,))


def test_damping_and_friction_are_kept():
    result = joint("continuous", '<dynamics damping="0.5" friction="0.25"/>')
    assert (result.damping, result.friction) == ((0.5,), (0.25,))


def test_a_mimic_is_kept_with_its_defaults():
    text = (
        '<joint name="i" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="j" type="continuous"><parent link="b"/><child link="c"/><mimic joint="i"/></joint>'
        '<joint name="k" type="continuous"><parent link="c"/><child link="d"/>'
        '<mimic joint="i" multiplier="-2" offset="0.5"/></joint>'
    )
    mimics = [results.mimic for results in read(text).joints]
    assert mimics == [None, Mimic("i", 1.0, 0.0), Mimic("i", -2.0, 0.5)]


def test_what_is_no_mechanics_is_passed_over_in_silence():
    inside = '<safety_controller k_velocity="x"/><calibration rising="0"/><extra/>'
    text = (
        '<material name="red"/><gazebo><link name="a"/></gazebo><sensor:camera name="undeclared prefix"/>'
        '<link name="a" colour="red"/>'
        f'<joint name="j" type="continuous"><parent link="a"/><child link="b"/>{inside}</joint>'
    )
    result = read(text)
    assert (len(result.links), len(result.joints), result.joints[0].gear_ratio) == (1, 1, 1.0)


def test_order_names_and_lines_are_those_of_the_file(tmp_path):
    file = tmp_path / "two words.urdf"
    file.write_text('<robot name="r">\n<link name="b b"/>\n<link\n name="a"/>\n</robot>')
    result = read_urdf(file, warnings=WarningList(strict=True))
    assert [part.name for part in result.links] == ["b b", "a"]
    assert [part.where for part in result.links] == [f"{file}:2", f"{file}:4"]
    assert (result.name, result.source) == ("r", str(file))


def test_a_default_namespace_changes_nothing():
    text = '<robot xmlns="http://drake.mit.edu" name="r"><link name="a"/></robot>'
    assert parse_urdf(text, source="r", warnings=WarningList(strict=True)).links == (Link("a"),)


def test_a_robot_without_a_name_is_called_as_its_file():
    assert parse_urdf("<robot/>", source="some/arm.urdf", warnings=WarningList(strict=True)).name == "arm"


def test_warnings_are_part_of_the_description():
    warnings = WarningList()
    result = read('<link name="a"><inertial/></link>', warnings=warnings)
    assert result.warnings == tuple(warnings.sentences)
    assert len(result.warnings) == 1


# numbers


@pytest.mark.parametrize("text", ["1", "+1", "1.", "1.0", "10e-1", ".1E1", " 1\n", "0.1e+1"])
def test_every_way_of_writing_a_number_is_read(text):
    assert link(f'<inertial><mass value="{text}"/>{TENSOR}</inertial>').mass == 1.0


@pytest.mark.parametrize(
    "text", ["abc", "nan", "inf", "-Infinity", "1e999", "1_0", "0x10", "1kg", "١", "1 2", ""]
)
def test_anything_else_is_refused(text):
    with pytest.raises(DescriptionError, match=r"r\.urdf:1: link 'a' has <mass value="):
        link(f'<inertial><mass value="{text}"/>{TENSOR}</inertial>')


def test_commas_between_numbers_are_read_as_spaces_with_a_doubt():
    warnings = WarningList()
    assert joint("fixed", '<origin xyz="1, 2,3,"/>', warnings=warnings).origin.xyz == (1.0, 2.0, 3.0)
    assert len(warnings.sentences) == 1


def test_a_decimal_comma_is_refused_and_not_guessed():
    with pytest.raises(DescriptionError, match="2 numbers; expected 1"):
        link(f'<inertial><mass value="1,5"/>{TENSOR}</inertial>')


# meshes


def mesh(name, **options):
    (shape,) = visual(f'<mesh filename="{name}"/>', **options)
    return shape.mesh


def test_a_mesh_has_a_scale_and_none_means_one():
    shapes = visual('<mesh filename="a.stl"/>', warnings=WarningList())
    assert shapes == (Shape("mesh", (1.0, 1.0, 1.0), mesh="a.stl"),)
    shapes = visual('<mesh filename="a.stl" scale="1 2 3"/>', warnings=WarningList())
    assert shapes == (Shape("mesh", (1.0, 2.0, 3.0), mesh="a.stl"),)


@pytest.mark.parametrize(
    "name", ["meshes/a b.stl", "{root}/meshes/a b.stl", "file://{root}/meshes/a%20b.stl"]
)
def test_plain_and_file_names_are_found(tmp_path, name):
    file = touch(tmp_path / "meshes" / "a b.stl")
    assert mesh(name.format(root=tmp_path), folder=tmp_path) == str(file)


@pytest.mark.parametrize(
    "name", ["package://arm/meshes/a.stl", "package:///arm/meshes/a.stl", "model://arm/meshes/a.stl"]
)
def test_a_package_is_found_above_the_file_by_the_name_of_its_folder(tmp_path, no_ros, name):
    file = touch(tmp_path / "arm" / "meshes" / "a.stl")
    assert mesh(name, folder=tmp_path / "arm" / "urdf") == str(file)
    assert mesh(name, folder=tmp_path / "other" / "urdf") == str(file)


def test_a_package_is_found_above_the_file_by_its_manifest(tmp_path, no_ros):
    file = touch(tmp_path / "checkout" / "a.stl")
    (tmp_path / "checkout" / "package.xml").write_text("<package>\n<name> arm </name></package>")
    assert mesh("package://arm/a.stl", folder=tmp_path / "checkout" / "urdf") == str(file)


@pytest.mark.parametrize("listed", ["ws", "ws/arm", "elsewhere:ws"])
def test_a_package_is_found_on_the_path_of_packages(tmp_path, no_ros, monkeypatch, listed):
    file = touch(tmp_path / "ws" / "arm" / "a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", ":".join(str(tmp_path / part) for part in listed.split(":")))
    assert mesh("package://arm/a.stl") == str(file)


def test_a_package_on_the_path_may_lie_in_a_folder_of_another_name(tmp_path, no_ros, monkeypatch):
    file = touch(tmp_path / "ws" / "checkout" / "a.stl")
    (tmp_path / "ws" / "checkout" / "package.xml").write_text("<package><name>arm</name></package>")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    assert mesh("package://arm/a.stl") == str(file)


def test_an_installed_package_is_found_under_share(tmp_path, no_ros, monkeypatch):
    file = touch(tmp_path / "share" / "arm" / "a.stl")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert mesh("package://arm/a.stl") == str(file)


def test_a_package_given_by_the_caller_comes_first(tmp_path, no_ros):
    touch(tmp_path / "arm" / "a.stl")
    file = touch(tmp_path / "mine" / "a.stl")
    assert mesh("package://arm/a.stl", folder=tmp_path, packages={"arm": tmp_path / "mine"}) == str(file)


@pytest.mark.parametrize("name", ["package://arm/a.stl", "http://host/a.stl", "file:///no/a.stl", "a" * 5000])
def test_a_mesh_that_is_not_there_keeps_its_name(tmp_path, no_ros, name):
    assert mesh(name, folder=tmp_path, warnings=WarningList()) == name


# hostile files


def test_an_entity_bomb_is_refused_in_little_memory():
    code = """
    import resource
    from kinpair.description.warning_list import WarningList
    from kinpair.description.urdf import parse_urdf
    from kinpair.errors import DescriptionError
    levels = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(12))
    bomb = f'<!DOCTYPE robot [<!ENTITY e0 "lol">{levels}]><robot name="&e12;">&e12;</robot>'
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        parse_urdf(bomb, source="bomb", warnings=WarningList())
    except DescriptionError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 20_000  # KiB


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE robot [<!ENTITY e SYSTEM "{file}">]><robot name="&e;"><link name="a">&e;</link></robot>',
        '<!DOCTYPE robot SYSTEM "{file}"><robot/>',
        '<!DOCTYPE robot [<!ENTITY % p SYSTEM "{file}"> %p;]><robot/>',
        '<?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE\trobot><robot/>',
    ],
)
def test_a_document_type_is_refused_and_what_it_names_is_not_read(tmp_path, document):
    secret = tmp_path / "secret.txt"
    secret.write_text("do not read me")
    with pytest.raises(DescriptionError, match="document type") as refusal:
        parse_urdf(document.format(file=secret.as_uri()), source="r.urdf", warnings=WarningList())
    assert "do not read me" not in str(refusal.value) + repr(refusal.value.parts)


def test_a_document_type_in_a_comment_or_in_character_data_is_only_text():
    text = "<!-- <!DOCTYPE a> --><robot><!-- <!ENTITY b> --><![CDATA[<!DOCTYPE c>]]></robot>"
    assert parse_urdf(text, source="r", warnings=WarningList(strict=True)).links == ()


def test_included_files_are_not_read(tmp_path):
    (tmp_path / "part.xml").write_text('<link name="b"/>')
    include = (
        f'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{(tmp_path / "part.xml").as_uri()}"/>'
    )
    assert read(f'<link name="a"/>{include}').links == (Link("a"),)


def test_a_long_run_of_digits_is_refused_in_linear_time():
    with pytest.raises(DescriptionError, match="is not a number") as refusal:
        link(f'<inertial><mass value="{"1" * 1_000_000}x"/>{TENSOR}</inertial>')
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(seed):
    whole = (
        f'<robot name="r"><link name="a"><inertial><origin xyz="1 2 3"/><mass value="1"/>{TENSOR}</inertial>'
        '<visual><geometry><box size="1 1 1"/></geometry></visual></link>'
        f'<joint name="j" type="revolute"><parent link="w"/><child link="a"/>{LIMIT}</joint></robot>'
    )
    draw = random.Random(seed)
    for _ in range(1000):
        place = draw.randrange(len(whole))
        patch = draw.choice(["", "<", ">", "/", '"', "&", ":", " ", ",", "x", "1", "\x00", "<!DOCTYPE a>"])
        damaged = whole[:place] + patch + whole[place + draw.randrange(5) :]
        message = refusal(damaged)
        assert message is None or message.startswith("r.urdf:1: "), (seed, damaged)


def refusal(text):
    try:
        parse_urdf(text, source="r.urdf", warnings=WarningList())
    except DescriptionError as error:
        return str(error)
    return None
