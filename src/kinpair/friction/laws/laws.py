"""Laws of dry friction in a joint, one class a law; the table has the names of `kinpair.description.friction_laws`.

    F(v) = s [F_c + (F_s − F_c) exp(−(|v|/v_s)ⁿ)] + c v         sliding, s = sign v                 (FR1)
    −F_s ≤ F ≤ F_s                                               at rest                             (FR2)

F is what friction resists with, so that its effort is −F. Coulomb's law has no fading: F_s counts at rest alone. For
motion in the negative direction F_c is `level_negative`; the surplus F_s − F_c is the same in both directions.

A level is a number or parameter, alone or times a function of time or an input:

    F_c = k,   k f(t)   or   k u                          k: number or parameter                        (LV1)

A level below zero has no meaning: there it is NaN, and whoever evaluates it reports it by name.

A viscous law may grow with a power of the speed; n = 2/3 is that of lubricated rolling bearings (Palmgren):

    F(v) = c v (v² + v₀²)^((n − 1)/2)          v₀ = 1 mm/s or 1 mrad/s: the slope at rest is finite     (FR6)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from kinpair.algebra.choice import less, maximum, sign, where
from kinpair.friction.rounding import FADED_SPEED, NEGATIVE

if TYPE_CHECKING:
    from kinpair.algebra.arrays import Scalar
    from kinpair.forces.element import Instant
    from kinpair.model.model import Signal


@final
@dataclass(frozen=True, slots=True)
class Level:
    """`scale`, times its signal where it has one. An element with such a level has its input as the first of `at.u`."""

    scale: Scalar
    signal: Signal | None = None

    @property
    def timed(self) -> bool:
        """True if it is a function of time."""
        return self.signal is not None and self.signal.function is not None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Name of its input, if it has one."""
        return (self.signal.input,) if self.signal is not None and self.signal.input else ()

    def value(self, at: Instant) -> Scalar:
        """F_c at a state [N m] or [N], NaN below zero.    (LV1)"""
        if self.signal is None:
            return self.scale
        return self.at_time(at.state.time) if self.timed else _not_negative(self.scale * at.u[0])

    def at_time(self, time: Scalar) -> Scalar:
        """Evaluate a function of time t [s] as a level, or a coefficient; NaN below zero.    (LV1)"""
        assert self.signal is not None
        assert self.signal.function is not None
        return _not_negative(self.scale * self.signal.function(time))


def _not_negative(level: Scalar) -> Scalar:
    return where(less(level, NEGATIVE), np.nan, level)


def levels_of(numbers: Mapping[str, Scalar], signals: Mapping[str, Signal]) -> dict[str, Level]:
    """Levels by key, from the numbers of a law and the signals of those that change."""
    return {key: Level(x, signals.get(key)) for key, x in numbers.items() if key in KEYS}


KEYS = ("level", "level_static", "level_negative")


SLOW = 1e-3  # v₀ of (FR6) [rad/s] or [m/s]
ZERO = Level(0.0)


@final
@dataclass(frozen=True, slots=True)
class Levels:
    """Levels of a law: while sliding, at rest, and while sliding in the negative direction; None: as the first."""

    level: Level = ZERO
    level_static: Level | None = None
    level_negative: Level | None = None

    @property
    def every(self) -> tuple[Level, ...]:
        """Return the levels that are given."""
        return tuple(x for x in (self.level, self.level_static, self.level_negative) if x is not None)

    def sliding(self, at: Instant, share: Scalar) -> Scalar:
        """F_c in the direction of `share`."""
        forward = self.level.value(at)
        if self.level_negative is None:
            return forward
        return where(less(share, 0.0), self.level_negative.value(at), forward)

    def surplus(self, at: Instant) -> Scalar:
        """F_s − F_c."""
        return 0.0 if self.level_static is None else self.level_static.value(at) - self.level.value(at)


NO_LEVELS = Levels()


