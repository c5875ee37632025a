"""Multipliers of all rows from the efforts that the constraints make, and how redundant rows share them.

Rows of A are scaled to length one, short ones less. Of the independent ones A_K = R Q, with orthonormal rows in Q and R
lower triangular; of the redundant ones A_D = T A_K. r = H q̈ + h − τ are the efforts that the constraints make:

    Rᵀ μ = Q r                                        A_Kᵀ μ = r, or as near as can be           (RE1)
    T R = A_D Qᵀ                                                                                 (RE2)
    (1 + T Tᵀ) λ_D = T μ,   λ_K = μ − Tᵀ λ_D          the least λ of all rows                    (RE3)

With r of all motion, τ = 0, (RE1) leaves r − Aᵀλ as small as can be: these are the least efforts that make the motion.
What redundant rows carry against each other are the columns of N, N_K = −Tᵀ, N_D = 1: AᵀN = 0.

Such loads N z show in no motion; elastic joints and loops share them. With w₀ the wrenches in joints and
loops at any multipliers that balance, and w_j those of column j of N alone, each component squared times its compliance
is twice an energy, and elastic parts take the load where the sum is least:

    w = w₀ + B z,   B = [w_1 …]                                                                  (RE4)
    (BᵀC B) z = −BᵀC w₀                               C: compliances [rad/(N m)], [m/N]          (RE5)

The motion does not change. It is the limit of stiff supports: only the ratios of the compliances count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.constraints.quantities.equations import largest
from kinpair.constraints.rounding import INDEPENDENT, REDUNDANT, SHARING_KNOWN, SHORT
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loads import by_constraint, in_loop, with_rows, wrench_rows
from kinpair.evaluation.quantities.request import External, Request
from kinpair.evaluation.quantities.wrenches import joint_order
from kinpair.forces.elements import loads_on
from kinpair.formulations import newton_euler
from kinpair.formulations.kinematics import no_wrenches
from kinpair.friction.loads.system import dot, times
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates
from kinpair.model.state import State
from kinpair.spatial.pose import rotate


class Multipliers(NamedTuple):
    """λ of all rows, pairs (smaller, larger) that hold where it is sound, and how much of the load of a redundant row
    each could carry: zero where λ is unique."""

    lam: Vector
    sound: tuple[tuple[Scalar, Scalar], ...]
    shared: Vector


def least_multipliers(A: Matrix, kept: Sequence[int], r: Vector) -> Multipliers:
    """λ of (RE3) for all rows of A, of which those kept are independent."""
    x = _split(A, kept)
    mu = x.basis.solved(r)
    of_others = _of_dependent(x.T, mu)
    of_kept = [
        m - sum((t[n] * y for t, y in zip(x.T, of_others, strict=True)), 0.0) for n, m in enumerate(mu)
    ]
    lam, most = x.in_order(of_kept, of_others), [largest(column) for column in zip(*x.T, strict=True)]
    shares = dict(zip((*kept, *x.others), (*most, *[1.0] * len(x.T)), strict=False))
    shortest = reduce(minimum, x.basis.diagonal, 1.0)
    return Multipliers(
        lam,
        ((INDEPENDENT, shortest), (largest(x.beyond), REDUNDANT)),
        array([shares.get(k, 0.0) if x.T else 0.0 for k in range(len(A))]) if len(A) else np.zeros(0),
    )


def self_stresses(A: Matrix, kept: Sequence[int]) -> list[Vector]:
    """Columns of N (rows,): what each redundant row carries against those kept."""
    x = _split(A, kept)
    units = np.eye(len(x.others))
    return [x.in_order([-t for t in row], list(unit)) for row, unit in zip(x.T, units, strict=True)]


class _Split(NamedTuple):
    """Rows by their lengths: the basis of those kept, the others, T, and what they have beyond the basis."""

    kept: Sequence[int]
    others: Sequence[int]
    sizes: list[Scalar]
    basis: _Basis
    T: list[list[Scalar]]
    beyond: list[Scalar]

    def in_order(self, of_kept: Sequence[Scalar], of_others: Sequence[Scalar]) -> Vector:
        """Multipliers of scaled rows as those of the rows themselves (rows,)."""
        by_row = dict(zip((*self.kept, *self.others), (*of_kept, *of_others), strict=True))
        lam = [np.divide(by_row[k], size) for k, size in enumerate(self.sizes)]
        return array(lam) if lam else np.zeros(0)


def _split(A: Matrix, kept: Sequence[int]) -> _Split:
    sizes = _lengths(A)
    rows = [_scaled(row, size) for row, size in zip(A, sizes, strict=True)]
    basis = _Basis()
    for k in kept:
        basis.add(rows[k])
    others = [k for k in range(len(rows)) if k not in set(kept)]
    return _Split(kept, others, sizes, basis, *_combinations(basis, [rows[k] for k in others]))


def _lengths(A: Matrix) -> list[Scalar]:
    """Lengths of rows, as `rank_revealing.lengths`."""
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
        """Diagonal of R: what each row had beyond those before."""
        return [row[k] for k, row in enumerate(self.R)]

    def parts(self, row: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Parts of a vector along the rows of Q, and what is left of it."""
        rest, along = list(row), list[Scalar]()
        for q in self.Q:
            c = _dot(q, rest)
            along.append(c)
            if not is_nothing(c):
                rest = _less(rest, c, q)
        return along, rest

    def add(self, row: Sequence[Scalar]) -> None:
        """Add one row more."""
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


