"""Physically consistent parameters by Newton's method on a convex function: no semidefinite solver is needed.

    min ½ θᵀN θ − cᵀθ + γ Σ_i D(P_i‖P_i⁰) + γ Σ_k d(x_k/x_k⁰),   N = AᵀWA,  c = AᵀWy                        (ID19)
    D(P‖P⁰) = tr(P⁰⁻¹P) − log det(P⁰⁻¹P) − 4,      d(u) = u − log u − 1                                      (ID20)

D is the log-det divergence of pseudo-inertias (ID1) from a prior, d the same for one number: rotors and friction that
cannot be negative. Both are infinite at the boundary, so P stays positive definite. With P = Σ π_k E_k:

    ∂D/∂π_k = tr((P⁰⁻¹ − P⁻¹)E_k),   ∂²D/∂π_k∂π_l = tr(P⁻¹E_k P⁻¹E_l)                                       (ID21)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.errors import SingularError
from kinpair.identification.columns import BASIS, Layout, floored, pseudo_inertia

ROUNDS = 100
SETTLED = 1e-9  # decrement of Newton's method per parameter, as a part of γ
NEAR = 1e-2  # the same on the way
FALL, MOST = 5.0, 1e12  # weights of the prior fall by this factor to γ, from at most this multiple of it
BOUNDARY = 0.9  # part of the way to the boundary that a step may go
ENOUGH = 0.1  # part of the promised decrease that a step has to bring
SHRINK = 0.5
FREE = 1e-8  # curvature, relative to N, of parameters without a prior and without effect


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """Values of parameters without data: θ⁰ (p,), bodies of ten and numbers above zero."""

    theta: np.ndarray
    bodies: list[np.ndarray]
    positive: np.ndarray

    def hessian(self) -> np.ndarray:
        """Second derivatives (p, p) of the divergence at θ⁰.    (ID21)"""
        return self.slopes(self.theta)[1]

    def value(self, theta: np.ndarray) -> float:
        """Sum of all divergences; infinite where a P is not positive definite.    (ID20)"""
        total = 0.0
        for at in self.bodies:
            P, P0 = pseudo_inertia(theta[at]), pseudo_inertia(self.theta[at])
            sign, log = np.linalg.slogdet(P)
            if sign <= 0 or np.linalg.eigvalsh(P)[0] <= 0.0:
                return np.inf
            total += float(np.trace(np.linalg.solve(P0, P)) - log + np.linalg.slogdet(P0)[1] - 4.0)
        u = theta[self.positive] / self.theta[self.positive]
        return np.inf if (u <= 0).any() else total + float((u - np.log(u) - 1.0).sum())

    def reach(self, theta: np.ndarray, step: np.ndarray) -> float:
        """Largest length of a step that keeps a tenth of the distance to the boundary, at most one."""
        lowest = -1.0 / BOUNDARY  # of the relative change
        for at in self.bodies:
            L = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(theta[at])))
            change = np.linalg.eigvalsh(L @ pseudo_inertia(step[at]) @ L.T)
            lowest = min(lowest, float(change[0]))
        x = self.positive
        lowest = min(lowest, float((step[x] / theta[x]).min(initial=lowest)))
        return min(1.0, -BOUNDARY / lowest)

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient (p,) and second derivatives (p, p) of all divergences.    (ID21)"""
        g, H = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        for at in self.bodies:
            inverse, prior = (np.linalg.inv(pseudo_inertia(x[at])) for x in (theta, self.theta))
            g[at] = np.einsum("ij,kji->k", prior - inverse, BASIS)  # (ID21)
            G = np.einsum("ij,kjl->kil", inverse, BASIS)
            H[np.asarray(at)[:, None], at] = np.einsum("aij,bji->ab", G, G)  # (ID21)
        x, x0 = theta[self.positive], self.theta[self.positive]
        g[self.positive] = 1.0 / x0 - 1.0 / x
        H[self.positive, self.positive] = 1.0 / x**2
        return g, H


