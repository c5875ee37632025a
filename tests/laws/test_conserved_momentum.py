"""Momentum is called conserved only along motions that the constraints allow wherever the mechanism stands."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

SAMPLED = [[0.0, 5.0], [5.0], [0.0, 2.5, 5.0], 0.01]
KEPT = 1e-8  # of the bound on momentum: rtol 1e-9 over a few turns


def sled() -> kp.Mechanism:
    """A planar body whose mass centre lies off its blade."""
    builder = kp.Builder("sled").link("body", mass=1.0, com=[0.3, 0.1, 0.0], inertia=[0.1, 0.1, 0.2])
    return kp.build(builder.joint("p", "planar", "ground", "body").knife_edge("blade", "body", axis="y"))


@pytest.mark.parametrize("output", SAMPLED, ids=str)
def test_a_blade_that_turns_takes_momentum_up_however_few_the_samples(output):
    run = kp.simulate(sled(), [0.0, 0.0, 0.0], [0.0, 0.0, 3.0], duration=5.0, output=output)
    assert run.status.ok, run.status
    assert run.momentum is None


def test_no_motion_of_a_batch_of_sleds_fails():
    rates = [[0.0, 0.0, 3.0], [1.0, 0.0, 2.0], [0.5, 0.0, 0.0]]
    run = kp.simulate(
        sled(), np.zeros((3, 3)), rates, duration=5.0, integrator="rk4", dt=1e-3, output=[0.0, 5.0]
    )
    assert run.status.ok, run.status
    assert not run.failures


def test_a_row_that_time_alone_turns_takes_momentum_up():
    """The row forbids x at t = 0 and at t = π, where the samples are; y in between."""
    built = (
        kp.Builder("puck")
        .link("body", mass=1.0, inertia=[0.1, 0.1, 0.2])
        .joint("p", "planar", "ground", "body")
    )
    puck = kp.build(built.custom("turning", psi=lambda q, qd, t: np.cos(t) * qd[0] + np.sin(t) * qd[1]))
    run = kp.simulate(puck, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], duration=np.pi, output=[0.0, np.pi])
    assert run.status.ok, run.status
    assert run.momentum is None


@pytest.mark.parametrize("output", SAMPLED, ids=str)
def test_a_rail_that_does_not_turn_leaves_momentum_along_it(output):
    builder = kp.Builder("car").link("body", mass=1.0, com=[0.3, 0.1, 0.0], inertia=[0.1, 0.1, 0.2])
    car = kp.build(builder.joint("p", "planar", "ground", "body").custom("rail", phi=lambda q, t: q[1]))
    run = kp.simulate(car, [0.0, 0.0, 0.0], [1.0, 0.0, 3.0], duration=5.0, output=output)
    assert run.status.ok, run.status
    assert np.abs(run.momentum.directions) == pytest.approx(np.eye(6)[3:4], abs=1e-9)
    assert run.momentum.relative.max() < KEPT


def test_loops_of_a_floating_mechanism_leave_all_six():
    builder = kp.Builder("raft", gravity=[0, 0, 0])
    bar = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]}
    builder = builder.link("a", **bar).link("b", **bar).link("c", **bar).link("d", **bar)
    builder = builder.joint("base", "free", "ground", "a")
    for parent, child, angle in (("a", "b", 1.2), ("b", "c", np.pi - 1.2), ("c", "d", 1.2)):
        builder = builder.joint(
            parent + child, "revolute", parent, child, axis="z", xyz=[1, 0, 0], start=angle
        )
    raft = kp.build(builder.loop("da", "spherical", "d", "a", xyz=[1, 0, 0]))
    q = raft.start()
    qd = raft.velocities(q, guess=np.linspace(-1.0, 1.0, raft.nv))
    run = kp.simulate(raft, q, qd, duration=2.0, output=[0.0, 2.0])
    assert run.status.ok, run.status
    assert (run.momentum.linear, len(run.momentum.directions)) == (3, 6)
    assert run.momentum.relative.max() < KEPT
