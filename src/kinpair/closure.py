"""A mechanism under constraints: assembling it, moving it, and its dynamics with every row in force.

Rows that say nothing new are left out of the compiled equations; the compiled solve reports how sound it was and
whether the rows left out hold too, and a state where that is in doubt is solved again by a rank-revealing
factorisation of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from kinpair.algebra.lu import few_neighbours, pivot_order
from kinpair.calls import Calls
from kinpair.constrained import EMBEDDED, HOLDS, WIDE_OPEN
from kinpair.constraints import rank_revealing
from kinpair.constraints.actuation import Efforts, efforts, multipliers_of
from kinpair.constraints.assembly import ROUNDED, Assembled, Closing, assemble
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Constraint, Motion
from kinpair.constraints.coordinates import OfPositions
from kinpair.constraints.joined import Joined
from kinpair.constraints.loop import LoopClosure
from kinpair.constraints.mobility import Mobility, independent_rows
from kinpair.constraints.rows import holonomic_rows, reach, row_names
from kinpair.constraints.rows import scales as all_scales
from kinpair.constraints.solvers import DEFAULT_SOLVER, EVERY_SOLVER, OF_BODIES, OF_ENERGY
from kinpair.description.conditions import Guide
from kinpair.description.parts import GROUND
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.quantities import Ask, asked
from kinpair.spatial.rotation import to_rpy
from kinpair.spatial.twist import rotate, shift_wrench

KERNELS = ("forward_dynamics", "terms", "constraint_positions", "constraint_matrix", "constraint_rows")
TURNS = 1e-6  # how far R Rᵀ may be from one
OPEN = 1e-6  # [m] or [rad]: a residual beyond this is no rounding
T = TypeVar("T")
BEGINNING = np.zeros(1)  # the time that most calls have
RATE_STEPS = 50  # where rows are not linear in the rates
STANDING = 1e-12  # a step of the rates below this part of them is none
PROBES = (0.3, 0.1 * np.pi, 1.0, -0.7)  # steps by which a coordinate is tried for an influence
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
        self._found: dict[str, Any] = {}

    def once(self, name: str, find: Callable[[], T]) -> T:
        """What is found the first time, and taken for good: compiled code is made for it."""
        if name not in self._found:
            self._found[name] = find()
        return self._found[name]

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """All of them, in the order of their rows."""
        return constraints_of(self.model)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Name of every row."""
        return row_names(self.constraints)

    @cached_property
    def _scales(self) -> np.ndarray:
        """What each φ is judged by."""
        return all_scales(self.model, self.constraints)

    @cached_property
    def _reach(self) -> float:
        """A length of the mechanism."""
        return reach(self.model, self.constraints)

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
        holonomic, scales = holonomic_rows(self.constraints), self._scales
        closing = Closing(
            lambda x: self.positions(x, time) / scales,
            lambda x: self.matrix(x, time)[holonomic] / scales[:, None],
            lambda x, step: kinematics.normalised(self.model, kinematics.moved(self.model, x, step)),
            self.model.nv,
            free,
        )
        if not np.isfinite(q).all():
            raise InputError(
                f"{self.model.name}: q holds NaN or infinity; a guess is made of numbers", argument="q"
            )
        found = assemble(closing, kinematics.normalised(self.model, np.array(q, dtype=float)))
        return found._replace(phi=found.phi * scales)

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
        if lost := [name for name, gap in open_by.items() if not np.isfinite(gap)]:
            return f"the rows of {listed(map(repr, lost))} are not defined there"
        worst = sorted((x for x in open_by.items() if x[1] > ROUNDED * self._reach), key=lambda x: -x[1])
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
        if not isinstance(inputs, Mapping):  # type: ignore[redundant-expr]
            raise InputError(f"{self.model.name}: inputs is {inputs!r}; give a dict: name of a rate → number")
        for name in inputs:
            if name not in self.model.v_names:
                raise InputError(
                    f"{self.model.name}: no rate {name!r}; {nearest(str(name), self.model.v_names)}"
                    f"Rates: {listed(self.model.v_names)}",
                    rate=name,
                )
            if not isinstance(inputs[name], (int, float, np.number)) or not np.isfinite(inputs[name]):  # type: ignore[redundant-expr]
                raise InputError(
                    f"{self.model.name}: input {name!r} is {inputs[name]!r}; give a finite number", rate=name
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
        A = self._defined(q, time)
        here = independent_rows(A)
        near = max((len(independent_rows(self.matrix(x, time))) for x in self._nearby(q, time)), default=0)
        redundant = tuple(name for k, name in enumerate(self.row_names) if k not in here)
        return Mobility(self.model.nv, len(A), len(here), redundant, near > len(here))

    def _defined(self, q: np.ndarray, time: float) -> np.ndarray:
        """A, or an error that names the rows that have no value at q."""
        if not np.isfinite(q).all():
            raise InputError(f"{self.model.name}: q holds NaN or infinity", argument="q")
        A = self.matrix(q, time)
        lost = np.flatnonzero(~np.isfinite(A).all(1))
        if len(lost):
            raise SingularError(
                f"{self.model.name}: the rows {listed([self.row_names[k] for k in lost], 6)} are not defined at this q "
                "(a disk that lies flat, an axis turned round, a function without a value); move it a little",
                rows=[self.row_names[k] for k in lost],
            )
        return A

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
            self._defined(q, time)
            candidates = [q] if self._opened(q, time) else [q, *self._nearby(q, time)]
            found = [independent_rows(self.matrix(x, time)) for x in candidates]
            self._kept = max(found, key=len)
        return self._kept

    def _opened(self, q: np.ndarray, time: float) -> bool:
        phi = self.positions(q, time) / self._scales
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
        moving, A = np.cos(np.arange(self.model.nv)), self.matrix(q, time)
        moments = time + np.array([0.0, 0.37, 1.91])
        steady = all(np.allclose(self.rows(q, moving, t)[1], A @ moving) for t in moments)
        steady = steady and all(np.array_equal(A, self.matrix(q, t)) for t in moments)
        if self.model.q_names != self.model.v_names or not steady:
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs rates that are dq/dt and constraints A(q) q̇ = 0 without "
                "time; 'maggi' and the others take any"
            )
        return every if solver == "voronets" else [k for k in every if not self._felt(k, q, time)]

    def _felt(self, k: int, q: np.ndarray, time: float) -> bool:
        """Do mass, forces or rows change with coordinate k alone?"""
        qd, tau = np.cos(np.arange(self.model.nv)), np.zeros(self.model.nv)
        here = self.terms((q, qd, tau), time, {}, {})
        for step in PROBES:
            moved = np.array(q, dtype=float)
            moved[k] += step
            there = self.terms((moved, qd, tau), time, {}, {})
            if any(np.abs(a - b).max(initial=0.0) > 1e-10 for a, b in zip(here, there, strict=True)):
                return True
        return False

    # Dynamics.

    def ask(self, quantity: str, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish with its rows, and their order where the solver needs one."""
        states, moments = np.atleast_2d(np.asarray(q, dtype=float)), np.ravel(_one(time))
        first = int(np.isfinite(states).all(1).argmax())
        sample, moment = states[first], float(moments[min(first, len(moments) - 1)])
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

    def kernel_ask(self, quantity: str, q: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish of a kernel of one of `KERNELS`; the rows kept are chosen at q if they were not before."""
        if quantity == "forward_dynamics":
            self._check_solver(solver)
            return self.ask("accelerations", q, 0.0, solver, options)
        return (
            replace(asked("forward_dynamics", **options), quantity="terms")
            if quantity == "terms"
            else Ask(quantity)
        )

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
        self._check_solver(solver)
        ask = self.ask("accelerations", q, time, solver, options)
        found = ask, self._calls.direct(ask, self._calls.asking(ask))
        if said:
            self._usual[said] = found
        return found

    def _check_solver(self, solver: str) -> None:
        """Refuse what is unknown, and what cannot work on a system without bodies."""
        check_solver(solver)
        if self.model.terms is not None and solver in OF_BODIES:
            raise InputError(
                f"{self.model.name}: solver {solver!r} works on bodies, and this system is given by its energy; "
                f"Solvers: {listed(x for x in EVERY_SOLVER if x not in OF_BODIES)}"
            )

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
        wide = np.flatnonzero(np.atleast_1d(gaps) > WIDE_OPEN)
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

    def check_closed(self, q: Any, time: Any) -> None:
        """The same for any coordinates."""
        if self._scales.size:
            self._check_closed(q, time, np.abs(self.positions(q, time) / self._scales).max(-1))

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
        self.check_closed(state[0], time)
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
        time: float,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ: the derivative of the balance, solved by the saddle-point matrix.

        [M −Aᵀ; A 0] [∂q̈; ∂λ] = −∂[M q̈ − F − Aᵀλ; A q̈ − b]                                   (CD1)
        """
        self.check_closed(state[0], time)
        ask = self.ask("acceleration_derivatives", state[0], time, DEFAULT_SOLVER, options)
        moment = _one(time)
        if not self._calls.compiled:
            return self._calls(ask, (*state, moment, *external.values()), None, threads)
        n, kept = self.model.nv, list(ask.kept)
        M, F, A, b = self.terms(state, time, options, external)
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
                if isinstance(x, LoopClosure):
                    seat = seat @ x.turn.T
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
        self.check_closed(q, time)
        M, F, A, b = self.terms((q, qd, np.zeros(self.model.nv)), time, options, external)
        wanted = self._calls.checked("qdd", qdd)
        if M.ndim == 2 and wanted.ndim == 1:
            return self.efforts(M, F, A, b, wanted, actuators).tau
        count = {len(x) for x in (F, wanted) if x.ndim == 2}
        if len(count) > 1:
            raise InputError(
                f"{self.model.name}: batches differ in length: {len(F)} states and {len(wanted)} of qdd"
            )
        M, F, A, b, wanted = (
            _batched(x, n, min(count)) for x, n in ((M, 2), (F, 1), (A, 2), (b, 1), (wanted, 1))
        )
        every = enumerate(zip(M, F, A, b, wanted, strict=True))
        return np.stack([self.efforts(*one, actuators, k).tau for k, one in every])

    def efforts(
        self,
        M: np.ndarray,
        F: np.ndarray,
        A: np.ndarray,
        b: np.ndarray,
        qdd: np.ndarray,
        actuators: Sequence[str] | None,
        row: int | None = None,
    ) -> Efforts:
        """Efforts of one state, `row` of a batch; M, F, A, b as `terms` gives them without efforts."""
        which = "" if row is None else f" (state {row} of the batch)"
        missed = np.abs(A @ qdd - b) / rank_revealing.lengths(A)
        if (worst := missed.max(initial=0.0)) > HOLDS * (1.0 + np.abs(qdd).max(initial=0.0)):
            wrong = [self.row_names[k] for k in np.flatnonzero(missed > 0.1 * worst)]
            raise InputError(
                f"{self.model.name}: these accelerations{which} break {listed(wrong, 6)} (by {worst:.3g}); "
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
                f"{self.model.name}: no efforts of {listed(acting, 6) or 'nothing'} make this motion{which}: "
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
        xyz = tuple(_held(x) for x in _finite("position", position, (3,)))
    if rotation is not None:
        R = _finite("rotation", rotation, (3, 3))
        if np.abs(R @ R.T - np.eye(3)).max() > TURNS or np.linalg.det(R) < 0.0:
            raise InputError(
                "rotation is no rotation matrix: its rows must be unit vectors at right angles, right-handed"
            )
        rpy = tuple(_held(x) for x in to_rpy(R))
    return Guide(f"target of {frame}", GROUND, frame, xyz, rpy)


def _finite(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of the right shape."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give numbers of shape {shape}", argument=name) from None
    if x.shape != shape or not np.isfinite(x).all():
        found = f"has shape {x.shape}" if x.shape != shape else "holds NaN or infinity"
        raise InputError(f"{name} {found}; give numbers of shape {shape}", argument=name)
    return x


def _held(value: float) -> Any:
    """A function of time that stays."""
    return lambda time: float(value)


def _batched(x: np.ndarray, axes: int, rows: int) -> np.ndarray:
    """With the batch in front, if it was not there."""
    return x if x.ndim > axes else np.broadcast_to(x, (rows, *x.shape))


def copied(found: np.ndarray, out: Any) -> Any:
    """The result in the array given for it, which must be of its shape."""
    if not isinstance(out, np.ndarray) or out.shape != found.shape or out.dtype != found.dtype:
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__  # type: ignore[redundant-expr]
        raise InputError(f"out= is {given}; it must be an array {found.dtype} {found.shape}", argument="out")
    out[...] = found
    return out


def _everywhere(sound: Any) -> bool:
    """Is it one in every state?"""
    return sound == 1.0 if type(sound) is float else bool(np.all(sound == 1.0))


def _one(time: Any) -> np.ndarray:
    """Time as a vector of one number, or a column of them."""
    if type(time) is float and not time:
        return BEGINNING
    try:
        x = np.asarray(time, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"time is {time!r}; give a number of seconds", argument="time") from None
    return x.reshape(1) if x.ndim == 0 else x.reshape(-1, 1)
