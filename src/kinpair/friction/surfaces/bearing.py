"""Bearings and guides: journals of hinges and cylindrical joints, balls, crosses of universal joints, sliding joints.

A journal of radius r rests on two supports, the distance b apart and the joint point between them. With the force F and
the moment M across its axis e, and A along it:

    N± = F/2 ± (M × e)/b,   N = |N₊| + |N₋| + preload                       radial supports            (FB1)
    N ← N + (r_t/r) |A|                                                     collar of radius r_t       (FB2)
    s = r q̇                        hinge                                                              (FB3)
    s = (r q̇₁, q̇₂)                 cylindrical: the direction of the combined sliding                  (FB4)
    s = r ω,   N = |F| + preload   ball                                                               (FB5)

The cross of a universal joint has two pins; each is a journal about its own axis under the whole wrench.

A guide of a sliding joint has edge pressure from moments. Shoes at both ends, the length L apart, take the force F and
the moment M across the axis as the supports of a journal do. A moment A about the axis presses two rails, the width b
apart:

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
from kinpair.friction.surfaces.surface import NORM, Carried, Grip, LoadPart, Surface, length, magnitude


def across(n: Sequence[Scalar] | Vector, f: Sequence[Scalar] | Vector, span: Scalar) -> list[Scalar]:
    """(2/b) M × e and F (4 numbers), from moment and force along two directions across the axis."""
    (n_x, n_y), over = n, np.divide(2.0, span)
    return [over * n_y, -(over * n_x), *f]


def supports(c: Sequence[Scalar]) -> list[Scalar]:
    """2 N₊ and 2 N₋ (4 numbers).    (FB1)"""
    m_x, m_y, f_x, f_y = c[:4]
    return [f_x + m_x, f_y + m_y, f_x - m_x, f_y - m_y]


def carried_by(c: Sequence[Scalar]) -> Scalar:
    """|N₊| + |N₋|."""
    x = supports(c)
    return 0.5 * (length(*x[:2]) + length(*x[2:]))


SUPPORTS = 0.5 * np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])  # N₊ by the forms; −M: N₋


def support_parts(count: int) -> list[LoadPart]:
    """Return |N₊| and |N₋| as parts, with `count` forms in all.    (FB1)"""
    rest, nothing = np.zeros((2, count - 4)), np.zeros(2)
    both = SUPPORTS, SUPPORTS * np.array([-1.0, -1.0, 1.0, 1.0])
    return [LoadPart(NORM, np.hstack([x, rest]), nothing) for x in both]


def single(n: int, weight: Scalar) -> LoadPart:
    """Return weight · |form n| as a part, of n + 1 forms."""
    return LoadPart(NORM, weight * np.eye(n + 1)[n:], np.zeros(1))


def directions(c: Sequence[Scalar]) -> list[Scalar]:
    """Slopes of `carried_by`, from N₊/|N₊| and N₋/|N₋|. One division serves both."""
    x = supports(c)
    plus, minus = length(*x[:2]), length(*x[2:])
    over = np.divide(0.5, plus * minus)
    p, m = minus * over, plus * over
    p_x, p_y, m_x, m_y = x[0] * p, x[1] * p, x[2] * m, x[3] * m
    return [p_x - m_x, p_y - m_y, p_x + m_x, p_y + m_y]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Journal(Surface):
    """Journal bearing of a hinge."""

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
        return [*across(w[:2], w[3:5], self.span), w[5]]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        collar = np.divide(self.thrust_radius, self.radius) * magnitude(c[4])  # (FB2)
        return carried_by(c) + collar + self.preload

    def parts(self, at: Carried) -> list[LoadPart]:
        return [*support_parts(5), single(4, np.divide(self.thrust_radius, self.radius))]

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return [*directions(c), np.divide(self.thrust_radius, self.radius) * sign(c[4])]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sleeve(Surface):
    """Sleeve of a cylindrical joint."""

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
        return across(w[:2], w[3:5], self.span)

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        return carried_by(c) + self.preload

    def parts(self, at: Carried) -> list[LoadPart]:
        return support_parts(4)

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return directions(c)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ball(Surface):
    """Ball of a spherical joint."""

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

    def parts(self, at: Carried) -> list[LoadPart]:
        return [LoadPart(NORM, np.eye(3), np.zeros(3))]

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        over = np.divide(1.0, length(*c))
        return [x * over for x in c]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pin(Surface):
    """Pin, one of the two of a universal joint: `number` 0 turns in the parent, 1 in the child."""

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
            return [*across((n[2], n[0]), (f[2], f[0]), self.span), f[1]]
        c, s = np.cos(q[1]), np.sin(q[1])  # about (c, 0, s); across it y and (−s, 0, c)
        turned, pushed = c * n[2] - s * n[0], c * f[2] - s * f[0]
        return [*across((n[1], turned), (f[1], pushed), self.span), c * f[0] + s * f[2]]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        collar = np.divide(self.thrust_radius, self.radius) * magnitude(c[4])
        return carried_by(c) + collar + self.preload

    def parts(self, at: Carried) -> list[LoadPart]:
        return [*support_parts(5), single(4, np.divide(self.thrust_radius, self.radius))]

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return [*directions(c), np.divide(self.thrust_radius, self.radius) * sign(c[4])]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Guide(Surface):
    """Guide of a prismatic joint."""

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
