"""Constraints of the motion beyond the joints, as plain data: loops, couplings, rolling, prescribed motion.

Like the other parts, these are compared by value and checked later; `kinpair.constraints` turns them into rows.
A formula is a text such as "0.3*sin(2*t)" or a Python function of the same variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kinpair.description.parts import GROUND, HERE, X_AXIS, Z_AXIS, Numbers, Origin, Three

Formula: TypeAlias = str | Callable[..., Any]
Formulas: TypeAlias = tuple[str, ...] | Callable[..., Any]  # a function gives one row or several


@dataclass(frozen=True, slots=True)
class Loop:
    """A pair that closes a loop: link `child` moves in link `parent` as this kind of joint allows.

    The joint frame sits at `origin` in the parent and, at the pair's neutral position, at `child_origin` in the
    child; it has no coordinate of its own.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin = HERE
    child_origin: Origin = HERE
    axis: Three = Z_AXIS
    axis2: Three | None = None
    pitch: float = 0.0
    compliance: Numbers = ()  # as that of a joint
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Coupling:
    """A coordinate that follows others: q = offset + Σ_j (c_j1 y_j + c_j2 y_j² + ...), gears, racks, mimic.

    `joint` and the names in `terms` are coordinates (a joint of one degree by its own name, else `joint.part`);
    each term is a name and its coefficients (c_1, c_2, ...).
    """

    name: str
    joint: str
    terms: tuple[tuple[str, Numbers], ...]
    offset: float = 0.0
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Distance:
    """A massless rod: the origins of two marked frames are `length` apart [m], a number or a formula in t."""

    name: str
    parent: str
    child: str
    length: float | Formula
    origin: Origin = HERE
    child_origin: Origin = HERE
    compliance: Numbers = ()  # as that of a joint; it yields along the rod alone
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class OnSurface:
    """A point of `child` stays where every formula in x, y, z (axes of the mark on `parent`) is zero.

    One formula is a surface, two are a curve, where the two surfaces cut each other.
    """

    name: str
    parent: str
    child: str
    formulas: tuple[Formula, ...]
    origin: Origin = HERE
    child_origin: Origin = HERE
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Rolling:
    """A convex surface of `child` rolls without slipping on the plane z = 0 of the mark on `parent`.

    `shape` and `size`: disk (radius,) about `axis`; ball (radius,); ellipsoid (semi-axes x, y, z); wheel (radius of
    its rim's centre line, radius of the rim's rounding) about `axis`; or a support function of a direction.
    `rollers`: None, or the angle [rad] between the rim's tangent and the axes of the free rollers on the rim: 0 for an
    omni-wheel, ±π/4 for a mecanum wheel.
    `normal` False leaves out the row that keeps the surface on the plane.
    """

    name: str
    parent: str
    child: str
    shape: Formula
    size: Numbers = ()
    axis: Three = Z_AXIS
    rollers: float | None = None
    normal: bool = True
    origin: Origin = HERE
    child_origin: Origin = HERE
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class KnifeEdge:
    """The origin of the mark on `child` does not move along `axis` of that mark, as seen from `parent`."""

    name: str
    child: str
    axis: Three = X_AXIS
    parent: str = GROUND
    child_origin: Origin = HERE
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Drive:
    """A coordinate is a given function of time: q = motion(t)."""

    name: str
    joint: str
    motion: Formula
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Guide:
    """The mark on `child` is moved in `parent` by given functions of time: position, and roll, pitch, yaw.

    An empty formula leaves that coordinate free; angles are given all three or none.
    """

    name: str
    parent: str
    child: str
    xyz: tuple[Formula, Formula, Formula] = ("", "", "")
    rpy: tuple[Formula, Formula, Formula] = ("", "", "")
    child_origin: Origin = HERE
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Momentum:
    """A component of the momentum of all that moves keeps its value: `angular` or `linear` along `axis`.

    Angular momentum is about the world's origin. `value` None: whatever it is at the start.
    """

    name: str
    part: str
    axis: Three = Z_AXIS
    value: float | None = None
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Custom:
    """Rows a user writes: phi(q, t) = 0, psi(q, qd, t) = 0, or A(q, t) q̇ + a(q, t) = 0; one of the three.

    phi and psi may be formulas in the names of coordinates and rates, see `kinpair.constraints.rows.coordinates`.
    Functions are traced, so that their derivatives are exact; they return one number or a sequence of them.
    """

    name: str
    phi: Formulas | None = None
    psi: Formulas | None = None
    A: Callable[..., Any] | None = None
    a: Callable[..., Any] | None = None
    where: str = field(default="", compare=False)


ConstraintPart: TypeAlias = (
    Loop | Coupling | Distance | OnSurface | Rolling | KnifeEdge | Drive | Guide | Momentum | Custom
)
