"""Forward dynamics of order n by articulated bodies, in blocks of three (Featherstone 1983).

φ = τ − h first, by Newton–Euler without accelerations; then H q̈ = φ is solved from the tips to the ground and
back, without H. Of body i, with M = [A, Q; Qᵀ, D] its articulated mass and k its children:

    U = M p,   E = pᵀ U + rotor,   G = U E⁻¹                                                     (AB1)
    M handed on = M − G Uᵀ                                                                       (AB2)
    u = φ − pᵀ w,   w handed on = w + G u                                                        (AB3)
    q̈ = E⁻¹ u − Gᵀ t,   t = what the parent's acceleration makes of body i                       (AB4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Vector, symmetric
from kinpair.formulations.kinematics import Placement, placements
from kinpair.formulations.masses import Articulated, articulated, carried_articulated
from kinpair.formulations.newton_euler import inverse_dynamics
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import coordinates, each, inward, joined, outward, rates
from kinpair.spatial.rotation import cross

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))


class Eliminated(NamedTuple):
    """Results of the inward sweep for the outward one."""

    G: Matrix  # (6, nv)
    u: Vector  # E⁻¹ u (nv,)
    pivots: Vector
    scales: Vector  # diagonal of E


def _eliminate(
    body: Body, outer: tuple[Any, ...], place: Placement, q: Vector, phi: Vector, *more: Vector
) -> tuple[Eliminated, tuple[Any, ...]]:
    own, p = articulated(body), body.pair.p(q)
    A, Q, D = own.A + outer[0], own.Q + outer[1], own.D + outer[2]
    n, f = outer[3], outer[4]
    U = np.concatenate([A @ p[:3] + Q @ p[3:], Q.T @ p[:3] + D @ p[3:]])  # (AB1)
    E = p.T @ U + np.diag(sum(more, body.rotor))
    factors = ldl.factor(E)
    G = ldl.solve_columns(factors, U.T).T
    A, Q, D = A - symmetric(G[:3] @ U[:3].T), Q - G[:3] @ U[3:].T, D - symmetric(G[3:] @ U[3:].T)  # (AB2)
    u = phi - (p[:3].T @ n + p[3:].T @ f)
    n, f = n + G[:3] @ u, f + G[3:] @ u  # (AB3)
    f_parent = place.R @ f
    mass = carried_articulated(body, q, Articulated(A, Q, D), place.a)
    left = Eliminated(G, ldl.solve_factored(factors, u), ldl.pivots(factors), np.diag(E))
    return left, (*mass, place.R @ n + cross(place.a, f_parent), f_parent)


class PairAcceleration(NamedTuple):
    """Accelerations of a pair, and what they make of its body."""

    qdd: Vector
    alpha: Vector
    a: Vector


def _answer(
    body: Body, parent: PairAcceleration, x: Eliminated, place: Placement, q: Vector
) -> PairAcceleration:
    p = body.pair.p(q)
    alpha = place.R.T @ parent.alpha
    a = place.R.T @ (parent.a + cross(parent.alpha, place.a))
    qdd = x.u - (x.G[:3].T @ alpha + x.G[3:].T @ a)  # (AB4)
    return PairAcceleration(qdd, alpha + p[:3] @ qdd, a + p[3:] @ qdd)


def solve(model: Model, q: Vector, phi: Vector, *more: Vector) -> Solution:
    """x of H x = φ without H, or of (H + diag(more)) x = φ."""
    model = model.lean
    places, qs = placements(model, q), coordinates(model, q)
    given = (rates(model, phi), *(rates(model, x) for x in more))
    x = inward(model, _eliminate, (ZERO3, ZERO3, ZERO3, ZERO, ZERO), places, qs, *given)
    answers = outward(model, _answer, PairAcceleration(np.zeros(0), ZERO, ZERO), x, places, qs)
    pivots, scales = each(model, lambda _, x: x.pivots, x), each(model, lambda _, x: x.scales, x)
    qdd = each(model, lambda _, answer: answer.qdd, answers)
    return Solution(joined(model, qdd), joined(model, pivots), joined(model, scales))


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ that the efforts produce; the work grows as n."""
    return solve(model, q, tau - inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext))
