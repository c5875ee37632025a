"""Accelerations and efforts of one state of floats, whatever the rank of the rows and of the mass matrix.

Each row of A is scaled to length one, short ones less. With A = U Σ Vᵀ cut off at its rank, γ = A⁺b and Z a basis of
its null space:

    b must lie in the range of A; else the rows contradict each other                            (CR1)
    (ZᵀMZ) u = Zᵀ(F − Mγ),   q̈ = γ + Z u               regular where [M; A] has full rank        (CR2)
    λ = A⁺ᵀ (M q̈ − F)                                  the least-norm multipliers                (CR3)
    ZᵀMZ v = μ ZᵀSZ v                                  S: what inertias are judged by            (CR4)

A motion Z v whose μ is rounding meets no inertia.

This is Udwadia & Kalaba's equation with the pseudo-inverse and, for a singular M, that of Udwadia & Phohomsiri.

Efforts that make a motion under constraints:

    S τ + Aᵀ λ = r = H q̈ + h                          S: columns of the actuated rates           (CI1)
    ZᵀS τ = Zᵀ r                                       Z: rates the constraints allow             (CI2)

Of several solutions the one with the smallest |τ| is taken. If there are fewer actuators than freedoms, (CI2) may
have none: then no effort of these actuators makes this motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.constraints.rounding import (
    BALANCED,
    CONSISTENT,
    DEPENDENT_COLUMN,
    LEAST_SIGMA,
    LOADS,
    LOST_INERTIA,
    NO_LENGTH,
    RANK,
    SHARED,
    SHORT,
    SHORT_COLUMN,
)

DRIFTED = 10.0  # what a residual of the positions may do to the rank of redundant rows
ALLOWED = 30.0  # and residuals of positions and rates to their agreement


class Drift(NamedTuple):
    """Distance of a state from satisfying its constraints, as the stages of an integration are: largest |φ|, largest
    |ψ| of rows of length one, largest rate. Redundant rows then agree no better than that."""

    position: float = 0.0
    rate: float = 0.0
    speed: float = 0.0


NO_DRIFT = Drift()


class Solved(NamedTuple):
    """q̈ and λ; rank of the rows; the rows that contradict the others; motions (n, any) that meet no inertia."""

    qdd: np.ndarray
    lam: np.ndarray
    rank: int
    contradicting: np.ndarray
    lost: np.ndarray


def solve(
    M: np.ndarray,
    F: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    drift: Drift = NO_DRIFT,
    scales: np.ndarray | None = None,
) -> Solved:
    """q̈ and λ of M q̈ = F + Aᵀλ, A q̈ = b; `scales` (n) judge the inertias, by default the largest entry of M does."""
    sizes = lengths(A)
    rows, right = A / sizes[:, None], b / sizes
    U, sigma, Vt = np.linalg.svd(rows)
    rank = rank_of(sigma, max(RANK, DRIFTED * drift.position))
    over = U[:, :rank] / sigma[:rank]
    gamma = Vt[:rank].T @ (over.T @ right)
    missed = np.abs(A @ gamma - b) / sizes.max(initial=NO_LENGTH)
    allowed = CONSISTENT * (1.0 + np.abs(right).max(initial=0.0))
    by_position = drift.position * (1.0 + np.abs(gamma).max(initial=0.0))
    allowed += ALLOWED * (by_position + drift.rate * (1.0 + drift.speed))
    contradicting = np.flatnonzero(missed > allowed)  # (CR1)
    Z = Vt[rank:].T
    mu, W = _inertias(M, Z, np.full(len(F), np.abs(M).max(initial=0.0) or 1.0) if scales is None else scales)
    solid = mu > LOST_INERTIA
    own = W[:, solid]
    qdd = gamma + own @ ((own.T @ (F - M @ gamma)) / mu[solid])  # (CR2)
    lam = (over @ (Vt[:rank] @ (M @ qdd - F))) / sizes  # (CR3)
    return Solved(qdd, lam, rank, contradicting, W[:, ~solid])


def beyond_range(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Entries of `right` that no x of A x = right reaches (rows,)."""
    sizes = lengths(A)
    U, sigma, _ = np.linalg.svd(A / sizes[:, None], full_matrices=False)
    U, scaled = U[:, : rank_of(sigma)], right / sizes
    return np.abs(scaled - U @ (U.T @ scaled)) > CONSISTENT * (1.0 + np.abs(scaled).max(initial=0.0))


