"""Runs of arms of servos: the law `servo` jumps in its load, and every run goes on through the jumps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import kinpair as kp
from families import family

SEEDS = range(40)
USUAL = {"0", "8", "13", "14", "22", "27"}  # among them one to three joints, starts at rest and moving
DURATION = 0.5
FINE = 1e-7  # of the efforts: 1e-9 of the adaptive steps, 1e-10 of the loads


class Case(NamedTuple):
    """An arm, the same without rotors, numbers of its joints, a start, and motor efforts over time."""

    arm: kp.Mechanism
    bare: kp.Mechanism
    laws: list[dict]
    q: np.ndarray
    qd: np.ndarray
    torque: Callable


def law(rng: np.random.Generator) -> dict:
    keys = "motor_share load_share motor_share_static load_share_static".split()
    level = float(rng.uniform(0.0, 0.3))
    return {
        "law": "servo",
        "level": level,
        "level_static": level + float(rng.uniform(0.0, 0.3)),
        "stribeck_speed": float(rng.uniform(0.05, 1.0)),
        "exponent": float(rng.uniform(0.8, 2.0)),
        **{key: float(rng.uniform(0.0, 0.3)) for key in keys},
        **{key: float(rng.uniform(0.0, 0.1)) for key in ("motor_square", "load_square")},
        "viscous": float(rng.uniform(0.0, 0.3)),
    }


def built(rng: np.random.Generator) -> tuple[kp.Mechanism, kp.Mechanism, list[dict]]:
    n = int(rng.integers(1, 4))
    rough, bare, laws, parent, end = kp.Builder("arm"), kp.Builder("bare"), [], "ground", 0.0
    for k in range(n):
        mass, length = float(rng.uniform(0.2, 2.0)), float(rng.uniform(0.1, 0.4))
        inertia = mass * length**2 / 12 + 1e-4
        laws.append(law(rng))
        rotor, axis = float(rng.uniform(0.0, 0.05)), "xyz"[int(rng.integers(3))]
        for b, more in ((rough, {"friction": laws[-1], "rotor_inertia": rotor}), (bare, {})):
            b.link(f"l{k}", mass=mass, com=(length / 2, 0, 0), inertia=(1e-3, inertia, inertia))
            b.joint(f"j{k}", "revolute", parent, f"l{k}", axis=axis, xyz=(end, 0, 0), **more)
        parent, end = f"l{k}", length
    return kp.build(rough), kp.build(bare).reference, laws


def case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    arm, bare, laws = built(rng)
    A, w, phase = rng.uniform(0, 8, arm.nv), rng.uniform(1, 8, arm.nv), rng.uniform(0, 6, arm.nv)
    q = rng.uniform(-1.5, 1.5, arm.nv)
    qd = np.zeros(arm.nv) if rng.random() < 0.5 else 2.0 * rng.normal(size=arm.nv)
    return Case(arm, bare, laws, q, qd, lambda t, q, qd: A * np.sin(w * t + phase))


def levels(x: dict, rate: float, motor: float, load: float) -> tuple[float, float]:
    """The level of the law in closed form; both sides of its jump where the efforts are there."""
    s = np.exp(-((abs(rate) / x["stribeck_speed"]) ** x["exponent"]))
    constant = x["level"] + abs(x["load_share"] * load - x["motor_share"] * motor)
    slow = x["level_static"] - x["level"]
    slow += abs(x["load_share_static"] * load - x["motor_share_static"] * motor)
    sides = []
    for error in (-FINE, FINE):
        reach = abs(load) + error * (1.0 + abs(motor))
        square = x["load_square"] * load**2 if reach < abs(motor) else x["motor_square"] * motor**2
        sides.append(constant + s * (slow + (square if load * motor < 0.0 else 0.0)))
    return min(sides), max(sides)


@pytest.mark.parametrize("seed", family(SEEDS, USUAL, "forty runs of servos"))
def test_every_run_ends_and_its_friction_is_that_of_the_law(seed):
    """What each motion takes beyond the efforts, from inverse dynamics; and the load, from the arm without rotors."""
    x = case(int(seed))
    run = kp.simulate(x.arm, x.q, x.qd, duration=DURATION, torque=x.torque, output=0.05)
    assert run.status.name == "done"
    for time, q, qd in zip(run.time[1:], run.q[1:], run.qd[1:], strict=True):
        tau = x.torque(time, q, qd)
        satisfies_the_law(x, q, qd, x.arm.forward_dynamics(q, qd, tau), tau)


def satisfies_the_law(x: Case, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray) -> None:
    needed = x.arm.inverse_dynamics(q, qd, qdd, passive=False) - tau
    handed = x.bare.inverse_dynamics(q, qd, qdd)
    for k, own in enumerate(x.laws):
        force = needed[k] + own["viscous"] * qd[k]
        low, high = levels(own, qd[k], tau[k], -handed[k])
        small = FINE * (1.0 + abs(handed[k]) + abs(tau[k]))
        if qd[k] == 0.0:
            assert abs(force) <= high + small
        else:
            assert low - small <= -force * np.sign(qd[k]) <= high + small


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_efforts_of_a_motion_and_the_motion_of_efforts_satisfy_the_law(seed):
    """Several efforts may give one motion, and one effort several motions: the law is checked, not the round trip."""
    x, rng = case(seed), np.random.default_rng(seed)
    for _ in range(60):
        q, qd = rng.uniform(-1.5, 1.5, x.arm.nv), 2.0 * rng.normal(size=x.arm.nv)
        tau = 8.0 * rng.normal(size=x.arm.nv)
        qdd = x.arm.forward_dynamics(q, qd, tau)
        satisfies_the_law(x, q, qd, qdd, tau)
        satisfies_the_law(x, q, qd, qdd, x.arm.inverse_dynamics(q, qd, qdd))


@pytest.mark.parametrize("method", ["denoc", "zhao-gu"])
def test_every_formulation_has_the_same_motion(method):
    """Newton and Euler's sweeps have accelerations as unknowns, those of the others the loads."""
    x, rng = case(0), np.random.default_rng(1)
    m = x.arm.reference
    for _ in range(25):
        q, qd, tau = rng.normal(size=(3, m.nv)) * np.array([[1.0], [2.0], [8.0]])
        expected = m.forward_dynamics(q, qd, tau)
        assert m.forward_dynamics(q, qd, tau, method=method) == pytest.approx(expected, rel=1e-8)


