"""Equations of motion of augmented bodies (Hooker & Margulies, Hooker) next to the other formulations."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations.catalogue import FORMULATIONS

EXACT = 1e-9
TURNING = ("revolute", "universal", "spherical")


def satellite(gravity=(0.0, 0.0, 0.0)) -> kp.Mechanism:
    """Two rigid bodies on a universal joint, after Fletcher, Rongved & Yu 1963; the numbers are ours."""
    b = kp.Builder("satellite", gravity=gravity)
    b.link("bus", mass=120.0, com=(0.05, 0.02, -0.1), inertia=(40.0, 55.0, 30.0))
    b.link("boom", mass=25.0, com=(0.0, 0.1, 1.4), inertia=(18.0, 17.0, 1.5))
    b.joint("orbit", "free", "ground", "bus")
    b.joint("cross", "universal", "bus", "boom", xyz=(0.1, 0.0, 0.6), axis="x", axis2="y")
    return kp.build(b).reference


def near(found, expected) -> None:
    assert np.abs(found - expected).max() <= EXACT * max(1.0, np.abs(expected).max())


TREES = [
    satellite(),
    satellite((0.0, 0.0, -9.81)),
    zoo.tree(7, 5, kinds=TURNING, floating=True),
    zoo.tree(8, 8, kinds=TURNING, floating=True),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", TREES, ids=lambda m: m.name)
def test_augmented_bodies_move_as_every_formulation_says(m, seed):
    s = zoo.motion(m, seed=seed)
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd, passive=False)
    augmented = kp.formulation("roberson-wittenburg/augmented")
    near(augmented.inverse_dynamics(m, s.q, s.qd, s.qdd), tau)
    near(augmented.forward_dynamics(m, s.q, s.qd, tau), s.qdd)
    for method in FORMULATIONS:
        if method != "uicker":  # takes one-parameter pairs only
            near(m.inverse_dynamics(s.q, s.qd, s.qdd, passive=False, method=method), tau)


def test_hooker_removes_the_constraint_torques():
    m = satellite()
    s = zoo.motion(m, seed=5)
    x = kp.formulation("roberson-wittenburg/augmented").arrays(m, s.q, s.qd, s.qdd)
    near(x.tau, m.inverse_dynamics(s.q, s.qd, s.qdd))
    assert x.b.shape == (2, 2, 3)
    rest = kp.formulation("roberson-wittenburg/augmented").arrays(m, s.q, s.qd, tau=np.zeros(m.nv))
    left = rest.Phi @ rest.omega_dot + rest.h
    near(
        left[:3] + left[3:], np.zeros(3)
    )  # no couple from outside: what the joint gives one body it takes from the other


def test_a_free_satellite_keeps_its_momentum():
    m = satellite()
    s = zoo.motion(m, seed=2)
    qdd = kp.formulation("roberson-wittenburg/augmented").forward_dynamics(m, s.q, s.qd, np.zeros(m.nv))
    h = 1e-5
    before, after = (m.momentum(s.q + t * m.dq_dt(s.q, s.qd + t / 2 * qdd), s.qd + t * qdd) for t in (-h, h))
    scale = np.abs(before).max()
    assert np.abs(after - before).max() / (2 * h) < 1e-5 * scale  # first-order step of the quaternion, h²


def test_joints_that_slide_are_rejected_by_name():
    m = kp.example("stanford-arm").reference
    with pytest.raises(kp.InputError) as caught:
        kp.formulation("roberson-wittenburg/augmented").inverse_dynamics(
            m, np.zeros(6), np.zeros(6), np.zeros(6)
        )
    assert str(caught.value) == (
        "stanford-arm: joint 'joint1' is revolute; the equations of augmented bodies need a free root and joints that "
        "turn, 'roberson-wittenburg' takes every pair"
    )
