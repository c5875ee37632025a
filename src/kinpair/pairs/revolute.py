"""Turning about one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.pairs.pair import PARALLEL_Z, POINT, Moments, Pair
from kinpair.spatial.rotation import about_z, turned_about_z

P = np.array([[0.0], [0.0], [1.0], [0.0], [0.0], [0.0]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Revolute(Pair):
    """Turns about z; q is the angle [rad]."""

    kind = "revolute"
    q_parts = ("angle",)
    v_parts = ("angle",)
    closure = (*POINT, *PARALLEL_Z)

    def rotation(self, q: Vector) -> Matrix:
        return about_z(q[0])

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return turned_about_z(q[0], S)

    def p(self, q: Vector) -> Matrix:
        return P

    def regrouped(self, x: Moments) -> tuple[Moments, Moments]:
        m, s, J = x
        on_axis, round_it = np.array([0.0, 0.0, s[2]]), np.diag([J[1, 1], J[1, 1], 0.0])
        return (0.0, s - on_axis, J - round_it), (m, on_axis, round_it)
