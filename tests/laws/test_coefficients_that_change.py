"""Coefficients of friction as functions of time, and levels that change next to friction from load: closed forms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import kinpair as kp

G, SPEED = 9.81, 2.0
METHODS = {"dop853": {}, "dopri5": {}, "rk4": {"dt": 1e-3}, "cvode": {}}
GUIDE = {"law": "guide", "length": 0.3, "width": 0.4}


def mu(time: float) -> float:
    return 0.2 + 0.1 * np.sin(3.0 * time)


def lost(time: float) -> float:
    """g ∫μ dt."""
    return G * (0.2 * time + 0.1 * (1.0 - np.cos(3.0 * time)) / 3.0)


STOP = brentq(lambda t: lost(t) - SPEED, 0.0, 3.0, xtol=1e-15)


def block(**friction: object) -> kp.Builder:
    b = kp.Builder("block").link("block", mass=2.0, inertia=(0.01, 0.01, 0.01))
    return b.joint("x", "prismatic", "ground", "block", axis="x", friction={**GUIDE, **friction})


@cache
def slider() -> kp.Mechanism:
    return kp.build(block(mu="0.2 + 0.1*sin(3*t)"))


@pytest.mark.parametrize("integrator", METHODS)
def test_a_block_is_braked_by_the_coefficient_of_each_moment(integrator):
    run = kp.simulate(slider(), [0.0], [SPEED], duration=1.2, integrator=integrator, **METHODS[integrator])
    assert [(x.name, x.time) for x in run.events] == [("x sticks", pytest.approx(STOP, abs=1e-8))]
    before = run.time < STOP
    assert run.qd[before, 0] == pytest.approx(SPEED - lost(run.time[before]), abs=1e-8)
    assert not run.qd[~before].any()
    assert run.balance.relative < 1e-7


def test_batches_and_steppers_have_it():
    run = kp.simulate(
        slider(), np.zeros((3, 1)), np.full((3, 1), SPEED), duration=1.2, integrator="rk4", dt=1e-3
    )
    assert [x.time for x in run.events] == pytest.approx([STOP] * 3, abs=1e-12)
    stepper = kp.stepper(slider(), dt=1e-3)
    stepper.reset(np.zeros(1), np.full(1, SPEED))
    for _ in range(1200):
        q, _ = stepper.step(np.zeros(1))
    assert q == pytest.approx(run.q[0, -1], abs=1e-14)


@pytest.mark.parametrize("time", [0.0, 0.4, 1.7])
def test_single_states_have_the_coefficient_of_their_time(time):
    m, push = slider(), 0.25 * 2.0 * G
    assert m.forward_dynamics([0.0], [1.0], [0.0], time=time) == pytest.approx([-mu(time) * G], rel=1e-12)
    resting = max(0.25 - mu(time), 0.0) * G
    assert m.forward_dynamics([0.0], [0.0], [push], time=time) == pytest.approx([resting], rel=1e-12)
    assert m.inverse_dynamics([0.0], [1.0], [0.0], time=time) == pytest.approx([mu(time) * 2.0 * G])
    assert m.friction([0.0], [1.0], [0.0], time=time)["x"].level == pytest.approx(mu(time) * 2.0 * G)


def test_a_batch_of_states_may_have_a_time_each():
    times = np.array([0.0, 0.4, 1.7])
    qdd = slider().forward_dynamics(np.zeros((3, 1)), np.zeros((3, 1)), np.full((3, 1), 4.905), time=times)
    assert qdd[:, 0] == pytest.approx([max(0.25 - mu(t), 0.0) * G for t in times], abs=1e-12)


def four_bar(crank: object) -> kp.Mechanism:
    b = kp.Builder("four-bar", gravity=(0, -G, 0))
    for name, mass, length in (("crank", 1.0, 0.05), ("output", 2.0, 0.13), ("coupler", 1.5, 0.1)):
        b.link(name, mass=mass, com=(length / 2, 0, 0), inertia=[1e-3 * mass] * 3)
    bearing = {"law": "bearing", "radius": 0.01, "thrust_radius": 0.0, "length": 0.02, "mu": crank}
    b.joint("crank", "revolute", "ground", "crank", start=1.0, friction=bearing)
    b.joint("output", "revolute", "ground", "output", xyz=[0.15, 0, 0], start=2.0)
    b.joint("coupler", "revolute", "output", "coupler", xyz=[0.13, 0, 0], start=1.5)
    return kp.build(b.loop("pin", "pin", "crank", "coupler", xyz=[0.05, 0, 0], child_xyz=[0.1, 0, 0]))


def test_a_loop_has_the_coefficient_of_its_time():
    """At each moment the accelerations are those of the coefficient as a number; a run follows them."""
    m = four_bar("0.1 + 0.3*t")
    q = m.assemble(m.start())
    qd = m.velocities(q, {"crank": 3.0})
    for time, rates in [(0.5, qd), (1.0, qd), (0.5, 0.0 * qd)]:
        fixed = four_bar(0.1 + 0.3 * time)
        expected = fixed.forward_dynamics(q, rates, np.zeros(3))
        assert m.forward_dynamics(q, rates, np.zeros(3), time=time) == pytest.approx(expected, abs=1e-10)
    slopes = m.forward_dynamics_derivatives(q, qd, np.zeros(3), time=1.0)
    expected = four_bar(0.4).forward_dynamics_derivatives(q, qd, np.zeros(3))
    for own, other in zip(slopes, expected, strict=True):
        assert own == pytest.approx(other, abs=1e-9 * np.abs(other).max())
    qdd = m.accelerations(q, qd, {"crank": 2.0})
    efforts = [x.inverse_dynamics(q, qd, qdd, actuators=["crank"], time=1.0) for x in (m, four_bar(0.4))]
    assert efforts[0] == pytest.approx(efforts[1], rel=1e-9)
    run = kp.simulate(m, q, qd, duration=0.4, rtol=1e-10, atol=1e-12)
    assert run.status.name == "done"
    assert run.balance.relative < 1e-8
    last = four_bar(0.1 + 0.3 * 0.4).forward_dynamics(run.q[-1], run.qd[-1], np.zeros(3))
    assert run.qdd[-1] == pytest.approx(last, rel=1e-9)


@pytest.mark.parametrize("level", ["0.5*t", {"input": "pedal", "scale": 10.0}], ids=["formula", "input"])
def test_a_level_that_changes_acts_next_to_friction_from_load(level):
    """A wheel of 0.1 kg m² under a brake 0.5 t stops at √(2·0.1·2/0.5); the block at 1/(μ g)."""
    b = block(mu=0.1).link("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("w", "revolute", "ground", "wheel", axis="z", friction={"law": "coulomb", "level": level})
    m = kp.build(b)
    table = np.array([0.0, 2.0]), np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    inputs = {} if isinstance(level, str) else {"input": table}
    for settings in ({}, {"integrator": "rk4", "dt": 1e-3}):
        run = kp.simulate(m, [0, 0], [1, 2], duration=2.0, **inputs, **settings)
        stops = {x.name: x.time for x in run.events}
        expected = {"w sticks": np.sqrt(0.8), "x sticks": 1 / (0.1 * G)}
        assert stops == {name: pytest.approx(t, abs=1e-8) for name, t in expected.items()}


@pytest.mark.parametrize("pedal", [0.1, 0.05, 0.0])
def test_state_derivatives_have_the_level_of_the_input_and_the_load(pedal):
    b = block(mu=0.1).link("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    level = {"input": "pedal", "scale": 10.0}
    b.joint("w", "revolute", "ground", "wheel", axis="z", friction={"law": "coulomb", "level": level})
    m, u = kp.build(b), [pedal, 3.0, 0.6]
    slides = (3.0 - 0.1 * 2.0 * G) / 2.0
    at_rest, moving = (m.state_derivative([0.0, 0.0], [v, v], u=u).qdd for v in (0.0, 1.0))
    assert at_rest == pytest.approx([slides, max(0.6 - 10.0 * pedal, 0.0) / 0.1], abs=1e-12)
    assert moving == pytest.approx([slides, (0.6 - 10.0 * pedal) / 0.1], abs=1e-12)


def test_a_resting_wheel_leaves_where_the_level_falls_to_the_torque():
    b = block(mu=0.1).link("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.joint("w", "revolute", "ground", "wheel", axis="z", friction={"law": "coulomb", "level": "2 - t"})
    run = kp.simulate(kp.build(b), [0, 0], [0, 0], duration=1.5, torque=[0.0, 0.8])
    assert [(x.name, x.time) for x in run.events] == [("w slides", pytest.approx(1.2, abs=1e-9))]
    assert run.qd[-1, 1] == pytest.approx(0.5 * 0.3**2 / 0.1, rel=1e-8)


def test_derivatives_and_files(tmp_path):
    b = block(mu="0.1 + 0.2*t", mu_static="0.2 + 0.2*t", stribeck_speed=0.5, exponent=2)
    m = kp.build(b)
    step, time = 1e-6, 0.7
    slopes = m.forward_dynamics_derivatives([0.0], [0.4], [1.0], time=time)
    ends = [m.forward_dynamics([0.0], [0.4 + x], [1.0], time=time)[0] for x in (step, -step)]
    assert slopes.qd[0, 0] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-7)
    path = tmp_path / "block.toml"
    kp.write_toml(b.description(), path)
    again = kp.load(path)
    assert again.forward_dynamics([0.0], [0.4], [1.0], time=time) == pytest.approx(
        m.forward_dynamics([0.0], [0.4], [1.0], time=time), abs=1e-15
    )


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        ({"mu": -0.1}, "joint 'x': friction: mu is -0.1; friction resists motion, so give zero or more"),
        (
            {"mu": {"input": "pedal", "scale": 1}},
            "joint 'x': friction: mu takes a number or a formula of t; an input operates levels alone",
        ),
        (
            {"mu": "0.1*t", "mu_static": 0.3},
            "joint 'x': friction: one of mu and mu_static changes; give both as formulas of t, or leave mu_static out",
        ),
    ],
)
def test_coefficients_that_cannot_be(friction, message):
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(block(**friction))
    assert str(caught.value) == message


def test_a_coefficient_below_zero_is_named_with_its_time():
    m = kp.build(block(mu="0.1 - 0.2*t"))
    reason = "has a mu below zero at t = {} s; friction resists motion, so its coefficient is zero or above"
    with pytest.raises(kp.InputError) as refused:
        m.forward_dynamics([0.0], [1.0], [0.0], time=2.0)
    assert str(refused.value) == f"block: x.friction {reason.format(2)}"
    with pytest.raises(kp.RunError) as caught:
        kp.simulate(m, [0.0], [5.0], duration=1.5)
    assert reason.format(0.5) in str(caught.value)
    assert caught.value.run.time[-1] == pytest.approx(0.5, abs=2e-3)
