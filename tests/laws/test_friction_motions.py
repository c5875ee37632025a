"""Motions with dry friction against their closed forms: incline, run-down, breakaway cascade, belt, arm, four-bar."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import kinpair as kp
from kinpair.algebra.choice import less, where

TIGHT = {"rtol": 1e-12, "atol": 1e-13}
EXACT = 1e-9


def test_a_block_pushed_up_an_incline_stops_and_sticks():
    run = kp.simulate(kp.example("incline"), [0.0], [-1.5], duration=1.0, **TIGHT)
    a = (9.81 + 8.0) / 2.0
    assert [x.name for x in run.events] == ["slope sticks"]
    assert run.events[0].time == pytest.approx(1.5 / a, abs=EXACT)
    assert run.q[-1, 0] == pytest.approx(-(1.5**2) / (2.0 * a), abs=EXACT)
    assert run.loss[-1] == pytest.approx(8.0 * 1.5**2 / (2.0 * a), abs=1e-8)
    assert run.friction["slope"].slid[-1] == pytest.approx(1.5**2 / (2.0 * a), abs=EXACT)
    assert run.friction["slope"].since == run.events[0].time


def test_a_block_on_an_incline_stays_at_rest_and_slides_on_once_it_moves():
    m = kp.example("incline")
    at_rest = kp.simulate(m, [0.3], [0.0], duration=10.0)
    assert not at_rest.qd.any()
    assert np.ptp(at_rest.q) == 0.0
    sliding = kp.simulate(m, [0.0], [1.0], duration=1.0, **TIGHT)
    assert sliding.q[-1, 0] == pytest.approx(1.0 + 0.5 * (9.81 - 8.0) / 2.0, abs=EXACT)


def test_a_rotor_runs_down_under_coulomb_and_viscous_friction():
    J, c, F, start = 0.3, 0.05, 0.4, 12.0
    builder = kp.Builder("rotor").link("rotor", mass=1.0, inertia=[0.2, 0.2, J])
    law = {"law": "coulomb", "level": F, "viscous": c}
    m = kp.build(builder.joint("shaft", "revolute", "ground", "rotor", axis="z", friction=law))
    stop = J / c * np.log(1.0 + c * start / F)
    run = kp.simulate(m, [0.0], [start], duration=20.0, **TIGHT)
    assert run.events[0].time == pytest.approx(stop, abs=EXACT)
    assert run.q[-1, 0] == pytest.approx(J / c * (start - F / c * np.log(1.0 + c * start / F)), abs=1e-8)
    before = run.time < stop
    omega = (start + F / c) * np.exp(-c * run.time[before] / J) - F / c
    assert run.qd[before, 0] == pytest.approx(omega, abs=1e-9)
    assert run.loss[-1] == pytest.approx(0.5 * J * start**2, rel=1e-8)


@pytest.mark.parametrize("integrator", ["dop853", "cvode", "taylor"])
def test_a_force_that_passes_the_level_and_falls_again_moves_a_mass_at_rest(integrator):
    """A joint at rest lets any step pass, so it is looked at in between."""
    b = kp.Builder("mass").link("mass", mass=2.0, inertia=(1e-3, 1e-3, 1e-3))
    m = kp.build(b.joint("rail", "prismatic", "ground", "mass", axis="x", friction=4.0))
    run = kp.simulate(
        m, [0.0], [0.0], duration=3.5, torque=lambda t, q, qd: np.array([7.5 * np.sin(np.pi * t / 3.5) ** 2]),
        integrator=integrator,
    )  # fmt: skip
    assert [x.name for x in run.events] == ["rail slides"]
    assert run.events[0].time == pytest.approx(3.5 / np.pi * np.arcsin(np.sqrt(4.0 / 7.5)), abs=1e-9)


def test_two_masses_break_away_one_after_the_other():
    run = kp.simulate(
        kp.example("two-masses"), [0.0, 0.0], [0.0, 0.0], duration=3.0,
        torque=lambda t, q, qd: np.array([2.0 * t, 0.0 * t]), **TIGHT,
    )  # fmt: skip
    w = np.sqrt(50.0)

    def stretch(time: float) -> float:
        """Of the spring while the second mass stands: 2 ẍ + 100 x = 1 + 2 (t − 2)."""
        t = time - 2.0
        return (1.0 + 2.0 * t) / 100.0 - 0.01 * np.cos(w * t) - 0.02 / w * np.sin(w * t)

    names = [x.name for x in run.events[:2]]
    assert names == ["x1 slides", "x2 slides"]
    assert run.events[0].time == pytest.approx(2.0, abs=EXACT)
    first = brentq(lambda t: stretch(t) - 0.03, 2.0, 2.5, xtol=1e-15)
    assert run.events[1].time == pytest.approx(first, abs=EXACT)
    assert run.balance.relative < 1e-8


def test_stick_slip_on_a_belt_keeps_its_period_for_a_hundred_cycles():
    """While it slips, the stretch z swings about F_c/k; it sticks again where ż = v, at (2 F_c − F_s)/k."""
    k, v, F_c, F_s = 100.0, 0.1, 4.0, 6.0
    A, w = (F_s - F_c) / k, np.sqrt(k / 1.0)
    slip = (2.0 * np.pi - 2.0 * np.arctan(A * w / v)) / w
    period = slip + 2.0 * A / v
    run = kp.simulate(
        kp.example("stick-slip"), [0.0], [0.0], duration=F_s / (k * v) + 100.0 * period + 0.1,
        torque=lambda t, q, qd: np.array([k * (v * t - q[0])]), output=0.5, **TIGHT,
    )  # fmt: skip
    slides = np.array([x.time for x in run.events if x.name == "belt slides"])
    sticks = [x for x in run.events if x.name == "belt sticks"]
    assert len(slides) == 101
    assert slides == pytest.approx(F_s / (k * v) + period * np.arange(101), abs=1e-8)
    assert [k * (v * x.time - x.q[0]) for x in sticks] == pytest.approx(
        [2.0 * F_c - F_s] * len(sticks), abs=1e-7
    )
    assert [v * x.time - x.q[0] for x in sticks] == pytest.approx(
        [(2.0 * F_c - F_s) / k] * len(sticks), abs=1e-8
    )
    assert run.balance.relative < 1e-8


LEVELS = (40.0, 130.0, 60.0, 5.0, 5.0, 1.0)
ROTORS = (5.0, 5.0, 3.0, 0.5, 0.5, 0.2)
BENT = np.array([0.3, -0.4, 0.5, 0.2, 0.6, 0.1])


@cache
def arm() -> kp.Mechanism:
    """A six-axis arm with friction and a rotor in every joint."""
    description = kp.example("kr5").model.description
    pairs = zip(description.joints, LEVELS, ROTORS, strict=True)
    joints = tuple(replace(joint, friction=(f,), rotor_inertia=r) for joint, f, r in pairs)
    return kp.build(replace(description, joints=joints))


def test_an_arm_is_held_by_friction_against_gravity():
    run = kp.simulate(arm(), BENT, np.zeros(6), duration=10.0)
    assert not run.events
    assert np.abs(run.qd).max() <= 1e-12
    held = arm().friction(BENT, np.zeros(6), np.zeros(6))
    assert [x.effort for x in held.values()] == pytest.approx(
        kp.example("kr5").gravity_forces(BENT), abs=1e-9
    )


def test_an_arm_is_moved_by_its_motors_from_rest_and_back_to_rest():
    def torque(time, q, qd):
        sign = where(less(time, 1.0), 1.0, where(less(time, 2.0), -1.0, 0.0))
        return sign * np.array([80.0, 200.0, 100.0, 12.0, 12.0, 3.0])

    run = kp.simulate(arm(), BENT, np.zeros(6), duration=6.0, torque=torque)
    assert run.status.ok
    assert (np.abs(run.qd).max(axis=0) > 1.0).all()
    assert not run.qd[-1].any()
    assert all(x.sticks[-1] for x in run.friction.values())
    heat = sum(x.heat[-1] for x in run.friction.values())
    assert heat == pytest.approx(run.loss[-1], rel=1e-12)
    assert run.balance.relative < 1e-8


@pytest.mark.parametrize("level", [0.5, 2.0])
def test_a_linkage_with_friction_in_every_joint_comes_to_rest(level):
    """Constraints join the rates, so that those at rest hold each other; energy tells where it stops."""
    description = kp.example("four-bar").model.description
    joints = tuple(replace(joint, friction=(level,)) for joint in description.joints)
    m = kp.build(replace(description, joints=joints))
    q = m.start()
    run = kp.simulate(m, q, np.zeros(3), duration=2.0)
    assert run.status.ok
    assert not run.qd[-1].any() or np.abs(run.qd[-1]).max() < 1e-30
    assert (len(run.events) > 5) == (level < 1.0)  # a higher level holds it from the beginning
    assert run.balance.relative < 1e-8
    qdd = m.forward_dynamics(run.q[-1], np.zeros(3), np.zeros(3))
    assert np.abs(qdd).max() < 1e-9


@pytest.mark.parametrize("options", [TIGHT, {"integrator": "rk4", "dt": 1e-3}], ids=["dop853", "rk4"])
def test_a_linkage_leaves_rest_when_forward_dynamics_of_its_state_does(options):
    """Joints that constraints join hold each other; the torque at which they let go is found twice."""
    description = kp.example("four-bar").model.description
    m = kp.build(replace(description, joints=tuple(replace(x, friction=(0.5,)) for x in description.joints)))

    def torque(t):
        return np.array([2.0 * np.sin(6.0 * t), 0.0, 0.0])

    run = kp.simulate(m, m.start(), np.zeros(3), duration=1.0, torque=lambda t, q, qd: torque(t), **options)
    assert run.status.ok
    assert run.balance.relative < 1e-8
    stops, starts = ([x for x in run.events if x.name == f"crank {word}"] for word in ("sticks", "slides"))
    pairs = [(x, next(y for y in starts if y.time > x.time)) for x in stops]
    assert len(pairs) == 2
    for stop, start in pairs:
        still, moving = stop.time, start.time + 1e-3
        while moving - still > 1e-10:
            middle = 0.5 * (still + moving)
            moves = m.forward_dynamics(start.q, np.zeros(3), torque(middle)).any()
            still, moving = (still, middle) if moves else (middle, moving)
        assert start.time == pytest.approx(still, abs=1e-8)
