"""All positions of six hinges: each brings the frame to its target, none is missing."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler.loops.functions import compiled
from kinpair.inverse_kinematics import subproblems
from robots import urdf

KINDS = ("elbow", "shoulder", "stem", "parallel")
REACHED = 1e-9  # arms of random axes are far from singular positions, but not every target is


def arm(kind: str, is_reversed: bool, seed: int) -> kp.Mechanism:
    """Build six hinges with random axes, except for those that make the arm one of its kind."""
    rng = np.random.default_rng(seed)
    h = rng.normal(size=(6, 3))
    h /= np.linalg.norm(h, axis=1)[:, None]
    points = 0.4 * rng.normal(size=(6, 3))
    if kind == "parallel":
        h[2], h[3], points[5] = h[1], h[1], points[4]
    else:
        points[4], points[5] = points[3], points[3]
        if kind == "shoulder":
            points[1] = points[0]
        else:
            h[1 if kind == "stem" else 2] = h[0 if kind == "stem" else 1]
    if is_reversed:
        h, points = h[::-1], points[::-1]
    b = kp.Builder("arm")
    b.link("ground")
    parent, at = "ground", np.zeros(3)
    for k in range(6):
        b.link(f"link{k}", mass=1.0)
        b.joint(f"joint{k}", "revolute", parent, f"link{k}", axis=tuple(h[k]), xyz=tuple(points[k] - at))
        parent, at = f"link{k}", points[k]
    return kp.build(b)


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the largest angle between positions, whole turns left out."""
    return 2.0 * np.abs(np.sin((a - b) / 2.0)).max(-1)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["from the base", "from the frame"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_solution_reaches_its_target_and_that_of_the_target_is_among_them(kind, is_reversed):
    m = arm(kind, is_reversed, 5)
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (400, 6))
    target = m.pose(q, "link5")
    found = m.inverse_kinematics_solutions("link5", target.position, target.rotation)
    rows, places = np.nonzero(np.arange(8) < found.count[:, None])
    reached = m.pose(found.q[rows, places], "link5")
    assert np.abs(reached.position - target.position[rows]).max() < REACHED
    assert np.abs(reached.rotation - target.rotation[rows]).max() < REACHED
    assert np.isnan(found.q[np.arange(8) >= found.count[:, None]]).all()
    nearest = np.array([apart(found.q[k, : found.count[k]], q[k]).min() for k in range(len(q))])
    assert nearest.max() < 1e-6
    for k in range(0, len(q), 40):  # solutions are different ones
        own = found.q[k, : found.count[k]]
        assert all(apart(own[i], own[j]) > 1e-6 for i in range(len(own)) for j in range(i))


def test_the_numerical_search_finds_no_other_solution():
    m = kp.load(urdf("ur5_robot"))
    rng = np.random.default_rng(3)
    q = rng.uniform(-np.pi, np.pi, (40, 6))
    target = m.pose(q, "tool0")
    closed = m.inverse_kinematics_solutions("tool0", target.position, target.rotation)
    searched = m.inverse_kinematics(
        rng.uniform(-np.pi, np.pi, (40, 6)), "tool0", target.position, target.rotation
    )
    for k in range(40):
        assert apart(closed.q[k, : closed.count[k]], searched[k]).min() < 1e-6


def test_compiled_code_equals_the_reference():
    m = arm("parallel", False, 2)
    pose = m.pose(np.random.default_rng(4).uniform(-np.pi, np.pi, (5, 6)), "link5")
    hinges = m._hinges("link5")
    E = pose.rotation @ hinges.rotation.T
    p = E @ hinges.last + pose.position - E @ hinges.position - hinges.first
    targets = np.concatenate([E.reshape(-1, 9), p], axis=1)

    def run(function):
        q, counts = np.zeros((40, 6)), np.zeros(5, dtype=np.int64)
        function(hinges.kind, hinges.g, targets, 1.0, 1e-7, np.zeros((subproblems.ROWS, 3)), q, counts)
        return q, counts

    for a, b in zip(run(compiled(subproblems.solve_targets)), run(subproblems.solve_targets), strict=True):
        assert np.array_equal(a, b)


def test_targets_out_of_reach_have_no_solution_and_singular_ones_have_one_each():
    m = kp.load(urdf("ur5_robot"))
    here = m.pose(np.zeros(6), "tool0")
    assert m.inverse_kinematics_solutions("tool0", here.position + 5.0, here.rotation).shape == (0, 6)
    for q in ([0.3, -0.4, 0.5, 0.1, 0.0, 0.2], np.zeros(6)):  # axes 4 and 6 parallel; the arm stretched
        target = m.pose(q, "tool0")
        every = m.inverse_kinematics_solutions("tool0", target.position, target.rotation)
        assert len(every)
        reached = m.pose(every, "tool0")
        assert np.abs(reached.position - target.position).max() < 1e-7
        assert np.abs(reached.rotation - target.rotation).max() < 1e-7


def test_solutions_are_turned_into_the_limits_or_left_out():
    b = kp.Builder("limited")
    source = arm("elbow", False, 5).model.description
    b.link("ground")
    for k, x in enumerate(source.joints):
        b.link(f"link{k}", mass=1.0)
        limits = {"lower": 3.2, "upper": 5.9} if k == 0 else {}
        b.joint(x.name, "revolute", x.parent, x.child, axis=x.axis, xyz=x.origin.xyz, **limits)
    m, free = kp.build(b), arm("elbow", False, 5)
    q = np.random.default_rng(2).uniform(-3.0, -0.5, (50, 6))
    target = free.pose(q, "link5")
    every = free.inverse_kinematics_solutions("link5", target.position, target.rotation)
    inside = m.inverse_kinematics_solutions("link5", target.position, target.rotation)
    first = np.where(every.q[:, :, 0] < 0.0, every.q[:, :, 0] + 2.0 * np.pi, every.q[:, :, 0])
    with np.errstate(invalid="ignore"):
        expected = ((first >= 3.2) & (first <= 5.9)).sum(1)
    assert np.array_equal(inside.count, expected)
    assert np.nanmin(inside.q[:, :, 0]) >= 3.2
    assert np.nanmax(inside.q[:, :, 0]) <= 5.9


def test_arms_without_closed_form_are_rejected_with_the_reason():
    zero, one = np.zeros(3), np.eye(3)
    with pytest.raises(kp.InputError, match="5 hinges and 1 slides move the frame"):
        kp.example("stanford-arm").inverse_kinematics_solutions("link6", zero, one)
    with pytest.raises(kp.InputError, match="constraints or joints with quaternions"):
        kp.example("four-bar").inverse_kinematics_solutions("coupler", zero, one)
    with pytest.raises(kp.InputError, match=r"need a position \(3,\) and a rotation"):
        arm("elbow", False, 5).inverse_kinematics_solutions("link5", [1.0, None, 0.0], one)
    skew = arm("elbow", False, 5).model.description
    b = kp.Builder("skew")
    b.link("ground")
    for k, x in enumerate(skew.joints):
        b.link(f"link{k}", mass=1.0)
        axis = np.array(x.axis) + (1e-5 if k == 2 else 0.0) * np.array([1.0, -1.0, 0.5])
        b.joint(x.name, "revolute", x.parent, x.child, axis=tuple(axis), xyz=x.origin.xyz)
    with pytest.raises(
        kp.InputError, match=r"Axes 2 and 3 by \de-0[56] rad from parallel: load .* snap=1e-5"
    ):
        kp.build(b).inverse_kinematics_solutions("link5", zero, one)
