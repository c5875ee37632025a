"""Guides of sliding joints: edge pressure from moments.

Shoes at both ends of the guide, the length L apart, take the force F and the moment M across the axis as the supports
of a journal do. A moment A about the axis presses two rails, the width b apart:

    N = |F/2 + (M × e)/L| + |F/2 − (M × e)/L| + 2 |A|/b + preload,   s = q̇                             (FG1)

A drawer pulled by a force P at the distance a from its middle has N = 2 P a/L. It jams where
μ N ≥ P: from μ = L/(2a) on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import sign
from kinpair.friction.surfaces.bearing import across, carried_by, directions, single, support_parts
from kinpair.friction.surfaces.surface import Carried, Grip, LoadPart, Surface, magnitude


@final
@dataclass(frozen=True, slots=True, eq=False)
class Guide(Surface):
    """Of a prismatic joint."""

    kind = "guide"
    answers_strongly = True
    name: str
    body: int
    grip: Grip
    span: Scalar
    width: Scalar
    preload: Scalar

    def sliding(self) -> Matrix:
        return array([[1.0]])

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return [*across(w[:2], w[3:5], self.span), w[2] * np.divide(2.0, self.width)]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        return carried_by(c) + magnitude(c[4]) + self.preload  # (FG1)

    def parts(self, at: Carried) -> list[LoadPart]:
        return [*support_parts(5), single(4, 1.0)]

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return [*directions(c), sign(c[4])]
