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


# Walkers by events and impacts.


def both_feet_down(time, q, qd):
    """The angle between the legs is twice that of the leg that stands."""
    return q[1] - 2.0 * q[0]


def garcia_heel_strike(time, q, qd):
    """Garcia et al. 1998, equation (4): the limit of feet without mass."""
    c = np.cos(2.0 * q[0])
    return kp.Change(q=np.array([-q[0], -2.0 * q[0]]), qd=np.array([c * qd[0], c * (1.0 - c) * qd[0]]))


LEGS_CHANGE = [[1, -1], [0, -1]]


def massless_walker() -> kp.Mechanism:
    """Legs with mass, and a link without mass that nothing moves."""
    return kp.build(
        kp.Builder("antenna")
        .link("stance-leg", mass=1.0, com=[0, 0, 0.6], inertia=[0.1, 0.1, 0])
        .link("swing-leg", mass=0.3, com=[0, 0, -0.5], inertia=[0.02, 0.02, 0])
        .link("antenna")
        .joint("stance", "revolute", "ground", "stance-leg", axis="-y")
        .joint("hip", "revolute", "stance-leg", "swing-leg", xyz=[0, 0, 1], axis="y")
        .joint("antenna", "revolute", "stance-leg", "antenna", xyz=[0, 0, 1], axis="y")
        .frame("foot", "swing-leg", xyz=[0, 0, -1])
    )


@cache
def simplest() -> tuple[kp.Mechanism, kp.Event]:
    return kp.example("simplest-walker"), kp.Event("heel strike", both_feet_down, 1, garcia_heel_strike)


@cache
def simplest_gait() -> kp.walking.Cycle:
    m, event = simplest()
    return kp.walking.cycle(m, [0.2, 0.4], [-0.2, -0.015], event, slope=0.009, duration=3.9)


@cache
def compass() -> tuple[kp.Mechanism, kp.Event]:
    m = kp.example("compass-walker")
    return m, kp.walking.heel_strike(m, "foot", LEGS_CHANGE, function=both_feet_down, direction=1)


@cache
def compass_gait() -> kp.walking.Cycle:
    m, event = compass()
    return kp.walking.cycle(m, [0.27, 0.54], [-1.09, -0.7], event, slope=np.deg2rad(3.0), duration=0.73)


@cache
def biped_gait(**options: float) -> motion.Gait:
    return motion.gait(_biped(), **options)


@cache
def _biped() -> kp.Mechanism:
    return kp.example("biped")
