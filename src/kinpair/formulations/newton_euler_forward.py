"""Forward dynamics by Newton–Euler: composite bodies for shallow trees, articulated ones for deep.

With composite bodies the work of a path grows as its square, with articulated ones it is the same for every
joint. Counted on arms, hands and humanoids the two meet at some ten rates between the ground and a tip. Loops over the
bodies are made of articulated ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinpair.algebra.arrays import Vector
from kinpair.formulations import articulated, composite
from kinpair.formulations.solution import Solution
from kinpair.model.model import Model

SHALLOW = 10


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ that the efforts produce."""
    way = articulated if model.walker or depth(model) > SHALLOW else composite
    return way.forward_dynamics(model, q, qd, tau, w_ext)


def depth(model: Model) -> int:
    """Most rates between the ground and a tip."""
    sizes = [0] * len(model.parent)
    for i in model.moving:
        sizes[i] = sizes[model.parent[i]] + model.body[i].pair.nv
    return max(sizes)
