"""The shortest laws from rest to rest under limits of rate v, acceleration a and jerk j: 0 to 1 in seven pieces.

With T_j the time of a jerk, T_a that of speeding up, T_v that at constant speed:

    T_j = a/j,      T_a = T_j + v/a        if v j ≥ a², else   T_j = √(v/j),  T_a = 2 T_j
    T_v = 1/v − T_a                        if that is positive, else T_v = 0 and
    T_j = a/j,      a T_a² − a T_j T_a = 1 if j² ≥ 2 a³, else  T_j = (2j)^{−1/3},  T_a = 2 T_j   (MO5)

Without a limit of jerk T_j = 0 and the rate is a trapezoid.
"""

from __future__ import annotations

from math import isinf, sqrt
from typing import NamedTuple

import numpy as np

from kinpair.motion.pieces import Pieces


class Times(NamedTuple):
    """Times of a jerk, of speeding up, and at constant speed."""

    jerk: float
    speeding: float
    cruising: float


def times(v: float, a: float, j: float) -> Times:
    """Times of an s-curve.    (MO5)"""
    T_j = 0.0 if isinf(j) else a / j
    T_a = T_j + v / a
    if not isinf(j) and v * j < a * a:
        T_j = sqrt(v / j)
        T_a = 2 * T_j
    if (T_v := 1 / v - T_a) > 0:
        return Times(T_j, T_a, T_v)
    T_j = 0.0 if isinf(j) else a / j
    if isinf(j) or j * j >= 2 * a**3:
        return Times(T_j, (T_j + sqrt(T_j * T_j + 4 / a)) / 2, 0.0)
    T_j = (2 * j) ** (-1 / 3)
    return Times(T_j, 2 * T_j, 0.0)


def profile_law(v: float, a: float, j: float, duration: float | None = None) -> Pieces:
    """The shortest law under the limits, or the same stretched to a longer duration."""
    T_j, T_a, T_v = times(v, a, j)
    flat = T_a - 2 * T_j
    peak = 1 / (T_a + T_v)  # largest rate
    top = peak / (T_a - T_j)  # largest acceleration
    slope = top / T_j if T_j else 0.0
    up = [(T_j, 0.0, slope), (flat, top, 0.0), (T_j, top, -slope)]  # duration, acceleration, jerk
    down = [(h, -a0, -jerk) for h, a0, jerk in up]
    pieces = [x for x in (*up, (T_v, 0.0, 0.0), *down) if x[0] > 1e-12 * T_a]
    knots, rows, s, rate = [0.0], [], 0.0, 0.0
    for h, a0, jerk in pieces:
        rows.append([s, rate * h, a0 * h * h / 2, jerk * h**3 / 6])
        s, rate = s + rate * h + a0 * h * h / 2 + jerk * h**3 / 6, rate + a0 * h + jerk * h * h / 2
        knots.append(knots[-1] + h)
    stretched = np.array(knots) * (1.0 if duration is None else duration / knots[-1])
    rows = np.array(rows) / s
    return Pieces(float(stretched[-1]), (), tuple(stretched.tolist()), rows[:, : 3 if isinf(j) else 4, None])
