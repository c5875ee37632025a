"""Laws of dry friction in a joint, one class a law; the table has the names of `kinpair.description.friction_laws`.

    F(v) = s [F_c + (F_s − F_c) exp(−(|v|/v_s)ⁿ)] + c v         sliding, s = sign v                 (FR1)
    −F_s ≤ F ≤ F_s                                               at rest                             (FR2)

F is what friction resists with, so that its effort is −F. Coulomb's law has no fading: F_s counts at rest alone. For
motion in the negative direction F_c is `level_negative`; the surplus F_s − F_c is the same in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from kinpair.algebra.arrays import Scalar
from kinpair.algebra.choice import less, maximum, sign, where
from kinpair.forces.element import Instant

LEAST = 1e-150  # a smaller part of the Stribeck speed counts as zero


class Law(Protocol):
    """What a law answers. `share` is the sign of sliding, or the part of the level that acts at rest."""

    @property
    def viscous(self) -> Scalar:
        """Resistance per speed."""
        ...

    @property
    def dry(self) -> bool:
        """Does it resist at rest?"""
        ...

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """Dry friction at a speed in the direction of sliding, zero or above; its level at speed zero."""
        ...

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """What must be overcome from rest in the direction of `share`."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Viscous:
    """c v alone."""

    viscous: Scalar

    @property
    def dry(self) -> bool:
        """No."""
        return False

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """Nothing."""
        return 0.0

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """Nothing."""
        return 0.0


@final
@dataclass(frozen=True, slots=True)
class Coulomb:
    """A level, and a surplus at rest."""

    level: Scalar
    negative: Scalar
    surplus: Scalar
    viscous: Scalar

    @property
    def dry(self) -> bool:
        """Yes."""
        return True

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """F_c.    (FR1)"""
        return _by_direction(self.level, self.negative, share)

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """F_s.    (FR2)"""
        return _by_direction(self.level, self.negative, share) + self.surplus


@final
@dataclass(frozen=True, slots=True)
class Stribeck:
    """A level, and a surplus that fades with the speed."""

    level: Scalar
    negative: Scalar
    surplus: Scalar
    viscous: Scalar
    speed: Scalar
    exponent: Scalar

    @property
    def dry(self) -> bool:
        """Yes."""
        return True

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """F_c + (F_s − F_c) exp(−(|v|/v_s)ⁿ)."""
        fading = faded(speed, self.speed, self.exponent)
        return _by_direction(self.level, self.negative, share) + self.surplus * fading  # (FR1)

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """F_s.    (FR2)"""
        return _by_direction(self.level, self.negative, share) + self.surplus


def faded(speed: Scalar, stribeck_speed: Scalar, exponent: Scalar) -> Scalar:
    """exp(−(|v|/v_s)ⁿ); n = 1 and 2 have no kink where the speed turns within a step."""
    x = speed / stribeck_speed
    if isinstance(exponent, (int, float)) and exponent in (1.0, 2.0):
        return np.exp(-x) if exponent == 1.0 else np.exp(-x * x)
    return np.exp(-np.exp(exponent * np.log(maximum(x * sign(x), LEAST))))  # a complex step passes


def _by_direction(forward: Scalar, backward: Scalar, share: Scalar) -> Scalar:
    return forward if forward is backward else where(less(share, 0.0), backward, forward)


def _coulomb(x: Mapping[str, Scalar]) -> Law:
    level = x["level"]
    surplus = x["level_static"] - level if "level_static" in x else 0.0
    return Coulomb(level, x.get("level_negative", level), surplus, x.get("viscous", 0.0))


def _stribeck(x: Mapping[str, Scalar]) -> Law:
    level, viscous = x["level"], x.get("viscous", 0.0)
    negative, surplus = x.get("level_negative", level), x["level_static"] - level
    return Stribeck(level, negative, surplus, viscous, x["stribeck_speed"], x["exponent"])


LAWS = {"viscous": lambda x: Viscous(x["viscous"]), "coulomb": _coulomb, "stribeck": _stribeck}
