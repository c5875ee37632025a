"""Wrenches in joints and loops as one matrix, compiled: of a tree, and of a mechanism under constraints.

Rows of A are scaled to length one, short ones less. Of the independent ones A_K = R Q, with orthonormal rows in Q and R
lower triangular; of the redundant ones A_D = T A_K. r = H q̈ + h − τ are the efforts that the constraints make:

    Rᵀ μ = Q r                                        A_Kᵀ μ = r, or as near as can be           (RE1)
    T R = A_D Qᵀ                                                                                 (RE2)
    (1 + T Tᵀ) λ_D = T μ,   λ_K = μ − Tᵀ λ_D          the least λ of all rows                    (RE3)

With r of all motion, τ = 0, (RE1) leaves r − Aᵀλ as small as can be: these are the least efforts that make the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.constrained.equations import largest
from kinpair.constrained.soundness import HOLDS, WIDE_OPEN
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Motion
from kinpair.constraints.joined import Joined
from kinpair.constraints.loads import IN_LOOP, ON_LINK, carried
from kinpair.constraints.rank_revealing import SHORT
from kinpair.model.model import Model
from kinpair.quantities import External, Request, inverse_dynamics, reactions

INDEPENDENT = 1e-4  # what a row of length one must have beyond the others
REDUNDANT = 1e-8  # what a redundant row may have beyond the others


def reaction_names(model: Model) -> tuple[str, ...]:
    """What the rows of the matrix are of: the joints of the description, then the loops and other constraints between
    two frames."""
    known = {model.joint_names[i] for i in model.moving}
    joints = [joint.name for joint in model.description.joints if joint.name in known]
    return (*joints, *(x.name for x in constraints_of(model) if isinstance(x, Joined)))


def wrenches(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External) -> Matrix:
    """Wrenches on the children (joints, 6) of a tree, in the order of the description."""
    found = reactions(model, replace(request, quantity="reactions"), q, qd, qdd, loads)
    return _stacked(list(found.values()))


def constrained_wrenches(
    model: Model,
    request: Request,
    q: Vector,
    qd: Vector,
    qdd: Vector,
    tau: Vector,
    time: Vector,
    loads: External,
) -> tuple[Matrix, Scalar]:
    """The same of joints and loops under the efforts tau; and one where the solve needs no closer look, else zero."""
    constraints, at = constraints_of(model), Motion(model, q, time[0], qd)
    rows = all_rows.rows_at(constraints, at)
    needed = inverse_dynamics(model, replace(request, quantity="inverse_dynamics"), q, qd, qdd, loads)
    found = least_multipliers(rows.A, request.kept, needed - tau)
    carry = carried(model, constraints, q, time[0], found.lam, loads, request.axes)
    on_links = {name.removeprefix(ON_LINK): w for name, w in carry.items() if name.startswith(ON_LINK)}
    in_loops = [w for name, w in carry.items() if name.startswith(IN_LOOP)]
    tree = reactions(model, replace(request, quantity="reactions"), q, qd, qdd, on_links)
    missed = largest(list(rows.A @ qdd - rows.b))
    gap = largest(list(all_rows.residual_at(constraints, at) / all_rows.scales(model, constraints)))
    good = ((missed, HOLDS * (1.0 + largest(list(qdd)))), (gap, WIDE_OPEN), *found.sound)
    return _stacked([*tree.values(), *in_loops]), reduce(mul, [where(less(a, b), 1.0, 0.0) for a, b in good])


def _stacked(found: list[Vector]) -> Matrix:
    return array([list(w) for w in found]) if found else np.zeros((0, 6))


class Multipliers(NamedTuple):
    """λ of all rows, pairs (smaller, larger) that hold where it is sound, and how much of the load of a redundant row
    each could carry: zero where λ is unique."""

    lam: Vector
    sound: tuple[tuple[Scalar, Scalar], ...]
    shared: Vector


def least_multipliers(A: Matrix, kept: Sequence[int], r: Vector) -> Multipliers:
    """λ of (RE3) for all rows of A, of which those kept are independent."""
    sizes = _lengths(A)
    rows = [_scaled(row, size) for row, size in zip(A, sizes, strict=True)]
    basis = _Basis()
    for k in kept:
        basis.add(rows[k])
    others = [k for k in range(len(rows)) if k not in set(kept)]
    mu = basis.solved(r)
    T, beyond = _combinations(basis, [rows[k] for k in others])
    of_others = _shared(T, mu)
    of_kept = [m - sum((t[n] * x for t, x in zip(T, of_others, strict=True)), 0.0) for n, m in enumerate(mu)]
    by_row = dict(zip((*kept, *others), (*of_kept, *of_others), strict=True))
    lam = [np.divide(by_row[k], sizes[k]) for k in range(len(rows))]
    shares = dict(zip((*kept, *others), (*map(largest, zip(*T, strict=True)), *[1.0] * len(T)), strict=False))
    shortest = reduce(minimum, basis.diagonal, 1.0)
    return Multipliers(
        array(lam) if lam else np.zeros(0),
        ((INDEPENDENT, shortest), (largest(beyond), REDUNDANT)),
        array([shares.get(k, 0.0) if T else 0.0 for k in range(len(rows))]) if rows else np.zeros(0),
    )


def _lengths(A: Matrix) -> list[Scalar]:
    """As `rank_revealing.lengths`."""
    squares = [_dot(row, row) for row in A]
    longest = reduce(maximum, squares, 0.0)
    least = where(less(0.0, longest), SHORT * SHORT * longest, 1.0)
    return [np.sqrt(maximum(x, least)) for x in squares]


def _scaled(row: Vector, size: Scalar) -> list[Scalar]:
    over = np.divide(1.0, size)
    return [0.0 if is_nothing(x) else x * over for x in row]


def _dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    pairs = zip(x, y, strict=True)
    return sum((a * b for a, b in pairs if not (is_nothing(a) or is_nothing(b))), 0.0)


def _less(x: Sequence[Scalar], c: Scalar, q: Sequence[Scalar]) -> list[Scalar]:
    """x − c q."""
    return [a if is_nothing(b) else a - c * b for a, b in zip(x, q, strict=True)]


class _Basis:
    """Rows of Q and R, one after the other (modified Gram–Schmidt)."""

    def __init__(self) -> None:
        self.Q: list[list[Scalar]] = []
        self.R: list[list[Scalar]] = []

    @property
    def diagonal(self) -> list[Scalar]:
        """Of R: what each row had beyond those before."""
        return [row[k] for k, row in enumerate(self.R)]

    def parts(self, row: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Of a vector along the rows of Q, and what is left of it."""
        rest, along = list(row), list[Scalar]()
        for q in self.Q:
            c = _dot(q, rest)
            along.append(c)
            if not is_nothing(c):
                rest = _less(rest, c, q)
        return along, rest

    def add(self, row: Sequence[Scalar]) -> None:
        """One row more."""
        along, rest = self.parts(row)
        size = np.sqrt(_dot(rest, rest))
        self.Q.append(_scaled(array(rest), size))
        self.R.append([*along, size])

    def solved(self, r: Vector) -> list[Scalar]:
        """μ of (RE1)."""
        y, _ = self.parts(list(r))
        return self._back(y)

    def combination(self, along: Sequence[Scalar]) -> list[Scalar]:
        """A row of T, from its parts along Q.    (RE2)"""
        return self._back(along)

    def _back(self, y: Sequence[Scalar]) -> list[Scalar]:
        """x of Rᵀ x = y."""
        x: list[Scalar] = [0.0] * len(y)
        for k in reversed(range(len(y))):
            later = sum((self.R[j][k] * x[j] for j in range(k + 1, len(y))), 0.0)
            x[k] = np.divide(y[k] - later, self.R[k][k])
        return x


def _combinations(basis: _Basis, rows: Sequence[Sequence[Scalar]]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """T, and the length of what each row has beyond the basis."""
    T, beyond = list[list[Scalar]](), list[Scalar]()
    for row in rows:
        along, rest = basis.parts(row)
        T.append(basis.combination(along))
        beyond.append(np.sqrt(_dot(rest, rest)))
    return T, beyond


def _shared(T: Sequence[Sequence[Scalar]], mu: Sequence[Scalar]) -> list[Scalar]:
    """λ_D of (RE3)."""
    if not T:
        return []
    S = array([[_dot(a, b) + (1.0 if i == j else 0.0) for j, b in enumerate(T)] for i, a in enumerate(T)])
    return list(ldl.solve(S, array([_dot(t, mu) for t in T]))[0])
