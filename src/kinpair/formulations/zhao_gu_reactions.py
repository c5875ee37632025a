"""Distribution of the reactions over the bodies, and the reaction equation (Zhao & Gu 1991).

The pair of body i holds the wrench C_i g_i, in axes of its seat at O_i, on body i; its parent j gets the opposite.
Distributed over all bodies, forces in inertial axes and moments about the mass centres in axes of the bodies:

    F_i = Seat C_f,    L_i = R(q)ᵀ C_n − d × R(q)ᵀ C_f                        on body i           (ZR1)
    F_j = −Seat C_f,   L_j = −(R_seat C_n + ρ × R_seat C_f)                   on its parent       (ZR2)
    Q̄ = [F_1; …; F_P; L_1; …; L_P],   J̄ᵀ Q̄ = 0                               (6.3)              (ZR3)
    M̄ J̄ Ÿ + q̄ᶜ = q̄ᵉ + Q̄ g                                                    (5.8)              (ZR4)
    N g + q̂ = K̂,   N = Q̄ᵀM̄⁻¹Q̄,   q̂ = Q̄ᵀM̄⁻¹q̄ᵉ,   K̂ = Q̄ᵀM̄⁻¹q̄ᶜ             (6.5), (6.8)       (ZR5)

Nothing in (ZR5) is an acceleration. M̄⁻¹ needs mass and inertia in every body; an axis that a body never turns about
may be given any inertia. Where a body has none otherwise, and the motion is known, the weight of its equations is one
in place of M̄⁻¹, and its own acceleration J̄_i Ÿ stays on the right:

    Q̄ᵀW Q̄ g = Q̄ᵀW (q̄ᶜ − q̄ᵉ) + Q̄ᵀ(W M̄ − 1) J̄ Ÿ            any W > 0, by (ZR3) and (ZR4)       (ZR6)

Closed chains are cut. The wrenches Q̄_c of the cut joints do not vanish under J̄ᵀ: A = Q̄_cᵀ J̄ are the rows A Ÿ = b of
the closure. A geared rotor is one more component along its drive D̄, D̄ᵀJ̄ = 1, that yields by its inertia J_r:

    [Q̄ D̄ Q̄_c]ᵀ M̄⁻¹ ([Q̄ D̄ Q̄_c] g + q̄ᵉ − q̄ᶜ) + [0; g_r/J_r; −b] = 0                             (ZR7)

Derivation, no line of code: (ZR4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl, sparse_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, assemble, is_nothing
from kinpair.formulations.screw_algebra import swapped, wrenches_of
from kinpair.formulations.zhao_gu_bodies import Accelerated, Placed, jacobians, placed
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates
from kinpair.spatial.inertia import bare_axes
from kinpair.spatial.rotation import skew

STATES, TURNS = 3, 1e-9  # random states in which a rotation is looked for; rates per rate that are one


class Share(NamedTuple):
    """Shares of components of reactions in one body (3, components)."""

    F: Matrix  # force, inertial axes
    L: Matrix  # moment about the mass centre, axes of the body


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Some columns of Q̄, by number of the body; `yields` is added to their diagonal of N."""

    on: Mapping[int, Share]
    n: int
    yields: Sequence[Scalar] = field(default=())


class Load(NamedTuple):
    """q̄ᶜ − q̄ᵉ of one body: force in inertial axes, moment about the mass centre in its own."""

    f: Vector
    n: Vector


def held(model: Model, q: Vector, at: ByBody) -> list[Columns]:
    """Columns of Q̄ by moving body: unit components of the reaction in its pair.    (ZR1), (ZR2)"""
    return [_held(model, i, q_i, at) for i, q_i in zip(model.moving, coordinates(model, q)[1:], strict=True)]


def _held(model: Model, i: int, q: Vector, at: ByBody) -> Columns:
    pair = model.body[i].pair
    return _joint(model, i, wrenches_of(pair).wrenches(pair, q), pair.rotation(q), at[i])


def drives(model: Model, q: Vector, at: ByBody) -> list[Columns]:
    """D̄ by moving body: what unit efforts along the rates do."""
    return [_drive(model, i, q_i, at) for i, q_i in zip(model.moving, coordinates(model, q)[1:], strict=True)]


def _drive(model: Model, i: int, q: Vector, at: ByBody) -> Columns:
    pair = model.body[i].pair
    D, R = wrenches_of(pair).drive(pair, q), pair.rotation(q)
    return _joint(model, i, np.concatenate([R @ D[:3], R @ D[3:]]), R, at[i])


def _joint(model: Model, i: int, C: Matrix, R: Matrix, at: Placed) -> Columns:
    """Columns (f; n) in axes of the seat, at O_i, on body i and on its parent."""
    body, j = model.body[i], model.parent[i]
    C_f, C_n = C[:3], C[3:]
    F, own = at.seat @ C_f, R.T @ C_f
    on = {i: Share(F, R.T @ C_n - skew(body.d) @ own)}  # (ZR1)
    if j:
        inner = body.R_seat @ C_f
        on[j] = Share(-F, -(body.R_seat @ C_n + skew(at.rho) @ inner))  # (ZR2)
    return Columns(on, C.shape[1])


