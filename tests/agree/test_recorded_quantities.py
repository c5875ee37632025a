"""Quantities of a mechanism inside functions that are recorded: of torques, wrenches, events and constraints."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler.program import interpret
from kinpair.compiler.trace import trace

CALLS = {
    "inverse_dynamics": lambda m, q, qd: m.inverse_dynamics(q, qd, qd),
    "forward_dynamics": lambda m, q, qd: m.forward_dynamics(q, qd, qd),
    "mass_matrix": lambda m, q, qd: m.mass_matrix(q),
    "coriolis_matrix": lambda m, q, qd: m.coriolis_matrix(q, qd),
    "bias_forces": lambda m, q, qd: m.bias_forces(q, qd),
    "gravity_forces": lambda m, q, qd: m.gravity_forces(q),
    "reactions": lambda m, q, qd: m.reactions(q, qd, qd),
    "regressor": lambda m, q, qd: m.regressor(q, qd, qd),
    "energy": lambda m, q, qd: tuple(m.energy(q, qd)),
    "pose": lambda m, q, qd: tuple(m.pose(q, m.model.names[-1])),
    "poses": lambda m, q, qd: {name: x.position for name, x in m.poses(q).items()},
    "jacobian": lambda m, q, qd: m.jacobian(q, m.model.names[-1]),
    "jacobian_rate": lambda m, q, qd: m.jacobian_rate(q, qd, m.model.names[-1]),
    "twists": lambda m, q, qd: m.twists(q, qd),
    "twist_rates": lambda m, q, qd: m.twist_rates(q, qd, qd),
    "centre_of_mass": lambda m, q, qd: m.centre_of_mass(q),
    "momentum": lambda m, q, qd: m.momentum(q, qd),
    "dq_dt": lambda m, q, qd: m.dq_dt(q, qd),
    "position": lambda m, q, qd: m.pose(list(q), m.model.names[-1]).position,
    "wrenches": lambda m, q, qd: m.bias_forces(q, qd, external={m.model.names[-1]: [0, 0, 0, q[0], 0, 1]}),
}
EXACT = 1e-12  # rounding of some hundred operations on numbers near 1


def flat(x):
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, tuple) else [x]
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


def state_of(m, seed):
    rng = np.random.default_rng(seed)
    q = m.neutral() + rng.uniform(-0.4, 0.4, m.nq)
    return q, rng.uniform(-1.0, 1.0, m.nv)


@pytest.mark.parametrize("name", ["double-pendulum", "floating-arm"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("first", ["symbols", "numbers"])
def test_a_quantity_of_symbols_is_that_of_numbers(name, call, first):
    m, of = kp.example(name), CALLS[call]
    q, qd = state_of(m, 3)
    if first == "numbers":  # then machine code has taken the place of the method
        of(m, q, qd)
    program = trace(lambda q, qd: of(m, q, qd), {"q": (m.nq,), "qd": (m.nv,)})
    expected = flat(of(m, q, qd))
    result = flat(interpret(program, q, qd))
    assert np.abs(result - expected).max() <= EXACT * max(1.0, np.abs(expected).max())


def test_forward_dynamics_under_constraints():
    m = kp.example("four-bar")
    q = m.start()
    qd = m.velocities(q, {m.v_names[0]: 2.0})
    program = trace(lambda q, qd: m.forward_dynamics(q, qd, 0.1 * qd), {"q": (m.nq,), "qd": (m.nv,)})
    expected = m.forward_dynamics(q, qd, 0.1 * qd)
    assert np.abs(interpret(program, q, qd) - expected).max() <= 1e-10 * np.abs(expected).max()


def test_a_torque_that_calls_the_mechanism_is_compiled():
    m = kp.example("double-pendulum")
    pull = np.array([0.0, 0.0, 5.0])

    def torque(time, q, qd):
        J = m.jacobian(q, "lower")[3:]
        return J.T @ (pull - 0.5 * (J @ qd)) + m.gravity_forces(q)

    def called(time, q, qd):
        return torque(time, q, qd)

    called.traceable = False

    options = {"duration": 0.2, "dt": 1e-3, "integrator": "rk4"}
    run = kp.simulate(m, [0.3, 0.2], [0.0, 0.0], torque=torque, **options)
    assert not run.notes
    other = kp.simulate(m, [0.3, 0.2], [0.0, 0.0], torque=called, **options)
    assert other.notes
    assert np.abs(run.q - other.q).max() < 1e-4  # one is read in each stage, the other once a step


def test_wrenches_events_and_constraints_may_call_it_too():
    m = kp.example("double-pendulum")
    height = m.pose([0.3, 0.2], "lower").position[2]
    lift = {"lower": lambda time, q, qd: [0, 0, 0, 0, 0, -10.0 * (m.pose(q, "lower").position[2] - height)]}
    event = kp.Event("level", lambda time, q, qd: m.pose(q, "lower").position[2] - height - 0.01)
    run = kp.simulate(m, [0.3, 0.2], [0.5, 0.0], duration=1.0, external=lift, events=[event])
    assert not run.notes
    assert run.events
    assert m.pose(run.events[0].q, "lower").position[2] == pytest.approx(height + 0.01, abs=1e-9)
    on_line = m.with_constraints(
        kp.constraint.custom("level", phi=lambda q, t: m.pose(q, "lower").position[2] - height)
    )
    q = on_line.assemble([0.31, 0.2])
    assert m.pose(q, "lower").position[2] == pytest.approx(height, abs=1e-12)
    A = on_line.constraint_matrix(q)
    assert np.abs(A - m.jacobian(q, "lower")[5:]).max() < 1e-13


def test_what_finds_its_rank_at_each_state_says_that_it_cannot_be_recorded():
    m = kp.example("four-bar")

    def torque(time, q, qd):
        return m.inverse_dynamics(q, qd, 0 * qd)

    with pytest.raises(kp.TraceError) as refused:
        trace(lambda q, qd: torque(0.0, q, qd), {"q": (m.nq,), "qd": (m.nv,)})
    assert str(refused.value) == (
        "four-bar: q is only known at run time, and what was called here works on numbers: it cannot be recorded"
    )
