"""Mechanisms that walk, shared by the tests of synergies and gaits."""

from __future__ import annotations

from functools import cache

import numpy as np

import kinpair as kp
from kinpair import motion


def trunk_over_hip(mass: float = 35.0, inertia: float = 2.0) -> kp.Mechanism:
    """A hip that moves to and fro at a height of 0.9 m, a trunk on it, and a mass that swings at half that height."""
    return kp.build(
        kp.Builder("walker")
        .link("hip")
        .link("trunk", mass=mass, com=[0, 0, 0.3], inertia=[0, inertia, 0])
        .link("swing", mass=10)
        .joint("hip", "prismatic", "ground", "hip", xyz=[0, 0, 0.9], axis="x")
        .joint("trunk", "revolute", "hip", "trunk", axis="y")
        .joint("swing", "prismatic", "ground", "swing", xyz=[0, 0, 0.45], axis="x")
    )


GIVEN = {
    "hip": motion.fourier(0.0, [0.0], [0.05], 1.0),
    "swing": motion.fourier(0.0, [-0.15], [0.0], 1.0),
}
BALANCE = (motion.moment("y"),)
SOLE = np.array([[-0.1, -0.05, 0.0], [0.1, -0.05, 0.0], [0.1, 0.05, 0.0], [-0.1, 0.05, 0.0]])


@cache
def compensated(method: str = "collocation") -> motion.Synergy:
    return motion.synergy(_walker(), GIVEN, ["trunk"], BALANCE, method=method)


@cache
def _walker() -> kp.Mechanism:
    return trunk_over_hip()
