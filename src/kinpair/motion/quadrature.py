"""Integrals over a motion: Gauss's points between its knots, where everything is smooth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

POINTS, FEW = 16, 5  # of a panel; of one of many
PANELS = 16  # at least, over the whole motion


@cache
def _gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points on 0 to 1."""
    x, w = np.polynomial.legendre.leggauss(points)
    return (x + 1) / 2, w / 2


def nodes(knots: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Times and weights: Σ w f(t) is the integral over the motion of what is smooth between the knots."""
    ends = np.array(knots)
    share = -(-PANELS // (len(ends) - 1))
    borders = np.append(
        (ends[:-1, None] + np.diff(ends)[:, None] * np.arange(share) / share).ravel(), ends[-1]
    )
    x, w = _gauss(POINTS if len(borders) <= 8 * PANELS else FEW)
    h = np.diff(borders)[:, None]
    return (borders[:-1, None] + h * x).ravel(), (h * w).ravel()
