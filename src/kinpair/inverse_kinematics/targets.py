"""Targets of frames: places, rotations, directions; for one position of a mechanism, or for many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError

ROTATED = 1e-6  # how far R Rᵀ may be from one


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Place where a frame is to be: any of a position, a rotation, and an axis.

    position (3,) [m] in the world, None for an entry that is free; rotation (3, 3); axis: a direction in the frame and
    the direction in the world that it is to have, ((0, 0, 1), (0, 0, -1)). Each may have an axis of targets in front.
    """

    position: Any = None
    rotation: Any = None
    axis: Any = None


class Form(NamedTuple):
    """Kinds of numbers that are required of a frame; what code is made for."""

    frame: str
    along: tuple[int, ...]  # entries of its position
    rotation: bool
    axis: tuple[float, ...]  # a direction in the frame, or nothing

    @property
    def size(self) -> int:
        """Number of values that define the target."""
        return len(self.along) + 9 * self.rotation + len(self.axis)


class Wanted(NamedTuple):
    """Forms of all frames, and their numbers (targets, sizes); `many` where there is an axis of targets."""

    forms: tuple[Form, ...]
    numbers: np.ndarray
    many: bool


def wanted(targets: Mapping[str, Target]) -> Wanted:
    """Every target, checked."""
    if not targets:
        raise InputError("give a target for one frame at least")
    forms, parts = zip(*(_one(frame, target) for frame, target in targets.items()), strict=True)
    columns = [x for part in parts for x in part]
    counts = {len(x) for x in columns if x.ndim == 2}
    if len(counts) > 1:
        raise InputError(
            f"targets are {' and '.join(map(str, sorted(counts)))} in number; give as many of each"
        )
    count = counts.pop() if counts else 1
    many = any(x.ndim == 2 for x in columns)
    rows = [np.broadcast_to(x, (count, x.shape[-1])) for x in columns] if many else columns
    numbers = np.concatenate(rows, axis=-1)
    return Wanted(forms, numbers if many else numbers[None], many)


def _one(frame: str, target: Target) -> tuple[Form, list[np.ndarray]]:
    if target.position is None and target.rotation is None and target.axis is None:
        raise InputError("give a position (3,), a rotation (3, 3), or both")
    if target.rotation is not None and target.axis is not None:
        raise InputError(f"{frame!r}: a rotation leaves no axis free; give one of them")
    along: tuple[int, ...] = ()
    axis: tuple[float, ...] = ()
    parts: list[np.ndarray] = []
    if target.position is not None:
        along, position = _position(target.position)
        parts.append(position)
    if target.rotation is not None:
        R = _finite("rotation", target.rotation, (3, 3))
        if not _is_rotation(R):
            raise InputError(
                "rotation is not a rotation matrix: its rows must be unit vectors at right angles, right-handed"
            )
        parts.append(R.reshape(*R.shape[:-2], 9))
    if target.axis is not None:
        in_frame, in_world = map(_direction, _pair(target.axis))
        if in_frame.ndim > 1:
            raise InputError(f"{frame!r}: axis has many directions in the frame; give one")
        axis = tuple(in_frame.tolist())
        parts.append(in_world)
    return Form(frame, along, target.rotation is not None, axis), parts


def _is_rotation(R: np.ndarray) -> bool:
    """True if R (..., 3, 3) has orthonormal right-handed rows; of one matrix, by numbers, which takes less time."""
    x, y, z = R.tolist() if R.ndim == 2 else np.moveaxis(R, 0, -1)
    pairs = ((x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (x, z, 0.0), (y, z, 0.0))
    gaps = [abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - one) for a, b, one in pairs]
    volume = z[0] * (x[1] * y[2] - x[2] * y[1]) + z[1] * (x[2] * y[0] - x[0] * y[2])
    volume += z[2] * (x[0] * y[1] - x[1] * y[0])
    if R.ndim == 2:
        return max(gaps) <= ROTATED and volume > 0.0
    return bool((np.max(gaps, axis=0) <= ROTATED).all() and (volume > 0.0).all())


def _position(value: Any) -> tuple[tuple[int, ...], np.ndarray]:
    """Entries that are required, and their values."""
    along = (0, 1, 2)
    if isinstance(value, (list, tuple)) and len(value) == 3 and any(x is None for x in value):
        along = tuple(k for k, x in enumerate(value) if x is not None)
        value = [0.0 if x is None else x for x in value]
    return along, _finite("position", value, (3,))[..., list(along)]


def _pair(value: Any) -> tuple[Any, Any]:
    try:
        in_frame, in_world = value
    except (TypeError, ValueError):
        raise InputError(f"axis is {value!r}; give two directions: in the frame, and in the world") from None
    return in_frame, in_world


def _direction(value: Any) -> np.ndarray:
    x = _finite("axis", value, (3,))
    length = np.sqrt((x * x).sum(-1, keepdims=True))
    if not length.all():
        raise InputError("axis has the direction 0 0 0; give another")
    return x / length


def _finite(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of the right shape, maybe with an axis of targets in front."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give numbers of shape {shape}", argument=name) from None
    fits = x.shape[x.ndim - len(shape) :] == shape and x.ndim <= len(shape) + 1
    if not fits or not np.isfinite(x).all():
        found = f"has shape {x.shape}" if not fits else "holds NaN or infinity"
        raise InputError(f"{name} {found}; give numbers of shape {shape}", argument=name)
    return x
