"""Reading SDF: what Drake does not take, so that files are compared with descriptions from Python; and messages."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.constraint_parts import Coupling
from kinpair.description.sdf import parse_sdf
from kinpair.description.warning_list import WarningList

INERTIAL = """<inertial><mass>{0}</mass><inertia><ixx>0.2</ixx><iyy>0.3</iyy><izz>0.4</izz><ixy>0</ixy><ixz>0</ixz>
<iyz>0</iyz></inertia></inertial>"""


def link(name: str, pose: str = "0 0 0 0 0 0", mass: float = 1.0, inside: str = "") -> str:
    return f'<link name="{name}"><pose>{pose}</pose>{INERTIAL.format(mass)}{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'
    )


def axis(xyz: str, inside: str = "", tag: str = "axis") -> str:
    return f"<{tag}><xyz>{xyz}</xyz>{inside}</{tag}>"


def parsed(inside: str, warnings: WarningList | None = None, version: str = "1.9", **options):
    text = f'<sdf version="{version}"><model name="m">{inside}</model></sdf>'
    return parse_sdf(text, source="m.sdf", warnings=warnings or WarningList(strict=True), **options)


def test_a_joint_that_closes_a_loop_is_a_loop():
    hinge = axis("0 1 0")
    parts = parsed(
        link("a", "0 0 0 0 0 0")
        + link("b", "1 0 0 0 0 0")
        + link("c", "1 0 1 0 0 0")
        + joint("j1", "revolute", "world", "a", hinge)
        + joint("j2", "revolute", "a", "b", hinge)
        + joint("j3", "revolute", "b", "c", hinge)
        + joint("j4", "revolute", "world", "c", f"<pose>-1 0 0 0 0 0</pose>{hinge}")
    )
    assert [x.name for x in parts.joints] == ["j1", "j2", "j3"]
    [loop] = parts.constraints
    assert (loop.name, loop.kind, loop.parent, loop.child) == ("j4", "revolute", "ground", "c")
    m = kp.build(parts)
    assert np.abs(m.constraint_residual(np.zeros(3))).max() < 1e-12
    assert m.mobility(np.zeros(3)).freedom == 1
    assert m.pose(np.zeros(3), "c").position == pytest.approx([1, 0, 1])


def test_a_joint_that_holds_its_parent_is_reversed_with_the_same_coordinate():
    forward = kp.build(
        parsed(
            link("a")
            + link("b", "0 0 1 0 0 0")
            + joint("w", "fixed", "world", "a")
            + joint("j", "revolute", "a", "b", axis("1 0 0"))
        )
    )
    backward = kp.build(
        parsed(
            link("a")
            + link("b", "0 0 1 0 0 0")
            + joint("w", "fixed", "world", "a")
            + joint("j", "revolute", "b", "a", f"<pose>0 0 1 0 0 0</pose>{axis('-1 0 0')}")
        )
    )
    q, qd, qdd = [0.7], [1.1], [0.3]
    assert backward.pose(q, "b").rotation == pytest.approx(forward.pose(q, "b").rotation)
    assert backward.inverse_dynamics(q, qd, qdd) == pytest.approx(
        forward.inverse_dynamics(q, qd, qdd), rel=1e-12
    )


def test_numbers_of_an_axis():
    inside = axis(
        "0 0 1",
        """<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>
