"""Accelerations and forces of one state of floats, whatever the rank; refused where they are not determined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import named
from kinpair.constraints.assembly.drives import Drives
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities import Terms, solve_any_rank
from kinpair.constraints.solvers import rank_revealing
from kinpair.constraints.solvers.rank_revealing import Solved
from kinpair.errors import SingularError, listed

PART = 1e-8  # of a motion: a rate that moves less is rounding


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintForces:
    """What the constraints do: accelerations, multiplier of every row, and the wrench of each constraint on its child;
    of a batch with the batch in front.

    `wrenches`: by constraint, [moment; force] in world axes at its point in `points`, the origin of its mark on the
    child in the world; the parent gets the opposite at the same point. `contacts`: where rolling bodies touch, in the
    world. Where redundant rows share a load, these are the least-norm ones; `undetermined` names the rows that could
    carry another part of it.
    """

    qdd: np.ndarray
    multipliers: Mapping[str, Any]
    wrenches: Mapping[str, np.ndarray]
    points: Mapping[str, np.ndarray]
    contacts: Mapping[str, np.ndarray]
    undetermined: tuple[str, ...] = ()

    @property
    def unique(self) -> bool:
        """Is the multiplier of every row determined?"""
        return not self.undetermined


class AnyRank:
    """Solves one state at a time, with the rank found there."""

    def __init__(self, rows: ConstraintRows, drives: Drives) -> None:
        self.rows, self.model, self.drives = rows, rows.model, drives

    def solve(
        self,
        terms: Terms,
        q: np.ndarray,
        qd: np.ndarray,
        time: float,
        row: int | None = None,
    ) -> Solved:
        """q̈ and λ of M, F, A, b at a state, `row` of a batch."""
        solved = solve_any_rank(self.model, terms, self.rows.drift(q, qd, time))
        if len(solved.contradicting):
            self._refuse_contradiction(solved.contradicting, q, time, row)
        self._refuse_lost(solved.lost, row)
        return solved

    def check_resisted(self, q: np.ndarray, time: float) -> None:
        """Refuse a position with a motion that nothing with inertia and no constraint resists."""
        nothing = np.zeros(self.model.nv)
        terms = self.rows.terms((q, nothing, nothing), time, {}, {})
        self._refuse_lost(solve_any_rank(self.model, terms).lost, None)

    def _refuse_contradiction(self, rows: np.ndarray, q: np.ndarray, time: float, row: int | None) -> None:
        names = listed([self.rows.row_names[k] for k in rows], 6)
        cure = "leave one of them out, or make them agree"
        if self.rows.opened(q, time):
            cure = f"{self.rows.worst(self.rows.positions(q, time))}: call assemble(q)"
        raise SingularError(
            f"{self.model.name}: the constraints contradict each other{named(row)}: no acceleration obeys {names} "
            f"together with the others; {cure}",
            rows=names,
        )

    def _refuse_lost(self, motions: np.ndarray, row: int | None) -> None:
        """Motions (nv, any) without inertia: every rate that takes part is named."""
        if not motions.size:
            return
        moving = np.flatnonzero((np.abs(motions) > PART * np.abs(motions).max(0)).any(1))
        rates = [self.model.v_names[k] for k in moving]
        raise SingularError(
            f"{self.model.name}: forward dynamics is singular{named(row)}: nothing with inertia and no constraint "
            f"resists the motion of {listed(rates, 6)}; give mass or inertia there, or a constraint",
            rates=rates,
        )

    def forces(
        self,
        state: tuple[Any, Any, Any],
        time: float,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        row: int | None = None,
    ) -> ConstraintForces:
        """Accelerations, multipliers and wrenches of one state, `row` of a batch."""
        q, qd = (np.asarray(x, dtype=float) for x in state[:2])
        self.rows.defined_rows(q, qd, time)
        self.rows.check_closed(state[0], time)
        M, F, A, b = self.rows.terms(state, time, options, external)
        if self.drives.rubbing is not None and options.get("passive", True):
            own = (q, qd, np.asarray(state[2], dtype=float))
            F = F + self.drives.rubbing.efforts(own, time, external, named(row))
        terms = M, F, A, b
        solved = self.solve(terms, q, qd, time, row)
        shares, passive = self.drives.shares, bool(options.get("passive", True))
        wrenches = {name: np.asarray(w, dtype=float) for name, w in external.items()}
        lam = shares.shared(solved.lam, (q, qd, solved.qdd), time, wrenches, passive)
        by_name = dict(zip(self.rows.row_names, lam.tolist(), strict=True))
        carried = self.drives.wrenches(q, lam, time)
        N = shares.left_open(q, time) if shares.acts else rank_revealing.self_stresses(terms[2], solved.rank)
        shared = rank_revealing.sharing(terms[2], N)
        names = tuple(name for name, free in zip(self.rows.row_names, shared, strict=True) if free)
        return ConstraintForces(solved.qdd, by_name, *carried, names)
