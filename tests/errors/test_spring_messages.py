"""What is said about springs that cannot be, word for word."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.parts import Description, Joint, Link, Spring
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.description.warning_list import WarningList

PARTS = """[[link]]
name = "load"
mass = 1
[[joint]]
name = "fall"
kind = "prismatic"
parent = "ground"
child = "load"
[[spring]]
name = "rope"
parent = "ground"
child = "load"
"""
KEYS = "name, parent, child, xyz, child_xyz, stiffness, damping, rest_length, preload, tension_only"
HERE = "m.toml:9: spring 'rope': "


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("stifness = 3", f"unknown key 'stifness'; did you mean 'stiffness'? Keys: {KEYS}"),
        ("stiffness = 3", "rest_length is missing; give the length in metres at which it is slack"),
        ("tension_only = true", "rest_length is missing; give the length in metres at which it is slack"),
        ("stiffness = '3'", "stiffness is '3'; give a number"),
        ("stiffness = nan", "stiffness is nan; give a finite number"),
        ("damping = -1", "damping is -1; give zero or more"),
        ("stiffness = 1\nrest_length = -0.5", "rest_length is -0.5; give zero or more"),
        ("preload = inf", "preload is inf; give a finite number"),
        ("tension_only = 1", "tension_only is 1; give true or false"),
        ("xyz = [1, 2]", "xyz has 2 numbers; give [x, y, z]"),
        ("law = 3", f"unknown key 'law'; Keys: {KEYS}"),
    ],
)
def test_keys_of_a_file(keys, said):
    with pytest.raises(kp.DescriptionError) as refused:
        parse_toml(PARTS + keys, source="m.toml", warnings=WarningList())
    assert str(refused.value) == HERE + said


@pytest.mark.parametrize("key", ["name", "parent", "child"])
def test_keys_that_a_file_must_have(key):
    needs = {
        "name": "a name for the spring",
        "parent": 'the link or frame at one end, "ground" for the world',
        "child": "the link or frame at the other end",
    }
    before, spring = PARTS.split("[[spring]]\n")
    lines = [line for line in spring.splitlines() if not line.startswith(key)]
    with pytest.raises(kp.DescriptionError) as refused:
        parse_toml("\n".join([before, "[[spring]]", *lines]), source="m.toml", warnings=WarningList())
    assert str(refused.value).endswith(f": {key} is missing; give {needs[key]}")


def described(**keys) -> Description:
    options = {"name": "rope", "parent": "ground", "child": "load", "where": "m.toml:9", **keys}
    links, joints = (Link("load", 1.0),), (Joint("fall", "prismatic", "ground", "load"),)
    return Description("m", links, joints, springs=(Spring(**options),))


ELASTIC = {"stiffness": 5.0, "rest_length": 1.0}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"child": "laod", **ELASTIC},
            "child is 'laod', which does not exist; did you mean 'load'? Links and frames: ground, load",
        ),
        (
            {"parent": "load", **ELASTIC},
            "parent and child are both 'load'; a spring acts between two bodies",
        ),
        ({"stiffness": 5.0}, "rest_length is missing; give the length in metres at which it is slack"),
        ({"damping": -2.0}, "damping is -2; it would feed energy in; give zero or more"),
        ({"stiffness": 5.0, "rest_length": -1.0}, "rest_length is -1; give zero or more"),
        ({"stiffness": math.nan, "rest_length": 1.0}, "stiffness is nan; give a finite number"),
        ({"damping": "3"}, "damping is '3'; give a finite number"),
        (
            {"stiffness": 1e308, "rest_length": 1.0},
            "stiffness is 1e+308; the largest number that can be computed with is 1e+150",
        ),
        (
            {"xyz": (0.0, -1e200, 0.0), **ELASTIC},
            "xyz is -1e+200; the largest number that can be computed with is 1e+150",
        ),
        ({"xyz": (1.0, 2.0), **ELASTIC}, "xyz is (1.0, 2.0); give three finite numbers"),
        ({"child_xyz": (0, 0, math.inf), **ELASTIC}, "child_xyz is (0, 0, inf); give three finite numbers"),
        ({"tension_only": "yes", **ELASTIC}, "tension_only is 'yes'; give true or false"),
        (
            {"tension_only": True, "preload": -1.0, **ELASTIC},
            "preload is -1; a rope cannot push",
        ),
        (
            {"tension_only": True, "stiffness": -1.0, "rest_length": 1.0},
            "stiffness is -1; a rope pulls when it is stretched",
        ),
        ({"law": abs, **ELASTIC}, "law says what the tension is; leave out stiffness, rest_length"),
        ({"law": 3.0}, "law is 3.0; give a Python function"),
        ({"law": abs, "energy": 3.0}, "energy is 3.0; give a Python function"),
        ({"energy": abs, **ELASTIC}, "energy goes with a law; the energy of a stiffness is known"),
    ],
)
def test_descriptions(keys, said):
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(described(**keys))
    assert str(refused.value) == HERE + said


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "m.toml:9: spring 'rope' has no stiffness, damping or preload and does nothing"),
        (
            {"stiffness": -5.0, "rest_length": 1.0},
            f"{HERE}stiffness is negative and drives the points from the rest length; taken as it is",
        ),
    ],
)
def test_doubts(keys, said):
    with pytest.warns(kp.DescriptionWarning) as caught:
        kp.build(described(**keys))
    assert [str(x.message) for x in caught] == [said]


def test_ends_that_are_welded_together():
    builder = kp.Builder("m").link("a", mass=1.0).link("b", mass=1.0)
    builder.joint("j", "prismatic", "ground", "a").joint("w", "fixed", "a", "b")
    builder.spring("s", "a", "b", damping=1.0)
    with pytest.warns(kp.DescriptionWarning) as caught:
        m = kp.build(builder)
    assert [str(x.message) for x in caught] == [
        "spring 's': 'a' and 'b' are welded together, so it does nothing"
    ]
    assert m.inverse_dynamics([0.1], [0.2], [0.0]) == pytest.approx([2 * 9.81])


def test_two_springs_of_one_name():
    builder = kp.Builder("m").link("a", mass=1.0).joint("j", "prismatic", "ground", "a")
    builder.spring("s", "ground", "a", damping=1.0).spring("s", "ground", "a", damping=2.0)
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(builder)
    assert str(refused.value) == "spring 's' is already there; give one of them another name"
    twice = described(damping=1.0)
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(replace(twice, springs=twice.springs * 2))
    assert "two parts are called spring 'rope'" in str(refused.value)


def test_builder_refuses_a_law_beside_numbers():
    with pytest.raises(kp.DescriptionError) as refused:
        kp.Builder("m").spring("s", "ground", "a", law=lambda x, v: x, damping=3.0)
    assert str(refused.value) == "spring 's': law says what the tension is; leave out damping"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"law": lambda x: x},
            "law(length, rate) fails: TypeError: <lambda>() takes 1 positional argument but 2 were given",
        ),
        ({"law": lambda x, v: None}, "law(length, rate) gives None; give one number"),
        ({"law": lambda x, v: [x, v]}, "law(length, rate) gives ["),
        ({"law": lambda x, v: x, "energy": lambda x: "much"}, "energy(length) gives 'much'; give one number"),
    ],
)
def test_functions_that_cannot_be_used(keys, said):
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(described(**keys))
    assert str(refused.value).startswith(HERE + said)


def test_a_choice_of_python_in_a_law_names_the_spring():
    m = kp.build(described(law=lambda x, v: 3.0 * x if x > 1.0 else x))
    assert m.reference.inverse_dynamics([0.5], [0.0], [0.0])[0] == pytest.approx(0.5 + 9.81)
    with pytest.raises(kp.TraceError) as refused:
        m.inverse_dynamics([0.5], [0.0], [0.0])
    assert str(refused.value).startswith(f"{HERE}law(length, rate): 1 < sqrt(")
    assert "use np.where(condition, a, b)" in str(refused.value)


def test_a_law_cannot_be_written_to_a_file():
    with pytest.raises(kp.DescriptionError) as refused:
        to_toml(described(law=lambda x, v: x))
    assert str(refused.value) == (
        f"{HERE}law is a Python function, which a TOML file cannot hold; write a formula as a text where one will do, "
        "else keep this part in Python"
    )


def test_parameters():
    m = kp.build(described(**ELASTIC))
    options = {"duration": 0.1, "integrator": "rk4", "dt": 1e-2}
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(m, [0.5], [0.0], parameters={"rope.damping": np.array([1.0, -2.0])}, **options)
    assert str(refused.value) == "m: parameters: spring 'rope' has damping -2; it is zero or above"
    with pytest.raises(kp.InputError, match=r"no parameter 'rope.stifness'; did you mean 'rope.stiffness'\?"):
        kp.simulate(m, [0.5], [0.0], parameters={"rope.stifness": 1.0}, **options)
    law = kp.build(described(law=lambda x, v: x))
    with pytest.raises(kp.InputError, match=r"no parameter 'rope.stiffness'"):
        kp.simulate(law, [0.5], [0.0], parameters={"rope.stiffness": 1.0}, **options)


def test_printed_equations_refuse_springs_by_name():
    m = kp.build(described(**ELASTIC))
    for options in ({}, {"solver": "multipliers"}):
        with pytest.raises(kp.InputError) as refused:
            kp.equations(m, **options)
        assert str(refused.value) == (
            "m: springs between points are not printed ('rope'); passive=False (--no-passive) leaves them out"
        )
    assert kp.equations(m, passive=False).latex()
