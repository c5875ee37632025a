"""Impacts: rates jump, positions do not. Loops stay closed and energy does not grow.

With the rows A of the constraints, the rows N of the limits reached (ġ = N q̇), and Z a basis of A's null space:

    H (q̇⁺ − q̇⁻) = Aᵀμ + NᵀΛ,   A q̇⁺ + a = 0                                                   (IM1)
    G = Z (ZᵀHZ)⁻¹ Zᵀ,   q̇⁺ = q̇⁻ + G NᵀΛ                                                     (IM2)
    0 ≤ Λ  ⟂  N q̇⁺ + e N q̇⁻ = N G NᵀΛ + (1 + e) N q̇⁻ ≥ 0      Newton's law, every limit       (IM3)
    T⁺ − T⁻ = −½ (1 − e)/(1 + e) Λᵀ N G Nᵀ Λ                     for one e                      (IM4)
    q̇⁺ = q̇⁻ − H⁻¹Aᵀ (A H⁻¹ Aᵀ)⁻¹ ψ                              a constraint that begins       (IM5)

(IM3) and the forces of limits at rest are bounded rows, see `nonsmooth/problem.py`.

Derivation, no line of code: (IM1), (IM4).
"""

from __future__ import annotations

import numpy as np

from kinpair.constraints.bounded import BoundedRows
from kinpair.constraints.rank_revealing import null_space
from kinpair.constraints.rank_revealing import solve as solved
from kinpair.errors import SingularError, listed
from kinpair.nonsmooth.problem import Solution, intervals, solve

AGAIN = 20  # impacts after one another at one instant
FINE = 1e-10  # relative: signs of rates, and growth of energy


def mobility_matrix(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """G (nv, nv): what an impulse does to rates that obey A.    (IM2)"""
    Z = null_space(A)
    return Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T, rcond=None)[0]


def impact(M: np.ndarray, A: np.ndarray, rows: BoundedRows, qd: np.ndarray, e: np.ndarray) -> np.ndarray:
    """q̇⁺ of an impact at the limits with coefficients e; impacts that follow at once are in it.

    Coefficients that differ could feed energy in; where they would, the smallest serves all.
    """
    N = rows.N
    response = mobility_matrix(M, A) @ N.T
    D = N @ response
    small = FINE * (1.0 + np.abs(N @ qd).max(initial=0.0))
    for turn in range(AGAIN):
        v = N @ qd
        if not (v < -small).any():
            break
        own = e if turn < AGAIN - 1 else np.zeros_like(e)
        after = qd + response @ _solved(D, v + own * v, rows).x  # (IM3)
        if after @ M @ after > (1.0 + FINE) * (qd @ M @ qd):
            after = qd + response @ _solved(D, (1.0 + own.min()) * v, rows).x
        qd = after
    return qd


def pushes(G: np.ndarray, rows: BoundedRows, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces at limits at rest, and the accelerations of the gaps under them; q̈: without the limits."""
    solution = _solved(rows.N @ G @ rows.N.T, rows.N @ qdd, rows)
    return solution.x, solution.c


def _solved(D: np.ndarray, g: np.ndarray, rows: BoundedRows) -> Solution:
    """Multipliers within their bounds; refused where the constraints leave none."""
    solution = solve(D, g, intervals(rows.lo, rows.hi, rows.names))
    if solution.met:
        return solution
    raise SingularError(
        f"no force at the limits holds {listed([repr(x) for x in rows.names], 4)}: the constraints drive the "
        "mechanism on; change the constraints, or the limits",
        rows=rows.names,
    )


def begun(M: np.ndarray, A: np.ndarray, psi: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """q̇⁺ that obeys rows which begin to hold, ψ = A q̇⁻ + a being what they miss; redundant ones too.    (IM5)"""
    return qd + solved(M, np.zeros(len(qd)), A, -psi).qdd
