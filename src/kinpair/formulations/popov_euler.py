"""The same with absolute angles of the links (Vukobratović et al., ch. 2.1.2).

Each link carries its own Euler angles η = (ψ, ϑ, φ), precession, nutation and spin, against inertial axes; strokes of
sliding pairs are kept as the displacement z in the seat. Orientation and rotation of a link need no neighbour:

    R = R_z(ψ) R_x(ϑ) R_z(φ)                                                                     (EU1)
    ω = Π(η) η̇,   Π = [0, cos ψ, sin ψ sin ϑ; 0, sin ψ, −cos ψ sin ϑ; 1, 0, cos ϑ]               (EU2)
    ε = Π η̈ + Π̇ η̇                                                                                (EU3)
    o_i = o_j + A_j a_i + 2 ω_j × S_i ż + S_i z̈,   S_i = R_j R_seat                              (EU4)

|det Π| = |sin ϑ|: a link whose third axis is parallel to the inertial one has no such angles. The drives follow
from the force sums of `popov.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.errors import SingularError
from kinpair.formulations import popov
from kinpair.formulations.linear_forms import (
    GROUND,
    STILL,
    Accelerated,
    Placed,
    accelerations,
    assembled,
    moved_with,
)
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, outward, rates
from kinpair.spatial.rotation import about_x, about_z, cross, turned

NEAREST = np.sqrt(np.finfo(float).eps)  # of sin ϑ to zero: η̈ has 1/sin² ϑ, and there no digit of it is left


class Angles(NamedTuple):
    """η and its derivatives."""

    eta: Vector
    etad: Vector
    etadd: Vector


class Link(NamedTuple):
    """Of one body: absolute angles, and displacement, velocity and acceleration of O_i in the seat."""

    angles: Angles
    z: Vector
    zd: Vector
    zdd: Vector


def rotation(eta: Vector) -> Matrix:
    """R of the angles: axes of the link in inertial axes.    (EU1)"""
    return about_z(eta[0]) @ about_x(eta[1]) @ about_z(eta[2])


def angles_of(R: Matrix) -> Vector:
    """η of a rotation, 0 ≤ ϑ ≤ π: the inverse of (EU1) where sin ϑ is not zero."""
    nutation = np.arctan2(np.sqrt(R[0, 2] * R[0, 2] + R[1, 2] * R[1, 2]), R[2, 2])
    return array([np.arctan2(R[0, 2], -R[1, 2]), nutation, np.arctan2(R[2, 0], R[2, 1])])


def rates_matrix(eta: Vector) -> Matrix:
    """Π of ω = Π η̇, ω in inertial axes.    (EU2)"""
    c, s = np.cos(eta[0]), np.sin(eta[0])
    ct, st = np.cos(eta[1]), np.sin(eta[1])
    return array([[0.0, c, s * st], [0.0, s, -c * st], [1.0, 0.0, ct]])


def rates_matrix_rate(eta: Vector, etad: Vector) -> Matrix:
    """Π̇ at the rates η̇."""
    c, s = np.cos(eta[0]), np.sin(eta[0])
    ct, st = np.cos(eta[1]), np.sin(eta[1])
    psi, theta = etad[0], etad[1]
    third = [c * st * psi + s * ct * theta, s * st * psi - c * ct * theta, -st * theta]
    return array([[0.0, -s * psi, third[0]], [0.0, c * psi, third[1]], [0.0, 0.0, third[2]]])


def _solved(eta: Vector, omega: Vector) -> Vector:
    """η̇ of Π η̇ = ω, along the line of nodes, across it, and up."""
    c, s = np.cos(eta[0]), np.sin(eta[0])
    spin = np.divide(s * omega[0] - c * omega[1], np.sin(eta[1]))
    return array([omega[2] - np.cos(eta[1]) * spin, c * omega[0] + s * omega[1], spin])


def _angles(body: Body, at: Placed, x: Accelerated) -> Angles:
    eta = angles_of(at.R)
    etad = _solved(eta, x.omega)  # (EU2)
    return Angles(eta, etad, _solved(eta, x.epsilon - rates_matrix_rate(eta, etad) @ etad))  # (EU3)


def _link(body: Body, angles: Angles, q: Vector, qd: Vector, qdd: Vector) -> Link:
    p, R = body.pair.p(q), body.pair.rotation(q)
    turn, slide = p[:3] @ qd, p[3:] @ qd
    change = p[3:] @ qdd + body.pair.pd(q, qd)[3:] @ qd + cross(turn, slide)
    return Link(angles, body.pair.translation(q), R @ slide, R @ change)


def links(model: Model, q: Vector, qd: Vector, qdd: Vector) -> ByBody:
    """Absolute angles and strokes of every body; refused where a float state has det Π = 0."""
    placed = assembled(model, q)
    for i in model.moving:
        _check(model, i, placed[i].R)
    angles = each(model, _angles, placed, accelerations(model, placed, q, qd, qdd))
    return each(model, _link, angles, coordinates(model, q), rates(model, qd), rates(model, qdd))


def _check(model: Model, i: int, R: Matrix) -> None:
    """Symbols and columns pass; they divide by zero where a float is refused."""
    if R.dtype == object:
        return
    sine: Scalar = np.hypot(*np.real(R[:2, 2]))
    if sine <= NEAREST:
        raise SingularError(
            f"{model.name}: the third axis of link {model.names[i]!r} is parallel to the inertial one, sin ϑ = "
            f"{sine:.1e}, so precession and spin are not two angles and det Π = 0; move away from this position, or "
            "use method='popov'",
            link=model.names[i],
        )


def _place(body: Body, parent: Placed, link: Link, q: Vector) -> Placed:
    R, S = rotation(link.angles.eta), parent.R @ body.R_seat
    p = body.pair.p(q)
    a = parent.R @ body.a_seat + S @ link.z
    return Placed(S, R, a, R @ body.d, turned(R, body.I), R @ p[:3], R @ p[3:])


def _move(body: Body, parent: Accelerated, at: Placed, link: Link) -> Accelerated:
    eta, etad, etadd = link.angles
    Pi = rates_matrix(eta)
    omega = Pi @ etad  # (EU2)
    epsilon = Pi @ etadd + rates_matrix_rate(eta, etad) @ etad  # (EU3)
    o = parent.o + parent.A @ at.a + 2.0 * cross(parent.omega, at.S @ link.zd) + at.S @ link.zdd  # (EU4)
    return moved_with(at, omega, epsilon, o)


def drives(model: Model, q: Vector, qdd: Vector, angles: ByBody, w_ext: Sequence[Any]) -> Vector:
    """Drives of links in their absolute angles; q gives the axes of the pairs, q̈ turns the rotors."""
    placed = outward(model, _place, GROUND, angles, coordinates(model, q))
    moved = outward(model, _move, STILL, placed, angles)
    return popov.drives(model, placed, moved, qdd, w_ext)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """Drives that produce the motion, by way of the absolute angles."""
    return drives(model, q, qdd, links(model, q, qd, qdd), w_ext)
