"""Every message of the URDF reader, word for word."""

from __future__ import annotations

import pytest

from kinpair.description.urdf import parse_urdf, read_urdf
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError

ENDS = '<parent link="a"/><child link="b"/>'
TENSOR = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def robot(line):
    return f'<robot name="r">\n{line}\n</robot>'


def link(inside):
    return robot(f'<link name="arm">{inside}</link>')


def joint(inside, kind="revolute", ends=ENDS):
    return robot(f'<joint name="elbow" type="{kind}">{ends}{inside}</joint>')


def visual(geometry):
    return link(f"<visual><geometry>{geometry}</geometry></visual>")


REFUSED = [
    (
        '<!DOCTYPE robot [<!ENTITY a "b">]><robot/>',
        "r.urdf:1: has a document type (<!DOCTYPE>), which could pull in other files or grow without bound; "
        "URDF needs none, delete it",
    ),
    (
        '<?xml version="1.0" encoding="latin-1"?><robot/>',
        "r.urdf:1: declares the encoding 'latin-1'; save it as UTF-8 and declare that",
    ),
    ("hello", "r.urdf:1: is not well-formed XML (syntax error); correct it there"),
    ("", "r.urdf:1: is not well-formed XML (no element found); correct it there"),
    (
        '<robot>\n<link name="a">\n</robot>',
        "r.urdf:3: is not well-formed XML "
        "(Opening and ending tag mismatch: link line 2 and robot); correct it there",
    ),
    ("<mujoco/>", "r.urdf:1: is MJCF (its root is <mujoco>), not URDF; give its name the ending .xml"),
    (
        "<sdf/>",
        "r.urdf:1: is SDF (its root is <sdf>), not URDF; give its name the ending .sdf",
    ),
    ("<html/>", "r.urdf:1: is not URDF: its root is <html>, and should be <robot>"),
    (
        '<robot xmlns:x="http://www.ros.org/wiki/xacro">\n<x:macro/></robot>',
        "r.urdf:2: is a xacro file (found <x:macro>), not URDF; give its name the ending .xacro",
    ),
    (
        robot('<xacro:include filename="a"/>'),
        "r.urdf:2: is a xacro file (found <xacro:include>), not URDF; give its name the ending .xacro",
    ),
    (robot("<link/>"), 'r.urdf:2: <link> has no name; write <link name="...">'),
    (robot('<joint type="fixed"/>'), 'r.urdf:2: <joint> has no name; write <joint name="...">'),
    (
        robot('<link name="arm"/>\n<link name="arm"/>'),
        "r.urdf:3: link 'arm' exists already at r.urdf:2; rename one of them",
    ),
    (
        robot(f'<joint name="elbow" type="fixed">{ENDS}</joint>\n<joint name="elbow"/>'),
        "r.urdf:3: joint 'elbow' exists already at r.urdf:2; rename one of them",
    ),
    (
        robot('<joint name="elbow" type="helical"/>'),
        "r.urdf:2: joint 'elbow' has the unknown type 'helical'; "
        "Types: revolute, continuous, prismatic, fixed, floating, planar",
    ),
    (
        robot('<joint name="elbow"/>'),
        "r.urdf:2: joint 'elbow' has no type; "
        "write one of revolute, continuous, prismatic, fixed, floating, planar",
    ),
    (
        joint("", ends='<child link="b"/>'),
        "r.urdf:2: joint 'elbow' has no parent link; write <parent link=\"...\"/> in it",
    ),
    (
        joint("", ends='<parent link="a"/><child/>'),
        "r.urdf:2: joint 'elbow' has no child link; write <child link=\"...\"/> in it",
    ),
    (
        joint("<mimic/>", "continuous"),
        "r.urdf:2: joint 'elbow' has <mimic> without a joint; write <mimic joint=\"...\"/>",
    ),
    (
        joint('<origin quat_xyzw="0 0 0 0"/>'),
        "r.urdf:2: joint 'elbow' has an <origin> with a quaternion of zeros; 0 0 0 1 means not turned",
    ),
    (
        joint('<origin xyz="1 2"/>'),
        "r.urdf:2: joint 'elbow' has <origin xyz=\"1 2\">: 2 numbers; expected 3",
    ),
    (
        joint('<limit upper="1,5"/>'),
        "r.urdf:2: joint 'elbow' has <limit upper=\"1,5\">: 2 numbers; expected 1",
    ),
    (
        link('<inertial><mass value="abc"/></inertial>'),
        "r.urdf:2: link 'arm' has <mass value=\"abc\">: 'abc' is not a number; "
        "write a plain finite number in SI units",
    ),
    (
        link('<inertial><mass value="5kg"/></inertial>'),
        "r.urdf:2: link 'arm' has <mass value=\"5kg\">: '5kg' is not a number; "
        "write a plain finite number in SI units",
    ),
    (
        joint('<axis xyz="0 nan 1"/>'),
        "r.urdf:2: joint 'elbow' has <axis xyz=\"0 nan 1\">: 'nan' is not a number; "
        "write a plain finite number in SI units",
    ),
    (
        joint('<origin rpy="0 0 ${pi}"/>'),
        "r.urdf:2: joint 'elbow' has <origin rpy=\"0 0 ${pi}\">: '${pi}' is not a number; "
        "run xacro on the file",
    ),
]