def test_a_run_of_a_loop_goes_on_through_the_jump():
    rng = np.random.default_rng(3)
    b = kp.Builder("four-bar").link("crank", mass=1.0, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    b.link("coupler", mass=2.0, com=(0.15, 0, 0), inertia=(1e-3, 1e-2, 1e-2))
    b.link("rocker", mass=1.5, com=(0.1, 0, 0), inertia=(1e-3, 5e-3, 5e-3))
    b.joint("a", "revolute", "ground", "crank", axis="y", friction=law(rng), rotor_inertia=0.02)
    b.joint("b", "revolute", "crank", "coupler", xyz=(0.1, 0, 0), axis="y")
    b.joint(
        "c", "revolute", "ground", "rocker", xyz=(0.3, 0, 0), axis="y", friction=law(rng), rotor_inertia=0.03
    )
    m = kp.build(b.loop("d", "pin", "rocker", "coupler", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0), axis="y"))
    q = m.assemble([0.4, 0.0, 1.2])
    run = kp.simulate(
        m,
        q,
        m.velocities(q, {"a": 2.0}),
        duration=0.5,
        torque=lambda t, q, qd: np.array([4, 0, 7]) * np.sin(5 * t),
    )
    assert run.status.name == "done"


@pytest.mark.parametrize("seed", [0, 14])
def test_derivatives_at_the_jump_and_next_to_it_are_those_of_differences(seed):
    """At the jump the load stays there, |τ_e| = |τ_m|: states in which a joint is there are looked for first."""
    x, rng = case(seed), np.random.default_rng(seed)
    q, qd, tau = rng.normal(size=(3, 400, x.arm.nv)) * np.array([0.8, 0.3, 6.0])[:, None, None]
    qdd = x.arm.forward_dynamics(q, qd, tau)
    beyond = np.abs(np.abs(x.bare.inverse_dynamics(q, qd, qdd)) - np.abs(tau)).min(1)
    order = np.argsort(beyond)
    assert beyond[order[0]] < 1e-12
    assert beyond[order[-1]] > 0.1
    step = 1e-6  # rounding 1e-13 of accelerations of 1e2 over it, and curvature
    for k in (order[0], order[1], order[-1]):
        by_tau = x.arm.forward_dynamics_derivatives(q[k], qd[k], tau[k])[2]
        ends = [
            [x.arm.forward_dynamics(q[k], qd[k], tau[k] + s * step * e) for s in (1, -1)]
            for e in np.eye(x.arm.nv)
        ]
        expected = np.array([(up - down) / (2 * step) for up, down in ends]).T
        assert by_tau == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


STEP = 1.0 / 32000.0  # [s]: 1e-7 needs it, see the order below; all forty runs are within 4.3e-8 there


def by_stepper(x: Case) -> np.ndarray:
    stepper = kp.stepper(x.arm, STEP, input=x.torque)
    stepper.reset(x.q, x.qd)
    per_sample = round(0.05 / STEP)
    return np.array([x.q, *(stepper.step(steps=per_sample)[0].copy() for _ in range(10))])


@pytest.mark.parametrize("seed", family(SEEDS, {"8", "13", "27"}, "forty runs of servos by fixed steps"))
def test_fixed_steps_batches_and_steppers_agree_with_adaptive_steps(seed):
    x = case(int(seed))
    options = {"duration": DURATION, "torque": x.torque, "output": 0.05}
    expected = kp.simulate(x.arm, x.q, x.qd, rtol=1e-12, atol=1e-13, **options).q
    fixed = {"integrator": "rk4", "dt": STEP, **options}
    batch = kp.simulate(x.arm, np.array([x.q, x.q]), np.array([x.qd, x.qd]), **fixed).q
    for q in (kp.simulate(x.arm, x.q, x.qd, **fixed).q, *batch, by_stepper(x)):
        assert q == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", [14, 21])
def test_the_order_of_fixed_steps_is_that_of_the_law_at_rest(seed):
    """From rest the level goes as |v|ⁿ, n: `exponent`. A step over v ∝ t has the error ∫ tⁿ dt ∝ dt¹⁺ⁿ, whatever the
    order of the method is."""
    x = case(seed)
    options = {"duration": DURATION, "torque": x.torque, "output": 0.05}
    expected = kp.simulate(x.arm, x.q, x.qd, rtol=1e-12, atol=1e-13, **options).q
    runs = [kp.simulate(x.arm, x.q, x.qd, integrator="rk4", dt=dt, **options) for dt in (5e-4, 1.25e-4)]
    coarse, fine = (np.abs(run.q - expected).max() for run in runs)
    assert np.log(coarse / fine) / np.log(4.0) == pytest.approx(1.0 + x.laws[0]["exponent"], abs=0.1)
