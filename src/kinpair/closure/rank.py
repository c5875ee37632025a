"""Which rows say something new, and the order in which an embedding eliminates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.algebra.lu import few_neighbours, pivot_order
from kinpair.constraints import rank_revealing
from kinpair.constraints.mobility import Mobility, independent_rows
from kinpair.constraints.solvers import OF_ENERGY
from kinpair.errors import InputError, listed
from kinpair.formulations import kinematics

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure

PROBES = (0.3, 0.1 * np.pi, 1.0, -0.7)  # steps by which a coordinate is tried for an influence
NEARBY = 0.05  # [rad] or [m]: how far the rank is compared


class Rank:
    """The rank of the rows of a closure; what is chosen once is kept, since code is compiled for it."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model
        self._kept: tuple[int, ...] | None = None
        self._orders: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def forget(self, solver: str) -> None:
        """The order of a solver is to be chosen anew."""
        self._orders.pop(solver, None)

    def mobility(self, q: np.ndarray, time: float) -> Mobility:
        """Freedoms at q."""
        A = self.closed.defined(q, time)
        here = independent_rows(A)
        near = max(
            (len(independent_rows(self.closed.matrix(x, time))) for x in self._nearby(q, time)), default=0
        )
        redundant = tuple(name for k, name in enumerate(self.closed.row_names) if k not in here)
        return Mobility(self.model.nv, len(A), len(here), redundant, near > len(here))

    def _nearby(self, q: np.ndarray, time: float) -> list[np.ndarray]:
        """Two closed positions a little away, if there are."""
        Z = rank_revealing.null_space(self.closed.matrix(q, time))
        if not Z.shape[1]:
            return []
        found: list[np.ndarray] = []
        for sign in (1.0, -1.0):
            direction = Z @ np.cos(1.0 + np.arange(Z.shape[1]))
            step = sign * NEARBY * direction / np.abs(direction).max()
            there = self.closed.assembly.assembled(
                kinematics.normalised(self.model, kinematics.moved(self.model, q, step)),
                (),
                time,
            )
            if there.closed:
                found.append(there.q)
        return found

    def kept(self, q: np.ndarray, time: float) -> tuple[int, ...]:
        """Rows that are not redundant: chosen once, at q or close by, wherever the rank is highest."""
        if self._kept is None:
            self.closed.defined(q, time)
            candidates = [q] if self.closed.opened(q, time) else [q, *self._nearby(q, time)]
            found = [independent_rows(self.closed.matrix(x, time)) for x in candidates]
            self._kept = max(found, key=len)
        return self._kept

    def order(self, solver: str, q: np.ndarray, time: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The order of an embedding, chosen by pivoting; kept until it gets ill-conditioned."""
        if solver not in self._orders:
            A = self.closed.matrix(q, time)[list(self.kept(q, time))]
            allowed = self._allowed(solver, q, time)
            scaled = A[:, allowed] / rank_revealing.lengths(A)[:, None]
            rows, columns = pivot_order(scaled, rank_revealing.RANK, few_neighbours)
            if solver in OF_ENERGY and len(rows) < len(A):
                unseen = f", of {listed([self.model.v_names[k] for k in allowed])}" if allowed else ""
                raise InputError(
                    f"{self.model.name}: solver {solver!r} needs {len(A)} dependent coordinates on which neither mass, "
                    f"forces nor constraints depend; there are {len(rows)}{unseen}; 'voronets' or 'maggi' will do"
                )
            self._orders[solver] = tuple(rows), tuple(allowed[k] for k in columns)
        return self._orders[solver]

    def _allowed(self, solver: str, q: np.ndarray, time: float) -> list[int]:
        """Rates that may be dependent; for Voronets and Chaplygin after a check of their conditions."""
        every = list(range(self.model.nv))
        if solver not in OF_ENERGY:
            return every
        moving, A = np.cos(np.arange(self.model.nv)), self.closed.matrix(q, time)
        moments = time + np.array([0.0, 0.37, 1.91])
        steady = all(np.allclose(self.closed.rows(q, moving, t)[1], A @ moving) for t in moments)
        steady = steady and all(np.array_equal(A, self.closed.matrix(q, t)) for t in moments)
        if self.model.q_names != self.model.v_names or not steady:
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs rates that are dq/dt and constraints A(q) q̇ = 0 without "
                "time; 'maggi' and the others take any"
            )
        return every if solver == "voronets" else [k for k in every if not self._felt(k, q, time)]

    def _felt(self, k: int, q: np.ndarray, time: float) -> bool:
        """Do mass, forces or rows change with coordinate k alone?"""
        qd, tau = np.cos(np.arange(self.model.nv)), np.zeros(self.model.nv)
        here = self.closed.terms((q, qd, tau), time, {}, {})
        for step in PROBES:
            moved = np.array(q, dtype=float)
            moved[k] += step
            there = self.closed.terms((moved, qd, tau), time, {}, {})
            if any(np.abs(a - b).max(initial=0.0) > 1e-10 for a, b in zip(here, there, strict=True)):
                return True
        return False
