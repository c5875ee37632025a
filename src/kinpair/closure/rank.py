"""Which rows say something new, and the order in which an embedding eliminates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.algebra.lu import few_neighbours, pivot_order
from kinpair.closure.structure import Structure
from kinpair.constrained import WIDE_OPEN
from kinpair.constraints import rank_revealing
from kinpair.constraints.mobility import Mobility, independent_rows
from kinpair.constraints.solvers import OF_ENERGY
from kinpair.formulations import kinematics

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure

NEARBY = 0.05  # [rad] or [m]: how far the rank is compared


class Rank:
    """The rank of the rows of a closure. A choice of rows is made for a state and kept by whoever asked for it."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model
        self.structure = Structure(closed)

    def mobility(self, q: np.ndarray, time: float) -> Mobility:
        """Freedoms at q."""
        A = self.closed.defined(q, time)
        here = independent_rows(A)
        near = max(
            (len(independent_rows(self.closed.matrix(x, time))) for x in self._nearby(q, time)), default=0
        )
        names = self.closed.row_names
        redundant = tuple(name for k, name in enumerate(names) if k not in here)
        against = tuple(names[k] for k in self.closed.without_rates(q, np.zeros(self.model.nv), time))
        gaps = self.closed.worst(self.closed.positions(q, time)) if self.closed.opened(q, time) else ""
        return Mobility(self.model.nv, len(A), len(here), redundant, near > len(here), against, gaps)

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
        """Rows that are not redundant, at q or close by, wherever the rank is highest; where q is a little open, at the
        closed position next to it, and where it is wide open at q alone."""
        A = self.closed.defined(q, time)
        if self.closed.opened(q, time, WIDE_OPEN):
            return independent_rows(A)
        if self.closed.opened(q, time):
            there = self.closed.assembly.assembled(q, (), time)
            q = there.q if there.closed else q
        found = [independent_rows(self.closed.matrix(x, time)) for x in (q, *self._nearby(q, time))]
        return max(found, key=len)

    def kept_here(self, q: np.ndarray, time: float, rank: int) -> tuple[int, ...] | None:
        """So many rows that are independent at q itself; None where there are not, in a singular position."""
        A = self.closed.matrix(q, time)
        found = independent_rows(A) if np.isfinite(A).all() else ()
        return found if len(found) == rank else None

    def order(
        self, solver: str, kept: tuple[int, ...], q: np.ndarray, time: float
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The order of an embedding, chosen by pivoting; where q is singular, completed anyhow: soundness tells."""
        A = self.closed.matrix(q, time)[list(kept)]
        allowed = list(range(self.model.nv))
        if solver in OF_ENERGY:
            allowed = self.structure.dependent(solver, q, time, len(kept))
        scaled = A[:, allowed] / rank_revealing.lengths(A)[:, None]
        rows, columns = pivot_order(scaled, rank_revealing.RANK, few_neighbours)
        rows += [k for k in range(len(kept)) if k not in rows]
        columns += [k for k in range(len(allowed)) if k not in columns][: len(rows) - len(columns)]
        return tuple(rows), tuple(allowed[k] for k in columns)
