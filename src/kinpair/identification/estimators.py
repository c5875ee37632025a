"""Estimators of β in A β = y with their uncertainty; drive gains from runs with and without a known payload.

Estimators of β in A β = y, one function each; W = 1/σ_j² by joint.

    ols     min ‖y − A β‖²                                                                              (ID12)
    wls     min Σ_j ‖y_j − A_j β‖²/σ_j²,  σ_j² = ‖y_j − A_j β‖²/(n_j − p_j)                              (ID13)
    huber   min Σ ρ((y − A β)/σ_j),  ρ quadratic within k, linear beyond                                  (ID14)
    tls     min ‖[ΔA, Δy]‖ with (A + ΔA) β = y + Δy, columns and rows scaled                              (ID15)
    iv      Zᵀ W A β = Zᵀ W y,  Z: columns of the motion that the model predicts                           (ID16)

Their uncertainty where residuals of one second are correlated:

    C = N⁻¹ (Σ_b s_b s_bᵀ) N⁻¹,  N = AᵀWA,  s_b = A_bᵀ W (1 − H_b)⁻¹ r_b           blocks b of one second       (ID17)

(1 − H_b)⁻¹, H_b = A_b N⁻¹ A_bᵀ W, gives each block the residual it has where it is left out: blocks are few.
With fewer than two blocks per parameter the sum is poor, and nominal variances are multiplied by the correlation
time of each joint's residuals instead:

    C = N⁻¹ (Σ_j κ_j A_jᵀ W A_j) N⁻¹,  κ_j = 1 + 2 Σ_k ρ_k (1 − k/n_b)                                           (ID18)

Drive gains, from runs with and without a payload of known mass:

    min Σ_j ‖i_j − (Y_j θ + Y_mj m)/K_j‖²/σ_j²      unknown: θ with π_p beyond its mass, K; known: mass m     (ID23)

Residuals are those of the currents, which have the noise: K i = Y θ + Y_m m in squares would make all gains too small.
For given gains θ is a linear solve; gains are found by Gauss and Newton's method on log K.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinpair.errors import InputError
from kinpair.identification.base_parameters import reduced
from kinpair.identification.columns import Layout
from kinpair.identification.signals import Rows, RunColumns, filtered, rows_of

ROUNDS = 30
HUBER = 1.345  # k: 95 % efficient where residuals are normal
SETTLED = 1e-10
SHARE = 0.975  # of the distribution below the upper end of an interval
ENOUGH = 2.0  # blocks per parameter for (ID17)
WEIGHINGS = 3  # of weights by joint
WEAK = 0.2  # relative standard deviation of a gain that is not identified


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


def identified_gains(
    layout: Layout, runs: Sequence[RunColumns], payload: Mapping[str, Any] | None
) -> tuple[np.ndarray, list[RunColumns], str]:
    """Gains K (driven joints,) [N m/A] of (ID23), runs with efforts in place of currents, and a sentence."""
    mass = float((payload or {}).get("mass") or 0.0)
    if layout.payload is None or mass <= 0.0:
        raise InputError(
            "torque='current' without gains: currents determine parameters only up to a factor per joint; give gains "
            "[N m/A], or payload={'link': ..., 'runs': [...], 'mass': ...} with runs that carry a known mass",
            argument="gains",
        )
    K, deviation = _fitted(layout, rows_of(layout, runs, None), mass)
    names = [layout.m.v_names[layout.rows[j]] for j in layout.driven]
    weak = [name for name, d in zip(names, deviation, strict=True) if not d < WEAK]
    if weak:
        good = [n for n, name in enumerate(names) if name not in weak]
        if not good:
            raise InputError("no drive gain is identifiable: the payload moves no effort; give gains=")
        K = np.where([name in weak for name in names], float(np.median(K[good])), K)
    scale = np.ones(len(layout.rows))
    scale[layout.driven] = K
    scaled: list[RunColumns] = []
    for run in runs:
        s = replace(run.samples, tau=run.samples.tau * scale)
        scaled.append(replace(run, samples=s, y=filtered(s.tau, s)))
    sentence = (
        f"drive gains identified with a payload of {mass:g} kg: {', '.join(f'{x:.4g}' for x in K)} N m/A"
    )
    if weak:
        sentence += f"; not identifiable, median of the others instead: {', '.join(weak)}"
    return K, scaled, sentence


def _fitted(layout: Layout, rows: Rows, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """Gains (driven joints,) of (ID23) and their relative standard deviations."""
    from scipy.optimize import least_squares

    at = int(layout.bodies_of_ten[-1][0])
    others = np.array([k for k in range(rows.A.shape[1]) if k != at])
    independent = others[reduced([layout.names[k] for k in others], rows.A[:, others]).independent]
    A = np.column_stack([rows.A[:, independent], mass * rows.A[:, at]])
    B, current, joint = compressed(A, rows.y, rows.joint)
    place = np.searchsorted(layout.driven, joint)
    sigma = np.ones(len(layout.driven))

    def residual(x: np.ndarray) -> np.ndarray:
        gain = np.exp(-x)[place]
        left = B * (gain / sigma[place])[:, None]
        right = current / sigma[place] - left[:, -1]
        scale = np.linalg.norm(left[:, :-1], axis=0)
        theta = np.linalg.lstsq(left[:, :-1] / scale, right, rcond=1e-12)[0]
        return right - left[:, :-1] / scale @ theta

    x = np.full(len(sigma), np.log(_scale(B, current)))
    for _ in range(WEIGHINGS):
        found = least_squares(residual, x, method="lm")
        x = found.x
        r = residual(x) * sigma[place]
        count = np.maximum(np.bincount(rows.joint, minlength=len(layout.rows))[layout.driven], 1)
        sigma = np.maximum(np.sqrt(np.bincount(place, r**2) / count), 1e-12)
    J = least_squares(residual, x, method="lm").jac
    deviation = np.sqrt(np.diag(np.linalg.pinv(J.T @ J, hermitian=True)))
    return np.exp(x), deviation


def _scale(B: np.ndarray, current: np.ndarray) -> float:
    """Size of a gain to start from: the effort of the payload by the current."""
    return max(float(np.linalg.norm(B[:, -1]) / max(float(np.linalg.norm(current)), 1e-12)), 1e-6)
