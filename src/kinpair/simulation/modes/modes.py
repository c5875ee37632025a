"""Modes of a motion: which constraints hold, and which limits are closed.

A mode is data; its dynamics, guards and loop are made when it is first entered, and kept. Modes that differ in closed
limits only are phases of one loop: a first one for all limits open, and a second one for any of them closed. The motion
is the same in all modes, so a run goes from one to another at any time. Modes are numbered as they are entered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.compiler.kernel import Kernel
from kinpair.description.constraint_parts import ConstraintPart, Custom
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.simulation.contact.numbers import GUARDS
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.held import enforcement_of, model_to_move, with_elements
from kinpair.simulation.loops import BoundedCache, kernel_of
from kinpair.simulation.modes.guards import Guards, Watched
from kinpair.simulation.phases import slides, sticks
from kinpair.simulation.recording import Recorded
from kinpair.simulation.rounding import VALUE
from kinpair.simulation.run import Run, Stage

WITHOUT_COLLISION = "impact without collision"


@dataclass(frozen=True, slots=True)
class Mode:
    """Constraints beyond those of the description, names of those that hold no longer, and limits that are closed."""

    add: tuple[ConstraintPart, ...] = ()
    remove: frozenset[str] = frozenset()
    resting: tuple[Limit, ...] = ()

    @property
    def key(self) -> Any:
        """Key that distinguishes the mode from others."""
        return tuple(repr(replace(x, where="")) for x in self.add), self.remove, self.resting


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A mode, and where it was first entered: which of its rows are solved for is decided there."""

    mode: Mode
    q: np.ndarray
    time: float


def equations_of(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, ...]:
    """Return M, F without friction in groups that are at rest, A and b of all rows, forms of loads, ψ, and the efforts
    of motors."""
    state = d.state(time, y, u)
    return *d.load_terms(state, d.loads(time, state.q, state.qd, u)), d.efforts(state)


def _hold(limit: Limit) -> Custom:
    return Custom(limit.label, phi=lambda q, t: limit.gap(q))


def _without(mechanism: Mechanism, names: frozenset[str]) -> Mechanism:
    """Return the mechanism without constraints of these names."""
    description, options = mechanism.model.description, mechanism.model.options
    kept = tuple(x for x in description.constraints if x.name not in names)
    model = build(replace(description, constraints=kept), snap=options.snap, merge_fixed=options.merge_fixed)
    return Mechanism(model, compiled=mechanism.compiled)


def mechanism_in(base: Mechanism, mode: Mode) -> Mechanism:
    """Mechanism that moves in a mode; one object for every run, so that compiled code is found again."""
    if mode.key == Mode().key:
        return base
    return base.model.once(f"mode {mode.key!r} {base.compiled}", lambda: _in_mode(base, mode))


def _in_mode(base: Mechanism, mode: Mode) -> Mechanism:
    left = _without(base, mode.remove) if mode.remove else base
    return left.with_constraints(*mode.add, *(_hold(x) for x in mode.resting))


def _of_limits(limits: Sequence[Limit], closing: bool) -> list[Watched]:
    """Return the gap and its rate of each limit, and its push where it may be closed."""
    rows = [k if closing else -1 for k in range(len(limits))]
    kinds = ("gap", "rate", "push") if closing else ("gap", "rate")
    pairs = zip(limits, rows, strict=True)
    return [Watched(kind, limit=limit, row=row) for limit, row in pairs for kind in kinds]


