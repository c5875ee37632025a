"""Derivatives of the accelerations, and Rosenberg's reduced equations: by the same rows as the accelerations.

With friction from load, and where joints stick, they are those of the mode in force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.assembly.accelerations import Answer, ClosedAccelerations, SolvedRows
from kinpair.constraints.assembly.batch import at_time, state_of, states_of
from kinpair.constraints.assembly.rank import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities.derivatives import Slopes
from kinpair.constraints.solvers import DEFAULT_SOLVER, refusal
from kinpair.errors import LengthError, SingularError
from kinpair.evaluation.quantities.request import Request
from kinpair.friction.phases.dry import held_slopes
from kinpair.friction.phases.states import RestingStates

SINGULAR = 1e12  # condition of the matrix of all rates and rows
Place = tuple[int, ...]  # of a state in a batch; empty of one state


class Mode(NamedTuple):
    """A motion at one state: q̇ with zeros where it is rounding, q̈, λ of the rows kept, and the rates that stick."""

    qd: np.ndarray
    qdd: np.ndarray
    lam: np.ndarray
    held: np.ndarray


class ModeDerivatives:
    """Derivatives of a closure whose joints have dry friction: in floats, from compiled derivatives of the balance."""

    def __init__(self, rows: ConstraintRows, requests: Requests) -> None:
        self.rows, self.model, self.requests = rows, rows.model, requests

    def each(
        self,
        states: RestingStates,
        request: Request,
        arguments: tuple[np.ndarray, ...],
        where: np.ndarray,
    ) -> Iterator[tuple[Place, list[np.ndarray] | None]]:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ of the states of `where`, by place; None in a singular position."""
        for own, there in self.requests.by_rows(request, arguments, where):
            if own is None:
                yield _first(there), None
                continue
            kept = replace(own, rows=(), dependent=())
            yield from self._slopes(kept, _of_states(states, kept, arguments, there))

    def _slopes(
        self, request: Request, modes: Iterator[tuple[Place, Sequence[np.ndarray], Mode]]
    ) -> Iterator[tuple[Place, list[np.ndarray] | None]]:
        wanted = replace(request, quantity="balance_slopes", solver="")
        for k, (q, _, tau, time, *wrenches), mode in modes:
            motion = mode.qdd, mode.lam
            by = Slopes(*self.rows.calls(wanted, (q, mode.qd, tau, time, *motion, *wrenches)))
            K = np.concatenate([by.qdd, by.lam], axis=1)
            if not np.linalg.cond(K) < SINGULAR:
                yield k, None
                continue
            found = [-np.linalg.solve(K, part)[: self.model.nv] for part in (by.q, by.qd, by.tau)]  # (FD2)
            yield k, held_slopes(found, mode.held)


def _of_states(
    states: RestingStates, request: Request, arguments: tuple[np.ndarray, ...], where: np.ndarray
) -> Iterator[tuple[Place, Sequence[np.ndarray], Mode]]:
    """The mode in force in each state."""
    for k, found in states.each(request, arguments, where):
        own = tuple(x[k] if x.ndim > 1 else x for x in arguments)
        M, F, A, *_ = (np.asarray(x, dtype=float) for x in states.numbers(request, own))
        rows = A.reshape(-1, len(F))[list(request.kept)]
        lam = _multipliers(rows, M @ found.qdd - F - states.efforts(found))
        yield k, own, Mode(states.without_rounding(own[1]), found.qdd, lam, states.sticking(found))


def _first(where: np.ndarray) -> Place:
    """Place of the first state."""
    return tuple(int(n) for n in np.argwhere(where)[0])


