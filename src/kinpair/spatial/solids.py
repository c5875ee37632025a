"""Inertia as six numbers (xx, yy, zz, xy, xz, yz) [kg m²]: of simple solids, and moved to the mass centre.

Solids are of uniform density, their inertia is about the mass centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kinpair.errors import InputError

Six: TypeAlias = tuple[float, float, float, float, float, float]

_AXES = {"x": 0, "y": 1, "z": 2}


def solid_box(mass: float, size: Sequence[float]) -> Six:
    """I_xx = m (b² + c²) / 12 and so on, for edges (a, b, c) along x, y, z."""
    a, b, c = (float(edge) ** 2 for edge in size)
    k = mass / 12.0
    return (k * (b + c), k * (a + c), k * (a + b), 0.0, 0.0, 0.0)


def solid_cylinder(mass: float, radius: float, length: float, axis: str = "z") -> Six:
    """m r² / 2 about the axis, m (3 r² + l²) / 12 across it."""
    return _round(mass * radius**2 / 2.0, mass * (3.0 * radius**2 + length**2) / 12.0, axis)


def solid_sphere(mass: float, radius: float) -> Six:
    """2 m r² / 5 about every axis."""
    return _round(0.4 * mass * radius**2, 0.4 * mass * radius**2, "z")


def rod(mass: float, length: float, axis: str = "z") -> Six:
    """m l² / 12 across the axis, nothing about it: a cylinder of no thickness."""
    return _round(0.0, mass * length**2 / 12.0, axis)


def _round(along: float, across: float, axis: str) -> Six:
    if axis not in _AXES:
        raise InputError(f"axis is {axis!r}; give 'x', 'y' or 'z'", axis=axis)
    x, y, z = (along if _AXES[axis] == i else across for i in range(3))
    return (x, y, z, 0.0, 0.0, 0.0)


def about_com(inertia: Six, mass: float, com: Sequence[float]) -> Six:
    """I_C = I_O − m (c·c 1 − c cᵀ): from the origin of the frame to the mass centre at c."""
    (xx, yy, zz, xy, xz, yz), (x, y, z), m = inertia, com, mass
    return (
        xx - m * (y * y + z * z),
        yy - m * (x * x + z * z),
        zz - m * (x * x + y * y),
        xy + m * x * y,
        xz + m * x * z,
        yz + m * y * z,
    )
