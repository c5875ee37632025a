"""Laws of the fastest motions: the times of closed forms, no limit exceeded, one of them reached at all times."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import kinpair as kp

EXACT = 1e-6
MOVE = np.array([-0.08, -0.1, 0.05])
MASS, REACH, ANGLE, LIMIT = 1.0, 0.4, 1.2, 6.0


@cache
def slide() -> kp.Mechanism:
    """A mass of 2 kg on a level slide: a double integrator."""
    b = kp.Builder("slide")
    b.link("mass", mass=2.0, com=[0, 0, 0], inertia=[0.1, 0.1, 0.1])
    return kp.build(b.joint("rail", "prismatic", "ground", "mass", axis="x"))


@cache
def link(damping: float = 0.0, friction: float = 0.0) -> kp.Mechanism:
    """A point mass at the end of a rod, level at 0 and lifted by positive angles."""
    b = kp.Builder("one-link")
    b.link("rod", mass=MASS, com=[REACH, 0, 0], inertia=[0, 0, 0])
    b.joint(
        "hinge",
        "revolute",
        "ground",
        "rod",
        axis=[0, -1, 0],
        damping=damping,
        friction=friction,
        effort=LIMIT,
    )
    return kp.build(b)


@cache
def arm() -> kp.Mechanism:
    return kp.example("redundant-arm")


def lifted(limit: float = LIMIT) -> kp.motion.Trajectory:
    return kp.motion.fastest(link(), kp.motion.cycloid([0.0], [ANGLE], 1.0), effort=limit)


def sides(move):
    """The motion at many times, from both sides."""
    knots = np.array(move.knots)
    inside = (knots[:-1, None] + np.diff(knots)[:, None] * np.linspace(0.0, 1.0, 7)).ravel()
    return [move.at(inside, side="right"), move.at(inside[1:], side="left")]


def largest(m, move, effort):
    """|τ| over its limit."""
    return np.concatenate([np.abs(m.inverse_dynamics(x.q, x.qd, x.qdd)) / effort for x in sides(move)])


@pytest.mark.parametrize("limits", [{}, {"velocity": 0.5}], ids=["bang-bang", "cruising"])
def test_a_double_integrator_takes_the_time_of_the_trapezoid(limits):
    """F = 3 N on 2 kg is 1.5 m/s²; the shortest under it is known."""
    move = kp.motion.fastest(slide(), kp.motion.cycloid([0.2], [1.0], 9.0), effort=3.0, **limits)
    exact = kp.motion.trapezoid(0.2, 1.0, acceleration=1.5, velocity=limits.get("velocity", 99.0))
    assert move.duration == pytest.approx(exact.duration, rel=EXACT)
    assert largest(slide(), move, 3.0).max() < 1.0 + EXACT
    times = np.linspace(0.0, exact.duration, 51)
    assert move.at(times).q[:, 0] == pytest.approx(exact.at(times).q, abs=EXACT)


@pytest.mark.parametrize(
    "limits",
    [
        {"jerk": 4.0},
        {"jerk": 4.0, "acceleration": 1.1},
        {"jerk": 4.0, "acceleration": 1.1, "velocity": 0.7},
    ],
    ids=["jerk alone", "acceleration", "velocity"],
)
def test_with_a_limit_of_jerk_it_takes_the_time_of_the_scurve(limits):
    """Jerk switches within an interval between nodes, which costs some 1e-4 of the time."""
    move = kp.motion.fastest(slide(), kp.motion.cycloid([0.2], [1.0], 9.0), effort=99.0, **limits)
    exact = kp.motion.scurve(0.2, 1.0, **{"velocity": 99.0, "acceleration": 99.0, **limits})
    assert move.duration == pytest.approx(exact.duration, rel=5e-4)
    assert move.smoothness == 2
    for name, order in (("velocity", 1), ("acceleration", 2), ("jerk", 3)):
        most = max(np.abs(x[order]).max() for x in sides(move))
        assert most < limits.get(name, 99.0) * (1.0 + 1e-5)  # looked at in five places between two nodes


def test_a_link_under_gravity_takes_the_time_of_its_quadrature():
    """J φ̈ = ±M − m g l cos φ, so φ̇² = 2 (M φ − m g l sin φ)/J, then 2 (M (Φ − φ) + m g l (sin Φ − sin φ))/J."""
    J, weight = MASS * REACH**2, MASS * 9.81 * REACH

    def rising(x):
        return 2 * (LIMIT * x - weight * np.sin(x)) / J

    def slowing(x):
        return 2 * (LIMIT * (ANGLE - x) + weight * (np.sin(ANGLE) - np.sin(x))) / J

    switch = brentq(lambda x: rising(x) - slowing(x), 1e-9, ANGLE - 1e-9, xtol=1e-15)
    exact = quad(lambda u: 2 * u / np.sqrt(rising(u * u)), 0, np.sqrt(switch), epsabs=1e-13)[0]
    exact += quad(
        lambda u: 2 * u / np.sqrt(slowing(ANGLE - u * u)), 0, np.sqrt(ANGLE - switch), epsabs=1e-13
    )[0]
    move = lifted()
    assert move.duration == pytest.approx(exact, rel=EXACT)
    assert largest(link(), move, LIMIT).max() < 1.0 + EXACT


def test_dampers_and_friction_take_their_share():
    """J φ̈ = M − c φ̇ − f − m g l cos φ while it speeds up: integrated until the switch that the motion has."""
    m = link(0.8, 0.5)
    move = kp.motion.fastest(m, kp.motion.cycloid([0.0], [ANGLE], 1.0))
    used = largest(m, move, LIMIT)[1:-1]  # at rest friction takes what it likes
    assert used.max() < 1.0 + EXACT
    assert np.median(used) > 1.0 - 1e-4
    assert move.duration > lifted().duration
    time = 0.5 * move.duration  # before the switch: friction and gravity brake, too
    run = kp.simulate(
        m,
        [0.0],
        [0.0],
        duration=time,
        torque=[LIMIT],
        output=[time],
        rtol=1e-10,
        atol=1e-12,
        integrator="dopri5",
    )
    assert run.q[-1] == pytest.approx(move.at(time).q, abs=1e-5)


def test_some_limit_is_reached_at_all_times():
    """Of rates, accelerations and efforts, but for an interval at each switch."""
    effort = np.array([30.0, 60.0, 30.0, 30.0, 8.0, 3.0, 1.0])
    q = arm().start()
    end = q + np.array([0.6, -0.4, 0.3, 0.5, 0.2, -0.3, 0.4])
    move = kp.motion.fastest(arm(), kp.motion.polynomial(q, end, 1.0), jerk=np.inf, effort=effort)
    knots = np.array(move.knots)
    x = move.at((knots[1:] + knots[:-1]) / 2)
    joints = arm().model.joints
    tau = arm().inverse_dynamics(x.q, x.qd, x.qdd)
    used = np.concatenate(
        [np.abs(x.qd) / joints.velocity, np.abs(x.qdd) / joints.acceleration, np.abs(tau) / effort], axis=1
    ).max(1)
    assert used.max() < 1.0 + EXACT
    assert np.mean(used > 1.0 - 1e-3) > 0.97
    assert largest(arm(), move, effort).max() < 1.0 + EXACT


def test_the_hand_stays_on_its_line_and_a_stronger_arm_is_faster():
    rotation, position = arm().pose(arm().start(), "hand")
    line = kp.motion.line((rotation, position), (rotation, position + MOVE), 2.0)
    slow, fast = (
        kp.motion.fastest(arm(), {"hand": line}, jerk=np.inf, effort=arm().model.joints.effort * s, nodes=300)
        for s in (0.25, 1.0)
    )
    assert fast.duration < slow.duration
    found = arm().pose(slow.at(np.linspace(0.0, slow.duration, 41)).q, "hand")
    along = (found.position - position) @ MOVE / (MOVE @ MOVE)
    assert found.position - position == pytest.approx(np.outer(along, MOVE), abs=1e-8)
    assert found.rotation == pytest.approx(np.broadcast_to(rotation, (41, 3, 3)), abs=1e-8)
    assert (slow.smoothness, along[0], along[-1]) == (1, pytest.approx(0.0, abs=1e-9), pytest.approx(1.0))


def test_a_closed_mechanism_with_one_motor():
    m = kp.example("four-bar")
    turn = kp.motion.polynomial(m.start()[0], m.start()[0] + 1.0, 1.0, order=1)
    path = kp.motion.follow(m, {"crank": turn}, samples=20)
    options = {"actuators": ["crank"], "effort": [4.0, 99.0, 99.0]}
    move = kp.motion.fastest(m, path, nodes=60, **options)
    x = kp.motion.nominal(m, move, actuators=["crank"], samples=41)
    assert np.abs(x.effort[:, 0]).max() < 4.0 * (1 + 1e-4)  # loops close to 1e-9 between samples of the path
    assert np.median(np.abs(x.effort[:, 0])) > 4.0 * (1 - 2e-2)
