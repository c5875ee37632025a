"""Does the energy add up? stored = work − loss since the start of the run, at every sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.simulation.sample_memory import blocks

ROUNDING = 1e-12  # of the energies there are: less than that is not known of what moved


@dataclass(frozen=True, slots=True)
class Balance:
    """Energy [J]: done by drives and applied wrenches, taken by dampers and friction, stored since the start.

    `error` is the largest |stored − work + loss| over the samples, `relative` the same against the largest energy that
    moved. Of a batch, the sums over the trajectories and the worst of the errors.
    """

    work: float
    loss: float
    stored: float
    error: float
    relative: float


class Energies(NamedTuple):
    """Kinetic, potential, work and loss [J], each (..., samples)."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """Of every trajectory (rows,) [J]: work, loss and stored energy at the end, and the largest over the samples of
    energy that came from nowhere, that is missing, that moved, and that there was.
    """

    work: np.ndarray
    loss: np.ndarray
    stored: np.ndarray
    gained: np.ndarray
    missing: np.ndarray
    moved: np.ndarray
    size: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """The larger of what came and what is missing."""
        return np.maximum(self.gained, self.missing)

    def part(self, energy: np.ndarray) -> np.ndarray:
        """Of what moved; 0 where that is not more than rounding."""
        known = self.moved > ROUNDING * self.size
        return np.divide(energy, self.moved, out=np.zeros_like(energy), where=known)

    @property
    def balance(self) -> Balance:
        """Of all trajectories."""
        done, taken, kept = (float(np.nansum(x)) for x in (self.work, self.loss, self.stored))
        if len(self.stored) and np.isnan(self.stored).all():
            return Balance(done, taken, np.nan, np.nan, np.nan)
        worst = float(self.error.max(initial=0.0))
        return Balance(done, taken, kept, worst, float(self.part(self.error).max(initial=0.0)))


def start_of(samples: Energies, begin: np.ndarray | None) -> np.ndarray:
    """Kinetic and potential energy (rows, 2) at the start; those given, or those of the first sample.

    What was done and taken at the very start, by an impact, is in the first sample already.
    """
    if begin is not None:
        return np.reshape(begin, (-1, 2))
    T, V, W, D = (np.atleast_2d(x)[:, 0] for x in samples)
    return np.stack([T - W + D, V], axis=-1)


def off(samples: tuple[np.ndarray, ...], start: np.ndarray) -> np.ndarray:
    """stored − work + loss (rows, samples)."""
    T, V, W, D = samples
    return T + V - start.sum(axis=-1, keepdims=True) - W + D


def ledger(samples: Energies, begin: np.ndarray | None = None) -> Ledger:
    """From samples, and the energies (rows, 2) at the start of the run, if it is no sample."""
    rows = [np.atleast_2d(x) for x in samples]
    if not rows[0].size:
        none = np.zeros(len(rows[0]))
        return Ledger(none, none, none, none, none, none, none)
    start = start_of(samples, begin)
    ends = np.full((3, len(rows[0])), np.nan)  # work, loss, what is wrong at the last sample that is a number
    gained, missing, moved, size = np.zeros((4, len(rows[0])))
    V0 = start[:, 1]
    for part in blocks(*rows):
        T, V, W, D, fine = _numbers(part)
        wrong = off((T, V, W, D), start)
        low, high = _range(wrong)
        gained, missing = np.fmax(gained, high), np.fmax(missing, -low)
        (_, fastest), (deep, tall), (back, forth), (given, taken) = map(_range, (T, V, W, D))
        for x in (fastest, tall - V0, V0 - deep, forth, -back, taken, -given):
            moved = np.fmax(moved, x)
        for x in (fastest, tall, -deep):
            size = np.fmax(size, x)
        ends = _newer(ends, (W, D, wrong), fine)
    work, loss, wrong = ends
    return Ledger(work, loss, wrong + work - loss, gained, missing, moved, size)


def _range(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest number of each row."""
    return np.fmin.reduce(x, axis=1), np.fmax.reduce(x, axis=1)


def _numbers(part: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    """T, V, W, D (rows, samples), NaN where an energy is not a number, and where they are numbers; None: everywhere."""
    T, V = part[0], part[1]
    if np.isfinite(T.sum() + V.sum()):
        return *part, None
    fine = np.isfinite(T) & ~np.isinf(V)
    return *(np.where(fine, x, np.nan) for x in part), fine


def balance(samples: Energies, begin: np.ndarray | None = None) -> Balance:
    """The same, of all trajectories together."""
    return ledger(samples, begin).balance


def _newer(ends: np.ndarray, x: tuple[np.ndarray, ...], fine: np.ndarray | None) -> np.ndarray:
    """The last numbers of each x (rows, samples) that are fine; where none is, the ends (k, rows) known before."""
    if fine is None:
        return np.array([each[:, -1] for each in x])
    last = fine.shape[1] - 1 - np.argmax(fine[:, ::-1], axis=1)
    return np.where(fine.any(axis=1), np.array([each[np.arange(len(fine)), last] for each in x]), ends)
