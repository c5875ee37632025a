"""Physically consistent parameters by Newton's method; friction terms and weight of the prior by cross-validation.

    min ½ θᵀN θ − cᵀθ + γ Σ_i D(P_i‖P_i⁰) + γ Σ_k d(x_k/x_k⁰),   N = AᵀWA,  c = AᵀWy                        (ID19)
    D(P‖P⁰) = tr(P⁰⁻¹P) − log det(P⁰⁻¹P) − 4,      d(u) = u − log u − 1                                      (ID20)

D is the log-det divergence of pseudo-inertias (ID1) from a prior, d the same for one number: rotors and friction that
cannot be negative. Both are infinite at the boundary, so P stays positive definite. With P = Σ π_k E_k:

    ∂D/∂π_k = tr((P⁰⁻¹ − P⁻¹)E_k),   ∂²D/∂π_k∂π_l = tr(P⁻¹E_k P⁻¹E_l)                                       (ID21)

Friction terms and the weight of the prior are chosen by cross-validation on contiguous parts of the runs:

    CV = Σ_f Σ_j ‖y_fj − A_fj θ(without f)‖²/σ_j²             f: parts of the time, j: joints               (ID22)

Squares of each part and joint are kept as AᵀA, Aᵀy, yᵀy, so a choice costs one small solve per part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.identification.columns import BASIS, PLAIN, Layout, Term, floored, pseudo_inertia
from kinpair.identification.signals import Rows
from kinpair.mechanism import Mechanism

ROUNDS = 100
SETTLED = 1e-9  # decrement of Newton's method per parameter, as a part of γ
NEAR = 1e-2  # the same on the way
FALL, MOST = 5.0, 1e12  # weights of the prior fall by this factor to γ, from at most this multiple of it
BOUNDARY = 0.9  # part of the way to the boundary that a step may go
ENOUGH = 0.1  # part of the promised decrease that a step has to bring
SHRINK = 0.5
FREE = 1e-8  # curvature, relative to N, of parameters without a prior and without effect
PARTS = 5
GAMMAS = tuple(float(f"{10.0**k:.2g}") for k in np.arange(-1.0, 4.5, 0.5))
COARSE = (0.3, 10.0, 300.0)  # while friction is chosen
TOLERATED = 0.01  # part by which the weight of the prior may raise the error of validation
POSITIVE = 0.5  # part of the joints in which a term has to be positive
WORTH = 0.02  # least part by which a further term has to lower the error


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


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """AᵀA (parts, joints, p, p), Aᵀy (parts, joints, p), yᵀy and number of rows (parts, joints)."""

    N: np.ndarray
    c: np.ndarray
    yy: np.ndarray
    count: np.ndarray

    def of(self, columns: np.ndarray) -> Squares:
        """Squares of some columns."""
        return Squares(self.N[:, :, columns[:, None], columns], self.c[:, :, columns], self.yy, self.count)

    def weighted(self, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """N (parts, p, p) and c (parts, p) of (ID19) by part."""
        w = 1.0 / sigma**2
        return np.einsum("fjab,j->fab", self.N, w), np.einsum("fja,j->fa", self.c, w)

    def errors(self, theta: np.ndarray) -> np.ndarray:
        """Σ r² by joint."""
        N, c, yy = self.N.sum(0), self.c.sum(0), self.yy.sum(0)
        return np.maximum(yy - 2.0 * c @ theta + np.einsum("i,jik,k->j", theta, N, theta), 0.0)


def parts_of(rows: Rows, count: int = PARTS) -> np.ndarray:
    """Part (k,) of each row: every run is divided into contiguous parts of equal time."""
    part = np.zeros(len(rows.y), dtype=int)
    for run in np.unique(rows.run):
        at = rows.run == run
        t = rows.time[at]
        part[at] = np.minimum((count * (t - t[0]) / max(t[-1] - t[0], 1e-9)).astype(int), count - 1)
    return part


def squares(rows: Rows, part: np.ndarray) -> Squares:
    """Squares of all parts and joints."""
    parts, joints, p = int(part.max()) + 1, len(rows.layout.rows), rows.A.shape[1]
    N, c = np.zeros((parts, joints, p, p)), np.zeros((parts, joints, p))
    yy, count = np.zeros((parts, joints)), np.zeros((parts, joints))
    for f in range(parts):
        for j in range(joints):
            at = (part == f) & (rows.joint == j)
            A, y = rows.A[at], rows.y[at]
            active = np.flatnonzero(A.any(0)) if len(A) else np.zeros(0, dtype=int)
            B = A[:, active]
            N[f, j][np.ix_(active, active)] = B.T @ B
            c[f, j, active] = B.T @ y
            yy[f, j], count[f, j] = y @ y, len(y)
    return Squares(N, c, yy, count)


def validation_errors(
    s: Squares, prior: Prior, sigma: np.ndarray, gammas: Sequence[float] = GAMMAS
) -> dict[float, float]:
    """Error (ID22) as a part of the weighted efforts, for each weight of the prior."""
    (N, c), H = s.weighted(sigma), prior.hessian()
    yy = s.yy @ (1.0 / sigma**2)
    found: dict[float, float] = {}
    for gamma in gammas:
        total = 0.0
        for part in range(len(N)):
            theta = quadratic(N.sum(0) - N[part], c.sum(0) - c[part], prior.theta, gamma * H)
            total += max(float(yy[part] - 2.0 * c[part] @ theta + theta @ N[part] @ theta), 0.0)
        found[gamma] = float(np.sqrt(total / yy.sum()))
    return found


@dataclass(frozen=True, slots=True)
class Choice:
    """Friction terms and weight γ of the prior, and the errors of validation of all that was tried."""

    terms: tuple[Term, ...]
    gamma: float
    tried: dict[str, float]
    weights: dict[float, float]


def columns_of(rows: Rows, terms: Sequence[Term]) -> np.ndarray:
    """Indices of the columns that a choice of terms uses."""
    return np.array(
        [k for k, x in enumerate(rows.layout.parameters) if x.group != "friction" or x.term in terms],
        dtype=int,
    )


def restricted(prior: Prior, columns: np.ndarray) -> Prior:
    """The prior of some columns; bodies stay whole and first."""
    place = {int(k): n for n, k in enumerate(columns)}
    positive = np.array([place[int(k)] for k in prior.positive if int(k) in place], dtype=int)
    return Prior(prior.theta[columns], prior.bodies, positive)


def choose_terms(s: Squares, rows: Rows, prior: Prior, sigma: np.ndarray, optional: Sequence[Term]) -> Choice:
    """Choose friction terms, then γ: add the term that lowers the error of validation most while that is worth it."""
    tried: dict[str, float] = {}

    def error(terms: Sequence[Term]) -> float:
        at = columns_of(rows, terms)
        own, part = restricted(prior, at), s.of(at)
        if not _passive(rows, at, part, own, sigma, terms[-1]):
            return np.inf
        errors = validation_errors(part, own, sigma, COARSE)
        tried[" + ".join(x.name for x in terms)] = min(errors.values())
        return min(errors.values())

    terms = tuple(x for x in PLAIN if x in rows.layout.terms)
    least = error(terms)
    while True:
        further = [x for x in optional if x.kind not in {y.kind for y in terms}]
        scores = {x: error((*terms, x)) for x in further}
        best = min(scores, key=lambda x: scores[x], default=None)
        if best is None or scores[best] > (1.0 - WORTH) * least:
            break
        terms, least = (*terms, best), scores[best]
    at = columns_of(rows, terms)
    weights = validation_errors(s.of(at), restricted(prior, at), sigma)
    return Choice(terms, largest_weight(weights), tried, weights)


def _passive(
    rows: Rows, columns: np.ndarray, s: Squares, prior: Prior, sigma: np.ndarray, term: Term
) -> bool:
    """True if a term comes out positive in most joints: friction takes energy."""
    if not term.positive:
        return True
    (N, c), free = s.weighted(sigma), np.zeros(0, dtype=int)
    loose = Prior(prior.theta, prior.bodies, free)
    theta = quadratic(N.sum(0), c.sum(0), prior.theta, loose.hessian())
    own = [n for n, k in enumerate(columns) if rows.layout.parameters[k].term == term]
    return float(np.mean(theta[own] > 0)) >= POSITIVE


def largest_weight(errors: dict[float, float]) -> float:
    """The largest γ whose error of validation is within 1 % of the least: the prior counts where data do not object."""
    return max(g for g, e in errors.items() if e <= (1.0 + TOLERATED) * min(errors.values()))


def payload_body(m: Mechanism, payload: Mapping[str, Any]) -> int:
    """Number of the body that a payload is on, among the moving ones."""
    moving = list(m.model.moving)
    name = payload.get("link", m.model.names[moving[-1]])
    places = m.model.places
    if name not in places or places[name].body not in moving:
        raise InputError(
            f"payload: no moving link {name!r}; {nearest(str(name), places)}Links: {listed(places)}",
            argument="payload",
        )
    return moving.index(places[name].body)


def file_values(layout: Layout, m: Mechanism, payload: Mapping[str, Any] | None) -> np.ndarray:
    """θ of the description: bodies, rotors, viscous and Coulomb friction; a payload has 1 kg, or its known mass."""
    pi = m.regressor_parameters()
    by_name = dict(zip(m.regressor_names, pi.tolist(), strict=True))
    words = {"rotor inertia": "rotor inertia", "viscous": "damping", "coulomb": "friction"}
    theta = np.zeros(len(layout.parameters))
    for k, x in enumerate(layout.parameters):
        if x.group == "payload":
            continue
        if x.group == "inertial":
            theta[k] = pi[k]
        elif x.group != "motor":
            owner, _, what = x.name.rpartition(": ")
            theta[k] = by_name.get(f"{owner}: {words.get(what, '')}", 0.0)
    if layout.payload is not None:
        known = float((payload or {}).get("mass") or 1.0)
        at = layout.bodies_of_ten[-1]
        theta[at] = floored(np.array([known, *[0.0] * 3, *[0.01 * known] * 3, *[0.0] * 3]), known)
    return theta


def first_guess(s: Squares, layout: Layout, file: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """θ and σ by joint with the quadratic prior of weight one."""
    sigma = 0.1 * spread(s, layout, np.zeros(len(file)))
    prior = prior_of(layout, file, np.ones(len(file)))
    H, theta = prior.hessian(), prior.theta
    for _ in range(3):
        N, c = s.weighted(sigma)
        theta = quadratic(N.sum(0), c.sum(0), prior.theta, H)
        sigma = spread(s, layout, theta)
    return theta, sigma


def spread(s: Squares, layout: Layout, theta: np.ndarray) -> np.ndarray:
    """σ (rows,) of the residuals, one for each group of rows."""
    g = layout.groups
    count = np.maximum(np.bincount(g, s.count.sum(0)), 1)
    size, scale = (np.sqrt(np.bincount(g, x) / count)[g] for x in (s.errors(theta), s.yy.sum(0)))
    return np.maximum(size, 1e-6 * np.maximum(scale, scale.max()))
