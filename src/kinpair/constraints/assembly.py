"""Coordinates that close the loops: Newton's method along the rates, with the step held back where it overshoots.

    A δ = −φ,   q ← q ⊕ s δ                            δ of least norm, s ≤ 1 so that |φ| falls  (CA1)

The least-norm step goes to the branch nearest the guess; ⊕ moves along the rates, so quaternions stay of length one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

CLOSED = 1e-12  # [m] or [rad], against the size of the mechanism
LONGEST = 0.5  # a step moves no coordinate by more than this [rad] or [m]
TRIALS = 200
DAMPING = 1e-9
SHAKES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8, 1.2, 1.2, 1.6, 1.6)  # [rad] or [m]


class Assembled(NamedTuple):
    """The best coordinates found, their residual, and how many steps it took."""

    q: np.ndarray
    phi: np.ndarray
    steps: int
    closed: bool


def assemble(
    phi: Callable[[np.ndarray], np.ndarray],
    matrix: Callable[[np.ndarray], np.ndarray],
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    free: Sequence[int],
    size: float,
) -> Assembled:
    """From the guess q to φ(q) = 0, moving only the rates `free`.

    A guess where the linkage is stretched or folded shows no way out: then it is shaken, more and more.
    """
    best = newton(phi, matrix, moved, q, free, size)
    shakes = np.random.default_rng(len(free))
    for amount in SHAKES:
        if best.closed or not free:
            break
        step = np.zeros(matrix(q).shape[1])
        step[list(free)] = amount * shakes.uniform(-1.0, 1.0, len(free))
        found = newton(phi, matrix, moved, moved(q, step), free, size)
        if found.closed or _norm(found.phi) < _norm(best.phi):
            best = found
    return best


def newton(
    phi: Callable[[np.ndarray], np.ndarray],
    matrix: Callable[[np.ndarray], np.ndarray],
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    free: Sequence[int],
    size: float,
) -> Assembled:
    """(CA1) until it is closed or stands still."""
    found = phi(q)
    best = _norm(found)
    steps = 0
    damping = DAMPING
    for _ in range(TRIALS):
        if best <= CLOSED * size:
            break
        delta = _step(matrix(q), found, free, damping)
        delta *= min(1.0, LONGEST / max(np.abs(delta).max(initial=0.0), 1e-300))
        taken = _shortened(phi, moved, q, delta, best)
        if taken is None:
            if best <= 1e3 * CLOSED * size or damping > 1e3:
                break
            damping *= 100.0
            continue
        q, found = taken
        best, steps, damping = _norm(found), steps + 1, max(damping / 10.0, DAMPING)
    if best <= CLOSED * size:  # one step more: from closed enough to closed as far as rounding goes
        there = moved(q, _step(matrix(q), found, free, DAMPING))
        q, found = min((q, found), (there, phi(there)), key=lambda x: _norm(x[1]))
    return Assembled(q, found, steps, bool(best <= 1e3 * CLOSED * size))


def _step(A: np.ndarray, phi: np.ndarray, free: Sequence[int], damping: float) -> np.ndarray:
    """(CA1), damped a little so that directions that A hardly sees are left alone."""
    U, sigma, Vt = np.linalg.svd(A[:, list(free)], full_matrices=False)
    filtered = sigma / (sigma * sigma + damping * max(float(sigma.max(initial=0.0)), 1e-6) ** 2)
    delta = np.zeros(A.shape[1])
    delta[list(free)] = -Vt.T @ (filtered * (U.T @ phi))
    return delta


def _shortened(
    phi: Callable[[np.ndarray], np.ndarray],
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    delta: np.ndarray,
    best: float,
) -> tuple[np.ndarray, np.ndarray] | None:
    for halving in range(12):
        there = moved(q, delta * 0.5**halving)
        found = phi(there)
        if _norm(found) < best * (1.0 - 1e-4 * 0.5**halving):
            return there, found
    return None


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x)) if np.isfinite(x).all() else np.inf
