"""Forward dynamics of an arm in bearings beside the same arm without them: what friction from load costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kinpair as kp
from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.rival import BATCH
from benchmarks.timing import race, repeated

BEARINGS, WITHOUT = "bearing-arm", "without friction"
TIMES = 500
FOUND = 0.999  # of the states of a motion, from the loads of the one before


def rows(turns: int) -> Iterator[Row]:
    """A batch, from the frictionless start; one along a motion, from the loads of the state before; and one state."""
    m = kp.example(BEARINGS)
    q, qd, tau = np.random.default_rng(0).normal(size=(3, BATCH, m.nv))
    calls = {
        "kinpair": lambda: m.forward_dynamics(q, qd, tau),
        WITHOUT: lambda: m.forward_dynamics(q, qd, tau, passive=False),
    }
    yield _row("forward dynamics in bearings, batch", m.nv, race(calls, turns), BATCH, targets.LOAD_FRICTION)
    yield _row(
        "forward dynamics in bearings, loads nearby",
        m.nv,
        _nearby(m, turns),
        BATCH,
        targets.LOAD_FRICTION_NEAR,
    )
    one = q[0], qd[0], tau[0]
    for _ in range(2):
        m.forward_dynamics(*one)
    singles = {
        "kinpair": repeated(m.forward_dynamics, *one, times=TIMES),
        WITHOUT: repeated(lambda *x: m.forward_dynamics(*x, passive=False), *one, times=TIMES),
    }
    yield _row("forward dynamics in bearings, one state", m.nv, race(singles, turns), TIMES, None)


def _nearby(m: kp.Mechanism, turns: int) -> dict[str, float]:
    """States of a motion one millisecond apart, each from the loads of the one before it."""
    t, rates = 1e-3 * np.arange(BATCH)[:, None], np.linspace(1.0, 2.0, m.nv)
    angles = rates * t + np.arange(m.nv)
    q, qd = np.sin(angles), rates * np.cos(angles)
    tau = m.inverse_dynamics(q, qd, -rates * rates * q)
    near, without = m.kernel("forward_dynamics_near"), m.kernel("forward_dynamics", passive=False)
    loads = np.full((BATCH, m.nv), 100.0)
    for _ in range(8):
        loads = near(q, qd, tau, loads)[1]
    before = np.concatenate([loads[:1], loads[:-1]])
    found = near(q, qd, tau, before)[2] == 1.0
    assert found.mean() > FOUND, (
        f"{BATCH - found.sum()} of {BATCH} states are not found from the loads before"
    )
    calls = {"kinpair": lambda: near(q, qd, tau, before), WITHOUT: lambda: without(q, qd, tau)}
    return race(calls, turns)


def _row(quantity: str, nv: int, best: dict[str, float], count: int, demanded: float | None) -> Row:
    ns = {name: t / count * 1e9 for name, t in best.items()}
    limits = {} if demanded is None else {WITHOUT: demanded}
    return Row(quantity, BEARINGS, nv, {"host": ns["kinpair"]}, {}, {WITHOUT: ns[WITHOUT]}, limits)
