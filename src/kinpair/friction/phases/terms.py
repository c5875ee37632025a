"""The numbers of one state, from which every solve in floats is made.

H q̈ = F + Aᵀλ + e,   A q̈ = b                        e: efforts of friction                          (FA1)
c_k = c_k(0) + Q_k q̈ + L_k λ                                                                        (FA2)
q̈ = q̈₀ + P e,   c_k = c_k0 + E_k e                                                                  (FA3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.friction.loads.system import Response, Slip, System
from kinpair.friction.surfaces.surface import Carried, Surface


class Terms(NamedTuple):
    """(FA1) and (FA2) in floats: H (nv, nv), F (nv,), rows A and b, and by surface c(0), Q and L."""

    H: np.ndarray
    F: np.ndarray
    A: np.ndarray
    b: np.ndarray
    c: Sequence[np.ndarray]
    Q: Sequence[np.ndarray]
    L: Sequence[np.ndarray]


class Affine(NamedTuple):
    """(FA3): q̈₀, P, and by surface c₀ and E."""

    qdd: np.ndarray
    P: np.ndarray
    c: Sequence[np.ndarray]
    E: Sequence[np.ndarray]


def affine(x: Terms) -> Affine:
    """Compute the answer to efforts of friction.    (FA3)"""
    n, rows = len(x.F), len(x.b)
    K = np.block([[x.H, -x.A.T], [x.A, np.zeros((rows, rows))]])
    right = np.block([[x.F[:, None], np.eye(n)], [x.b[:, None], np.zeros((rows, n))]])
    answer = np.linalg.solve(K, right)  # (FA1)
    qdd, lam = answer[:n], answer[n:]
    forms = [Q @ qdd + L @ lam for Q, L in zip(x.Q, x.L, strict=True)]  # (FA2)
    first = [c + both[:, 0] for c, both in zip(x.c, forms, strict=True)]
    return Affine(qdd[:, 0], qdd[:, 1:], first, [both[:, 1:] for both in forms])


def sliding_system(
    x: Affine, surfaces: Sequence[Surface], slips: Sequence[Slip], joints: Sequence[Carried], D: np.ndarray
) -> System:
    """Return (FS3) with D (surfaces, nv)."""
    by_load = [-(x.P @ d) for d in D]
    by_forms = [[list(-(E @ d)) for d in D] for E in x.E]
    return System(surfaces, slips, joints, Response(x.qdd, by_load, [list(c) for c in x.c], by_forms))