class Law(Protocol):
    """Interface of a law. `share` is the sign of sliding, or the part of the level that acts at rest."""

    @property
    def levels(self) -> Levels:
        """Levels of the law."""
        ...

    @property
    def viscous(self) -> Scalar:
        """Resistance per speed."""
        ...

    @property
    def dry(self) -> bool:
        """True if it resists at rest."""
        ...

    def flowing(self, rate: Scalar) -> Scalar:
        """Viscous friction at a rate: no jump where the rate changes its sign."""
        ...

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """Dry friction at a speed in the direction of sliding, zero or above; its level at speed zero."""
        ...

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """Level that must be overcome from rest in the direction of `share`."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Viscous:
    """c v alone, or a power of the speed."""

    viscous: Scalar
    levels: Levels = NO_LEVELS
    exponent: Scalar = 1.0

    def flowing(self, rate: Scalar) -> Scalar:
        """c v (v² + v₀²)^((n − 1)/2).    (FR6)"""
        return self.viscous * powered(rate, self.exponent)

    @property
    def dry(self) -> bool:
        """False: no resistance at rest."""
        return False

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """Sliding level: zero."""
        return 0.0

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """Static level: zero."""
        return 0.0


@final
@dataclass(frozen=True, slots=True)
class Coulomb:
    """A level, and a surplus at rest."""

    levels: Levels
    viscous: Scalar

    def flowing(self, rate: Scalar) -> Scalar:
        """Damping effort c v."""
        return self.viscous * rate

    @property
    def dry(self) -> bool:
        """True: it resists at rest."""
        return True

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """Sliding level F_c.    (FR1)"""
        return self.levels.sliding(at, share)

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """Static level F_s.    (FR2)"""
        return self.levels.sliding(at, share) + self.levels.surplus(at)


@final
@dataclass(frozen=True, slots=True)
class Stribeck:
    """A level, and a surplus that fades with the speed."""

    levels: Levels
    viscous: Scalar
    speed: Scalar
    exponent: Scalar

    def flowing(self, rate: Scalar) -> Scalar:
        """Damping effort c v."""
        return self.viscous * rate

    @property
    def dry(self) -> bool:
        """True: it resists at rest."""
        return True

    def sliding(self, at: Instant, speed: Scalar, share: Scalar) -> Scalar:
        """F_c + (F_s − F_c) exp(−(|v|/v_s)ⁿ)."""
        fading = faded(speed, self.speed, self.exponent)
        return self.levels.sliding(at, share) + self.levels.surplus(at) * fading  # (FR1)

    def static(self, at: Instant, share: Scalar) -> Scalar:
        """Static level F_s.    (FR2)"""
        return self.levels.sliding(at, share) + self.levels.surplus(at)


def faded(speed: Scalar, stribeck_speed: Scalar, exponent: Scalar) -> Scalar:
    """exp(−(|v|/v_s)ⁿ); n = 1 and 2 have no kink where the speed turns within a step."""
    x = speed / stribeck_speed
    if isinstance(exponent, (int, float)) and exponent in (1.0, 2.0):
        return np.exp(-x) if exponent == 1.0 else np.exp(-x * x)
    return np.exp(-np.exp(exponent * np.log(maximum(x * sign(x), FADED_SPEED))))  # a complex step passes


def powered(rate: Scalar, exponent: Scalar) -> Scalar:
    """v (v² + v₀²)^((n − 1)/2): v itself with n = 1.    (FR6)"""
    if isinstance(exponent, (int, float)) and exponent == 1.0:
        return rate
    return rate * np.exp(0.5 * (exponent - 1.0) * np.log(rate * rate + SLOW * SLOW))


def _viscous(x: Mapping[str, Scalar], levels: Levels) -> Law:
    return Viscous(x["viscous"], exponent=x.get("exponent", 1.0))


def _coulomb(x: Mapping[str, Scalar], levels: Levels) -> Law:
    return Coulomb(levels, x.get("viscous", 0.0))


def _stribeck(x: Mapping[str, Scalar], levels: Levels) -> Law:
    return Stribeck(levels, x.get("viscous", 0.0), x["stribeck_speed"], x["exponent"])


def law_of(name: str, numbers: Mapping[str, Scalar], signals: Mapping[str, Signal]) -> Law:
    """The law of that name by its numbers and the signals of levels that change."""
    return LAWS[name](numbers, Levels(**levels_of(numbers, signals)))


LAWS = {"viscous": _viscous, "coulomb": _coulomb, "stribeck": _stribeck}
