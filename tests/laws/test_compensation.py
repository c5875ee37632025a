"""Laws of dynamic compensation: hands stay on their paths while momentum, moments and efforts have their course."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp

TIMES = np.linspace(0.0, 1.5, 61)


@cache
def cart() -> kp.Mechanism:
    """A trunk on a rail, and an arm of two links on it."""
    b = kp.Builder("cart-arm")
    b.link("trunk", mass=8.0, com=[0, 0, 0.2], inertia=[0.3, 0.3, 0.1])
    b.link("upper", mass=2.0, com=[0, 0, 0.15], inertia=[0.02, 0.02, 0.002])
    b.link("lower", mass=1.5, com=[0, 0, 0.12], inertia=[0.01, 0.01, 0.001])
    b.joint("rail", "prismatic", "ground", "trunk", axis="x")
    b.joint("shoulder", "revolute", "trunk", "upper", axis="y", xyz=[0, 0, 0.5], start=0.6)
    b.joint("elbow", "revolute", "upper", "lower", axis="y", xyz=[0, 0, 0.3], start=1.3)
    return kp.build(b.frame("hand", "lower", xyz=[0, 0, 0.25]))


def line(m, move, duration=1.5):
    pose = m.pose(m.start(), "hand")
    return kp.motion.line(pose, kp.FramePose(pose.rotation, pose.position + np.array(move)), duration)


def test_without_a_force_from_the_ground_the_mass_centre_stays():
    """Two rows of the hand, and none of the ground's force along the rail: the trunk gives way."""
    m, path = cart(), line(cart(), [-0.08, 0.0, 0.05])
    move = kp.motion.compensate(
        m, {"hand": path}, [kp.motion.force("x")], parts={"hand": "position"}, samples=80
    )
    x = move.at(TIMES)
    centre = m.centre_of_mass(x.q)
    assert centre[:, 0] == pytest.approx(np.full(61, centre[0, 0]), abs=1e-8)
    assert m.pose(x.q, "hand").position == pytest.approx(path.at(TIMES).position, abs=1e-8)
    assert np.ptp(x.q[:, 0]) > 0.01


def test_an_effort_keeps_its_course():
    """The rail's effort rises to 5 N and falls again, the hand moves as it likes, the elbow as given."""
    m = cart()
    push = kp.motion.fourier([2.5], [[-2.5]], [[0.0]], 1.5)
    given = {
        "elbow": kp.motion.polynomial(1.3, 0.7, 1.5, order=7),
        "shoulder": kp.motion.cycloid(0.6, 0.2, 1.5),
    }
    move = kp.motion.compensate(m, given, ["rail"], course=push, samples=80)
    x = kp.motion.nominal(m, move, samples=61)
    assert x.effort[:, 0] == pytest.approx(push.at(x.time).q[:, 0], abs=1e-6)
    assert x.q[:, 2] == pytest.approx(given["elbow"].at(x.time).q, abs=1e-9)


def test_the_elbow_of_a_redundant_arm_holds_a_moment_at_its_base():
    """The hand follows a line with its rotation held; the moment about the vertical at the base stays zero."""
    m = kp.example("redundant-arm")
    path = line(m, [-0.05, -0.04, 0.03], 0.6)
    plain = kp.motion.follow(m, {"hand": path})
    move = kp.motion.compensate(m, {"hand": path}, [kp.motion.moment("z")])
    time = np.linspace(0.0, 0.6, 31)
    x, free = move.at(time), plain.at(time)
    assert np.abs(m.inverse_dynamics(*free[:3])[:, 0]).max() > 0.05
    assert m.inverse_dynamics(*x[:3])[:, 0] == pytest.approx(np.zeros(31), abs=1e-7)
    found, wanted = m.pose(x.q, "hand"), path.at(time)
    assert found.position == pytest.approx(wanted.position, abs=1e-8)
    assert found.rotation == pytest.approx(wanted.rotation, abs=1e-8)
