"""Uncertainty of estimated parameters where residuals of one second are correlated.

    C = N⁻¹ (Σ_b s_b s_bᵀ) N⁻¹,  N = AᵀWA,  s_b = A_bᵀ W (1 − H_b)⁻¹ r_b           blocks b of one second       (ID17)

(1 − H_b)⁻¹, H_b = A_b N⁻¹ A_bᵀ W, gives each block the residual it has where it is left out: blocks are few.
With fewer than two blocks per parameter the sum is poor, and nominal variances are multiplied by the correlation
time of each joint's residuals instead:

    C = N⁻¹ (Σ_j κ_j A_jᵀ W A_j) N⁻¹,  κ_j = 1 + 2 Σ_k ρ_k (1 − k/n_b)                                           (ID18)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.identification.rows import Rows

SHARE = 0.975  # of the distribution below the upper end of an interval
ENOUGH = 2.0  # blocks per parameter for (ID17)


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """C (p, p) of the base parameters, nominal standard deviations (p,), the method in words, and its degrees of
    freedom."""

    C: np.ndarray
    nominal: np.ndarray
    method: str
    freedom: int

    @property
    def reach(self) -> np.ndarray:
        """Half of the 95 % intervals (p,), by Student's distribution."""
        from scipy.special import stdtrit

        return float(stdtrit(max(self.freedom, 3), SHARE)) * self.deviation

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations (p,)."""
        return np.sqrt(np.maximum(np.diag(self.C), 0.0))

    @property
    def correlation(self) -> np.ndarray:
        """Correlation matrix (p, p)."""
        d = np.where(self.deviation > 0, self.deviation, 1.0)
        return self.C / np.outer(d, d)


def covariance(rows: Rows, A: np.ndarray, beta: np.ndarray, weight: np.ndarray) -> Covariance:
    """Sandwich covariance of β over blocks of one second.    (ID17), (ID18)"""
    r = rows.y - A @ beta
    N = A.T @ (A * weight[:, None])
    scale = np.sqrt(np.maximum(np.diag(N), 1e-300))
    inverse = np.linalg.pinv(N / np.outer(scale, scale), hermitian=True) / np.outer(scale, scale)
    nominal = np.sqrt(np.diag(inverse))
    count = len(np.unique(rows.block))
    if count >= ENOUGH * A.shape[1]:
        C = inverse @ _meat_of_blocks(rows, A, r, weight, inverse) @ inverse  # (ID17)
        return Covariance(C, nominal, f"sandwich over {count} blocks of one second", count - A.shape[1])
    meat = np.zeros_like(N)
    for j in np.unique(rows.joint):
        at = rows.joint == j
        meat += inflation(rows, r, int(j)) * (A[at].T @ (A[at] * weight[at, None]))
    C = inverse @ meat @ inverse  # (ID18)
    free = len(r) - A.shape[1]
    return Covariance(
        C,
        nominal,
        f"nominal, multiplied by the correlation time of residuals ({count} blocks are too few)",
        free,
    )


def _meat_of_blocks(
    rows: Rows, A: np.ndarray, r: np.ndarray, weight: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    order = np.argsort(rows.block, kind="stable")
    starts = np.flatnonzero(np.diff(rows.block[order], prepend=-1))
    scores: list[np.ndarray] = []
    for at in np.split(order, starts[1:]):
        w = np.sqrt(weight[at])
        B = A[at] * w[:, None]
        H = B @ inverse @ B.T
        kept = np.linalg.solve(np.eye(len(at)) - 0.999 * H, w * r[at])
        scores.append(B.T @ kept)
    S = np.array(scores)
    return S.T @ S * (len(S) - 1) / len(S)


def inflation(rows: Rows, r: np.ndarray, joint: int) -> float:
    """κ: number of successive residuals of a joint that count as one, from their autocorrelation.    (ID18)"""
    at = np.flatnonzero(rows.joint == joint)
    if len(at) < 4:
        return 1.0
    x, t = r[at], rows.time[at]
    step = float(np.median(np.diff(t)))
    lags = min(max(1, round(1.0 / max(step, 1e-9))), len(x) // 3)
    power = float(x @ x)
    if power == 0.0:
        return 1.0
    kappa = 1.0
    for k in range(1, lags + 1):
        near = np.abs((t[k:] - t[:-k]) - k * step) < 0.5 * step
        rho = float((x[k:] * x[:-k])[near].sum()) / power
        if rho <= 0.0:
            break
        kappa += 2.0 * rho * (1.0 - k / (lags + 1))
    return kappa


def bootstrap(
    rows: Rows, A: np.ndarray, weight: np.ndarray, *, draws: int = 400, seed: int = 0
) -> np.ndarray:
    """95 % intervals (p, 2) of β by drawing blocks of one second with replacement."""
    rng = np.random.default_rng(seed)
    blocks = np.unique(rows.block)
    number = np.searchsorted(blocks, rows.block)
    p = A.shape[1]
    N, c = np.zeros((len(blocks), p, p)), np.zeros((len(blocks), p))
    W = A * weight[:, None]
    for b in range(len(blocks)):
        at = number == b
        N[b], c[b] = A[at].T @ W[at], W[at].T @ rows.y[at]
    scale = np.sqrt(np.maximum(np.einsum("bii->i", N), 1e-300))
    N, c = N / np.outer(scale, scale), c / scale
    found = np.empty((draws, p))
    for k in range(draws):
        share = np.bincount(rng.integers(len(blocks), size=len(blocks)), minlength=len(blocks)).astype(float)
        found[k] = np.linalg.lstsq(np.tensordot(share, N, 1), share @ c, rcond=1e-12)[0] / scale
    return np.quantile(found, [0.025, 0.975], axis=0).T