DOUBTED = [
    (
        link(f'<inertial>\n<mass value="0.07,"/>{TENSOR}</inertial>'),
        "r.urdf:3: link 'arm' has <mass value=\"0.07,\">: read as 0.07",
    ),
    (
        joint('<origin xyz="1,2,3"/>', "fixed"),
        "r.urdf:2: joint 'elbow' has <origin xyz=\"1,2,3\">: read as 1 2 3",
    ),
    (
        link(f'<inertial><mass value="1"/>{TENSOR}</inertial>\n<inertial><mass value="2"/></inertial>'),
        "r.urdf:3: link 'arm' has 2 <inertial>; the first is taken, from r.urdf:2",
    ),
    (
        link(f"<inertial>{TENSOR}</inertial>"),
        "r.urdf:2: link 'arm' has <inertial> without mass; taken as zero",
    ),
    (
        link('<inertial><mass value="1"/></inertial>'),
        "r.urdf:2: link 'arm' has <inertial> without inertia; taken as zero",
    ),
    (
        link("<inertial/>"),
        "r.urdf:2: link 'arm' has <inertial> without mass, inertia; taken as zero",
    ),
    (
        link('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'),
        "r.urdf:2: link 'arm' has <inertial> without ixy, ixz, iyz; taken as zero",
    ),
    (link("<visual/>"), "r.urdf:2: link 'arm' has a <visual> without a shape; left out"),
    (
        visual("<cone/>"),
        "r.urdf:2: link 'arm' has the unknown or incomplete shape <cone>; left out. "
        "Shapes: box, sphere, cylinder, capsule, mesh",
    ),
    (
        visual('<cylinder radius="1"/>'),
        "r.urdf:2: link 'arm' has the unknown or incomplete shape <cylinder>; left out. "
        "Shapes: box, sphere, cylinder, capsule, mesh",
    ),
    (
        robot(
            '<link name="a"><visual><geometry><mesh filename="package://p/a"/></geometry></visual></link>\n'
            '<link name="b"><visual><geometry><mesh filename="package://p/b"/></geometry></visual></link>'
        ),
        "r.urdf:2: link 'a' shows the mesh 'package://p/a', which is not there (2 missing in all); "
        "left undrawn, packages={name: folder} says where a package is",
    ),
    (
        visual('<mesh filename="no.stl"/>'),
        "r.urdf:2: link 'arm' shows the mesh 'no.stl', which is not there (1 missing in all); left undrawn",
    ),
    (joint(""), "r.urdf:2: joint 'elbow' is revolute and has no <limit>; taken as unlimited"),
    (
        joint('<limit lower="-1" upper="1"/>', "prismatic"),
        "r.urdf:2: joint 'elbow' has <limit> without velocity, effort; taken as unlimited",
    ),
    (
        joint('<limit velocity="1" effort="1"/>'),
        "r.urdf:2: joint 'elbow' has <limit> without lower and upper; taken as unlimited",
    ),
    (
        joint('<dynamics damping="1"/>', "floating"),
        "r.urdf:2: joint 'elbow' is floating, so <dynamics> has no meaning for it; left out",
    ),
    (
        joint('<dynamics damping="1"/><mimic joint="elbow"/>', "fixed"),
        "r.urdf:2: joint 'elbow' is fixed, so <mimic> has no meaning for it; left out",
    ),
    (
        joint('<mimic joint="shoulder"/>', "continuous"),
        "r.urdf:2: joint 'elbow' mimics joint 'shoulder', which does not exist; taken as an independent "
        "joint",
    ),
    (
        '<?xml version="0.0" ?>\n<robot name="r"/>',
        "r.urdf:1: declares XML of version '0.0'; read as 1.0",
    ),
    (
        '<?xml version="1.1" encoding="utf-8"?>\n<robot name="r"/>',
        "r.urdf:1: declares XML of version '1.1'; read as 1.0",
    ),
    (
        '\n \n<?xml version="1.0"?>\n<robot name="r"/>',
        "r.urdf:3: has space before <?xml ...?>, which belongs at the very start of a file; read without it",
    ),
    (
        ' \ufeff<?xml version="1.0"?>\n<robot name="r"/>',
        "r.urdf:1: has space before <?xml ...?>, which belongs at the very start of a file; read without it",
    ),
    (
        '<robot name="r" version="0.0"/>',
        'r.urdf:1: <robot> has version="0.0", which is not a version of URDF; read as 1.0',
    ),
]

