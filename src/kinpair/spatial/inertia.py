"""Mass, mass centre and inertia of rigid bodies: of simple solids, joined, moved and judged.

Inertia of simple solids is six numbers (xx, yy, zz, xy, xz, yz) [kg m²], of uniform density, about the mass centre.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.errors import InputError
from kinpair.spatial.rotation import skew

POINT = 1.5e-8  # [m]: √(rounding) of a metre, since moments moved to the mass centre d have errors of rounding · m d²
TOLERANCE = 1e-6  # of the largest moment
BARE = 1e-12  # inertia about an axis, as a part of the largest: below, there is none
ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")  # order of the entries of a tensor in data
Six: TypeAlias = tuple[float, float, float, float, float, float]
_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass m, mass centre d from the origin of the frame, inertia tensor I about the mass centre."""

    m: Scalar
    d: Vector
    I: Matrix

    def moved(self, R: Matrix, a: Vector) -> Inertia:
        """Return the body in a frame where its own frame sits at (R, a)."""
        return Inertia(self.m, R @ self.d + a, R @ self.I @ R.T)

    def about_origin(self) -> Matrix:
        """I_O = I − m [d]²    (Huygens–Steiner)."""
        D = skew(self.d)
        return self.I - self.m * (D @ D)


def tensor(entries: Sequence[float] | Vector) -> Matrix:
    """Return the tensor (3, 3) of its entries (xx, yy, zz, xy, xz, yz), products with their sign as in the matrix."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def joined(bodies: Iterable[Inertia]) -> Inertia:
    """Several bodies rigidly connected, all given in one frame."""
    every = list(bodies)
    m = sum(b.m for b in every)
    if m == 0.0:
        d = every[0].d if len(every) == 1 else np.zeros(3)
        return Inertia(0.0, d, sum((b.I for b in every), np.zeros((3, 3))))
    d = sum((b.m * b.d for b in every), np.zeros(3)) / m
    I = np.zeros((3, 3))
    for b in every:
        D = skew(b.d - d)
        I = I + b.I - b.m * (D @ D)
    return Inertia(m, d, (I + I.T) / 2)


def defect(I: Matrix, mass: float = 0.0) -> str | None:
    """Reason that keeps I from being the inertia tensor of a real body, in words; None if there is none.

    The principal moments J₁ ≤ J₂ ≤ J₃ of a real body are positive and J₃ ≤ J₁ + J₂. If no radius of gyration √(J / m)
    is larger than `POINT`, the moments are the rounding errors of a point.
    """
    J = np.linalg.eigvalsh(I)
    size = float(abs(J).max())
    if size <= mass * POINT * POINT:
        return None
    slack = TOLERANCE * max(size, 1e-300)
    moments = "principal moments " + ", ".join(f"{x:.6g}" for x in J)
    if J[0] < -slack:
        return f"is not positive ({moments})"
    if J[2] > J[0] + J[1] + slack:
        return f"breaks the triangle inequality ({moments}: the largest exceeds the sum of the others)"
    return None


def is_moment_about(axes: np.ndarray, I: np.ndarray) -> np.ndarray:
    """True if I (..., 3, 3) is one positive moment about an axis u, the others zero, and all `axes` (k, 3) are
    parallel to u.

    An axis at a small angle ε to u has the moment J₃ cos² ε, so that ε = √TOLERANCE changes it by TOLERANCE.
    """
    J, U = np.linalg.eigh(I)
    others = np.abs(J[..., :2]).max(axis=-1)
    sines = np.linalg.norm(np.cross(U[..., None, :, 2], axes), axis=-1)
    parallel = (sines <= np.sqrt(TOLERANCE) * np.linalg.norm(axes, axis=-1)).all(axis=-1)
    return (others <= TOLERANCE * J[..., 2]) & parallel


def bare_axes(I: np.ndarray) -> np.ndarray:
    """Axes (3, k) about which a tensor of floats has no inertia, compared with its largest."""
    sizes, axes = np.linalg.eigh(I)
    return axes[:, sizes <= BARE * sizes[-1]]


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
