"""Does the energy add up? stored = work − loss since the start of the run, at every sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinpair.simulation.blocks import blocks

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
    ends = np.full((3, len(rows[0])), np.nan)  # work, loss, stored at the last sample that is a number
    gained, missing, moved, size = np.zeros((4, len(rows[0])))
    for part in blocks(*rows):
        fine = np.isfinite(part[0]) & ~np.isinf(part[1])
        T, V, W, D = part if fine.all() else (np.where(fine, x, np.nan) for x in part)
        wrong = off((T, V, W, D), start)
        gained, missing = _larger(gained, wrong), _larger(missing, -wrong)
        for x in (T, np.abs(V - start[:, 1:]), np.abs(W), np.abs(D)):
            moved = _larger(moved, x)
        size = _larger(_larger(size, T), np.abs(V))
        ends = _newer(ends, np.array([W, D, wrong + W - D]), fine)
    work, loss, stored = ends
    return Ledger(work, loss, stored, gained, missing, moved, size)


def balance(samples: Energies, begin: np.ndarray | None = None) -> Balance:
    """The same, of all trajectories together."""
    return ledger(samples, begin).balance


def _larger(known: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The largest number of each row of x (rows, samples), or the one known."""
    return np.fmax(known, np.fmax.reduce(x, axis=1))


def _newer(ends: np.ndarray, x: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """The last numbers of x (k, rows, samples) that are fine; where none is, the ends (k, rows) known before."""
    last = fine.shape[1] - 1 - np.argmax(fine[:, ::-1], axis=1)
    return np.where(fine.any(axis=1), x[:, np.arange(len(fine)), last], ends)
