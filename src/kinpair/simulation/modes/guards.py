"""What is watched in a mode: values whose signs a stepper minds. Equal guards are one piece of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kinpair import constrained
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.modes.forces import forces
from kinpair.simulation.phases import guard_values, is_told, switched
from kinpair.simulation.recording import Recorded

PULL = 1e-9  # [N], [N m]: a limit lets go when it would have to pull by more


@dataclass(frozen=True, slots=True)
class Watched:
    """One guard: an `event`, the `gap` or the `rate` of a limit, its `push` while it is held, or a `switch`, where the
    forces of an element have a kink or a jump; of a `group` of rates with dry friction its `phase`, and where
    it is `slowing`.

    `row` is the place of a held limit among the rows solved for. Values of an event below `small` are zero: a
    constraint that has begun may hold it there.
    """

    kind: str
    function: Recorded | None = None
    limit: Limit | None = None
    row: int = -1
    switch: str = ""
    group: int = -1
    small: float = 0.0
    inputs: bool = False  # does it depend on u?
    event: Event | None = field(default=None, compare=False)


class Known(NamedTuple):
    """What guards share: multipliers of the rows solved for, switching functions of elements, and forces by name."""

    lam: Vector
    switches: Mapping[str, Scalar]
    forces: Mapping[str, Any]
    phases: tuple[Sequence[Scalar], Sequence[Scalar]]


@dataclass(frozen=True, slots=True)
class Guards:
    """Those of a mode, as a function of a state."""

    watched: tuple[Watched, ...]

    @property
    def uses_inputs(self) -> bool:
        """Is there a limit or a joint that is held, whose forces depend on them, or a switch of an actuator?"""
        return any(x.kind in ("push", "phase") or x.inputs for x in self.watched)

    def changes(self, d: Dynamics) -> bool:
        """Is there a `change`?"""
        return is_told(d)

    def change(self, d: Dynamics, time: Scalar, y: Vector, u: Vector, e: Vector) -> tuple[Vector, Scalar]:
        """The state where those whose entry of e is one have left their side; the last one: is this the first call?"""
        ended = {x.group: e[k] for k, x in enumerate(self.watched) if x.kind == "phase"}
        return switched(d, time, y, u, [ended[j] for j in range(len(d.groups))], e[-1])

    def __call__(self, d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
        """Their values, positive on the near side of limits."""
        state = d.state(time, y, u)
        q, qd = state.q, state.qd
        kinds = {x.kind for x in self.watched}
        names = {name for x in self.watched if x.function is not None for name in x.function.forces or ()}
        known = Known(
            _multipliers(d, state, u) if "push" in kinds else np.zeros(0),
            d.switches(state) if "switch" in kinds else {},
            forces(d, names, state, u) if names else {},
            guard_values(d, time, y, u) if "phase" in kinds else ((), ()),
        )
        return array([_VALUES[x.kind](x, time, q, qd, known) for x in self.watched])


def _multipliers(d: Dynamics, state: State, u: Vector) -> Vector:
    """Of the rows solved for."""
    assert d.enforcement is not None
    loads = d.loads(state.time, state.q, state.qd, u)
    return constrained.solve(d.model, d.enforcement.own(d.request), state, loads).lam


def _of_event(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    assert x.function is not None
    value = x.function(time, q, qd, *(() if x.function.forces is None else (known.forces,)))
    return where(less(np.abs(value), x.small), 0.0, value) if x.small else value


def _gap(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    assert x.limit is not None
    return x.limit.gap(q) + x.limit.slack


def _rate(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    assert x.limit is not None
    return x.limit.rate(qd)


def _push(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.lam[x.row] + PULL


def _switch(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.switches[x.switch]


def _phase(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.phases[0][x.group]


def _slowing(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.phases[1][x.group]


_VALUES: dict[str, Callable[..., Any]] = {
    "event": _of_event,
    "gap": _gap,
    "rate": _rate,
    "push": _push,
    "switch": _switch,
    "phase": _phase,
    "slowing": _slowing,
}
