"""Which angles turn about parallel axes, so that they add."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.formulations import kinematics
from kinpair.model.model import Model

PARALLEL = 1e-9  # sine of the angle between two axes that count as parallel


class _Turning(NamedTuple):
    """A coordinate that turns: its axis in the neutral position, and the last body before it that does not turn about
    the same axis."""

    name: str
    axis: np.ndarray
    frame: int


def groups(model: Model, names: tuple[str, ...]) -> dict[str, int]:
    """A number for each coordinate, the same for those whose axes stay parallel: they follow each other in the tree,
    or their chains start on one body."""
    where = kinematics.poses(model, model.neutral())
    group = {name: k for k, name in enumerate(names)}
    turning: dict[int, _Turning] = {}
    for i in model.moving:
        direction = _axis(model, i)
        if direction is None:
            continue
        name, axis = (
            names[model.q_span[i].start + direction[0]],
            np.asarray(where[i].R, dtype=float) @ direction[1],
        )
        before = next((j for j in model.path_to_ground(model.parent[i]) if _turns(model, j)), 0)
        follows = before in turning and _parallel(turning[before].axis, axis)
        frame = turning[before].frame if follows else before
        like = [x for x in turning.values() if x.frame == frame and _parallel(x.axis, axis)]
        turning[i] = _Turning(name, axis, frame)
        group[name] = group[like[0].name] if like else group[name]
    return group


def _parallel(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.abs(np.cross(a, b)).max() < PARALLEL)


def _axis(model: Model, i: int) -> tuple[int, np.ndarray] | None:
    """The one coordinate that turns the body and its axis in the body; None if there are several or none."""
    pair = model.body[i].pair
    columns = np.asarray(pair.p(np.asarray(pair.neutral(), dtype=float)), dtype=float)[:3]
    turning = np.flatnonzero(np.abs(columns).max(0)) if columns.size else []
    if len(turning) != 1 or pair.nq != pair.nv:
        return None
    return int(turning[0]), columns[:, turning[0]]


def _turns(model: Model, i: int) -> bool:
    pair = model.body[i].pair
    columns = np.asarray(pair.p(np.asarray(pair.neutral(), dtype=float)), dtype=float)[:3]
    return bool(np.abs(columns).max(initial=0.0) > 0)
