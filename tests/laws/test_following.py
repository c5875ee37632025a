"""Laws of motions that follow frames: the frame is on its path, its twist and acceleration are those of the path."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from families import family
from kinpair.formulations import kinematics
from kinpair.spatial.rotation import about

SAMPLED = 1e-7  # what 500 samples leave of accelerations: 4 ms to the fourth, and rounding over 4 ms squared
MOVE = np.array([-0.08, -0.1, 0.05])
CRITERIA = ("rates", "energy", "limits")


def path_of(m, frame, move=MOVE, turn=0.3, duration=2.0):
    rotation, position = m.pose(m.start(), frame)
    return kp.motion.line(
        (rotation, position), (about(np.array([0.0, 0.6, 0.8]), turn) @ rotation, position + move), duration
    )


def applied(J, x):
    return np.einsum("kij,kj->ki", J, x)


def check(m, frame, path, move, rows=slice(None)):
    time = np.linspace(0.0, path.duration, 301)
    x, wanted = move.at(time), path.at(time)
    found = m.pose(x.q, frame)
    assert np.abs(found.position - wanted.position).max() < 1e-11
    J = m.jacobian(x.q, frame)
    twist = applied(J, x.qd)
    acceleration = applied(J, x.qdd) + applied(m.jacobian_rate(x.q, x.qd, frame), x.qd)
    assert np.abs(twist - wanted.twist)[:, rows].max() < 1e-9
    assert np.abs(acceleration - wanted.acceleration)[:, rows].max() < SAMPLED
    return x, wanted


@pytest.fixture(scope="module")
def arm():
    return kp.example("redundant-arm")


@pytest.fixture(scope="module")
def moves(arm):
    path = path_of(arm, "hand")
    return path, {x: kp.motion.follow(arm, {"hand": path}, criterion=x) for x in CRITERIA}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_hand_of_a_redundant_arm_is_on_its_path(arm, moves, criterion):
    path, found = moves
    x, wanted = check(arm, "hand", path, found[criterion])
    assert np.abs(arm.pose(x.q, "hand").rotation - wanted.rotation).max() < 1e-11


def test_rates_are_the_least_the_criterion_allows(arm, moves):
    path, found = moves
    time = np.linspace(0.0, path.duration, 41)
    twist = path.at(time).twist
    for criterion, move in found.items():
        x = move.at(time)
        for q, qd, t in zip(x.q, x.qd, twist, strict=True):
            J = arm.jacobian(q, "hand")
            if criterion == "energy":
                X = np.linalg.solve(arm.mass_matrix(q), J.T)
                least = X @ np.linalg.solve(J @ X, t)
            else:
                least = np.linalg.pinv(J) @ t
            if criterion == "limits":
                low, high = arm.model.joints.lower, arm.model.joints.upper
                length = arm.inverse.rows.reach
                speed = np.linalg.norm([*t[:3], *(t[3:] / length)])
                z = speed * ((low + high) / 2 - q)
                least = least + z - np.linalg.pinv(J) @ (J @ z)
            assert qd == pytest.approx(least, abs=1e-8)


def test_the_path_of_the_joints_does_not_depend_on_the_law_of_time(arm):
    """Half the time, another law: the same places of the joints at the same places of the hand."""
    slow, fast = path_of(arm, "hand"), path_of(arm, "hand", duration=1.0)
    for criterion in CRITERIA:
        one, other = (kp.motion.follow(arm, {"hand": x}, criterion=criterion) for x in (slow, fast))
        assert one.at(np.linspace(0, 2, 21)).q == pytest.approx(other.at(np.linspace(0, 1, 21)).q, abs=1e-9)


def test_accelerations_are_derivatives_of_rates(moves):
    """The samples of q̈ come from the equations, those of q from the loop."""
    _, found = moves
    for move in found.values():
        time, h = np.linspace(0.1, 1.9, 37), 4e-3
        rates = [move.at(time + s * h).qd for s in (-1, 1)]
        assert (
            np.abs((rates[1] - rates[0]) / (2 * h) - move.at(time).qdd).max() < 1e-4
        )  # h² of the fourth derivative


@pytest.mark.parametrize(("part", "rows"), [("position", slice(3, 6)), ("axis z", slice(3, 6))])
def test_parts_of_a_pose_are_followed_alone(arm, part, rows):
    path = path_of(arm, "hand")
    x, wanted = check(arm, "hand", path, kp.motion.follow(arm, {"hand": path}, parts={"hand": part}), rows)
    axis = arm.pose(x.q, "hand").rotation[..., 2]
    off = np.abs(axis - wanted.rotation[..., 2]).max()
    assert (off < 1e-11) == (part == "axis z")


def test_a_joint_moves_as_given_beside_the_hand(arm):
    path = path_of(arm, "hand")
    turn = kp.motion.polynomial(0.0, 0.2, 2.0, order=7)
    move = kp.motion.follow(arm, {"hand": path, "shoulder-yaw": turn})
    x, _ = check(arm, "hand", path, move)
    time = np.linspace(0.0, 2.0, 301)
    assert x.q[:, 0] == pytest.approx(turn.at(time).q, abs=1e-12)
    assert x.qdd[:, 0] == pytest.approx(turn.at(time).qdd, abs=SAMPLED)


@pytest.mark.parametrize("name", family(["stewart", "delta"], ["delta"], "code of 38 000 operations"))
def test_platforms_follow_and_loops_stay_closed(name):
    m = kp.example(name)
    path = path_of(m, "platform", (0.03, -0.04, 0.05), 0.2 if name == "stewart" else 0.0)
    parts = {} if name == "stewart" else {"platform": "position"}
    rows = slice(None) if name == "stewart" else slice(3, 6)
    x, _ = check(m, "platform", path, kp.motion.follow(m, {"platform": path}, parts=parts), rows)
    assert np.abs(m.constraint_residual(x.q)).max() < 1e-11
    assert np.abs(applied(m.constraint_matrix(x.q), x.qd)).max() < 1e-8


def test_jumps_of_the_law_are_jumps_of_the_joints(arm):
    rotation, position = arm.pose(arm.start(), "hand")
    law = kp.motion.trapezoid(0.0, 1.0, velocity=1.0, acceleration=4.0)
    path = kp.motion.line((rotation, position), (rotation, position + MOVE), law=law)
    move = kp.motion.follow(arm, {"hand": path})
    assert move.smoothness == 1
    knot = path.knots[1]
    for side in ("left", "right"):
        x = move.at(knot, side=side)
        J = arm.jacobian(x.q, "hand")
        a = J @ x.qdd + arm.jacobian_rate(x.q, x.qd, "hand") @ x.qd
        assert a == pytest.approx(path.at(knot, side=side).acceleration, abs=SAMPLED)


@pytest.mark.parametrize("samples", [20, 500])
def test_nominal_takes_a_motion_of_a_delta_robot_that_was_followed(samples):
    """However few samples the path has, rates and accelerations satisfy the constraints between them."""
    m = kp.example("delta")
    path = path_of(m, "platform", move=np.array([0.2, 0.1, -0.1]), turn=0.0, duration=0.3)
    move = kp.motion.follow(m, {"platform": path}, parts={"platform": "position"}, samples=samples)
    nominal = kp.motion.nominal(m, move, samples=301, actuators=["arm1", "arm2", "arm3"])
    A = m.constraint_matrix(nominal.q)
    assert np.abs(applied(A, nominal.qd)).max() < 1e-13
    nearest = m.accelerations(nominal.q, nominal.qd, guess=nominal.qdd)
    assert np.abs(nearest - nominal.qdd).max() < 1e-10
    assert nominal.work.sum() == pytest.approx(nominal.gain, rel=1e-6)


def test_rates_of_a_quaternion_are_those_of_its_coordinates():
    """A free body along a line, tumbling: exact rates, accelerations and jerk by differences of poses."""
    m = kp.example("floating-arm")
    path = path_of(m, m.model.names[1], move=np.array([0.3, 0.1, 0.2]), turn=1.1, duration=1.0)
    others = {name: kp.motion.polynomial(0.1, 0.5, duration=1.0) for name in m.q_names[7:]}
    move, time, h = kp.motion.follow(m, {m.model.names[1]: path, **others}), np.array([0.31, 0.74]), 1e-4
    x, ahead, behind = (move.at(time + k * h) for k in (0, 1, -1))
    there, back = (
        np.array([kinematics.difference(m.model, *pair) for pair in zip(x.q, other.q, strict=True)])
        for other in (ahead, behind)
    )
    change = (there - back) / (2 * h)
    np.testing.assert_allclose(change, x.qd, atol=1e-7)
    np.testing.assert_allclose((ahead.qd - behind.qd) / (2 * h), x.qdd, atol=1e-6)
    np.testing.assert_allclose((ahead.qdd - behind.qdd) / (2 * h), x.jerk, atol=1e-3)