<dynamics><damping>0.5</damping><friction>0.25</friction><spring_stiffness>7</spring_stiffness>
<spring_reference>0.1</spring_reference></dynamics>""",
    )
    [j] = parsed(link("a") + joint("j", "revolute", "world", "a", inside)).joints
    assert (j.lower, j.upper, j.velocity, j.effort) == ((-1.0,), (2.0,), (4.0,), (30.0,))
    assert (j.damping, j.friction, j.stiffness, j.rest) == ((0.5,), (0.25,), (7.0,), (0.1,))


def test_limits_of_1e16_are_none_and_an_effort_of_zero_means_no_motor():
    limit = "<limit><lower>-1e16</lower><upper>inf</upper><effort>0</effort><velocity>-1</velocity></limit>"
    [j] = parsed(link("a") + joint("j", "revolute", "world", "a", axis("0 0 1", limit))).joints
    assert (j.lower, j.upper, j.velocity, j.effort, j.actuated) == ((), (), (), (), False)


def test_mimic_with_a_reference():
    mimic = (
        '<mimic joint="j"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>'
    )
    joints = parsed(
        link("a")
        + link("b")
        + joint("j", "revolute", "world", "a", axis("0 0 1"))
        + joint("k", "revolute", "a", "b", axis("0 0 1", mimic)),
        version="1.11",
    ).joints
    assert joints[1].mimic == kp.Mimic("j", 2.0, pytest.approx(0.3))


@pytest.mark.parametrize(
    ("pitch", "expected"),
    [
        ("<screw_thread_pitch>0.4</screw_thread_pitch>", 0.4 / (2 * np.pi)),
        ("<thread_pitch>-5</thread_pitch>", 0.2),
    ],
)
def test_the_pitch_of_a_screw(pitch, expected):
    """Metres per turn, right-handed; or radians per metre, left-handed."""
    m = kp.build(parsed(link("a") + joint("j", "screw", "world", "a", axis("0 0 1") + pitch)))
    assert m.pose([1.0], "a").position == pytest.approx([0, 0, expected])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_gear_couples_hinges_on_its_reference_body(sign):
    """θ₂ = −ratio θ₁ about axis2 and axis; here the second hinge turns about the same or the opposite axis."""
    parts = parsed(
        link("base")
        + link("rotor")
        + link("arm")
        + joint("ip", "revolute", "base", "rotor", axis("0 0 1"))
        + joint("op", "revolute", "base", "arm", axis(f"0 0 {sign}"))
        + joint(
            "g",
            "gearbox",
            "rotor",
            "arm",
            axis("0 0 1")
            + axis("0 0 1", tag="axis2")
            + "<gearbox_ratio>0.04</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>",
        )
    )
    [gear] = parts.constraints
    assert isinstance(gear, Coupling)
    assert (gear.joint, gear.terms) == ("op", (("ip", (-0.04 * sign,)),))


def test_axes_that_are_not_perpendicular_are_two_hinges():
    parts = parsed(
        link("a") + joint("j", "revolute2", "world", "a", axis("0 0 1") + axis("0 1 1", tag="axis2"))
    )
    assert [(x.name, x.kind) for x in parts.joints] == [("j", "revolute"), ("j axis2", "revolute")]


def test_static_models_are_fixed_and_loose_ones_are_free():
    text = f"""<sdf version="1.9"><world name="w"><gravity>0 0 -1.62</gravity>
