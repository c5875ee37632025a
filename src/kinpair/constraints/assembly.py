"""Coordinates that close the loops: Newton's method along the rates, with the step held back where it overshoots.

    A δ = −φ,   q ← q ⊕ s δ                            δ of least norm, s ≤ 1 so that |φ| falls  (CA1)

The least-norm step goes to the branch nearest the guess; ⊕ moves along the rates, so quaternions stay of length one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

CLOSED = 1e-12  # [rad], or a part of the size of the mechanism
ROUNDED = 1e3 * CLOSED  # where Newton's method stands still for rounding alone
LONGEST = 0.5  # a step moves no coordinate by more than this [rad] or [m]
TRIALS = 200
HALVINGS = 12
DAMPING = 1e-9
MOST_DAMPED = 1e3
NEAR = 1.5  # [rad] or [m]: no leap
SHAKES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8, 1.2, 1.2, 1.6, 1.6)  # [rad] or [m]


@dataclass(frozen=True, slots=True, eq=False)
class Closing:
    """What is to be closed: φ(q) and its A(q), scaled so that one is much; how q moves along rates, how many there are,
    and which may move."""

    phi: Callable[[np.ndarray], np.ndarray]
    matrix: Callable[[np.ndarray], np.ndarray]
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rates: int
    free: Sequence[int]

    def step(self, q: np.ndarray, values: np.ndarray) -> np.ndarray:
        """q after a step of the free rates."""
        step = np.zeros(self.rates)
        step[list(self.free)] = values
        return self.moved(q, step)


class Assembled(NamedTuple):
    """The best coordinates found, their residual, and how many steps it took."""

    q: np.ndarray
    phi: np.ndarray
    steps: int
    closed: bool


def assemble(x: Closing, q: np.ndarray) -> Assembled:
    """From the guess q to φ(q) = 0, joint limits not looked at.

    A guess where the linkage is stretched or folded shows no way out, and from one near a fold Newton's method may leap
    far away: then the guess is shaken, more and more, and of what closes the nearest is taken.
    """
    best = newton(x, q)
    shakes = np.random.default_rng(len(x.free))
    for amount in SHAKES:
        if (best.closed and _distance(best, q) <= NEAR) or not x.free:
            break
        found = newton(x, x.step(q, amount * shakes.uniform(-1.0, 1.0, len(x.free))))
        best = min(
            best, found, key=lambda one: (not one.closed, _distance(one, q) if one.closed else _norm(one.phi))
        )
    return best


def _distance(found: Assembled, q: np.ndarray) -> float:
    return float(np.abs(found.q - q).max(initial=0.0))


def newton(x: Closing, q: np.ndarray) -> Assembled:
    """(CA1) until it is closed or stands still, or comes where the rows have no value."""
    found, steps, damping = x.phi(q), 0, DAMPING
    for _ in range(TRIALS):
        gap, A = _norm(found), x.matrix(q)[:, list(x.free)]
        if not np.isfinite(A).all() or not np.isfinite(gap):
            return Assembled(q, found, steps, False)
        if gap <= CLOSED:
            return Assembled(*_polished(x, q, found, A), steps, True)
        taken = _shortened(x, q, _step(A, found, damping), gap)
        if taken is not None:
            q, found = taken
            steps, damping = steps + 1, max(damping / 10.0, DAMPING)
        elif gap <= ROUNDED or damping > MOST_DAMPED:
            break
        else:
            damping *= 100.0
    return Assembled(q, found, steps, bool(_norm(found) <= ROUNDED))


def _polished(x: Closing, q: np.ndarray, phi: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One step more, from closed enough to closed as far as rounding goes: redundant rows then agree."""
    there = x.step(q, _step(A, phi, DAMPING))
    return min((q, phi), (there, x.phi(there)), key=lambda found: _norm(found[1]))


def _step(A: np.ndarray, phi: np.ndarray, damping: float) -> np.ndarray:
    """(CA1), damped a little so that directions that A hardly sees are left alone, and not too long."""
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    filtered = sigma / (sigma * sigma + damping * max(float(sigma.max(initial=0.0)), 1e-6) ** 2)
    delta = -Vt.T @ (filtered * (U.T @ phi))
    return delta * min(1.0, LONGEST / max(np.abs(delta).max(initial=0.0), 1e-300))


def _shortened(
    x: Closing, q: np.ndarray, delta: np.ndarray, gap: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """The longest of the halved steps after which |φ| has fallen enough."""
    for halving in range(HALVINGS):
        there = x.step(q, delta * 0.5**halving)
        found = x.phi(there)
        if _norm(found) < gap * (1.0 - 1e-4 * 0.5**halving):
            return there, found
    return None


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x)) if np.isfinite(x).all() else np.inf
