"""Friction from load in a motion under constraints that is given: it depends on the multipliers, and they on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constraints.assembly.batch import at_time, named
from kinpair.constraints.assembly.rank import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.assembly.sharing import SharedLoads
from kinpair.constraints.quantities import friction
from kinpair.constraints.rounding import OPEN_LOAD
from kinpair.constraints.rounding import STILL_RATE as STILL
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.errors import SingularError, listed
from kinpair.evaluation.arguments import Arguments
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.friction.loads import contraction
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.state import State

if TYPE_CHECKING:
    from kinpair.friction.phases.states import RestingStates


class Rubbing:
    """Friction from load in the joints of a closure, zero without surfaces; `passive` False leaves it out."""

    def __init__(self, rows: ConstraintRows, shares: SharedLoads, requests: Requests) -> None:
        self.rows, self.model, self.shares, self.requests = rows, rows.model, shares, requests
        self.surfaces = surfaces_of(self.model)

    def acts(self, *, passive: bool = True) -> bool:
        """True if a surface has friction."""
        return passive and len(self.surfaces) > 0

    @cached_property
    def is_compiled(self) -> bool:
        """True if compiled code finds the loads of a motion: none jumps, and it can be proved that no others fit."""
        return contraction.is_bounded(self.surfaces) and not any(x.jumps for x in self.surfaces)

    @cached_property
    def states(self) -> RestingStates:
        """Solves in floats; refused where no motion determines the loads."""
        from kinpair.friction.phases.states import RestingStates  # few runs need them

        self.check()
        return RestingStates(self.model, self.rows.calls, "loaded_terms", STILL if self.acts() else 0.0)

    def state(
        self,
        state: tuple[np.ndarray, ...],
        time: float,
        external: Mapping[str, Any],
        *,
        passive: bool = True,
    ) -> tuple[Request, tuple[np.ndarray, ...]]:
        """Request of these solves at one state, and its arguments."""
        if not self.acts(passive=passive):
            request = request_of("forward_dynamics", external=external, passive=passive)
            arrays = (np.asarray(x, dtype=float) for x in (*state, at_time(time), *external.values()))
            return request, tuple(arrays)
        options = {"method": None, "force": False, "passive": True, "external": external}
        chosen, q = (
            self.requests.checked(state[0], time, DEFAULT_SOLVER, options),
            np.asarray(state[0], dtype=float),
        )
        request = self.requests.fitting(chosen, q, time)
        if request is None:
            raise self.requests.singular("friction from load", chosen, q, None)
        arrays = (np.asarray(x, dtype=float) for x in (*state, at_time(time), *external.values()))
        return replace(request, rows=(), dependent=()), tuple(arrays)

    def efforts(
        self,
        state: tuple[np.ndarray, ...],
        time: float,
        external: Mapping[str, Any],
        which: str = "",
        *,
        passive: bool = True,
    ) -> np.ndarray:
        """Efforts of friction from load (nv,) at a state q, q̇, τ."""
        if not self.acts(passive=passive):
            return np.zeros(self.model.nv)
        request, arguments = self.state(state, time, external)
        return self.states.efforts(self.states.one(request, arguments, which))

    def with_friction(
        self,
        x: Arguments,
        terms: Sequence[np.ndarray],
        answer: Callable[[np.ndarray, np.ndarray], np.ndarray],
        numbers: Sequence[int] | None = None,
        *,
        passive: bool = True,
    ) -> Sequence[np.ndarray]:
        """Terms M, F, A, b with friction in F. The state is q, q̇, time, q̈, and efforts τ where they are given.

        `answer`: multipliers of rows A and of the efforts that the motion asks for. `numbers` of the states in the
        batch of the caller, for messages.
        """
        if not self.acts(passive=passive):
            return terms
        M, F, A, b = terms
        if x.batch is None:
            return M, F + self._one(x.state, x.external, terms, answer), A, b
        found = np.zeros((x.batch, self.model.nv))
        for k in range(x.batch):
            state = [y[k] if y.ndim > 1 else y for y in x.state]
            wrenches = {name: y[k] if y.ndim > 1 else y for name, y in x.external.items()}
            own = [y[k] if y.ndim > n else y for y, n in zip(terms, (2, 1, 2, 1), strict=True)]
            if all(np.isfinite(y).all() for y in (*state, *own)):
                found[k] = self._one(
                    state, wrenches, own, answer, named(k if numbers is None else numbers[k])
                )
        return M, F + found, A, b

    def _one(
        self,
        state: Sequence[np.ndarray],
        wrenches: Mapping[str, np.ndarray],
        terms: Sequence[np.ndarray],
        answer: Callable[[np.ndarray, np.ndarray], np.ndarray],
        which: str = "",
    ) -> np.ndarray:
        q, qd, time, qdd, *given = state
        M, F, A, _ = terms
        every = tuple(range(len(self.rows.row_names)))
        method = request_of("inverse_dynamics").method
        request = Request("", method, external=tuple(wrenches), kept=every)
        first = M @ qdd - F - (given[0] if given else 0.0)
        still = np.zeros(self.model.nv)
        arguments = (q, qd, still, time, *wrenches.values())
        multipliers, own = self._shared(state, wrenches, lambda r: answer(A, r))
        return self.states.of_motion(request, arguments, qdd, first, multipliers, own, which)

    def _shared(
        self,
        state: Sequence[np.ndarray],
        wrenches: Mapping[str, np.ndarray],
        least: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[Callable[[np.ndarray], np.ndarray], np.ndarray]:
        """Multipliers by efforts as compliances share them, and those by which the motion itself adds to them."""
        q, qd, moment, qdd, *_ = state
        time = float(moment[0])
        if not self.shares.acts:
            return least, np.zeros(len(self.rows.row_names))
        W = self.shares.by_multiplier(q, time)

        def shared(r: np.ndarray) -> np.ndarray:
            lam = least(r)
            return lam + self.shares.added(q, time, W @ lam)

        return shared, self.shares.added(q, time, self.shares.of_motion((q, qd, qdd), wrenches))

    def check(self, *, passive: bool = True) -> None:
        """Refuse friction whose load no motion determines."""
        if self.acts(passive=passive) and self._refusal is not None:
            raise self._refusal

    @cached_property
    def _refusal(self) -> SingularError | None:
        model, q = self.model, self.requests.assembly.start()
        lost = self.shares.left_open(q, 0.0)
        if not lost.size:
            return None
        every = tuple(range(len(self.rows.row_names)))
        columns = friction.load_columns(model, Request("", kept=every), State(q, np.zeros(model.nv)))
        L = np.asarray(columns, dtype=float)
        stressed = np.abs(L @ lost).max(axis=1) > OPEN_LOAD * np.abs(L).max()
        start = 0
        for x in self.surfaces:
            stop = start + len(x.forms(np.zeros(6), q[model.q_span[x.body]]))
            if stressed[start:stop].any():
                return self._not_unique(q, model.joint_names[x.body])
            start = stop
        return None

    def _not_unique(self, q: np.ndarray, joint: str) -> SingularError:
        among = self.shares.not_unique(q, 0.0)
        more = "more parts than those that have one" if self.shares.acts else "the parts that share"
        return SingularError(
            f"{self.model.name}: friction in joint {joint!r} depends on its load, which the motion does not determine: "
            "redundant constraints share it. Close a plane linkage by a plane pin (a loop of kind 'pin'), which leaves "
            f"no row redundant; or give {more} a compliance ({listed(among, 6)}); or give this joint friction of a "
            "constant level",
            joint=joint,
        )
