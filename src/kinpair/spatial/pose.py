"""Place of one frame in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from kinpair.algebra.arrays import Matrix, Vector


class Pose(NamedTuple):
    """Axes R and origin a of a frame, in components of the frame it sits in: x ↦ R x + a."""

    R: Matrix
    a: Vector

    def __matmul__(self, inner: Pose) -> Pose:
        """Pose of a frame that sits at `inner` in this one."""
        return Pose(self.R @ inner.R, self.R @ inner.a + self.a)

    def inverse(self) -> Pose:
        """The outer frame as seen from this one."""
        return Pose(self.R.T, -(self.R.T @ self.a))


HOME = Pose(np.eye(3), np.zeros(3))
