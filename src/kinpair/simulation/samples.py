"""What the samples of a loop are: states and watched numbers, by name."""

from __future__ import annotations

import numpy as np

from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.watch.residual import NEAR, Residual, Singular


def samples_of(d: Dynamics, Y: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    """q, qd, tau (..., n, k), energies, work and loss (..., n); Y (..., n, ny), W (..., n, nw)."""
    nq, n = d.model.nq, d.model.nq + d.model.nv
    none = np.zeros(Y.shape[:-1])
    return {
        "q": Y[..., :nq],
        "qd": Y[..., nq:n],
        "tau": W[..., 2 : 2 + d.model.nv],
        "kinetic": W[..., 0],
        "potential": W[..., 1],
        "work": Y[..., n] if d.has_work else none,
        "loss": Y[..., n + d.has_work] if d.has_loss else none,
    }


def residual_of(d: Dynamics, W: np.ndarray) -> Residual | None:
    """How far the samples are from obeying the constraints; None where there are none."""
    return Residual(W[..., -2], W[..., -1]) if d.held is not None and d.held.ask.kept else None


def singular_of(d: Dynamics, Y: np.ndarray) -> Singular | None:
    """Where the constraints were nearest to dependence, if they came near to it."""
    if not d.traced or not Y.shape[-2]:
        return None
    trace = Y[..., d.trace_at : d.trace_at + 2].reshape(-1, 2)
    over, time = trace[np.argmax(np.nan_to_num(trace[:, 0]))]
    return Singular(float(1.0 / over), float(time)) if over > 1.0 / NEAR else None
