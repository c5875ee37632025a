"""Constraints between two marked frames: a seat S on one body and a frame M on another.

    ψ = W_S t_S + W_M t_M + ∂φ/∂t                     t: twists [ω; v] at the origins, world axes     (CO4)
    A = W_S J_S + W_M J_M                             J: Jacobians of the two frames                  (CO5)
    b = −(W_S ṫ_S + W_M ṫ_M) − d/dt(W_S, W_M, ∂φ/∂t at fixed t_S, t_M)     ṫ at q̈ = 0                 (CO6)

The rows of W_S and W_M are the wrenches that a unit multiplier puts on the two bodies. They do no work in a common
motion of both, so pairs that move both frames have no columns in A.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, assemble
from kinpair.algebra.jet import rate
from kinpair.constraints.constraint import Configuration, Constraint, Motion, Rows
from kinpair.formulations import kinematics
from kinpair.model.model import Model, Place
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import skew


class Wrenches(NamedTuple):
    """Rows (m, 6) on the seat and on the moved frame, [moment; force] at their origins, world axes."""

    S: Matrix
    M: Matrix


@dataclass(frozen=True, eq=False)
class Mark:
    """A frame on a link or frame of the model, by name, so that it follows the model's symbols."""

    name: str
    pose: Pose

    def on(self, model: Model) -> Place:
        """The place on the body that carries it."""
        place = model.place(self.name)
        return Place(place.body, place.pose @ self.pose)


class Joined(Constraint):
    """A constraint between two marks."""

    S: Mark
    M: Mark
    moving: ClassVar[bool] = False  # does φ depend on time by itself?

    @abstractmethod
    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        """Residuals of the holonomic rows."""

    @abstractmethod
    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        """What a unit multiplier of each row puts on both bodies."""

    def places(self, model: Model) -> tuple[Place, Place]:
        """Both marks on their bodies."""
        return self.S.on(model), self.M.on(model)

    def positions(self, at: Configuration) -> Vector:
        S, M = self.places(at.model)
        return self.phi(at.pose(S), at.pose(M), at.time)

    def matrix(self, at: Configuration) -> Matrix:
        S, M = self.places(at.model)
        W = self.wrenches(at.pose(S), at.pose(M), at.time)
        own = _own_paths(at.model, S, M)
        blocks: list[tuple[slice, slice, Matrix]] = []
        for place, rows, path in ((S, W.S, own[0]), (M, W.M, own[1])):
            for k, J_k in kinematics.along_path(at.model, at.q, at.poses, place, path):
                blocks.append((slice(None), at.model.v_span[k], rows @ J_k))  # (CO5)
        return assemble((len(self.labels), at.model.nv), blocks)

    def rows(self, at: Motion) -> Rows:
        S, M = (at.seen(place) for place in self.places(at.model))

        def psi(R_S: Matrix, x_S: Vector, R_M: Matrix, x_M: Vector, time: Any) -> Vector:
            pose_S, pose_M = Pose(R_S, x_S), Pose(R_M, x_M)
            W = self.wrenches(pose_S, pose_M, time)
            return W.S @ S.t + W.M @ M.t + self._drift(pose_S, pose_M, time)  # (CO4)

        here = (S.pose.R, S.pose.a, M.pose.R, M.pose.a, at.time)
        turning_S, turning_M = skew(S.t[:3]) @ S.pose.R, skew(M.t[:3]) @ M.pose.R
        change = rate(psi, here, (turning_S, S.t[3:], turning_M, M.t[3:], 1.0))
        W = self.wrenches(S.pose, M.pose, at.time)
        b = -(W.S @ S.td + W.M @ M.td) - change  # (CO6)
        return Rows(self.matrix(at), psi(*here), b)

    def _drift(self, S: Pose, M: Pose, time: Any) -> Vector:
        if not self.moving:
            return np.zeros(len(self.labels))
        return rate(lambda t: self.phi(S, M, t), (time,), (1.0,))


def _own_paths(model: Model, S: Place, M: Place) -> tuple[list[int], list[int]]:
    """The pairs that move one of the two and not the other."""
    to_S, to_M = model.path_to_ground(S.body), model.path_to_ground(M.body)
    return [k for k in to_S if k not in to_M], [k for k in to_M if k not in to_S]
