"""Friction of a mechanism where the compiled accelerations do not end: rates at rest, and solves that do not settle.

Methods of a mechanism ask it which states are to be solved again, and have them solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.choice import holds_symbols
from kinpair.constraints.assembly.batch import at_time
from kinpair.constraints.assembly.closure import Closure
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.forces.elements import elements_of, is_timed
from kinpair.friction.loads.dynamics import LEAN, is_brief
from kinpair.friction.phases.dry import JointFriction, each_state, level_surfaces
from kinpair.friction.surfaces.table import check_coefficients
from kinpair.model.model import Model

if TYPE_CHECKING:
    from kinpair.friction.phases.states import RestingStates


class FrictionStates:
    """States of one model that friction holds; `closure` where there are constraints."""

    def __init__(self, model: Model, calls: Calls, closure: Closure | None) -> None:
        self.model, self._calls, self._closure = model, calls, closure

    @cached_property
    def loaded(self) -> RestingStates:
        """Solves in floats where joints have friction."""
        return self._states()

    def _states(self, *, passive: bool = True) -> RestingStates:
        if self._closure is not None:
            return self._closure.dynamics.states_at_rest(passive=passive)
        from kinpair.friction.phases.states import RestingStates  # few mechanisms need them

        return RestingStates(self.model, self._calls, still=0.0, passive=passive)

    def _rates(self, *, passive: bool = True, driven: bool = False) -> list[int]:
        """Numbers of the rates with dry friction."""
        every = elements_of(self.model, passive=passive, driven=driven)
        return sorted({k for x in every for k in x.sticks})

    @cached_property
    def operated(self) -> bool:
        """True if an input operates friction."""
        return any(x.nu and x.sticks for x in elements_of(self.model, driven=True))

    @cached_property
    def rough(self) -> bool:
        """True if there is dry friction of a level."""
        return any(x.sticks and not x.from_load for x in elements_of(self.model))

    def moving(self, *, passive: bool) -> tuple[int, ...]:
        """Numbers of the rates that must not be zero where compiled accelerations are all there is to say."""
        return tuple(self._rates()) if passive else ()

    def rests(self, qd: Any) -> bool:
        """True if a rate with dry friction is zero in any state."""
        rates = self._rates()
        if not rates or holds_symbols(qd):
            return False
        return bool((self._calls.checked("qd", qd)[..., rates] == 0.0).any())

    def held(
        self, qdd: Any, state: tuple[Any, ...], time: Any, options: Mapping[str, Any], u: Any = None
    ) -> Any:
        """q̈ with states (q, qd, tau) solved again in which a rate with dry friction is zero; with inputs u those of
        friction that inputs operate as well."""
        passive, inputs = bool(options["passive"]), () if u is None else (u,)
        arrays = tuple(np.asarray(x, dtype=float) for x in (*state, np.expand_dims(time, -1), *inputs))
        if not np.isfinite(arrays[2]).all():  # efforts of what inputs operate
            self._check_operated(*arrays[3:], passive=passive)
        rates = self._rates(passive=passive, driven=u is not None)
        again = np.asarray((arrays[1][..., rates] == 0.0).any(-1))
        if again.ndim < np.ndim(qdd) - 1:
            again = np.broadcast_to(again, np.shape(qdd)[:-1])
        for k, own in each_state(again, arrays):
            external = {
                name: w[k] if np.ndim(w) > 1 else w for name, w in (options.get("external") or {}).items()
            }
            moment = float(own[3][0])
            states, request, arguments = self.load_state(own[:3], moment, external, passive=passive)
            qdd[k] = states.at(moment, *own[4:]).one(request, arguments).qdd
        return qdd

    def _check_operated(self, moments: np.ndarray, *u: np.ndarray, passive: bool) -> None:
        """Refuse a level below zero at times (…, 1) and inputs u (…, nu)."""
        where = np.ones(np.broadcast_shapes(*(x.shape[:-1] for x in (moments, *u))), dtype=bool)
        for _, own in each_state(where, (moments, *u)):
            level_surfaces(self.model, float(own[0][0]), *own[1:], passive=passive)

    def check_levels(self, time: Any) -> None:
        """Refuse times at which a level is below zero."""
        if is_timed(self.model):
            for moment in at_time(time).reshape(-1).tolist():
                level_surfaces(self.model, moment)
                check_coefficients(replace(self.model, time=moment))

    def settled(
        self,
        qdd: Any,
        sound: np.ndarray,
        state: tuple[Any, ...],
        external: Mapping[str, Any],
        time: Any = 0.0,
    ) -> Any:
        """q̈ of a tree with states solved again that are at rest under friction from load, or where `sound` says that
        the loads were not found."""
        again = self.loaded.needed(np.asarray(state[1], dtype=float), sound)
        if again.any():
            request, arguments = self._of_tree(state, external, time)
            if is_brief(self.model):
                again = self._met_closer(request, arguments, qdd, again)
            qdd[...] = self.loaded.forward(request, arguments, qdd, again)
        return qdd

    def _met_closer(
        self, request: Request, arguments: tuple[np.ndarray, ...], qdd: np.ndarray, again: np.ndarray
    ) -> np.ndarray:
        """Writes q̈ of moving states by more sweeps, and reports which states are still to be solved."""
        moving = again & ~self.loaded.rests(arguments[1])
        if not moving.any():
            return again
        own = tuple(x[moving] if x.ndim > 1 else x for x in arguments)
        closer = replace(request, quantity="forward_dynamics_closer", method=LEAN)
        qdd[moving], soundness = self._calls(closer, own)
        left = again.copy()
        left[moving] = soundness[..., 2] != 1.0
        return left

    def slopes(
        self,
        state: tuple[Any, ...],
        qdd: np.ndarray,
        time: Any,
        external: Mapping[str, Any],
        by: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """Derivatives of accelerations of a tree without what sticks: those of the mode in force."""
        values = zip(("q", "qd", "tau"), state, strict=True)
        arrays = tuple(self._calls.checked(name, x) for name, x in values)
        if any(x.jumps for x in self.loaded.surfaces):
            self._by_balance(arrays, qdd, time, external, by)
        return self.loaded.held_slopes(*self._of_tree(arrays, external, time), by)

    def _by_balance(
        self,
        state: tuple[np.ndarray, ...],
        qdd: np.ndarray,
        time: Any,
        external: Mapping[str, Any],
        by: Sequence[np.ndarray],
    ) -> None:
        """Write the derivatives at the efforts of the state (FD2), where several efforts may give one motion."""
        own = request_of("forward_dynamics", external=external)
        request = replace(own, quantity="balance_slopes", solver="", kept=())
        arguments = (*state, np.asarray(time, dtype=float)[..., None], qdd, np.zeros(0), *external.values())
        for k in np.ndindex(qdd.shape[:-1]):
            here = tuple(x[k] if np.ndim(x) > 1 else np.asarray(x, dtype=float) for x in arguments)
            slopes = self._calls(request, here)
            for whole, part in zip(by, slopes[:3], strict=True):
                whole[k] = -np.linalg.solve(slopes[3], part)

    def by_rate(
        self, state: tuple[np.ndarray, ...], time: float, external: Mapping[str, Any]
    ) -> dict[str, JointFriction]:
        """Dry friction in one state, by name of the rate."""
        if not self._rates():
            return {}
        states, request, arguments = self.load_state(state, time, external)
        return states.by_rate(request, arguments)

    def load_state(
        self,
        state: tuple[np.ndarray, ...],
        time: float,
        external: Mapping[str, Any],
        *,
        passive: bool = True,
    ) -> tuple[RestingStates, Request, tuple[np.ndarray, ...]]:
        """Return what solves one state in floats, the request and its arguments."""
        states = self.loaded if passive else self._states(passive=False)
        if self._closure is not None:
            asked = self._closure.dynamics.rubbing.state(state, time, external, passive=passive)
        else:
            asked = self._of_tree(state, external, time, passive=passive)
        return states, *asked

    def _of_tree(
        self, state: tuple[Any, ...], external: Mapping[str, Any], time: Any, *, passive: bool = True
    ) -> tuple[Request, tuple[np.ndarray, ...]]:
        """Request and arguments of states of a tree."""
        moment = (np.asarray(time, dtype=float)[..., None],) if is_timed(self.model) else ()
        arrays = tuple(np.asarray(x, dtype=float) for x in (*state, *moment, *external.values()))
        request = request_of("forward_dynamics", external=external, passive=passive)
        return replace(request, method=""), arrays
