"""Interface of every kinematic pair. Copy `prismatic.py` to add one; nobody asks a pair for its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.spatial.rotation import turn_z_to, turned

Three: TypeAlias = tuple[float, float, float]
X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NO_TRANSLATION = np.zeros(3)
Moments: TypeAlias = tuple[float, np.ndarray, np.ndarray]
NO_MOMENTS: Moments = (0.0, np.zeros(3), np.zeros((3, 3)))


Row: TypeAlias = tuple[str] | tuple[str, int] | tuple[str, int, int]
# Rows that hold where the pair is closed, of the frame M moved by the pair and its seat S:
POINT: tuple[Row, ...] = (("point", 0), ("point", 1), ("point", 2))  # S_k · (x_M − x_S) = 0
PARALLEL_Z: tuple[Row, ...] = (("parallel", 0, 2), ("parallel", 1, 2))  # M_j has no part along S_i
NOT_TURNED: tuple[Row, ...] = (("turn", 0), ("turn", 1), ("turn", 2))  # no rotation about S_k


class Closing(ABC):
    """Rows that a loop requires of the pair that closes it, about standard axes.

    The *seat* is the joint frame fixed on the parent. A direction written in a description is turned to the standard
    one by a constant rotation of the seat.
    """

    __slots__ = ()

    kind: ClassVar[str]
    axes: ClassVar[int] = 1  # how many directions the description gives
    closure: ClassVar[tuple[Row, ...]] = ()  # rows that hold between seat and moved frame

    @classmethod
    def seated(cls, axis: Three, axis2: Three | None, pitch: float) -> tuple[Matrix, Self]:
        """Return the constant rotation that turns the standard axis to `axis`, and the pair about the standard one."""
        return turn_z_to(axis), cls()


class Pair(Closing):
    """A joint between two bodies, about standard axes: it moves the seat to where the child's frame is.

    Its closure has 6 − nv rows.
    """

    __slots__ = ()

    q_parts: ClassVar[tuple[str, ...]]  # names of the coordinates
    v_parts: ClassVar[tuple[str, ...]]  # names of the rates
    steps: ClassVar[tuple[tuple[str, Three], ...]] = ()  # the same motion by pairs of one degree, outward
    axes_move: ClassVar[bool] = False  # does p depend on q?

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q_parts)

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return len(self.v_parts)

    @abstractmethod
    def rotation(self, q: Vector) -> Matrix:
        """R: axes of the child in the seat (3, 3)."""

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        """R S Rᵀ: a symmetric tensor of the child, in axes of the seat (3, 3)."""
        return turned(self.rotation(q), S)

    def regrouped(self, x: Moments) -> tuple[Moments, Moments]:
        """Mass, first moment and inertia about the origin: what must stay with the child, and what may as well
        belong to the parent, since the pair moves it without effect on the motion."""
        return x, NO_MOMENTS

    def translation(self, q: Vector) -> Vector:
        """Origin of the child, in axes of the seat (3,)."""
        return NO_TRANSLATION

    @abstractmethod
    def p(self, q: Vector) -> Matrix:
        """Motion of the pair: twist of the child in the seat = p q̇, at its origin, in its axes (6, nv)."""

    def pd(self, q: Vector, qd: Vector) -> Matrix:
        """p̊: rate of change of p as seen from the child (6, nv); zero where the axes are fixed in it."""
        return np.zeros((6, self.nv))

    def convection(self, qd: Vector) -> Matrix:
        """K (nv, nv): q̈ + K q̇ is the acceleration along the rates where their axes turn; zero where they do not."""
        return np.zeros((self.nv, self.nv))

    def bracket(self, qd: Vector) -> Matrix:
        """T (nv, nv): a displacement δq, measured along the rates, changes by δq̇ − T δq; zero where rates are dq/dt."""
        return np.zeros((self.nv, self.nv))

    def neutral(self) -> np.ndarray:
        """The coordinates at which the child sits in the seat."""
        return np.zeros(self.nq)

    def dq_dt(self, q: Vector, qd: Vector) -> Vector:
        """Rate of change of the coordinates at the rates qd."""
        return qd

    def moved(self, q: Vector, step: Vector) -> Vector:
        """Coordinates after a small displacement `step` in the directions of the rates (nv,)."""
        return q + step

    def difference(self, start: Vector, end: Vector) -> Vector:
        """The displacement from `start` to `end` along the rates (nv,); of a rotation by θ its size is 2 sin(θ/2)."""
        return end - start

    def from_split(self, s: Vector, sd: Vector, sdd: Vector) -> tuple[Vector, Vector, Vector]:
        """q, q̇, q̈ of this pair from those of its `steps`."""
        return s, sd, sdd

    def to_split(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Vector, Vector]:
        """Inverse of `from_split`, away from gimbal lock."""
        return q, qd, qdd

    def split_rates(self, s: Vector) -> Matrix:
        """∂q̇/∂ṡ (nv, nv): efforts of the steps are its transpose times the efforts of this pair."""
        return np.eye(self.nv)
