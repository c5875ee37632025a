"""Result of a solve for accelerations."""

from __future__ import annotations

from typing import NamedTuple

from kinpair.algebra.arrays import Vector


class Solution(NamedTuple):
    """q̈; and for each rate its pivot and what the pivot was before the other rates of its joint were eliminated.

    A pivot that is lost in rounding shows a joint that moves nothing with inertia.
    """

    qdd: Vector
    pivots: Vector
    scales: Vector
