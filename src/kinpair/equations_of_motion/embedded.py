"""Accelerations under constraints in closed form: extended Rosenberg and Udwadia–Kalaba over normal forms.

With A = [A₁ A₂], d the determinant of A₁ (or its part with several terms) and Z as in `constraints.solvers.embedding`,
all times d so that nothing is divided:

    Z = [−d A₁⁻¹A₂; d],   X = Zᵀ M Z,   P = Z X⁻¹ Zᵀ
    q̈ = P F + (1 − P M) [A₁⁻¹; 0] b            the four blocks R₁ ... R₄ of Zhao et al. 2023, eqs 33, 34

X falls into blocks that do not meet; each is inverted by its adjugate and its determinant, which becomes a denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinpair.closed_form import polynomial
from kinpair.closed_form.matrices import ZERO, Matrices, Square, blocks, tidy, transposed
from kinpair.closed_form.polynomial import Polynomial
from kinpair.closed_form.ratios import Denominators, Names, Ratio, added, scaled
from kinpair.errors import ClosedFormError, InputError

Ratios = list[list[Ratio]]
ONE = polynomial.number(1.0)


class Virtual(NamedTuple):
    """Displacements that the constraints allow: Z (n, n − l) and A₁⁻¹ (l, l), both times d, and the name of d."""

    Z: Square
    over_A1: Square
    d: Polynomial
    under: Names


class Solution(NamedTuple):
    """q̈ = on_F F + on_b b: entries (n, n) and (n, l)."""

    on_F: Ratios
    on_b: Ratios


def virtual(
    A: Square, one: Sequence[int], two: Sequence[int], algebra: Matrices, names: Denominators
) -> Virtual:
    """Z and A₁⁻¹ for the dependent rates `one` and the independent ones `two`."""
    A1, A2 = [[row[k] for k in one] for row in A], [[row[k] for k in two] for row in A]
    det = algebra.determinant(A1)
    if not len(det):
        raise ClosedFormError("the rows do not determine the dependent coordinates")
    content, under = names.over(det)
    d = names.product(under)
    over_A1 = [[tidy(x * content) for x in row] for row in algebra.adjugate(A1)]
    K = algebra.product(over_A1, A2) if two else []
    Z: Square = [[ZERO] * len(two) for _ in range(len(one) + len(two))]
    for i, row in zip(one, K, strict=True) if two else ():
        Z[i] = [-x for x in row]
    for k, i in enumerate(two):
        Z[i][k] = d
    return Virtual(Z, over_A1, d, under)


def extended(M: Square, x: Virtual, one: Sequence[int], algebra: Matrices, names: Denominators) -> Solution:
    """R₁ ... R₄, rows in the order of the coordinates."""
    n, l = len(M), len(x.over_A1)
    P = _projector(M, x, algebra, names)
    C = algebra.product([[row[k] for k in one] for row in M], x.over_A1)
    on_b: Ratios = [[{} for _ in range(l)] for _ in range(n)]
    for i in range(n):
        for r in range(l):
            pulled = [scaled(algebra, P[i][k], -C[k][r], x.under) for k in range(n)]
            own = [{x.under: x.over_A1[one.index(i)][r]}] if i in one else []
            on_b[i][r] = added([*own, *pulled])
    return Solution(P, on_b)


def _projector(M: Square, x: Virtual, algebra: Matrices, names: Denominators) -> Ratios:
    """P = Z X⁻¹ Zᵀ, symmetric."""
    n, free = len(M), range(len(x.Z[0]))
    X, under = _divided(algebra.product(transposed(x.Z), algebra.product(M, x.Z)), x, algebra)
    inverse = inverted(X, algebra, names, x)
    result: Ratios = [[{} for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            both = [(k, l) for k in free for l in free if len(x.Z[i][k]) and len(x.Z[j][l])]
            parts = [
                scaled(algebra, inverse[k][l], algebra.times(x.Z[i][k], x.Z[j][l]), under) for k, l in both
            ]
            result[i][j] = result[j][i] = _reduced(added(parts), names)
    return result


def _reduced(x: Ratio, names: Denominators) -> Ratio:
    """Each part without the denominators that divide it."""
    return added([{under: part} for part, under in (names.reduced(p, u) for u, p in x.items())])


def _divided(X: Square, x: Virtual, algebra: Matrices) -> tuple[Square, Names]:
    """X without the powers of d that all its entries have; these by name."""
    under: Names = ()
    while x.under:
        quotients = [[algebra.quotient(y, x.d) for y in row] for row in X]
        if any(y is None for row in quotients for y in row):
            break
        X, under = [[tidy(y) for y in row if y is not None] for row in quotients], (*under, *x.under)
    return X, under


def inverted(X: Square, algebra: Matrices, names: Denominators, x: Virtual | None = None) -> Ratios:
    """The inverse of a symmetric matrix, block by block; powers of d in a determinant are told apart."""
    n = len(X)
    result: Ratios = [[{} for _ in range(n)] for _ in range(n)]
    for block in blocks(X):
        inner = [[X[i][j] for j in block] for i in block]
        det = algebra.determinant(inner)
        if not len(det):
            raise ClosedFormError("the mass matrix of the allowed motions is singular")
        ((det,),), under = _divided([[det]], x, algebra) if x is not None else ([[det]], ())
        content, names_of_it = names.over(det)
        adjugate = algebra.adjugate(inner)
        for i, row in zip(block, adjugate, strict=True):
            for j, y in zip(block, row, strict=True):
                result[i][j] = scaled(algebra, {(): y}, content, (*under, *names_of_it))
    return result


def free_inverse(M: Square, A: Square, algebra: Matrices, names: Denominators) -> tuple[Ratios, Ratios]:
    """M⁻¹ and A M⁻¹ Aᵀ of Udwadia and Kalaba."""
    if any(not len(algebra.determinant([[M[i][j] for j in block] for i in block])) for block in blocks(M)):
        raise InputError(
            "the mass matrix is singular, so that G = M⁻¹ does not exist; 'rosenberg-extended' will do"
        )
    G, n = inverted(M, algebra, names), len(M)
    AG = [[added([scaled(algebra, G[k][j], row[k]) for k in range(n)]) for j in range(n)] for row in A]
    S = [[added([scaled(algebra, x[k], row[k]) for k in range(n)]) for row in A] for x in AG]
    return G, S
