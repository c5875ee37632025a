"""Forces of constraints under given efforts: of batches by compiled code, of single states with the rank found
there, and refused where they are not determined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import Often, at_time, named, state_of
from kinpair.constraints.assembly.drives import Drives
from kinpair.constraints.assembly.rank import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities.solution import Terms, solve_any_rank
from kinpair.constraints.rounding import PART, SHARED
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.rolling import Rolls
from kinpair.constraints.solvers import DEFAULT_SOLVER, rank_revealing
from kinpair.constraints.solvers.rank_revealing import Solved
from kinpair.errors import SingularError, listed
from kinpair.evaluation.quantities.request import Request


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintForces:
    """Forces of the constraints: accelerations, multiplier of every row, and the wrench of each constraint on its
    child; of a batch with the batch in front.

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
        """True if the multiplier of every row is determined."""
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
        own, passive = (q, qd, np.asarray(state[2], dtype=float)), bool(options.get("passive", True))
        F = F + self.drives.rubbing.efforts(own, time, external, named(row), passive=passive)
        terms = M, F, A, b
        solved = self.solve(terms, q, qd, time, row)
        shares = self.drives.shares
        wrenches = {name: np.asarray(w, dtype=float) for name, w in external.items()}
        lam = shares.shared(solved.lam, (q, qd, solved.qdd), time, wrenches, passive)
        by_name = dict(zip(self.rows.row_names, lam.tolist(), strict=True))
        carried = self.drives.wrenches(q, lam, time)
        N = shares.left_open(q, time) if shares.acts else rank_revealing.self_stresses(terms[2], solved.rank)
        shared = rank_revealing.sharing(terms[2], N)
        names = tuple(name for name, free in zip(self.rows.row_names, shared, strict=True) if free)
        return ConstraintForces(solved.qdd, by_name, *carried, names)


class Forces:
    """Multipliers and wrenches of a closure."""

    def __init__(self, rows: ConstraintRows, requests: Requests, any_rank: AnyRank) -> None:
        self.rows, self.model, self.requests, self.any_rank = rows, rows.model, requests, any_rank
        self._usual: dict[tuple[Any, ...], Request] = {}
        self._often = Often()

    def forces(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> ConstraintForces:
        """Compute forces of one state, or of a batch."""
        named = dict(zip(("q", "qd", "tau"), state, strict=True))
        x = self.rows.calls.checked_arguments(external, **named, time=at_time(time))
        key = (options.get("passive", True), *external)
        *arrays, moments = x.state
        if x.batch is None and not (self._compiled(key) and self._often(key)):
            own = (arrays[0], arrays[1], arrays[2])
            return self.any_rank.forces(own, float(moments[0]), options, external)
        every, count = (*arrays, moments, *x.external.values()), 1 if x.batch is None else x.batch
        arguments = [y[None] for y in every] if x.batch is None else list(every)
        arguments[0] = np.broadcast_to(arguments[0], (count, self.model.nq))
        found = self._found(key, arguments, options, count)
        return found if x.batch is not None else _only(found)

    def _compiled(self, key: tuple[Any, ...]) -> bool:
        """Friction from load is solved for elsewhere."""
        rubs = self.model.surfaces and key[0]
        return self.rows.calls.compiled and bool(self.rows.row_names) and not rubs

    def _found(
        self, key: tuple[Any, ...], arguments: list[np.ndarray], options: Mapping[str, Any], count: int
    ) -> ConstraintForces:
        parts, again = self._parts(key, arguments, options, count)
        shared = np.asarray((parts[2] > SHARED).any(axis=0))
        undetermined = {name for name, free in zip(self.rows.row_names, shared, strict=True) if free}
        for k in np.flatnonzero(again).tolist():
            own = [state_of(x, k) for x in arguments]
            if all(np.isfinite(x).all() for x in own):
                loads = dict(zip(key[1:], own[4:], strict=True))
                state, wanted = (own[0], own[1], own[2]), {**options, "external": loads or None}
                one = self.any_rank.forces(state, float(own[3][0]), wanted, loads, k)
                undetermined |= set(one.undetermined)
                by = (one.wrenches, one.points, one.contacts)
                parts[0][k], parts[1][k] = one.qdd, list(one.multipliers.values())
                for whole, mine in zip(parts[3:], by, strict=True):
                    whole[k] = np.array(list(mine.values())).reshape(whole.shape[1:])
        qdd, lam, _, wrenches, points, contacts = parts
        return ConstraintForces(
            qdd,
            _by_name(self.rows.row_names, lam),
            _by_name(self._joined, wrenches),
            _by_name(self._joined, points),
            _by_name(self._rolling, contacts),
            tuple(name for name in self.rows.row_names if name in undetermined),
        )

    def _parts(
        self, key: tuple[Any, ...], arguments: list[np.ndarray], options: Mapping[str, Any], count: int
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """q̈, λ, shares, wrenches, points and contacts, NaN where they are not sound; and where that is."""
        if self._compiled(key) and count:
            if key not in self._usual:
                request = self.requests.checked(arguments[0], arguments[3][..., 0], DEFAULT_SOLVER, options)
                self._usual[key] = replace(request, quantity="constraint_forces")
            *parts, sound = self.rows.calls(self._usual[key], tuple(arguments))
            again = sound != 1.0
        else:
            n, rows, joined = self.model.nv, len(self.rows.row_names), len(self._joined)
            shapes = ((n,), (rows,), (rows,), (joined, 6), (joined, 3), (len(self._rolling), 3))
            parts, again = [np.empty((count, *shape)) for shape in shapes], np.ones(count, dtype=bool)
        for part in parts:
            part[again] = np.nan
        return parts, again

    @cached_property
    def _joined(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.rows.constraints if isinstance(x, Joined))

    @cached_property
    def _rolling(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.rows.constraints if isinstance(x, Rolls))


def _by_name(names: Iterable[str], values: np.ndarray) -> dict[str, Any]:
    """Columns (batch, ...) of the values by name."""
    return {name: values[:, k] for k, name in enumerate(names)}


def _only(x: ConstraintForces) -> ConstraintForces:
    """Return the single state of a batch."""
    by_row = {name: float(value[0]) for name, value in x.multipliers.items()}
    wrenches, points, contacts = (
        {name: value[0] for name, value in some.items()} for some in (x.wrenches, x.points, x.contacts)
    )
    return ConstraintForces(x.qdd[0], by_row, wrenches, points, contacts, x.undetermined)
