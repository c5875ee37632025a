"""Positions outside the limits of joints, and the nearest position inside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.assembly.batch import named
from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.rows.closing import BEYOND
from kinpair.errors import listed
from kinpair.model.model import Model

SHOWN = 6  # coordinates in a message


class Outside(NamedTuple):
    """Numbers of the coordinates outside their limits at q (nq,), and the nearest position inside, None if none was
    found."""

    beyond: Sequence[int]
    q: np.ndarray
    nearest: np.ndarray | None

    def text(self, model: Model, what: str) -> str:
        """Describe what is outside, and the coordinates inside that differ; `what` names the position."""
        joints, names = model.joints, model.q_names
        passed = [
            f"{names[k]!r} is {self.q[k]:.6g} ({joints.lower[k]:.6g} to {joints.upper[k]:.6g})"
            for k in self.beyond
        ]
        head = f"{model.name}: {what} is outside the limits of its joints: {listed(passed, SHOWN)}"
        if self.nearest is None:
            return f"{head}; no position inside the limits was found near it"
        moved = np.flatnonzero(np.abs(self.nearest - self.q) > BEYOND)
        inside = listed((f"{names[k]} = {self.nearest[k]:.10g}" for k in moved), 2 * SHOWN)
        return f"{head}; the nearest position inside has {inside}"


def outside(closure: Closure, q: Any, time: float = 0.0) -> Outside | None:
    """Judge coordinates (nq,) that close every loop; None where they are inside the limits.

    The nearest position inside has the coordinates at their limits; under constraints the loops are closed again with
    these coordinates fixed, or, where that fails, free.
    """
    joints, at = closure.model.joints, np.asarray(q, dtype=float)
    beyond = np.flatnonzero((joints.lower - at > BEYOND) | (at - joints.upper > BEYOND)).tolist()
    if not beyond:
        return None
    inside = np.clip(at, joints.lower, joints.upper)
    if not closure.constraints:
        return Outside(beyond, at, inside)
    at_limits = [closure.model.q_names[k] for k in beyond]
    tries = (closure.assembly.assembled(inside, stay, time, within_limits=True) for stay in (at_limits, ()))
    return Outside(beyond, at, next((x.q for x in tries if x.closed and not x.beyond), None))


def start_outside(closure: Closure, states: np.ndarray, time: float = 0.0, what: str = "the start") -> str:
    """Describe the first state of (..., nq) outside the limits of its joints; empty where all are inside."""
    joints, rows = closure.model.joints, states.reshape(math.prod(states.shape[:-1]), closure.model.nq)
    with np.errstate(invalid="ignore"):
        wrong = ((joints.lower - rows > BEYOND) | (rows - joints.upper > BEYOND)).any(axis=1)
    if not wrong.any():
        return ""
    k = int(wrong.argmax())
    found = outside(closure, rows[k], time)
    return (
        "" if found is None else found.text(closure.model, f"{what}{named(k if states.ndim > 1 else None)}")
    )
