"""Rates at rest: which of them accelerate, which stay at rest, and how a mechanism responds to efforts on them.

    c = N G Nᵀ x + N q̈₀                                   N: rows of the rates at rest                (ST1)
    F_s ← F_c where c ≠ 0, and the problem again, until no further one leaves rest                     (ST2)
    F_s ← (1 − ε) F_s  of one that has reached its level and hardly moves: what moves then, begins to  (ST3)
    |c| ≤ ε (r + 0.1 T max r/T)  counts as c = 0;   r = |N G| |F| + |N G Nᵀ| |x|,  T_j² = (N G Nᵀ)_jj    (ST4)
    z = G g − G_S G_SS⁺ (G g)_S            motion by efforts g while the rates S stand still           (ST5)

q̈₀ are accelerations without friction in these rates, G what efforts do to rates that satisfy the constraints, F_s and
F_c the bounds of static and sliding friction. `friction/phases/resting.py` solves the problem.

Where constraints join rates, what each of them holds is not unique. A set of independent rates is `HELD`, and the
others, which stand still with them, keep the x of now.

Derivation, no line of code: (ST1), (ST2), (ST3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.constraints.rounding import DEPENDENT_PIVOT
from kinpair.constraints.solvers.rank_revealing import null_space

SLIDES, HELD, CARRIED, LOOSE = 0.0, 1.0, 2.0, 3.0
# phases of a rate: carried ones stand still because others do, loose ones because no effort moves them just here


def moving_among(c: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Find accelerations (n,) above `small` (n,); next to one that is, a hundredth of it is enough.    (ST4)"""
    size = np.abs(c)
    moves = size > small
    return size > np.minimum(small, 0.01 * size[moves].max()) if moves.any() else moves


def response(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Compute G (nv, nv): accelerations that satisfy A by unit efforts, or changes of rates by unit impulses.

    What has no inertia does not respond.
    """
    if not len(A):
        return np.linalg.inv(M) if np.diag(M).all() else np.linalg.pinv(M)
    Z = null_space(A)
    return Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T, rcond=None)[0]


def held_first(G: np.ndarray, groups: Sequence[Sequence[int]], margin: np.ndarray) -> list[float]:
    """Phases of groups of rates that stay at rest. Those with the largest margin are locked, as many as can move while
    the others stand still."""
    largest = float(np.diag(G).max(initial=0.0))
    phase = [CARRIED if G[k, k].max() > DEPENDENT_PIVOT * largest else LOOSE for k in map(list, groups)]
    chosen: list[int] = []
    for n in np.argsort(-margin, kind="stable").tolist():
        if phase[n] == CARRIED and can_move(G, chosen, groups[n]):
            chosen += groups[n]
            phase[n] = HELD
    return phase


def motion_beside(G: np.ndarray, others: Sequence[int], g: np.ndarray) -> np.ndarray:
    """Return the motion (nv,) that efforts g (nv,) cause while the rates `others` stand still.    (ST5)"""
    S, z = list(others), G @ g
    return z - G[:, S] @ np.linalg.lstsq(G[np.ix_(S, S)], z[S], rcond=None)[0]


def can_move(G: np.ndarray, others: Sequence[int], own: Sequence[int]) -> bool:
    """True if one of the rates `own` moves while the rates `others` stand still; G: response of rates to efforts."""
    cross, diagonal = G[np.ix_(others, own)], G[np.ix_(own, own)]
    left = diagonal - cross.T @ np.linalg.lstsq(G[np.ix_(others, others)], cross, rcond=None)[0]
    return bool((np.diag(left) > DEPENDENT_PIVOT * np.diag(diagonal)).any())
