"""Where forces have a kink or a jump there is no derivative: a joint that sticks, a rope about to go slack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kinpair.algebra.arrays import columns
from kinpair.analysis.linear.point import Point
from kinpair.errors import SingularError, listed
from kinpair.forces.elements import acting, elements_of
from kinpair.mechanism import Mechanism
from kinpair.model.state import State
from kinpair.system import System

AT = 1e-12  # a switching function below this is at its switch


def check_smooth(m: Mechanism | System, at: Point) -> None:
    """Refuse a state in which an element switches, by name."""
    if not any(x.jumps for x in elements_of(m.model, driven=bool(at.u.size))):
        return
    q, qd, x, u = (columns(np.atleast_2d(a)) if a.size else a for a in (at.q, at.qd, at.x, at.u))
    count = int(np.prod(at.batch, dtype=int))
    every = [(own.element, own_state) for own, own_state in acting(m.model, State(q, qd, x, u, at.time))]
    elements = [element for element, _ in every if element.jumps]
    at_switch = {x.name: _switched(x.switches(state).values(), count) for x, state in every if x.jumps}
    states = np.flatnonzero(np.any(list(at_switch.values()), axis=0))
    if not len(states):
        return
    which = f" (state {states[0]})" if at.batch else ""
    switched = [x for x in elements if at_switch[x.name][states[0]]]
    stuck = [m.v_names[n] for x in switched for n in x.sticks]
    if stuck:
        has, stands = ("has", "stands") if len(stuck) == 1 else ("have", "stand")
        raise SingularError(
            f"{m.name}: {listed(map(repr, stuck))} {has} dry friction and {stands} still{which}; what "
            "sticks has no derivative: give a rate, leave friction out with passive=False, or hold the joint by a "
            "constraint",
            rates=stuck,
        )
    names = [x.name for x in switched]
    raise SingularError(
        f"{m.name}: the force of {listed(map(repr, names))} has a kink at this state{which}, and no derivative; "
        "move it a little",
        elements=names,
    )


def _switched(values: Iterable[Any], count: int) -> np.ndarray:
    """In which states one of the switching functions is at its switch (states,)."""
    found = np.zeros(count, dtype=bool)
    for value in values:
        found |= np.abs(np.broadcast_to(np.asarray(value, dtype=float), count)) <= AT
    return found
