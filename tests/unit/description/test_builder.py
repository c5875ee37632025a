"""The builder, and its one table of keys."""

from __future__ import annotations

from typing import get_type_hints

import numpy as np
import pytest

from kinpair.description.builder import Builder, JointKeys, KeyframeKeys, LinkKeys, SpringKeys, Turned
from kinpair.description.schema import FRAME, JOINT, KEYFRAME, LINK, SPRING
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError

TOML = """
name = "arm"
gravity = [0, -9.81, 0]
[[link]]
name = "a"
mass = 1
com = [0.5, 0, 0]
inertia = [0.1, 0.2, 0.2]
visual = [{ box = [1, 0.1, 0.1], xyz = [0.5, 0, 0] }]
[[joint]]
name = "j"
kind = "universal"
parent = "ground"
child = "a"
matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
axis = "x"
axis2 = [0, 1, 0]
damping = [0.1, 0.2]
lower = "-pi/2"
mimic = { joint = "k" }
[[frame]]
name = "tip"
link = "a"
xyz = [1, 0, 0]
[[keyframe]]
name = "home"
q = { j = ["pi/2", 0.5] }
qd = { j = [1, 2] }
[[spring]]
name = "rope"
parent = "ground"
child = "tip"
child_xyz = [0.1, 0, 0]
stiffness = 50
damping = 2
rest_length = 0.5
tension_only = true
"""


def builder() -> Builder:
    return (
        Builder("arm", gravity=(0, -9.81, 0))
        .link(
            "a",
            mass=1,
            com=np.array([0.5, 0, 0]),
            inertia=np.diag([0.1, 0.2, 0.2]),
            visual=[{"box": (1, 0.1, 0.1), "xyz": (0.5, 0, 0)}],
        )
        .joint(
            *("j", "universal", "ground", "a"),
            matrix=np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
            axis="x",
            axis2=(0, 1, 0),
            damping=np.array([0.1, 0.2]),
            lower="-pi/2",
            mimic={"joint": "k"},
        )
        .frame("tip", "a", xyz=[np.float64(1), np.int64(0), 0])
        .keyframe("home", q={"j": ["pi/2", 0.5]}, qd={"j": np.array([1, 2])})
        .spring(
            *("rope", "ground", "tip"),
            child_xyz=np.array([0.1, 0, 0]),
            stiffness=50,
            damping=np.float64(2),
            rest_length=0.5,
            tension_only=True,
        )
    )


def test_the_builder_and_a_file_make_the_same_parts():
    assert builder().description() == parse_toml(TOML, source="arm.toml", warnings=WarningList())


def test_what_is_none_counts_as_not_given():
    assert Builder("x").link("a", mass=None).description() == Builder("x").link("a").description()


def test_the_builder_takes_every_key_of_the_format():
    assert {"name", *get_type_hints(LinkKeys)} == set(LINK)
    assert {"name", "kind", "parent", "child", *get_type_hints(JointKeys)} == set(JOINT)
    assert {"name", "link", *get_type_hints(Turned)} == set(FRAME)
    assert {"name", *get_type_hints(KeyframeKeys)} == set(KEYFRAME)
    assert {"name", "parent", "child", *get_type_hints(SpringKeys)} == set(SPRING)


def test_a_description_keeps_its_warnings():
    description = Builder("x").joint("j", "fixed", "ground", "a", rpy=[0, 0, 90]).description()
    assert description.warnings == (
        "joint 'j': entry 3 of rpy is 90 rad, more than a full turn; angles are in radians, not degrees",
    )


MESSAGES = {
    "joint 'j': entry 1 of xyz is 'x'; give a number": lambda b: b.joint(
        "j", "fixed", "ground", "a", xyz=["x", 0, 0]
    ),
    "joint 'j': parent is missing; give the link that holds the joint, \"ground\" for the world": lambda b: (
        b.joint("j", "fixed", None, "a")
    ),
    "frame 'tip' is already there; give one of them another name": lambda b: (
        b.frame("tip", "a").frame("tip", "a").description()
    ),
    "frame 'f': unknown key 'xy'; did you mean 'xyz'? Keys: name, link, xyz, rpy, quaternion, matrix": (
        lambda b: b.frame("f", "a", xy=[0, 0, 0])
    ),
    "link: name is empty; give a name": lambda b: b.link(""),
    "mechanism 'm': gravity has 2 numbers; give [x, y, z] in m/s², [0, 0, 0] for none": lambda b: Builder(
        "m", gravity=(0, 0)
    ),
    "mechanism: name is 3; give a text in quotes": lambda b: Builder(3),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_the_builder_names_the_part(message):
    with pytest.raises(DescriptionError) as caught:
        MESSAGES[message](Builder("x"))
    assert str(caught.value) == message