def lengths(A: np.ndarray) -> np.ndarray:
    """Length of each row by which it is scaled; a row much shorter than the longest is not blown up to its size, so
    that a row that fades away counts for little."""
    sizes = np.linalg.norm(A, axis=1)
    longest = sizes.max(initial=0.0)
    return np.maximum(sizes, SHORT * longest) if longest > 0.0 else np.ones(len(A))


def rank_of(sigma: np.ndarray, part: float = RANK) -> int:
    """Number of singular values that count: those above this part of the largest."""
    return int((sigma > part * max(sigma[0], LEAST_SIGMA)).sum()) if len(sigma) else 0


def self_stresses(A: np.ndarray, rank: int | None = None) -> np.ndarray:
    """Multipliers N (rows, any) of redundant rows that balance each other, AᵀN = 0; the rank is found if not given."""
    sizes = lengths(A)
    U, sigma, _ = np.linalg.svd(A / sizes[:, None])
    return U[:, rank_of(sigma) if rank is None else rank :] / sizes[:, None]


def sharing(A: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Rows that take part in the loads N (rows, any) that they carry against each other (rows,)."""
    return np.asarray((np.abs(N * lengths(A)[:, None]) > SHARED).any(axis=1))


def null_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal rates that obey A q̇ = 0 (nv, freedom)."""
    if not len(A):
        return np.eye(A.shape[1])
    _, sigma, Vt = np.linalg.svd(A / lengths(A)[:, None])
    return Vt[rank_of(sigma) :].T


def _inertias(M: np.ndarray, Z: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """μ of (CR4), and the motions W = Z V with WᵀMW = μ, WᵀSW = 1."""
    root = np.sqrt(scales)
    Q = np.linalg.qr(root[:, None] * Z)[0]
    own = Q / root[:, None]  # the same motions, so that ownᵀ S own = 1
    mu, V = np.linalg.eigh(own.T @ M @ own)
    return mu, own @ V


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
    possible = bool(np.abs(missing).max(initial=0.0) <= BALANCED * (1.0 + np.abs(r).max(initial=0.0)))
    return Efforts(tau, lam, missing, possible, len(actuated) - rank)


def multipliers_of(A: np.ndarray, efforts: np.ndarray) -> np.ndarray:
    """The least-norm λ of Aᵀλ = efforts."""
    if not len(A):
        return np.zeros(0)
    sizes = lengths(A)
    return np.linalg.lstsq((A / sizes[:, None]).T, efforts, rcond=LOADS)[0] / sizes


def independent_columns(A: np.ndarray) -> np.ndarray:
    """Indices of the columns of A (rows, columns) that do not depend on those before them."""
    scale = np.linalg.norm(A, axis=0)
    active = np.flatnonzero(scale > SHORT_COLUMN * max(float(scale.max(initial=0.0)), NO_LENGTH))
    Q = np.zeros((min(A.shape), len(A)))  # by rows
    kept: list[int] = []
    for k in active:  # orthogonalised twice: as accurate as Householder's columns
        found = Q[: len(kept)]
        x = A[:, k] / scale[k]
        x = x - (found @ x) @ found
        x = x - (found @ x) @ found
        size = float(np.linalg.norm(x))
        if size > DEPENDENT_COLUMN:
            Q[len(kept)] = x / size
            kept.append(int(k))
    return np.array(kept, dtype=int)
