"""Estimators of β in A β = y, one function each; W = 1/σ_j² by joint.

ols     min ‖y − A β‖²                                                                              (ID12)
wls     min Σ_j ‖y_j − A_j β‖²/σ_j²,  σ_j² = ‖y_j − A_j β‖²/(n_j − p_j)                              (ID13)
huber   min Σ ρ((y − A β)/σ_j),  ρ quadratic within k, linear beyond                                  (ID14)
tls     min ‖[ΔA, Δy]‖ with (A + ΔA) β = y + Δy, columns and rows scaled                              (ID15)
iv      Zᵀ W A β = Zᵀ W y,  Z: columns of the motion that the model predicts                           (ID16)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

ROUNDS = 30
HUBER = 1.345  # k: 95 % efficient where residuals are normal
SETTLED = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """β (p,), standard deviation of the residuals by joint, and weight of each row (k,)."""

    beta: np.ndarray
    sigma: np.ndarray
    weight: np.ndarray


def _solve(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    scale = np.linalg.norm(A, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return np.linalg.lstsq(A / scale, y, rcond=1e-12)[0] / scale


def deviations(residual: np.ndarray, joint: np.ndarray, parameters: int) -> np.ndarray:
    """σ_j of each joint; the parameters count as spread evenly over the rows."""
    count = np.bincount(joint)
    lost = parameters * count / max(len(residual), 1)
    return np.sqrt(np.maximum(np.bincount(joint, residual**2) / np.maximum(count - lost, 1.0), 1e-24))


def ols(A: np.ndarray, y: np.ndarray, joint: np.ndarray) -> Estimate:
    """Ordinary least squares.    (ID12)"""
    beta = _solve(A, y)
    sigma = deviations(y - A @ beta, joint, A.shape[1])
    return Estimate(beta, np.full_like(sigma, np.sqrt((sigma**2).mean())), np.ones(len(y)))


def compressed(A: np.ndarray, y: np.ndarray, joint: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fewer rows with equal squares by joint: the triangular factor of [A, y] of each joint."""
    parts, owners = list[np.ndarray](), list[np.ndarray]()
    for j in np.unique(joint):
        R = np.asarray(np.linalg.qr(np.column_stack([A[joint == j], y[joint == j]]), mode="r"))
        parts.append(R)
        owners.append(np.full(len(R), j))
    both = np.concatenate(parts)
    return both[:, :-1], both[:, -1], np.concatenate(owners)


def wls(A: np.ndarray, y: np.ndarray, joint: np.ndarray) -> Estimate:
    """Weighted least squares, weights of joints from their residuals, repeated until they settle.    (ID13)"""
    B, z, owner = compressed(A, y, joint)
    beta = _solve(B, z)
    sigma = deviations(y - A @ beta, joint, A.shape[1])
    for _ in range(ROUNDS):
        w = 1.0 / sigma[owner]
        beta = _solve(B * w[:, None], z * w)
        new = deviations(y - A @ beta, joint, A.shape[1])
        if np.allclose(new, sigma, rtol=1e-6, atol=0.0):
            break
        sigma = new
    return Estimate(beta, sigma, 1.0 / sigma[joint] ** 2)


def huber(A: np.ndarray, y: np.ndarray, joint: np.ndarray) -> Estimate:
    """Huber's estimator by weights that are repeated; σ_j from the median of the residuals.    (ID14)"""
    start = wls(A, y, joint)
    beta, sigma, weight = start.beta, start.sigma, start.weight
    for _ in range(ROUNDS):
        r = y - A @ beta
        sigma = np.array([1.4826 * np.median(np.abs(r[joint == j])) for j in range(len(sigma))])
        z = np.abs(r) / np.maximum(sigma[joint], 1e-12)
        weight = np.minimum(1.0, HUBER / np.maximum(z, 1e-300)) / np.maximum(sigma[joint], 1e-12) ** 2
        w = np.sqrt(weight)
        new = _solve(A * w[:, None], y * w)
        done = np.linalg.norm(A @ (new - beta)) <= 1e-8 * np.linalg.norm(y)
        beta = new
        if done:
            break
    return Estimate(beta, sigma, weight)


def tls(A: np.ndarray, y: np.ndarray, joint: np.ndarray) -> Estimate:
    """Total least squares: the right singular vector of the least singular value of scaled [A, y].    (ID15)

    Rows are weighted as in `wls`; columns are scaled such that their errors have the size of the residuals.
    """
    start = wls(A, y, joint)
    w = np.sqrt(start.weight)
    B = np.column_stack([A * w[:, None], y * w])
    scale = np.linalg.norm(B, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    v = np.linalg.svd(B / scale, full_matrices=False)[2][-1] / scale
    if abs(v[-1]) < SETTLED * np.abs(v).max():
        return start
    return Estimate(-v[:-1] / v[-1], start.sigma, start.weight)


def iv(A: np.ndarray, y: np.ndarray, joint: np.ndarray, Z: np.ndarray) -> Estimate:
    """Instrumental variables: Z (k, p) are the columns of a motion without measurement noise.    (ID16)"""
    start = wls(A, y, joint)
    ZW = Z.T * start.weight
    scale = np.linalg.norm(A, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    beta = np.linalg.lstsq(ZW @ (A / scale), ZW @ y, rcond=1e-13)[0] / scale
    sigma = deviations(y - A @ beta, joint, A.shape[1])
    return Estimate(beta, sigma, 1.0 / sigma[joint] ** 2)


ESTIMATORS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Estimate]] = {
    "ols": ols,
    "wls": wls,
    "huber": huber,
    "tls": tls,
}
