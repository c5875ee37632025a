"""What the conversions refuse, word for word."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import kinpair as kp
from kinpair import conventions
from kinpair.conventions import Layout, Slot
from kinpair.description.parts import GROUND, X_AXIS, Description, Joint, Link, Origin

STARTS, SIZES = [0, 0, 1, 2], [0, 1, 1, 1]
HINGES = SimpleNamespace(
    names=["universe", "a", "b", "c"], idx_qs=STARTS, nqs=SIZES, idx_vs=STARTS, nvs=SIZES
)  # what is read of a Pinocchio model


def arm(kind: str, parent: str = "arm", **options) -> kp.Mechanism:
    """A swinging link, and a tip that hangs on it or beside it."""
    joints = (Joint("swing", "revolute", GROUND, "arm"), Joint("j", kind, parent, "tip", **options))
    return kp.build(Description("arm", (Link("arm", 1.0), Link("tip", 1.0)), joints))


def message(f, *arguments, **options) -> str:
    with pytest.raises(kp.InputError) as caught:
        f(*arguments, **options)
    return str(caught.value)


def test_joints_that_do_not_match():
    layout = Layout({"a": Slot(0, 1, 0, 1), "root_joint": Slot(1, 7, 1, 6)})
    assert message(conventions.pinocchio, arm("prismatic"), layout) == (
        "arm: joints do not match: only here swing, j; only in Pinocchio a, root_joint; "
        "give the layout names={theirs: ours}, or load the same mechanism (base='free' or 'fixed')"
    )


def test_a_joint_of_other_size():
    layout = Layout({"swing": Slot(0, 1, 0, 1), "j": Slot(1, 4, 1, 3)})
    assert message(conventions.pinocchio, arm("prismatic"), layout) == (
        "arm: joint 'j' is prismatic, and in Pinocchio it has 4 coordinates and 3 rates; "
        "known for this kind: 1 and 1"
    )


def test_names_the_engine_does_not_have():
    assert message(conventions.pinocchio_layout, HINGES, {"aa": "swing"}) == (
        "names: Pinocchio has no moving joint 'aa'; did you mean 'a'? Its joints: a, b, c"
    )


@pytest.mark.parametrize("names", [{"a": "j", "c": "j"}, {"a": "c"}], ids=["apart", "not meant"])
def test_two_joints_of_one_name(names):
    assert message(conventions.pinocchio_layout, HINGES, names) == (
        f"Pinocchio has more than one joint for {names['a']!r}, here 'c'; give each a name of its own by "
        "names={theirs: ours}. Several make one if they stand side by side and names says so"
    )


def test_accelerations_without_rates():
    expected = "arm: {} is given without {}; accelerations convert at known rates"
    ours = arm("prismatic")
    assert message(conventions.to_drake, ours, [0, 0], qdd=[0, 0]) == expected.format("qdd", "qd")
    assert message(conventions.from_drake, ours, [0, 0], a=[0, 0]) == expected.format("a", "v")


@pytest.mark.parametrize("f", [conventions.to_drake, conventions.to_mujoco, conventions.from_pinocchio])
def test_rotations_of_zeros(f):
    assert message(f, arm("spherical"), np.zeros(5)) == (
        "arm: joint 'j' has only zeros in q where a rotation is; no rotation is a one among 3 zeros"
    )


def test_wrong_shapes():
    c = conventions.pinocchio(arm("prismatic"))
    assert message(c.q, np.zeros(3)) == "arm: q has shape (3,); expected (2,) or (batch, 2): swing, j"
    assert message(c.jacobian, np.zeros(2), np.zeros((3, 2))) == (
        "arm: J has shape (3, 2); expected (6, 2) or (batch, 6, 2)"
    )
    assert message(c.rates, np.zeros((4, 2)), np.zeros((3, 2))) == (
        "arm: batches differ in length: q has 4, what is converted has 3 rows"
    )


def test_a_plane_that_is_not_upright():
    assert message(conventions.drake, arm("planar", axis=X_AXIS)) == (
        "arm: joint 'j' is planar with a normal other than z, and engines differ in the x and y of such a "
        "plane; turn the joint frame so that its normal is z"
    )


@pytest.mark.parametrize(
    "ours",
    [
        arm("free"),
        arm("free", GROUND, origin=Origin((0.0, 0.0, 1.0))),
        arm("free", GROUND, child_origin=Origin((0.0, 0.0, 0.0), (0.1, 0.0, 0.0))),
    ],
    ids=["on a link", "moved", "turned"],
)
@pytest.mark.parametrize(
    ("convention", "name"), [(conventions.mujoco, "MuJoCo"), (conventions.drake, "Drake")]
)
def test_a_free_joint_that_is_no_pose_in_the_world(ours, convention, name):
    assert message(convention, ours) == (
        "arm: joint 'j' is free and does not hang on the ground with both of its frames in place, so its q is "
        f"not the pose of 'tip' in the world, as in {name}; leave out its origin and child_origin"
    )


def test_a_free_joint_in_place_on_the_ground():
    assert conventions.drake(arm("free", GROUND)).joints[1].q == slice(1, 8)
