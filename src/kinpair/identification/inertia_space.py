"""Pseudo-inertias: the ten parameters of a body as a symmetric 4 × 4 matrix.

    P = [Σ, h; hᵀ, m],   Σ = ∫ r rᵀ dm = ½ tr(I) 1 − I,   h = m c                                     (ID1)

P is positive definite exactly where some distribution of positive mass has these parameters. With T a pose and v̂ the
4 × 4 matrix of a twist:

    P_parent = T P Tᵀ,   v₁ᵀ M v₂ = tr(v̂₁ P v̂₂ᵀ)                                                      (ID2)

After Wensing, Kim, Slotine (2018) and Lee, Wensing, Park (2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np

TEN = 10
LEAST_RADIUS = 0.01  # [m]: least radius of gyration of a prior
LEAST_MASS = 1e-3  # least mass of a prior, as a part of the mass of all bodies


def pseudo_inertia(pi: np.ndarray) -> np.ndarray:
    """P (..., 4, 4) of parameters (..., 10): m, m c, Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the origin.    (ID1)"""
    return np.einsum("...k,kij->...ij", pi, BASIS)


def parameters_of(P: np.ndarray) -> np.ndarray:
    """Parameters (..., 10) of a pseudo-inertia (..., 4, 4): the inverse of `pseudo_inertia`."""
    S = P[..., :3, :3]
    I = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    tensor = [I[..., 0, 0], I[..., 1, 1], I[..., 2, 2], I[..., 0, 1], I[..., 0, 2], I[..., 1, 2]]
    return np.stack([P[..., 3, 3], *(P[..., k, 3] for k in range(3)), *tensor], axis=-1)


def _basis() -> np.ndarray:
    E = np.zeros((TEN, 4, 4))
    E[0, 3, 3] = 1.0
    for k in range(3):
        E[1 + k, k, 3] = E[1 + k, 3, k] = 1.0
        E[4 + k, :3, :3] = 0.5 * np.eye(3)
        E[4 + k, k, k] -= 1.0
    for n, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        E[7 + n, i, j] = E[7 + n, j, i] = -1.0
    return E


BASIS = _basis()


def hat(twist: np.ndarray) -> np.ndarray:
    """v̂ (4, 4) of a twist [ω; v] (6,)."""
    x, y, z, *v = twist
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0.0, 0.0, 0.0, 0.0]])


def transfer(T: np.ndarray) -> np.ndarray:
    """Matrix (10, 10) that moves parameters by the homogeneous pose T (4, 4).    (ID2)"""
    return parameters_of(T @ BASIS @ T.T).T


def rate(twist: np.ndarray) -> np.ndarray:
    """Matrix (10, 10): rate at which parameters change while their frame moves with a twist."""
    V = hat(twist)
    return parameters_of(V @ BASIS + BASIS @ V.T).T


def measurement(v1: np.ndarray, v2: np.ndarray) -> np.ndarray:
    """Row (10,) of v₁ᵀ M v₂ as a function of the parameters.    (ID2)"""
    return np.einsum("ij,kjl,il->k", hat(v1), BASIS, hat(v2))


def floored(pi: np.ndarray, total: float) -> np.ndarray:
    """Parameters (10,) near `pi` whose P is well inside the positive matrices: a prior has to be.

    Mass at least a thousandth of the `total` [kg]; Σ about the mass centre at least that of a radius of 1 cm.
    """
    P = pseudo_inertia(pi)
    m = max(float(P[3, 3]), LEAST_MASS * max(total, 1e-9))
    c = P[:3, 3] / m
    S = P[:3, :3] - m * np.outer(c, c)
    values, U = np.linalg.eigh(0.5 * (S + S.T))
    S = (U * np.maximum(values, m * LEAST_RADIUS**2)) @ U.T + m * np.outer(c, c)
    h = (m * c)[:, None]
    return parameters_of(np.block([[S, h], [h.T, np.array([[m]])]]))


def is_consistent(pi: np.ndarray) -> bool:
    """True if the pseudo-inertia of the parameters (10,) is positive definite."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(pi))[0] > 0.0)


def body_numbers(pi: np.ndarray) -> dict[str, Any]:
    """Mass [kg], centre [m] and inertia (3, 3) [kg m²] about the centre, from ten parameters."""
    m, c = float(pi[0]), pi[1:4] / pi[0]
    xx, yy, zz, xy, xz, yz = pi[4:]
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return {"mass": m, "centre": c, "inertia": I - m * (c @ c * np.eye(3) - np.outer(c, c))}
