"""All rows of a mechanism at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.constraints.constraint import Configuration, Constraint, Motion, Rows
from kinpair.model.model import Model

Constraints = Sequence[Constraint]


def row_names(constraints: Constraints) -> tuple[str, ...]:
    """Name of every row, in the order of A."""
    return tuple(name for x in constraints for name in x.row_names)


def holonomic_rows(constraints: Constraints) -> list[int]:
    """Numbers of the rows that have a φ."""
    found: list[int] = []
    start = 0
    for x in constraints:
        found += range(start, start + x.holonomic)
        start += len(x.labels)
    return found


def residual(model: Model, constraints: Constraints, q: Vector, time: Scalar) -> Vector:
    """φ of every holonomic row."""
    return residual_at(constraints, Configuration(model, q, time))


def residual_at(constraints: Constraints, at: Configuration) -> Vector:
    """φ of every holonomic row, positions worked out before."""
    found = [x.positions(at) for x in constraints if x.holonomic]
    return np.concatenate(found) if found else np.zeros(0)


def matrix(model: Model, constraints: Constraints, q: Vector, time: Scalar) -> Matrix:
    """A of every row."""
    at = Configuration(model, q, time)
    found = [x.matrix(at) for x in constraints]
    return np.concatenate(found) if found else np.zeros((0, model.nv))


def rows(
    model: Model,
    constraints: Constraints,
    q: Vector,
    qd: Vector,
    time: Scalar,
    kept: Sequence[int] | None = None,
) -> Rows:
    """A, ψ and b of every row, or of those kept."""
    found = rows_at(constraints, Motion(model, q, time, qd))
    return found if kept is None else Rows(*(part[list(kept)] for part in found))


def rows_at(constraints: Constraints, at: Motion) -> Rows:
    """A, ψ and b of every row, the motion worked out before."""
    found = [x.rows(at) for x in constraints]
    if not found:
        return Rows(np.zeros((0, at.model.nv)), np.zeros(0), np.zeros(0))
    return Rows(*(np.concatenate(part) for part in zip(*found, strict=True)))
