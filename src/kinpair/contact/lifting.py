"""Coordinates without overlap: geoms that overlap are moved apart by the least displacement, weighted by mass.

    minimise δᵀ H δ  with  J δ + φ ≥ 0,   δ = H⁻¹ Jᵀ λ,   0 ≤ λ ⊥ J H⁻¹ Jᵀ λ + φ ≥ 0                    (CT5)

repeated until no gap is below zero by more than rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from kinpair.constraints.solve.problem import intervals, solve
from kinpair.contact.search import ContactPoint
from kinpair.errors import SingularError

ROUNDS = 40
DEEP = 1e-9  # overlap that is left [m]


class Touching(Protocol):
    """Data of a mechanism that lifting needs."""

    @property
    def name(self) -> str: ...
    def contacts(self, q: np.ndarray, *, margin: float = 0.0) -> tuple[ContactPoint, ...]: ...
    def contact_rows(self, q: np.ndarray, points: Sequence[ContactPoint]) -> np.ndarray: ...
    def mass_matrix(self, q: np.ndarray) -> np.ndarray: ...


def lifted(
    m: Touching,
    q: np.ndarray,
    free: np.ndarray,
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return coordinates (nq,) near q without overlap, by (CT5); only the rates `free` (k,) move.

    moved(q, step) returns q after a step (nv,).
    """
    for _ in range(ROUNDS):
        points = m.contacts(q, margin=DEEP)
        gaps = np.array([x.gap for x in points])
        if not len(gaps) or gaps.min() >= -DEEP:
            return q
        J = m.contact_rows(q, points)[::3, free]
        G = np.linalg.solve(m.mass_matrix(q)[free][:, free], J.T)
        lam = solve(J @ G, gaps, intervals(np.zeros(len(gaps)), np.full(len(gaps), np.inf))).x
        step = np.zeros(m.mass_matrix(q).shape[0])
        step[free] = G @ lam
        q = moved(q, step)
    worst = min(m.contacts(q), key=lambda x: x.gap)
    raise SingularError(
        f"{m.name}: {worst.a!r} and {worst.b!r} overlap by {-worst.gap:.2g} m and their joints cannot move them apart; "
        "give another guess"
    )
