"""Modes of a motion: which constraints hold, and which limits are held. Each has its own compiled loop.

A mode is data; its stage, with dynamics, guards and loop, is made when it is first entered, and kept. The state is the
same in all of them, so a run goes from one to another at any time. Modes are numbered as they are entered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair import constrained
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Motion
from kinpair.description.conditions import Condition, Given
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.held import held
from kinpair.simulation.systems import model_to_move

PULL = 1e-9  # [N], [N m]: a limit lets go when it would have to pull by more


@dataclass(frozen=True, slots=True)
class Mode:
    """Conditions beyond those of the description, names of those that hold no longer, and limits that are held."""

    add: tuple[Condition, ...] = ()
    remove: frozenset[str] = frozenset()
    held: tuple[Limit, ...] = ()

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return tuple(repr(replace(x, where="")) for x in self.add), self.remove, self.held


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A mode, and where it was first entered: which of its rows are solved for is decided there."""

    mode: Mode
    q: np.ndarray
    time: float


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """One guard: an `event`, the `gap` or the `rate` of a limit, or its `push` while it is held."""

    kind: str
    event: Event | None = None
    limit: Limit | None = None
    small: float = (
        0.0  # values of an event below this are zero: a constraint that has begun may hold it there
    )


@dataclass(frozen=True, slots=True)
class Terms:
    """M, F, A, ψ and b in numbers."""

    M: np.ndarray
    F: np.ndarray
    A: np.ndarray
    psi: np.ndarray
    b: np.ndarray


def _hold(limit: Limit) -> Given:
    return Given(limit.label, phi=lambda q, t: limit.gap(q))


def _without(mechanism: Mechanism, names: frozenset[str]) -> Mechanism:
    """The same mechanism without conditions of these names."""
    description, options = mechanism.model.description, mechanism.model.options
    kept = tuple(x for x in description.conditions if x.name not in names)
    model = build(replace(description, conditions=kept), snap=options.snap, merge_fixed=options.merge_fixed)
    return Mechanism(model, compiled=mechanism.compiled)


def mechanism_in(base: Mechanism, mode: Mode) -> Mechanism:
    """The one that moves in a mode."""
    if mode.key == Mode().key:
        return base
    left = _without(base, mode.remove) if mode.remove else base
    return left.with_constraints(*mode.add, *(_hold(x) for x in mode.held))


class Modes:
    """All modes of a run."""

    def __init__(
        self,
        wish: Any,
        events: tuple[Event, ...],
        recorded: tuple[bool, ...],
        limits: tuple[Limit, ...],
        *,
        solver: str | None,
        hold: str,
        alpha: float,
        adaptive: bool,
    ) -> None:
        self.wish, self.limits, self.adaptive = wish, limits, adaptive
        self.traced = [event for event, can in zip(events, recorded, strict=True) if can]
        self.called = [event for event, can in zip(events, recorded, strict=True) if not can]
        self.constraints = (solver, hold, alpha)
        self.small: dict[str, float] = {}  # rounding of the functions of events
        self.entered: list[Entry] = []
        self._stages: dict[Any, Stage] = {}
        self._mechanisms: dict[Any, Mechanism] = {}

    @property
    def events(self) -> tuple[Event, ...]:
        """All that are watched for."""
        return (*self.traced, *self.called)

    @property
    def names(self) -> list[str]:
        """Of what may happen."""
        ends = [name for limit in self.limits for name in (limit.label, limit.leaving)]
        return [*(event.name for event in self.events), *ends]

    def mechanism(self, mode: Mode) -> Mechanism:
        """The one that moves in a mode."""
        if mode.key not in self._mechanisms:
            self._mechanisms[mode.key] = mechanism_in(self.wish.mechanism, mode)
        return self._mechanisms[mode.key]

    def stage(self, mode: Mode, q: np.ndarray, time: float) -> Stage:
        """Dynamics, guards and loop of a mode that is entered at q."""
        if mode.key not in self._stages:
            known = next((x for x in self.entered if x.mode.key == mode.key), None)
            entry = known or Entry(mode, q.copy(), time)
            self._stages[mode.key] = self._made(entry)
            if known is None:
                self.entered.append(entry)
        return self._stages[mode.key]

    def number(self, mode: Mode) -> int:
        """Of a mode that was entered."""
        return next(k for k, x in enumerate(self.entered) if x.mode.key == mode.key)

    def _made(self, entry: Entry) -> Stage:
        mode, q, time = entry.mode, entry.q, entry.time
        m = self.mechanism(mode)
        model = model_to_move(m.model, q, np.zeros(m.nv), time)
        constraints = held(m, q, time, *self.constraints)
        wish = replace(self.wish, mechanism=m, model=model, held=constraints, tallied=True)
        small = self.small if mode.add else {}
        watched = [Watched("event", event=x, small=small.get(x.name, 0.0)) for x in self.traced]
        for limit in self.limits:
            kinds = ("push",) if limit in mode.held else ("gap", "rate")
            watched += [Watched(kind, limit=limit) for kind in kinds]
        return Stage(mode, m, wish, tuple(watched), self.adaptive)


