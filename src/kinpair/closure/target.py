"""A frame that is to be at a place, as a condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.description.conditions import Guide
from kinpair.description.parts import GROUND
from kinpair.errors import InputError
from kinpair.spatial.rotation import to_rpy

TURNS = 1e-6  # how far R Rᵀ may be from one


def reaching(frame: str, position: Any, rotation: Any) -> Guide:
    """The condition that a frame is at a place in the world."""
    if position is None and rotation is None:
        raise InputError("give a position (3,), a rotation (3, 3), or both")
    xyz: Any = ("", "", "")
    rpy: Any = ("", "", "")
    if position is not None:
        xyz = tuple(_held(x) for x in _finite("position", position, (3,)))
    if rotation is not None:
        R = _finite("rotation", rotation, (3, 3))
        if np.abs(R @ R.T - np.eye(3)).max() > TURNS or np.linalg.det(R) < 0.0:
            raise InputError(
                "rotation is no rotation matrix: its rows must be unit vectors at right angles, right-handed"
            )
        rpy = tuple(_held(x) for x in to_rpy(R))
    return Guide(f"target of {frame}", GROUND, frame, xyz, rpy)


def _finite(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of the right shape."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give numbers of shape {shape}", argument=name) from None
    if x.shape != shape or not np.isfinite(x).all():
        found = f"has shape {x.shape}" if x.shape != shape else "holds NaN or infinity"
        raise InputError(f"{name} {found}; give numbers of shape {shape}", argument=name)
    return x


def _held(value: float) -> Any:
    """A function of time that stays."""
    return lambda time: float(value)
