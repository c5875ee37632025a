"""Which input of a run stopped being a number, and when: asked when a motion has become NaN or infinite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.evaluation import WRENCH

if TYPE_CHECKING:
    from kinpair.simulation.ready import Run

LOOKS = 400  # at so many times between a state that was fine and the end of the step that was not
HALVINGS = 60
LARGE = 1e8  # a motion beyond that has made its torque infinite, not the other way round
NEAR = 1e-9  # of the time, or of a second: a step that has collapsed ends at least so far ahead


def lost_number(run: Run, state: np.ndarray, since: float, time: float, dt: float) -> str:
    """What is no number, or nothing; from a state (at least nq) at `since`, carried on by its rates."""
    n, nq = run.d.model.nq + run.d.model.nv, run.d.model.nq
    known = np.append(state, np.zeros(max(0, n - len(state))))[:n]
    q, qd = known[:nq], known[nq:]
    if not np.abs(known).max() < LARGE:
        return ""
    moves = qd if len(qd) == nq else np.zeros(nq)
    until = time + max(dt, NEAR * max(1.0, abs(time)))
    for what, function, names in _asked(run):
        found = _first(lambda t, f=function: _value(f, t, q + (t - since) * moves, qd), since, until)
        if found is not None:
            when, value = found
            k = int(np.flatnonzero(~np.isfinite(value))[0])
            return f"{what} is {value[k]} for {names[k]!r} at t = {when:.9g} s"
    return ""


def _asked(run: Run) -> list[tuple[str, Any, Sequence[str]]]:
    """Functions that were recorded: what each is called, itself, and the names of its entries."""
    torque, wrenches = run.wish.torque, dict(run.d.external or {})
    found: list[tuple[str, Any, Sequence[str]]] = []
    if torque.kind == "recorded":
        found.append(("torque", torque.function, run.wish.mechanism.v_names))
    return found + [(f"external[{name!r}]", f, WRENCH) for name, f in wrenches.items() if f is not None]


def _value(function: Callable[..., Any], time: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(function(time, q.copy(), qd.copy()), dtype=float)


def _first(
    value: Callable[[float], np.ndarray], since: float, until: float
) -> tuple[float, np.ndarray] | None:
    """The first of many times at which it has no number, narrowed down, and what it has there."""
    times = np.linspace(since, until, LOOKS)
    bad = next((k for k, t in enumerate(times) if not np.isfinite(value(t)).all()), None)
    if bad is None:
        return None
    good, late = times[max(0, bad - 1)], times[bad]
    for _ in range(HALVINGS):
        middle = 0.5 * (good + late)
        good, late = (middle, late) if np.isfinite(value(middle)).all() else (good, middle)
    return float(late), value(late)
