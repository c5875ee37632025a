"""Where forces have a kink or a jump: a rope about to go slack has no derivative, a joint at rest that of its phase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import columns
from kinpair.analysis.linear.point import Point
from kinpair.errors import SingularError, listed
from kinpair.forces.elements import acting, elements_of
from kinpair.mechanism import Mechanism
from kinpair.model.state import State
from kinpair.system import System

AT = 1e-12  # a switching function below this is at its switch
EDGE = 1e-9  # of the level: friction so near to it is at it


class AtRest(NamedTuple):
    """Names of the rates with dry friction that stick, and whether one of the rates at rest is at its level, so that
    the derivative holds on one side only."""

    sticking: tuple[str, ...] = ()
    at_boundary: bool = False


def phases_at(m: Mechanism | System, at: Point) -> AtRest:
    """Return the phases of dry friction at a state, or of all states of a motion; refuse other switches by name."""
    if not any(x.jumps for x in elements_of(m.model, driven=bool(at.u.size))):
        return AtRest()
    q, qd, x, u = (columns(np.atleast_2d(a)) if a.size else a for a in (at.q, at.qd, at.x, at.u))
    count = int(np.prod(at.batch, dtype=int))
    every = [(own.element, own_state) for own, own_state in acting(m.model, State(q, qd, x, u, at.time))]
    at_switch = {x.name: _switched(x.switches(state).values(), count) for x, state in every if x.jumps}
    kinks = {x.name: at_switch[x.name] for x, _ in every if x.jumps and not x.sticks}
    states = np.flatnonzero(np.any(list(kinks.values()), axis=0)) if kinks else np.zeros(0, dtype=int)
    if len(states):
        which = f" (state {states[0]})" if at.batch else ""
        names = [name for name, found in kinks.items() if found[states[0]]]
        raise SingularError(
            f"{m.name}: the force of {listed(map(repr, names))} has a kink at this state{which}, and no derivative; "
            "move it a little",
            elements=names,
        )
    resting = np.flatnonzero(np.any(list(at_switch.values()), axis=0))
    return _at_rest(m, at, resting.tolist()) if isinstance(m, Mechanism) else AtRest()


def _at_rest(m: Mechanism, at: Point, states: Sequence[int]) -> AtRest:
    """Return the phases at rest of some states."""
    sticking, boundary = dict[str, None](), False
    for k in states:
        q, qd, tau = (np.atleast_2d(x)[k if np.ndim(x) > 1 else 0] for x in (at.q, at.qd, at.tau))
        time = float(np.broadcast_to(at.time, max(len(states), 1) if not at.batch else at.batch)[k])
        for name, own in m.friction(q, qd, tau, time=time).items():
            if abs(qd[m.v_names.index(name)]) <= AT:
                sticking.update({name: None} if own.sticks and own.level > 0.0 else {})
                boundary |= not own.sticks or abs(own.effort) >= (1.0 - EDGE) * own.level
    return AtRest(tuple(sticking), bool(boundary))


def check_slides(m: Mechanism, model: Any) -> None:
    """Refuse a linear model with joints that stick: gains cannot move them."""
    if model.sticking:
        has, sticks = ("has", "sticks") if len(model.sticking) == 1 else ("have", "stick")
        raise SingularError(
            f"{m.name}: {listed(map(repr, model.sticking))} {has} dry friction and {sticks}, so no input moves it a "
            "little: give a rate, or leave friction out of the gains with passive='efforts', or with passive=False",
            rates=model.sticking,
        )


def _switched(values: Iterable[Any], count: int) -> np.ndarray:
    """In which states one of the switching functions is at its switch (states,)."""
    found = np.zeros(count, dtype=bool)
    for value in values:
        found |= np.abs(np.broadcast_to(np.asarray(value, dtype=float), count)) <= AT
    return found
