"""Loop closure by any pair: the rows that its two frames obey, whatever its coordinate.

S_k and M_k are the axes of the seat and of the moved frame, d = x_M − x_S. Each kind of row:

    point k      φ = S_k · d                   W_S = [S_k × d; −S_k]     W_M = [0; S_k]          (CO7)
    square i j   φ = S_i · M_j                 W_S = [S_i × M_j; 0]      W_M = −W_S              (CO8)
    turn k       φ = ½ (S_j·M_i − S_i·M_j)     by (CO8); i, j, k in cyclic order                 (CO9)
    screw        φ = p (S_x·M_x sin ζ − S_y·M_x cos ζ),  ζ = S_z·d / p,  p the pitch             (CO10)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.constraints.joined import Joined, Mark, Wrenches
from kinpair.pairs import Pair
from kinpair.pairs.pair import Row
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross

NOTHING = np.zeros(3)
LETTERS = "xyz"


class Line(NamedTuple):
    """One row: residual and wrenches."""

    phi: Scalar
    S: Vector
    M: Vector


def _point(S: Pose, M: Pose, pair: Pair, k: int) -> Line:
    d, e = M.a - S.a, S.R[:, k]
    return Line(e @ d, np.concatenate([cross(e, d), -e]), np.concatenate([NOTHING, e]))  # (CO7)


def _square(S: Pose, M: Pose, pair: Pair, i: int, j: int) -> Line:
    e, m = S.R[:, i], M.R[:, j]
    w = np.concatenate([cross(e, m), NOTHING])
    return Line(e @ m, w, -w)  # (CO8)


def _turn(S: Pose, M: Pose, pair: Pair, k: int) -> Line:
    i, j = (k + 1) % 3, (k + 2) % 3
    a, b = _square(S, M, pair, j, i), _square(S, M, pair, i, j)
    return Line(0.5 * (a.phi - b.phi), 0.5 * (a.S - b.S), 0.5 * (a.M - b.M))  # (CO9)


def _screw(S: Pose, M: Pose, pair: Pair) -> Line:
    p = pair.pitch  # type: ignore[attr-defined]
    slide, along, across = _point(S, M, pair, 2), _square(S, M, pair, 0, 0), _square(S, M, pair, 1, 0)
    c, s = np.cos(np.divide(slide.phi, p)), np.sin(np.divide(slide.phi, p))
    advance = along.phi * c + across.phi * s

    def row(of_slide: Vector, of_along: Vector, of_across: Vector) -> Vector:
        return advance * of_slide + p * (s * of_along - c * of_across)

    phi = p * (along.phi * s - across.phi * c)  # (CO10)
    return Line(phi, row(slide.S, along.S, across.S), row(slide.M, along.M, across.M))


LINES: dict[str, Callable[..., Line]] = {"point": _point, "square": _square, "turn": _turn, "screw": _screw}


def label(row: Row) -> str:
    """`x` for a point, `turn x` for a rotation, `axis x z` for two axes kept square, `screw`."""
    kind, letters = row[0], [LETTERS[k] for k in row[1:]]
    words = {"point": "", "square": "axis", "turn": "turn", "screw": "screw"}
    return " ".join(filter(None, (words[kind], *letters)))


@dataclass(frozen=True, eq=False)
class LoopClosure(Joined):
    """M moves in S as the pair allows."""

    name: str
    pair: Pair
    S: Mark
    M: Mark
    where: str = ""

    @property
    def kind(self) -> str:
        return f"{self.pair.kind} loop"

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label(row) for row in self.pair.closure)

    def _lines(self, S: Pose, M: Pose) -> list[Line]:
        return [LINES[row[0]](S, M, self.pair, *row[1:]) for row in self.pair.closure]

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        return array([line.phi for line in self._lines(S, M)])

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        lines = self._lines(S, M)
        return Wrenches(stacked([line.S for line in lines]), stacked([line.M for line in lines]))


def stacked(rows: list[Vector]) -> Matrix:
    """Vectors as the rows of a matrix."""
    return array([list(row) for row in rows])
