"""Screwing: turning about an axis and advancing along it in proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.pairs.pair import PARALLEL_Z, Pair, Three
from kinpair.spatial.rotation import about_z, turn_z_to, turned_about_z


@final
@dataclass(frozen=True, slots=True, eq=False)
class Helical(Pair):
    """Turns about z by q [rad] and advances by pitch · q; `pitch` in metres per radian."""

    kind = "helical"
    q_parts = ("angle",)
    v_parts = ("angle",)
    closure = (("point", 0), ("point", 1), *PARALLEL_Z, ("screw",))
    pitch: Scalar

    @classmethod
    def seated(cls, axis: Three, axis2: Three | None, pitch: float) -> tuple[Matrix, Pair]:
        return turn_z_to(axis), cls(pitch)

    def rotation(self, q: Vector) -> Matrix:
        return about_z(q[0])

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return turned_about_z(q[0], S)

    def translation(self, q: Vector) -> Vector:
        return array([0.0, 0.0, self.pitch * q[0]])

    def p(self, q: Vector) -> Matrix:
        return array([[0.0], [0.0], [1.0], [0.0], [0.0], [self.pitch]])
