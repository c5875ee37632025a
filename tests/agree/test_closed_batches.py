"""Calls of closed mechanisms for one state and for batches: compiled code, the reference, and states of every kind in
one batch."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import closed
import kinpair as kp

NAMES = ("four-bar", "bennett", "diff-drive")
AGREES = 1e-9  # of rounding: pivots down to 5e-3 enter twice


@cache
def states(name: str, count: int = 5) -> tuple[kp.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A mechanism, and states near to its start that obey its constraints, with any efforts."""
    m, start = kp.example(name), closed.start(name)
    draws = np.random.default_rng(5)
    guesses = start + 0.02 * draws.standard_normal((count, m.nq))
    q = np.array([m.assemble(guess) for guess in guesses])
    qd = np.array([m.velocities(x, guess=draws.standard_normal(m.nv)) for x in q])
    return m, q, qd, draws.standard_normal((count, m.nv))


def close(x, y, part: float = AGREES) -> bool:
    return bool(np.abs(x - y).max() <= part * (1.0 + np.abs(y).max()))


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_those_of_the_reference_alone_and_in_a_batch(name):
    m, q, qd, tau = states(name)
    batch = m.forward_dynamics_derivatives(q, qd, tau)
    for k in (0, len(q) - 1):
        one = m.forward_dynamics_derivatives(q[k], qd[k], tau[k])
        reference = m.reference.forward_dynamics_derivatives(q[k], qd[k], tau[k])
        for of_batch, alone, expected in zip(batch, one, reference, strict=True):
            assert close(of_batch[k], alone, 1e-13)
            assert close(alone, expected)


def test_states_that_code_cannot_judge_take_the_other_way_alone():
    m = states("four-bar")[0]
    turn = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    around = np.array([m.by_name(q={"crank": x})[0] for x in turn])
    rates = np.array([m.velocities(x, {"crank": 1.0}) for x in around])
    efforts = np.array([1.0, 0.2, -0.3])
    every = m.forward_dynamics_derivatives(around, rates, efforts)
    for k in (0, 4, 12):
        alone = m.reference.forward_dynamics_derivatives(around[k], rates[k], efforts)
        assert all(close(x[k], y) for x, y in zip(every, alone, strict=True))
    spoilt = around.copy()
    spoilt[7] = np.nan
    mixed = m.forward_dynamics_derivatives(spoilt, rates, efforts)
    for x, y in zip(mixed, every, strict=True):
        assert np.isnan(x[7]).all()
        assert np.array_equal(np.delete(x, 7, 0), np.delete(y, 7, 0))


# Positions, rates and accelerations that obey, and forces.


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk"])
def test_positions_of_a_batch_are_those_of_each_guess(name):
    m, q, *_ = states(name)
    guesses = q + 1e-3 * np.random.default_rng(2).standard_normal(q.shape)
    every = m.assemble(guesses)
    assert close(every, np.array([m.assemble(x) for x in guesses]), 1e-8)  # by the damping of their steps
    assert np.abs(m.constraint_residual(every)).max() <= 1e-12
    assert np.array_equal(m.assemble(guesses[::-1])[::-1], every)


def test_positions_of_a_batch_hold_what_is_fixed_and_search_where_a_guess_is_far():
    m = kp.example("four-bar")
    angles = np.array([0.3, 2.0, 4.0])
    guesses = np.stack([angles, np.full(3, 2.0), np.full(3, 2.0)], axis=1)
    every = m.assemble(guesses, fixed=["crank"])
    assert np.array_equal(every[:, 0], angles)
    assert close(every, np.array([m.assemble(x, fixed=["crank"]) for x in guesses]), 1e-8)
    spoilt = guesses.copy()
    spoilt[1, 0] = np.nan
    mixed = m.assemble(spoilt, fixed=["crank"])
    assert np.isnan(mixed[1]).all()
    assert np.array_equal(mixed[[0, 2]], every[[0, 2]])
    nothing = np.zeros((0, 3))
    assert m.assemble(nothing).shape == m.velocities(nothing).shape == (0, 3)
    assert m.constraint_forces(nothing, np.zeros(3), np.zeros(3)).qdd.shape == (0, 3)


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "diff-drive"])
def test_rates_and_accelerations_of_a_batch_are_those_of_each_state(name):
    m, q, *_ = states(name)
    draws = np.random.default_rng(4)
    near, nearby = draws.standard_normal((2, len(q), m.nv))
    qd = m.velocities(q, guess=near)
    qdd = m.accelerations(q, qd, guess=nearby)
    assert close(qd, np.array([m.velocities(x, guess=y) for x, y in zip(q, near, strict=True)]), 1e-11)
    each = zip(q, qd, nearby, strict=True)
    assert close(qdd, np.array([m.accelerations(x, y, guess=z) for x, y, z in each]), 1e-11)