UNDRAWN = [
    (
        visual('<mesh filename="a.stl" scale="1 1 1 1"/>'),
        "r.urdf:2: link 'arm' has <mesh scale=\"1 1 1 1\">: 4 numbers; expected 3",
    ),
    (
        visual('<sphere radius="big"/>'),
        "r.urdf:2: link 'arm' has <sphere radius=\"big\">: 'big' is not a number; "
        "write a plain finite number in SI units",
    ),
    (
        link('<visual><origin xyz="1 2"/><geometry><sphere radius="1"/></geometry></visual>'),
        "r.urdf:2: link 'arm' has <origin xyz=\"1 2\">: 2 numbers; expected 3",
    ),
]


@pytest.fixture(autouse=True)
def _no_ros(monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_wrong_file_is_refused_with_a_sentence(text, message):
    with pytest.raises(DescriptionError) as refusal:
        parse_urdf(text, source="r.urdf", warnings=WarningList())
    assert str(refusal.value) == message


@pytest.mark.parametrize(("text", "message"), DOUBTED)
def test_a_doubtful_part_is_accepted_with_one_sentence(text, message):
    assert parse_urdf(text, source="r.urdf", warnings=WarningList()).warnings == (message,)


@pytest.mark.parametrize(("text", "message"), DOUBTED)
def test_strict_refuses_a_doubtful_part_with_the_same_sentence(text, message):
    with pytest.raises(DescriptionError) as refusal:
        parse_urdf(text, source="r.urdf", warnings=WarningList(strict=True))
    assert str(refusal.value) == message


@pytest.mark.parametrize(("text", "reason"), UNDRAWN)
def test_a_shape_that_cannot_be_read_is_left_undrawn(text, reason):
    result = parse_urdf(text, source="r.urdf", warnings=WarningList())
    assert result.warnings == (f"{reason}; left undrawn",)
    assert result.links[0].shapes == ()


@pytest.mark.parametrize(("text", "reason"), UNDRAWN)
def test_strict_refuses_a_shape_that_cannot_be_read(text, reason):
    with pytest.raises(DescriptionError) as refusal:
        parse_urdf(text, source="r.urdf", warnings=WarningList(strict=True))
    assert str(refusal.value) == reason


def test_lines_are_counted_from_the_start_of_the_file_also_before_a_late_declaration():
    text = '\n\n<?xml\nversion="0.0"?>\n<robot name="r">\n<link/></robot>'
    with pytest.raises(DescriptionError) as refusal:
        parse_urdf(text, source="r.urdf", warnings=WarningList())
    assert str(refusal.value) == 'r.urdf:6: <link> has no name; write <link name="...">'


def test_a_late_declaration_hides_no_foreign_encoding():
    text = '\n\n<?xml version="1.0" encoding="latin-1"?><robot/>'
    with pytest.raises(DescriptionError) as refusal:
        parse_urdf(text, source="r.urdf", warnings=WarningList())
    assert (
        str(refusal.value) == "r.urdf:3: declares the encoding 'latin-1'; save it as UTF-8 and declare that"
    )


def test_a_file_is_named_as_the_caller_named_it(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf").write_text("<robot>\n<link/>\n</robot>")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DescriptionError) as refusal:
        read_urdf("arm.urdf", warnings=WarningList())
    assert str(refusal.value) == 'arm.urdf:2: <link> has no name; write <link name="...">'
    assert refusal.value.parts == {"part": "link"}


def test_an_error_carries_part_attribute_and_what_was_found():
    with pytest.raises(DescriptionError) as refusal:
        parse_urdf(link('<inertial><mass value="abc"/></inertial>'), source="r.urdf", warnings=WarningList())
    assert refusal.value.parts == {"part": "link 'arm'", "attribute": "value", "found": "abc"}
