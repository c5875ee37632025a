"""Augmented bodies (Roberson & Wittenburg 1966, Wittenburg 1977) of a tree that floats, in world axes.

At every joint of body k the mass of all bodies beyond it is thought of as a point. The body so augmented has the mass
M of the whole system; its mass centre is the barycentre B_k. c_ki leads from C_k to the joint on the way to body i.

    M β_k = Σ_i m_i c_ki,   c_kk = 0                            β_k from C_k to B_k              (RA1)
    b_ki = c_ki − β_k,   Σ_i m_i b_ki = 0                       from B_k towards body i          (RA2)
    r_i − r_C = Σ_k b_ki                                        r_C mass centre of the system    (RA3)
    K_k = J_k + Σ_i m_i (b_ki·b_ki 1 − b_ki b_kiᵀ)              inertia of the augmented body    (RA4)
    2 T = M ṙ_C² + Σ_k ω_k·K_k ω_k − M Σ_{k≠l} (ω_k × b_kl)·(ω_l × b_lk)                         (RA5)

The last holds where no joint slides: only then are the b_ki fixed on body k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, zeros
from kinpair.errors import InputError, listed
from kinpair.formulations.roberson_wittenburg import Link, links
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody
from kinpair.spatial.rotation import cross, skew, turned


class Augmented(NamedTuple):
    """The augmented bodies of a mechanism in one state."""

    M: Scalar  # mass of the system [kg]
    b: dict[tuple[int, int], Vector]  # b_ki (3,) by (k, i)
    K: ByBody  # K_k (3, 3) by body


def augmented_bodies(model: Model, q: Vector) -> Augmented:
    """Barycentric vectors and augmented inertias.    (RA1), (RA2), (RA4)

    For a mechanism that hangs on the ground by one body, whatever the joint there; that joint does not count.
    """
    roots = [model.names[i] for i in model.moving if model.parent[i] == 0]
    if len(roots) != 1:
        raise InputError(
            f"{model.name}: augmented bodies need one connected system, and {len(roots)} bodies sit on the ground: "
            f"{listed(roots)}",
            bodies=roots,
        )
    placed = links(model, q)
    M = sum(model.body[i].m for i in model.moving)
    b: dict[tuple[int, int], Vector] = {}
    K: ByBody = [None]
    for k in model.moving:
        c = {i: _towards(model, placed, k, i) for i in model.moving}
        first = sum((model.body[i].m * c[i] for i in model.moving), zeros(3))
        beta = np.divide(first, M)  # (RA1)
        J = turned(placed[k].R, model.body[k].I)
        for i in model.moving:
            b[k, i] = c[i] - beta  # (RA2)
            b_ = skew(b[k, i])
            J = J - model.body[i].m * (b_ @ b_)  # (RA4)
        K.append(J)
    return Augmented(M, b, K)


def _towards(model: Model, placed: list[Link], k: int, i: int) -> Vector:
    """From C_k to the joint on the way to body i, zero to itself."""
    if i == k:
        return zeros(3)
    path = model.path_to_ground(i)
    return placed[path[path.index(k) - 1]].arm if k in path else -placed[k].d


def from_mass_centre(x: Augmented, i: int, bodies: range) -> Vector:
    """r_i − r_C (3,): mass centre of body i from that of the system.    (RA3)"""
    return sum((x.b[k, i] for k in bodies), zeros(3))  # (RA3)


def inner_energy(x: Augmented, omega: ByBody, bodies: range) -> Scalar:
    """Kinetic energy of the motion about the mass centre, from the angular velocities alone.    (RA5)"""
    twice = sum(omega[k] @ (x.K[k] @ omega[k]) for k in bodies)
    for k in bodies:
        for i in bodies:
            if i != k:
                twice = twice - x.M * (cross(omega[k], x.b[k, i]) @ cross(omega[i], x.b[i, k]))  # (RA5)
    return 0.5 * twice
