"""Volume and inertia of the shapes of MJCF, solid or as a shell; z is the axis of what is round.

Each returns volume or area, and the principal moments for a density of one. Sizes are radii and half lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import TypeAlias

Moments: TypeAlias = tuple[float, tuple[float, float, float]]
_THOMSEN = 1.6075  # exponent of Thomsen's formula for the area of an ellipsoid


def box(a: float, b: float, c: float) -> Moments:
    """V = 8abc, I_x = V (b² + c²) / 3."""
    v = 8 * a * b * c
    return v, (v * (b * b + c * c) / 3, v * (a * a + c * c) / 3, v * (a * a + b * b) / 3)


def ellipsoid(a: float, b: float, c: float) -> Moments:
    """V = 4πabc/3, I_x = V (b² + c²) / 5."""
    v = 4 * pi * a * b * c / 3
    return v, (v * (b * b + c * c) / 5, v * (a * a + c * c) / 5, v * (a * a + b * b) / 5)


def sphere(r: float) -> Moments:
    """An ellipsoid of equal axes."""
    return ellipsoid(r, r, r)


def cylinder(r: float, h: float) -> Moments:
    """V = 2πr²h, I_z = V r² / 2, I_x = V (r² / 4 + h² / 3)."""
    v = 2 * pi * r * r * h
    across = v * (r * r / 4 + h * h / 3)
    return v, (across, across, v * r * r / 2)


def capsule(r: float, h: float) -> Moments:
    """A cylinder and two halves of a sphere, whose centres of mass are 3r/8 beyond its ends."""
    v, (x, _, z) = cylinder(r, h)
    s, (y, _, _) = sphere(r)
    across = x + y + s * (h * h + 3 * h * r / 4)
    return v + s, (across, across, z + y)


def box_shell(a: float, b: float, c: float) -> Moments:
    """Six plates: those across x have area 8bc together."""
    x, y, z = 8 * b * c, 8 * a * c, 8 * a * b
    second = [  # ∫ x², ∫ y², ∫ z² over the surface
        x * a * a + (y + z) * a * a / 3,
        y * b * b + (x + z) * b * b / 3,
        z * c * c + (x + y) * c * c / 3,
    ]
    whole = sum(second)
    return x + y + z, (whole - second[0], whole - second[1], whole - second[2])


def ellipsoid_shell(a: float, b: float, c: float) -> Moments:
    """Area by Thomsen's formula; inertia of what a solid gains when its three axes grow by the same length."""
    p = _THOMSEN
    area = 4 * pi * (((a * b) ** p + (a * c) ** p + (b * c) ** p) / 3) ** (1 / p)
    gain = 1 / a + 1 / b + 1 / c  # dV/V
    moments = [(gain * (y * y + z * z) + 2 * (y + z)) / 5 for y, z in ((b, c), (a, c), (a, b))]
    x, y, z = (area * moment / gain for moment in moments)
    return area, (x, y, z)


def sphere_shell(r: float) -> Moments:
    """A = 4πr², I = 2Ar²/3."""
    area = 4 * pi * r * r
    moment = 2 * area * r * r / 3
    return area, (moment, moment, moment)


def cylinder_shell(r: float, h: float) -> Moments:
    """A tube and two discs."""
    tube, discs = 4 * pi * r * h, 2 * pi * r * r
    across = tube * (r * r / 2 + h * h / 3) + discs * (r * r / 4 + h * h)
    return tube + discs, (across, across, tube * r * r + discs * r * r / 2)


def capsule_shell(r: float, h: float) -> Moments:
    """A tube and two halves of a hollow sphere, whose centres of mass are r/2 beyond its ends."""
    tube = 4 * pi * r * h
    area, (y, _, _) = sphere_shell(r)
    across = tube * (r * r / 2 + h * h / 3) + y + area * (h * h + h * r)
    return tube + area, (across, across, tube * r * r + y)


Solid: TypeAlias = Callable[..., Moments]
SOLIDS: dict[str, tuple[int, Solid, Solid]] = {  # shape: how many sizes, solid, shell
    "sphere": (1, sphere, sphere_shell),
    "capsule": (2, capsule, capsule_shell),
    "cylinder": (2, cylinder, cylinder_shell),
    "ellipsoid": (3, ellipsoid, ellipsoid_shell),
    "box": (3, box, box_shell),
}
