"""Closed and rolling mechanisms for the tests: consistent states of the bundled ones, and a plain solve."""

from __future__ import annotations

import numpy as np

import kinpair as kp
from kinpair.constraints.build import constraints_of
from kinpair.constraints.rows import residual, rows

CLOSED = np.arccos(-0.65)
STARTS: dict[str, list[float] | None] = {  # where their files start them; None: the neutral coordinates
    "four-bar": [0, CLOSED, CLOSED],
    "four-bar-3d": [0, CLOSED, CLOSED],
    "slider-crank": [np.pi / 2, -np.pi / 2 - np.arctan(5 / 12), -0.06],
    "five-bar": [np.pi / 2, -np.arctan(5 / 12), np.pi / 2, np.arctan(5 / 12)],
    "bennett": [np.pi / 2, 2 * np.pi / 3, -np.pi / 2],
    "three-rrr": [0, 0, 0, *[np.arctan(4 / 3), -2 * np.arctan(4 / 3)] * 3],
    "stewart": None,
    "delta": None,
    "gripper": [0.5, -0.5, 0.5, -0.5, 0.5, -0.5],
    "space-robot": [np.pi / 36, -np.pi / 6, -np.pi / 6],
    "omni-robot": [1, 1, 1, 0.001, 0.001, np.pi / 6],
    "diff-drive": None,
    "rolling-disk": None,
    "bicycle": None,
}


def start(name: str) -> np.ndarray:
    """The coordinates at which an example starts."""
    q = STARTS[name]
    return kp.example(name).neutral() if q is None else np.array(q, dtype=float)


def gap(m: kp.Mechanism, q: np.ndarray) -> np.ndarray:
    """φ of every holonomic row."""
    return residual(m.model, constraints_of(m.model), q, 0.0)


def constraints(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, ψ and b of every row."""
    result = rows(m.model, constraints_of(m.model), q, qd, 0.0)
    return tuple(np.array(x, dtype=float) for x in result)  # type: ignore[return-value]


def motion(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ of H q̈ + h = τ + Aᵀλ, A q̈ = b, the shortest λ where rows are redundant."""
    A, _, b = constraints(m, q, qd)
    H, h = m.reference.mass_matrix(q), m.reference.bias_forces(q, qd)
    free, W = np.linalg.solve(H, tau - h), np.linalg.solve(H, A.T)
    lam = np.linalg.pinv(A @ W, rcond=1e-12, hermitian=True) @ (b - A @ free)
    return free + W @ lam, lam
