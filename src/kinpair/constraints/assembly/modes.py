"""Derivatives of the accelerations in the mode in force: with friction from load, and where joints stick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.assembly.requests import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities import Slopes
from kinpair.friction.phases.dry import DryStates, each_state, held_slopes
from kinpair.friction.phases.states import LoadedStates
from kinpair.quantities import Request

SINGULAR = 1e12  # condition of the matrix of all rates and rows
Place = tuple[int, ...]  # of a state in a batch; empty of one state


class Mode(NamedTuple):
    """A motion at one state: q̇ with zeros where it is rounding, q̈, λ of the rows kept, and the rates that stick."""

    qd: np.ndarray
    qdd: np.ndarray
    lam: np.ndarray
    held: np.ndarray


class ModeDerivatives:
    """Of a closure whose joints have dry friction: in floats, from compiled derivatives of the balance."""

    def __init__(self, rows: ConstraintRows, requests: Requests) -> None:
        self.rows, self.model, self.requests = rows, rows.model, requests

    @cached_property
    def dry(self) -> DryStates:
        """Dry friction of constant level."""
        return DryStates(self.model)

    def each(
        self,
        states: LoadedStates | None,
        request: Request,
        arguments: tuple[np.ndarray, ...],
        options: Mapping[str, Any],
        where: np.ndarray,
    ) -> Iterator[tuple[Place, list[np.ndarray] | None]]:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ of the states of `where`, by place; None in a singular position.

        `states` has friction from load; None where all of it is of constant level.
        """
        for own, there in self.requests.by_rows(request, arguments, where):
            if own is None:
                yield _first(there), None
                continue
            kept = replace(own, rows=(), dependent=())
            modes = self._of_levels(kept, arguments, options, there)
            if states is not None:
                modes = _of_loads(states, kept, arguments, there)
            yield from self._slopes(kept, modes)

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

    def _of_levels(
        self,
        request: Request,
        arguments: tuple[np.ndarray, ...],
        options: Mapping[str, Any],
        where: np.ndarray,
    ) -> Iterator[tuple[Place, Sequence[np.ndarray], Mode]]:
        """Where friction has constant levels."""
        for k, own in each_state(where, arguments):
            q, qd, tau, time, *wrenches = own
            external = dict(zip(request.external, wrenches, strict=True))
            state = q, qd, tau
            terms = self.rows.terms(state, time[0], {**options, "external": external}, external)
            M, F, A, _ = terms
            resting, found = self.dry.one((*state, time), terms)
            e = np.zeros(self.model.nv)
            e[self.dry.rates[resting]] = found.effort
            lam = _multipliers(A[list(request.kept)], M @ found.qdd - F - e)
            yield k, own, Mode(qd, found.qdd, lam, self.dry.sticking((*state, time), terms))


def _of_loads(
    states: LoadedStates, request: Request, arguments: tuple[np.ndarray, ...], where: np.ndarray
) -> Iterator[tuple[Place, Sequence[np.ndarray], Mode]]:
    """Where friction has its levels from loads."""
    for k, found in states.each(request, arguments, where):
        own = tuple(x[k] if x.ndim > 1 else x for x in arguments)
        M, F, A, *_ = (np.asarray(x, dtype=float) for x in states.numbers(request, own))
        lam = _multipliers(A.reshape(-1, len(F)), M @ found.qdd - F - states.efforts(found))
        yield k, own, Mode(states.without_rounding(own[1]), found.qdd, lam, states.sticking(found))


def _first(where: np.ndarray) -> Place:
    """Place of the first state."""
    return tuple(int(n) for n in np.argwhere(where)[0])


def _multipliers(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """λ of Aᵀλ = r."""
    return np.linalg.lstsq(A.T, r, rcond=None)[0]
