"""Motion equation and reaction equation coupled by friction (Zhao & Gu 1991).

Friction forces φ in the joints act along the rates by Gᵀφ, so over the bodies by the drives D̄ of the pairs:

    Q̄ᶠ = D̄ Gᵀ = [F_1ᶠ; …; F_Pᶠ; L_1ᶠ; …; L_Pᶠ]                         friction distribution (4.2)      (ZF1)
    N g + Q̄ᵀM̄⁻¹(q̄ᵉ₀ + Q̄ᶠ φ) = K̂,   φ = φ(Ẏ, g)                        coupled reactions (6.5)          (ZF2)
    (J̄ᵀM̄ J̄) Ÿ + J̄ᵀq̄ᶜ = J̄ᵀ(q̄ᵉ₀ + Q̄ᶠ φ)                                coupled motion (6.4)             (ZF3)

There is no acceleration in (ZF2): it is solved for g and φ first, and (ZF3) follows. Geared rotors are columns of their
own, as in (ZR7), and the wrench along a rate is its effort less what turns the rotor.
(ZF3) is the motion equation of a tree under these efforts.
Derivation, no line of code: (ZF3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinpair.algebra import sparse_ldl
from kinpair.algebra.arrays import Matrix, Vector
from kinpair.errors import InputError, listed
from kinpair.formulations.zhao_gu import loads, unforced, with_efforts
from kinpair.formulations.zhao_gu_bodies import motions, placed
from kinpair.formulations.zhao_gu_reactions import (
    Columns,
    Load,
    Share,
    distribution_matrix,
    drives,
    held,
    massless,
    reaction_matrix,
    right_side,
    rotor_columns,
    weights,
    wrench,
)
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates, rates
from kinpair.spatial.pose import rotate


def friction_distribution(model: Model, q: Vector, sliding: Sequence[tuple[int, Matrix]]) -> Matrix:
    """Q̄ᶠ (6P, components) of surfaces given by their body and G.    (ZF1)"""
    driven = dict(zip(model.moving, drives(model, q, placed(model, q)), strict=True))
    groups: list[Columns] = []
    for i, G in sliding:
        on = {k: Share(share.F @ G.T, share.L @ G.T) for k, share in driven[i].on.items()}
        groups.append(Columns(on, G.shape[0]))
    return distribution_matrix(model, groups)


def reaction_response(
    model: Model, q: Vector, qd: Vector, w_ext: Sequence[Any]
) -> Callable[[Vector, bool], ByBody]:
    """Wrenches by body, at O_i in its axes, as a function of the efforts (nv,); alone, or with all else that acts.

    One factorisation of N serves all of them.    (ZF2)
    """
    if names := massless(model):
        raise InputError(
            f"{model.name}: method 'zhao-gu' with friction from load needs mass and inertia in every body; "
            f"{listed(names)} {'has' if len(names) == 1 else 'have'} none; use method 'newton-euler'",
            bodies=names,
        )
    at = placed(model, q)
    moved, driven, W, qs = (
        motions(model, q, qd, at),
        drives(model, q, at),
        weights(model),
        coordinates(model, q),
    )
    turning = rotor_columns(model, driven)
    groups = [*held(model, q, at), *turning]
    factors = sparse_ldl.factor(reaction_matrix(groups, W))
    acting = loads(model, at, moved, unforced(model, moved), w_ext)
    nothing: ByBody = [None, *(Load(np.zeros(3), np.zeros(3)) for _ in model.moving)]

    def wrenches(efforts: Vector, alone: bool) -> ByBody:
        load = with_efforts(model, nothing if alone else acting, driven, efforts)
        g = sparse_ldl.solve(factors, right_side(model, groups, W, load))
        own, start, found = list(rates(model, efforts)), 0, list[Any]([None])
        turned = sum(6 - model.body[i].pair.nv for i in model.moving)
        for i in model.moving:
            rotor = model.body[i].rotor
            if len(rotor) and np.any(rotor != 0.0):
                own[i] = own[i] + g[turned : turned + len(rotor)]
                turned += len(rotor)
        for i in model.moving:
            stop, pair = start + 6 - model.body[i].pair.nv, model.body[i].pair
            found.append(rotate(pair.rotation(qs[i]).T, wrench(model, i, qs[i], g[start:stop], own[i])))
            start = stop
        return found

    return wrenches
