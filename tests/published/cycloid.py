"""The cycloidal motion of the examples, written out here once more so that the tests need no kinpair for it."""

from __future__ import annotations

import numpy as np


def along(
    start: object, end: object, duration: float, time: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q = q0 + Δ/T [t − T/(2π) sin(2πt/T)] and its two derivatives."""
    q0, q1 = np.array(start, float), np.array(end, float)
    D, omega = q1 - q0, 2 * np.pi / duration
    q = q0 + D / duration * (time - np.sin(omega * time) / omega)
    return q, D / duration * (1 - np.cos(omega * time)), D / duration * omega * np.sin(omega * time)
