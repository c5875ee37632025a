"""Motions through given points: splines, and polynomials with given derivatives at every point."""

from __future__ import annotations

from math import comb, factorial, prod
from typing import Any, Literal

import numpy as np

from kinpair.errors import InputError
from kinpair.motion.pieces import Pieces
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
    from scipy.interpolate import make_interp_spline  # SciPy takes its time

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
