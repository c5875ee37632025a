"""Which rows say something new, and the order in which an embedding eliminates them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kinpair.algebra.lu import few_neighbours, pivot_order
from kinpair.constraints.assembly.positions import Assembly
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.assembly.sharing import SharedLoads
from kinpair.constraints.assembly.structure import Structure
from kinpair.constraints.quantities import WIDE_OPEN, compliances_of
from kinpair.constraints.rows.mobility import Mobility, independent_rows
from kinpair.constraints.solvers import OF_ENERGY, rank_revealing
from kinpair.formulations import kinematics

POSITIONS = 64  # whose choice of rows is kept
NEARBY = 0.05  # [rad] or [m]: how far the rank is compared


class Rank:
    """The rank of the rows of a closure. A choice of rows is made for a state and kept by whoever asked for it."""

    def __init__(self, rows: ConstraintRows, assembly: Assembly) -> None:
        self.rows, self.model, self.assembly = rows, rows.model, assembly
        self.structure = Structure(rows)
        self._remembered = lru_cache(POSITIONS)(lambda q, time: self._kept(np.frombuffer(q), time))

    def mobility(self, q: np.ndarray, time: float) -> Mobility:
        """Freedoms at q."""
        A = self.rows.defined(q, time)
        here = independent_rows(A)
        near = max(
            (len(independent_rows(self.rows.matrix(x, time))) for x in self._nearby(q, time)), default=0
        )
        names = self.rows.row_names
        redundant = tuple(name for k, name in enumerate(names) if k not in here)
        against = tuple(names[k] for k in self.rows.without_rates(q, np.zeros(self.model.nv), time))
        gaps = self.rows.worst(self.rows.positions(q, time)) if self.rows.opened(q, time) else ""
        rank = (self.model.nv, len(A), len(here), redundant, near > len(here), against, gaps)
        return Mobility(*rank, *self._reactions(q, time, redundant))

    def _reactions(
        self, q: np.ndarray, time: float, redundant: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Joints and loops whose reactions are not unique, and those with a compliance."""
        compliant = tuple(compliances_of(self.model))
        if not redundant or self.model.terms is not None:
            return (), compliant
        return SharedLoads(self.rows).not_unique(q, time), compliant

    def _nearby(self, q: np.ndarray, time: float) -> list[np.ndarray]:
        """Two closed positions a little away, if there are."""
        Z = rank_revealing.null_space(self.rows.matrix(q, time))
        if not Z.shape[1]:
            return []
        nearby: list[np.ndarray] = []
        for sign in (1.0, -1.0):
            direction = Z @ np.cos(1.0 + np.arange(Z.shape[1]))
            step = sign * NEARBY * direction / np.abs(direction).max()
            there = self.assembly.assembled(
                kinematics.normalised(self.model, kinematics.moved(self.model, q, step)),
                (),
                time,
            )
            if there.closed:
                nearby.append(there.q)
        return nearby

    def kept(self, q: np.ndarray, time: float) -> tuple[int, ...]:
        """Rows that are not redundant, at q or close by, wherever the rank is highest; where q is a little open, at the
        closed position next to it, and where it is wide open at q alone."""
        return self._remembered(q.tobytes(), time)

    def _kept(self, q: np.ndarray, time: float) -> tuple[int, ...]:
        A = self.rows.defined(q, time)
        if self.rows.opened(q, time, WIDE_OPEN):
            return independent_rows(A)
        if self.rows.opened(q, time):
            there = self.assembly.assembled(q, (), time)
            q = there.q if there.closed else q
        here = independent_rows(self.rows.matrix(q, time))
        if len(here) == len(A):
            return here
        nearby = [independent_rows(self.rows.matrix(x, time)) for x in self._nearby(q, time)]
        return max((here, *nearby), key=len)

    def kept_here(self, q: np.ndarray, time: float, rank: int) -> tuple[int, ...] | None:
        """So many rows that are independent at q itself; None where there are not, in a singular position."""
        A = self.rows.matrix(q, time)
        kept = independent_rows(A) if np.isfinite(A).all() else ()
        return kept if len(kept) == rank else None

    def order(
        self, solver: str, kept: tuple[int, ...], q: np.ndarray, time: float
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The order of an embedding, chosen by pivoting; where q is singular, completed anyhow: soundness tells."""
        A = self.rows.matrix(q, time)[list(kept)]
        allowed = list(range(self.model.nv))
        if solver in OF_ENERGY:
            allowed = self.structure.dependent(solver, q, time, len(kept))
        scaled = A[:, allowed] / rank_revealing.lengths(A)[:, None]
        rows, columns = pivot_order(scaled, rank_revealing.RANK, few_neighbours)
        rows += [k for k in range(len(kept)) if k not in rows]
        columns += [k for k in range(len(allowed)) if k not in columns][: len(rows) - len(columns)]
        return tuple(rows), tuple(allowed[k] for k in columns)
