"""Motion equation and reaction equation (Zhao & Gu 1991): the quantities of a tree.

Bodies move by `zhao_gu_bodies.py`, reactions are distributed over them by `zhao_gu_reactions.py`. With all bodies in
one column, M̄ = diag(m_1 1 … m_P 1, Ī_1 … Ī_P), J̄ = [J_T1; …; J_RP], q̄ᶜ = [m k_T; Ī k_R + ω × Ī ω] and q̄ᵉ the applied
forces, Newton's and Euler's equations M̄ J̄ Ÿ + q̄ᶜ = q̄ᵉ + Q̄ g fall apart in two:

    (J̄ᵀM̄ J̄) Ÿ + J̄ᵀq̄ᶜ = J̄ᵀq̄ᵉ                     motion: no reaction             (6.4), (6.7)     (ZG9)
    (Q̄ᵀM̄⁻¹Q̄) g + Q̄ᵀM̄⁻¹q̄ᵉ = Q̄ᵀM̄⁻¹q̄ᶜ             reactions: no acceleration     (6.5), (6.8)     (ZG10)

since J̄ᵀQ̄ = 0. J̄ and Q̄ together span all 6P directions, so nothing is lost. A rotor adds its inertia to the diagonal
of the first; along its rate a pair hands over pᵀw, which acts in the second like any applied effort.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra import ldl, tree_ldl
from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.formulations.arguments import check_wrenches, checked
from kinpair.formulations.linear_forms import rotors
from kinpair.formulations.solution import Solution
from kinpair.formulations.zhao_gu_bodies import (
    STILL,
    Accelerated,
    accelerations,
    inertia_forces,
    jacobians,
    motions,
    placed,
    stacked,
)
from kinpair.formulations.zhao_gu_reactions import (
    Columns,
    Cut,
    Load,
    cut_column,
    distribution_matrix,
    drives,
    effort_column,
    held,
    reaction_matrix,
    right_side,
    rotor_columns,
    solved,
    solved_cuts,
    weights,
    wrench,
)
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates, joint_space, rate_tree, rates
from kinpair.spatial.pose import rotate
from kinpair.spatial.rotation import cross

Cutting: TypeAlias = Mapping[int, Vector] | Vector


def loads(model: Model, at: ByBody, moved: ByBody, accelerated: ByBody, w_ext: Sequence[Any]) -> ByBody:
    """M̄ J̄ Ÿ + q̄ᶜ − q̄ᵉ by body; q̄ᶜ − q̄ᵉ where the accelerations are those at Ÿ = 0."""
    forces, found = inertia_forces(model, moved, accelerated), list[Any]([None])
    for i in model.moving:
        body, w = model.body[i], w_ext[i]
        f, n = forces[i]
        applied = w[:3] - cross(body.d, w[3:])
        found.append(Load(f - body.m * model.gravity - at[i].R @ w[3:], n - applied))
    return found


def projected(model: Model, J: ByBody, load: ByBody) -> Vector:
    """J̄ᵀ of forces and moments on the bodies (nv,)."""
    made: list[Any] = [0.0] * model.nv
    for i in model.moving:
        for k, block in J[i].items():
            parts = block.T.T @ load[i].f + block.R.T @ load[i].n
            for r, part in zip(range(model.v_span[k].start, model.v_span[k].stop), parts, strict=True):
                made[r] = made[r] + part
    return array(made) if made else np.zeros(0)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ of the motion equation.    (ZG9)"""
    at = placed(model, q)
    J, moved = jacobians(model, q, at), motions(model, q, qd, at)
    load = loads(model, at, moved, accelerations(model, J, moved, qdd), w_ext)
    return projected(model, J, load) + rotors(model) * qdd  # (ZG9)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """J̄ᵀM̄ J̄, with the rotors.    (ZG9)"""
    at = placed(model, q)
    return _inertia(model, jacobians(model, q, at)) + np.diag(rotors(model))


def _inertia(model: Model, J: ByBody) -> Matrix:
    blocks: dict[tuple[int, int], Any] = {}
    for i in model.moving:
        body, path = model.body[i], list(J[i].items())
        for n, (k, inner) in enumerate(path):
            F, L = body.m * inner.T, body.I @ inner.R
            for k_out, outer in path[n:]:
                H = outer.T.T @ F + outer.R.T @ L
                before = blocks.get((k_out, k))
                blocks[k_out, k] = H if before is None else before + H
    return joint_space(model, {key: (H, H.T) for key, H in blocks.items()})


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """Ÿ of the motion equation, solved along the tree.    (ZG9)"""
    at = placed(model, q)
    J, moved = jacobians(model, q, at), motions(model, q, qd, at)
    h = projected(model, J, loads(model, at, moved, unforced(model, moved), w_ext))
    H = _inertia(model, J) + np.diag(rotors(model))
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))


def unforced(model: Model, moved: ByBody) -> ByBody:
    """Accelerations at Ÿ = 0."""
    return [None, *(Accelerated(moved[i].k_T, moved[i].k_R) for i in model.moving)]