def test_inputs_may_have_a_number_for_each_state():
    m, q, *_ = states("four-bar")
    speeds = np.linspace(-1.0, 1.0, len(q))
    qd = m.velocities(q, {"crank": speeds})
    assert np.array_equal(qd[:, 0], speeds)
    assert close(qd[3], m.velocities(q[3], {"crank": speeds[3]}), 1e-12)
    assert close(m.velocities(q[0], {"crank": speeds})[3], m.velocities(q[0], {"crank": speeds[3]}), 1e-12)
    qdd = m.accelerations(q, qd, {"crank": 0.5})
    assert np.array_equal(qdd[:, 0], np.full(len(q), 0.5))
    assert close(qdd[2], m.accelerations(q[2], qd[2], {"crank": 0.5}), 1e-12)
    free = kp.example("double-pendulum")
    assert np.array_equal(free.velocities(np.zeros((2, 2)), guess=np.ones(2)), np.ones((2, 2)))


@pytest.mark.parametrize("name", ["bennett", "rolling-disk", "four-bar-3d"])
def test_constraint_forces_of_a_batch_are_those_of_each_state(name):
    m, q, qd, tau = states(name)
    every = m.constraint_forces(q, qd, tau)
    for k in (0, len(q) - 1):
        one = m.constraint_forces(q[k], qd[k], tau[k])
        assert close(every.qdd[k], one.qdd)
        assert every.undetermined == one.undetermined
        assert tuple(every.multipliers) == tuple(one.multipliers) == m.constraint_rows
        for some, alone in (
            (every.multipliers, one.multipliers),
            (every.wrenches, one.wrenches),
            (every.points, one.points),
            (every.contacts, one.contacts),
        ):
            assert list(some) == list(alone)
            assert all(close(some[name][k], alone[name]) for name in alone)


def test_a_batch_with_a_singular_state_has_its_forces_too():
    m = kp.example("four-bar").with_constraints(kp.constraint.guide("level", "coupler", xyz=("", "", "0")))
    q = m.by_name(q={"crank": 0.4})[0]
    batch = np.array([q, np.full(3, np.nan), q])
    still, tau = np.zeros(3), np.array([1.0, 0.0, 0.0])
    every = m.constraint_forces(batch, still, tau)
    one = m.reference.constraint_forces(q, still, tau)
    assert np.isnan(every.qdd[1]).all()
    assert all(close(every.multipliers[name][2], value) for name, value in one.multipliers.items())


def test_calls_of_one_state_that_come_often_are_answered_by_compiled_code(monkeypatch):
    monkeypatch.setattr("kinpair.constraints.assembly.batch.OFTEN", 1)
    m, q, qd, tau = states("four-bar")
    m = kp.example("four-bar")
    for _ in range(3):
        assert close(m.assemble(q[0] + 1e-4), m.assemble(np.tile(q[0] + 1e-4, (2, 1)))[0], 1e-10)
        assert close(m.velocities(q[0], {"crank": 1.0}), m.velocities(q[:1], {"crank": 1.0})[0], 1e-12)
        assert close(m.accelerations(q[0], qd[0]), m.accelerations(q[:1], qd[:1])[0], 1e-12)
        forces = m.constraint_forces(q[0], qd[0], tau[0])
        assert all(type(x) is float for x in forces.multipliers.values())
        assert all(w.shape == (6,) for w in forces.wrenches.values())
