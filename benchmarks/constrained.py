"""Closed loops: forward dynamics beside Pinocchio's constrained dynamics and MuJoCo's equality constraints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch

import kinpair as kp
from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.constrained_rivals import InMujoco, InPinocchio, on_the_ground
from benchmarks.machine import compiling_for
from benchmarks.rival import loop, relative_error
from benchmarks.timing import race, repeated

MANY, ONE = "forward dynamics with loops, batch 1024", "forward dynamics with loops, one state"
BATCH, TIMES = 1024, 500
STARTS = {  # coordinates near which the states lie
    "four-bar": [0.0, np.arccos(-0.65), np.arccos(-0.65)],
    "three-rrr": [0.0, 0.0, 0.0, *[np.arctan(4 / 3), -2 * np.arctan(4 / 3)] * 3],
    "stewart": [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0, *[0.0] * 18],
}
AGREE = 1e-9  # Pinocchio
SOFT = 0.2  # MuJoCo's constraints are soft as they come: a tenth of what holds them is missing
PROXIMAL = (1e-8, 10)  # Pinocchio's factors need it where rows are redundant; it stops after two or three


@dataclass(frozen=True, eq=False)
class Closed:
    """A mechanism with states that close its loops."""

    mechanism: kp.Mechanism
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray

    @classmethod
    def of(cls, name: str, batch: int = BATCH, seed: int = 0) -> Closed:
        """A bundled example at random states near its start."""
        m, rng = on_the_ground(kp.example(name)), np.random.default_rng(seed)
        q = np.array([m.assemble(STARTS[name] + rng.uniform(-0.05, 0.05, m.nq)) for _ in range(batch)])
        qd = np.array([m.velocities(x, guess=rng.uniform(-1, 1, m.nv)) for x in q])
        return cls(m, q, qd, rng.uniform(-1, 1, (batch, m.nv)))


def rows(instructions: Iterable[str], turns: int) -> Iterator[Row]:
    """A row a mechanism for a batch and one for single states."""
    for name in STARTS:
        x = Closed.of(name)
        yield _many(x, tuple(instructions), turns)
        yield _one(x, turns)


def _many(x: Closed, instructions: tuple[str, ...], turns: int) -> Row:
    ours: dict[str, kp.Mechanism] = {}
    for name in instructions:
        with compiling_for(name):
            ours[name] = kp.build(x.mechanism.model.description)
            ours[name].forward_dynamics(x.q, x.qd, x.tau)
    calls: dict[str, Any] = {
        name: repeated(m.forward_dynamics, x.q, x.qd, x.tau, times=1) for name, m in ours.items()
    }
    result = ours[instructions[0]].forward_dynamics(x.q, x.qd, x.tau)
    calls |= {"Pinocchio": _pinocchio(x, result), "MuJoCo": _mujoco(x, result)}
    best = {name: t / BATCH * 1e9 for name, t in race(calls, turns).items()}
    own = {name: best.pop(name) for name in instructions}
    return Row(MANY, x.mechanism.name, x.mechanism.nv, own, {}, best, _demanded(MANY, x, best))


def _demanded(quantity: str, x: Closed, peers: Iterable[str]) -> dict[str, float]:
    results = {peer: targets.LOOPS.get((quantity, peer, x.mechanism.name)) for peer in peers}
    return {peer: ratio for peer, ratio in results.items() if ratio is not None}


def _pinocchio(x: Closed, qdd: np.ndarray) -> Any:
    theirs = InPinocchio.of(x.mechanism, *PROXIMAL)
    s = theirs.convention(x.mechanism).state(x.q, x.qd, qdd, x.tau)
    a = np.empty(s.v.shape)

    def keep(q: np.ndarray, v: np.ndarray, tau: np.ndarray, row: np.ndarray) -> None:
        row[:] = theirs(q, v, tau)

    call = loop(keep, s.q, s.v, s.tau, a)
    call()
    assert relative_error(s.a, a) < AGREE, f"{x.mechanism.name}: Pinocchio finds other accelerations"
    return call


def _mujoco(x: Closed, qdd: np.ndarray) -> Any:
    theirs = InMujoco.of(x.mechanism)
    s = theirs.convention(x.mechanism).state(x.q, x.qd, qdd, x.tau)
    batch = Batch(theirs.model, BATCH, nthread=1)
    batch.qpos, batch.qvel, batch.qfrc_applied = s.q, s.v, s.tau
    qacc = batch.bind("qacc")
    batch.forward()
    assert relative_error(s.a, qacc) < SOFT, f"{x.mechanism.name}: MuJoCo finds other accelerations"
    return batch.forward


def _one(x: Closed, turns: int) -> Row:
    m, q, qd, tau = x.mechanism, x.q[0], x.qd[0], x.tau[0]
    m.forward_dynamics(q, qd, tau)
    theirs, also = InPinocchio.of(m, *PROXIMAL), InMujoco.of(m)
    s, d = theirs.convention(m).state(q, qd, tau=tau), also.convention(m).state(q, qd, tau=tau)
    data = mujoco.MjData(also.model)
    qpos, qvel, force = data.qpos, data.qvel, data.qfrc_applied

    def forward() -> None:
        qpos[:], qvel[:], force[:] = d.q, d.v, d.tau
        mujoco.mj_forward(also.model, data)

    calls = {
        "kinpair": repeated(m.forward_dynamics, q, qd, tau, times=TIMES),
        "Pinocchio": repeated(theirs, s.q, s.v, s.tau, times=TIMES),
        "MuJoCo": repeated(forward, times=TIMES),
    }
    best = {name: t / TIMES * 1e9 for name, t in race(calls, turns).items()}
    return Row(ONE, m.name, m.nv, {"scalar": best.pop("kinpair")}, {}, best, _demanded(ONE, x, best))
