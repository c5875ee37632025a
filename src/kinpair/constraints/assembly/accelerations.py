"""Accelerations with every row in force.

Rows that say nothing new are left out of the compiled equations; the compiled solve reports how sound it was and
whether the rows left out hold too, and a state where that is uncertain is solved again by a rank-revealing
factorisation of floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.choice import holds_symbols
from kinpair.constraints.assembly.batch import at_time, copied, state_of
from kinpair.constraints.assembly.forces import AnyRank
from kinpair.constraints.assembly.long import LongLoops
from kinpair.constraints.assembly.rank import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.assembly.rubbing import Rubbing
from kinpair.constraints.quantities.solution import rows_sound
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.evaluation.quantities.request import Request
from kinpair.friction.phases.states import RestingStates


class Solved(NamedTuple):
    """Result of the compiled equations: q̈, how sound it is, and one where that is as it should be."""

    qdd: np.ndarray
    soundness: np.ndarray
    sound: Any


class SolvedRows(NamedTuple):
    """Rows and order of a solve, in which states (batch,) it was made, and whether it was sound there."""

    request: Request
    where: np.ndarray
    sound: bool


class Answer(NamedTuple):
    """q̈, and the solves that gave it."""

    qdd: np.ndarray
    parts: list[SolvedRows]

    @property
    def request(self) -> Request:
        """The request to begin with the next time."""
        return self.parts[-1].request


class ClosedAccelerations:
    """Solves for the accelerations of a closure."""

    def __init__(self, rows: ConstraintRows, requests: Requests, any_rank: AnyRank, long: LongLoops) -> None:
        self.rows, self.requests, self.any_rank, self.long = rows, requests, any_rank, long
        self._usual: dict[tuple[Any, ...], tuple[Request, Any]] = {}

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
        if solver == DEFAULT_SOLVER and not external and self.long.used and not holds_symbols(state[0]):
            qdd = self.long.accelerations(state, {**options, "external": None}, threads)
            return qdd if out is None else copied(qdd, out)
        key = _key(solver, options, external)
        usual = self._usual.get(key)
        request, call = usual or self._request(state[0], time, solver, options)
        arguments = (*state, at_time(time), *external.values())
        qdd, soundness, sound = call(*arguments) if threads == 1 else call(*arguments, threads=threads)
        if self.rubbing.acts(passive=request.passive) and not holds_symbols(sound):
            qdd = self._rubbed(request, arguments, qdd, soundness, sound)
        elif not _everywhere(sound):
            answer = self._solved_closely(request, arguments, threads, Solved(qdd, soundness, sound))
            qdd, usual = answer.qdd, self._remembered(key, answer.request)
        if usual is None:
            self._remembered(key, request)
        return qdd if out is None else copied(qdd, out)

    def known(self, solver: str, options: Mapping[str, Any], external: Mapping[str, Any]) -> Request | None:
        """Result of compiled code, if it was called before."""
        return self._usual.get(_key(solver, options, external), (None,))[0]

    @property
    def rubbing(self) -> Rubbing:
        """Friction from load."""
        return self.any_rank.drives.rubbing

    def states_at_rest(self, *, passive: bool = True) -> RestingStates:
        """Return the solves in floats where joints have friction."""
        if passive:
            return self.rubbing.states
        return RestingStates(self.rows.model, self.rows.calls, "loaded_terms", still=0.0, passive=False)

    def _rubbed(
        self, request: Request, arguments: tuple[Any, ...], qdd: Any, soundness: Any, sound: Any
    ) -> np.ndarray:
        """q̈ with states solved again in which surfaces are at rest, or the compiled loads are not sound."""
        q, qd, time = arguments[0], np.asarray(arguments[1], dtype=float), arguments[3]
        states = self.rubbing.states
        again = states.needed(qd, np.asarray(sound))
        if not again.any():
            return qdd
        self.rows.check_numbers(q)
        self.rows.check_gaps(q, time, np.asarray(soundness)[..., 3])
        arrays, found = tuple(np.asarray(x, dtype=float) for x in arguments), np.array(qdd)
        for own, where in self.requests.by_rows(request, arrays, again):
            if own is None:
                k = tuple(np.argwhere(where)[0].tolist())
                at, row = arrays[0][k] if arrays[0].ndim > 1 else arrays[0], k[0] if k else None
                raise self.requests.singular("accelerations with friction from load", request, at, row)
            found = states.forward(replace(own, rows=(), dependent=()), arrays, found, where)
        return found

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
        key = _key(solver, options, external)
        request, _ = self._usual.get(key) or self._request(state[0], time, solver, options)
        arguments = (*state, at_time(time), *external.values())
        outcome = Solved(*self.rows.calls(request, arguments, None, threads))
        if _everywhere(outcome.sound):
            answer = Answer(
                outcome.qdd, [SolvedRows(request, np.ones(np.size(outcome.sound), dtype=bool), True)]
            )
        else:
            answer = self._solved_closely(request, arguments, threads, outcome)
        self._remembered(key, answer.request)
        return answer

    def _request(self, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> tuple[Request, Any]:
        """The request, its rows chosen at q, and what answers it; where q holds symbols, at the start."""
        if holds_symbols(q):
            q, time = self.requests.assembly.start(), 0.0
        request = self.requests.checked(q, time, solver, options)
        return request, self._caller(request)

    def _caller(self, request: Request) -> Any:
        return self.rows.calls.direct(request, self.rows.calls.caller_of(request))

    def _remembered(self, key: tuple[Any, ...], request: Request) -> tuple[Request, Any]:
        """The request that answered what the caller gave, to begin with the next time, if that was nothing unusual."""
        if self._usual.get(key, (None,))[0] == request:
            return self._usual[key]
        usual = request, self._caller(request)
        if key:
            self._usual[key] = usual
        return usual

    def _solved_closely(
        self, request: Request, arguments: tuple[Any, ...], threads: int, solved: Solved
    ) -> Answer:
        """States that are not sound: refused, or solved by other rows in another order, or with the rank found anew.

        The rows that do last are the last part: they are tried first the next time.
        """
        q, _, _, time, *_ = arguments
        self.rows.check_numbers(q)
        self.rows.check_gaps(q, time, solved.soundness[..., 3])
        qdd, unsound = np.atleast_2d(solved.qdd).copy(), np.atleast_1d(np.asarray(solved.sound) != 1.0)
        parts, tried = [SolvedRows(request, ~unsound, True)], [request]
        dependent = ~(np.atleast_1d(solved.soundness[..., 1]) > rows_sound(request.solver))
        while (fresh := self.requests.anew(tried, arguments, unsound & dependent)) is not None:
            tried.append(fresh)
            better = Solved(*self.rows.calls(fresh, arguments, None, threads))
            mended = unsound & np.atleast_1d(np.asarray(better.sound) == 1.0)
            if mended.any():
                qdd[mended] = np.atleast_2d(better.qdd)[mended]
                parts.append(SolvedRows(fresh, mended, True))
                unsound = unsound & ~mended
        if unsound.any():
            self._solve_again(qdd, unsound, request, arguments, np.ndim(solved.qdd) == 2)
            parts.insert(0, SolvedRows(request, unsound, False))
        return Answer(qdd.reshape(np.shape(solved.qdd)), parts)

    def _solve_again(
        self, qdd: np.ndarray, unsound: np.ndarray, request: Request, arguments: tuple[Any, ...], batch: bool
    ) -> None:
        """Doubtful states by a rank-revealing factorisation, into their rows of q̈; a row without numbers keeps them."""
        whole = replace(request, quantity="terms", solver="", kept=(), rows=(), dependent=())
        for k in np.flatnonzero(unsound).tolist():
            own = tuple(state_of(x, k) for x in arguments)
            if not all(np.isfinite(x).all() for x in own):
                continue
            q, qd, time = own[0], own[1], float(own[3][0])
            self.rows.defined_rows(q, qd, time)
            qdd[k] = self.any_rank.solve(self.rows.calls(whole, own), q, qd, time, k if batch else None).qdd


def _key(solver: Any, options: Mapping[str, Any], external: Mapping[str, Any]) -> tuple[Any, ...]:
    """Key of what the caller gave, to know it again; nothing if it was unusual."""
    if options.get("method") is not None or type(external) is not dict or type(solver) is not str:
        return ()
    return solver, bool(options.get("passive", True)), bool(options.get("force")), *external


def _everywhere(sound: Any) -> bool:
    """True if it is one in every state. Of symbols it is not known."""
    if type(sound) is float:
        return sound == 1.0
    return holds_symbols(sound) or bool(np.all(sound == 1.0))
