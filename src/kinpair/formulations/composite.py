"""Joint-space inertia by composite bodies, in vectors of three (Walker & Orin 1982).

The wrench that a unit rate of acceleration of pair i asks of all that it carries, frozen into one body:

    n = I p_ω + s × p_v,   f = m p_v − s × p_ω                                                   (CB1)

carried to every ancestor j and projected on its motion:

    H_ij = p_jᵀ [n; f]                                                                           (CB2)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations.kinematics import Placement, placements
from kinpair.formulations.masses import Rigid, carried_rigid, rigid
from kinpair.formulations.newton_euler import inverse_dynamics
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ancestors, coordinates, each, inward, joined, joint_space, rate_tree
from kinpair.spatial.rotation import skew

NOTHING = (0.0, np.zeros(3), np.zeros((3, 3)))


def compose(
    body: Body, outer: tuple[float, Vector, Matrix], place: Placement, q: Vector
) -> tuple[Rigid, Rigid]:
    """A body with all that it carries, frozen; and the same as its parent has it."""
    own = rigid(body)
    x = Rigid(own.m + outer[0], own.s + outer[1], own.I + outer[2])
    return x, carried_rigid(body, q, x, place.a)


def _begin(body: Body, x: Rigid, place: Placement, q: Vector) -> tuple[Matrix, Matrix]:
    p = body.pair.p(q)
    s_ = skew(x.s)
    return x.I @ p[:3] + s_ @ p[3:], x.m * p[3:] - s_ @ p[:3]  # (CB1)


def _visit(
    body: Body, w: tuple[Matrix, Matrix], x: Rigid, place: Placement, q: Vector
) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
    n, f = w
    p = body.pair.p(q)
    H_ij = n.T @ p[:3] + f.T @ p[3:]  # (CB2)
    f_parent = place.R @ f
    return (H_ij, H_ij.T), (place.R @ n + skew(place.a) @ f_parent, f_parent)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H by composite bodies; the work grows as n times the depth of the tree."""
    model = model.lean
    places, qs = placements(model, q), coordinates(model, q)
    x = inward(model, compose, NOTHING, places, qs)
    H = joint_space(model, ancestors(model, _begin, _visit, x, places, qs))
    return H + np.diag(joined(model, each(model, lambda body: body.rotor)))


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of H q̈ = τ − h, H by composite bodies and solved along the tree."""
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    H = mass_matrix(model, q)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))
