"""Friction terms and weight of the prior, chosen by cross-validation on contiguous parts of the runs.

    CV = Σ_f Σ_j ‖y_fj − A_fj θ(without f)‖²/σ_j²             f: parts of the time, j: joints               (ID22)

Squares of each part and joint are kept as AᵀA, Aᵀy, yᵀy, so a choice costs one small solve per part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinpair.identification.columns import PLAIN, Term
from kinpair.identification.consistency import Prior, quadratic
from kinpair.identification.signals import Rows

PARTS = 5
GAMMAS = tuple(float(f"{10.0**k:.2g}") for k in np.arange(-1.0, 4.5, 0.5))
COARSE = (0.3, 10.0, 300.0)  # while friction is chosen
TOLERATED = 0.01  # part by which the weight of the prior may raise the error of validation
MOST = 0.5  # part of the joints in which a term has to be positive
WORTH = 0.02  # least part by which a further term has to lower the error


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
    return float(np.mean(theta[own] > 0)) >= MOST


def largest_weight(errors: dict[float, float]) -> float:
    """The largest γ whose error of validation is within 1 % of the least: the prior counts where data do not object."""
    return max(g for g, e in errors.items() if e <= (1.0 + TOLERATED) * min(errors.values()))
