"""Wrenches in the pairs as linear forms of the accelerations, from composite bodies.

x_k is all that pair k carries, frozen into one rigid body. While nothing moves and nothing weighs, a unit acceleration
along rate j asks pair k for

    [n; f] = x_j p_j, carried from j to k                 k: j and its ancestors                      (CW1)
    [n; f] = x_k t,   t: p_j carried from j to k          k: beyond j                                 (CW2)
    H_kj = p_kᵀ [n; f]                                                                                (CW3)

at O_k in axes of body k; pairs on other branches carry nothing of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations.composite import NOTHING, compose
from kinpair.formulations.kinematics import Placement, placements
from kinpair.formulations.masses import Rigid
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ancestors, coordinates, each, inward, joined, joint_space
from kinpair.spatial.rotation import skew


class CarriedWrenches(NamedTuple):
    """H, and by pair k the blocks (6, nv_j) of the rates j that it feels."""

    H: Matrix
    on: Mapping[int, Mapping[int, Matrix]]


def _wrench(x: Rigid, t: Matrix) -> Matrix:
    s_ = skew(x.s)
    return np.concatenate([x.I @ t[:3] + s_ @ t[3:], x.m * t[3:] - s_ @ t[:3]])


def _begin(body: Body, x: Rigid, place: Placement, q: Vector) -> Matrix:
    return _wrench(x, body.pair.p(q))


def _visit(
    body: Body, w: Matrix, x: Rigid, place: Placement, q: Vector
) -> tuple[tuple[Matrix, Matrix], Matrix]:
    n, f = place.R @ w[:3], place.R @ w[3:]
    return (w, body.pair.p(q).T @ w), np.concatenate([n + skew(place.a) @ f, f])  # (CW1)


def carried_wrenches(model: Model, q: Vector, pairs: Collection[int]) -> CarriedWrenches:
    """H of all rates, and the wrenches in these pairs."""
    places, qs = placements(model, q), coordinates(model, q)
    x = inward(model, compose, NOTHING, places, qs)
    found = ancestors(model, _begin, _visit, x, places, qs)
    blocks = {(j, k): (H.T, H) for (j, k), (_, H) in found.items()}  # (CW3)
    H = joint_space(model, blocks) + np.diag(joined(model, each(model, lambda body: body.rotor)))
    on: dict[int, dict[int, Matrix]] = {}
    for k in pairs:
        inner = {j: _wrench(x[k], t) for j, t in _twists(model, places, qs, k).items()}  # (CW2)
        outer = {j: w for (j, at), (w, _) in found.items() if at == k and model.body[j].pair.nv}
        on[k] = inner | outer
    return CarriedWrenches(H, on)


def _twists(model: Model, places: list[Placement], qs: list[Vector], k: int) -> dict[int, Matrix]:
    """Unit rates of the ancestors of k, as twists at O_k in axes of k."""
    found: dict[int, Matrix] = {}
    for j in reversed(model.path_to_ground(k)):
        R, a = places[j]
        found = {i: _carried(R, a, t) for i, t in found.items()}
        if model.body[j].pair.nv:
            found[j] = model.body[j].pair.p(qs[j])
    return {j: t for j, t in found.items() if j != k}


def _carried(R: Matrix, a: Vector, t: Matrix) -> Matrix:
    return np.concatenate([R.T @ t[:3], R.T @ (t[3:] - skew(a) @ t[:3])])
