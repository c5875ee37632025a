"""The tuples of a model as arrays, for code that reads all bodies of a long mechanism at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import same_objects


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Numbers by body, index 0 the ground's, and by place; `which` numbers objects as `same_objects` does."""

    parent: np.ndarray
    q_start: np.ndarray
    v_start: np.ndarray
    which: np.ndarray
    chosen: tuple[int, ...]
    place_body: np.ndarray
    pose_which: np.ndarray
    poses: tuple[Any, ...]


def numbering(
    parent: Sequence[int],
    q_span: Sequence[slice],
    v_span: Sequence[slice],
    body: Sequence[Any],
    places: Mapping[str, Any],
) -> Numbering:
    """Read the tuples of a model once."""
    which, chosen = same_objects(body)
    poses = [place.pose for place in places.values()]
    pose_which, first = same_objects(poses)
    return Numbering(
        np.array(parent, dtype=np.int64),
        _numbers([span.start for span in q_span]),
        _numbers([span.start for span in v_span]),
        which,
        tuple(chosen),
        _numbers([place.body for place in places.values()]),
        pose_which,
        tuple(poses[i] for i in first),
    )


def _numbers(x: list[int]) -> np.ndarray:
    return np.array(x, dtype=np.int64)
