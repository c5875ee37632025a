"""Guards of a mode: values whose signs a stepper minds. Equal guards are one piece of compiled code.

Events may watch forces: multipliers of rows of constraints and reactions in joints, of the mode in force.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import ON_LINK, carried
from kinpair.evaluation import quantities
from kinpair.simulation.phases import PhaseValues, guard_values, is_told, switched

if TYPE_CHECKING:
    from kinpair.model.state import State
    from kinpair.simulation.dynamics import Dynamics
    from kinpair.simulation.events.events import Event
    from kinpair.simulation.events.limits import Limit
    from kinpair.simulation.recording import Recorded


def forces(d: Dynamics, names: Collection[str], state: State, u: Vector) -> dict[str, Any]:
    """Forces by name: zero for a row that does not hold, or that others imply and no compliance shares."""
    q, qd, time = state.q, state.qd, state.time
    loads = d.loads(time, q, qd, u)
    qdd, lam = d.enforcement.motion(d.model, d.request, state, loads)
    constraints = constraints_of(d.model)
    rows = [row for x in constraints for row in x.row_names]
    known: dict[str, Any] = dict(zip(rows, lam, strict=True))
    if not set(names) <= set(rows):
        on_links = carried(d.model, constraints, q, time, lam, loads)
        acting = {x.removeprefix(ON_LINK): w for x, w in on_links.items() if x.startswith(ON_LINK)}
        request = quantities.request_of("reactions", passive=d.passive)
        known = {**quantities.reactions(d.model, request, q, qd, qdd, acting), **known}
    if d.stops and d.model.slip is not None:
        efforts = d.held_motion(state, loads)[1]
        known |= {x.label: x.side * efforts[x.v] for x in d.stops}
    return {name: known.get(name, 0.0) for name in names}


@dataclass(frozen=True, slots=True)
class Watched:
    """A guard: an `event`, the `gap` or the `rate` of a limit, its `push` while it is closed, or a `switch`, where
    the forces of an element have a kink or a jump; of a `group` of rates with dry friction its `phase`, and where it is
    `slowing`; one of the values of `contact`.

    `row` is the place of a limit among those whose phases are in the state, −1: it is open. Values of an event below
    `small` are zero: a constraint that has begun may hold it there.
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
    """Values that guards share: switching functions of elements, forces by name, guards of phases, closed limits,
    guards of contact."""

    switches: Mapping[str, Scalar]
    forces: Mapping[str, Any]
    phases: PhaseValues
    closed: Vector
    contact: Vector


@dataclass(frozen=True, slots=True)
class Guards:
    """Guards of a mode, as a function of a state; rebounds from limits slower than `least` [rad/s], [m/s] are none."""

    watched: tuple[Watched, ...]
    least: float = 0.0

    @property
    def uses_inputs(self) -> bool:
        """True if a limit or a joint is locked whose forces depend on inputs, or an actuator has a switch."""
        return any(x.kind in ("push", "phase", "contact") or x.inputs for x in self.watched)

    @property
    def lasting(self) -> tuple[int, ...]:
        """Places of guards that are positive until something happens."""
        return tuple(k for k, x in enumerate(self.watched) if x.kind in ("phase", "push", "contact"))

    @property
    def slopes(self) -> tuple[tuple[int, int], ...]:
        """Places of guards that are slopes of other ones, each with the other one: rates of gaps, slowing of phases."""
        phases = {x.group: k for k, x in enumerate(self.watched) if x.kind == "phase"}
        rates = [(k, k - 1) for k, x in enumerate(self.watched) if x.kind == "rate"]
        return (*rates, *((k, phases[x.group]) for k, x in enumerate(self.watched) if x.kind == "slowing"))

    def changes(self, d: Dynamics) -> bool:
        """True if there is a `change`."""
        return is_told(d)

    def change(self, d: Dynamics, time: Scalar, y: Vector, u: Vector, e: Vector) -> tuple[Vector, Scalar]:
        """The state where those whose entry of e is one have left their side; the last one: is this the first call?"""
        if d.stops:
            from kinpair.simulation.modes.ends import ends_passed

            of_kind = {
                kind: [k for k, x in enumerate(self.watched) if x.kind == kind] for kind in ("gap", "push")
            }
            landed, left = ([e[k] for k in places] for places in of_kind.values())
            return ends_passed(d, time, y, u, landed, left, self.least)
        ended = {x.group: e[k] for k, x in enumerate(self.watched) if x.kind == "phase"}
        return switched(d, time, y, u, [ended[j] for j in range(len(d.groups))], e[-1])

    def __call__(self, d: Dynamics, time: Scalar, y: Vector, u: Vector, z: Vector | None = None) -> Vector:
        """Values of the guards, positive on the near side of limits; z: of contact, see `contact_between.py`."""
        state = d.state(time, y, u)
        q, qd = state.q, state.qd
        kinds = {x.kind for x in self.watched}
        names = {name for x in self.watched if x.function is not None for name in x.function.forces or ()}
        known = Known(
            d.switches(state) if "switch" in kinds else {},
            forces(d, names, state, u) if names else {},
            guard_values(d, time, y, u) if kinds & {"phase", "push"} else PhaseValues(),
            y[d.layout.closed],
            np.zeros(0) if z is None else _of_contact(d, z),
        )
        return array([_VALUES[x.kind](x, time, q, qd, known) for x in self.watched])


def _of_contact(d: Dynamics, z: Vector) -> Vector:
    """Return the guards of contact from z."""
    from kinpair.simulation.methods import contact_between

    return contact_between.results(d, z)[2]


def _of_event(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    assert x.function is not None
    value = x.function(time, q, qd, *(() if x.function.forces is None else (known.forces,)))
    return where(less(np.abs(value), x.small), 0.0, value) if x.small else value


def _gap(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    assert x.limit is not None
    return _while_open(x, x.limit.gap(q) + x.limit.slack, 1.0, known)


def _rate(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    assert x.limit is not None
    return _while_open(x, x.limit.rate(qd), 0.0, known)


def _while_open(x: Watched, value: Scalar, otherwise: Scalar, known: Known) -> Scalar:
    """Return the value of an open limit; that of a closed one stays what it is."""
    return value if x.row < 0 else where(less(0.5, known.closed[x.row]), otherwise, value)


def _push(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.phases.pushes[x.row]


def _switch(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.switches[x.switch]


def _phase(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.phases.lasting[x.group]


def _slowing(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.phases.slowing[x.group]


def _contact(x: Watched, time: Scalar, q: Vector, qd: Vector, known: Known) -> Scalar:
    return known.contact[x.row]


_VALUES: dict[str, Callable[..., Any]] = {
    "event": _of_event,
    "gap": _gap,
    "rate": _rate,
    "push": _push,
    "switch": _switch,
    "phase": _phase,
    "slowing": _slowing,
    "contact": _contact,
}
