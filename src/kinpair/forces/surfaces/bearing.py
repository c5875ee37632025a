"""Bearings: journals of hinges and cylindrical joints, balls, crosses of universal joints.

A journal of radius r rests on two supports, the distance b apart and the joint point between them. With the force F and
the moment M across its axis e, and A along it:

    N± = F/2 ± (M × e)/b,   N = |N₊| + |N₋| + preload                       radial supports            (FB1)
    N ← N + (r_t/r) |A|                                                     collar of radius r_t       (FB2)
    s = r q̇                        hinge                                                              (FB3)
    s = (r q̇₁, q̇₂)                 cylindrical: the direction of the combined sliding                  (FB4)
    s = r ω,   N = |F| + preload   ball                                                               (FB5)

The cross of a universal joint has two pins; each is a journal about its own axis under the whole wrench.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import sign
from kinpair.forces.surfaces.surface import Carried, Grip, Surface, length, magnitude


def supports(n: Vector | Sequence[Scalar], f: Vector | Sequence[Scalar], span: Scalar) -> list[Scalar]:
    """N₊ and N₋ (4 numbers), from moment and force along two directions across the axis.    (FB1)"""
    (n_x, n_y), (f_x, f_y), over = n, f, np.divide(1.0, span)
    x, y, mx, my = 0.5 * f_x, 0.5 * f_y, over * n_y, -(over * n_x)
    return [x + mx, y + my, x - mx, y - my]


def carried_by(c: Sequence[Scalar]) -> Scalar:
    """|N₊| + |N₋|."""
    return length(*c[:2]) + length(*c[2:4])


def directions(c: Sequence[Scalar]) -> list[Scalar]:
    """N₊/|N₊| and N₋/|N₋|: the slopes of `carried_by`. One division serves both."""
    plus, minus = length(*c[:2]), length(*c[2:4])
    over = np.divide(1.0, plus * minus)
    return [c[0] * (minus * over), c[1] * (minus * over), c[2] * (plus * over), c[3] * (plus * over)]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Journal(Surface):
    """Of a hinge."""

    kind = "bearing"
    name: str
    body: int
    grip: Grip
    radius: Scalar
    thrust_radius: Scalar
    span: Scalar
    preload: Scalar

    def sliding(self) -> Matrix:
        return array([[self.radius]])  # (FB3)

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return [*supports(w[:2], w[3:5], self.span), w[5]]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        collar = np.divide(self.thrust_radius, self.radius) * magnitude(c[4])  # (FB2)
        return carried_by(c) + collar + self.preload

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return [*directions(c), np.divide(self.thrust_radius, self.radius) * sign(c[4])]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sleeve(Surface):
    """Of a cylindrical joint."""

    kind = "bearing"
    answers_strongly = True
    name: str
    body: int
    grip: Grip
    radius: Scalar
    span: Scalar
    preload: Scalar

    def sliding(self) -> Matrix:
        return array([[self.radius, 0.0], [0.0, 1.0]])  # (FB4)

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return supports(w[:2], w[3:5], self.span)

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        return carried_by(c) + self.preload

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return directions(c)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ball(Surface):
    """Of a spherical joint."""

    kind = "bearing"
    name: str
    body: int
    grip: Grip
    radius: Scalar
    preload: Scalar

    def sliding(self) -> Matrix:
        return self.radius * np.eye(3)  # (FB5)

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return list(w[3:])

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        return length(*c) + self.preload  # (FB5)

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        over = np.divide(1.0, length(*c))
        return [x * over for x in c]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pin(Surface):
    """One of the two of a universal joint: `number` 0 turns in the parent, 1 in the child."""

    kind = "bearing"
    name: str
    body: int
    grip: Grip
    radius: Scalar
    thrust_radius: Scalar
    span: Scalar
    preload: Scalar
    number: int

    @property
    def rate(self) -> int:
        return self.number

    def sliding(self) -> Matrix:
        return array([[self.radius, 0.0] if self.number == 0 else [0.0, self.radius]])

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        n, f = w[:3], w[3:]
        if self.number:  # about y of the child
            return [*supports((n[2], n[0]), (f[2], f[0]), self.span), f[1]]
        c, s = np.cos(q[1]), np.sin(q[1])  # about (c, 0, s); across it y and (−s, 0, c)
        across, pushed = c * n[2] - s * n[0], c * f[2] - s * f[0]
        return [*supports((n[1], across), (f[1], pushed), self.span), c * f[0] + s * f[2]]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        collar = np.divide(self.thrust_radius, self.radius) * magnitude(c[4])
        return carried_by(c) + collar + self.preload

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return [*directions(c), np.divide(self.thrust_radius, self.radius) * sign(c[4])]
