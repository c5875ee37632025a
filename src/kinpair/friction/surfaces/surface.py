"""Interface of every surface: one place in a joint where two parts slide on each other under load.

s = G q̇ is the velocity of sliding (1, 2 or 3 numbers), f the friction force in the surface, N its load:

    f = −μ(|s|) N s/|s|       sliding;    |f| ≤ μ_s N    at rest                                      (FL1)
    μ(|s|) = μ + (μ_s − μ) exp(−(|s|/v_s)^n)             Stribeck; μ where no v_s is given             (FL2)
    τ_f = Gᵀ f                                           efforts along the rates of the joint          (FL3)
    N = N(c, f),   c = forms of w                        w: wrench on the child                       (FL4)

The forms are linear in the wrench that the joint hands to its child, at the joint point and in axes of the child.
Since w is affine in the accelerations, so are they. A law of bearings is one file with these functions.
Derivation, no line of code: (FL1), (FL3), (FL4), which `friction/loads/` puts together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import sign
from kinpair.algebra.jet import rate
from kinpair.friction.laws.laws import faded
from kinpair.friction.rounding import LEAST_SQUARE

NORM, LINEAR, SQUARE, JUMP = "norm", "linear", "square", "jump"
BOTH = (1.0, 1.0)


class Carried(NamedTuple):
    """State of one joint while its surfaces carry load: its coordinates and rates, the efforts of its motor and those
    that act next to it.

    `yields` is one where the motor makes up for what the motion takes, as in inverse dynamics; `motor` is then what its
    rotor takes. It is zero where its efforts are given. `toward` is the sign of sliding of a joint of one degree.
    `theta` is the part of a jump that is in the load; None: all or nothing, by the side. `steep`: for derivatives, a
    load at its jump has a slope so large that it stays there.
    """

    q: Vector
    qd: Vector
    motor: Vector
    beside: Vector
    yields: float = 0.0
    toward: Scalar = 0.0
    theta: Scalar | None = None
    steep: bool = False


class Jump(NamedTuple):
    """A load that jumps by `height` where y passes its limit; `helps` is one where the jump moves y on by itself."""

    y: Scalar
    limit: Scalar
    height: Scalar
    helps: Scalar


class LoadPart(NamedTuple):
    """One part of a load, of y = C c + E f + d with forms c and friction force f.

    By shape: |y|; y; the square of y in [0, limit]; or 1 where y is above the limit and 0 below it. It counts `weights`
    times while f opposes sliding forward, and backward.
    """

    shape: str
    C: np.ndarray
    d: np.ndarray
    E: np.ndarray | None = None
    weights: tuple[Scalar, Scalar] = BOTH
    limit: Scalar = np.inf


@dataclass(frozen=True, slots=True)
class Grip:
    """Coefficients of friction: μ, that at rest, and the speed and exponent of the fall between them."""

    mu: Scalar
    mu_static: Scalar
    stribeck_speed: Scalar = 0.0
    exponent: Scalar = 2.0
    falls: bool = False

    def coefficient(self, speed: Scalar) -> Scalar:
        """μ at a speed of sliding ≥ 0.    (FL2)"""
        if not self.falls:
            return self.mu
        return self.mu + (self.mu_static - self.mu) * faded(speed, self.stribeck_speed, self.exponent)


class Surface(ABC):
    """One surface of the joint of body `body`."""

    __slots__ = ()

    kind: ClassVar[str]
    feels_force: ClassVar[bool] = False  # does the load depend on the friction force itself?
    bounded: ClassVar[bool] = True  # does the load grow no faster than its forms?
    answers_strongly: ClassVar[bool] = False  # does sliding along the axis press its edges?
    beside_levels: ClassVar[bool] = False  # do constant levels of its joint act next to what it hands over?
    jumps: ClassVar[bool] = False  # does the load jump, see `jump`?
    name: str
    body: int
    grip: Grip

    @property
    def surplus(self) -> float:
        """Friction beyond μ_s N that must be overcome from rest."""
        return 0.0

    @property
    def rate(self) -> int:
        """Rate of the joint that it resists, where it is one."""
        return 0

    @abstractmethod
    def sliding(self) -> Matrix:
        """G (k, rates of the joint): velocity of sliding s = G q̇."""

    @abstractmethod
    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        """c: linear forms of the wrench [n; f] on the child, in its axes at the joint point."""

    @abstractmethod
    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        """N ≥ 0 at forms c and friction force f (k,) [N]."""

    @abstractmethod
    def parts(self, at: Carried) -> list[LoadPart]:
        """Return the parts of N, without the constant one; their sum is `load`."""

    def constant(self, at: Carried) -> tuple[Scalar, Scalar]:
        """Return the part of N that no form changes, while f opposes sliding forward, and backward."""
        preload: Scalar = getattr(self, "preload", 0.0)
        return preload, preload

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        """Compute the slopes ∂N/∂c."""
        units = np.eye(len(c))
        return [rate(lambda x: self.load(list(x), force, at), (array(list(c)),), (unit,)) for unit in units]

    def force_slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        """Compute the slopes ∂N/∂f."""
        if not self.feels_force:
            return [0.0] * len(force)
        units = np.eye(len(force))
        return [rate(lambda x: self.load(c, x, at), (force,), (unit,)) for unit in units]

    def jump(self, c: Sequence[Scalar], at: Carried) -> Jump:
        """Return where and by how much the load jumps, of a surface that has `jumps`."""
        raise NotImplementedError

    def jump_slopes(self, c: Sequence[Scalar], at: Carried) -> list[Scalar]:
        """∂y/∂c of the jump."""
        units = np.eye(len(c))
        return [rate(lambda x: self.jump(list(x), at).y, (array(list(c)),), (unit,)) for unit in units]

    def spread(self, c: Sequence[Scalar], force: Vector) -> Scalar:
        """Largest change of N where the forms change by c and the friction force by f, from anywhere.

        Loads are sums of lengths of linear forms, so it is their sum for the changes.
        """
        nothing = [0.0] * len(c)
        return self.load(c, force, STILL) - self.load(nothing, 0.0 * force, STILL)


STILL = Carried(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2))


def magnitude(x: Scalar) -> Scalar:
    """|x|, of the real part, so that a complex step passes by."""
    return x * sign(x) if np.iscomplexobj(x) else np.abs(x)


def length(*parts: Scalar) -> Scalar:
    """√Σ x², with a derivative at zero too."""
    return np.sqrt(sum((x * x for x in parts[1:]), parts[0] * parts[0]) + LEAST_SQUARE)