class Modes:
    """All modes of a run; `make` gives what a stepper steps by in a stage."""

    def __init__(self, run: Run, make: Callable[[Stage], Any]) -> None:
        self.run, self.limits, self._make = run, run.ends, make
        pairs = zip(run.events, run.recorded, strict=True)
        self._functions = {x.name: function for x, function in pairs if isinstance(function, Recorded)}
        self.traced = [event for event in run.events if event.name in self._functions]
        self.called = [event for event in run.events if event.name not in self._functions]
        self.entered: list[Entry] = []
        self._active: dict[Any, Active] = {}
        self._mechanisms: dict[Any, Mechanism] = {}
        self._places: dict[Any, int] = {}  # numbers of the modes entered
        self._stages: dict[Any, tuple[Stage, Guards]] = {}
        q, qd = run.d.motion(np.atleast_2d(run.start)[0])
        plain = [x for x in self.traced if not x.watches_forces]
        values = {x.name: float(x.function(run.time, q.copy(), qd.copy())) for x in plain}
        self.small = {name: VALUE * abs(value) for name, value in values.items()}

    @property
    def events(self) -> tuple[Event, ...]:
        """Events that are watched for."""
        return (*self.traced, *self.called)

    @property
    def names(self) -> list[str]:
        """Names of what may happen."""
        ends = [name for limit in self.limits for name in (limit.label, limit.leaving)]
        d = self.run.d
        rough = [name for x in d.groups for name in (sticks(x.name), slides(x.name))]
        loaded = [WITHOUT_COLLISION] if is_loaded(d.model, passive=d.passive) else []
        return [*(event.name for event in self.events), *ends, *rough, *loaded, *self._of_contact]

    @property
    def _of_contact(self) -> list[str]:
        """Names of events of contact."""
        touching = self.run.d.touching
        if touching is None:
            return []
        data = touching.data
        pairs = [
            f"{data.names[a]} on {data.names[b]}"
            for a, b in zip(data.first.tolist(), data.second.tolist(), strict=True)
        ]
        words = [
            f"{name} {word}"
            for name in pairs
            for word in ("lands", "lifts", "sticks", "slides", "comes to rest")
        ]
        ends = [name for limit in touching.limits for name in (limit.label, limit.leaving)]
        rough = [self.run.d.model.v_names[k] for k in self.run.d.rough_rates]
        words += [*ends, *(f"{x.label} comes to rest" for x in touching.limits)]
        words += [name(x) for x in rough for name in (sticks, slides)]
        pairs += [x.label for x in touching.limits]
        return [*words, *(f"impact without collision of {name}" for name in pairs)]

    def mechanism(self, mode: Mode) -> Mechanism:
        """Mechanism that moves in a mode."""
        if mode.key not in self._mechanisms:
            self._mechanisms[mode.key] = mechanism_in(self.run.mechanism, mode)
        return self._mechanisms[mode.key]

    def active(self, mode: Mode, q: np.ndarray, time: float) -> Active:
        """Return what moves and is watched in a mode that is entered at q."""
        key = mode.key
        active = self._active.get(key)
        if active is None:
            place = self._places.get(key)
            entry = Entry(mode, q.copy(), time) if place is None else self.entered[place]
            active = self._active[key] = self._prepared(entry)
            if place is None:
                self._places[key] = len(self.entered)
                self.entered.append(entry)
        return active

    def restore(self, entered: Sequence[Entry]) -> None:
        """Enter the modes of another run, in its order."""
        self.entered[:] = entered
        self._places = {x.mode.key: k for k, x in enumerate(entered)}

    def number(self, mode: Mode) -> int:
        """Number of a mode that was entered."""
        return self._places[mode.key]

    def _prepared(self, entry: Entry) -> Active:
        open_ = replace(entry.mode, resting=())
        key = open_.key, bool(entry.mode.resting)
        if key not in self._stages:
            self._stages[key] = self._stage(entry, self.mechanism(open_))
        return Active(entry.mode, *self._stages[key])

    def _stage(self, entry: Entry, m: Mechanism) -> tuple[Stage, Guards]:
        """Return the stage of a mode and of all others that differ in closed limits only, and what is watched."""
        small = self.small if entry.mode.add else {}
        d = self._dynamics(entry, m)
        watched = [
            Watched("event", self._functions[x.name], small=small.get(x.name, 0.0), event=x)
            for x in self.traced
        ]
        watched += _of_limits(self.limits, bool(d.stops))
        if d.jumps and self.run.batch is None and not d.memory:
            state = d.state(self.run.time, *d.parted(self.run.start))
            watched += [Watched("switch", switch=name, inputs=d.actuated) for name in d.switches(state)]
        if not d.at_ends:
            groups = range(len(d.groups))
            watched += [Watched(kind, group=j) for kind in ("phase", "slowing") for j in groups]
        if d.touching is not None:
            watched += [Watched("contact", row=k) for k in range(GUARDS)]
        guards = Guards(tuple(watched), self.run.limits.rest if d.stops else 0.0)
        return Stage(self.run, m, d, guards if watched else None, self._make), guards

    def _dynamics(self, entry: Entry, mechanism: Mechanism) -> Dynamics:
        """Return the dynamics of the run, under the constraints of a mode, with limits that are closed."""
        run, q, time = self.run, entry.q, entry.time
        if entry.mode.resting:
            open_ = self.active(replace(entry.mode, resting=()), q, time).d
            return self._once(("closing", open_.key), lambda: self._closing(open_, mechanism, q, time))
        if mechanism is run.mechanism:
            return run.d
        model = model_to_move(mechanism.model, q, np.zeros(mechanism.nv), time)
        moved = with_elements(model, run.d.model.added)
        return replace(run.d, model=moved, enforcement=enforcement_of(mechanism, q, time, run.holding))

    def _closing(self, d: Dynamics, mechanism: Mechanism, q: np.ndarray, time: float) -> Dynamics:
        """Return the dynamics with the phases of limits in the state; limits that close change the rank of the rows."""
        holding = replace(self.run.holding, closes=True)
        return replace(d, stops=self.limits, enforcement=enforcement_of(mechanism, q, time, holding))

    def _once(self, key: Any, make: Callable[[], Dynamics]) -> Dynamics:
        """Return the dynamics made before for the same key, also by another run of the mechanism."""
        known = self.run.mechanism.model.once("dynamics that close", lambda: BoundedCache(16))
        return known.get((key, self.limits), make)


class Active:
    """A mode at work: its stage, and what is watched in it."""

    def __init__(self, mode: Mode, stage: Stage, guards: Guards) -> None:
        self.mode, self.stage, self.guards = mode, stage, guards
        self.mechanism, self.d, self.watched = stage.mechanism, stage.d, guards.watched

    def values(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Values of what is watched at a state."""
        d = self.d
        if d.touching is not None:
            from kinpair.simulation.held_contact import held_contact

            z = held_contact(d).solved(p, time, y, u)
            return self.guards(d.concrete(p), time, y, u, z)
        if not (d.sticking or d.actuated or d.stops):
            return self.guards(d.concrete(p), time, y, u)
        return self._kernel(time, y, u, *((p,) if d.parameters else ()))

    @cached_property
    def _kernel(self) -> Kernel:
        """Kernel of the values."""
        return kernel_of(self.d, self.guards, time=(), y=(self.d.ny,), u=(self.d.nu,))

    def entered(self, y: np.ndarray) -> np.ndarray:
        """Return a state (ny,) with the limits of the mode closed."""
        y[self.d.layout.closed] = [x in self.mode.resting for x in self.d.stops]
        return y
