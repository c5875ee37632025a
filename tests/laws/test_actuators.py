"""Laws of actuators: power in is power out, what is stored, and what is lost by name; at random states and inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinpair as kp
from kinpair.algebra.jet import rate
from kinpair.forces.actuators.actuator import Actuator
from kinpair.forces.element import Instant
from kinpair.forces.elements import elements_of
from kinpair.model.state import State
from motors import AMPLITUDE, KINDS, MOTOR, swing


def actuator(m: kp.Mechanism) -> Actuator:
    (element,) = (x for x in elements_of(m.model, driven=True) if isinstance(x, Actuator))
    return element


@pytest.mark.parametrize("case", KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_power_is_supply_less_what_is_stored_and_lost(case, seed):
    """(EL1) at random states and inputs."""
    m, rng = swing(case), np.random.default_rng(seed)
    x = actuator(m)
    q, qd = rng.uniform(-0.3, 0.3, 2), rng.normal(size=2)
    own = m.x_start + np.array(x.x_scale) * rng.normal(size=m.nx) * 2.0
    u = AMPLITUDE.get(case, 20.0) * rng.normal(size=1)

    def at(q, own):
        return Instant(m.model, State(q, qd), own, u)

    here = at(q, own)
    power = x.efforts(here)[0] * qd[0]
    stored = rate(lambda q, own: x.energy(at(q, own)), (q, own), (qd, np.asarray(x.rates(here), dtype=float)))
    supply, losses = x.supply(here), x.losses(here)
    size = max(1.0, abs(power), abs(stored), *map(abs, supply.values()), *map(abs, losses.values()))
    assert power == pytest.approx(sum(supply.values()) - stored - sum(losses.values()), abs=1e-11 * size)
    taken = [
        loss
        for name, loss in losses.items()
        if not name.endswith(("conversion", "cavitation", "displacement"))
    ]
    assert min(taken, default=0.0) >= -1e-12 * size


@pytest.mark.parametrize("case", KINDS)
def test_the_energy_of_a_run_closes_by_name(case):
    """Supply, losses and what is stored add up to 1e-8 of the energy that moved, over a start with a changing input."""
    m, a = swing(case), AMPLITUDE.get(case, 20.0)

    def wave(time, q, qd, x):
        return [a * np.sin(7.0 * time + 0.3)]

    stiff = {"integrator": "cvode", "rtol": 1e-11, "atol": 1e-12} if case in STIFF else {}
    run = kp.simulate(m, [0.1, 0.2], [0.3, 0.0], duration=0.5, input=wave, **stiff)
    assert run.status.ok, run.status.message
    assert run.balance.relative < 1e-8
    supply, lost = (sum(x[-1] for x in part.values()) for part in (run.supplied, run.losses))
    scale = max(abs(run.work).max(), abs(run.loss).max())
    assert supply == pytest.approx(run.work[-1], abs=1e-12 * scale)
    assert lost == pytest.approx(run.loss[-1], abs=1e-12 * scale)


STIFF: tuple[str, ...] = ()


@pytest.mark.parametrize("case", KINDS)
def test_batch_single_and_reference_are_the_same(case):
    m, rng = swing(case), np.random.default_rng(5)
    q, qd = rng.uniform(-0.3, 0.3, (7, 2)), rng.normal(size=(7, 2))
    x = m.x_start + np.array(actuator(m).x_scale) * rng.normal(size=(7, m.nx))
    u = AMPLITUDE.get(case, 20.0) * rng.normal(size=(7, 1))
    batch, slow = m.state_derivative(q, qd, x, u), m.reference.state_derivative(q, qd, x, u)
    for k in range(7):
        one = m.state_derivative(q[k], qd[k], x[k], u[k])
        for several, interpreted, single in zip(batch, slow, one, strict=True):
            size = max(1.0, np.abs(single).max(initial=0.0))
            assert several[k] == pytest.approx(single, abs=1e-12 * size)
            assert interpreted[k] == pytest.approx(single, abs=1e-11 * size)


def test_a_locking_gear_holds_its_load():
    """η_b = 2 − 1/0.4 < 0: gravity does not move the joint while the motor is off; a good gear lets it fall."""
    falls = {}
    for efficiency in (0.4, 0.95):
        builder = kp.Builder("hoist", gravity=(0.0, -9.81, 0.0))
        builder.link("arm", mass=2.0, com=(0.3, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
        builder.joint("hinge", "revolute", "ground", "arm", axis="z")
        keys = {**MOTOR, "inductance": 2.2e-3, "rotor_inertia": 1e-5}
        gear = {"ratio": 5.0, "efficiency": efficiency, "stiffness": 2e3, "damping": 5.0}
        builder.actuator("motor", "hinge", "dc-motor", **keys, gear=gear)
        m = kp.build(builder.description())
        run = kp.simulate(m, [0.0], [0.0], duration=0.3, integrator="cvode", rtol=1e-6, atol=1e-9)
        falls[efficiency] = -run.q[-1, 0]
    assert falls[0.4] < 0.05 * falls[0.95]


def test_numbers_of_actuators_are_parameters_of_runs_and_batches():
    m = swing("dc-motor")
    assert {"motor.resistance", "motor.gear.ratio", "motor.rotor_inertia"} <= set(m.parameter_names)
    kind, numbers, _ = KINDS["dc-motor"]
    how = {"duration": 0.1, "input": [10.0], "integrator": "rk4", "dt": 1e-3}
    values = {"motor.resistance": 2.0, "motor.rotor_inertia": 3e-3, "motor.gear.ratio": 25.0}
    run = kp.simulate(m, [0.1, 0.2], [0.0, 0.0], parameters=values, **how)
    other = {**KINDS, "other": (kind, {**numbers, "resistance": 2.0, "rotor_inertia": 3e-3}, {"ratio": 25.0})}
    KINDS.update(other)
    try:
        same = kp.simulate(swing("other"), [0.1, 0.2], [0.0, 0.0], **how)
    finally:
        del KINDS["other"]
    assert run.q == pytest.approx(same.q, rel=1e-9, abs=1e-12)
    assert run.x == pytest.approx(same.x, rel=1e-9, abs=1e-12)
