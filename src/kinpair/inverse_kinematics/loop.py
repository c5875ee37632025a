"""The iteration as a loop: of machine code with a start in each lane, or step by step in Python as the reference.

A start, its targets and its limits are a row. Rows do not know each other: each ends where it is closed, where it
stands, or after as many steps as a loop has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Protocol, TypeAlias

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.program import Program
from kinpair.compiler.time_loop.inputs import Inputs
from kinpair.compiler.time_loop.loop import FixedLoop, Resident
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.step import REPEATS
from kinpair.compiler.trace import trace
from kinpair.inverse_kinematics.iteration import improved
from kinpair.inverse_kinematics.residual import Task

Room: TypeAlias = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Iteration(Protocol):
    """Iteration from starts q (rows, nq), targets u and parameters p of each to ends (rows, nq) and what they leave, V.

    Parameters without an axis of rows are those of every row.
    """

    def __call__(self, q: np.ndarray, u: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Run all rows."""
        ...

    def room(self, p: np.ndarray) -> Room:
        """Return the iteration (q (rows, nq), u (size,)) → ends, V with parameters p (rows, ...) that stay."""
        ...


class Compiled:
    """The iteration as machine code."""

    def __init__(self, task: Task, criterion: str) -> None:
        self.task, self.criterion = task, criterion

    @cached_property
    def _loop(self) -> FixedLoop:
        task, n = self.task, self.task.model.nq
        step = partial(improved, task, self.criterion)
        start = trace(lambda y: y[:n], {"y": (n + 1,)}, name="start")
        improve = trace(step, {"z": (n,), "u": (task.size,), "p": (3 * task.model.nv + 1,)}, name="improve")
        finish = trace(self._finished, {"z": (n,), "u": (task.size,)}, name="finish")
        return FixedLoop(self._flow(start, improve, finish), store=Store())

    def _flow(self, start: Program, improve: Program, finish: Program) -> Flow:
        n, size = self.task.model.nq, self.task.size
        return Flow(
            n + 1, size, 3 * self.task.model.nv + 1, nz=n, start=start, improve=improve, finish=finish
        )

    def _finished(self, z: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.append(z, self.task.residual(z, u).V)

    def __call__(self, q: np.ndarray, u: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.concatenate([q, np.zeros((len(q), 1)), u], axis=1)
        found = self._loop.run(rows, dt=1.0, samples=1, inputs=Inputs(parameters=p)).Y[:, 0]
        return found[:, :-1], found[:, -1]

    def room(self, p: np.ndarray) -> Room:
        """Return the iteration in memory that stays, so that a call of few rows is short."""
        n = self.task.model.nq
        state = np.zeros((len(p), n + 1 + self.task.size))
        advance = Resident(self._loop, state, 1.0, Inputs(parameters=p)).advance

        def run(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            state[:, :n], state[:, n + 1 :] = q, u
            advance(0, 1)
            return state[:, :n].copy(), state[:, n].copy()

        return run


class Interpreted:
    """An iteration evaluated step by step."""

    def __init__(self, task: Task, criterion: str) -> None:
        self.task, self.criterion = task, criterion

    def __call__(self, q: np.ndarray, u: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [self._one(*row) for row in zip(q, u, np.broadcast_to(p, (len(q), p.shape[-1])), strict=True)]
        ends, gaps = zip(*found, strict=True)
        return np.array(ends), np.array(gaps)

    def room(self, p: np.ndarray) -> Room:
        """Return the same with parameters that stay."""
        return lambda q, u: self(q, np.broadcast_to(u, (len(p), len(u))), p)

    def _one(self, q: np.ndarray, u: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
        for _ in range(REPEATS):
            q, size = improved(self.task, self.criterion, q, u, p)
            if not size > 1.0:
                break
        return q.astype(float), float(self.task.residual(q, u).V)
