"""Impacts: rates jump, positions do not. Loops stay closed and energy does not grow.

With the rows A of the constraints, the rows N of the limits reached (ġ = N q̇), and Z a basis of A's null space:

    H (q̇⁺ − q̇⁻) = Aᵀμ + NᵀΛ,   A q̇⁺ + a = 0                                                   (IM1)
    G = Z (ZᵀHZ)⁻¹ Zᵀ,   q̇⁺ = q̇⁻ + G NᵀΛ                                                     (IM2)
    0 ≤ Λ  ⟂  N q̇⁺ + e N q̇⁻ = N G NᵀΛ + (1 + e) N q̇⁻ ≥ 0      Newton's law, every limit       (IM3)
    T⁺ − T⁻ = −½ (1 − e)/(1 + e) Λᵀ N G Nᵀ Λ                     for one e                      (IM4)
    q̇⁺ = q̇⁻ − H⁻¹Aᵀ (A H⁻¹ Aᵀ)⁻¹ ψ                              a constraint that begins       (IM5)
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kinpair.constraints.rank_revealing import null_space
from kinpair.constraints.rank_revealing import solve as solved

MANY = 12  # limits reached at once, beyond which the sets are not tried one by one
AGAIN = 20  # impacts after one another at one instant
FINE = 1e-10  # relative: signs of a linear complementarity problem


def mobility_matrix(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """G (nv, nv): what an impulse does to rates that obey A.    (IM2)"""
    Z = null_space(A)
    return Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T, rcond=None)[0]


def complementary(D: np.ndarray, c: np.ndarray) -> np.ndarray:
    """x of 0 ≤ x ⟂ D x + c ≥ 0, D symmetric and not negative: the sets of active rows are tried, small ones first."""
    n = len(c)
    best, least = np.zeros(n), np.inf
    small = FINE * (1.0 + np.abs(c).max(initial=0.0))
    for size in range(n + 1):
        for chosen in combinations(range(n), size):
            rows = list(chosen)
            x = np.zeros(n)
            if rows:
                x[rows] = np.linalg.lstsq(D[np.ix_(rows, rows)], -c[rows], rcond=None)[0]
            w = D @ x + c
            force = np.abs(D).max(initial=0.0) * x
            wrong = max(
                -float(force.min(initial=0.0)),
                -float(w.min(initial=0.0)),
                float(np.abs(w[rows]).max(initial=0.0)),
            )
            if wrong <= small:
                return np.maximum(x, 0.0)
            if wrong < least:
                best, least = np.maximum(x, 0.0), wrong
    return best


def impact(M: np.ndarray, A: np.ndarray, N: np.ndarray, qd: np.ndarray, e: np.ndarray) -> np.ndarray:
    """q̇⁺ of an impact at the limits N with coefficients e; impacts that follow at once are in it.

    Coefficients that differ could feed energy in; where they would, the smallest serves all.
    """
    G = mobility_matrix(M, A)
    response = G @ N.T
    D = N @ response
    small = FINE * (1.0 + np.abs(N @ qd).max(initial=0.0))
    for turn in range(AGAIN):
        v = N @ qd
        if not (v < -small).any():
            break
        own = e if turn < AGAIN - 1 else np.zeros_like(e)
        after = qd + response @ complementary(D, v + own * v)  # (IM3)
        if after @ M @ after > (1.0 + FINE) * (qd @ M @ qd):
            after = qd + response @ complementary(D, (1.0 + own.min()) * v)
        qd = after
    return qd


def pushes(G: np.ndarray, N: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces at limits at rest, and the accelerations of the gaps under them; q̈: without the limits."""
    D = N @ G @ N.T
    free = N @ qdd
    forces = complementary(D, free)
    return forces, D @ forces + free


def begun(M: np.ndarray, A: np.ndarray, psi: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """q̇⁺ that obeys rows which begin to hold, ψ = A q̇⁻ + a being what they miss; redundant ones too.    (IM5)"""
    return qd + solved(M, np.zeros(len(qd)), A, -psi).qdd