def _multipliers(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """λ of Aᵀλ = r."""
    return np.linalg.lstsq(A.T, r, rcond=None)[0]


EMBEDDING = "rosenberg-extended"


class Derivatives:
    """Derivatives made of the equations of motion of a closure next to accelerations."""

    def __init__(self, rows: ConstraintRows, requests: Requests, accelerations: ClosedAccelerations) -> None:
        self.rows, self.model, self.requests, self.accelerations = rows, rows.model, requests, accelerations
        self.modes = ModeDerivatives(rows, requests)
        self._usual: dict[tuple[Any, ...], Request | None] = {}

    def reduced(
        self, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's equations; refused where forward dynamics is, and in singular positions."""
        arguments = (*state, at_time(time))
        answer = self.accelerations.solved(state, time, EMBEDDING, options, {}, 1)
        if options.get("passive", True) and self.model.surfaces and not all(x.sound for x in answer.parts):
            joint = self.model.joint_names[self.model.surfaces[0].body]
            raise SingularError(
                f"{self.model.name}: reduced equations with friction from load (joint {joint!r}) are those of joints "
                "that slide; here one is at rest, or jams: give rates, or leave friction out with passive=False",
                joint=joint,
            )
        count, size = len(answer.parts[0].where), self.model.nv - len(answer.request.kept)
        E, f = np.full((count, size, self.model.nv), np.nan), np.full((count, size), np.nan)
        for part in self._regular("reduced equations", answer, arguments):
            request = replace(part.request, quantity="reduced_equations")
            E[part.where], f[part.where] = self.rows.calls(
                request, states_of(arguments, part.where, answer.qdd)
            )
        batch = np.shape(answer.qdd)[:-1]
        return E.reshape(*batch, size, self.model.nv), f.reshape(*batch, size)

    def _regular(self, what: str, answer: Answer, arguments: tuple[Any, ...]) -> list[SolvedRows]:
        """The parts of an answer by rows that are independent in each state; refuses singular positions."""
        parts = [part for part in answer.parts if part.sound and part.where.any()]
        lost = next((part.where for part in answer.parts if not part.sound), np.zeros(0))
        for k in np.flatnonzero(lost).tolist():
            own = tuple(state_of(x, k) for x in arguments)
            if not all(np.isfinite(x).all() for x in own):
                continue
            q, time = own[0], float(own[3][0])
            request = self.requests.here(answer.request, q, time)
            if request is None:
                raise self.requests.singular(what, answer.request, q, k if np.ndim(answer.qdd) == 2 else None)
            parts.append(SolvedRows(request, np.arange(len(lost)) == k, False))
        return parts

    def derivatives(
        self,
        state: tuple[Any, Any, Any],
        time: float,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[np.ndarray, ...]:
        """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ: the derivative of the balance, solved for that of the accelerations.

        [M −Aᵀ; A 0] [∂q̈; ∂λ] = −∂[M q̈ − F − Aᵀλ; A q̈ − b]                                   (CD1)

        Compiled by an embedding, see `constraints/quantities/derivatives.py`; states where that is not sound by the
        rows of q̈ itself, and those with joints at rest in the mode in force. Refused where q̈ is, and in singular
        positions, where it has no derivative.
        """
        arguments = (*state, at_time(time), *external.values())
        passive = bool(options.get("passive", True))
        if self.accelerations.rubbing.acts(passive=passive):
            return self._with_loads(state, time, options, external, threads)
        found = self._smooth(state, arguments, time, options, external, threads)
        return self._sticking(found, state, time, options, external) if passive else found

    def _smooth(
        self,
        state: tuple[Any, Any, Any],
        arguments: tuple[Any, ...],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[np.ndarray, ...]:
        """Compute derivatives where no force depends on loads, and nothing sticks."""
        found, unsound = self._embedded(arguments, time, options, external, threads)
        if found and not unsound.any():
            return found
        self.rows.check_closed(state[0], time)
        answer = self.accelerations.solved(state, time, DEFAULT_SOLVER, options, external, threads)
        count, n = len(answer.parts[0].where), self.model.nv
        again = unsound if found else np.ones(count, dtype=bool)
        results = [x.reshape(count, n, n) for x in found] or [np.empty((count, n, n)) for _ in range(3)]
        for whole in results:
            whole[again] = np.nan
        make = self._by_saddle if self.rows.calls.compiled else self._by_jets
        for part in self._regular("derivatives", answer, arguments):
            where = part.where & again
            if where.any():
                own = states_of(arguments, where, answer.qdd)
                for whole, block in zip(results, make(part, own, threads), strict=True):
                    whole[where] = block
        return tuple(x.reshape(*np.shape(answer.qdd), n) for x in results)

    def _sticking(
        self,
        found: tuple[np.ndarray, ...],
        state: tuple[Any, Any, Any],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> tuple[np.ndarray, ...]:
        """Compute derivatives with states in which rates with dry friction are zero in the mode in force."""
        states = self.accelerations.rubbing.states
        if not len(states.rates):
            return found
        x = self._arguments(state, time, external)
        rests = np.broadcast_to(states.rests(x[1]), np.shape(found[0])[:-2])
        if not rests.any():
            return found
        request = self._rows(state[0], time, options, external)
        return self._in_modes(states, request, x, rests, found)

    def _with_loads(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[np.ndarray, ...]:
        """Compute derivatives with friction from load: compiled while all joints slide, else in the mode in force."""
        states, x = self.accelerations.rubbing.states, self._arguments(state, time, external)
        found, unsound = self._embedded(x, time, options, external, threads)
        batch = np.broadcast_shapes(*(y.shape[:-1] for y in x))
        whole = tuple(found) or tuple(np.empty((*batch, self.model.nv, self.model.nv)) for _ in range(3))
        again = states.needed(x[1], np.reshape(~unsound, batch) if found else np.zeros(batch))
        if not again.any():
            return whole
        self.rows.check_numbers(state[0])
        self.rows.check_closed(state[0], time)
        request = self._rows(state[0], time, options, external)
        return self._in_modes(states, request, x, again, whole)

    def _rows(self, q: Any, time: Any, options: Mapping[str, Any], external: Mapping[str, Any]) -> Request:
        """Compute derivatives by the rows of the accelerations: where some are redundant, derivatives off the
        constraints follow them."""
        known = self.accelerations.known(DEFAULT_SOLVER, options, external)
        return known or self.requests.checked(q, time, DEFAULT_SOLVER, options)

    def _arguments(
        self, state: tuple[Any, Any, Any], time: Any, external: Mapping[str, Any]
    ) -> tuple[np.ndarray, ...]:
        named = dict(zip(("q", "qd", "tau"), state, strict=True))
        x = self.rows.calls.checked_arguments(external, **named, time=at_time(time))
        return (*x.state, *x.external.values())

    def _in_modes(
        self,
        states: RestingStates,
        request: Request,
        arguments: tuple[np.ndarray, ...],
        where: np.ndarray,
        found: tuple[np.ndarray, ...],
    ) -> tuple[np.ndarray, ...]:
        """`found` with the states of `where` in the mode in force, see `constraints/assembly/derivatives.py`."""
        results = tuple(np.array(x) for x in found)
        for whole in results:
            whole[where] = np.nan
        for k, own in self.modes.each(states, request, arguments, where):
            if own is None:
                q = arguments[0][k] if arguments[0].ndim > 1 else arguments[0]
                raise self.requests.singular("derivatives", request, q, k[0] if k else None)
            for whole, part in zip(results, own, strict=True):
                whole[k] = part
        return results

    def known(self, options: Mapping[str, Any], external: Mapping[str, Any]) -> Request | None:
        """Result of compiled code, if it was called before."""
        return self._usual.get(_key(options, external))

    def _embedded(
        self,
        arguments: tuple[Any, ...],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Compute derivatives by compiled code, and the states in which it is not sound; nothing where there is no
        such code."""
        key = _key(options, external)
        request = self._usual[key] if key in self._usual else self._chosen(arguments[0], time, options)
        found, unsound = (), np.zeros(0, dtype=bool)
        if request is not None:
            found, sound = self.rows.calls(request, arguments, None, threads)
            unsound = np.atleast_1d(np.asarray(sound) != 1.0)
        if not unsound.any():
            self._usual[key] = request
        return tuple(found), unsound

    def _chosen(self, q: Any, time: Any, options: Mapping[str, Any]) -> Request | None:
        """Request to compile, rows and order chosen at the first state; None where no machine code can serve."""
        solver = DEFAULT_SOLVER if self.model.surfaces and options.get("passive", True) else EMBEDDING
        if not self.rows.calls.compiled or refusal(self.model, solver):
            return None
        request = self.requests.checked(q, time, solver, options)
        request = replace(request, quantity="constrained_derivatives")
        kernel = self.rows.calls.kernel(request)
        try:
            return None if kernel is None or not kernel.signature else request
        except LengthError:
            return None

    def _by_jets(self, part: SolvedRows, arguments: tuple[Any, ...], threads: int) -> Any:
        """The reference: every operation differentiated; by embedding where the mass matrix has no inverse."""
        request = replace(part.request, quantity="acceleration_derivatives")
        if not part.sound:
            q, time = np.atleast_2d(arguments[0])[0], float(np.ravel(arguments[3])[0])
            request = self.requests.ordered(replace(request, solver="maggi"), q, time)
        return self.rows.calls(request, arguments, None, threads)

    def _by_saddle(self, part: SolvedRows, arguments: tuple[Any, ...], threads: int) -> list[np.ndarray]:
        """The compiled derivatives of the balance of all rows, solved for the accelerations by the rows kept."""
        n, kept, every = self.model.nv, list(part.request.kept), len(self.rows.row_names)
        whole = replace(part.request, solver="", kept=(), rows=(), dependent=())
        M, F, A, b = self.rows.calls(replace(whole, quantity="terms"), arguments)
        A, b = A[..., kept, :], b[..., kept]
        K = np.zeros((*M.shape[:-2], n + len(kept), n + len(kept)))
        K[..., :n, :n], K[..., :n, n:], K[..., n:, :n] = M, -np.swapaxes(A, -1, -2), A
        solution = np.linalg.solve(K, np.concatenate([F, b], axis=-1)[..., None])[..., 0]
        lam = np.zeros((*M.shape[:-2], every))
        lam[..., kept] = solution[..., n:]
        kernel = self.rows.calls.kernels.get(
            replace(whole, quantity="balance_derivatives", kept=tuple(range(every)))
        )
        state, external = arguments[:4], arguments[4:]
        motion = (np.ascontiguousarray(solution[..., :n]), lam)
        balance = kernel.general(*state, *motion, *external, out=None, threads=threads)
        own = [*range(n), *(n + k for k in kept)]
        by_tau = np.broadcast_to(-np.eye(n + len(kept), n), (*M.shape[:-2], n + len(kept), n))
        return [
            -np.linalg.solve(K, x)[..., :n, :] for x in (*(y[..., own, :] for y in balance), by_tau)
        ]  # (CD1)


def _key(options: Mapping[str, Any], external: Mapping[str, Any]) -> tuple[Any, ...]:
    """Key of what the caller gave."""
    return (*(options.get(word) for word in ("method", "force", "passive")), *external)
