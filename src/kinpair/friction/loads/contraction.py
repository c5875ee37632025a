"""Uniqueness of the solution while every surface slides. A proof that compiled code gives, over floats or symbols.

    |Δload_k| ≤ Σ_l B_kl |ΔN_l|,     B_kl: load of the column C_kl without preload                       (FU1)
    N ← load(N) contracts where 1 − B has positive pivots: one N fits                                    (FU2)

It is (NS15) with S M = B; where l = k the friction force counts, too. A matrix 1 − B with B ≥ 0 has positive pivots in
any order where the spectral radius of B is below one, and only there. Where it is not, several may fit, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from kinpair.algebra import lu
from kinpair.algebra.arrays import Scalar, array
from kinpair.algebra.choice import less, minimum, where
from kinpair.friction.loads.system import System
from kinpair.friction.rounding import SURE_PIVOT
from kinpair.friction.surfaces.surface import Surface


def needs_proof(surfaces: Sequence[Surface]) -> bool:
    """True if loads answer so strongly that several solutions occur, and a proof is possible."""
    return any(x.answers_strongly for x in surfaces) and is_bounded(surfaces)


def is_bounded(surfaces: Sequence[Surface]) -> bool:
    """True if (FU1) can bound every load."""
    return all(x.bounded for x in surfaces)


def proved(x: System) -> Scalar:
    """Return one where the system has exactly one solution, zero where that is not proved.    (FU2)"""
    n = len(x.surfaces)
    rows: list[list[Scalar]] = []
    for k, (own, slip) in enumerate(zip(x.surfaces, x.slips, strict=True)):
        none, force = np.zeros(len(slip.u)), slip.force(1.0)
        columns = x.response.forms_by_load[k]
        row = [-own.spread(columns[l], force if l == k else none) for l in range(n)]  # (FU1)
        rows.append([1.0 + b if l == k else b for l, b in enumerate(row)])
    return where(less(SURE_PIVOT, reduce(minimum, lu.factor(array(rows)).D)), 1.0, 0.0)