def _of_dependent(T: Sequence[Sequence[Scalar]], mu: Sequence[Scalar]) -> list[Scalar]:
    """λ_D of (RE3)."""
    if not T:
        return []
    S = array([[_dot(a, b) + (1.0 if i == j else 0.0) for j, b in enumerate(T)] for i, a in enumerate(T)])
    return list(ldl.solve(S, array([_dot(t, mu) for t in T]))[0])


SLACK, TURNS = 1e-6, 3  # ε of (RE6), and how often it is solved
COMPONENTS = 6


def reaction_names(model: Model) -> tuple[str, ...]:
    """Names of reactions: the joints of the description, then the loops and other constraints between two frames."""
    return (*joint_order(model), *(x.name for x in constraints_of(model) if isinstance(x, Joined)))


def compliances_of(model: Model) -> dict[str, np.ndarray]:
    """Compliances of joints and loops that the description gives, six numbers each, by name."""
    parts = (*model.description.joints, *model.description.constraints)
    given = {x.name: getattr(x, "compliance", ()) for x in parts}
    names = set(reaction_names(model))
    return {
        name: np.broadcast_to(np.array(x, dtype=float), COMPONENTS)
        for name, x in given.items()
        if x and name in names
    }


class Sharing(NamedTuple):
    """(RE5) at one position: wrenches by body of columns of multipliers, W, their components times C, and what finds z.

    Columns are those of N, or, where it is not known which rows are redundant, unit multipliers of all rows.
    """

    at: Motion
    compliance: Mapping[str, np.ndarray]
    columns: list[Vector]
    wrenches: list[ByBody]
    weighted: list[list[Scalar]]
    answer: Callable[[Vector], Vector]
    enough: Scalar

    def shared(self, w: ByBody, lam: Vector) -> tuple[ByBody, Vector]:
        """Wrenches by body in their axes, and multipliers of all rows, with what the compliances add to them."""
        w0 = components(self.at, self.compliance, w, lam)
        z = self.answer(array([-dot(row, w0) for row in self.weighted]))
        moved = list(w)
        for x, column in zip(z, self.wrenches, strict=True):
            for i in self.at.model.moving:
                moved[i] = moved[i] + times(x, column[i])  # (RE4)
        return moved, sum((times(x, n) for x, n in zip(z, self.columns, strict=True)), lam)

    @property
    def sound(self) -> tuple[Scalar, Scalar]:
        """Smaller and larger number where the compliances say who carries what."""
        return SHARING_KNOWN, self.enough


def sharing(model: Model, kept: Sequence[int], state: State, *, changing: bool = False) -> Sharing | None:
    """Shares of all rows, of which those kept are independent; `changing`: where all are kept, their rank may be lower.

    None where nothing is shared, or no compliance is given.
    """
    compliance, constraints = compliances_of(model), constraints_of(model)
    rows = sum(len(x.labels) for x in constraints)
    if not compliance or not rows or (len(kept) == rows and not changing):
        return None
    at = Motion(model, state.q, state.time, np.zeros(model.nv))
    A = all_rows.matrix(model, constraints, state.q, state.time)
    columns = self_stresses(A, kept) if len(kept) < rows else list(np.eye(rows))
    at_rest, still = replace(model, gravity=np.zeros(3)), np.zeros(model.nv)
    unit = wrench_rows(model, constraints, state.q, state.time)
    wrenches = [
        newton_euler.wrenches(at_rest, state.q, still, still, with_rows(no_wrenches(model), unit, n))
        for n in columns
    ]
    B = [components(at, compliance, w, n) for w, n in zip(wrenches, columns, strict=True)]
    C = [c for six in _in_order(model, compliance).values() for c in six if c]
    weighted = [[c * b for c, b in zip(C, column, strict=True)] for column in B]
    energies = array([[dot(row, column) for column in B] for row in weighted])  # BᵀCB
    found = _of_stresses(energies) if len(kept) < rows else _of_rows(energies, A)
    return Sharing(at, compliance, columns, wrenches, weighted, *found)


