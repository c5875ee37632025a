"""Distances of frames from their targets and of loops from closing: rows of e = 0 and their matrix, over floats or
symbols.

    position   e = (x* − x)/ℓ                      J = J_v/ℓ                       ℓ: a length of the mechanism  (IK1)
    rotation   e = s/√((1 + c)/2) = 2 sin(θ/2) a   J = J_ω                         s = a sin θ, c = cos θ of R* Rᵀ (IK2)
    axis       the same with s = n × n*, c = n·n*, both sides times B              B: two directions across n    (IK3)
    loops      e = −φ                              J = A                           both scaled as φ is judged    (IK4)

V = |e|²; of a rotation beyond a right angle it is had as 2 (1 − c): at half a turn s is zero, e has no direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, where
from kinpair.constraints.rows.constraint import Configuration, Constraint
from kinpair.constraints.rows.stacked import holonomic_rows, residual_at
from kinpair.formulations import kinematics
from kinpair.inverse_kinematics.targets import Form
from kinpair.model.model import Model
from kinpair.spatial.rotation import cross, turn_z_to

LEAST = 1e-16  # of (1 + cos θ)/2, which is zero at half a turn


class Residual(NamedTuple):
    """e (rows), J (rows, nv) with e → 0 along J δ = e, and V."""

    e: Vector
    J: Matrix
    V: Scalar


@dataclass(frozen=True, eq=False)
class Task:
    """Conditions to satisfy: forms of frames, constraints, entries of q that stay; and a length to judge positions
    by."""

    model: Model
    forms: tuple[Form, ...]
    constraints: tuple[Constraint, ...]
    scales: np.ndarray
    entries: tuple[int, ...]
    length: float

    @property
    def size(self) -> int:
        """Numbers of the targets: time, those of every form, and the entries that stay."""
        return 1 + sum(form.size for form in self.forms) + len(self.entries)

    def residual(self, q: Vector, u: Vector) -> Residual:
        """Every row at q; u has the numbers of the targets."""
        at = Configuration(self.model, q, u[0])
        parts = self.targets(at, u)
        if self.scales.size:
            parts.append(_of_loops(at, self.constraints, self.scales))
        e, J = (np.concatenate([part[k] for part in parts]) for k in range(2))
        return Residual(e, J, sum((part.V for part in parts), 0.0))

    def targets(self, at: Configuration, u: Vector) -> list[Residual]:
        """Rows of the frames, form by form, and of the entries."""
        parts: list[Residual] = []
        start = 1
        for form in self.forms:
            parts += _of_frame(at, form, u[start : start + form.size], self.length)
            start += form.size
        if self.entries:
            parts.append(_of_entries(at, self.entries, u[start : start + len(self.entries)]))
        return parts


def _of_frame(at: Configuration, form: Form, numbers: Vector, length: float) -> list[Residual]:
    place = at.model.place(form.frame)
    pose = at.pose(place)
    J = kinematics.jacobian(at.model, at.q, place)
    found: list[Residual] = []
    if form.along:
        rows = list(form.along)
        e = (numbers[: len(rows)] - pose.a[rows]) / length  # (IK1)
        found.append(Residual(e, J[[3 + k for k in rows]] / length, e @ e))
    rest = numbers[len(form.along) :]
    if form.rotation:
        E = rest.reshape(3, 3) @ pose.R.T
        s = 0.5 * array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
        found.append(_turn(s, 0.5 * (E[0, 0] + E[1, 1] + E[2, 2] - 1.0), J[:3]))  # (IK2)
    if form.axis:
        n, across = pose.R @ np.array(form.axis), pose.R @ turn_z_to(form.axis)[:, :2]
        e, J, V = _turn(cross(n, rest), n @ rest, J[:3])
        found.append(Residual(across.T @ e, across.T @ J, V))  # (IK3)
    return found


def _turn(s: Vector, c: Scalar, J: Matrix) -> Residual:
    e = np.divide(s, np.sqrt(maximum(0.5 * (1.0 + c), LEAST)))
    return Residual(e, J, where(less(c, 0.0), 2.0 * (1.0 - c), e @ e))


def _of_loops(at: Configuration, constraints: Sequence[Constraint], scales: np.ndarray) -> Residual:
    found: list[Any] = [x.matrix(at) for x in constraints]
    A = np.concatenate(found)[holonomic_rows(constraints)]
    e = -residual_at(constraints, at) / scales
    return Residual(e, A / scales[:, None], e @ e)  # (IK4)


def _of_entries(at: Configuration, entries: Sequence[int], kept: Vector) -> Residual:
    """Entries of q that stay: q_k as it is kept, its rate (dq/dt)_k."""
    columns = [kinematics.dq_dt(at.model, at.q, unit) for unit in np.eye(at.model.nv)]
    J = array([[column[k] for column in columns] for k in entries])
    e = kept - at.q[list(entries)]
    return Residual(e, J, e @ e)