<model name="table"><static>true</static>{link("top", "0 0 1 0 0 0")}</model>
<model name="a"><pose>0 0 2 0 0 0</pose>{link("box")}</model>
<model name="b"><pose>3 0 2 0 0 0</pose>{link("box")}</model></world></sdf>"""
    parts = parse_sdf(text, source="w.sdf", warnings=WarningList(strict=True))
    assert [(x.name, x.kind) for x in parts.joints] == [
        ("table::top fixed", "fixed"),
        ("a::box", "free"),
        ("b::box", "free"),
    ]
    assert parts.gravity == (0.0, 0.0, -1.62)
    m = kp.build(parts)
    assert m.pose(m.start(), "b::box").position == pytest.approx([3, 0, 2])


def test_a_root_that_nothing_holds_is_fixed_where_it_is_and_free_on_demand():
    parts = parsed(
        f"<pose>0 0 1 0 0 0</pose>{link('a')}{link('b')}" + joint("j", "revolute", "a", "b", axis("0 1 0"))
    )
    assert kp.build(parts).pose([0.0], "b").position == pytest.approx([0, 0, 1])
    free = kp.build(parts, base="free")
    assert free.start()[:7] == pytest.approx([0, 0, 1, 0, 0, 0, 1])


def test_models_are_included_from_other_files(tmp_path):
    (tmp_path / "finger").mkdir()
    (tmp_path / "finger" / "model.sdf").write_text(
        f'<sdf version="1.9"><model name="finger">{link("tip", "0 0 0.1 0 0 0")}</model></sdf>', "utf-8"
    )
    file = tmp_path / "hand.sdf"
    include = "<include><uri>finger</uri><name>{0}</name><pose>{1} 0 0 0 0 0</pose></include>"
    file.write_text(
        f"""<sdf version="1.9"><model name="hand">{link("palm")}{include.format("left", 1)}{include.format("right", -1)}
{joint("l", "fixed", "palm", "left::tip")}
{joint("r", "revolute", "palm", "right::tip", axis("0 1 0"))}</model></sdf>""",
        "utf-8",
    )
    m = kp.load(file)
    assert m.pose([0.0], "left::tip").position == pytest.approx([1, 0, 0.1])
    assert m.pose([0.0], "right::tip").position == pytest.approx([-1, 0, 0.1])
    assert m.mass == pytest.approx(1.0)  # of what moves


REFUSED = {
    "a plugin alone": (
        '<sdf version="1.9"><model name="m"><plugin name="p" filename="x.so"/></model></sdf>',
        "m.sdf:1: model 'm' has no link, so there is no mechanism in it; found <plugin>",
    ),
    "nothing": (
        '<sdf version="1.9"></sdf>',
        "m.sdf:1: <sdf> has no <model> and no <world>, so there is no mechanism in it; found nothing",
    ),
    "another root": ("<robot/>", "m.sdf:1: is not SDF: its root is <robot>, and should be <sdf>"),
    "a document type": (
        '<!DOCTYPE sdf><sdf version="1.9"/>',
        "m.sdf:1: has a document type (<!DOCTYPE>), which could pull in other files or grow without bound; SDF needs "
        "none, delete it",
    ),
    "an unknown frame": (
        f"""<sdf version="1.9"><model name="m">{link("arm")}<frame name="f"><pose relative_to="amr"/></frame>
</model></sdf>""",
        "names the frame 'amr', which does not exist; did you mean 'arm'?",
    ),
    "frames in a circle": (
        f"""<sdf version="1.9"><model name="m">{link("arm")}<frame name="f"><pose relative_to="g"/></frame>
