"""Kane's equations: generalised active and inertia forces (Kane & Levinson 1983).

Generalised speeds u describe the rates, q̇ = W u; by default they are the rates. The velocities of body i are linear
in them, and the coefficients are its partial angular velocities and partial velocities,

    ω_i = Σ_r ω_ir u_r,   v_i = Σ_r v_ir u_r,   ω_ir = Σ_k α_ik W_kr,   v_ir = Σ_k β_ik W_kr     (KN1)

with α, β of `linear_forms.py`, v_i and w_i of the mass centre. On body i act the force R_i = m_i g + f_ext and the
couple T_i = n_ext, and its inertia

    R*_i = −m_i w_i,   T*_i = −(I_i ε_i + ω_i × I_i ω_i)                                         (KN2)
    F_r  = Σ_i v_ir·R_i + ω_ir·T_i + (Wᵀτ)_r                                                     (KN3)
    F*_r = Σ_i v_ir·R*_i + ω_ir·T*_i − (Wᵀ rotor q̈)_r                                            (KN4)
    F_r + F*_r = 0                                                                               (KN5)

The inertia forces are linear in u̇, −F*_r = Σ_s H_rs u̇_s + …, with

    H_rs = Σ_i m_i v_ir·v_is + ω_ir·I_i ω_is + (Wᵀ rotor W)_rs                                   (KN6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Vector, array, assemble
from kinpair.formulations.arguments import check_wrenches, checked
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.linear_forms import (
    ZERO,
    Accelerated,
    Form,
    Placed,
    accelerations,
    applied,
    assembled,
    forms,
    rotors,
    turning_couple,
)
from kinpair.formulations.solution import Solution
from kinpair.formulations.speeds import Equations, speeds
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, each, rate_tree
from kinpair.spatial.pose import spatial


class Partial(NamedTuple):
    """Partial velocities of one body by the speeds `at`."""

    at: slice
    omega: Matrix  # ω_ir (3, speeds)
    v: Matrix  # v_ir (3, speeds), of the mass centre


def partial_velocities(model: Model, placed: ByBody) -> ByBody:
    """ω_ir and v_ir by body where the speeds are the rates: a block for each pair between body and ground."""
    return [[], *(_by_rates(model, form) for form in forms(model, placed)[1:])]


def _by_rates(model: Model, forms: dict[int, Form]) -> list[Partial]:
    moving = {k: form for k, form in forms.items() if model.body[k].pair.nv}
    return [Partial(model.v_span[k], form.alpha, form.beta) for k, form in moving.items()]


def partial_velocities_by(model: Model, placed: ByBody, W: Matrix) -> ByBody:
    """ω_ir and v_ir by body for speeds of q̇ = W u: one block.    (KN1)"""
    return [[], *(_combined(parts, W) for parts in partial_velocities(model, placed)[1:])]


def _combined(parts: list[Partial], W: Matrix) -> list[Partial]:
    still = np.zeros((3, W.shape[1]))
    omega = sum((x.omega @ W[x.at] for x in parts), still)
    v = sum((x.v @ W[x.at] for x in parts), still)
    return [Partial(slice(0, W.shape[1]), omega, v)]  # (KN1)


def _forces(model: Model, partial: ByBody, loads: ByBody, n: int) -> Vector:
    """Σ_i v_ir·f_i + ω_ir·n_i for every speed, of loads [n; f] at the mass centres."""
    forces: list[Any] = [0.0] * n
    for i in model.moving:
        for x in partial[i]:
            parts = x.omega.T @ loads[i][:3] + x.v.T @ loads[i][3:]
            for r, part in zip(range(x.at.start, x.at.stop), parts, strict=True):
                forces[r] = forces[r] + part
    return array(forces) if forces else np.zeros(0)


def active_forces(model: Model, placed: ByBody, partial: ByBody, w_ext: Sequence[Any], n: int) -> Vector:
    """F_r (n,) of gravity and applied wrenches, drives apart.    (KN3)"""

    def load(body: Body, at: Placed, w_ext: Vector) -> Vector:
        return applied(at, w_ext) + spatial(ZERO, body.m * model.gravity)

    return _forces(model, partial, each(model, load, placed, w_ext), n)  # (KN3)


def inertia_forces(model: Model, placed: ByBody, moved: ByBody, partial: ByBody, n: int) -> Vector:
    """F*_r (n,) of the bodies, rotors apart.    (KN4)"""

    def load(body: Body, at: Placed, x: Accelerated) -> Vector:
        return spatial(-turning_couple(body, at, x), -body.m * x.w)  # (KN2)

    return _forces(model, partial, each(model, load, placed, moved), n)  # (KN4)


def inertia(model: Model, placed: ByBody, partial: ByBody, n: int) -> Matrix:
    """H_rs (n, n) of the bodies, rotors apart.    (KN6)"""
    blocks: dict[tuple[int, int], tuple[slice, slice, Matrix]] = {}
    for i in model.moving:
        for a, r in enumerate(partial[i]):
            T, R = placed[i].I @ r.omega, model.body[i].m * r.v
            for s in partial[i][a:]:
                H_sr = s.omega.T @ T + s.v.T @ R  # (KN6)
                _, _, sum_so_far = blocks.get((s.at.start, r.at.start), (s.at, r.at, 0.0))
                blocks[s.at.start, r.at.start] = s.at, r.at, H_sr + sum_so_far
    below = list(blocks.values())
    return assemble((n, n), [*below, *((c, r, X.T) for r, c, X in below)])


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ of F_r + F*_r = 0, the rates as speeds.    (KN5)"""
    placed = assembled(model, q)
    moved = accelerations(model, placed, q, qd, qdd)
    partial = partial_velocities(model, placed)
    active = active_forces(model, placed, partial, w_ext, model.nv)
    inertial = inertia_forces(model, placed, moved, partial, model.nv)
    return rotors(model) * qdd - (active + inertial)  # (KN5)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H of −F* = H q̈ + …, the rates as speeds.    (KN6)"""
    placed = assembled(model, q)
    return inertia(model, placed, partial_velocities(model, placed), model.nv) + np.diag(rotors(model))


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of F_r + F*_r = 0, solved along the tree."""
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    H = mass_matrix(model, q)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))


def in_generalised_speeds(
    model: Model, q: Vector, u: Vector, W: Matrix, Wd: Matrix, w_ext: Sequence[Any] | None = None
) -> Equations:
    """H u̇ + h = Wᵀ τ of the motion q̇ = W u, by partial velocities of the speeds u.

    q (nq,), u (nu,), W and its rate in time Wd (nv, nu); w_ext: wrench on each body at O_i in its axes, none if not
    given. Rates q̇ and efforts τ are those of the mechanism, damping and friction are not in h.
    """
    (q,) = checked(model, q=q)
    u, W, Wd = speeds(model, u, W, Wd)
    w_ext = no_wrenches(model) if w_ext is None else w_ext
    check_wrenches(model, w_ext)
    placed, n = assembled(model, q), u.size
    qdd = Wd @ u  # at u̇ = 0
    moved = accelerations(model, placed, q, W @ u, qdd)
    partial = partial_velocities_by(model, placed, W)
    active = active_forces(model, placed, partial, w_ext, n)
    inertial = inertia_forces(model, placed, moved, partial, n)
    rotor = rotors(model)
    H = inertia(model, placed, partial, n) + W.T @ (np.diag(rotor) @ W)
    return Equations(H, W.T @ (rotor * qdd) - (active + inertial))  # (KN5)
