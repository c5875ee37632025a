"""What the samples of a loop are: states and watched numbers, by name."""

from __future__ import annotations

import numpy as np

from kinpair.simulation.dynamics import Dynamics


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