<frame name="g"><pose relative_to="f"/></frame></model></sdf>""",
        "m.sdf:2: frame 'f' is placed through itself: f → g → f; change one relative_to",
    ),
    "an unknown link": (
        f'<sdf version="1.9"><model name="m">{link("arm")}{joint("j", "fixed", "wrld", "arm")}</model></sdf>',
        "joint 'j' names the frame 'wrld', which does not exist; ",
    ),
    "an unknown type": (
        f'<sdf version="1.9"><model name="m">{link("arm")}{joint("j", "hinge", "world", "arm")}</model></sdf>',
        "joint 'j' has the type 'hinge'; Types: revolute, continuous, prismatic, screw, universal, revolute2, ball, "
        "fixed, gearbox",
    ),
    "no axis": (
        f'<sdf version="1.9"><model name="m">{link("arm")}{joint("j", "revolute", "world", "arm", axis("0 0 0"))}'
        "</model></sdf>",
        "joint 'j' has the axis 0 0 0; give a direction",
    ),
    "words for numbers": (
        '<sdf version="1.9"><model name="m"><link name="a"><pose>0 0 up 0 0 0</pose></link></model></sdf>',
        "link 'a' has <pose>0 0 up 0 0 0</pose>: 'up' is not a number; write a plain finite number in SI units",
    ),
    "a link called world": (
        '<sdf version="1.9"><model name="m"><link name="world"/></model></sdf>',
        "m.sdf:1: link 'world' has the name of the world; rename it",
    ),
    "inertia from collisions": (
        '<sdf version="1.11"><model name="m"><link name="a"><inertial auto="true"/></link></model></sdf>',
        "link 'a' has <inertial auto=\"true\">, inertia computed from collisions; write mass and inertia",
    ),
    "an include that is not there": (
        f'<sdf version="1.9"><model name="m">{link("a")}<include><uri>model://hand</uri></include></model></sdf>',
        "<include> includes 'model://hand', which is not there; packages={name: folder} says where model://name is",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    text, message = REFUSED[name]
    with pytest.raises(kp.DescriptionError) as caught:
        parse_sdf(text, source="m.sdf", warnings=WarningList())
    assert message in str(caught.value)


def test_a_number_in_two_lines_is_rejected_in_one():
    text = link("a", mass=0.5).replace("0.5", "0.\n5")
    with pytest.raises(kp.DescriptionError, match=r"has <mass>0\. 5</mass>: 2 numbers; expected 1$"):
        parsed(text)


WARNED = {
    "a mesh that is not there": (
        '<link name="a"><visual name="v"><geometry><mesh><uri>model://hand/no.stl</uri></mesh></geometry></visual></link>',
        "m.sdf:1: link 'a' shows the mesh 'model://hand/no.stl', which is not there (1 missing in all); left undrawn, "
        "packages={name: folder} says where a package is",
    ),
    "a plugin": (
        f'{link("a")}<plugin name="wind" filename="x.so"/>',
        "m.sdf:2: not simulated, although the motion depends on it: 1 plugin ('wind')",
    ),
    "an unknown element": (
        f"{link('a')}<lnk/>",
        "m.sdf:2: model 'm' has the unknown element <lnk>; did you mean 'link'? left out",
    ),
    "no gravity": (link("a", inside="<gravity>0</gravity>"), "1 link without gravity ('a')"),
    "a shape without its size": (
        link("a", inside="<visual name='v'><geometry><box><size>1 1</size></box></geometry></visual>"),
        "m.sdf:2: link 'a' has <size>1 1</size>: 2 numbers; expected 3; left undrawn",
    ),
    "a gear without hinges": (
        link("a")
        + link("b")
        + joint("j", "revolute", "a", "b", axis("0 0 1"))
        + joint("g", "gearbox", "a", "b", "<gearbox_reference_body>b</gearbox_reference_body>"),
        "has 1 of 1 that are not taken: 'g' (no hinge joins 'b' to its reference body 'b'); both joints move on "
        "their own",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_warned(name):
    text, message = WARNED[name]
    warnings = WarningList()
    parsed(text, warnings)
    assert any(message in x for x in warnings.sentences), warnings.sentences


def test_a_colour_that_is_not_numbers_is_none():
    visual = (
        "<geometry><sphere><radius>1</radius></sphere></geometry><material><diffuse>{}</diffuse></material>"
    )
    for written, colour in (("red", ()), ("nan 0 0", ()), ("1 0 2", (1.0, 0.0, 1.0, 1.0))):
        inside = f"<visual name='v'>{visual.format(written)}</visual>"
        (shape,) = parsed(link("a", inside=inside)).links[0].shapes
        assert shape.colour == colour


def test_a_model_in_a_world_is_free_unless_a_joint_holds_it():
    model = f'<model name="m">{link("a")}</model>'
    in_world = parse_sdf(
        f'<sdf version="1.9"><world name="w">{model}</world></sdf>', source="m.sdf", warnings=WarningList()
    )
    alone = parse_sdf(f'<sdf version="1.9">{model}</sdf>', source="m.sdf", warnings=WarningList())
    assert [(x.name, x.kind) for x in in_world.joints] == [("a", "free")]
    assert alone.joints == ()
