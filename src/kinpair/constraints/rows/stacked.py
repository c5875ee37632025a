"""All rows of a mechanism at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.constraints.rows.constraint import Configuration, Constraint, Motion, Rows
from kinpair.constraints.rows.joined import Joined
from kinpair.model.model import Model

Constraints = Sequence[Constraint]


def row_names(constraints: Constraints) -> tuple[str, ...]:
    """Name of every row, in the order of A."""
    return tuple(name for x in constraints for name in x.row_names)


def holonomic_rows(constraints: Constraints) -> list[int]:
    """Numbers of the rows that have a φ."""
    numbers: list[int] = []
    start = 0
    for x in constraints:
        numbers += range(start, start + x.holonomic)
        start += len(x.labels)
    return numbers


def reach(model: Model, constraints: Constraints) -> float:
    """The largest offset between joints or marks, a length to judge residuals by; one where there is none."""
    marks = [mark.pose.a for x in constraints if isinstance(x, Joined) for mark in (x.S, x.M)]
    seats = [body.a_seat for body in model.body]
    offsets = [float(abs(x)) for a in (*seats, *marks) for x in a if isinstance(x, (float, int))]
    return max(offsets, default=0.0) or 1.0


def scales(model: Model, constraints: Constraints) -> np.ndarray:
    """Scale of each φ: the reach of the mechanism for lengths, one for the others."""
    size = reach(model, constraints)
    return np.array([size if length else 1.0 for x in constraints for length in x.of_length])


def residual(model: Model, constraints: Constraints, q: Vector, time: Scalar) -> Vector:
    """φ of every holonomic row."""
    return residual_at(constraints, Configuration(model, q, time))


def residual_at(constraints: Constraints, at: Configuration) -> Vector:
    """φ of every holonomic row, positions worked out before."""
    parts = [x.positions(at) for x in constraints if x.holonomic]
    return np.concatenate(parts) if parts else np.zeros(0)


def matrix(model: Model, constraints: Constraints, q: Vector, time: Scalar) -> Matrix:
    """A of every row."""
    at = Configuration(model, q, time)
    parts = [x.matrix(at) for x in constraints]
    return np.concatenate(parts) if parts else np.zeros((0, model.nv))


def rows(
    model: Model,
    constraints: Constraints,
    q: Vector,
    qd: Vector,
    time: Scalar,
    kept: Sequence[int] | None = None,
) -> Rows:
    """A, ψ and b of every row, or of those kept."""
    every = rows_at(constraints, Motion(model, q, time, qd))
    return every if kept is None else Rows(*(part[list(kept)] for part in every))


def psi(model: Model, constraints: Constraints, q: Vector, qd: Vector, time: Scalar) -> Vector:
    """ψ of every row, see `Constraint.psi`."""
    at = Motion(model, q, time, qd)
    found = [x.psi(at) for x in constraints]
    return np.concatenate(found) if found else np.zeros(0)


def rows_at(constraints: Constraints, at: Motion) -> Rows:
    """A, ψ and b of every row, the motion worked out before."""
    parts = [x.rows(at) for x in constraints]
    if not parts:
        return Rows(np.zeros((0, at.model.nv)), np.zeros(0), np.zeros(0))
    return Rows(*(np.concatenate(part) for part in zip(*parts, strict=True)))
