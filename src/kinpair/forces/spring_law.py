"""Tension of a spring between two points as a function of its length and the rate of it.

F = k s + c ℓ̇ + F₀                                   s = ℓ − ℓ₀; positive in tension    (PS2)
F = max(0, k s + c ℓ̇ + F₀) where taut, else 0        a rope; taut: s > 0 or k s + F₀ > 0 (PS3)
V = ½ k s² + F₀ s,   loss (F − k s − F₀) ℓ̇           of a slack rope: V where it was slack first, no loss (PS4)
F = law(ℓ, ℓ̇),       loss F ℓ̇ − V̇                    V = energy(ℓ), zero if not given    (PS5)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from kinpair.algebra.arrays import Scalar, is_nothing
from kinpair.algebra.choice import less, maximum, where
from kinpair.algebra.jet import rate as rate_of
from kinpair.model.model import SpringData

LEAST = 1e-300  # a stiffness below it is zero


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """A spring and damper that pulls and pushes."""

    k: Scalar
    c: Scalar
    rest: Scalar
    preload: Scalar
    jumps: ClassVar[bool] = False

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """Tension F [N].    (PS2)"""
        return self.k * (length - self.rest) + self.c * rate + self.preload

    def energy(self, length: Scalar) -> Scalar:
        """Energy V [J].    (PS4)"""
        return _stored(self.k, self.preload, length - self.rest)

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """c ℓ̇².    (PS4)"""
        return self.c * rate * rate

    def switches(self, length: Scalar, rate: Scalar) -> dict[str, Scalar]:
        """Switching functions: none."""
        return {}


@final
@dataclass(frozen=True, slots=True)
class Rope:
    """A linear law that pulls only."""

    k: Scalar
    c: Scalar
    rest: Scalar
    preload: Scalar
    jumps: ClassVar[bool] = True

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """Tension F [N].    (PS3)"""
        pulling = maximum(0.0, self._elastic(length) + self.c * rate)
        return where(less(0.0, self._taut(length)), pulling, 0.0)

    def energy(self, length: Scalar) -> Scalar:
        """Energy V [J].    (PS4)"""
        slack = 0.0 if is_nothing(self.preload) else -np.divide(self.preload, maximum(self.k, LEAST))
        return _stored(self.k, self.preload, where(less(0.0, self._taut(length)), length - self.rest, slack))

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """(F − k s − F₀) ℓ̇ while taut.    (PS4)"""
        elastic = where(less(0.0, self._taut(length)), self._elastic(length), 0.0)
        return (self.tension(length, rate) - maximum(0.0, elastic)) * rate

    def switches(self, length: Scalar, rate: Scalar) -> dict[str, Scalar]:
        """Taut where it is positive; and the tension if it could push."""
        return {"taut": self._taut(length), "pulls": self._elastic(length) + self.c * rate}

    def _elastic(self, length: Scalar) -> Scalar:
        return self.k * (length - self.rest) + self.preload

    def _taut(self, length: Scalar) -> Scalar:
        return maximum(length - self.rest, self._elastic(length))


@final
@dataclass(frozen=True, slots=True)
class Traced:
    """A law of the user."""

    law: Callable[[Any, Any], Any]
    stored: Callable[[Any], Any] | None
    jumps: ClassVar[bool] = True  # nobody knows

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """Tension F [N].    (PS5)"""
        return self.law(length, rate)

    def energy(self, length: Scalar) -> Scalar:
        """Energy V [J].    (PS5)"""
        return 0.0 if self.stored is None else self.stored(length)

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """F ℓ̇ − V̇.    (PS5)"""
        taken = self.law(length, rate) * rate
        return taken if self.stored is None else taken - rate_of(self.stored, (length,), (rate,))

    def switches(self, length: Scalar, rate: Scalar) -> dict[str, Scalar]:
        """Switching functions: unknown."""
        return {}


def _stored(k: Scalar, preload: Scalar, stretch: Scalar) -> Scalar:
    return 0.5 * k * stretch * stretch + preload * stretch  # (PS4)


Law: TypeAlias = Linear | Rope | Traced


def law_of(data: SpringData) -> Law:
    """The law that the data are of."""
    if data.law is not None:
        return Traced(data.law, data.energy)
    kind = Rope if data.tension_only else Linear
    return kind(data.stiffness, data.damping, data.rest_length, data.preload)
