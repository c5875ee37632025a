"""Accelerations, multipliers and derivatives with every row in force.

Rows that say nothing new are left out of the compiled equations; the compiled solve reports how sound it was and
whether the rows left out hold too, and a state where that is in doubt is solved again by a rank-revealing
factorisation of floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.closure.moment import at_time
from kinpair.constrained import EMBEDDED, rows_sound
from kinpair.constraints import rank_revealing
from kinpair.constraints.solvers import DEFAULT_SOLVER, EVERY_SOLVER, OF_BODIES
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.quantities import Ask, asked

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure

CHOICES = 8  # of rows and order for one solver: code is compiled for each
KERNELS = ("forward_dynamics", "terms", "constraint_positions", "constraint_matrix", "constraint_rows")


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


class Found(NamedTuple):
    """What the compiled equations give: q̈, how sound it is, and one where that is as it should be."""

    qdd: np.ndarray
    soundness: np.ndarray
    sound: Any


class Part(NamedTuple):
    """Rows and order of a solve, in which states (batch,) it was made, and whether it was sound there."""

    ask: Ask
    where: np.ndarray
    sound: bool


class Answer(NamedTuple):
    """q̈, and the solves that gave it."""

    qdd: np.ndarray
    parts: list[Part]

    @property
    def ask(self) -> Ask:
        """The wish to begin with the next time."""
        return self.parts[-1].ask


class Dynamics:
    """Solves for the accelerations of a closure."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model
        self._usual: dict[tuple[Any, ...], tuple[Ask, Any]] = {}
        self._choices: dict[str, set[Ask]] = {}

    def ask(self, quantity: str, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish with its rows, and their order where the solver needs one, chosen at the first state of numbers."""
        sample, moment = self._sample(q, time)
        wish = asked("forward_dynamics", owner=self.model.name, **options)
        kept = self.closed.rank.kept(sample, moment)
        return self._ordered(replace(wish, quantity=quantity, solver=solver, kept=kept), sample, moment)

    def _checked_ask(self, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish for accelerations, refused where the loops are open or no rates obey."""
        self._check_solver(solver)
        sample, moment = self._sample(q, time)
        self.closed.defined(sample, moment)
        self.closed.check_closed(q, time)
        self.closed.check_rates_exist(sample, np.zeros(self.model.nv), moment)
        return self.ask("accelerations", q, time, solver, options)

    def _sample(self, q: Any, time: Any) -> tuple[np.ndarray, float]:
        """A state to choose rows at: the first of numbers, or the start where there is no state at all."""
        states = np.atleast_2d(self.closed.calls.checked("q", q))
        if not len(states):
            return self.closed.assembly.start(), 0.0
        first = int(np.isfinite(states).all(1).argmax())
        return states[first], _own(np.ravel(at_time(time)), first)

    def _ordered(self, wish: Ask, q: np.ndarray, time: float) -> Ask:
        """The wish with the order of elimination, where its solver needs one."""
        if wish.solver not in EMBEDDED:
            return wish
        rows, dependent = self.closed.rank.order(wish.solver, wish.kept, q, time)
        return replace(wish, rows=rows, dependent=dependent)

    def kernel_ask(self, quantity: str, q: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish of a kernel of one of `KERNELS`; the rows kept are chosen at q."""
        if quantity == "forward_dynamics":
            return self._checked_ask(q, 0.0, solver, options)
        return (
            replace(asked("forward_dynamics", owner=self.model.name, **options), quantity="terms")
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
        said = _said(solver, options, external)
        usual = self._usual.get(said)
        ask, call = usual or self._wish(state[0], time, solver, options)
        arguments = (*state, at_time(time), *external.values())
        qdd, soundness, sound = call(*arguments) if threads == 1 else call(*arguments, threads=threads)
        if not _everywhere(sound):
            found = self._looked_at_closely(ask, arguments, threads, Found(qdd, soundness, sound))
            qdd, usual = found.qdd, self._remembered(said, found.ask)
        if usual is None:
            self._remembered(said, ask)
        return qdd if out is None else copied(qdd, out)

    def _wish(self, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> tuple[Ask, Any]:
        """What is asked for and who answers."""
        ask = self._checked_ask(q, time, solver, options)
        return ask, self._caller(ask)

    def _caller(self, ask: Ask) -> Any:
        return self.closed.calls.direct(ask, self.closed.calls.asking(ask))

    def _remembered(self, said: tuple[Any, ...], ask: Ask) -> tuple[Ask, Any]:
        """The wish that answered what the caller said, to begin with the next time, if that was nothing unusual."""
        if self._usual.get(said, (None,))[0] == ask:
            return self._usual[said]
        found = ask, self._caller(ask)
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

    def solved(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        solver: str,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> Answer:
        """q̈, and by which rows it was found in which states."""
        said = _said(solver, options, external)
        ask, _ = self._usual.get(said) or self._wish(state[0], time, solver, options)
        arguments = (*state, at_time(time), *external.values())
        found = Found(*self.closed.calls(ask, arguments, None, threads))
        if _everywhere(found.sound):
            answer = Answer(found.qdd, [Part(ask, np.ones(np.size(found.sound), dtype=bool), True)])
        else:
            answer = self._looked_at_closely(ask, arguments, threads, found)
        self._remembered(said, answer.ask)
        return answer

    def _looked_at_closely(self, ask: Ask, arguments: tuple[Any, ...], threads: int, found: Found) -> Answer:
        """States that are not sound: refused, or solved by other rows in another order, or with the rank found anew.

        The rows that do last are the last part: they are tried first the next time.
        """
        q, _, _, time, *_ = arguments
        self.closed.check_numbers(q)
        self.closed.check_gaps(q, time, found.soundness[..., 3])
        qdd, doubtful = np.atleast_2d(found.qdd).copy(), np.atleast_1d(np.asarray(found.sound) != 1.0)
        parts, tried = [Part(ask, ~doubtful, True)], [ask]
        dependent = ~(np.atleast_1d(found.soundness[..., 1]) > rows_sound(ask.solver))
        while (fresh := self._chosen_anew(tried, arguments, doubtful & dependent)) is not None:
            tried.append(fresh)
            better = Found(*self.closed.calls(fresh, arguments, None, threads))
            mended = doubtful & np.atleast_1d(np.asarray(better.sound) == 1.0)
            if mended.any():
                qdd[mended] = np.atleast_2d(better.qdd)[mended]
                parts.append(Part(fresh, mended, True))
                doubtful = doubtful & ~mended
        if doubtful.any():
            self._solve_again(qdd, doubtful, ask, arguments, np.ndim(found.qdd) == 2)
            parts.insert(0, Part(ask, doubtful, False))
        return Answer(qdd.reshape(np.shape(found.qdd)), parts)

    def _chosen_anew(self, tried: list[Ask], arguments: tuple[Any, ...], dependent: np.ndarray) -> Ask | None:
        """Other rows, or another order, for a state where those tried depend on each other, or nearly; None where there
        are no better ones, or too many were made before."""
        for k in np.flatnonzero(dependent).tolist():
            q, *_, time = (_row(x, k) for x in arguments[:4])
            if not np.isfinite(q).all():
                continue
            kept = self.closed.rank.kept_here(q, float(time[0]), len(tried[0].kept))
            if kept is None:
                continue
            fresh = self._ordered(replace(tried[0], kept=kept), q, float(time[0]))
            known = self._choices.setdefault(fresh.solver, set())
            if fresh not in tried and (fresh in known or len(known) < CHOICES):
                known.add(fresh)
                return fresh
        return None

    def _solve_again(
        self, qdd: np.ndarray, doubtful: np.ndarray, ask: Ask, arguments: tuple[Any, ...], batch: bool
    ) -> None:
        """Doubtful states by a rank-revealing factorisation, into their rows of q̈; a row without numbers keeps them."""
        whole = replace(ask, quantity="terms", solver="", kept=(), rows=(), dependent=())
        for k in np.flatnonzero(doubtful).tolist():
            own = tuple(_row(x, k) for x in arguments)
            if not all(np.isfinite(x).all() for x in own):
                continue
            q, qd, _, time, *_ = own
            self.closed.defined_rows(q, qd, float(time[0]))
            M, F, A, b = self.closed.calls(whole, own)
            solved = rank_revealing.solve(M, F, A, b, self.closed.drift(q, qd, time[0]))
            self.refuse(solved, q, float(time[0]), k if batch else None)
            qdd[k] = solved.qdd

    def refuse(self, solved: rank_revealing.Solved, q: np.ndarray, time: float, row: int | None) -> None:
        which = "" if row is None else f" (state {row} of the batch)"
        if len(solved.contradicting):
            names = listed([self.closed.row_names[k] for k in solved.contradicting], 6)
            open_at = (
                f"; {self.closed.worst(self.closed.positions(q, time))}: call assemble(q)"
                if self.closed.opened(q, time)
                else ""
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
        self.closed.defined_rows(np.asarray(state[0]), np.asarray(state[1]), time)
        self.closed.check_closed(state[0], time)
        M, F, A, b = self.closed.terms(state, time, options, external)
        solved = rank_revealing.solve(M, F, A, b, self.closed.drift(state[0], state[1], time))
        self.refuse(solved, np.asarray(state[0], dtype=float), time, None)
        named = dict(zip(self.closed.row_names, solved.lam.tolist(), strict=True))
        return ConstraintForces(
            solved.qdd, named, self.closed.drives.wrenches(state[0], solved.lam, time), solved.rank == len(A)
        )

    def reduced(
        self, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's equations; refused where forward dynamics is, and in singular positions."""
        arguments = (*state, at_time(time))
        answer = self.solved(state, time, "rosenberg-extended", options, {}, 1)
        count, size = len(answer.parts[0].where), self.model.nv - len(answer.ask.kept)
        E, f = np.full((count, size, self.model.nv), np.nan), np.full((count, size), np.nan)
        for part in self._regular("reduced equations", answer, arguments):
            wish = replace(part.ask, quantity="reduced_equations")
            E[part.where], f[part.where] = self.closed.calls(wish, _rows(arguments, part.where, answer.qdd))
        batch = np.shape(answer.qdd)[:-1]
        return E.reshape(*batch, size, self.model.nv), f.reshape(*batch, size)

    def _regular(self, what: str, answer: Answer, arguments: tuple[Any, ...]) -> list[Part]:
        """The parts of an answer by rows that are independent in each state; refuses singular positions."""
        parts = [part for part in answer.parts if part.sound and part.where.any()]
        lost = next((part.where for part in answer.parts if not part.sound), np.zeros(0))
        for k in np.flatnonzero(lost).tolist():
            own = tuple(_row(x, k) for x in arguments)
            if not all(np.isfinite(x).all() for x in own):
                continue
            q, time = own[0], float(own[3][0])
            kept = self.closed.rank.kept_here(q, time, len(answer.ask.kept))
            if kept is None:
                which = f" (state {k} of the batch)" if np.ndim(answer.qdd) == 2 else ""
                redundant = [x for n, x in enumerate(self.closed.row_names) if n not in answer.ask.kept]
                raise SingularError(
                    f"{self.model.name}: no {what} in a singular position{which}: the rank of the rows of "
                    f"{listed([repr(x.name) for x in self.closed.constraints], 6)} is lower than close by; "
                    "move it a little",
                    q=q,
                    redundant=redundant,
                )
            ask = self._ordered(replace(answer.ask, kept=kept), q, time)
            parts.append(Part(ask, np.arange(len(lost)) == k, False))
        return parts

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

        By the same rows as q̈ itself; refused where that is, and in singular positions, where it has no derivative.
        """
        self.closed.check_closed(state[0], time)
        arguments = (*state, at_time(time), *external.values())
        answer = self.solved(state, time, DEFAULT_SOLVER, options, external, threads)
        parts = self._regular("derivatives", answer, arguments)
        count, n = len(answer.parts[0].where), self.model.nv
        found = [np.full((count, n, n), np.nan) for _ in range(3)]
        make = self._by_saddle if self.closed.calls.compiled else self._by_jets
        for part in parts:
            own = _rows(arguments, part.where, answer.qdd)
            for whole, block in zip(found, make(part, own, threads), strict=True):
                whole[part.where] = block
        by_q, by_qd, by_tau = (x.reshape(*np.shape(answer.qdd), n) for x in found)
        return by_q, by_qd, by_tau

    def _by_jets(self, part: Part, arguments: tuple[Any, ...], threads: int) -> Any:
        """The reference: every operation differentiated; by embedding where the mass matrix has no inverse."""
        ask = replace(part.ask, quantity="acceleration_derivatives")
        if not part.sound:
            q, time = np.atleast_2d(arguments[0])[0], float(np.ravel(arguments[3])[0])
            ask = self._ordered(replace(ask, solver="maggi"), q, time)
        return self.closed.calls(ask, arguments, None, threads)

    def _by_saddle(self, part: Part, arguments: tuple[Any, ...], threads: int) -> list[np.ndarray]:
        """The compiled derivatives of the balance of all rows, solved for the accelerations by the rows kept."""
        n, kept, every = self.model.nv, list(part.ask.kept), len(self.closed.row_names)
        whole = replace(part.ask, solver="", kept=(), rows=(), dependent=())
        M, F, A, b = self.closed.calls(replace(whole, quantity="terms"), arguments)
        A, b = A[..., kept, :], b[..., kept]
        K = np.zeros((*M.shape[:-2], n + len(kept), n + len(kept)))
        K[..., :n, :n], K[..., :n, n:], K[..., n:, :n] = M, -np.swapaxes(A, -1, -2), A
        found = np.linalg.solve(K, np.concatenate([F, b], axis=-1)[..., None])[..., 0]
        lam = np.zeros((*M.shape[:-2], every))
        lam[..., kept] = found[..., n:]
        kernel = self.closed.calls.kernels.get(
            replace(whole, quantity="balance_derivatives", kept=tuple(range(every)))
        )
        state, external = arguments[:4], arguments[4:]
        motion = (np.ascontiguousarray(found[..., :n]), lam)
        balance = kernel.general(*state, *motion, *external, out=None, threads=threads)
        own = [*range(n), *(n + k for k in kept)]
        by_tau = np.broadcast_to(-np.eye(n + len(kept), n), (*M.shape[:-2], n + len(kept), n))
        return [
            -np.linalg.solve(K, x)[..., :n, :] for x in (*(y[..., own, :] for y in balance), by_tau)
        ]  # (CD1)


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


def copied(found: np.ndarray, out: Any) -> Any:
    """The result in the array given for it, which must be of its shape."""
    if not isinstance(out, np.ndarray) or out.shape != found.shape or out.dtype != found.dtype:
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise InputError(f"out= is {given}; it must be an array {found.dtype} {found.shape}", argument="out")
    out[...] = found
    return out


def _said(solver: Any, options: Mapping[str, Any], external: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the caller said, to know it again; nothing if it was unusual."""
    if options.get("method") is not None or type(external) is not dict or type(solver) is not str:
        return ()
    return solver, bool(options.get("passive", True)), bool(options.get("force")), *external


def _row(x: Any, k: int) -> np.ndarray:
    """State number k of an argument, which may serve every state."""
    whole = np.asarray(x, dtype=float)
    return whole[k] if whole.ndim == 2 else whole


def _rows(arguments: tuple[Any, ...], where: np.ndarray, qdd: np.ndarray) -> tuple[Any, ...]:
    """The arguments of some states of a batch; all of them, as they are, of one state."""
    if np.ndim(qdd) == 1:
        return arguments
    whole = (np.asarray(x, dtype=float) for x in arguments)
    every = [x[where] if x.ndim == 2 else x for x in whole]
    return (np.broadcast_to(every[0], (int(where.sum()), every[0].shape[-1])), *every[1:])


def _own(moments: np.ndarray, k: int) -> float:
    """Of moments by state, or of one that serves every state."""
    return float(moments[min(k, len(moments) - 1)])


def _everywhere(sound: Any) -> bool:
    """Is it one in every state?"""
    return sound == 1.0 if type(sound) is float else bool(np.all(sound == 1.0))
