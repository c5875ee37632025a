"""Which input of a run stopped being a number, and when: asked when a motion has become NaN or infinite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinpair.evaluation import WRENCH
from kinpair.simulation.run import Run

LOOKS = 400  # at so many times between a state that was fine and the end of the step that was not
HALVINGS = 60
LARGE = 1e8  # a motion beyond that has made its torque infinite, not the other way round
NEAR = 1e-9  # of the time, or of a second: a step that has collapsed ends at least so far ahead


def lost_number(run: Run, state: np.ndarray, since: float, time: float, dt: float) -> str:
    """What is no number, or nothing; from a state (at least nq) at `since`, carried on by its rates."""
    n = run.d.layout.solved.stop
    known = np.append(state, np.zeros(max(0, n - len(state))))[:n]
    (q, qd), x = run.d.motion(known), known[run.d.layout.x]
    if not np.abs(known).max() < LARGE:
        return ""
    moves = qd if len(qd) == len(q) else np.zeros(len(q))
    until = time + max(dt, NEAR * max(1.0, abs(time)))
    for what, function, names in _inputs(run):
        more = (x,) if getattr(function, "takes_x", False) else ()
        first = _first(
            lambda t, f=function, more=more: _value(f, t, q + (t - since) * moves, qd, *more), since, until
        )
        if first is not None:
            when, value = first
            k = int(np.flatnonzero(~np.isfinite(value))[0])
            return f"{what} is {value[k]} for {names[k]!r} at t = {when:.9g} s"
    return ""


def _inputs(run: Run) -> list[tuple[str, Any, Sequence[str]]]:
    """Functions that were recorded: what each is called, itself, and the names of its entries."""
    torque, wrenches = run.torque, dict(run.d.external or {})
    inputs: list[tuple[str, Any, Sequence[str]]] = []
    if torque.kind == "recorded":
        inputs.append((torque.word, torque.function, run.d.controls))
    return inputs + [(f"external[{name!r}]", f, WRENCH) for name, f in wrenches.items() if f is not None]


def _value(function: Callable[..., Any], time: float, *state: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(function(time, *(x.copy() for x in state)), dtype=float)


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
