"""Lagrange's equations in Euler angles of the links (Vukobratović, chapter 2.2.3), for trees of ball joints.

Every link i has absolute angles η_i = (ψ, ϑ, φ) of its own, whatever its parent does, in any sequence of axes with an
offset, see `euler_angles.py`; by default R_i = R_z(ψ) R_x(ϑ) R_z(φ). Internal Euler angles (2.2.4), those of a link in
its parent, are the coordinates of `Mechanism.split()`.

    Π(η) = [e_1 e_2 e_3],   ω_i = Π(η_i) η̇_i            e_1 … e_3: the axes of the three turns        (LE1)
    C_i  = Σ_k b_ik,   b_ik = R_k (O_k → O_next, or → C_i for k = i)      k: i and its ancestors      (LE2)
    β_ik = columns e_a × b_ik of Π(η_k),   v_i = Σ_k β_ik η̇_k                                         (LE3)
    H    = Σ_i m βᵀβ + diag(Πᵀ J Π)                                                                   (LE4)
    ∂ω_k/∂η_a = Σ_{b>a} (e_a × e_b) η̇_b,   ∂v_i/∂η_a = ∂ω_k/∂η_a × b_ik + ω_k × (e_a × b_ik)           (LE5)
    Q    = d/dt ∂T/∂η̇ − ∂T/∂η + ∂V/∂η                                                                 (LE6)

Couples τ in the joints, in axes of the child, do the work of  Q_i = Π_iᵀ (R_i τ_i − Σ_c R_c τ_c), c: children. (LE7)
A joint of fewer than three degrees is a constraint between the angles of two links: `lagrange_links.py` takes every
pair. Π is singular where sin ϑ = 0, or cos ϑ = 0 in sequences of three different axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Vector, array, assemble, symmetric
from kinpair.errors import InputError
from kinpair.formulations import linear_forms
from kinpair.formulations.arguments import check_model, checked
from kinpair.formulations.euler_angles import (
    BOOK,
    Angles,
    Choice,
    couple_of,
    measured,
    rates_matrix,
    rotation,
)
from kinpair.formulations.linear_forms import assembled
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, each, inward, joined, rates
from kinpair.pairs import cardan
from kinpair.spatial.rotation import IDENTITY, cross, skew, turned

ZERO = np.zeros(3)
Choices: TypeAlias = Sequence[Choice]  # by body; entry 0, of the ground, is not used


class Oriented(NamedTuple):
    """Orientation of one link, by its angles, in world axes."""

    R: Matrix
    e: Matrix  # Π
    ed: Matrix  # Π̇
    omega: Vector
    slope: Matrix  # columns ∂ω/∂η_a
    omega_d: Vector
    J: Matrix  # about C


def oriented(body: Body, eta: Vector, etad: Vector, etadd: Vector, choice: Choice = BOOK) -> Oriented:
    """A link by its angles and their derivatives."""
    R, e = rotation(eta, choice), rates_matrix(eta, choice)
    first, second, third = (e[:, a : a + 1] @ etad[a : a + 1] for a in range(3))
    omega = first + second + third  # (LE1)
    ed = _stack(ZERO, cross(first, e[:, 1]), cross(first + second, e[:, 2]))
    slope = _stack(cross(e[:, 0], second + third), cross(e[:, 1], third), ZERO)  # (LE5)
    return Oriented(R, e, ed, omega, slope, e @ etadd + ed @ etad, turned(R, body.I))


def _stack(*columns: Vector) -> Matrix:
    return array([list(x) for x in columns]).T


def links(model: Model, eta: Vector, etad: Vector, etadd: Vector, choices: Choices | None = None) -> ByBody:
    """Every link by its angles, measured as `choices` say, the book's without them; the ground does not turn."""
    _check(model)
    eta, etad, etadd = checked(model, eta=eta, etad=etad, etadd=etadd)
    still = Oriented(
        IDENTITY, np.zeros((3, 3)), np.zeros((3, 3)), ZERO, np.zeros((3, 3)), ZERO, np.zeros((3, 3))
    )
    by_link = choices or [BOOK] * len(model.parent)
    oriented_links = each(
        model, oriented, rates(model, eta), rates(model, etad), rates(model, etadd), by_link
    )
    return [still, *oriented_links[1:]]


