"""Mass, mass centre and inertia tensor of rigid bodies: joining, moving and judging them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.spatial.rotation import skew


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


POINT = 1.5e-8  # [m]: √(rounding) of a metre, since moments moved to the mass centre d have errors of rounding · m d²
TOLERANCE = 1e-6  # of the largest moment
BARE = 1e-12  # inertia about an axis, as a part of the largest: below, there is none
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
