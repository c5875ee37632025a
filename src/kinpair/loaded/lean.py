"""The same system with the accelerations as unknowns, for trees: fewer operations, since nothing is solved beforehand.

    H q̈ + h + D N = τ,     c_k = c_k(0) + Q_k q̈                                                        (FN1)
    F_k = N_k − load_k(c_k, −μ_k u_k N_k),   e_k = 1 − dload_k/dN_k,   Γ_k = (∂load_k/∂c) Q_k / e_k      (FN2)
    (H + D Γ) δq̈ = D F/e,   δN = Γ δq̈ − F/e                                                             (FN3)

(FN1) stays met by every step (FN3). It is the sweep (FS4), and det J has the sign of det(H + D Γ) Π e. The matrix
H + D Γ is computed anew in the first sweeps only; those after them cost half, and converge as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from kinpair.algebra import lu
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import sign
from kinpair.forces.surfaces.surface import Carried, Surface
from kinpair.loaded.system import Slip, Solved, dot, force_slope, measured


class Equations(NamedTuple):
    """(FN1): H, D by surface (nv,), c_k(0), and Q_k by form (forms, nv)."""

    H: Matrix
    D: Sequence[Vector]
    forms: Sequence[Sequence[Scalar]]
    Q: Sequence[Sequence[Sequence[Scalar]]]


class _Slopes(NamedTuple):
    """Factors of H + D Γ, Γ, 1/e, and the sign of the determinant."""

    factors: lu.LUFactors
    Gamma: list[list[Scalar]]
    over_e: list[Scalar]
    orientation: Scalar


def solve(
    x: Equations,
    surfaces: Sequence[Surface],
    slips: Sequence[Slip],
    joints: Sequence[Carried],
    start: tuple[Vector, Vector],
    sweeps: int,
    anew: int,
) -> tuple[Vector, Solved]:
    """q̈ and N by so many sweeps from a start that meets (FN1), the matrix computed anew in the first of them."""
    qdd, N = start
    slopes: _Slopes | None = None
    for n in range(sweeps):
        c = forms_of(x, qdd)
        F = [N[k] - own.load(c[k], slips[k].force(N[k]), joints[k]) for k, own in enumerate(surfaces)]
        if slopes is None or n < anew:
            slopes = _slopes(x, surfaces, slips, joints, c, N)
        share = [f if is_one(e) else f * e for f, e in zip(F, slopes.over_e, strict=True)]
        step = lu.solve(slopes.factors, array([dot(row, share) for row in _by_rate(x.D, len(qdd))]))  # (FN3)
        qdd = qdd + step
        N = array([N[k] + dot(slopes.Gamma[k], step) - share[k] for k in range(len(N))])
    c = forms_of(x, qdd)
    F = [N[k] - own.load(c[k], slips[k].force(N[k]), joints[k]) for k, own in enumerate(surfaces)]
    return qdd, Solved(N, measured(F, N), 1.0 if slopes is None else slopes.orientation)


def forms_of(x: Equations, qdd: Vector) -> list[list[Scalar]]:
    """c_k.    (FN1)"""
    return [
        [c + dot(row, qdd) for c, row in zip(first, Q, strict=True)]
        for first, Q in zip(x.forms, x.Q, strict=True)
    ]


def _slopes(
    x: Equations,
    surfaces: Sequence[Surface],
    slips: Sequence[Slip],
    joints: Sequence[Carried],
    c: Sequence[Sequence[Scalar]],
    N: Vector,
) -> _Slopes:
    """(FN2)."""
    n, Gamma, over_e, signs = len(x.H), list[list[Scalar]](), list[Scalar](), list[Scalar]()
    for k, own in enumerate(surfaces):
        slope = own.slopes(c[k], slips[k].force(N[k]), joints[k])
        row = [dot(slope, [form[j] for form in x.Q[k]]) for j in range(n)]
        e = 1.0 - force_slope(own, c[k], slips[k], N[k], joints[k])
        if is_one(e):
            over_e.append(1.0)
        else:
            over_e.append(np.divide(1.0, e))
            signs.append(sign(e))
            row = [g * over_e[k] for g in row]
        Gamma.append(row)
    D = _by_rate(x.D, n)
    K = [[x.H[i, j] + dot(D[i], [g[j] for g in Gamma]) for j in range(n)] for i in range(n)]
    factors = lu.factor(array(K))
    return _Slopes(factors, Gamma, over_e, reduce(mul, [*signs, *(sign(p) for p in factors.D)]))


def _by_rate(D: Sequence[Vector], n: int) -> list[list[Scalar]]:
    return [[column[i] for column in D] for i in range(n)]


def is_one(x: Scalar) -> bool:
    """Is it one for every state?"""
    return is_nothing(x - 1.0)
