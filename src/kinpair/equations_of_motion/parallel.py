"""Which angles turn about parallel axes, so that they add."""

from __future__ import annotations

import numpy as np

from kinpair.formulations import kinematics
from kinpair.model.model import Model

PARALLEL = 1e-9  # sine of the angle between two axes that count as parallel


def groups(model: Model, names: tuple[str, ...]) -> dict[str, int]:
    """A number for each coordinate, the same for those about parallel axes that follow each other in the tree."""
    q = model.neutral()
    where = kinematics.poses(model, q)
    group = {name: k for k, name in enumerate(names)}
    turning: dict[int, tuple[str, np.ndarray]] = {}
    for i in model.moving:
        found = _axis(model, i)
        before = next((j for j in model.path_to_ground(model.parent[i]) if _turns(model, j)), None)
        if found is None:
            continue
        name, axis = names[model.q_span[i].start + found[0]], np.asarray(where[i].R, dtype=float) @ found[1]
        turning[i] = name, axis
        if before in turning and np.abs(np.cross(turning[before][1], axis)).max() < PARALLEL:
            group[name] = group[turning[before][0]]
    return group


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
