"""A mechanism under constraints: assembling it, moving it, and its dynamics with every row in force.

Rows that say nothing new are left out of the compiled equations; the compiled solve reports how sound it was and
whether the rows left out hold too, and a state where that is in doubt is solved again by a rank-revealing
factorisation of floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.algebra.lu import few_neighbours, pivot_order
from kinpair.calls import Calls
from kinpair.constrained import EMBEDDED, HOLDS, WIDE_OPEN, reach
from kinpair.constraints import rank_revealing
from kinpair.constraints.actuation import Efforts, efforts, multipliers_of
from kinpair.constraints.assembly import ROUNDED, Assembled, Closing, assemble
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Constraint, Motion
from kinpair.constraints.coordinates import OfPositions
from kinpair.constraints.joined import Joined
from kinpair.constraints.mobility import Mobility, independent_rows
from kinpair.constraints.rows import holonomic_rows, row_names
from kinpair.constraints.solvers import DEFAULT_SOLVER, EVERY_SOLVER, OF_BODIES, OF_ENERGY
from kinpair.description.conditions import Guide
from kinpair.description.parts import GROUND
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.quantities import Ask, asked
from kinpair.spatial.rotation import to_rpy
from kinpair.spatial.twist import rotate, shift_wrench

OPEN = 1e-6  # [m] or [rad]: a residual beyond this is no rounding
BEGINNING = np.zeros(1)  # the time that most calls have
RATE_STEPS = 50  # where rows are not linear in the rates
STANDING = 1e-12  # a step of the rates below this part of them is none
NEARBY = 0.05  # [rad] or [m]: how far the rank is compared


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintForces:
    """What the constraints do: accelerations, multiplier of every row, and the wrench of each constraint on its child.

    `wrenches`: by constraint, [moment; force] at its mark on the child, world axes; the parent gets the opposite
    at the same point. `unique` is False where redundant rows share the load: these then are the least-norm ones.
    """

    qdd: np.ndarray
    multipliers: Mapping[str, float]
    wrenches: Mapping[str, np.ndarray]
    unique: bool


class Closure:
    """The constraints of one model."""

    def __init__(self, model: Model, calls: Calls) -> None:
        self.model, self._calls = model, calls
        self._kept: tuple[int, ...] | None = None
        self._orders: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._usual: dict[tuple[Any, ...], tuple[Ask, Any]] = {}

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """All of them, in the order of their rows."""
        return constraints_of(self.model)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Name of every row."""
        return row_names(self.constraints)

    @cached_property
    def _size(self) -> float:
        return reach(self.model)

    @cached_property
    def _followers(self) -> set[int]:
        """Rates that a coupling determines: nobody drives them."""
        couplings = [x for x in self.constraints if isinstance(x, OfPositions) and x.kind == "coupling"]
        return {x.rates[0] for x in couplings if x.rates}

    # Positions, rates and accelerations.

    def positions(self, q: Any, time: Any = 0.0) -> np.ndarray:
        """φ of every holonomic row."""
        return self._calls(Ask("constraint_positions"), (q, _one(time)))

    def matrix(self, q: Any, time: Any = 0.0) -> np.ndarray:
        """A of every row."""
        return self._calls(Ask("constraint_matrix"), (q, _one(time)))

    def rows(self, q: Any, qd: Any, time: Any = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, ψ and b of every row."""
        return self._calls(Ask("constraint_rows"), (q, qd, _one(time)))

    def assembled(self, q: np.ndarray, fixed: Sequence[str], time: float) -> Assembled:
        """Coordinates that close the loops, from the guess q, the named ones held."""
        free = [k for k in range(self.model.nv) if k not in self._fixed(fixed)]
        holonomic = holonomic_rows(self.constraints)
        closing = Closing(
            lambda x: self.positions(x, time),
            lambda x: self.matrix(x, time)[holonomic],
            lambda x, step: kinematics.normalised(self.model, kinematics.moved(self.model, x, step)),
            self.model.nv,
            free,
            self._size,
        )
        return assemble(closing, kinematics.normalised(self.model, np.array(q, dtype=float)))

    def assemble(self, q: np.ndarray, fixed: Sequence[str], time: float) -> np.ndarray:
        """The same, or an error that says which closure fails and by how much."""
        found = self.assembled(q, fixed, time)
        if not found.closed:
            held = f" with {listed(fixed)} held" if fixed else ""
            raise SingularError(
                f"{self.model.name}: cannot be assembled{held}: {self._worst(found.phi)} after {found.steps} steps; "
                "give a guess nearer to a closed position, hold fewer coordinates, or check the lengths",
                q=found.q,
                residual=found.phi,
            )
        return found.q

    def _worst(self, phi: np.ndarray) -> str:
        """The closures that fail, the worst first."""
        open_by: dict[str, float] = {}
        start = 0
        for x in self.constraints:
            open_by[x.name] = float(np.abs(phi[start : start + x.holonomic]).max(initial=0.0))
            start += x.holonomic
        worst = sorted((x for x in open_by.items() if x[1] > ROUNDED), key=lambda x: -x[1])
        return ", ".join(f"{name!r} stays open by {gap:.3g}" for name, gap in worst[:4]) or "nothing is open"

    def _fixed(self, names: Sequence[str]) -> set[int]:
        """Numbers of the rates of named joints or coordinates."""
        found: set[int] = set()
        spans = {self.model.joint_names[i]: self.model.v_span[i] for i in self.model.moving}
        for name in names:
            if name in self.model.v_names:
                found.add(self.model.v_names.index(name))
            elif name in spans:
                found.update(range(spans[name].start, spans[name].stop))
            else:
                known = tuple(dict.fromkeys((*spans, *self.model.v_names)))
                raise InputError(
                    f"{self.model.name}: no joint or coordinate {name!r}; {nearest(str(name), known)}"
                    f"Joints: {listed(known)}",
                    joint=name,
                )
        return found

    def velocities(self, q: Any, inputs: Mapping[str, float] | None, guess: Any, time: float) -> np.ndarray:
        """Rates that obey the rows and have the inputs; in one step where the rows are linear in the rates."""
        near = np.zeros(self.model.nv) if guess is None else self._calls.one("qd", guess)
        at = self._calls.one("q", q)
        for _ in range(RATE_STEPS):
            A, psi, _ = self.rows(at, near, time)
            found = self.solved_rates("rates", A, A @ near - psi, inputs or {}, near)
            if np.abs(found - near).max(initial=0.0) <= STANDING * (1.0 + np.abs(found).max(initial=0.0)):
                return found
            near = found
        raise SingularError(
            f"{self.model.name}: no rates found that obey {listed(self.row_names, 6)}; "
            "give a guess nearer to such rates",
            rates=near,
        )

    def accelerations(
        self, q: Any, qd: Any, inputs: Mapping[str, float] | None, guess: Any, time: float
    ) -> np.ndarray:
        """Accelerations that obey the rows and have the inputs."""
        near = np.zeros(self.model.nv) if guess is None else self._calls.one("qdd", guess)
        A, _, b = self.rows(self._calls.one("q", q), self._calls.one("qd", qd), time)
        return self.solved_rates("accelerations", A, b, inputs or {}, near)

    def solved_rates(
        self, what: str, A: np.ndarray, right: np.ndarray, inputs: Mapping[str, float], guess: np.ndarray
    ) -> np.ndarray:
        """x of A x = right with the inputs given, nearest to the guess; says which rows forbid it."""
        x = np.array(guess, dtype=float)
        for name in inputs:
            if name not in self.model.v_names:
                raise InputError(
                    f"{self.model.name}: no rate {name!r}; {nearest(str(name), self.model.v_names)}"
                    f"Rates: {listed(self.model.v_names)}",
                    rate=name,
                )
            x[self.model.v_names.index(name)] = inputs[name]
        free = [k for k, name in enumerate(self.model.v_names) if name not in inputs]
        sizes = rank_revealing.lengths(A)
        missing = (right - A @ x) / sizes
        x[free] += np.linalg.lstsq((A / sizes[:, None])[:, free], missing, rcond=rank_revealing.RANK)[0]
        left = np.abs((right - A @ x) / sizes)
        wrong = np.flatnonzero(left > rank_revealing.CONSISTENT * (1.0 + np.abs(x).max(initial=0.0)))
        if len(wrong):
            names = listed([self.row_names[k] for k in wrong], 6)
            wanted = listed(f"{name} = {value:g}" for name, value in inputs.items()) or "these inputs"
            raise SingularError(
                f"{self.model.name}: no {what} with {wanted} obey {names} "
                f"(off by {left.max():.3g}); give fewer inputs, or other values",
                rows=names,
            )
        return x

    # Rank.

    def mobility(self, q: np.ndarray, time: float) -> Mobility:
        """Freedoms at q."""
        A = self.matrix(q, time)
        here = independent_rows(A)
        near = max((len(independent_rows(self.matrix(x, time))) for x in self._nearby(q, time)), default=0)
        redundant = tuple(name for k, name in enumerate(self.row_names) if k not in here)
        return Mobility(self.model.nv, len(A), len(here), redundant, near > len(here))

    def _nearby(self, q: np.ndarray, time: float) -> list[np.ndarray]:
        """Two closed positions a little away, if there are."""
        Z = rank_revealing.null_space(self.matrix(q, time))
        if not Z.shape[1]:
            return []
        found: list[np.ndarray] = []
        for sign in (1.0, -1.0):
            direction = Z @ np.cos(1.0 + np.arange(Z.shape[1]))
            step = sign * NEARBY * direction / np.abs(direction).max()
            there = self.assembled(
                kinematics.normalised(self.model, kinematics.moved(self.model, q, step)), (), time
            )
            if there.closed:
                found.append(there.q)
        return found

    def kept(self, q: np.ndarray, time: float) -> tuple[int, ...]:
        """Rows that are not redundant: chosen once, at q or close by, wherever the rank is highest."""
        if self._kept is None:
            candidates = [q] if self._opened(q, time) else [q, *self._nearby(q, time)]
            found = [independent_rows(self.matrix(x, time)) for x in candidates]
            self._kept = max(found, key=len)
        return self._kept

    def _opened(self, q: np.ndarray, time: float) -> bool:
        phi = self.positions(q, time)
        return bool(len(phi) and np.abs(phi).max() > OPEN)

    def _order(self, solver: str, q: np.ndarray, time: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The order of an embedding, chosen by pivoting; kept until it gets ill-conditioned."""
        if solver not in self._orders:
            A = self.matrix(q, time)[list(self.kept(q, time))]
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
        moving = np.cos(np.arange(self.model.nv))
        A, (_, psi, _) = self.matrix(q, time), self.rows(q, moving, time)
        steady = np.array_equal(A, self.matrix(q, time + 0.37))
        if self.model.q_names != self.model.v_names or not steady or not np.allclose(psi, A @ moving):
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs rates that are dq/dt and constraints A(q) q̇ = 0 without "
                "time; 'maggi' and the others take any"
            )
        return every if solver == "voronets" else [k for k in every if not self._felt(k, q, time)]

    def _felt(self, k: int, q: np.ndarray, time: float) -> bool:
        """Do mass, forces or rows change with coordinate k alone?"""
        moved = np.array(q, dtype=float)
        moved[k] += 0.3
        qd, tau = np.cos(np.arange(self.model.nv)), np.zeros(self.model.nv)
        here, there = (self.terms((x, qd, tau), time, {}, {}) for x in (q, moved))
        return any(np.abs(a - b).max(initial=0.0) > 1e-10 for a, b in zip(here, there, strict=True))

    # Dynamics.

    def ask(self, quantity: str, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish with its rows, and their order where the solver needs one."""
        sample = np.atleast_2d(np.asarray(q, dtype=float))[0]
        moment = float(np.ravel(time)[0])
        wish = asked("forward_dynamics", **options)
        kept = self.kept(sample, moment)
        wish = replace(wish, quantity=quantity, solver=solver, kept=kept)
        if solver not in EMBEDDED:
            return wish
        rows, dependent = self._order(solver, sample, moment)
        if len(rows) < len(kept):  # the sample is singular: any complete order will do, soundness tells
            rows = (*rows, *(k for k in range(len(kept)) if k not in rows))
            others = [k for k in range(self.model.nv) if k not in dependent]
            dependent = (*dependent, *others[: len(rows) - len(dependent)])
        return replace(wish, rows=rows, dependent=dependent)

    def forward(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        solver: str,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        out: Any,
        threads: int,
    ) -> np.ndarray:
        """q̈ with every row in force."""
        ask, call = self._wish(state[0], time, solver, options, external)
        arguments = (*state, _one(time), *external.values())
        found = call(*arguments) if threads == 1 else call(*arguments, threads=threads)
        qdd, _, sound = found
        if not _everywhere(sound):
            qdd = self._looked_at_closely(ask, arguments, options, threads, found)
        return qdd if out is None else copied(qdd, out)

    def _wish(
        self, q: Any, time: Any, solver: str, options: Mapping[str, Any], external: Mapping[str, Any]
    ) -> tuple[Ask, Any]:
        """What is asked for and who answers, remembered by what the caller said, if that was nothing unusual."""
        plain = options.get("method") is None and type(external) is dict and type(solver) is str
        said = (
            (solver, bool(options.get("passive", True)), bool(options.get("force")), *external)
            if plain
            else ()
        )
        if said in self._usual:
            return self._usual[said]
        check_solver(solver)
        if self.model.terms is not None and solver in OF_BODIES:
            raise InputError(
                f"{self.model.name}: solver {solver!r} works on bodies, and this system is given by its energy; "
                f"Solvers: {listed(x for x in EVERY_SOLVER if x not in OF_BODIES)}"
            )
        ask = self.ask("accelerations", q, time, solver, options)
        found = ask, self._calls.direct(ask, self._calls.asking(ask))
        if said:
            self._usual[said] = found
        return found

    def _looked_at_closely(
        self,
        ask: Ask,
        arguments: tuple[Any, ...],
        options: Mapping[str, Any],
        threads: int,
        found: tuple[np.ndarray, np.ndarray, Any],
    ) -> np.ndarray:
        """States that are not sound: refused, or solved in another order, or with the rank found anew."""
        qdd, soundness, sound = found
        q, _, _, time, *_ = arguments
        self._check_closed(q, time, soundness[..., 3])
        if ask.solver in EMBEDDED:
            self._orders.pop(ask.solver, None)
            self._usual = {said: x for said, x in self._usual.items() if said[0] != ask.solver}
            sample = np.atleast_2d(q)
            first = int(np.flatnonzero(np.atleast_1d(sound) != 1.0)[0]) if len(sample) > 1 else 0
            ask = self.ask("accelerations", sample[first], time, ask.solver, options)
            qdd, _, sound = self._calls(ask, arguments, None, threads)
        doubtful = np.atleast_1d(np.asarray(sound) != 1.0)
        return self._solved_again(qdd, doubtful, ask, arguments) if doubtful.any() else qdd

    def _check_closed(self, q: Any, time: Any, gaps: np.ndarray) -> None:
        """Refuse coordinates that leave a loop wide open."""
        wide = np.flatnonzero(np.atleast_1d(gaps) > WIDE_OPEN * self._size)
        if len(wide):
            batch = np.ndim(gaps) == 1
            k = int(wide[0])
            states, moments = np.atleast_2d(q), np.ravel(time)
            own, moment = states[min(k, len(states) - 1)], float(moments[min(k, len(moments) - 1)])
            which = f" (state {k} of the batch)" if batch else ""
            raise InputError(
                f"{self.model.name}: q does not obey the constraints{which}: "
                f"{self._worst(self.positions(own, moment))}; assemble(q) gives coordinates that do",
                q=own,
            )

    def _solved_again(
        self, qdd: np.ndarray, doubtful: np.ndarray, ask: Ask, arguments: tuple[Any, ...]
    ) -> np.ndarray:
        whole = replace(ask, quantity="terms", solver="", kept=(), rows=(), dependent=())
        found = np.atleast_2d(qdd).copy()
        for k in np.flatnonzero(doubtful).tolist():
            own = tuple(np.asarray(x)[k] if np.ndim(x) == 2 else x for x in arguments)
            if not all(np.isfinite(np.asarray(x, dtype=float)).all() for x in own):
                continue
            M, F, A, b = self._calls(whole, own)
            solved = rank_revealing.solve(M, F, A, b, self._drift(own[0], own[1], own[3][0]))
            self._refuse(
                solved, np.asarray(own[0], dtype=float), float(own[3][0]), k if qdd.ndim == 2 else None
            )
            found[k] = solved.qdd
        return found.reshape(qdd.shape)

    def _drift(self, q: Any, qd: Any, time: float) -> rank_revealing.Drift:
        """How far a state is from obeying the rows."""
        A, psi, _ = self.rows(q, qd, time)
        gap = np.abs(self.positions(q, time)).max(initial=0.0)
        slip = np.abs(psi / rank_revealing.lengths(A)).max(initial=0.0)
        return rank_revealing.Drift(float(gap), float(slip), float(np.abs(qd).max(initial=0.0)))

    def _refuse(self, solved: rank_revealing.Solved, q: np.ndarray, time: float, row: int | None) -> None:
        which = "" if row is None else f" (state {row} of the batch)"
        if len(solved.contradicting):
            names = listed([self.row_names[k] for k in solved.contradicting], 6)
            open_at = (
                f"; {self._worst(self.positions(q, time))}: call assemble(q)" if self._opened(q, time) else ""
            )
            raise SingularError(
                f"{self.model.name}: the constraints contradict each other{which}: no acceleration obeys {names} "
                f"together with the others{open_at or '; leave one of them out, or make them agree'}",
                rows=names,
            )
        if solved.lost is not None:
            moving = [self.model.v_names[k] for k in np.flatnonzero(np.abs(solved.lost) > 1e-6)]
            raise SingularError(
                f"{self.model.name}: forward dynamics is singular{which}: nothing with inertia and no constraint "
                f"resists the motion of {listed(moving, 6)}; give mass or inertia there, or a constraint",
                rates=moving,
            )

    def forces(
        self,
        state: tuple[Any, Any, Any],
        time: float,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> ConstraintForces:
        """Accelerations, multipliers and wrenches of one state."""
        M, F, A, b = self.terms(state, time, options, external)
        solved = rank_revealing.solve(M, F, A, b, self._drift(state[0], state[1], time))
        self._refuse(solved, np.asarray(state[0], dtype=float), time, None)
        named = dict(zip(self.row_names, solved.lam.tolist(), strict=True))
        return ConstraintForces(
            solved.qdd, named, self.wrenches(state[0], solved.lam, time), solved.rank == len(A)
        )

    def wrenches(self, q: Any, lam: np.ndarray, time: float) -> dict[str, np.ndarray]:
        """Wrench of each constraint between two frames on its child, at its mark, world axes."""
        at = Motion(self.model, np.asarray(q, dtype=float), time, np.zeros(self.model.nv))
        found: dict[str, np.ndarray] = {}
        for name, x, own in self._by_constraint(lam):
            if isinstance(x, Joined):
                S, M = x.places(self.model)
                found[name] = np.asarray(x.wrenches(at.pose(S), at.pose(M), time).M.T @ own, dtype=float)
        return found

    def terms(
        self, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any], external: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M, F, A and b with every row."""
        wish = replace(asked("forward_dynamics", **options), quantity="terms")
        return self._calls(wish, (*state, _one(time), *external.values()))

    def reduced(
        self, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's equations."""
        ask = self.ask("reduced_equations", state[0], time, "rosenberg-extended", options)
        return self._calls(ask, (*state, _one(time)))

    def derivatives(
        self,
        state: tuple[Any, Any, Any],
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ: the derivative of the balance, solved by the saddle-point matrix.

            [M −Aᵀ; A 0] [∂q̈; ∂λ] = −∂[M q̈ − F − Aᵀλ; A q̈ − b]                                   (CD1)
        """
        ask = self.ask("acceleration_derivatives", state[0], 0.0, DEFAULT_SOLVER, options)
        moment = _one(0.0)
        if not self._calls.compiled:
            return self._calls(ask, (*state, moment, *external.values()), None, threads)
        n, kept = self.model.nv, list(ask.kept)
        M, F, A, b = self.terms(state, 0.0, options, external)
        A, b = A[..., kept, :], b[..., kept]
        K = np.zeros((*M.shape[:-2], n + len(kept), n + len(kept)))
        K[..., :n, :n], K[..., :n, n:], K[..., n:, :n] = M, -np.swapaxes(A, -1, -2), A
        found = np.linalg.solve(K, np.concatenate([F, b], axis=-1)[..., None])[..., 0]
        kernel = self._calls.kernels.get(replace(ask, quantity="balance_derivatives"))
        motion = (np.ascontiguousarray(found[..., :n]), np.ascontiguousarray(found[..., n:]))
        by_q, by_qd = kernel.general(*state, moment, *motion, *external.values(), out=None, threads=threads)
        by_tau = np.broadcast_to(-np.eye(n + len(kept), n), (*M.shape[:-2], n + len(kept), n))
        solved = [-np.linalg.solve(K, x)[..., :n, :] for x in (by_q, by_qd, by_tau)]  # (CD1)
        return solved[0], solved[1], solved[2]

    def loop_loads(
        self,
        state: tuple[np.ndarray, np.ndarray, np.ndarray],
        tau: np.ndarray | None,
        time: float,
        external: Mapping[str, Any],
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """What the loops do to the tree, as wrenches by link; and the wrench in each loop, in axes of its seat."""
        q, qd, qdd = state
        given = dict(external)
        M, F, A, b = self.terms((q, qd, np.zeros(self.model.nv)), time, {"external": given}, given)
        if tau is None:
            lam = self.efforts(M, F, A, b, qdd, None).lam
        else:
            lam = multipliers_of(A, M @ qdd - F - tau)
        at = Motion(self.model, q, time, np.zeros(self.model.nv))
        loads = {name: np.array(w, dtype=float) for name, w in given.items()}
        in_seat: dict[str, np.ndarray] = {}
        for name, x, own in self._by_constraint(lam):
            if isinstance(x, Joined):
                inner, outer = (at.pose(place) for place in x.places(self.model))
                on = x.wrenches(inner, outer, time)
                for mark, rows in ((x.S, on.S), (x.M, on.M)):
                    place = self.model.place(mark.name)
                    r = at.pose(mark.on(self.model)).a - at.pose(place).a
                    w = shift_wrench(np.asarray(rows.T @ own, dtype=float), r)
                    loads[mark.name] = loads.get(mark.name, np.zeros(6)) + w
                seat = at.pose(x.S.on(self.model)).R
                in_seat[name] = rotate(seat.T, np.asarray(on.M.T @ own, dtype=float))
        return loads, in_seat

    def _by_constraint(self, lam: np.ndarray) -> Iterator[tuple[str, Constraint, np.ndarray]]:
        """Each constraint with its multipliers."""
        start = 0
        for x in self.constraints:
            yield x.name, x, lam[start : start + len(x.labels)]
            start += len(x.labels)

    def inverse(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        actuators: Sequence[str] | None,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> np.ndarray:
        """Efforts of the actuators for motions that obey the rows."""
        q, qd, qdd = state
        M, F, A, b = self.terms((q, qd, np.zeros(self.model.nv)), time, options, external)
        if M.ndim == 2:
            wanted = self._calls.one("qdd", qdd)
            return self.efforts(M, F, A, b, wanted, actuators).tau
        wanted = np.broadcast_to(np.asarray(qdd, dtype=float), F.shape)
        every = zip(M, F, A, b, wanted, strict=True)
        return np.stack([self.efforts(*one, actuators).tau for one in every])

    def efforts(
        self,
        M: np.ndarray,
        F: np.ndarray,
        A: np.ndarray,
        b: np.ndarray,
        qdd: np.ndarray,
        actuators: Sequence[str] | None,
    ) -> Efforts:
        """Efforts of one state; M, F, A, b as `terms` gives them without efforts."""
        missed = np.abs(A @ qdd - b) / rank_revealing.lengths(A)
        if (worst := missed.max(initial=0.0)) > HOLDS * (1.0 + np.abs(qdd).max(initial=0.0)):
            wrong = [self.row_names[k] for k in np.flatnonzero(missed > 0.1 * worst)]
            raise InputError(
                f"{self.model.name}: these accelerations break {listed(wrong, 6)} (by {worst:.3g}); "
                "accelerations(q, qd, inputs) gives ones that obey",
                rows=wrong,
            )
        chosen = (
            self._fixed(actuators) if actuators is not None else set(range(self.model.nv)) - self._followers
        )
        actuated = np.array(sorted(chosen), dtype=int)
        found = efforts(M @ qdd - F, A, actuated)
        if not found.possible:
            stuck = [self.model.v_names[k] for k in np.flatnonzero(np.abs(found.unbalanced) > 1e-6)]
            acting = self.model.v_names if actuators is None else actuators
            raise SingularError(
                f"{self.model.name}: no efforts of {listed(acting, 6) or 'nothing'} make this motion: "
                f"{np.abs(found.unbalanced).max():.3g} stays unbalanced, seen at {listed(stuck, 6)}; "
                "add an actuator, or change the motion",
                rates=stuck,
            )
        return found


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


def reaching(frame: str, position: Any, rotation: Any) -> Guide:
    """The condition that a frame is at a place in the world."""
    if position is None and rotation is None:
        raise InputError("give a position (3,), a rotation (3, 3), or both")
    xyz: Any = ("", "", "")
    rpy: Any = ("", "", "")
    if position is not None:
        xyz = tuple(_held(x) for x in np.asarray(position, dtype=float))
    if rotation is not None:
        rpy = tuple(_held(x) for x in to_rpy(np.asarray(rotation, dtype=float)))
    return Guide("target", GROUND, frame, xyz, rpy)


def _held(value: float) -> Any:
    """A function of time that stays."""
    return lambda time: float(value)


def copied(found: np.ndarray, out: Any) -> Any:
    """The result in the array given for it."""
    out[...] = found
    return out


def _everywhere(sound: Any) -> bool:
    """Is it one in every state?"""
    return sound == 1.0 if type(sound) is float else bool(np.all(sound == 1.0))


def _one(time: Any) -> np.ndarray:
    """Time as a vector of one number, or a column of them."""
    if type(time) is float and not time:
        return BEGINNING
    x = np.asarray(time, dtype=float)
    return x.reshape(1) if x.ndim == 0 else x.reshape(-1, 1)
