"""Does the energy add up? stored = work − loss, at every sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
    fine = np.isfinite(kinetic) & np.isfinite(potential)
    kinetic, potential, work, loss = (np.where(fine, x, np.nan) for x in (kinetic, potential, work, loss))
    total = kinetic + potential
    stored = total - total[..., :1]
    error = np.abs(stored - work + loss)
    parts = (kinetic, potential - potential[..., :1], work, loss)
    moved = max(float(np.nanmax(np.abs(x), initial=0.0)) for x in parts)
    worst = float(np.nanmax(error, initial=0.0))
    return Balance(_last(work), _last(loss), _last(stored), worst, worst / moved if moved else 0.0)


def _last(x: np.ndarray) -> float:
    """The sum over trajectories of the last sample that is a number."""
    rows = x.reshape(-1, x.shape[-1])
    return float(sum(row[np.isfinite(row)][-1] for row in rows if np.isfinite(row).any()))
