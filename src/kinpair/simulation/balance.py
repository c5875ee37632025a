"""Does the energy add up? stored = work − loss, at every sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCK = 1 << 16  # samples at a time: they may be on a disk, and more than fit into the memory


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


def balance(kinetic: np.ndarray, potential: np.ndarray, work: np.ndarray, loss: np.ndarray) -> Balance:
    """From samples (..., samples)."""
    if not kinetic.size:
        return Balance(0.0, 0.0, 0.0, 0.0, 0.0)
    if np.isnan(potential).all():
        return Balance(_last(work), _last(loss), np.nan, np.nan, np.nan)
    worst, moved = 0.0, 0.0
    samples = [np.atleast_2d(x) for x in (kinetic, potential, work, loss)]
    before = samples[0][:, :1] + samples[1][:, :1], samples[1][:, :1]
    ends = np.full((3, len(samples[0])), np.nan)  # work, loss, stored at the last sample that is a number
    for start in range(0, kinetic.shape[-1], BLOCK):
        part = [x[:, start : start + BLOCK] for x in samples]
        fine = np.isfinite(part[0]) & np.isfinite(part[1])
        T, V, W, D = (np.where(fine, x, np.nan) for x in part)
        stored = T + V - before[0]
        worst = max(worst, _largest(stored - W + D))
        moved = max(moved, *(_largest(x) for x in (T, V - before[1], W, D)))
        ends = _newer(ends, np.array([W, D, stored]), fine)
    done, taken, kept = (float(x) for x in np.nansum(ends, axis=1))
    return Balance(done, taken, kept, worst, worst / moved if moved else 0.0)


def _largest(x: np.ndarray) -> float:
    return float(np.nanmax(np.abs(x), initial=0.0))


def _newer(ends: np.ndarray, x: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """The last numbers of x (3, rows, samples) that are fine; where none is, the ends (3, rows) known before."""
    last = fine.shape[1] - 1 - np.argmax(fine[:, ::-1], axis=1)
    return np.where(fine.any(axis=1), x[:, np.arange(len(fine)), last], ends)


def _last(x: np.ndarray) -> float:
    """The sum over trajectories of the last sample that is a number."""
    rows = x.reshape(-1, x.shape[-1])
    return float(sum(row[np.isfinite(row)][-1] for row in rows if np.isfinite(row).any()))
