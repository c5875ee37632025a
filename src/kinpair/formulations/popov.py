"""Pair by pair in inertial axes (Popov & Vukobratović; Vukobratović et al., ch. 1.5, 2.1.1, 3.9–3.10: KINPAIR).

Assembly and accelerations are those of `linear_forms.py`. Each body gives an inertia force and an inertia couple,

    F_i = −m_i w_i,   M_i = −(I_i ε_i + ω_i × I_i ω_i)                                           (PV1)

the pair carries them with gravity and applied loads of all bodies k beyond it, so that its reaction on body i is

    f_i = −Σ_k (F_k + m_k g + f_ext)                                                             (PV2)
    n_i = −Σ_k [(C_k − O_i) × (F_k + m_k g + f_ext) + M_k + n_ext]                               (PV3)

and the drive is the part of it along the motion that the pair allows,

    P_i = e_iᵀ n_i + u_iᵀ f_i + rotor q̈_i                                                        (PV4)

P = H q̈ + h: h are the drives at q̈ = 0. Column k of H are the drives of a unit acceleration q̈_k = 1 at rest without
gravity, where by the linear forms each body i beyond pair k has ε_i = α_ik and w_i = β_ik:

    f_k = Σ_i m_i β_ik,   n_k = Σ_i [(C_i − O_k) × m_i β_ik + I_i α_ik]                          (PV5)
    H_jk = e_jᵀ n_j + u_jᵀ f_k,   n_j = n_k + (O_k − O_j) × f_k          j: k and its ancestors  (PV6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations.linear_forms import (
    ZERO,
    Accelerated,
    Placed,
    accelerations,
    applied,
    assembled,
    forms,
    rotors,
    totals,
    turning_couple,
)
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, ancestors, each, inward, joined, joint_space, rate_tree, rates
from kinpair.spatial.pose import rotate, spatial
from kinpair.spatial.rotation import cross, skew


def loads(model: Model, placed: ByBody, moved: ByBody, w_ext: Sequence[Any]) -> ByBody:
    """Inertia, gravity and applied loads [couple; force] on each body, at C_i in inertial axes."""

    def load(body: Body, at: Placed, x: Accelerated, w_ext: Vector) -> Vector:
        F, M = -body.m * x.w, -turning_couple(body, at, x)  # (PV1)
        return spatial(M, F + body.m * model.gravity) + applied(at, w_ext)

    return each(model, load, placed, moved, w_ext)


def _react(
    body: Body, outer: tuple[Vector, Vector], at: Placed, load: Vector
) -> tuple[Vector, tuple[Vector, Vector]]:
    f = outer[1] - load[3:]  # (PV2)
    n = outer[0] - load[:3] - cross(at.d, load[3:])  # (PV3)
    return spatial(n, f), (n + cross(at.a, f), f)


def wrenches(model: Model, placed: ByBody, moved: ByBody, w_ext: Sequence[Any]) -> ByBody:
    """Reaction [n; f] of each pair on its body, at O_i in inertial axes."""
    return inward(model, _react, (ZERO, ZERO), placed, loads(model, placed, moved, w_ext))


def _drive(body: Body, at: Placed, w: Vector, qdd: Vector) -> Vector:
    return at.e.T @ w[:3] + at.u.T @ w[3:] + body.rotor * qdd  # (PV4)


def drives(model: Model, placed: ByBody, moved: ByBody, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """P of a mechanism in its place and its motion."""
    w = wrenches(model, placed, moved, w_ext)
    return joined(model, each(model, _drive, placed, w, rates(model, qdd)))


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """Drives P that produce the motion; the work grows as n."""
    placed = assembled(model, q)
    return drives(model, placed, accelerations(model, placed, q, qd, qdd), qdd, w_ext)


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    placed = assembled(model, q)
    w = wrenches(model, placed, accelerations(model, placed, q, qd, qdd), w_ext)
    return [None, *(rotate((placed[i].S @ model.R_joint[i]).T, w[i]) for i in model.moving)]


def _unit_accelerations(model: Model, placed: ByBody) -> ByBody:
    """Reactions (n_k, f_k) of pair k, a column for each of its degrees, to its own unit acceleration."""
    I = totals(model, each(model, lambda _, at: at.I, placed))
    n = each(model, lambda _, at, I: I @ at.e, placed, I)
    f: ByBody = [None, *(np.zeros((3, model.body[k].pair.nv)) for k in model.moving)]
    for i, own in zip(model.moving, forms(model, placed)[1:], strict=True):
        for k, form in own.items():
            force = model.body[i].m * form.beta
            f[k] = f[k] + force
            n[k] = n[k] + skew(form.r) @ force  # (PV5)
    return [None, *zip(n[1:], f[1:], strict=True)]


def _begin(body: Body, at: Placed, unit: tuple[Matrix, Matrix]) -> tuple[Matrix, Matrix]:
    return unit


def _visit(
    body: Body, w: tuple[Matrix, Matrix], at: Placed, unit: tuple[Matrix, Matrix]
) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
    n, f = w
    H_jk = at.e.T @ n + at.u.T @ f  # (PV6)
    return (H_jk.T, H_jk), (n + skew(at.a) @ f, f)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H, a column the drives of a unit acceleration."""
    placed = assembled(model, q)
    H = joint_space(model, ancestors(model, _begin, _visit, placed, _unit_accelerations(model, placed)))
    return H + np.diag(rotors(model))


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of H q̈ + h = P, solved along the tree."""
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    H = mass_matrix(model, q)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))
