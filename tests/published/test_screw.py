"""Screws and constraint matrices: Pan's exercises 4 and 5 (E5), an arm with two hinges (E6), a four-bar (E13)."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.formulations.kinematics import no_wrenches, poses
from kinpair.formulations.screw_algebra import (
    columns,
    force_cross,
    force_moved,
    inertia,
    inertia_rate,
    motion_cross,
    wrenches_of,
)
from kinpair.formulations.screw_block import (
    Joint,
    block_solve,
    block_system,
    driven,
    tree_drives,
    tree_joints,
)
from kinpair.formulations.screw_bodies import jacobian_rate, motions
from kinpair.pairs.prismatic import Prismatic
from kinpair.pairs.revolute import Revolute

PRINTED = 1e-11  # ten units of the last of twelve decimals
V = np.array([-1.0, 1, 0, -2, 0, 2])
NO_Q = np.zeros(1)


def exactly(found: np.ndarray, text: str) -> None:
    """Rows between semicolons, every entry printed in full."""
    printed = np.array([[float(x) for x in row.split()] for row in text.split(";")])
    assert np.array_equal(found.reshape(printed.shape), printed)


def test_exercise_4_cross_products():
    exactly(
        motion_cross(V),
        "0 -2 0 0 0 1; 2 0 2 0 0 1; 0 -2 0 -1 -1 0; 0 0 0 0 -2 0; 0 0 0 2 0 2; 0 0 0 0 -2 0",
    )
    exactly(
        force_cross(V),
        "0 -2 0 0 0 0; 2 0 2 0 0 0; 0 -2 0 0 0 0; 0 0 1 0 -2 0; 0 0 1 2 0 2; -1 -1 0 0 -2 0",
    )


@pytest.mark.parametrize(
    ("pair", "Cd", "Dd", "Sd"),
    [
        (
            Revolute(),
            "0 -2 0 0 0; 2 0 2 0 0; 0 -2 0 0 0; 0 0 1 0 -2; 0 0 1 2 0; -1 -1 0 0 -2",
            "0 0 0 0 2 0",
            "1 1 0 0 2 0",
        ),
        (
            Prismatic(),
            "0 -2 0 0 0; 2 0 0 0 0; 0 -2 0 0 0; 0 0 0 -2 0; 0 0 2 0 2; -1 -1 0 -2 0",
            "0 2 0 1 1 0",
            "0 2 0 0 0 0",
        ),
    ],
    ids=lambda x: x if isinstance(x, str) else x.kind,
)
def test_exercise_4_rates_of_wrenches_and_screws(pair, Cd, Dd, Sd):
    row = wrenches_of(pair)
    exactly(force_cross(V) @ row.wrenches(pair, NO_Q), Cd)
    exactly(force_cross(V) @ row.drive(pair, NO_Q), Dd)
    screw = pair.p(NO_Q)[[3, 4, 5, 0, 1, 2], 0]
    exactly(motion_cross(V) @ screw, Sd)


def test_exercise_5_inertia_and_its_rate():
    I = inertia(4.0, np.array([1.0, 0, 0]), np.eye(3))
    exactly(I, "4 0 0 0 0 0; 0 4 0 0 0 4; 0 0 4 0 -4 0; 0 0 0 1 0 0; 0 0 -4 0 5 0; 0 4 0 0 0 5")
    rate = inertia_rate(I, V)
    exactly(
        rate,
        "0 0 0 0 0 -12; 0 0 0 0 0 -4; 0 0 0 12 4 0; 0 0 12 0 -12 0; 0 0 4 -12 -8 0; -12 -4 0 0 0 -8",
    )
    exactly(I @ V, "-4 12 0 -2 0 14")
    assert V @ I @ V / 2 == 24
    exactly(rate @ V, "-24 -8 -24 0 24 -8")
    exactly(force_cross(V) @ I @ V, "-24 -8 -24 0 24 -8")


# E6


LENGTHS, MASSES = (1.0, 0.8), (2.0, 1.5)
Q, QD = np.array([0.5, -0.3]), np.array([1.2, -0.7])


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    """Two rods, axes z, gravity along −y."""
    builder = kp.Builder("RR arm", gravity=(0, -9.8, 0))
    for k, (m, l) in enumerate(zip(MASSES, LENGTHS, strict=True), start=1):
        across = m * l**2 / 12
        builder.link(f"link{k}", mass=m, com=[l / 2, 0, 0], inertia=[1e-4 * m, across, across])
    builder.joint("joint1", "revolute", "ground", "link1", axis="z")
    builder.joint("joint2", "revolute", "link1", "link2", xyz=[1.0, 0, 0], axis="z")
    return kp.build(builder).reference


def near(found, printed):
    assert np.asarray(found) == pytest.approx(printed, abs=PRINTED, rel=0)


def test_velocities_and_rates_of_the_screws(arm):
    moving = motions(arm.model, Q, QD, poses(arm.model, Q))
    near(moving[2].S[:, 0], (0.479425538604, -0.877582561890, 0, 0, 0, 1))
    near(moving[1].V, (0, 0, 0, 0, 0, 1.2))
    near(moving[2].V, (-0.335597877023, 0.614307793323, 0, 0, 0, 0.5))
    Jd = jacobian_rate(arm.model, Q, QD, 2)
    near(Jd[:, 0], np.zeros(6))
    near(Jd[:, 1], (1.053099074268, 0.575310646325, 0, 0, 0, 0))


def test_accelerations_with_every_freedom_driven(arm):
    """θ̈ given: the constraint rows alone fix all accelerations, and the multipliers are the efforts."""
    qdd = np.array([0.4, 0.9])
    joints = tree_joints(arm.model, Q, QD)
    rows = driven(tree_drives(arm.model, Q, QD, np.zeros(2)), [qdd[:1], qdd[1:]])
    x = np.linalg.solve(*block_system(arm.model, Q, QD, no_wrenches(arm.model), [*joints, *rows]))
    near(x[:6], (0, 0, 0, 0, 0, 0.4))
    near(x[6:12], (-0.305686367244, -1.192541758129, 0, 0, 0, 1.3))
    near(x[-2:], arm.inverse_dynamics(Q, QD, qdd))


def test_accelerations_and_multipliers_under_torques(arm):
    tau, w = np.array([3.0, 1.0]), no_wrenches(arm.model)
    result = block_solve(arm.model, Q, QD, tau, w)
    joints, drives = tree_joints(arm.model, Q, QD), tree_drives(arm.model, Q, QD, tau)
    x = np.linalg.solve(*block_system(arm.model, Q, QD, w, joints, drives))
    for eta1, eta2 in ((result.eta[1], result.eta[2]), (x[12:17], x[17:])):
        near(eta1, (8.285334169796, 12.783005997188, 0, 0, 0))
        near(eta2, (5.442823765387, 0.108424396922, 0, 0, 0))
    near(result.solution.qdd, (-10.063100255171, 14.002869321875))
    near(arm.forward_dynamics(Q, QD, tau, method="screw"), (-10.063100255171, 14.002869321875))


def test_a_joint_beyond_the_tree_closes_a_loop():
    """E13, a four-bar at rest: the joint between crank and coupler as two more columns of C."""
    builder = kp.Builder("four-bar", gravity=(0, -9.81, 0))
    rods = {"crank": (1.5, 0.05), "output": (5.0, 0.13), "coupler": (3.0, 0.1)}
    for name, (m, l) in rods.items():
        across = m * l**2 / 12
        builder.link(name, mass=m, com=[l / 2, 0, 0], inertia=[0, across, across])
    builder.joint("A", "revolute", "ground", "crank", axis="z")
    builder.joint("B", "revolute", "ground", "output", xyz=[0.15, 0, 0], axis="z")
    builder.joint("C", "revolute", "output", "coupler", xyz=[0.13, 0, 0], axis="z")
    bars = kp.build(builder).reference
    q, still = np.array([0, np.arccos(-0.65), np.arccos(-0.65)]), np.zeros(3)
    tip = np.array([0.05, 0, 0])
    crank, coupler = (bars.model.names.index(name) for name in ("crank", "coupler"))
    C = force_moved(np.eye(3), tip, columns(1, 2))
    closing = Joint(crank, coupler, C, np.zeros((6, 2)), np.zeros(2))
    joints = [*tree_joints(bars.model, q, still), closing]
    x = np.linalg.solve(*block_system(bars.model, q, still, no_wrenches(bars.model), joints))
    names = bars.model.names
    A = {name: x[6 * i - 6 : 6 * i] for i, name in enumerate(names) if i}
    qdd = (A["crank"][5], A["output"][5], A["coupler"][5] - A["output"][5])
    assert qdd == pytest.approx((-161.217124787, 80.608562394, 0), abs=1e-8, rel=0)
    assert x[-2:] == pytest.approx((-5.013389657, -3.327071880), abs=1e-8, rel=0)