def _check(model: Model) -> None:
    for i in model.moving:
        body = model.body[i]
        if body.pair.kind != "spherical" or np.any(body.rotor != 0.0):
            raise InputError(
                f"{model.name}: joint {model.joint_names[i]!r} is {body.pair.kind}; 'lagrange/euler' takes trees "
                "of spherical joints without rotors, where Euler angles of the links are free coordinates; "
                "'lagrange/links' takes every pair",
                joint=model.joint_names[i],
            )


class Arm(NamedTuple):
    """b_ik, and which link k it belongs to."""

    k: int
    b: Vector


def _arms(model: Model, link: ByBody, i: int) -> Iterator[Arm]:
    """Arms from link i to the ground.    (LE2)"""
    along = model.body[i].d
    for k in model.path_to_ground(i):
        yield Arm(k, link[k].R @ along)
        along = model.body[k].a_seat


def _beta(link: Oriented, b: Vector) -> Matrix:
    return -skew(b) @ link.e  # (LE3)


def mass_matrix(model: Model, eta: Vector, choices: Choices | None = None) -> Matrix:
    """H (nv, nv) over the angles of all links.    (LE4)"""
    check_model(model)
    still = np.zeros(model.nv)
    link = links(model, eta, still, still, choices)
    H = assemble((model.nv, model.nv), [])
    for i in model.moving:
        span = [model.v_span[arm.k] for arm in _arms(model, link, i)]
        beta = [_beta(link[arm.k], arm.b) for arm in _arms(model, link, i)]
        blocks = [
            (rows, columns, model.body[i].m * (left.T @ right))
            for rows, left in zip(span, beta, strict=True)
            for columns, right in zip(span, beta, strict=True)
        ]
        turning = symmetric(link[i].e.T @ (link[i].J @ link[i].e))
        own = model.v_span[i]
        H = H + assemble(H.shape, blocks) + assemble(H.shape, [(own, own, turning)])  # (LE4)
    return H


class Carried(NamedTuple):
    """Velocity and acceleration of a mass centre."""

    v: Vector
    v_d: Vector


def _centre(link: ByBody, arms: list[Arm]) -> Carried:
    v, v_d = ZERO, ZERO
    for k, b in arms:
        swing = cross(link[k].omega, b)
        v = v + swing
        v_d = v_d + cross(link[k].omega_d, b) + cross(link[k].omega, swing)
    return Carried(v, v_d)


def _of_mass(link: Oriented, b: Vector, m: float, x: Carried, g: Vector) -> Vector:
    """Share of the mass of a link in Q_k.    (LE6)"""
    swing = skew(cross(link.omega, b))
    beta = _beta(link, b)
    beta_d = -(skew(b) @ link.ed) - swing @ link.e
    d_v = -(skew(b) @ link.slope) + skew(link.omega) @ beta  # (LE5)
    return m * (beta_d.T @ x.v + beta.T @ (x.v_d - g) - d_v.T @ x.v)  # (LE6)


def of_inertia(link: Oriented) -> Vector:
    """Share of the inertia of a link in its own Q.    (LE6)"""
    L = link.J @ link.omega
    rate = link.ed.T @ L + link.e.T @ (link.J @ link.omega_d + cross(link.omega, L))
    return rate - link.slope.T @ L - link.e.T @ cross(L, link.omega)  # (LE6)


def inverse_dynamics(
    model: Model, eta: Vector, etad: Vector, etadd: Vector, choices: Choices | None = None
) -> Vector:
    """Q (nv): forces along the angles of all links that produce the motion.    (LE6)"""
    link = links(model, eta, etad, etadd, choices)
    Q: ByBody = [None, *(of_inertia(link[i]) for i in model.moving)]
    for i in model.moving:
        arms = list(_arms(model, link, i))
        centre = _centre(link, arms)
        for k, b in arms:
            Q[k] = Q[k] + _of_mass(link[k], b, model.body[i].m, centre, model.gravity)
    return joined(model, Q)


