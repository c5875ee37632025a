"""Sliding of rates with dry friction, where that is known beforehand.

A model whose `slip` is None has friction by the sign of each rate. With a `Slip` the sign stays what it says through
a whole phase of the motion, whatever the rate does within a step, so that forces are smooth there; and a rate that is
locked stays at rest, by whatever effort that takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.algebra.choice import sign
from kinpair.model.recursion import each, joined, rates

if TYPE_CHECKING:
    from kinpair.model.model import Body, Model


class Slip(NamedTuple):
    """Slip of each rate (nv,): `share` of the level that friction has against positive motion, 1 and −1 while it
    slides; and where `held` is 1 it is at rest, where 0 it moves. None: no rate is locked."""

    share: Vector
    held: Vector | None = None


def sliding(model: Model, qd: Vector, qdd: Vector) -> Model:
    """The model with friction by the sign of q̇, where that is zero of q̈, and none where both are."""
    if not (model.frictions or model.surfaces):
        return model
    if model.walker:
        share = joined(model, each(model, _signs, rates(model, qd), rates(model, qdd)))
        return replace(model, slip=Slip(share))
    return replace(model, slip=Slip(signs(qd, qdd)))


def _signs(body: Body, qd: Vector, qdd: Vector) -> Vector:
    return signs(qd, qdd) if len(qd) else np.zeros(0)


def signs(qd: Vector, qdd: Vector) -> Vector:
    """Signs of sliding (nv,): those of q̇, where that is zero those of q̈."""
    return array([sign(v) + (1.0 - sign(v) * sign(v)) * sign(a) for v, a in zip(qd, qdd, strict=True)])
