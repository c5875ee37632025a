"""Coordinates that close the loops: Newton's method along the rates, with the step shortened where it overshoots.

    A δ = −φ,   q ← q ⊕ s δ                            δ of least norm, s ≤ 1 so that |φ| falls  (CA1)

The least-norm step goes to the branch nearest the guess; ⊕ moves along the rates, so quaternions stay of length one.
Within limits a rate that would take its coordinate beyond one goes as far as the limit, and the others make up for it:

    A_f δ_f = −φ − A_s δ_s                             s: stopped at a limit, f: the others          (CA2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinpair.constraints.rounding import BEYOND, CLOSED, DAMPED_STEP, MEANT, NO_LENGTH, SMALLEST

ROUNDED = 1e3 * CLOSED  # where Newton's method stands still for rounding alone
LONGEST = 0.5  # a step moves no coordinate by more than this [rad] or [m]
TRIALS = 200
SEARCH = 50  # the same within limits, where one guess after another is tried
HALVINGS = 12
MOST_DAMPED = 1e3
NEAR = 1.5  # [rad] or [m]: no leap
TURN = 2.0 * np.pi
WIDE = np.pi  # [rad] or [m]: how far a coordinate without limits is moved in search of others within theirs
# parts of the way from the guess to a place anywhere within limits
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0)
SHAKES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.8, 1.2, 1.2, 1.6, 1.6)  # [rad] or [m]


@dataclass(frozen=True, slots=True, eq=False)
class Closing:
    """Problem of closing loops: φ(q) and its A(q), scaled so that one is much; how q moves along rates, how many
    there are, and which may move."""

    phi: Callable[[np.ndarray], np.ndarray]
    matrix: Callable[[np.ndarray], np.ndarray]
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray]
    rates: int
    free: Sequence[int]

    def felt(self, *places: np.ndarray) -> Closing:
        """Return the problem without rates on which no row depends, as far as these places show: nothing is gained
        by them."""
        seen = np.any([(self.matrix(q) != 0.0).any(0) for q in places], axis=0)
        return replace(self, free=[k for k in self.free if seen[k]])

    def step(self, q: np.ndarray, values: np.ndarray) -> np.ndarray:
        """q after a step of the free rates."""
        step = np.zeros(self.rates)
        step[list(self.free)] = values
        return self.moved(q, step)


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Limits of coordinates by rate; ±∞ for a rate that has none or is no rate of one coordinate (then `of` is −1)."""

    of: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def of_rates(self, some: Sequence[int]) -> Box:
        """The limits of these rates alone."""
        taken = np.isin(np.arange(len(self.of)), some)
        return Box(self.of, np.where(taken, self.lower, -np.inf), np.where(taken, self.upper, np.inf))

    def positions(self, q: np.ndarray) -> np.ndarray:
        """The coordinate of each rate, zero where it has none."""
        return np.where(self.of >= 0, q.take(self.of, axis=-1), 0.0)

    def beyond(self, q: np.ndarray) -> np.ndarray:
        """Distance of each coordinate beyond its limits, by rate; negative within."""
        x = self.positions(q)
        return np.fmax(self.lower - x, x - self.upper)

    def holds(self, q: np.ndarray) -> bool:
        """True if every coordinate is within its limits."""
        return bool((self.beyond(q) <= BEYOND).all())

    def room(self, q: np.ndarray, some: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Distances that these rates may take their coordinates, down and up."""
        x = self.positions(q)
        return (self.lower - x)[list(some)], (self.upper - x)[list(some)]

    def moved(self, q: np.ndarray, to: np.ndarray) -> np.ndarray:
        """q with the limited coordinates at `to`, by rate, or at the limit before it."""
        there, limited = q.copy(), np.isfinite(self.lower) | np.isfinite(self.upper)
        there[..., self.of[limited]] = np.clip(to, self.lower, self.upper)[..., limited]
        return there

    def turned(self, q: np.ndarray) -> np.ndarray:
        """q with full turns taken off what is beyond a limit; no solution where that is no angle."""
        over = self.beyond(q)
        if not (over > 0.0).any():
            return q.copy()
        x = self.positions(q)
        turns = np.where(over > BEYOND, np.ceil(np.fmax(over, 0.0) / TURN), 0.0)
        return self.moved(q, x + TURN * turns * np.where(x < self.lower, 1.0, -1.0))


class Assembled(NamedTuple):
    """The best coordinates found, their residual, how many steps it took, and the rates whose limits are passed."""

    q: np.ndarray
    phi: np.ndarray
    steps: int
    closed: bool
    beyond: tuple[int, ...] = ()


def assemble(x: Closing, q: np.ndarray) -> Assembled:
    """Solve φ(q) = 0 from the guess q, limits not looked at.

    A guess where the linkage is stretched or folded gives no direction, and from one near a fold Newton's method may
    leap far away: then the guess is shaken, more and more, and of what closes the nearest is taken.
    """
    best = newton(x, q)
    if _is_near(best, q):
        return best
    x = x.felt(q, best.q)
    shakes = np.random.default_rng(len(x.free))
    for amount in SHAKES if x.free else ():
        assembled = newton(x, x.step(q, amount * shakes.uniform(-1.0, 1.0, len(x.free))))
        best = min(
            best,
            assembled,
            key=lambda one: (not one.closed, _distance(one, q) if one.closed else _norm(one.phi)),
        )
        if _is_near(best, q):
            break
    return best


def assemble_within(x: Closing, box: Box, q: np.ndarray) -> Assembled:
    """Assemble as `assemble`; where that ends beyond a limit, the first solution within all of them that a search
    finds, if any.

    Coordinates on which no row depends stay as they are, wherever they are; and so does a guess that closes but for the
    digits left out: it is a position.
    """
    assembled = assemble(x, q)
    if not assembled.closed or box.holds(assembled.q):
        return assembled
    x = x.felt(q, assembled.q)
    box = box.of_rates(x.free)
    passed = tuple(np.flatnonzero(box.beyond(assembled.q) > BEYOND).tolist())
    if not passed or _distance(assembled, q) <= MEANT:
        return assembled._replace(beyond=passed)
    turned = box.turned(assembled.q)
    if box.holds(turned) and _norm(x.phi(turned)) <= ROUNDED:
        return assembled._replace(q=turned, phi=x.phi(turned))
    inside = (newton(x, guess, box, SEARCH) for guess in _guesses(x, box, q))
    return next((one for one in inside if one.closed and box.holds(one.q)), assembled._replace(beyond=passed))


def _guesses(x: Closing, box: Box, q: np.ndarray) -> Iterator[np.ndarray]:
    """The guess moved within the limits, then farther and farther towards anywhere within them."""
    draws, free = np.random.default_rng(len(x.free)), list(x.free)
    for share in SHARES:
        here = box.positions(q)
        low = np.where(np.isfinite(box.lower), box.lower, here - WIDE)
        high = np.where(np.isfinite(box.upper), box.upper, here + WIDE)
        step = share * (draws.uniform(np.fmin(low, high), np.fmax(low, high)) - here)
        there = x.step(q, step[free])
        yield box.moved(there, box.positions(there))


def _is_near(assembled: Assembled, q: np.ndarray) -> bool:
    return assembled.closed and _distance(assembled, q) <= NEAR


def _distance(assembled: Assembled, q: np.ndarray) -> float:
    return float(np.abs(assembled.q - q).max(initial=0.0))


def newton(x: Closing, q: np.ndarray, box: Box | None = None, trials: int = TRIALS) -> Assembled:
    """(CA1), within a box (CA2), until it is closed or stands still, or comes where the rows have no value."""
    residual, steps, damping = x.phi(q), 0, DAMPED_STEP
    for _ in range(trials):
        gap, A = _norm(residual), x.matrix(q)[:, list(x.free)]
        if not np.isfinite(A).all() or not np.isfinite(gap):
            return Assembled(q, residual, steps, False)
        if gap <= CLOSED:
            return Assembled(*_polished(x, q, residual, A), steps, True)
        whole = A, residual, damping
        delta = _step(*whole) if box is None else _stopped(*whole, *box.room(q, x.free))
        taken = _shortened(x, q, delta, gap)
        if taken is not None:
            q, residual = taken
            steps, damping = steps + 1, max(damping / 10.0, DAMPED_STEP)
        elif gap <= ROUNDED or damping > MOST_DAMPED:
            break
        else:
            damping *= 100.0
    return Assembled(q, residual, steps, bool(_norm(residual) <= ROUNDED))


def _polished(x: Closing, q: np.ndarray, phi: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Take one step more, from closed enough to closed as far as rounding goes: redundant rows then agree."""
    there = x.step(q, _step(A, phi, DAMPED_STEP))
    return min((q, phi), (there, x.phi(there)), key=lambda pair: _norm(pair[1]))


def _step(A: np.ndarray, phi: np.ndarray, damping: float) -> np.ndarray:
    """(CA1), damped a little so that directions that A hardly sees are left alone, and not too long."""
    S = A.T @ A
    S[np.diag_indices_from(S)] += damping * max(float(np.linalg.norm(S)), SMALLEST)
    delta = np.linalg.solve(S, -A.T @ phi)
    return delta * min(1.0, LONGEST / max(np.abs(delta).max(initial=0.0), NO_LENGTH))


def _stopped(A: np.ndarray, phi: np.ndarray, damping: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(CA2): the step with what would go too far stopped at its limit, one after another."""
    delta, free = _step(A, phi, damping), np.ones(A.shape[1], dtype=bool)
    while (over := free & ((delta < low) | (delta > high))).any():
        free &= ~over
        delta[over] = np.clip(delta, low, high)[over]
        delta[free] = _step(A[:, free], phi + A[:, ~free] @ delta[~free], damping)  # (CA2)
    return delta


def _shortened(
    x: Closing, q: np.ndarray, delta: np.ndarray, gap: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """The longest of the halved steps after which |φ| has fallen enough."""
    for halving in range(HALVINGS):
        there = x.step(q, delta * 0.5**halving)
        residual = x.phi(there)
        if _norm(residual) < gap * (1.0 - 1e-4 * 0.5**halving):
            return there, residual
    return None


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x)) if np.isfinite(x).all() else np.inf
