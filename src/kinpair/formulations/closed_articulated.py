"""Accelerations of mechanisms with loops, by articulated bodies: each loop is eliminated where it closes.

x of H x = φ + Aᵀλ, A x = b makes ½ xᵀH x − φᵀx stationary under A x = b. What body i carries enters this function by
the acceleration t of the body and by the multipliers λ of the loops that have an end out there and close further in:

    V = ½ tᵀM t + wᵀt + λᵀ(Kᵀt + l) − ½ λᵀL λ                                                  (LA1)

The end of a loop has K = Eᵀ, E the part of its rows that multiplies the twist of this end; one of the two ends has
l = −b. A pair with U, E, G and u of (AB1)–(AB3) leaves, with s = pᵀK,

    K handed on = K − G s,   l handed on = l + sᵀE⁻¹u,   L handed on = L + sᵀE⁻¹s               (LA2)
    q̈ = E⁻¹(u − s λ) − Gᵀt                                                                     (LA3)

Where both ends of loop c have come together on a body, its multipliers are eliminated, o the other loops:

    λ_c = L_cc⁻¹ (K_cᵀt + l_c − L_co λ_o)                                                       (LA4)
    M + K_c L_cc⁻¹ K_cᵀ,   w + K_c L_cc⁻¹ l_c                                                   (LA5)
    K_o − K_c L_cc⁻¹ L_co,   l_o − L_oc L_cc⁻¹ l_c,   L_oo − L_oc L_cc⁻¹ L_co                   (LA6)

Work grows as the bodies times the square of the columns of K: the rows of all loops that are open at a body. (LA4) to
(LA6) are the elimination of Popov & Vereshchagin (1978), taken at the body where a loop closes instead of the ground.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, symmetric
from kinpair.algebra.choice import minimum
from kinpair.formulations.kinematics import Placement, placements
from kinpair.formulations.masses import Articulated, articulated, carried_articulated
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, Roles, coordinates, each, inward, joined, outward, rates, total
from kinpair.spatial.rotation import cross, skew

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))


class Loops(NamedTuple):
    """Loops along a tree: K (6, columns) and l (columns,) of each body by itself, and the columns of the loop that is
    eliminated at a body, None at others."""

    K: ByBody
    l: ByBody
    closes: Roles
    columns: int


class Carried(NamedTuple):
    """Values handed to the parent."""

    A: Matrix
    Q: Matrix
    D: Matrix
    n: Vector
    f: Vector
    K_n: Matrix
    K_f: Matrix
    l: Vector
    L: Matrix


class Left(NamedTuple):
    """Results of the inward sweep for the outward one: of a pair, or of a loop that closes."""

    G: Matrix
    u: Vector  # E⁻¹ u; L_cc⁻¹ l_c
    s: Matrix  # E⁻¹ s; L_cc⁻¹ L_co, zero in the columns of c
    pivots: Vector
    scales: Vector  # diagonal of E or L_cc


def _sweep(
    body: Body,
    outer: tuple[Any, ...],
    place: Placement,
    q: Vector,
    phi: Vector,
    K: Matrix,
    l: Vector,
    closes: slice | None,
) -> tuple[Left, tuple[Any, ...]]:
    own, x = articulated(body), Carried(*outer)
    x = x._replace(
        A=x.A + own.A, Q=x.Q + own.Q, D=x.D + own.D, K_n=x.K_n + K[:3], K_f=x.K_f + K[3:], l=x.l + l
    )
    left, x = _freed(body, x, q, phi) if closes is None else _closed(x, closes)
    f = place.R @ x.f
    K_f = place.R @ x.K_f
    mass = carried_articulated(body, q, Articulated(x.A, x.Q, x.D), place.a)
    n = place.R @ x.n + cross(place.a, f)
    return left, (*mass, n, f, place.R @ x.K_n + skew(place.a) @ K_f, K_f, x.l, x.L)


def _freed(body: Body, x: Carried, q: Vector, phi: Vector) -> tuple[Left, Carried]:
    """Part that a pair leaves of what its body carries."""
    p = body.pair.p(q)
    U = np.concatenate([x.A @ p[:3] + x.Q @ p[3:], x.Q.T @ p[:3] + x.D @ p[3:]])  # (AB1)
    E = p.T @ U + np.diag(body.rotor)
    factors = ldl.factor(E)
    G = ldl.solve_columns(factors, U.T).T
    u = phi - (p[:3].T @ x.n + p[3:].T @ x.f)
    s = p[:3].T @ x.K_n + p[3:].T @ x.K_f
    over = ldl.solve_columns(factors, s) if len(s) else s  # E⁻¹ s
    left = Left(G, ldl.solve_factored(factors, u), over, ldl.pivots(factors), np.diag(E))
    A, Q, D = (
        x.A - symmetric(G[:3] @ U[:3].T),
        x.Q - G[:3] @ U[3:].T,
        x.D - symmetric(G[3:] @ U[3:].T),
    )  # (AB2)
    n, f = x.n + G[:3] @ u, x.f + G[3:] @ u  # (AB3)
    K_n, K_f = x.K_n - G[:3] @ s, x.K_f - G[3:] @ s  # (LA2)
    return left, Carried(A, Q, D, n, f, K_n, K_f, x.l + over.T @ u, x.L + symmetric(s.T @ over))  # (LA2)


def _closed(x: Carried, c: slice) -> tuple[Left, Carried]:
    """Part that a loop that closes leaves of what the body carries."""
    factors = ldl.factor(x.L[c, c])
    K_n, K_f, L_c = x.K_n[:, c], x.K_f[:, c], _without(x.L[c, :], c)
    G = ldl.solve_columns(factors, np.concatenate([K_n, K_f]).T).T  # K_c L_cc⁻¹
    u, s = ldl.solve_factored(factors, x.l[c]), ldl.solve_columns(factors, L_c)
    left = Left(G, u, s, ldl.pivots(factors), np.diag(x.L[c, c]))
    A, Q, D = x.A + symmetric(G[:3] @ K_n.T), x.Q + G[:3] @ K_f.T, x.D + symmetric(G[3:] @ K_f.T)  # (LA5)
    n, f = x.n + K_n @ u, x.f + K_f @ u  # (LA5)
    K_n, K_f, l = (_without(y, c) for y in (x.K_n - K_n @ s, x.K_f - K_f @ s, x.l - L_c.T @ u))  # (LA6)
    L = _without(_without(x.L - symmetric(L_c.T @ s), c).T, c)  # (LA6)
    return left, Carried(A, Q, D, n, f, K_n, K_f, l, L)


def _without(x: Any, c: slice) -> Any:
    """The array with zeros in the columns c."""
    if x.ndim == 1:
        return array([0.0 if c.start <= k < c.stop else y for k, y in enumerate(x)])
    return array([list(_without(row, c)) for row in x])


class ClosedPairAcceleration(NamedTuple):
    """Accelerations of a pair, what they make of its body, and the multipliers of the loops open there."""

    qdd: Vector
    alpha: Vector
    a: Vector
    lam: Vector


def _answer(
    body: Body, parent: ClosedPairAcceleration, x: Left, place: Placement, q: Vector, closes: slice | None
) -> ClosedPairAcceleration:
    alpha = place.R.T @ parent.alpha
    a = place.R.T @ (parent.a + cross(parent.alpha, place.a))
    of_motion = x.G[:3].T @ alpha + x.G[3:].T @ a
    if closes is not None:
        lam = x.u + of_motion - x.s @ parent.lam  # (LA4)
        entries = [
            lam[k - closes.start] if closes.start <= k < closes.stop else y for k, y in enumerate(parent.lam)
        ]
        return ClosedPairAcceleration(np.zeros(0), alpha, a, array(entries))
    p = body.pair.p(q)
    qdd = x.u - x.s @ parent.lam - of_motion  # (LA3)
    return ClosedPairAcceleration(qdd, alpha + p[:3] @ qdd, a + p[3:] @ qdd, parent.lam)


def _nothing(columns: int) -> tuple[Any, ...]:
    K = np.zeros((3, columns))
    return (ZERO3, ZERO3, ZERO3, ZERO, ZERO, K, K, np.zeros(columns), np.zeros((columns, columns)))


def solve(model: Model, q: Vector, phi: Vector, loops: Loops) -> tuple[Solution, Scalar]:
    """x of H x = φ + Aᵀλ, A x = b; and the smallest pivot of the loops as a part of the diagonal."""
    places, qs = placements(model, q), coordinates(model, q)
    given = (places, qs, rates(model, phi), loops.K, loops.l, loops.closes)
    left = inward(model, _sweep, _nothing(loops.columns), *given)
    still = ClosedPairAcceleration(np.zeros(0), ZERO, ZERO, np.zeros(loops.columns))
    answers = outward(model, _answer, still, left, places, qs, loops.closes)
    qdd = each(model, lambda _, x: x.qdd, answers)
    pivots, scales = (
        each(model, _of_pairs, left, loops.closes, [None, *([float(k)] * len(model.moving))]) for k in (0, 1)
    )
    least = total(model, _of_loops, np.inf, left, loops.closes, combine=minimum, every=True)
    return Solution(joined(model, qdd), joined(model, pivots), joined(model, scales)), least


def _of_pairs(body: Body, x: Left, closes: slice | None, which: float) -> Vector:
    """Pivots or scales of a pair; nothing of a loop."""
    return np.zeros(0) if closes is not None else x.scales if which else x.pivots


def _of_loops(body: Body, x: Left, closes: slice | None) -> Scalar:
    """The smallest pivot of a loop as a part of its diagonal."""
    if closes is None:
        return np.inf
    return reduce(minimum, [np.divide(p, s) for p, s in zip(x.pivots, x.scales, strict=True)])
