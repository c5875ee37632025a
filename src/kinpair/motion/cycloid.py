"""The cycloidal motion from rest to rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError


class Motion(NamedTuple):
    """Coordinates, rates and accelerations, each of shape (*time, *start)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


def cycloid(time: Any, start: Any, end: Any, duration: float) -> Motion:
    """From `start` to `end` (a number or a vector) in `duration` [s]; at rest before 0 and after it.

    q = q0 + Δ [t/T − sin(2πt/T)/(2π)]
    q̇ = Δ/T [1 − cos(2πt/T)]
    q̈ = 2πΔ/T² sin(2πt/T)
    """
    if not (np.isfinite(duration) and duration > 0):
        raise InputError(f"cycloid: duration is {duration:g} s; give a positive number", duration=duration)
    q0, span = _ends(start, end)
    s = np.clip(np.asarray(time, dtype=float) / duration, 0.0, 1.0)
    s = s.reshape(s.shape + (1,) * q0.ndim)
    inside = (s > 0) & (s < 1)
    turn = np.where(inside, 2 * np.pi * s, 0.0)
    return Motion(
        q0 + span * (s - np.sin(turn) / (2 * np.pi)),
        span / duration * (1 - np.cos(turn)),
        2 * np.pi * span / duration**2 * np.sin(turn),
    )


def _ends(start: Any, end: Any) -> tuple[np.ndarray, np.ndarray]:
    q0, q1 = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    if q0.shape != q1.shape:
        raise InputError(f"cycloid: start has shape {q0.shape} and end {q1.shape}; give both the same")
    return q0, q1 - q0