def with_efforts(model: Model, load: ByBody, driven: Sequence[Columns], tau: Vector) -> ByBody:
    """Loads with the efforts that act along the rates among the applied forces."""
    found, parts = list(load), rates(model, tau)
    for k, columns in zip(model.moving, driven, strict=True):
        for i, share in columns.on.items():
            f, n = found[i]
            found[i] = Load(f - share.F @ parts[k], n - share.L @ parts[k])
    return found


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    at = placed(model, q)
    J, moved = jacobians(model, q, at), motions(model, q, qd, at)
    along = projected(model, J, loads(model, at, moved, accelerations(model, J, moved, qdd), w_ext))  # pᵀw
    load = loads(model, at, moved, unforced(model, moved), w_ext)
    load = with_efforts(model, load, drives(model, q, at), along)
    W, groups = weights(model), held(model, q, at)
    by_motion = accelerations(model, J, [STILL] * len(at), qdd)  # J̄ Ÿ
    g = solved(reaction_matrix(groups, W), right_side(model, groups, W, load, by_motion))  # (ZG10)
    return _in_joint_axes(model, q, g, along)


def _in_joint_axes(model: Model, q: Vector, g: Vector, along: Vector) -> ByBody:
    qs, efforts, start = coordinates(model, q), rates(model, along), 0
    found: ByBody = [None]
    for i in model.moving:
        stop = start + 6 - model.body[i].pair.nv
        w = wrench(model, i, qs[i], g[start:stop], efforts[i])
        found.append(rotate(model.R_joint[i].T, w))
        start = stop
    return found


class Equations(NamedTuple):
    """The matrices of a state, forces of all bodies first, then moments: M̄ J̄ Ÿ + q̄ᶜ = q̄ᵉ + Q̄ g."""

    M: Matrix  # M̄ (6P, 6P)
    J: Matrix  # J̄ (6P, nv)
    Q: Matrix  # Q̄ (6P, components)
    q_c: Vector
    q_e: Vector

    @property
    def motion(self) -> tuple[Matrix, Vector]:
        """J̄ᵀM̄ J̄ and J̄ᵀ(q̄ᵉ − q̄ᶜ) of Ÿ.    (ZG9)"""
        return self.J.T @ self.M @ self.J, self.J.T @ (self.q_e - self.q_c)

    @property
    def reaction(self) -> tuple[Matrix, Vector]:
        """Q̄ᵀM̄⁻¹Q̄ and Q̄ᵀM̄⁻¹(q̄ᶜ − q̄ᵉ) of g.    (ZG10)"""
        factors = ldl.factor(self.M)
        right = ldl.solve_factored(factors, self.q_c - self.q_e)
        return self.Q.T @ ldl.solve_columns(factors, self.Q), self.Q.T @ right


def equations(model: Model, q: Any, qd: Any, tau: Any, w_ext: Sequence[Any] | None = None) -> Equations:
    """The matrices in full at one state of floats, for reading; rotors, which are no bodies, are left out."""
    q, qd, tau = checked(model, q=q, qd=qd, tau=tau)
    nothing = [np.zeros(6)] * len(model.parent)
    applied = nothing if w_ext is None else w_ext
    check_wrenches(model, applied)
    at = placed(model, q)
    moved = motions(model, q, qd, at)
    at_rest = unforced(model, moved)
    weightless = [None, *(Load(*x) for x in inertia_forces(model, moved, at_rest)[1:])]
    load = with_efforts(model, loads(model, at, moved, at_rest, applied), drives(model, q, at), tau)
    q_c, both = _column(model, weightless), _column(model, load)
    return Equations(
        mass(model),
        stacked(model, jacobians(model, q, at)),
        distribution_matrix(model, held(model, q, at)),
        q_c,
        q_c - both,
    )


def mass(model: Model) -> Matrix:
    """M̄ (6P, 6P)."""
    P = len(model.moving)
    M = np.zeros((6 * P, 6 * P))
    for i in model.moving:
        M[3 * i - 3 : 3 * i, 3 * i - 3 : 3 * i] = model.body[i].m * np.eye(3)
        M[3 * (P + i) - 3 : 3 * (P + i), 3 * (P + i) - 3 : 3 * (P + i)] = model.body[i].I
    return M


def _column(model: Model, load: ByBody) -> Vector:
    """Forces of all bodies, then moments (6P,)."""
    return np.concatenate([*(load[i].f for i in model.moving), *(load[i].n for i in model.moving)])


def cut_reactions(
    model: Model,
    q: Vector,
    qd: Vector,
    tau: Vector,
    w_ext: Sequence[Any],
    cuts: Sequence[Cutting],
    b: Vector,
) -> Cut:
    """λ of rows A Ÿ = b from the reaction equation of the cut mechanism, before any acceleration is known.    (ZR7)

    A row is the wrenches that its unit multiplier puts on bodies, or efforts along the rates (nv,).
    """
    at = placed(model, q)
    moved, driven, W = motions(model, q, qd, at), drives(model, q, at), weights(model)
    groups = [*held(model, q, at), *rotor_columns(model, driven)]
    columns = [
        cut_column(model, at, x) if isinstance(x, Mapping) else effort_column(model, driven, x) for x in cuts
    ]
    load = with_efforts(model, loads(model, at, moved, unforced(model, moved), w_ext), driven, tau)
    right = right_side(model, [*groups, *columns], W, load)
    tree = len(right) - len(columns)
    return solved_cuts(groups, columns, W, np.concatenate([right[:tree], right[tree:] + b]))
