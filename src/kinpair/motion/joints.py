"""Motions of joints: from one place to another, and through given points.

Motions through given points: splines, and polynomials with given derivatives at every point.

Motions of joints from one place to another, all on a straight line between both and at rest at its ends.

The shortest laws from rest to rest under limits of rate v, acceleration a and jerk j: 0 to 1 in seven pieces.

With T_j the time of a jerk, T_a that of speeding up, T_v that at constant speed:

    T_j = a/j,      T_a = T_j + v/a        if v j ≥ a², else   T_j = √(v/j),  T_a = 2 T_j
    T_v = 1/v − T_a                        if that is positive, else T_v = 0 and
    T_j = a/j,      a T_a² − a T_j T_a = 1 if j² ≥ 2 a³, else  T_j = (2j)^{−1/3},  T_a = 2 T_j   (MO5)

Without a limit of jerk T_j = 0 and the rate is a trapezoid.
"""

from __future__ import annotations

from math import comb, factorial, isinf, prod, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.motion.laws import Harmonics, cycloid_law, ends_of, polynomial_law
from kinpair.motion.limits import check_limited, rate_limits
from kinpair.motion.pieces import Pieces, Straight, retimed
from kinpair.motion.trajectory import Trajectory, positive

Ends = Literal["rest", "free", "periodic"]


def spline(
    points: Any, duration: float | None = None, *, times: Any = None, order: int = 5, ends: Ends = "rest"
) -> Trajectory:
    """Move through points (k, n), at `times` (k,) or in a duration with times by the distances between points.

    A spline of odd order has order − 1 continuous derivatives between its ends. ends: "rest" makes as many
    derivatives zero as it needs conditions there (order 5: rates and accelerations), "free" lets the highest
    derivatives be continuous at the points next to the ends, "periodic" makes the end go on as the start.

    Units: times [s], places [rad] or [m].
    """
    from scipy.interpolate import make_interp_spline  # imported late: SciPy is slow to import

    q = np.asarray(points, dtype=float)
    t = _times(q, duration, times)
    if order not in (3, 5, 7):
        raise InputError(f"spline: order is {order!r}; give 3, 5 or 7")
    if ends not in ("rest", "free", "periodic"):
        raise InputError(f"spline: ends is {ends!r}; give 'rest', 'free' or 'periodic'")
    if ends == "free" and len(q) <= order:
        raise InputError(f"spline: order {order} with free ends needs {order + 1} points; these are {len(q)}")
    if ends == "periodic" and not np.array_equal(q[0], q[-1]):
        raise InputError("spline: a periodic motion ends where it starts; make the last point the first one")
    n = prod(q.shape[1:])
    still = [(k, np.zeros(n)) for k in range(1, order // 2 + 1)]
    conditions: Any = {"rest": (still, still), "free": None, "periodic": "periodic"}[ends]
    found, h = make_interp_spline(t, q.reshape(len(q), n), k=order, bc_type=conditions), np.diff(t)[:, None]
    powers = np.stack([found(t[:-1], nu=k) * h**k / factorial(k) for k in range(order + 1)], axis=1)
    return Pieces(float(t[-1]), q.shape[1:], tuple(t.tolist()), powers)


def _times(q: np.ndarray, duration: float | None, times: Any) -> np.ndarray:
    if q.ndim == 0 or len(q) < 2 or not np.isfinite(q).all():
        raise InputError(
            f"spline: points have shape {q.shape}; give two or more points (k, n) of finite numbers"
        )
    if (duration is None) == (times is None):
        raise InputError("spline: give either a duration or times")
    if duration is not None:
        positive("spline", duration=duration)
        steps = np.sqrt((np.diff(q.reshape(len(q), -1), axis=0) ** 2).sum(1))
        if not steps.all():
            raise InputError("spline: two points that follow each other are the same; give times")
        along = np.concatenate([[0.0], np.cumsum(steps)])
        return np.append(duration * along[:-1] / along[-1], duration)
    t = np.asarray(times, dtype=float)
    if t.shape != (len(q),) or t[0] != 0.0 or not (np.diff(t) > 0).all():
        raise InputError(f"spline: times must be {len(q)} numbers that increase from 0, one for each point")
    return t


def through(times: np.ndarray, *values: np.ndarray) -> Pieces:
    """The polynomials that have values (k, n) and derivatives (k, n), as many as are given, at the times (k,).

    With x = (t − t_i)/h_i, and m values at each end, the polynomial of degree 2m − 1:
    Σ_{d<m} f_d x^d (1−x)^m Σ_{j<m−d} C(m−1+j, j) x^j / d! + the same from the other end.      (MO6)
    """
    h, m = np.diff(times)[:, None], len(values)
    powers = np.zeros((len(h), 2 * m, values[0].shape[1]))
    for d, value in enumerate(values):
        own = _hermite(m, d)
        scaled = value[:-1] * h**d, value[1:] * (-h) ** d
        powers += own[None, :, None] * scaled[0][:, None] + _mirrored(own)[None, :, None] * scaled[1][:, None]
    return Pieces(float(times[-1]), values[0].shape[1:], tuple(times.tolist()), powers)


def _hermite(m: int, d: int) -> np.ndarray:
    """Powers of the polynomial whose derivative d is 1 at 0, and all others below m are 0 at 0 and at 1."""
    P = np.polynomial.polynomial
    tail = np.array([comb(m - 1 + j, j) for j in range(m - d)], dtype=float)
    made = P.polymul(P.polymul(P.polypow([1.0, -1.0], m), tail), [0.0] * d + [1.0])
    return np.pad(made, (0, 2 * m - len(made))) / factorial(d)


def _mirrored(powers: np.ndarray) -> np.ndarray:
    """p(1 − x)."""
    P = np.polynomial.polynomial
    made = np.zeros(1)
    for c in powers[::-1]:
        made = P.polyadd(P.polymul(made, [1.0, -1.0]), [c])
    return np.pad(made, (0, len(powers)))[: len(powers)]


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
