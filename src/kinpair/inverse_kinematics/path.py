"""Whole paths: coordinates that follow moving targets from a start, compiled.

A loop goes along (IK7) by a Runge–Kutta step from sample to sample and brings each sample to its targets by (IK5), so
that nothing adds up. Of arms that are not redundant the samples are exact; of others they are as good as the steps.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.time_loop.inputs import Inputs
from kinpair.compiler.time_loop.loop import FixedLoop
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.tableau import Tableau
from kinpair.compiler.trace import trace
from kinpair.inverse_kinematics.iteration import improved
from kinpair.inverse_kinematics.rates import Course
from kinpair.model.digest import digest, has_functions

RK4 = Tableau("rk4", 4, (0, 0.5, 0.5, 1), ((), (0.5,), (0, 0.5), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
EXACT = 1e-12  # ν of (IK5) along a path: targets are near


class Followed(NamedTuple):
    """Samples of a motion: q (n, nq), q̇ and q̈ (n, nv), dq/dt and d²q/dt² (n, nq), soundness and V (n,)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray
    own: np.ndarray
    V: np.ndarray


class Path:
    """Follows the targets of a course."""

    def __init__(self, course: Course) -> None:
        self.course, self.model = course, course.task.model

    @cached_property
    def _loop(self) -> FixedLoop:
        """Make the loop. Its time counts the rows of the table of targets, two to a step; the last entry of u is the
        time between."""
        n, nu, np_ = self.model.nq, self.course.size + 1, 3 * self.model.nv + 1
        rhs = trace(
            lambda y, u: self.course.rates(y, u[:-1]).dq * u[-1], {"y": (n,), "u": (nu,)}, name="rates"
        )
        closer = partial(improved, self.course.task, "rates")
        after = trace(closer, {"y": (n,), "u": (nu,), "p": (np_,)}, name="closer")
        return FixedLoop(Flow(n, nu, np_, rhs=rhs, after=after, source="table"), RK4, store=Store())

    @cached_property
    def _kernel(self) -> Kernel:
        shapes = {"q": (self.model.nq,), "u": (self.course.size,), "ud": (self.course.size,)}
        x = self.course
        made = (digest(self.model), "motions", x.task.forms, x.task.entries, x.kept, x.criterion)
        return Kernel(
            lambda: trace(self.course.motions, shapes, name="motions"),
            key=repr(made),
            store=None if has_functions(self.model) else Store(),
        )

    def samples(self, q: np.ndarray, u: np.ndarray, step: float) -> np.ndarray:
        """Coordinates at every second row of targets u (2n + 1, size), from q at the first; rows are `step` apart."""
        table = np.concatenate([u, np.full((len(u), 1), step)], axis=1)
        n = self.model.nv
        p = np.concatenate([np.ones(n), np.full(n, -np.inf), np.full(n, np.inf), [EXACT]])
        inputs = Inputs(p[None], np.arange(len(u), dtype=float), table)
        start = np.concatenate([q, table[0]])[None]
        found = self._loop.run(start, dt=2.0, samples=len(u) // 2, inputs=inputs)
        return np.concatenate([q[None], found.Y[0]])

    def motions(self, q: np.ndarray, u: np.ndarray, ud: np.ndarray) -> Followed:
        """Rates and accelerations at samples."""
        return Followed(q, *self._kernel(q, u, ud))