# To and from the coordinates of the model.


def to_internal(
    model: Model, eta: Vector, etad: Vector, etadd: Vector, choices: Choices | None = None
) -> tuple[Vector, Vector, Vector]:
    """q (quaternions of the ball joints), q̇ and q̈ of the model: R = R_seatᵀ R_jᵀ R_i, ω = R_iᵀ (ω_i − ω_j)."""
    link = links(model, eta, etad, etadd, choices)
    q: list[float] = [0.0] * model.nq
    qd: ByBody = [None] * len(model.parent)
    qdd: ByBody = [None] * len(model.parent)
    for i in model.moving:
        own, parent = link[i], link[model.parent[i]]
        R = model.body[i].R_seat.T @ parent.R.T @ own.R
        qd[i] = own.R.T @ (own.omega - parent.omega)
        qdd[i] = own.R.T @ (own.omega_d - parent.omega_d + cross(own.omega, parent.omega))
        q[model.q_span[i]] = list(cardan.quaternion(cardan.from_body(R, qd[i], qdd[i])[0]))
    return array(q), joined(model, qd), joined(model, qdd)


def from_joint_efforts(model: Model, eta: Vector, tau: Vector, choices: Choices | None = None) -> Vector:
    """Q (nv) of the couples τ in the joints, in axes of the child.    (LE7)"""
    (tau,) = checked(model, tau=tau)
    still = np.zeros(model.nv)
    link, taus = links(model, eta, still, still, choices), rates(model, tau)
    couple = [ZERO] * len(model.parent)
    for i in model.moving:
        world = link[i].R @ taus[i]
        couple[i] = couple[i] + world
        couple[model.parent[i]] = couple[model.parent[i]] - world
    return joined(model, [None, *(link[i].e.T @ couple[i] for i in model.moving)])  # (LE7)


# Efforts and accelerations of the model, by way of the angles.


def efforts(model: Model, q: Vector, qd: Vector, qdd: Vector, choices: Choices) -> Vector:
    """Couples τ (nv,) in the joints that produce the motion, from the forces along the angles.    (LE7)"""
    _check(model)
    angles = _of_model(model, q, qd, qdd, choices)
    eta, etad, etadd = (_joined(model, angles, k) for k in range(3))
    Q = rates(model, inverse_dynamics(model, eta, etad, etadd, choices))

    def react(body: Body, outer: tuple[Vector], x: Angles, Q: Vector) -> tuple[Vector, tuple[Vector]]:
        n = couple_of(rates_matrix(x.eta, x.choice), Q) + outer[0]  # (LE7)
        return rotation(x.eta, x.choice).T @ n, (n,)

    return joined(model, inward(model, react, (ZERO,), angles, Q))


def accelerations(model: Model, q: Vector, qd: Vector, tau: Vector, choices: Choices) -> Vector:
    """q̈ (nv,) that couples τ in the joints produce: H η̈ = Q(τ) − Q(η̈ = 0), then q̈ of η̈."""
    _check(model)
    still = np.zeros(model.nv)
    angles = _of_model(model, q, qd, still, choices)
    eta, etad = _joined(model, angles, 0), _joined(model, angles, 1)
    Q = from_joint_efforts(model, eta, tau, choices) - inverse_dynamics(model, eta, etad, still, choices)
    etadd, _ = ldl.solve(mass_matrix(model, eta, choices), Q)
    return to_internal(model, eta, etad, etadd, choices)[2]


def _of_model(model: Model, q: Vector, qd: Vector, qdd: Vector, choices: Choices) -> ByBody:
    """η and its derivatives by link, from the coordinates of the model."""
    placed = assembled(model, q)
    moved = linear_forms.accelerations(model, placed, q, qd, qdd)
    return each(
        model, lambda _, at, x, choice: measured(at.R, x.omega, x.epsilon, choice), placed, moved, choices
    )


def _joined(model: Model, angles: ByBody, k: int) -> Vector:
    return joined(model, [None, *(angles[i][k] for i in model.moving)])