def prior_of(layout: Layout, file: np.ndarray, estimate: np.ndarray) -> Prior:
    """Prior at the values of the file: bodies floored where singular; rotors and friction without a value in the file
    at the size of their estimate."""
    theta = file.copy()
    total = float(sum(file[at[0]] for at in layout.bodies_of_ten))
    for at in layout.bodies_of_ten:
        theta[at] = floored(file[at], total)
    numbers = [
        k for k, x in enumerate(layout.parameters) if x.positive and x.group not in ("inertial", "payload")
    ]
    for k in numbers:
        same = [j for j in numbers if _kind(layout, j) == _kind(layout, k)]
        size = float(np.median(np.abs(estimate[same]))) or 1e-3
        theta[k] = file[k] if file[k] > 1e-6 * size else max(float(estimate[k]), 0.1 * size, 1e-6)
    return Prior(theta, layout.bodies_of_ten, np.array(numbers, dtype=int))


def _kind(layout: Layout, k: int) -> tuple[str, str]:
    x = layout.parameters[k]
    return x.group, "" if x.term is None else x.term.kind


def consistent(N: np.ndarray, c: np.ndarray, prior: Prior, gamma: float) -> tuple[np.ndarray, int]:
    """θ of (ID19) and the number of Newton steps: from the prior, with weights that fall to γ.

    The first weight is one at which a Newton step from the prior is short.
    """
    free = np.ones(len(c), dtype=bool)
    free[np.concatenate([*prior.bodies, prior.positive]).astype(int)] = False
    N = N + np.diag(np.where(free, FREE * np.maximum(np.diag(N), 1.0), 0.0))
    theta, steps, weight = prior.theta.copy(), 0, gamma
    while _newton_step(N, c, prior, weight, theta)[1] > len(c) * weight and weight < MOST * gamma:
        weight *= FALL
    while True:
        last = weight <= gamma * (1.0 + 1e-9)
        theta, count = _newton(N, c, prior, weight, theta, SETTLED if last else NEAR)
        steps += count
        if last:
            return theta, steps
        weight /= FALL


def _newton_step(
    N: np.ndarray, c: np.ndarray, prior: Prior, gamma: float, theta: np.ndarray
) -> tuple[np.ndarray, float]:
    """Newton step (p,) of (ID19) and its decrement: twice the decrease that it promises."""
    g, H = prior.slopes(theta)
    gradient, hessian = N @ theta - c + gamma * g, N + gamma * H
    scale = np.sqrt(np.diag(hessian))
    step = -np.linalg.solve(hessian / np.outer(scale, scale), gradient / scale) / scale
    return step, -float(gradient @ step)


def _newton(
    N: np.ndarray, c: np.ndarray, prior: Prior, gamma: float, theta: np.ndarray, settled: float
) -> tuple[np.ndarray, int]:
    """Newton's method with steps shortened until the cost falls, as far as a decrement per parameter."""

    def cost(x: np.ndarray) -> float:
        return float(0.5 * x @ N @ x - c @ x) + gamma * prior.value(x)

    value = cost(theta)
    for k in range(ROUNDS):
        step, decrement = _newton_step(N, c, prior, gamma, theta)
        if decrement < settled * len(theta) * gamma:
            return theta, k
        length = prior.reach(theta, step)
        while not (trial := cost(theta + length * step)) < value - ENOUGH * length * decrement:
            length *= SHRINK
            if length < 1e-12:  # rounding of the cost: as near as numbers allow
                return theta, k
        theta, value = theta + length * step, trial
    raise SingularError(f"consistent parameters were not found in {ROUNDS} Newton steps (γ = {gamma:g})")


def quadratic(N: np.ndarray, c: np.ndarray, prior: np.ndarray, H: np.ndarray) -> np.ndarray:
    """θ of (ID19) with the divergences replaced by their second order H (p, p) at the prior: one linear solve."""
    hessian = N + H
    hessian[np.diag_indices_from(hessian)] += FREE * np.maximum(np.diag(N), 1.0)
    scale = np.sqrt(np.diag(hessian))
    return np.linalg.solve(hessian / np.outer(scale, scale), (c + H @ prior) / scale) / scale
