"""Gibbs–Appell: forces from the energy of accelerations (Appell 1899; Vukobratović et al., ch. 1.4, 2.3).

    S = Σ_i ½ m_i w_i·w_i + ½ ε_i·I_i ε_i + ε_i·(ω_i × I_i ω_i) + Σ_j ½ rotor q̈_j²              (GA1)
    ∂S/∂q̈_j = τ_j + Q_j                                                                         (GA2)
    Q_j = Σ_i β_ij·(m_i g + f_ext) + α_ij·n_ext           gravity and wrenches applied at C_i    (GA3)

By the linear forms ε_i = Σ α_ij q̈_j + α_i⁰, w_i = Σ β_ij q̈_j + β_i⁰ of `linear_forms.py`

    ∂S/∂q̈_j = Σ_i β_ij·m_i w_i + α_ij·(I_i ε_i + ω_i × I_i ω_i) + rotor q̈_j                      (GA4)
    H_jk = ∂²S/∂q̈_j∂q̈_k = Σ_i m_i β_ij·β_ik + α_ij·I_i α_ik + rotor                              (GA5)
    h_j  = Σ_i m_i β_ij·(β_i⁰ − g) + α_ij·(I_i α_i⁰ + ω_i × I_i ω_i) − applied                    (GA6)

and (GA6) is (GA2) at q̈ = 0. i runs over the bodies that both pairs j and k carry; α_ij = e_j is the same for all of
them, so that couples and tensors are summed before they are projected. In quasi-velocities q̇ = W u

    ∂S/∂u̇ = Wᵀ ∂S/∂q̈ = Wᵀ (τ + Q):   Wᵀ(H W u̇ + H Ẇ u + h) = Wᵀ τ                              (GA7)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.formulations.arguments import check_wrenches, checked
from kinpair.formulations.kinematics import no_wrenches
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
from kinpair.formulations.speeds import Equations, speeds
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, each, joined, joint_space, rate_tree, rates
from kinpair.spatial.pose import spatial
from kinpair.spatial.rotation import cross


def acceleration_energy(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Scalar:
    """S of the motion [N m/s²], less what does not depend on q̈; q (nq,), q̇ and q̈ (nv,).    (GA1)"""
    q, qd, qdd = checked(model, q=q, qd=qd, qdd=qdd)
    placed = assembled(model, q)
    moved = accelerations(model, placed, q, qd, qdd)
    return sum(each(model, _energy, placed, moved, rates(model, qdd))[1:])


def _energy(body: Body, at: Placed, x: Accelerated, qdd: Vector) -> Scalar:
    turning = x.epsilon @ (0.5 * (at.I @ x.epsilon) + cross(x.omega, at.I @ x.omega))
    return 0.5 * body.m * (x.w @ x.w) + turning + 0.5 * ((body.rotor * qdd) @ qdd)  # (GA1)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ = ∂S/∂q̈ − Q.    (GA2)"""
    placed = assembled(model, q)
    moved = accelerations(model, placed, q, qd, qdd)

    def needed(body: Body, at: Placed, x: Accelerated, w_ext: Vector) -> Vector:
        inertial = spatial(turning_couple(body, at, x), body.m * x.w)  # (GA4)
        return inertial - spatial(ZERO, body.m * model.gravity) - applied(at, w_ext)  # (GA3)

    return _projected(model, placed, each(model, needed, placed, moved, w_ext)) + rotors(model) * qdd


def _projected(model: Model, placed: ByBody, loads: ByBody) -> Vector:
    """Σ_i α_ij·n_i + β_ij·f_i for every rate, of loads [n; f] at the mass centres."""
    n = totals(model, each(model, lambda _, load: load[:3], loads))
    couples = each(model, lambda _, at, n: at.e.T @ n, placed, n)
    for own, load in zip(forms(model, placed)[1:], loads[1:], strict=True):
        for j, form in own.items():
            couples[j] = couples[j] + form.beta.T @ load[3:]
    return joined(model, couples)


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H = ∂²S/∂q̈².    (GA5)"""
    placed = assembled(model, q)
    I = totals(model, each(model, lambda _, at: at.I, placed))
    entries: dict[tuple[int, int], Matrix] = {}
    for k in model.moving:
        turning = placed[k].e.T @ I[k]
        entries |= {(k, j): turning @ placed[j].e for j in model.path_to_ground(k)}
    for i, form in zip(model.moving, forms(model, placed)[1:], strict=True):
        path = list(form)
        for n, k in enumerate(path):
            moving = model.body[i].m * form[k].beta.T
            for j in path[n:]:
                entries[k, j] = entries[k, j] + moving @ form[j].beta  # (GA5)
    H = joint_space(model, {at: (X, X.T) for at, X in entries.items()})
    return H + np.diag(rotors(model))


def bias_forces(model: Model, q: Vector, qd: Vector, w_ext: Sequence[Any]) -> Vector:
    """h: what ∂S/∂q̈ − Q is without accelerations.    (GA6)"""
    return inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of H q̈ + h = τ, solved along the tree."""
    H, h = mass_matrix(model, q), bias_forces(model, q, qd, w_ext)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))


def in_quasi_velocities(
    model: Model, q: Vector, u: Vector, W: Matrix, Wd: Matrix, w_ext: Sequence[Any] | None = None
) -> Equations:
    """H u̇ + h = Wᵀ τ of the motion q̇ = W u.    (GA7)

    q (nq,), u (nu,), W and its rate in time Wd (nv, nu); w_ext: wrench on each body at O_i in its axes, none if not
    given. Rates q̇ and efforts τ are those of the mechanism, damping and friction are not in h.
    """
    (q,) = checked(model, q=q)
    u, W, Wd = speeds(model, u, W, Wd)
    w_ext = no_wrenches(model) if w_ext is None else w_ext
    check_wrenches(model, w_ext)
    h = inverse_dynamics(model, q, W @ u, Wd @ u, w_ext)
    return Equations(W.T @ (mass_matrix(model, q) @ W), W.T @ h)  # (GA7)
