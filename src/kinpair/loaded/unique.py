"""Is there exactly one solution? A proof, where the loads answer weakly enough to friction.

With the levels μ N given, the friction forces of surfaces at rest are the one minimum of a convex function on a box:
they are piecewise linear in N. On a piece, the surfaces T stick and the others S slide:

    ∂f_S/∂N = ±μ,     ∂f_T/∂N = ∓A_TT⁻¹ A_TS μ                                                            (FU1)
    M_jl: the largest |∂f_j/∂N_l| over all T                                                              (FU2)
    |ΔN_k| ≤ Σ_j S_kj |Δf_j|,     S_kj: load of column j of C_k, without preload                            (FU3)

So N ← load(f(N)) contracts where the spectral radius of S M is below one, and then one N and one f fit, whatever the
mode. Where it is not, several may, or none.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from kinpair.loaded.resting import RANK, Resting

SURE = 1.0 - 1e-9  # of the spectral radius
MANY = 10  # surfaces at rest: beyond, nothing is proved


def is_unique(x: Resting) -> bool:
    """Is it proved that the system has exactly one solution?"""
    spread = _spread(x)
    if not np.isfinite(spread).all():
        return False
    answer = _answers(x)
    return answer is not None and bool(np.abs(np.linalg.eigvals(spread @ answer)).max(initial=0.0) < SURE)


def _spread(x: Resting) -> np.ndarray:
    """S (surfaces, numbers).    (FU3)"""
    S = np.empty((len(x.surfaces), len(x.a)))
    for k, surface in enumerate(x.surfaces):
        force = np.eye(len(x.a))[x.where[k]]
        S[k] = surface.spread(list(x.C[k]), force)
    return S


def _answers(x: Resting) -> np.ndarray | None:
    """M (numbers, surfaces); None where it is not known.    (FU1), (FU2)"""
    n, still = len(x.a), x.still
    if len(still) > MANY or any(x.where[k].stop - x.where[k].start > 1 for k in still):
        return None
    rows = [x.where[k].start for k in still]
    A = x.A[np.ix_(rows, rows)]
    if len(rows) and not np.linalg.eigvalsh(A)[0] > RANK * np.abs(A).max():
        return None
    levels = np.zeros((n, len(x.surfaces)))
    for k, own in enumerate(x.where):
        levels[own, k] = x.mu_static[k] if x.at_rest[k] else x.mu[k] * np.abs(x.u[k])
    moving = [v for v in range(n) if v not in rows]
    sticks = np.array(list(product((False, True), repeat=len(rows))), dtype=bool)
    both = sticks[:, :, None] & sticks[:, None, :]
    inverse = np.linalg.inv(np.where(both, A, np.eye(len(rows))))
    among = np.where(sticks[:, :, None] & ~sticks[:, None, :], A, 0.0)
    outside = np.where(sticks[:, :, None], x.A[np.ix_(rows, moving)], 0.0)
    most = levels.copy()
    most[rows] = np.maximum(
        levels[rows],
        (np.abs(inverse @ among) @ levels[rows] + np.abs(inverse @ outside) @ levels[moving]).max(0),
    )
    return most
