"""Friction of a mechanism where the compiled accelerations do not end: rates at rest, and solves that do not settle.

One object for both kinds: dry friction of constant level, and friction from load. Methods of a mechanism ask it which
states are to be solved again, and have them solved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.choice import holds_symbols
from kinpair.constraints.assembly import Closure
from kinpair.constraints.assembly.batch import at_time
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities import Request, request_of
from kinpair.forces.elements import elements_of, is_timed
from kinpair.friction.loads.dynamics import LEAN, is_brief, is_loaded
from kinpair.friction.phases.dry import DryStates, JointFriction, each_state
from kinpair.friction.surfaces.table import check_coefficients
from kinpair.model.model import Model

if TYPE_CHECKING:
    from kinpair.friction.phases.states import LoadedStates


class FrictionStates:
    """States of one model that friction holds; `closure` where there are constraints."""

    def __init__(self, model: Model, calls: Calls, closure: Closure | None) -> None:
        self.model, self._calls, self._closure = model, calls, closure

    @cached_property
    def dry(self) -> DryStates:
        """Solves in floats where joints have dry friction of constant level."""
        return DryStates(self.model)

    @cached_property
    def operated(self) -> bool:
        """True if an input operates friction."""
        return any(x.nu and x.sticks for x in elements_of(self.model, driven=True))

    @cached_property
    def loaded(self) -> LoadedStates:
        """Solves in floats where joints have friction from load."""
        from kinpair.friction.phases.states import LoadedStates  # few mechanisms need them

        return LoadedStates(self.model, self._calls, still=0.0)

    @cached_property
    def rough(self) -> bool:
        """True if there is dry friction of constant level."""
        return len(self.dry.rates) > 0

    def moving(self, *, passive: bool) -> tuple[int, ...]:
        """Numbers of the rates that must not be zero where compiled accelerations are all there is to say."""
        if self._closure is None and is_loaded(self.model, passive=passive):
            return tuple(self.loaded.rates.tolist())
        return tuple(self.dry.rates.tolist()) if passive and self.rough else ()

    def rests(self, qd: Any) -> bool:
        """True if a rate with dry friction is zero in any state."""
        return (
            self.rough
            and not holds_symbols(qd)
            and bool(self.dry.needed(self._calls.checked("qd", qd)).any())
        )

    def held(
        self, qdd: Any, state: tuple[Any, ...], time: Any, options: Mapping[str, Any], u: Any = None
    ) -> Any:
        """q̈ with states (q, qd, tau) solved again in which a rate with dry friction is zero that no load makes; with
        inputs u also such that inputs operate."""
        dry = self.dry if u is None else DryStates(self.model, driven=True, passive=options["passive"])
        moment = np.asarray(time, dtype=float)[..., None]
        inputs = () if u is None else (u,)
        arrays = tuple(np.asarray(x, dtype=float) for x in (*state, moment, *inputs))
        if not np.isfinite(arrays[2]).all():  # efforts of what inputs operate
            dry.check(*arrays[:2], np.zeros_like(arrays[1]), *arrays[3:])
        again = dry.needed(arrays[1])
        if again.ndim < np.ndim(qdd) - 1:
            again = np.broadcast_to(again, np.shape(qdd)[:-1])
        if again.any() and is_loaded(self.model, passive=options["passive"]):
            for k, (*own, moment, u) in each_state(again, arrays):
                external = {name: np.asarray(w)[k] for name, w in (options.get("external") or {}).items()}
                states, request, arguments = self.load_state(tuple(own), float(moment[0]), external)
                qdd[k] = states.at(float(moment[0]), u).one(request, arguments).qdd
        elif again.any():
            qdd[...] = dry.forward(arrays, qdd, again, self.free_terms(time, options))
        return qdd

    def check_levels(self, time: Any) -> None:
        """Refuse times at which a level is below zero."""
        if is_timed(self.model):
            still, moments = np.zeros(self.model.nv), at_time(time)
            self.dry.check(self.model.neutral(), still, still, moments)
            for moment in moments.reshape(-1).tolist():
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
            request, arguments = self._under_load(state, external, time)
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
        if self.model.surfaces:
            if any(x.jumps for x in self.loaded.surfaces):
                self._by_balance(arrays, qdd, time, external, by)
            return self.loaded.held_slopes(*self._under_load(arrays, external, time), by)
        terms = self.free_terms(time, {"passive": True, "external": external})
        return self.dry.held_slopes((*arrays, np.asarray(time, dtype=float)[..., None]), by, terms)

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
        if self.model.surfaces:
            states, request, arguments = self.load_state(state, time, external)
            return states.by_rate(request, arguments)
        if not self.rough:
            return {}
        terms = self.free_terms(time, {"passive": True, "external": external})
        return self.dry.by_rate((*state, np.array([time])), terms((), *state))

    def load_state(
        self, state: tuple[np.ndarray, ...], time: float, external: Mapping[str, Any]
    ) -> tuple[LoadedStates, Request, tuple[np.ndarray, ...]]:
        """Solver of one state in floats where joints have friction from load, and its arguments."""
        if self._closure is not None:
            return self._closure.dynamics.load_state(state, time, external)
        return self.loaded, *self._under_load(state, external, time)

    def _under_load(
        self, state: tuple[Any, ...], external: Mapping[str, Any], time: Any
    ) -> tuple[Request, tuple[np.ndarray, ...]]:
        """Request and arguments of states of a tree."""
        moment = (np.asarray(time, dtype=float)[..., None],) if is_timed(self.model) else ()
        arrays = tuple(np.asarray(x, dtype=float) for x in (*state, *moment, *external.values()))
        return replace(request_of("forward_dynamics", external=external), method=""), arrays

    def free_terms(self, time: Any, options: Mapping[str, Any]) -> Callable[..., Any]:
        """M, F, A and b of state k of a batch, or of one, as a function of (k, q, qd, tau)."""
        external = {name: np.asarray(w, dtype=float) for name, w in (options.get("external") or {}).items()}

        def terms(k: tuple[int, ...], q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Any:
            own = {name: w[k] if w.ndim > 1 else w for name, w in external.items()}
            when = np.asarray(time, dtype=float)
            when = when[k] if when.ndim and k else when
            if self._closure is not None:
                return self._closure.terms((q, qd, tau), when, {**options, "external": own}, own)
            bias = request_of("bias_forces", external=own, passive=options["passive"])
            moment = (np.array([when]),) if is_timed(self.model) else ()
            h, nv = self._calls(bias, (q, qd, *moment, *own.values())), self.model.nv
            H = self._calls(request_of("mass_matrix"), (q,))
            return H, tau - h, np.zeros((0, nv)), np.zeros(0)

        return terms
