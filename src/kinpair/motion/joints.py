"""Motions of joints from one place to another, all on a straight line between both and at rest at its ends.

The shortest laws from rest to rest under limits of rate v, acceleration a and jerk j: 0 to 1 in seven pieces.

With T_j the time of a jerk, T_a that of speeding up, T_v that at constant speed:

    T_j = a/j,      T_a = T_j + v/a        if v j ≥ a², else   T_j = √(v/j),  T_a = 2 T_j
    T_v = 1/v − T_a                        if that is positive, else T_v = 0 and
    T_j = a/j,      a T_a² − a T_j T_a = 1 if j² ≥ 2 a³, else  T_j = (2j)^{−1/3},  T_a = 2 T_j   (MO5)

Without a limit of jerk T_j = 0 and the rate is a trapezoid.
"""

from __future__ import annotations

from math import isinf, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.motion.harmonics import Harmonics
from kinpair.motion.laws import cycloid_law, ends_of, polynomial_law
from kinpair.motion.limits import check_limited, rate_limits
from kinpair.motion.pieces import Pieces
from kinpair.motion.retimed import Straight, retimed
from kinpair.motion.trajectory import Trajectory, positive


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


def cycloid(start: Any, end: Any, duration: float) -> Trajectory:
    """Move from `start` to `end`, a number or a vector, in `duration` [s] by a cycloid (MO3): C²."""
    return straight(*ends_of("cycloid", start, end), cycloid_law(duration))


def polynomial(start: Any, end: Any, duration: float, *, order: int = 5) -> Trajectory:
    """Move from `start` to `end` by a polynomial of odd order (MO4): 5 is C² and has the least jerk, 7 is C³, 9 is C⁴.

    Units: places [rad] or [m], duration [s].
    """
    return straight(*ends_of("polynomial", start, end), polynomial_law(duration, order))


def trapezoid(
    start: Any,
    end: Any,
    duration: float | None = None,
    *,
    velocity: Any = None,
    acceleration: Any = None,
    of: Mechanism | None = None,
) -> Trajectory:
    """The shortest under limits of rate and acceleration (MO5), all joints together: C¹.

    Limits: a number, or one for each joint; those not given are taken from the file of the mechanism `of`. With a
    duration longer than the shortest it is stretched to it.

    Units: places [rad] or [m], limits [rad/s], [rad/s²] and so on, or [m/s], [m/s²].
    """
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": np.inf}
    return _limited("trapezoid", start, end, duration, given, of, ("velocity", "acceleration"))


def scurve(
    start: Any,
    end: Any,
    duration: float | None = None,
    *,
    velocity: Any = None,
    acceleration: Any = None,
    jerk: Any = None,
    of: Mechanism | None = None,
) -> Trajectory:
    """Move from `start` to `end` with limited jerk (MO5): C².

    Units: places [rad] or [m], limits [rad/s], [rad/s²] and so on, or [m/s], [m/s²].
    """
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    return _limited("scurve", start, end, duration, given, of, ("velocity", "acceleration", "jerk"))


def fourier(mean: Any, cosines: Any, sines: Any, period: float, *, periods: int = 1) -> Trajectory:
    """A periodic motion: mean (n,) + Σ_k cosines[k−1] cos(2πkt/period) + sines[k−1] sin(2πkt/period), k = 1, 2, ...

    cosines and sines: (terms, n). It lasts so many periods; before and after it rests where it begins.

    Units: [rad] or [m], period [s].
    """
    positive("fourier", period=period)
    a, b = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (cosines, sines))
    offset = np.asarray(mean, dtype=float)
    if a.shape != b.shape or a.shape[1:] != offset.shape:
        raise InputError(
            f"fourier: mean, cosines and sines have shapes {offset.shape}, {a.shape} and {b.shape}; "
            "give (n,), (terms, n) and (terms, n)"
        )
    if not (isinstance(periods, int) and periods > 0):  # type: ignore[redundant-expr]
        raise InputError(f"fourier: periods is {periods!r}; give a positive whole number")
    n, duration = prod(offset.shape), float(period) * periods
    angles = np.repeat(2 * np.pi * periods * np.arange(1, len(a) + 1)[:, None], n, axis=1)
    knots = tuple((float(period) * np.arange(periods + 1)).tolist())
    a, b = (x.reshape(len(x), n) for x in (a, b))
    return Harmonics(duration, offset.shape, knots, offset.reshape(n), np.zeros(n), a, b, angles)


def _limited(
    owner: str,
    start: Any,
    end: Any,
    duration: float | None,
    given: dict[str, Any],
    of: Mechanism | None,
    needed: tuple[str, ...],
) -> Trajectory:
    q0, q1 = ends_of(owner, start, end)
    span = np.ravel(q1 - q0)
    limits = rate_limits(owner, len(span), given, of)
    check_limited(owner, limits, span, needed)
    if not span.any():
        raise InputError(f"{owner}: start and end are the same; a motion under limits needs a distance")
    law = profile_law(*limits.of_path(span))
    if duration is not None:
        positive(owner, duration=duration)
        if duration < law.duration * (1 - 1e-12):
            raise InputError(
                f"{owner}: the limits need {law.duration:.6g} s; duration is {duration:g} s",
                shortest=law.duration,
            )
        law = profile_law(*limits.of_path(span), duration=float(duration))
    return straight(q0, q1, law)


def straight(start: np.ndarray, end: np.ndarray, law: Trajectory) -> Trajectory:
    """Move from start to end by a law from 0 to 1."""
    return retimed(Straight(1.0, start.shape, (0.0, 1.0), np.ravel(start), np.ravel(end)), law)
