"""Constraints between two marked frames: a seat S on one body and a frame M on another.

They depend only on how M moves in S, so all is written in axes of S, as if S stood still:

    ψ = W t + ∂φ/∂t                                   t: twist [ω; v] of M in S, by (CO4)
    A = W J,   J = J_M − J_S                          Jacobians at the origin of M                    (CO5)
    b = −W ṫ − d/dt(W, ∂φ/∂t at fixed t)              ṫ at q̈ = 0                                      (CO6)

The rows of W are the wrenches that a unit multiplier puts on M; S gets the opposite. Pairs that move both frames have
no columns in A.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, assemble
from kinpair.algebra.jet import rate
from kinpair.constraints.rows.constraint import Configuration, Constraint, Motion, Relative, Rows
from kinpair.formulations import kinematics
from kinpair.model.model import Model, Place
from kinpair.spatial.pose import HOME, Pose
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

    @abstractmethod
    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        """Residuals of the holonomic rows."""

    @abstractmethod
    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        """Wrenches that a unit multiplier of each row puts on both bodies."""

    @property
    def moving(self) -> bool:
        """True if φ depends on time explicitly."""
        return False

    def places(self, model: Model) -> tuple[Place, Place]:
        """Both marks on their bodies."""
        return self.S.on(model), self.M.on(model)

    def positions(self, at: Configuration) -> Vector:
        S, M = self.places(at.model)
        return self.phi(HOME, at.pose_in(S, M), at.time)

    def matrix(self, at: Configuration) -> Matrix:
        S, M = self.places(at.model)
        W = self.wrenches(HOME, at.pose_in(S, M), at.time).M
        to_S = at.pose(S).R.T
        rows = np.concatenate([W[:, :3] @ to_S, W[:, 3:] @ to_S], axis=1)
        blocks: list[tuple[slice, slice, Matrix]] = []
        for sign, path in zip((-1.0, 1.0), _own_paths(at.model, S, M), strict=True):
            for k, J_k in kinematics.along_path(at.model, at.q, at.poses, M, path):
                blocks.append((slice(None), at.model.v_span[k], sign * (rows @ J_k)))  # (CO5)
        return assemble((len(self.labels), at.model.nv), blocks)

    def rows(self, at: Motion) -> Rows:
        return Rows(self.matrix(at), *self.moved(at.relative(*self.places(at.model)), at.time))

    def moved(self, x: Relative, time: Scalar) -> tuple[Vector, Vector]:
        """ψ and b of the motion of M in S."""
        P, t, td = x

        def psi(R: Matrix, a: Vector, time: Any) -> Vector:
            pose = Pose(R, a)
            return self.wrenches(HOME, pose, time).M @ t + self._drift(HOME, pose, time)

        change = rate(psi, (P.R, P.a, time), (skew(t[:3]) @ P.R, t[3:], 1.0))
        return psi(P.R, P.a, time), -(self.wrenches(HOME, P, time).M @ td) - change  # (CO6)

    def _drift(self, S: Pose, M: Pose, time: Any) -> Vector:
        if not self.moving:
            return np.zeros(len(self.labels))
        return rate(lambda t: self.phi(S, M, t), (time,), (1.0,))


def _own_paths(model: Model, S: Place, M: Place) -> tuple[list[int], list[int]]:
    """The pairs that move one of the two and not the other."""
    to_S, to_M = model.path_to_ground(S.body), model.path_to_ground(M.body)
    return [k for k in to_S if k not in to_M], [k for k in to_M if k not in to_S]
