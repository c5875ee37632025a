"""Which efforts make a constrained mechanism move as wanted.

    S τ + Aᵀ λ = r = H q̈ + h                          S: columns of the actuated rates           (CI1)
    ZᵀS τ = Zᵀ r                                       Z: rates the constraints allow             (CI2)

Of several solutions the one with the smallest |τ| is taken. If there are fewer actuators than freedoms, (CI2) may
have none: then no effort of these actuators makes this motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.constraints.solvers.rank_revealing import lengths, null_space, rank_of

REACHED = 1e-8  # what may stay unbalanced, against the size of the efforts needed


class Efforts(NamedTuple):
    """τ of the actuated rates, λ of all rows (least norm), what stays unbalanced, and whether another τ would do."""

    tau: np.ndarray
    lam: np.ndarray
    unbalanced: np.ndarray
    possible: bool
    spare: int  # dimensions in which τ could be changed without a change of motion


def efforts(r: np.ndarray, A: np.ndarray, actuated: np.ndarray) -> Efforts:
    """τ and λ of (CI1); `actuated` are numbers of rates."""
    Z = null_space(A)
    reduced = Z[actuated].T  # ZᵀS
    U, sigma, Vt = np.linalg.svd(reduced, full_matrices=False)
    rank = rank_of(sigma)
    own = Vt[:rank].T @ ((U[:, :rank].T @ (Z.T @ r)) / sigma[:rank])  # (CI2)
    tau = np.zeros_like(r)
    tau[actuated] = own
    missing = Z @ (Z.T @ (r - tau))
    lam = multipliers_of(A, r - tau)
    possible = bool(np.abs(missing).max(initial=0.0) <= REACHED * (1.0 + np.abs(r).max(initial=0.0)))
    return Efforts(tau, lam, missing, possible, len(actuated) - rank)


def multipliers_of(A: np.ndarray, efforts: np.ndarray) -> np.ndarray:
    """The least-norm λ of Aᵀλ = efforts."""
    if not len(A):
        return np.zeros(0)
    sizes = lengths(A)
    return np.linalg.lstsq((A / sizes[:, None]).T, efforts, rcond=1e-12)[0] / sizes
