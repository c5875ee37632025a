"""Interface of every constraint, and its arguments: a configuration or a motion.

φ(q, t) = 0                 rows that hold between positions (holonomic)                   (CO1)
ψ = A q̇ + a = 0             rows that hold between rates; of a holonomic row ψ = φ̇         (CO2)
A q̈ = b = −Ȧ q̇ − ȧ          what the accelerations then obey                               (CO3)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinpair.formulations import kinematics
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross

if TYPE_CHECKING:
    from kinpair.algebra.arrays import Matrix, Scalar, Vector
    from kinpair.model.model import Model, Place
    from kinpair.model.recursion import ByBody


@dataclass(frozen=True, eq=False)
class Configuration:
    """A model at some coordinates and time; positions are worked out when first asked for."""

    model: Model
    q: Vector
    time: Scalar

    @cached_property
    def poses(self) -> ByBody:
        """Pose of each body in the world."""
        return kinematics.poses(self.model, self.q)

    def pose(self, place: Place) -> Pose:
        """Pose of a place in the world."""
        return self.poses[place.body] @ place.pose

    def pose_in(self, S: Place, M: Place) -> Pose:
        """Pose of M in S."""
        return pose_in(self.pose(S), self.pose(M))


class Relative(NamedTuple):
    """Motion of one place in another, in axes of the latter: pose, twist at its origin, the twist's rate at q̈ = 0."""

    pose: Pose
    t: Vector
    td: Vector


class Moved(NamedTuple):
    """Pose of a frame in the world; angular and linear velocity, and their rates at q̈ = 0, in axes of the frame."""

    pose: Pose
    omega: Vector
    v: Vector
    alpha: Vector
    a: Vector


def relative(S: Moved, M: Moved) -> Relative:
    """Compute how M moves in S.

    u = v_M − v_S − ω_S × d,   t = [ω_M − ω_S; u],   ṫ = [ω̇_M − ω̇_S − ω_S × ω_M;
    v̇_M − v̇_S − ω̇_S × d − ω_S × (ω_S × d) − 2 ω_S × u]          d = x_M − x_S, axes of S     (CO4)
    """
    P = pose_in(S.pose, M.pose)
    omega, v, alpha, a = S[1:]
    omega_M, v_M, alpha_M, a_M = (S.pose.R.T @ (M.pose.R @ x) for x in M[1:])
    u = v_M - v - cross(omega, P.a)
    turned = alpha_M - alpha - cross(omega, omega_M)
    moved = a_M - a - cross(alpha, P.a) - cross(omega, cross(omega, P.a) + 2.0 * u)
    return Relative(P, np.concatenate([omega_M - omega, u]), np.concatenate([turned, moved]))  # (CO4)


def pose_in(seat: Pose, moved: Pose) -> Pose:
    """Pose of the moved frame in the seat."""
    return Pose(seat.R.T @ moved.R, seat.R.T @ (moved.a - seat.a))


@dataclass(frozen=True, eq=False)
class Motion(Configuration):
    """A configuration with rates."""

    qd: Vector

    @cached_property
    def poses(self) -> ByBody:
        """Pose of each body in the world."""
        return [state.pose for state in self.states]

    @cached_property
    def states(self) -> ByBody:
        """Pose and twist of each body."""
        return kinematics.states(self.model, self.q, self.qd)

    @cached_property
    def biases(self) -> ByBody:
        """Acceleration of each body while q̈ is zero."""
        return kinematics.biases(self.model, self.q, self.qd, self.states)

    def relative(self, S: Place, M: Place) -> Relative:
        """Compute how M moves in S, see `relative`."""
        return relative(self._own(S), self._own(M))

    def _own(self, place: Place) -> Moved:
        (_, omega, v), (alpha, a) = self.states[place.body], self.biases[place.body]
        r, R = place.pose.a, place.pose.R.T
        swung = a + cross(alpha, r) + cross(omega, cross(omega, r))
        return Moved(self.pose(place), R @ omega, R @ (v + cross(omega, r)), R @ alpha, R @ swung)


class Rows(NamedTuple):
    """Rows of one constraint or of all: A (m, nv), ψ (m), b (m)."""

    A: Matrix
    psi: Vector
    b: Vector


class Constraint(ABC):
    """Rows among positions, rates and accelerations."""

    name: str
    where: str

    @property
    @abstractmethod
    def kind(self) -> str:
        """Kind of the constraint in a word or two."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Labels of the rows, those with a φ first."""

    @property
    def holonomic(self) -> int:
        """Number of rows that have a φ."""
        return len(self.labels)

    @property
    def of_length(self) -> tuple[bool, ...]:
        """Flags of the rows with a φ that are lengths; the others are angles or what a user made them."""
        return (False,) * self.holonomic

    @property
    def row_names(self) -> tuple[str, ...]:
        """Name of the constraint and label of the row."""
        return tuple(f"{self.name}.{label}" if label else self.name for label in self.labels)

    @abstractmethod
    def positions(self, at: Configuration) -> Vector:
        """φ of the holonomic rows.    (CO1)"""

    @abstractmethod
    def rows(self, at: Motion) -> Rows:
        """A, ψ and b of all rows.    (CO2), (CO3)"""

    def psi(self, at: Motion) -> Vector:
        """ψ of all rows, also of one whose value is whatever a motion starts with."""
        return self.rows(at).psi

    def matrix(self, at: Configuration) -> Matrix:
        """Matrix A alone."""
        return self.rows(Motion(at.model, at.q, at.time, np.zeros(at.model.nv))).A