def rotor_columns(model: Model, driven: Sequence[Columns]) -> list[Columns]:
    """Columns of drives that turn a rotor, with 1/J_r on their diagonal.    (ZR7)"""
    found: list[Columns] = []
    for i, columns in zip(model.moving, driven, strict=True):
        rotor = model.body[i].rotor
        if columns.n and np.any(rotor != 0.0):
            found.append(Columns(columns.on, columns.n, [np.divide(1.0, J) for J in rotor]))
    return found


def distribution_matrix(model: Model, groups: Sequence[Columns]) -> Matrix:
    """Q̄ (6P, components): forces on all bodies, then moments.    (ZR3)"""
    P, blocks, start = len(model.moving), list[tuple[slice, slice, Matrix]](), 0
    for group in groups:
        columns = slice(start, start + group.n)
        for i, share in group.on.items():
            blocks.append((slice(3 * i - 3, 3 * i), columns, share.F))
            blocks.append((slice(3 * (P + i) - 3, 3 * (P + i)), columns, share.L))
        start += group.n
    return assemble((6 * P, start), blocks)


class Weight(NamedTuple):
    """W of the equations of one body: that of its forces, and the factors of the tensor for its moments (None: one);
    whether they are those of its mass and inertia."""

    f: Scalar
    tensor: ldl.Factors | None
    of_mass: bool

    @property
    def is_inverse(self) -> bool:
        """True if W = M̄⁻¹ here."""
        return self.of_mass and self.tensor is not None

    def on(self, n: Matrix) -> Matrix:
        """Ī⁻¹ n of a moment, or of columns of them; n where the tensor has no inverse."""
        if self.tensor is None:
            return n
        return ldl.solve_factored(self.tensor, n) if n.ndim == 1 else ldl.solve_columns(self.tensor, n)


def weights(model: Model) -> list[Weight]:
    """W by body."""
    return model.once("zhao_gu_weights", lambda: [UNIT, *(_weight(model, i) for i in model.moving)])


UNIT = Weight(1.0, None, False)


def _weight(model: Model, i: int) -> Weight:
    body = model.body[i]
    massive = not _is_number(body.m) or body.m > 0.0
    I = filled_tensor(model, i)
    return Weight(np.divide(1.0, body.m) if massive else 1.0, None if I is None else ldl.factor(I), massive)


def filled_tensor(model: Model, i: int) -> Matrix | None:
    """The tensor of a body with an inertia about each axis without one, if the body never turns about it: that changes
    no motion, and a thin rod in a plane mechanism has an inverse. None where there is none all the same.
    """
    I = model.body[i].I
    if not all(map(_is_number, I.flat)):
        return I  # letters
    n = bare_axes(I.astype(float))
    if not n.size:
        return I
    return I + (np.trace(I) or 1.0) * (n @ n.T) if never_turns(model, i, n) else None


def never_turns(model: Model, i: int, n: Matrix) -> bool:
    """True if the body has no rotation about these axes of its own (3, k), however the tree moves."""
    rng = np.random.default_rng(1991)
    for _ in range(STATES):
        q = model.neutral() + rng.uniform(-1.0, 1.0, model.nq)
        at = placed(model, q)
        if any(
            np.abs(n.T @ block.R).max(initial=0.0) > TURNS for block in jacobians(model, q, at)[i].values()
        ):
            return False
    return True


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.floating))


def massless(model: Model) -> list[str]:
    """Names of the bodies that have no mass, or no inertia about an axis that they turn about."""
    return [model.names[i] for i, w in enumerate(weights(model)) if i and not w.is_inverse]


def reaction_matrix(groups: Sequence[Columns], W: Sequence[Weight]) -> dict[int, dict[int, Scalar]]:
    """N by rows; only components that share a body meet.    (ZR5)"""
    starts = np.concatenate([[0], np.cumsum([group.n for group in groups])]).tolist()
    N: dict[int, dict[int, Scalar]] = {k: {k: 0.0} for k in range(starts[-1])}
    meets: dict[int, list[int]] = {}
    for a, group in enumerate(groups):
        for i in group.on:
            meets.setdefault(i, []).append(a)
        for k, yields in enumerate(group.yields):
            N[starts[a] + k][starts[a] + k] = yields
    for i, those in meets.items():
        weighted = {b: _weighted(groups[b].on[i], W[i]) for b in those}
        for n, a in enumerate(those):
            F, L = groups[a].on[i]
            for b in those[n:]:
                block = F.T @ weighted[b].F + L.T @ weighted[b].L
                _add(N, block, starts[a], starts[b])
    return N


def _weighted(share: Share, W: Weight) -> Share:
    return Share(W.f * share.F, W.on(share.L))