def _of_stresses(energies: Matrix) -> tuple[Callable[[Vector], Vector], Scalar]:
    """z of (RE5), and how well it is determined."""
    factors = ldl.factor(energies)
    parts = [np.divide(d, energies[k, k]) for k, d in enumerate(factors.D)]
    return lambda right: ldl.solve_factored(factors, right), reduce(minimum, parts)  # (RE5)


def _of_rows(energies: Matrix, A: Matrix) -> tuple[Callable[[Vector], Vector], Scalar]:
    """Multipliers z of all rows with Aᵀz = 0, by slacks s that are given back:

        (WᵀC W/t + A Aᵀ/ε) z = −WᵀC w₀/t − A s/ε,   s ← s + Aᵀz          t: mean energy of a row           (RE6)

    Right for rows of any rank; the error is ε times smaller in each turn.
    """
    rows = len(A)
    mean = np.divide(sum((energies[k, k] for k in range(rows)), 0.0), rows)
    over = np.divide(1.0, mean)
    M = array([[energies[i, j] * over + dot(A[i], A[j]) / SLACK for j in range(rows)] for i in range(rows)])
    factors = ldl.factor(M)

    def answer(right: Vector) -> Vector:
        z, s = np.zeros(rows), np.zeros(A.shape[1])
        for _ in range(TURNS):
            pull = array([right[k] * over - dot(A[k], s) / SLACK for k in range(rows)])
            z = ldl.solve_factored(factors, pull)  # (RE6)
            s = s + A.T @ z
        return z

    return answer, 1.0


def components(at: Motion, compliance: Mapping[str, np.ndarray], w: ByBody, lam: Vector) -> list[Scalar]:
    """Components that have a compliance: of joints in joint axes, of loops in axes of their seat.

    `w`: wrenches on bodies from their pairs, in axes of the body; `lam`: multipliers of all rows.
    """
    model, qs = at.model, coordinates(at.model, at.q)
    body = {model.joint_names[i]: i for i in model.moving}
    of_loops = {x.name: (x, own) for _, x, own in by_constraint(constraints_of(model), lam)}
    found: list[Scalar] = []
    for name, six in _in_order(model, compliance).items():
        if name in body:
            i = body[name]
            seen = rotate(model.R_joint[i].T @ model.body[i].pair.rotation(qs[i]), w[i])
        else:
            x, own = of_loops[name]
            assert isinstance(x, Joined)
            seen = in_loop(at, x, own)
        found += [s for s, c in zip(seen, six, strict=True) if c]
    return found


def _in_order(model: Model, compliance: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: compliance[name] for name in reaction_names(model) if name in compliance}


def multipliers(
    model: Model, request: Request, state: State, A: Matrix, qdd: Vector, r: Vector, external: External
) -> Multipliers:
    """λ of all rows from the efforts r that they make: the least ones, or as the compliances share them."""
    least = least_multipliers(A, request.kept, r)
    shares = sharing(model, request.kept, state)
    if shares is None:
        return least
    lam = _shared(shares, request, state, qdd, least.lam, external)
    return Multipliers(lam, (*least.sound, shares.sound), np.zeros(len(lam)))


def shared_multipliers(
    model: Model,
    request: Request,
    state: State,
    qdd: Vector,
    lam: Vector,
    external: External,
    *,
    changing: bool = False,
) -> Vector:
    """λ of all rows as the compliances share them, from those of the rows kept."""
    by_row = dict(zip(request.kept, lam, strict=True))
    count = sum(len(x.labels) for x in constraints_of(model))
    full = array([by_row.get(k, 0.0) for k in range(count)])
    shares = sharing(model, request.kept, state, changing=changing)
    return full if shares is None else _shared(shares, request, state, qdd, full, external)


def _shared(
    shares: Sharing, request: Request, state: State, qdd: Vector, lam: Vector, external: External
) -> Vector:
    model = shares.at.model
    acting = loads_on(model, state, external, passive=request.passive)
    unit = wrench_rows(model, constraints_of(model), state.q, state.time)
    w = newton_euler.wrenches(model, state.q, state.qd, qdd, with_rows(acting.wrenches, unit, lam))
    return shares.shared(w, lam)[1]
