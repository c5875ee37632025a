"""Accelerations, multipliers and derivatives with every row in force.

Rows that say nothing new are left out of the compiled equations; the compiled solve reports how sound it was and
whether the rows left out hold too, and a state where that is in doubt is solved again by a rank-revealing
factorisation of floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.closure.moment import at_time
from kinpair.constrained import EMBEDDED
from kinpair.constraints import rank_revealing
from kinpair.constraints.solvers import DEFAULT_SOLVER, EVERY_SOLVER, OF_BODIES
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.quantities import Ask, asked

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure

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


class Dynamics:
    """Solves for the accelerations of a closure."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model
        self._usual: dict[tuple[Any, ...], tuple[Ask, Any]] = {}

    def ask(self, quantity: str, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Ask:
        """The wish with its rows, and their order where the solver needs one."""
        states, moments = np.atleast_2d(np.asarray(q, dtype=float)), np.ravel(at_time(time))
        first = int(np.isfinite(states).all(1).argmax())
        sample, moment = states[first], float(moments[min(first, len(moments) - 1)])
        wish = asked("forward_dynamics", **options)
        kept = self.closed.rank.kept(sample, moment)
        wish = replace(wish, quantity=quantity, solver=solver, kept=kept)
        if solver not in EMBEDDED:
            return wish
        rows, dependent = self.closed.rank.order(solver, sample, moment)
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
        arguments = (*state, at_time(time), *external.values())
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
        found = ask, self.closed.calls.direct(ask, self.closed.calls.asking(ask))
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
        self.closed.check_gaps(q, time, soundness[..., 3])
        if ask.solver in EMBEDDED:
            self.closed.rank.forget(ask.solver)
            self._usual = {said: x for said, x in self._usual.items() if said[0] != ask.solver}
            sample = np.atleast_2d(q)
            first = int(np.flatnonzero(np.atleast_1d(sound) != 1.0)[0]) if len(sample) > 1 else 0
            ask = self.ask("accelerations", sample[first], time, ask.solver, options)
            qdd, _, sound = self.closed.calls(ask, arguments, None, threads)
        doubtful = np.atleast_1d(np.asarray(sound) != 1.0)
        return self._solved_again(qdd, doubtful, ask, arguments) if doubtful.any() else qdd

    def _solved_again(
        self, qdd: np.ndarray, doubtful: np.ndarray, ask: Ask, arguments: tuple[Any, ...]
    ) -> np.ndarray:
        whole = replace(ask, quantity="terms", solver="", kept=(), rows=(), dependent=())
        found = np.atleast_2d(qdd).copy()
        for k in np.flatnonzero(doubtful).tolist():
            own = tuple(np.asarray(x)[k] if np.ndim(x) == 2 else x for x in arguments)
            if not all(np.isfinite(np.asarray(x, dtype=float)).all() for x in own):
                continue
            M, F, A, b = self.closed.calls(whole, own)
            solved = rank_revealing.solve(M, F, A, b, self.closed.drift(own[0], own[1], own[3][0]))
            self.refuse(
                solved, np.asarray(own[0], dtype=float), float(own[3][0]), k if qdd.ndim == 2 else None
            )
            found[k] = solved.qdd
        return found.reshape(qdd.shape)

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
        """Rosenberg's equations."""
        ask = self.ask("reduced_equations", state[0], time, "rosenberg-extended", options)
        return self.closed.calls(ask, (*state, at_time(time)))

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
        self.closed.check_closed(state[0], time)
        ask = self.ask("acceleration_derivatives", state[0], time, DEFAULT_SOLVER, options)
        moment = at_time(time)
        if not self.closed.calls.compiled:
            return self.closed.calls(ask, (*state, moment, *external.values()), None, threads)
        n, kept = self.model.nv, list(ask.kept)
        M, F, A, b = self.closed.terms(state, time, options, external)
        A, b = A[..., kept, :], b[..., kept]
        K = np.zeros((*M.shape[:-2], n + len(kept), n + len(kept)))
        K[..., :n, :n], K[..., :n, n:], K[..., n:, :n] = M, -np.swapaxes(A, -1, -2), A
        found = np.linalg.solve(K, np.concatenate([F, b], axis=-1)[..., None])[..., 0]
        kernel = self.closed.calls.kernels.get(replace(ask, quantity="balance_derivatives"))
        motion = (np.ascontiguousarray(found[..., :n]), np.ascontiguousarray(found[..., n:]))
        by_q, by_qd = kernel.general(*state, moment, *motion, *external.values(), out=None, threads=threads)
        by_tau = np.broadcast_to(-np.eye(n + len(kept), n), (*M.shape[:-2], n + len(kept), n))
        solved = [-np.linalg.solve(K, x)[..., :n, :] for x in (by_q, by_qd, by_tau)]  # (CD1)
        return solved[0], solved[1], solved[2]


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
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__  # type: ignore[redundant-expr]
        raise InputError(f"out= is {given}; it must be an array {found.dtype} {found.shape}", argument="out")
    out[...] = found
    return out


def _everywhere(sound: Any) -> bool:
    """Is it one in every state?"""
    return sound == 1.0 if type(sound) is float else bool(np.all(sound == 1.0))