def _add(N: dict[int, dict[int, Scalar]], block: Matrix, first: int, second: int) -> None:
    """A block and its transpose; of a block on the diagonal the upper half is read."""
    rows, columns = block.shape
    for x in range(rows):
        for y in range(x if first == second else 0, columns):
            a, b = first + x, second + y
            N[a][b] = N[b][a] = N[a].get(b, 0.0) + block[x, y]


def right_side(
    model: Model,
    groups: Sequence[Columns],
    W: Sequence[Weight],
    loads: Sequence[Any],
    moved: ByBody | None = None,
) -> Vector:
    """Q̄ᵀW (q̄ᶜ − q̄ᵉ); and what (ZR6) has beyond it where a body without mass takes part in a known motion.

    `moved`: J̄ Ÿ by body.
    """
    weighed = {
        i: _weighed(model.body[i], W[i], loads[i], None if moved is None else moved[i]) for i in model.moving
    }
    found: list[Scalar] = []
    for group in groups:
        total: Any = np.zeros(group.n)
        for i, share in group.on.items():
            f, n = weighed[i]
            total = total + share.F.T @ f + share.L.T @ n
        found += list(total)
    return _vector(found)


def _weighed(body: Body, W: Weight, load: Load, moved: Accelerated | None) -> tuple[Vector, Vector]:
    f, n = load
    if moved is not None and not W.of_mass:
        f = f - moved.a  # (ZR6), the mass is zero
    if moved is not None and W.tensor is None:
        n = n + body.I @ moved.alpha - moved.alpha  # (ZR6)
    return W.f * f, W.on(n)


def solved(N: dict[int, dict[int, Scalar]], right: Vector) -> Vector:
    """g of N g = right; joints at the tips are eliminated first."""
    return sparse_ldl.solve(sparse_ldl.factor(N), right)


def wrench(model: Model, i: int, q: Vector, g: Vector, tau: Vector) -> Vector:
    """[n; f] on body i at O_i, in axes of the seat: what its pair holds, and what acts along its rates."""
    pair = model.body[i].pair
    of = wrenches_of(pair)
    R, D = pair.rotation(q), of.drive(pair, q)
    along = np.concatenate([R @ (D[:3] @ tau), R @ (D[3:] @ tau)])
    return swapped(of.wrenches(pair, q) @ g + along)


def cut_column(model: Model, at: ByBody, wrenches: Mapping[int, Vector]) -> Columns:
    """The column of Q̄_c of a row that puts these wrenches [n; f] on bodies, at their origins and in their axes."""
    on: dict[int, Share] = {}
    for i, w in wrenches.items():
        n, f = w[:3], w[3:]
        on[i] = Share((at[i].R @ f)[:, None], (n - skew(model.body[i].d) @ f)[:, None])
    return Columns(on, 1)


def effort_column(model: Model, driven: Sequence[Columns], row: Vector) -> Columns:
    """Column of a row that acts along the rates: D̄ Aᵀ."""
    on: dict[int, Share] = {}
    for k, columns in zip(model.moving, driven, strict=True):
        own = row[model.v_span[k]]
        if all(map(is_nothing, own)):
            continue
        for i, share in columns.on.items():
            F, L = (share.F @ own)[:, None], (share.L @ own)[:, None]
            on[i] = Share(on[i].F + F, on[i].L + L) if i in on else Share(F, L)
    return Columns(on, 1)


class Cut(NamedTuple):
    """λ of the cut joints, the factors of their rows, and the diagonal these were made of."""

    lam: Vector
    factors: ldl.Factors
    scales: list[Scalar]


def solved_cuts(
    groups: Sequence[Columns], cuts: Sequence[Columns], W: Sequence[Weight], right: Vector
) -> Cut:
    """λ of (ZR7): the components of the tree are eliminated first, from the tips, then the rows of the cuts."""
    N = reaction_matrix([*groups, *cuts], W)
    tree = sum(group.n for group in groups)
    those = range(tree, tree + len(cuts))
    across = {c: {k: x for k, x in N[c].items() if k < tree} for c in those}
    inner = {k: {j: x for j, x in N[k].items() if j < tree} for k in range(tree)}
    factors = sparse_ldl.factor(inner)
    answers = {
        c: sparse_ldl.solve(factors, _vector(across[c].get(k, 0.0) for k in range(tree))) for c in those
    }
    free = sparse_ldl.solve(factors, right[:tree])
    rows = [[N[a].get(b, 0.0) - _dot(across[a], answers[b]) for b in those] for a in those]
    S = array(rows) if rows else np.zeros((0, 0))
    rest = _vector(right[a] - _dot(across[a], free) for a in those)
    of_cuts = ldl.factor(S)
    return Cut(ldl.solve_factored(of_cuts, rest), of_cuts, list(np.diag(S)))


def _vector(entries: Iterable[Scalar]) -> Vector:
    every = list(entries)
    return array(every) if every else np.zeros(0)


def _dot(row: Mapping[int, Scalar], x: Vector) -> Scalar:
    return sum((a * x[k] for k, a in row.items()), 0.0)
