"""Independent rows, the order in which an embedding eliminates them, and what the equations depend on.

Dependences are the conditions of Voronets' and Chaplygin's equations. They are judged in a few states drawn at random
about a given one: a dependence that is there shows in almost every state.

By which rows, and in which order, a solver works is chosen for a state, and kept by whoever asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from kinpair.algebra.lu import few_neighbours, pivot_order
from kinpair.constraints.assembly.batch import at_time, named, state_of
from kinpair.constraints.assembly.positions import Assembly
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.assembly.sharing import SharedLoads
from kinpair.constraints.quantities.multipliers import compliances_of
from kinpair.constraints.quantities.solution import EMBEDDED
from kinpair.constraints.rounding import INDEPENDENT, NARROW, ROUNDING, WIDE_OPEN
from kinpair.constraints.rows.mobility import Mobility, independent_rows
from kinpair.constraints.solvers import EVERY_SOLVER, OF_ENERGY, rank_revealing, refusal
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.formulations import kinematics

ABOUT = 0.7  # [rad] or [m]: how far away from the given state
TRIED = 3
MOMENTS = (0.0, 0.37, 1.91)  # [s]
State = tuple[np.ndarray, np.ndarray]


class Structure:
    """Dependences of the mass, forces and rows of a closure; found once."""

    def __init__(self, rows: ConstraintRows) -> None:
        self.rows, self.model = rows, rows.model
        self._generic: list[State] = []

    def applies(self, solver: str, q: np.ndarray, time: float) -> bool:
        """True if the conditions of Voronets' or Chaplygin's equations are met."""
        if self.model.q_names != self.model.v_names:
            return False
        try:
            rank = max((len(independent_rows(A)) for A in self._matrices(q, time)), default=0)
            self.dependent(solver, q, time, rank)
        except InputError:
            return False
        return True

    def dependent(self, solver: str, q: np.ndarray, time: float, rank: int) -> list[int]:
        """Rates that may be dependent, refused where there are not as many as the rank of the rows."""
        self._draw(q)
        if self.model.q_names != self.model.v_names or not self._steady:
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs rates that are dq/dt and constraints A(q) q̇ = 0 without "
                "time; 'maggi' and the others take any"
            )
        if solver == "voronets":
            return list(range(self.model.nv))
        largest = max((self._rank_of(A) for A in self._matrices(q, time)), default=0)
        if largest < rank:
            unseen = f", of {listed([self.model.v_names[k] for k in self._unfelt])}" if self._unfelt else ""
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs {rank} dependent coordinates on which neither mass, "
                f"forces nor constraints depend; there are {largest}{unseen}; 'voronets' or 'maggi' will do"
            )
        return self._unfelt

    def _draw(self, q: np.ndarray) -> None:
        """The states to judge by, about the first one asked for; nearer to it where functions have no value."""
        rng, spread = np.random.default_rng(self.model.nv), ABOUT
        while not self._generic:
            steps = spread * rng.uniform(-1.0, 1.0, (TRIED, len(q)))
            states = [(q + step, rng.uniform(-1.0, 1.0, self.model.nv)) for step in steps]
            if spread < NARROW or all(self._defined(*state) for state in states):
                self._generic = states
            spread *= 0.5

    def _defined(self, q: np.ndarray, qd: np.ndarray) -> bool:
        """True if everything has a value there."""
        every = self.rows.terms((q, qd, np.zeros(self.model.nv)), 0.0, {}, {})
        return all(np.isfinite(x).all() for x in every)

    def _matrices(self, q: np.ndarray, time: float) -> Iterator[np.ndarray]:
        """A in the states."""
        self._draw(q)
        yield from (self.rows.matrix(x, time) for x, _ in self._generic)

    def _rank_of(self, A: np.ndarray) -> int:
        """Rank of the columns of what nothing depends on."""
        own = A[:, self._unfelt] / rank_revealing.lengths(A)[:, None]
        return len(pivot_order(own, rank_revealing.RANK)[0]) if np.isfinite(own).all() else 0

    @cached_property
    def _steady(self) -> bool:
        """True if the rows are A(q) q̇ = 0 at any time."""
        for q, qd in self._generic:
            A = self.rows.matrix(q, 0.0)
            for time in MOMENTS:
                there, psi, _ = self.rows.rows(q, qd, time)
                if not (_same(there, A) and _same(psi, A @ qd)):
                    return False
        return True

    @cached_property
    def _unfelt(self) -> list[int]:
        """Coordinates on which neither mass, forces nor rows depend."""
        return [k for k in range(self.model.nv) if not self._felt(k)]

    def _felt(self, k: int) -> bool:
        """True if mass, forces or rows change with coordinate k alone."""
        still = np.zeros(self.model.nv)
        for (q, qd), (other, _) in zip(self._generic, self._generic[1:], strict=False):
            moved = q.copy()
            moved[k] = other[k]
            here, there = (self.rows.terms((x, qd, still), 0.0, {}, {}) for x in (q, moved))
            if not all(_same(a, b) for a, b in zip(here, there, strict=True)):
                return True
        return False


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to rounding; what has no value is not."""
    return bool(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * (1.0 + np.abs(a).max(initial=0.0))))


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
        """Choose rows that are independent at q itself; None where there are not, in a singular position."""
        A = self.rows.matrix(q, time)
        kept = independent_rows(A) if np.isfinite(A).all() else ()
        return kept if len(kept) == rank else None

    def order(
        self, solver: str, kept: tuple[int, ...], q: np.ndarray, time: float
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The order of an embedding, chosen by pivoting; where q is singular, completed anyhow: soundness reports
        it."""
        A = self.rows.matrix(q, time)[list(kept)]
        allowed = list(range(self.model.nv))
        if solver in OF_ENERGY:
            allowed = self.structure.dependent(solver, q, time, len(kept))
        scaled = A[:, allowed] / rank_revealing.lengths(A)[:, None]
        rows, columns = pivot_order(scaled, rank_revealing.RANK, few_neighbours)
        rows += [k for k in range(len(kept)) if k not in rows]
        columns += [k for k in range(len(allowed)) if k not in columns][: len(rows) - len(columns)]
        return tuple(rows), tuple(allowed[k] for k in columns)


CHOICES = 8  # of rows and order for one solver: code is compiled for each
KERNELS = ("forward_dynamics", "terms", "constraint_positions", "constraint_matrix", "constraint_rows")
IN_PHASES = ("row_groups", "forward_dynamics_in_phases")  # kernels of all mechanisms, for exported code


class Requests:
    """Makes requests for quantities under constraints."""

    def __init__(self, rows: ConstraintRows, assembly: Assembly, rank: Rank) -> None:
        self.rows, self.model, self.assembly, self.rank = rows, rows.model, assembly, rank
        self._choices: dict[str, set[Request]] = {}

    def choose(self, quantity: str, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Request:
        """Choose rows, and their order where the solver needs one, chosen at the first state of numbers."""
        sample, moment = self._sample(q, time)
        request = request_of("forward_dynamics", owner=self.model.name, **options)
        kept = self.rank.kept(sample, moment)
        return self.ordered(replace(request, quantity=quantity, solver=solver, kept=kept), sample, moment)

    def checked(self, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Request:
        """Check a request for accelerations, refused where the loops are open or no rates obey."""
        self._check_solver(solver)
        sample, moment = self._sample(q, time)
        self.rows.defined(sample, moment)
        self.rows.check_closed(q, time)
        self.rows.check_rates_exist(sample, np.zeros(self.model.nv), moment)
        return self.choose("accelerations", q, time, solver, options)

    def of_kernel(self, quantity: str, q: Any, solver: str, options: Mapping[str, Any]) -> Request:
        """Request for a kernel of one of `KERNELS`; the rows kept are chosen at q."""
        if quantity == "forward_dynamics":
            return self.checked(q, 0.0, solver, options)
        if quantity == "forward_dynamics_in_phases":
            return replace(self.checked(q, 0.0, solver, options), quantity=quantity)
        if quantity in ("terms", "row_groups"):
            return replace(
                request_of("forward_dynamics", owner=self.model.name, **options), quantity=quantity
            )
        return Request(quantity)

    def _sample(self, q: Any, time: Any) -> tuple[np.ndarray, float]:
        """A state to choose rows at: the first of numbers, or the start where there is no state at all."""
        states = np.atleast_2d(self.rows.calls.checked("q", q))
        if not len(states):
            return self.assembly.start(), 0.0
        first, moments = int(np.isfinite(states).all(1).argmax()), np.ravel(at_time(time))
        return states[first], float(moments[min(first, len(moments) - 1)])

    def ordered(self, request: Request, q: np.ndarray, time: float) -> Request:
        """Add the order of elimination, where the solver needs one."""
        if request.solver not in EMBEDDED:
            return request
        rows, dependent = self.rank.order(request.solver, request.kept, q, time)
        return replace(request, rows=rows, dependent=dependent)

    def here(self, request: Request, q: np.ndarray, time: float) -> Request | None:
        """Choose as many rows as are independent at q itself; None where there are not, in a singular position."""
        kept = self.rank.kept_here(q, time, len(request.kept))
        return None if kept is None else self.ordered(replace(request, kept=kept), q, time)

    def fitting(self, request: Request, q: np.ndarray, time: float) -> Request | None:
        """Return the request while its rows are independent at q, or with others that are; None in a singular
        position."""
        A = np.asarray(self.rows.matrix(q, time), dtype=float)[list(request.kept)]
        if not np.isfinite(A).all():
            return request  # the answer is not finite either
        sizes = np.linalg.svd(A / rank_revealing.lengths(A)[:, None], compute_uv=False)
        fits = not len(sizes) or sizes[-1] > INDEPENDENT * sizes[0]
        return request if fits else self.here(request, q, time)

    def by_rows(
        self, request: Request, arguments: tuple[np.ndarray, ...], where: np.ndarray
    ) -> list[tuple[Request | None, np.ndarray]]:
        """States of `where` (…,) by the rows that fit there; with None those in singular positions."""
        parts: dict[Request | None, np.ndarray] = {}
        for k in np.argwhere(where):
            place = tuple(k.tolist())
            q, time = (x[place] if x.ndim > 1 else x for x in (arguments[0], arguments[3]))
            fits = self.fitting(request, q, float(time[0])) if np.isfinite(q).all() else request
            parts.setdefault(fits, np.zeros(where.shape, dtype=bool))[place] = True
        return list(parts.items())

    def singular(self, what: str, request: Request, q: np.ndarray, row: int | None) -> SingularError:
        """Raise an error that there is no solution where the rank of the rows is lower than close by."""
        redundant = [x for n, x in enumerate(self.rows.row_names) if n not in request.kept]
        return SingularError(
            f"{self.model.name}: no {what} in a singular position{named(row)}: the rank of the rows of "
            f"{listed([repr(x.name) for x in self.rows.constraints], 6)} is lower than close by; "
            "move it a little",
            q=q,
            redundant=redundant,
        )

    def anew(self, tried: list[Request], arguments: tuple[Any, ...], dependent: np.ndarray) -> Request | None:
        """Choose other rows, or another order, for a state where those tried depend on each other, or nearly; None
        where there are no better ones, or too many were made before."""
        for k in np.flatnonzero(dependent).tolist():
            q, *_, time = (state_of(x, k) for x in arguments[:4])
            fresh = self.here(tried[0], q, float(time[0])) if np.isfinite(q).all() else None
            if fresh is None:
                continue
            known = self._choices.setdefault(fresh.solver, set())
            if fresh not in tried and (fresh in known or len(known) < CHOICES):
                known.add(fresh)
                return fresh
        return None

    def _check_solver(self, solver: str) -> None:
        """Refuse what is unknown, and what cannot work here."""
        check_solver(solver)
        if reason := refusal(self.model, solver):
            raise InputError(f"{self.model.name}: {reason}", solver=solver)


def check_solver(name: str) -> None:
    """Refuse an unknown solver, and one that gives no accelerations."""
    if name == "rosenberg":
        raise InputError(
            "solver 'rosenberg' gives n − l equations and no accelerations by itself; reduced_equations() gives "
            "them, 'rosenberg-extended' adds the constraints differentiated twice"
        )
    if name not in EVERY_SOLVER:
        raise InputError(
            f"no solver {name!r}; {nearest(str(name), EVERY_SOLVER)}Solvers: {listed((*EVERY_SOLVER, 'rosenberg'))}",
            solver=name,
        )
