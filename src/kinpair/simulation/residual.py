"""How well constraints hold, and how near they came to dependence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.simulation.blocks import largest

NEAR = 1e-4  # of A M⁻¹ Aᵀ: a pivot below this part of what it was at the start is reported
WORST = 1e-4  # [m] or [rad]: loops that are wider open than at the start by this have drifted


class Residual(NamedTuple):
    """The largest |φ| [m], [rad] and the largest |ψ| [m/s], [rad/s] of all rows at every sample (..., samples)."""

    position: np.ndarray
    rate: np.ndarray

    @property
    def worst(self) -> tuple[float, float]:
        """The largest of all samples."""
        return largest(self.position), largest(self.rate)


class Singular(NamedTuple):
    """A singular passage: the smallest pivot that a step or a sample met, as a part of the first, and when [s]."""

    pivot: float
    time: float


class Suspended(NamedTuple):
    """A singular position that was crossed in one step, and the length of that [s]."""

    at: Singular
    length: float
