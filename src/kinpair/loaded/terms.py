"""The numbers of one state, from which every solve in floats is made.

H q̈ = F + Aᵀλ + e,   A q̈ = b                        e: efforts of friction                          (FA1)
c_k = c_k(0) + Q_k q̈ + L_k λ                                                                        (FA2)
q̈ = q̈₀ + P e,   c_k = c_k0 + E_k e                                                                  (FA3)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinpair.forces.surfaces.surface import Carried, Surface
from kinpair.loaded.resting import RANK, Resting
from kinpair.loaded.system import Response, Slip, System


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
    """The answer to efforts of friction.    (FA3)"""
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
    """(FS3) with D (surfaces, nv)."""
    by_load = [-(x.P @ d) for d in D]
    by_forms = [[list(-(E @ d)) for d in D] for E in x.E]
    return System(surfaces, slips, joints, Response(x.qdd, by_load, [list(c) for c in x.c], by_forms))


def resting_system(
    x: Affine,
    surfaces: Sequence[Surface],
    joints: Sequence[Carried],
    G: Sequence[np.ndarray],
    at_rest: Sequence[bool],
    u: Sequence[np.ndarray],
    mu: Sequence[float],
) -> Resting:
    """(FH1) with G (numbers, nv) of each surface in all rates; `u` and `mu` of those that slide.

    A surface at rest on which friction has no effect is moved by constraints alone: it slides the way it accelerates,
    and rubs by nothing where it does not, since what it holds is not unique.
    """
    stops = np.cumsum([0, *(len(g) for g in G)]).tolist()
    where = [slice(a, b) for a, b in pairwise(stops)]
    every = np.concatenate(list(G))
    static = np.array([float(s.grip.mu_static) for s in surfaces])
    P = every @ x.P @ every.T
    size = [float(np.trace(P[k, k])) for k in where]
    moves = [a > RANK * max(size) for a in size]
    a = every @ x.qdd
    least = RANK * (1.0 + float(np.abs(a).max()))
    u = [
        _unit(a[k], least) if still and not free else own
        for k, own, still, free in zip(where, u, at_rest, moves, strict=True)
    ]
    at_rest = [still and free for still, free in zip(at_rest, moves, strict=True)]
    return Resting(
        surfaces,
        joints,
        where,
        a,
        0.5 * (P + P.T),
        x.c,
        [E @ every.T for E in x.E],
        at_rest,
        u,
        np.array(mu, dtype=float),
        static,
    )


def _unit(a: np.ndarray, least: float) -> np.ndarray:
    """Its direction, or nothing where it is shorter than that."""
    size = float(np.linalg.norm(a))
    return a / size if size > least else np.zeros(len(a))
