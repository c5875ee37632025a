"""What a file has and is not simulated, although the motion depends on it: reported once, by kind and name."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.descriptions import advice
from kinpair.description.mjcf import parse_mjcf
from kinpair.description.urdf import parse_urdf
from kinpair.description.warning_list import WarningList
from mjcf_models import NO_CONTACT, arm, mjcf

BALL = '<body name="ball" pos="0 0 1"><freejoint/><geom name="shell" size=".1"/></body>'
FLOOR = '<geom name="floor" type="plane" size="5 5 .1"/>'
START = "not simulated, although the motion depends on it: "


def reported(text: str, read=parse_mjcf) -> tuple[str, ...]:
    return read(text, source="r.xml", warnings=WarningList()).warnings


def omitted(text: str, read=parse_mjcf) -> dict[str, tuple[str, ...]]:
    """Labels by kind of everything that is left out."""
    try:
        read(text, source="r.xml", warnings=WarningList(strict=True))
    except kp.DescriptionError as refused:
        parts = refused.parts["omitted"]
        assert isinstance(parts, dict)
        return parts
    return {}


HILLS = '<asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset>'
LAND = '<geom name="land" type="hfield" hfield="hills"/>'


def test_a_shape_without_contact_is_reported(tmp_path):
    file = tmp_path / "scene.xml"
    file.write_text(mjcf(LAND + BALL, HILLS))
    with pytest.warns(kp.DescriptionWarning) as caught:
        scene = kp.load(file)
    sentence = f"{file}:1: {START}contact of 1 geom ('land' (hfield))"
    assert [str(x.message) for x in caught] == [sentence]
    assert scene.warnings == (sentence,)
    with pytest.raises(kp.DescriptionError) as refused:
        kp.load(file, strict=True)
    assert str(refused.value) == sentence
    assert advice(sentence).startswith("The motion differs from that of other simulators")


def test_shapes_that_nothing_can_touch_are_not_reported():
    assert omitted(mjcf(FLOOR + BALL)) == {}
    assert omitted(mjcf(LAND, HILLS)) == {}
    assert omitted(mjcf(LAND + BALL, HILLS, NO_CONTACT)) == {}
    assert omitted(mjcf(LAND.replace("/>", ' contype="2" conaffinity="2"/>') + BALL, HILLS)) == {}


def test_softness_is_reported_as_not_used():
    (sentence,) = reported(mjcf(FLOOR + BALL.replace("size", 'solref="0.01 1" size')))
    assert sentence == (
        "r.xml:1: geom 'shell' has solref, which is not used: contact is rigid here, that of others like it too"
    )


def test_what_is_left_out_comes_first_in_one_warning_and_sensors_do_not(tmp_path):
    text = arm(
        '<geom size=".1"/><plugin plugin="mujoco.elasticity.cable"/><joint name="t" springdamper="1 1"/>',
        '<tendon><fixed name="cable" damping="1"><joint joint="a"/><joint joint="a"/></fixed></tendon>',
        '<equality><tendon name="taut" tendon1="cable"/></equality>',
        '<actuator><muscle name="biceps" joint="a"/></actuator>',
        '<sensor><jointpos joint="a"/></sensor>',
    )
    first, second, *others = reported(text)
    assert first == (
        f"r.xml:1: {START}1 plugin "
        "('mujoco.elasticity.cable' on 'arm'), 1 equality constraint ('taut' (<tendon>)), 1 tendon ('cable')"
    )
    assert second.startswith(
        "r.xml:1: the section <actuator> has 1 of 1 that are not taken: 'biceps' (it is a <muscle>)"
    )
    assert len(others) == 1
    assert "springdamper" in others[0]


def random_tree(seed: int) -> str:
    """Geoms that all overlap, on a random tree of bodies with and without joints, random masks and exclusions."""
    random = np.random.default_rng(seed)
    geom = '<geom name="{}" size="1" contype="{}" conaffinity="{}"/>'
    insides = {k: [geom.format(f"g{k}", *random.integers(0, 4, size=2))] for k in range(8)}
    parents = [0, *(int(random.integers(0, k)) for k in range(1, 8))]
    for k in range(7, 0, -1):
        joint = '<joint type="slide"/>' if random.random() < 0.7 else ""
        insides[parents[k]].append(f'<body name="b{k}">{joint}{"".join(insides[k])}</body>')
    names = ["world", *(f"b{k}" for k in range(1, 8))]
    pairs = (random.choice(names, size=2, replace=False) for _ in range(2))
    excluded = "".join(f'<exclude body1="{a}" body2="{b}"/>' for a, b in pairs)
    return mjcf("".join(insides[0]), f"<contact>{excluded}</contact>")


@pytest.mark.parametrize("seed", range(30))
def test_geoms_that_may_touch_are_those_that_touch_in_mujoco(seed):
    text = random_tree(seed)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touching = {frozenset(model.geom(int(k)).name for k in contact.geom) for contact in data.contact}
    ours = kp.build(parse_mjcf(text, source="r.xml", warnings=WarningList())).model.contacts
    pairs = zip(ours.first, ours.second, strict=True) if ours else ()
    assert {frozenset((ours.names[a], ours.names[b])) for a, b in pairs} == touching


URDF = """<robot name="r"><link name="ground">{}</link><link name="box"><collision/></link>
<joint name="j" type="{}"><parent link="ground"/><child link="box"/><limit lower="-1" upper="1" effort="1"
velocity="1"/></joint>{}</robot>"""


def test_contact_and_plugins_of_a_urdf_file_are_reported():
    free = URDF.format("<collision/>", "floating", "")
    assert omitted(free, parse_urdf) == {"geom": ("<collision> of 'ground'", "<collision> of 'box'")}
    assert omitted(URDF.format("", "floating", ""), parse_urdf) == {}
    assert omitted(URDF.format("<collision/>", "prismatic", ""), parse_urdf) == {}
    gazebo = (
        '<gazebo><plugin name="mimic" filename="libmimic_joint.so"/>'
        '<plugin name="c" filename="libgazebo_ros_control.so"/></gazebo>'
        '<gazebo><sensor><plugin name="eye" filename="x.so"/></sensor></gazebo>'
    )
    assert reported(URDF.format("", "prismatic", gazebo), parse_urdf) == (
        f"r.xml:3: {START}1 plugin ('mimic')",
    )
