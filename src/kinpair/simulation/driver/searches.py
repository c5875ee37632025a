"""What a stepper may do by itself where guards change their sign: find the root, and go on from there.

A switch of an element, and a rate with dry friction whose phases compiled code can tell, are passed. At an event of
the user, and at a limit that is reached or opens, it stops at the root. Events that wait and functions that are called
are searched for by `root_finding.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinpair.compiler.time_loop.roots import FALL, FIRED, LOOK, NOTHING, PASS, RISE, SLOPE, STOP
from kinpair.simulation.driver.ongoing import Ongoing
from kinpair.simulation.events.events import Event
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.steppers.stepper import Search

Pair = tuple[float, float]  # what a fall and a rise call for


def search(ongoing: Ongoing, room: int) -> Search | None:
    """What the guards of the mode in force call for; `room`: so many roots may be passed. None: all are looked at."""
    active = ongoing.active
    if not active.watched or ongoing.modes.called:
        return None
    acts = np.full((4, len(active.watched)), np.nan)
    slopes = dict(active.guards.slopes)
    for k, x in enumerate(active.watched):
        acts[(FALL, RISE), k] = _PAIRS[x.kind](ongoing, x)
        acts[FIRED, k] = x.event is not None and _has_fired(ongoing, x.event)
        acts[SLOPE, k] = slopes.get(k, -1)
    return Search(acts, room)


def _has_fired(ongoing: Ongoing, event: Event) -> bool:
    """Is its function where the event happened last?"""
    return event.name in ongoing.fired and ongoing.fired[event.name] == ongoing.value(event)


def _of_event(ongoing: Ongoing, x: Watched) -> Pair:
    assert x.event is not None
    act = LOOK if x.event.name in ongoing.bands else STOP
    direction = x.event.direction
    return act if direction <= 0 else NOTHING, act if direction >= 0 else NOTHING


def _of_switch(ongoing: Ongoing, x: Watched) -> Pair:
    d = ongoing.active.d
    act = PASS if not d.sticking or ongoing.active.guards.changes(d) else STOP
    return act, act


def _of_phase(ongoing: Ongoing, x: Watched) -> Pair:
    active = ongoing.active
    return PASS if active.guards.changes(active.d) else STOP, LOOK


_PAIRS: dict[str, Callable[[Ongoing, Watched], Pair]] = {
    "event": _of_event,
    "gap": lambda ongoing, x: (STOP, NOTHING),
    "rate": lambda ongoing, x: (NOTHING, NOTHING),
    "push": lambda ongoing, x: (STOP, NOTHING),
    "switch": _of_switch,
    "phase": _of_phase,
    "slowing": lambda ongoing, x: (NOTHING, NOTHING),
}