class Stage:
    """A mode ready to run."""

    def __init__(
        self, mode: Mode, mechanism: Mechanism, wish: Any, watched: tuple[Watched, ...], adaptive: bool
    ) -> None:
        self.mode, self.mechanism, self.wish, self.adaptive = mode, mechanism, wish, adaptive
        self.d: Dynamics = wish.dynamics
        self.watched = tuple(x for x in watched if x.kind != "push" or self._row(x.limit) is not None)

    @cached_property
    def loop(self) -> Any:
        """Compiled."""
        return self.wish.loop(self.adaptive, guard=self.guards if self.watched else None)

    def _row(self, limit: Limit | None) -> int | None:
        """Where a held limit stands among the rows solved for; None: other rows hold it already."""
        closure, own = self.mechanism.closure, self.d.held
        if closure is None or own is None or limit is None or limit.label not in closure.row_names:
            return None
        row = closure.row_names.index(limit.label)
        return own.ask.kept.index(row) if row in own.ask.kept else None

    def guards(self, d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
        """What is watched: positive on the near side of limits."""
        q, qd, _ = d.parts(y)
        lam = self._pushes(d, time, q, qd, u) if any(x.kind == "push" for x in self.watched) else np.zeros(0)
        return array([_VALUES[x.kind](self, x, time, q, qd, lam) for x in self.watched])

    def of_event(self, x: Watched, time: Scalar, q: Vector, qd: Vector, lam: Vector) -> Scalar:
        """The user's function."""
        assert x.event is not None
        value = x.event.function(time, q, qd)
        return where(less(np.abs(value), x.small), 0.0, value) if x.small else value

    def of_limit(self, x: Watched, time: Scalar, q: Vector, qd: Vector, lam: Vector) -> Scalar:
        """Gap, its rate, or the push of what holds it."""
        limit = x.limit
        assert limit is not None
        if x.kind == "push":
            row = self._row(limit)
            assert row is not None
            return lam[row] + PULL
        return limit.gap(q) + limit.slack if x.kind == "gap" else limit.rate(qd)

    def _pushes(self, d: Dynamics, time: Scalar, q: Vector, qd: Vector, u: Vector) -> Vector:
        """Multipliers of the rows solved for."""
        assert d.held is not None
        tau, loads = d.efforts(time, q, qd, u), d.loads(time, q, qd, u)
        ask, model = d.held.own(d.ask), d.model
        M, F = constrained.free_terms(model, ask, q, qd, tau, time, loads)
        found = all_rows.rows_at(constraints_of(model), Motion(model, q, time, qd))
        given = constrained.problem(model, ask, M, F, found)
        return constrained.OF_MODEL[ask.solver](model, ask, q, qd, tau, time, loads, given).lam

    def terms(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> Terms:
        """The equations of motion at a state."""
        d = self.d.concrete(p)
        q, qd, _ = d.parts(y)
        tau, loads = d.efforts(time, q, qd, u), d.loads(time, q, qd, u)
        M, F = constrained.free_terms(d.model, d.ask, q, qd, tau, time, loads)
        found = all_rows.rows(d.model, constraints_of(d.model), q, qd, time)
        A = np.asarray(found.A, dtype=float).reshape(-1, d.model.nv)
        psi, b = (np.asarray(x, dtype=float).reshape(-1) for x in (found.psi, found.b))
        return Terms(np.asarray(M, dtype=float), np.asarray(F, dtype=float), A, psi, b)


_VALUES: dict[str, Callable[..., Any]] = {
    "event": Stage.of_event,
    **dict.fromkeys(("gap", "rate", "push"), Stage.of_limit),
}
