"""Reactions under constraints: a batch of states at once, and each of them alone."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo

CLOSED = (
    "four-bar",
    "four-bar-3d",
    "slider-crank",
    "bennett",
    "delta",
    "gripper",
    "rolling-disk",
    "diff-drive",
)
TOLERANCE = 1e-9  # the least-norm multipliers of redundant rows go through a decomposition of their own
SEED = 11


def motions(m: kp.Mechanism, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States near the start that obey the constraints (count, n)."""
    rng = np.random.default_rng(SEED)
    q = [m.assemble(m.start() + 0.02 * rng.uniform(-1, 1, m.nq)) for _ in range(count)]
    qd = [m.velocities(x, guess=rng.uniform(-1, 1, m.nv)) for x in q]
    qdd = [m.accelerations(x, v, guess=rng.uniform(-1, 1, m.nv)) for x, v in zip(q, qd, strict=True)]
    return np.array(q), np.array(qd), np.array(qdd)


def same(one: dict, other: dict) -> bool:
    assert list(one) == list(other)
    return all(zoo.relative_error(one[name], other[name]) <= TOLERANCE for name in one)


def row(found: dict, k: int) -> dict:
    return {name: w[k] for name, w in found.items()}


@pytest.fixture(scope="module", params=CLOSED)
def m(request) -> kp.Mechanism:
    return kp.example(request.param)


def test_a_batch_gives_what_each_state_gives_alone(m):
    state = motions(m, 3)
    result = m.reactions(*state)
    assert all(w.shape == (3, 6) for w in result.values())
    for k in range(3):
        assert same(row(result, k), m.reactions(*(x[k] for x in state)))
    assert same(result, m.reference.reactions(*state))


def test_efforts_wrenches_and_time_may_differ_from_row_to_row(m):
    state, rng = motions(m, 3), np.random.default_rng(SEED)
    tau, link, time = m.inverse_dynamics(*state), m.model.names[-1], np.array([0.0, 0.1, 0.2])
    w = rng.uniform(-1, 1, (3, 6))
    results = m.reactions(*state, tau=tau, external={link: w}, time=time)
    for k in range(3):
        alone = m.reactions(*(x[k] for x in state), tau=tau[k], external={link: w[k]}, time=float(time[k]))
        assert same(row(results, k), alone)


def test_one_state_serves_every_row(m):
    q, qd, qdd = (x[0] for x in motions(m, 1))
    tau = np.stack([m.inverse_dynamics(q, qd, qdd)] * 2)
    result = m.reactions(q, qd, qdd, tau=tau)
    for k in range(2):
        assert same(row(result, k), m.reactions(q, qd, qdd))


def test_batches_of_different_length_are_refused():
    m = kp.example("four-bar")
    q, qd, qdd = motions(m, 3)
    with pytest.raises(kp.InputError) as caught:
        m.reactions(q, qd, qdd[:2])
    assert str(caught.value) == "four-bar: batches differ in length: q has 3, qd has 3, qdd has 2 rows"
    assert m.reactions(q[:0], qd[:0], qdd[:0])["crank"].shape == (0, 6)


def test_a_row_that_breaks_a_constraint_is_named():
    m = kp.example("four-bar")
    q, qd, qdd = motions(m, 3)
    qdd[1] += 1.0
    with pytest.raises(kp.InputError, match=r"these accelerations \(state 1 of the batch\) break"):
        m.reactions(q, qd, qdd)
