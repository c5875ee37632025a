"""A point on a surface or on a curve, where two surfaces cut each other.

φ_k = f_k(r),   r = S^T d                          f_k: a function of x, y, z in axes of the seat
ψ_k = n_k · (ḋ − ω_S × d),   n_k = S ∇f_k(r)                                                 (CO12)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.jet import gradient
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.constraints.rows.loop import NOTHING, stacked
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross


@dataclass(frozen=True, eq=False)
class OnZeros(Joined):
    """A point stays on the zeros of functions of x, y, z."""

    name: str
    S: Mark
    M: Mark
    functions: tuple[Callable[..., Scalar], ...]
    where: str = ""

    @property
    def kind(self) -> str:
        return "point on surface" if len(self.functions) == 1 else "point on curve"

    @property
    def labels(self) -> tuple[str, ...]:
        count = len(self.functions)
        return ("",) if count == 1 else tuple(str(k + 1) for k in range(count))

    @property
    def of_length(self) -> tuple[bool, ...]:
        return (True,) * self.holonomic

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        r = S.R.T @ (M.a - S.a)
        return array([f(r[0], r[1], r[2]) for f in self.functions])

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        d = M.a - S.a
        r = S.R.T @ d
        normals = [S.R @ gradient(lambda x, f=f: f(x[0], x[1], x[2]), r) for f in self.functions]
        on_S = [np.concatenate([cross(n, d), -n]) for n in normals]  # (CO12)
        return Wrenches(stacked(on_S), stacked([np.concatenate([NOTHING, n]) for n in normals]))
