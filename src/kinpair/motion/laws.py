"""Laws of motion along a path, and motions of sines and cosines.

Motions made of a straight part and of sines and cosines.

q(t) = c + d x + Σ_k a_k cos ω_k x + b_k sin ω_k x,   x = t/T                                (MO2)

Laws of motion along a path: from 0 to 1 in a duration, x = t/T.

    cycloid              s = x − sin(2πx)/(2π)                                                   (MO3)
    order 2k + 1         s = x^{k+1} Σ_{j=0..k} C(k+j, j) C(2k+1, k−j) (−x)^j                    (MO4)

The cycloid has two continuous derivatives, the polynomial of order 2k + 1 has k, rest before and after included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial, pi
from typing import Any, final

import numpy as np

from kinpair.errors import InputError, listed, offered
from kinpair.motion.pieces import Pieces
from kinpair.motion.trajectory import Trajectory, positive

TURN = 2 * pi


@final
@dataclass(frozen=True, eq=False, repr=False)
class Harmonics(Trajectory):
    """(MO2) for n entries: offset and slope (n,), cosines, sines and angles ω (terms, n)."""

    offset: np.ndarray
    slope: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    angles: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        x = time / self.duration
        found: list[Any] = [self.offset + self.slope * x, self.slope + 0.0 * x]
        found = (found + [0.0 * found[0]] * order)[: order + 1]
        for a, b, omega in zip(self.cosines, self.sines, self.angles, strict=True):
            angle = omega * x
            angle = angle - TURN * np.floor(
                angle / TURN + 0.5
            )  # after whole turns exactly what it was before
            c, s = np.cos(angle), np.sin(angle)
            for k in range(order + 1):
                found[k] = found[k] + omega**k / factorial(k) * (a * c + b * s)
                c, s = -s, c  # what cosine and sine become when differentiated
        return [y / self.duration**k if k else y for k, y in enumerate(found)]


Law = str | Trajectory


def cycloid_law(duration: float) -> Harmonics:
    """Cycloidal law of motion.    (MO3)"""
    positive("cycloid", duration=duration)
    one, term = np.ones(1), np.ones((1, 1))
    return Harmonics(
        float(duration), (), (0.0, float(duration)), 0 * one, one, 0 * term, -term / (2 * pi), 2 * pi * term
    )


def polynomial_law(duration: float, order: int = 5) -> Pieces:
    """Polynomial law of motion.    (MO4)"""
    positive("polynomial", duration=duration)
    if order not in range(1, 22, 2):
        raise InputError(f"polynomial: order is {order!r}; give an odd number from 1 to 21, such as 5 or 7")
    k = order // 2
    tail = [(-1) ** j * comb(k + j, j) * comb(2 * k + 1, k - j) for j in range(k + 1)]
    powers = np.array([0] * (k + 1) + tail, dtype=float)
    return Pieces(float(duration), (), (0.0, float(duration)), powers.reshape(1, -1, 1))


ORDERS = {"linear": 1, "cubic": 3, "quintic": 5, "septic": 7, "nonic": 9}
LAWS: dict[str, Callable[[float], Trajectory]] = {
    "cycloid": cycloid_law,
    **{name: lambda duration, order=order: polynomial_law(duration, order) for name, order in ORDERS.items()},
}


def law_of(owner: str, law: Law, duration: float | None) -> Trajectory:
    """A law by name, with its duration; or a motion of one coordinate from 0 to 1, which has its own."""
    if isinstance(law, str):
        if law not in LAWS:
            raise InputError(f"{owner}: no law {law!r}; {offered(law, 'laws', LAWS)}")
        if duration is None:
            raise InputError(f"{owner}: give a duration [s] for the law {law!r}, or a law that has its own")
        positive(owner, duration=duration)
        return LAWS[law](duration)
    if duration is not None:
        raise InputError(
            f"{owner}: the law given has its own duration, {law.duration:g} s; leave duration out"
        )
    ends = np.concatenate([np.ravel(law.at(time).q) for time in (0.0, law.duration)])
    if law.shape != () or np.abs(ends - [0.0, 1.0]).max() > 1e-12:
        raise InputError(
            f"{owner}: a law leads one coordinate from 0 to 1; this one leads {listed_ends(law)}"
        )
    return law


def listed_ends(law: Trajectory) -> str:
    """Ends of a motion, checked."""
    start, end = (np.ravel(law.at(time).q) for time in (0.0, law.duration))
    return f"from {listed(f'{x:g}' for x in start)} to {listed(f'{x:g}' for x in end)}"


def ends_of(owner: str, start: Any, end: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both ends as arrays of the same shape."""
    q0, q1 = (np.asarray(x, dtype=float) for x in (start, end))
    if q0.shape != q1.shape:
        raise InputError(f"{owner}: start has shape {q0.shape} and end {q1.shape}; give both the same")
    if not (np.isfinite(q0).all() and np.isfinite(q1).all()):
        raise InputError(f"{owner}: start and end must be finite numbers")
    return q0, q1
