"""Rates and accelerations of a motion that keeps to moving targets and obeys every constraint, over floats or symbols.

    J q̇ = r,   W (q̇ − z) = Jᵀ y                       J, r: rows of the targets ẋ, and A q̇ = −a                (IK7)
    J q̈ = ṙ − J̇ q̇,   W (q̈ − ż) = Jᵀ ẏ + J̇ᵀ y − Ẇ (q̇ − z)                                            (IK8)

W and z as the criterion has them. Towards the middle of limits z = |ẋ| (q_middle − q): it stands where the targets do,
and the path of the joints does not depend on how fast it is followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import minimum
from kinpair.algebra.jet import rate
from kinpair.constraints.rows.constraint import Configuration, Constraint, Motion
from kinpair.constraints.rows.stacked import rows_at
from kinpair.formulations import kinematics
from kinpair.inverse_kinematics.iteration import CRITERIA, TOWARDS, weighed
from kinpair.inverse_kinematics.residual import Task
from kinpair.spatial.rotation import turn_z_to

LEAST = 1e-13  # damping, as a part of the rows: nothing but a guard where they are singular
AT_REST = 1e-24  # of |ẋ|²: the root has a derivative there


class Rows(NamedTuple):
    """J and r, how a step is weighed, and z."""

    J: Matrix
    r: Vector
    W: Matrix | None
    z: Vector


class Rates(NamedTuple):
    """q̇ (nv) and dq/dt (nq), and how they were had: y, the factors of J W⁻¹Jᵀ, and W⁻¹Jᵀ."""

    qd: Vector
    dq: Vector
    y: Vector
    S: Matrix
    factors: ldl.Factors
    X: Matrix

    @property
    def own(self) -> Scalar:
        """Part of its least independent row that is independent; 0 where the position is singular."""
        return reduce(minimum, [np.divide(D, self.S[k, k]) for k, D in enumerate(self.factors.D)])


class Motions(NamedTuple):
    """q̇ and q̈ (nv), dq/dt and d²q/dt² (nq), how sound they are, and how far the targets are, V."""

    qd: Vector
    qdd: Vector
    dq: Vector
    ddq: Vector
    own: Scalar
    V: Scalar


@dataclass(frozen=True, eq=False)
class Course:
    """A task whose targets move, with every constraint of the mechanism, of which some rows are not redundant."""

    task: Task
    constraints: tuple[Constraint, ...]
    kept: tuple[int, ...]
    criterion: str

    @property
    def size(self) -> int:
        """Numbers of the targets, then their rates: velocities along, and angular velocity, of every form; entries."""
        return self.task.size + sum(map(rate_size, self.task.forms)) + len(self.task.entries)

    def rows(self, q: Vector, u: Vector) -> Rows:
        """Rows of the rates, and those preferred."""
        model = self.task.model
        at = Motion(model, q, u[0], np.zeros(model.nv))
        targets = self.task.targets(at, u)
        A, a, _ = rows_at(self.constraints, at)
        kept = list(self.kept)
        xd = self._wanted(at, u[self.task.size :])
        prefer = CRITERIA[self.criterion](model, q, np.ones(model.nv))
        speed = np.sqrt(xd @ xd + AT_REST)
        z = [0.0] * model.nv if prefer.z is None else [x * speed / TOWARDS for x in prefer.z]
        J = np.concatenate([*(part.J for part in targets), A[kept]])
        return Rows(J, np.concatenate([xd, -a[kept]]), prefer.W, array(z))

    def rates(self, q: Vector, u: Vector) -> Rates:
        """Compute the rates.    (IK7)"""
        model = self.task.model
        J, r, W, z = self.rows(q, u)
        X = weighed(model, W, J.T)
        S = J @ X
        factors = ldl.factor(S + np.diag(LEAST * np.diag(S)))
        y = ldl.solve_factored(factors, r - J @ z)
        qd = X @ y + z
        return Rates(qd, kinematics.dq_dt(model, q, qd), y, S, factors, X)

    def motions(self, q: Vector, u: Vector, ud: Vector) -> Motions:
        """(IK8): u are the numbers of the targets and their rates, ud the derivatives of both."""
        model = self.task.model
        x = self.rates(q, u)
        J, _, W, z = self.rows(q, u)
        stretched = x.qd - z

        def moving(q: Vector, u: Vector) -> tuple[Any, ...]:
            J, r, W, z = self.rows(q, u)
            return J, r, z, 0.0 * z if W is None else W @ stretched

        Jd, rd, zd, Wd = rate(moving, (q, u), (x.dq, ud))
        bent = weighed(model, W, (Jd.T @ x.y - Wd)[:, None])[:, 0] + zd
        qdd = bent + x.X @ ldl.solve_factored(x.factors, rd - Jd @ x.qd - J @ bent)
        ddq = rate(lambda q, qd: kinematics.dq_dt(model, q, qd), (q, x.qd), (x.dq, qdd))
        return Motions(x.qd, qdd, x.dq, ddq, x.own, self.task.residual(q, u).V)

    def _wanted(self, at: Configuration, rates: Vector) -> Vector:
        """ẋ of the targets, in the order and scale of their rows."""
        parts: list[Vector] = []
        start = 0
        for form in self.task.forms:
            n = len(form.along)
            own = rates[start : start + rate_size(form)]
            start += rate_size(form)
            if n:
                parts.append(own[:n] / self.task.length)
            if form.rotation:
                parts.append(own[n:])
            if form.axis:
                across: Matrix = at.pose(at.model.place(form.frame)).R @ turn_z_to(form.axis)[:, :2]
                parts.append(across.T @ own[n:])
        return np.concatenate([*parts, rates[start:]])


def rate_size(form: Sequence) -> int:
    """Velocities along the entries of a position, and an angular velocity where the frame's turn matters."""
    _, along, rotation, axis = form
    return len(along) + 3 * bool(rotation or axis)
