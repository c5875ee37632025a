"""Loop closure by any pair: the rows that its two frames obey, whatever its coordinate.

S_k and M_k are the axes of the seat and of the moved frame, d = x_M − x_S. Each kind of row:

    point k       φ = S_k · d                  W_S = [S_k × d; −S_k]     W_M = [0; S_k]          (CO7)
    square i j    φ = S_i · M_j                W_S = [S_i × M_j; 0]      W_M = −W_S              (CO8)
    parallel i j  φ = 2 s / (1 + c)            s = S_i·M_j,   c = S_j·M_j                        (CO8a)
    turn k        φ = 2 s / (1 + c)            s = ½(S_j·M_i − S_i·M_j),   c = ½(Σ S_l·M_l − 1)  (CO9)
    screw         φ = 2p s / (1 + c)           s, c: sine and cosine of ζ − θ,  ζ = S_z·d / p    (CO10)

with i, j, k in cyclic order, θ the angle from S_x to M_x about S_z, p the pitch. Twice the tangent of half an angle
grows from zero to infinity over half a turn, so that no axis is taken for its opposite. The wrenches follow by

    dφ = 2 (ds − ½ φ dc) / (1 + c)                                                               (CO10a)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.pairs import Closing
from kinpair.pairs.pair import Row
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross

NOTHING = np.zeros(3)
LETTERS = "xyz"


class Line(NamedTuple):
    """A row: residual and wrenches."""

    phi: Scalar
    S: Vector
    M: Vector


def _point(S: Pose, M: Pose, pair: Closing, k: int) -> Line:
    d, e = M.a - S.a, S.R[:, k]
    return Line(e @ d, np.concatenate([cross(e, d), -e]), np.concatenate([NOTHING, e]))  # (CO7)


def _square(S: Pose, M: Pose, pair: Closing, i: int, j: int) -> Line:
    e, m = S.R[:, i], M.R[:, j]
    w = np.concatenate([cross(e, m), NOTHING])
    return Line(e @ m, w, -w)  # (CO8)


def _sum(*terms: tuple[Scalar, Line]) -> Line:
    """A linear combination of rows."""
    return Line(
        sum((x * line.phi for x, line in terms), 0.0),
        sum((x * line.S for x, line in terms), np.zeros(6)),
        sum((x * line.M for x, line in terms), np.zeros(6)),
    )


def _half(sine: Line, cosine: Line) -> Line:
    """Twice the tangent of half the angle whose sine and cosine are given.    (CO10a)"""
    scale = np.divide(2.0, 1.0 + cosine.phi)
    phi = scale * sine.phi
    return Line(
        phi,
        scale * (sine.S - 0.5 * phi * cosine.S),
        scale * (sine.M - 0.5 * phi * cosine.M),
    )


def _parallel(S: Pose, M: Pose, pair: Closing, i: int, j: int) -> Line:
    return _half(_square(S, M, pair, i, j), _square(S, M, pair, j, j))  # (CO8a)


def _turn(S: Pose, M: Pose, pair: Closing, k: int) -> Line:
    i, j = (k + 1) % 3, (k + 2) % 3
    sine = _sum((0.5, _square(S, M, pair, j, i)), (-0.5, _square(S, M, pair, i, j)))
    cosine = _sum(*((0.5, _square(S, M, pair, n, n)) for n in range(3)))
    return _half(sine, Line(cosine.phi - 0.5, cosine.S, cosine.M))  # (CO9)


def _screw(S: Pose, M: Pose, pair: Closing) -> Line:
    p = pair.pitch  # type: ignore[attr-defined]
    slide, along, across = _point(S, M, pair, 2), _square(S, M, pair, 0, 0), _square(S, M, pair, 1, 0)
    zeta = np.divide(slide.phi, p)
    c, s = np.cos(zeta), np.sin(zeta)
    sine, cosine = along.phi * s - across.phi * c, along.phi * c + across.phi * s
    of_sine = _sum((np.divide(cosine, p), slide), (s, along), (-c, across))
    of_cosine = _sum((np.divide(-sine, p), slide), (c, along), (s, across))
    row = _half(Line(sine, of_sine.S, of_sine.M), Line(cosine, of_cosine.S, of_cosine.M))
    return Line(p * row.phi, p * row.S, p * row.M)  # (CO10)


LINES: dict[str, Callable[..., Line]] = {
    "point": _point,
    "square": _square,
    "parallel": _parallel,
    "turn": _turn,
    "screw": _screw,
}


def label(row: Row) -> str:
    """`x` for a point, `turn x` for a rotation, `axis x z` for what an axis has along another, `screw`."""
    kind, letters = row[0], [LETTERS[k] for k in row[1:]]
    words = {"point": "", "square": "axis", "parallel": "axis", "turn": "turn", "screw": "screw"}
    return " ".join(filter(None, (words[kind], *letters)))


@dataclass(frozen=True, eq=False)
class LoopClosure(Joined):
    """M moves in S as the pair allows."""

    name: str
    pair: Closing
    turn: Matrix  # axes of the seat in the joint frame as described
    S: Mark
    M: Mark
    where: str = ""

    @property
    def kind(self) -> str:
        return f"{self.pair.kind} loop"

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label(row) for row in self.pair.closure)

    @property
    def of_length(self) -> tuple[bool, ...]:
        return tuple(row[0] in ("point", "screw") for row in self.pair.closure)

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
