"""Numbers that no machine has are refused, numbers that look like a slip are doubted, whatever file they come from."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.parts import Description, Joint, Link, Origin
from robots import urdf_files

FULL = (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)
AT = "m.toml:7: joint 'A'"


def pendulum(link: dict | None = None, **joint) -> Description:
    body = Link("a", **{"mass": 1.0, "inertia": FULL, "where": "m.toml:3", **(link or {})})
    kind = joint.pop("kind", "revolute")
    return Description("m", (body,), (Joint("A", kind, "ground", "a", where="m.toml:7", **joint),))


def refused(description: Description) -> str:
    """The message, the same whether warnings are errors or warnings."""
    result = set()
    for strict in (False, True):
        with pytest.raises(kp.DescriptionError) as caught:
            kp.build(description, strict=strict)
        result.add(str(caught.value))
    assert len(result) == 1
    return result.pop()


def doubted(description: Description) -> str:
    """The warning, which is the error with `strict`."""
    with pytest.warns(kp.DescriptionWarning) as caught:
        kp.build(description)
    assert len(caught) == 1
    with pytest.raises(kp.DescriptionError) as strictly:
        kp.build(description, strict=True)
    assert str(strictly.value) == str(caught[0].message)
    return str(caught[0].message)


# What drives a joint.


def test_negative_rotor_inertia_is_refused():
    assert refused(pendulum(rotor_inertia=-0.04, gear_ratio=10.0)) == (
        f"{AT} has rotor inertia -0.04 kg m²; an inertia is zero or positive"
    )


def test_a_gear_that_does_not_turn_its_rotor_is_doubted():
    assert doubted(pendulum(rotor_inertia=0.1, gear_ratio=0.0)) == (
        f"{AT}: gear ratio is 0, so that the rotor inertia 0.1 kg m² has no effect; taken as it is"
    )


def test_a_gear_that_turns_its_rotor_backwards_is_not_doubted():
    (turned,) = kp.build(pendulum(rotor_inertia=0.1, gear_ratio=-10.0)).mass_matrix([0.0])
    assert turned == pytest.approx([0.1 + 10.0])


@pytest.mark.parametrize(
    ("quantity", "why"),
    [
        ("stiffness", "is negative and pushes away from rest"),
        ("damping", "is negative and feeds energy in"),
    ],
)
def test_negative_springs_and_dampers_are_doubted(quantity, why):
    assert doubted(pendulum(**{quantity: (-1.0,)})) == f"{AT}: {quantity} {why}; taken as it is"


# Angles in degrees.


@pytest.mark.parametrize(
    ("lower", "upper", "meant"),
    [
        (-180.0, 180.0, "-180 to 180 look like degrees; did you mean -3.14159 to 3.14159?"),
        (-90.0, 45.0, "-90 to 45 look like degrees; did you mean -1.5708 to 0.785398?"),
        (0.0, 360.0, "0 to 360 look like degrees; did you mean 0 to 6.28319?"),
        (-172.0, 10.0, "-172 to 10 look like degrees; did you mean -3.00197 to 0.174533?"),
        (-math.inf, 720.0, "-inf to 720 look like degrees; did you mean -inf to 12.5664?"),
    ],
)
def test_limits_in_degrees_are_doubted(lower, upper, meant):
    result = doubted(pendulum(lower=(lower,), upper=(upper,)))
    assert result == f"{AT}: limits {meant} Limits are in rad; taken as they are"


@pytest.mark.parametrize(
    "limit", [math.pi, 2 * math.pi, 12.57, 10.0, 20 * math.pi, 31.4159, 1000.0, 1e16, math.inf]
)
def test_turns_and_limits_that_are_none_are_not_doubted(limit):
    kp.build(pendulum(lower=(-limit,), upper=(limit,)))


def test_lengths_are_not_taken_for_degrees():
    kp.build(pendulum(kind="prismatic", lower=(-180.0,), upper=(180.0,)))


def test_of_several_coordinates_the_angle_is_named():
    slides = pendulum(kind="cylindrical", lower=(-90.0, -90.0), upper=(90.0, 90.0))
    assert doubted(slides) == (
        f"{AT}: limits of angle -90 to 90 look like degrees; did you mean -1.5708 to 1.5708? "
        "Limits are in rad; taken as they are"
    )


def test_no_real_robot_has_limits_in_degrees():
    for path in urdf_files().values():
        if path.stem == "ur3":  # a file without links
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kp.load(path, constraints=False)
        assert not [x for x in caught if "degrees" in str(x.message)], path


# Numbers whose products overflow.

LARGEST = "the largest number that can be computed with is 1e+150"


@pytest.mark.parametrize(
    ("link", "quantity"),
    [
        ({"mass": 1e308}, "mass is 1e+308"),
        ({"com": (0.0, -1e200, 0.0)}, "mass centre is -1e+200"),
        ({"inertia": (1e160, 1e160, 1e160, 0.0, 0.0, 0.0)}, "inertia is 1e+160"),
    ],
)
def test_numbers_of_a_link_that_overflow_are_refused(link, quantity):
    assert refused(pendulum(link)) == f"m.toml:3: link 'a': {quantity}; {LARGEST}"


@pytest.mark.parametrize(
    ("joint", "quantity"),
    [
        ({"origin": Origin((1e200, 0.0, 0.0))}, "origin is 1e+200"),
        ({"damping": (1e200,)}, "damping is 1e+200"),
        ({"rotor_inertia": 1e200}, "rotor inertia is 1e+200"),
    ],
)
def test_numbers_of_a_joint_that_overflow_are_refused(joint, quantity):
    assert refused(pendulum(**joint)) == f"{AT}: {quantity}; {LARGEST}"


def test_a_mass_so_far_away_that_its_inertia_overflows_is_refused():
    """Every number by itself would do; the lengths add up along the chain of joints."""
    links = tuple(Link(x, mass=1e90 if x == "c" else 1.0, inertia=FULL, where=f"m.toml:{x}") for x in "abc")
    origin = Origin((0.0, 3e29, 4e29))
    chain = zip(("ground", "a", "b"), "abc", strict=True)
    joints = tuple(Joint(child.upper(), "revolute", on, child, origin) for on, child in chain)
    assert refused(Description("m", links, joints)) == (
        "m.toml:c: link 'c': mass 1e+90 kg as far as 1.5e+30 m from the root is an inertia of 2.25e+150 kg m²; "
        "beyond 1e+150 the equations of motion overflow"
    )


def test_a_link_without_mass_far_away_is_refused_too():
    assert refused(pendulum({"mass": 0.0}, child_origin=Origin((1e80, 0.0, 0.0)))) == (
        "m.toml:3: link 'a': as far as 1e+80 m from the root; beyond 1e+75 m the equations of motion overflow"
    )


def test_a_rotor_behind_a_gear_that_overflows_is_refused():
    assert refused(pendulum(rotor_inertia=1e100, gear_ratio=1e60)) == (
        f"{AT}: rotor inertia 1e+100 kg m² behind gear ratio 1e+60 is an inertia of 1e+220 kg m²; "
        "beyond 1e+150 the equations of motion overflow"
    )


def test_the_largest_mechanism_can_be_computed_with():
    heavy = kp.build(pendulum({"mass": 1e148, "com": (3.0, 0.0, 0.0)}))
    q = np.array([0.3])
    tau = heavy.inverse_dynamics(q, [1.0], [2.0])
    assert heavy.forward_dynamics(q, [1.0], tau) == pytest.approx([2.0])


# Every file.

TOML = """
name = "m"
[[link]]
name = "a"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "A"
kind = "revolute"
parent = "ground"
child = "a"
rotor_inertia = -0.04
"""
URDF = """<robot name="m"><link name="world"/><link name="a"><inertial><mass value="1e308"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="A" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>
"""
MJCF = """<mujoco model="m"><worldbody><body name="a"><joint name="A" armature="-0.04"/>
<geom size=".1"/></body></worldbody></mujoco>
"""
DH = """
name = "m"
[dh]
convention = "standard"
[[dh.row]]
name = "A"
a = 0.5
rotor_inertia = -0.04
"""


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("m.toml", TOML, "m.toml:7: joint 'A' has rotor inertia -0.04 kg m²; an inertia is zero or positive"),
        ("m.urdf", URDF, f"m.urdf:1: link 'a': mass is 1e+308; {LARGEST}"),
        ("m.xml", MJCF, "m.xml:1: joint 'A' has rotor inertia -0.04 kg m²; an inertia is zero or positive"),
        ("dh.toml", DH, "dh.toml:5: joint 'A' has rotor inertia -0.04 kg m²; an inertia is zero or positive"),
    ],
)
def test_every_file_is_checked_alike(tmp_path, file, text, message):
    path = tmp_path / file
    path.write_text(text)
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(path)
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_a_builder_is_checked_too():
    builder = kp.Builder("m").link("a", mass=1.0).joint("A", "revolute", "ground", "a", rotor_inertia=-0.04)
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(builder)
    assert str(caught.value) == "joint 'A' has rotor inertia -0.04 kg m²; an inertia is zero or positive"
