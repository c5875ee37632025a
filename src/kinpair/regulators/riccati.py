"""Riccati's equations, with a prescribed degree of stability π ≥ 0 (Vukobratović, chapter 4; Anderson and Moore 1971).

The cost is that of states which grow with e^{πt}, so that all changes die away at least as fast as e^{−πt}:

    S (A + π) + (A + π)ᵀ S − S B R⁻¹ Bᵀ S + Q = 0,   K = R⁻¹ Bᵀ S                                        (RG1)
    −Ṡ = S (A + π) + (A + π)ᵀ S − S B R⁻¹ Bᵀ S + Q          along a motion, from its end                  (RG2)
    [X; Y](t) = exp(−H h) [1; S(t + h)],   H = [A + π, −B R⁻¹ Bᵀ; −Q, −(A + π)ᵀ],   S(t) = Y X⁻¹           (RG3)

and from sample to sample, with Φ and Γ multiplied by e^{πT},

    K = (R + Γᵀ S Γ)⁻¹ Γᵀ S Φ,   S ← Q + Φᵀ S (Φ − Γ K)                                                   (RG4)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LONGEST = 4.0  # of |H| h in one exponential


class Gain(NamedTuple):
    """K (inputs, states), S (states, states), and what is left of the equation as a part of its terms."""

    K: np.ndarray
    S: np.ndarray
    residual: float


def continuous(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, degree: float) -> Gain:
    """The solution of (RG1), made better by a step of Newton's method (Kleinman 1968)."""
    from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

    F = A + degree * np.eye(len(A))
    S = solve_continuous_are(F, B, Q, R)
    K = np.linalg.solve(R, B.T @ S)
    closed = F - B @ K
    S = solve_continuous_lyapunov(closed.T, -(Q + K.T @ R @ K))
    S = 0.5 * (S + S.T)
    terms = S @ F, S @ B @ np.linalg.solve(R, B.T @ S), Q
    left = terms[0] + terms[0].T - terms[1] + Q
    return Gain(np.linalg.solve(R, B.T @ S), S, _part(left, terms))


def sampled(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, growth: float) -> Gain:
    """The steady solution of (RG4) for a discrete model; `growth`: e^{πT}."""
    from scipy.linalg import solve_discrete_are

    F, G = growth * A, growth * B
    S = solve_discrete_are(F, G, Q, R)
    K, again = _back(F, G, Q, R, S)
    return Gain(K, S, _part(again - S, (S, Q)))


def _part(left: np.ndarray, terms: tuple[np.ndarray, ...]) -> float:
    return float(np.abs(left).max() / max(float(np.abs(x).max()) for x in terms))


def _back(
    F: np.ndarray, G: np.ndarray, Q: np.ndarray, R: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """K, and S one sample before.    (RG4)"""
    K = np.linalg.solve(R + G.T @ S @ G, G.T @ S @ F)
    before = Q + F.T @ S @ (F - G @ K)
    return K, 0.5 * (before + before.T)


def along(
    times: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    degree: float,
    end: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """K (m, inputs, states) and S at the times, from S at the end, by (RG3) with the mean of A and B between two
    times."""
    from scipy.linalg import expm

    n, over = A.shape[-1], np.linalg.inv(R)
    S = np.empty((len(times), n, n))
    S[-1] = end
    for k in range(len(times) - 2, -1, -1):
        F, G = 0.5 * (A[k] + A[k + 1]) + degree * np.eye(n), 0.5 * (B[k] + B[k + 1])
        H = np.block([[F, -G @ over @ G.T], [-Q, -F.T]])
        h = times[k + 1] - times[k]
        parts = max(1, int(np.ceil(np.abs(H).sum(1).max() * h / LONGEST)))
        step, now = expm(-H * (h / parts)), S[k + 1]
        for _ in range(parts):
            both = step @ np.vstack([np.eye(n), now])
            now = np.linalg.solve(both[:n].T, both[n:].T).T  # (RG3)
            now = 0.5 * (now + now.T)
        S[k] = now
    return over @ np.swapaxes(B, -1, -2) @ S, S


def along_samples(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, growth: float, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """K and S of discrete models (m, ...) one after the other, from S behind the last.    (RG4)"""
    K, S = np.empty((len(A), B.shape[-1], A.shape[-1])), np.empty(A.shape)
    now = end
    for k in range(len(A) - 1, -1, -1):
        K[k], now = _back(growth * A[k], growth * B[k], Q, R, now)
        S[k] = now
    return K, S
