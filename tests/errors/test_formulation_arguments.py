"""Wrong arguments of formulations called by themselves, word for word."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations import appell, kane, lagrange_cylinders, lagrange_euler, screw_block
from kinpair.formulations.graph import incidence, path, renaud
from kinpair.formulations.kinematics import no_wrenches

ARM = kp.example("planar-3r")
MODEL = ARM.model
BALLS = zoo.tree(2, 2, kinds=("spherical",)).model
ZERO, W = np.zeros(3), np.eye(3)
NAMES = ", ".join(ARM.q_names)
SHORT = f"planar-3r: q has shape (2,); expected (3,): {NAMES}"
NO_MODEL = "model is Mechanism; give the `model` of a mechanism"
FREE = kp.build(
    kp.Builder("brick").link("brick", mass=1.0, inertia=[1, 1, 1]).joint("base", "free", "ground", "brick")
).model
DRIVES = screw_block.tree_drives(MODEL, ZERO, ZERO, ZERO)
CYLINDERS = kp.example("three-cylinders").model


def block(q=ZERO, qd=ZERO, w=None, joints=()):
    return screw_block.block_system(MODEL, q, qd, no_wrenches(MODEL) if w is None else w, joints)


CASES = {
    "appell, short q": (lambda: appell.in_quasi_velocities(MODEL, ZERO[:2], ZERO, W, W), SHORT),
    "kane, short q": (lambda: kane.in_generalised_speeds(MODEL, ZERO[:2], ZERO, W, W), SHORT),
    "appell, a mechanism": (lambda: appell.in_quasi_velocities(ARM, ZERO, ZERO, W, W), NO_MODEL),
    "kane, a mechanism": (lambda: kane.in_generalised_speeds(ARM, ZERO, ZERO, W, W), NO_MODEL),
    "appell, many u": (
        lambda: appell.in_quasi_velocities(MODEL, ZERO, np.zeros(4), np.zeros((3, 4)), np.zeros((3, 4))),
        "planar-3r: u has 4 entries; the 3 rates are described by as many or fewer",
    ),
    "appell, words": (
        lambda: appell.in_quasi_velocities(MODEL, ["a", "b", "c"], ZERO, W, W),
        "planar-3r: q is not an array of numbers (it is list)",
    ),
    "appell, nothing": (
        lambda: appell.in_quasi_velocities(MODEL, ZERO, None, W, W),
        "planar-3r: u is not an array of numbers (it is NoneType)",
    ),
    "kane, few wrenches": (
        lambda: kane.in_generalised_speeds(MODEL, ZERO, ZERO, W, W, [np.zeros(6)] * 3),
        "planar-3r: w_ext has 3 entries of shapes (6,); expected 4 wrenches (6,): one for the ground, which does not "
        "count, and one for each body",
    ),
    "efforts of all rates": (
        lambda: appell.in_quasi_velocities(MODEL, ZERO, ZERO[:2], W[:, :2], W[:, :2]).accelerations(ZERO),
        "Q has shape (3,); expected (2,): the forces along u, which are W.T @ tau of the efforts tau",
    ),
    "energy, short qdd": (
        lambda: appell.acceleration_energy(MODEL, ZERO, ZERO, ZERO[:1]),
        f"planar-3r: qdd has shape (1,); expected (3,): {NAMES}",
    ),
    "euler, short": (
        lambda: lagrange_euler.mass_matrix(BALLS, ZERO),
        f"tree of 2, seed 2: eta has shape (3,); expected (6,): {', '.join(BALLS.v_names)}",
    ),
    "euler, a mechanism": (lambda: lagrange_euler.mass_matrix(ARM, ZERO), NO_MODEL),
    "euler, short efforts": (
        lambda: lagrange_euler.from_joint_efforts(BALLS, np.ones(6), ZERO),
        f"tree of 2, seed 2: tau has shape (3,); expected (6,): {', '.join(BALLS.v_names)}",
    ),
    "cylinders, long": (
        lambda: lagrange_cylinders.inertia_shares(CYLINDERS, np.zeros(4)),
        f"three-cylinders: q has shape (4,); expected (3,): {', '.join(CYLINDERS.q_names)}",
    ),
    "cylinders, no body": (
        lambda: lagrange_cylinders.inertia_slopes(CYLINDERS, ZERO, 7),
        "three-cylinders: no body 7; they are 1 to 3",
    ),
    "cylinders, a mechanism": (
        lambda: lagrange_cylinders.inertia_shares(kp.example("three-cylinders"), ZERO),
        NO_MODEL,
    ),
    "block, short q": (lambda: block(ZERO[:2]), SHORT),
    "block, no such body": (
        lambda: block(joints=[screw_block.Joint(0, 9, np.eye(6), np.eye(6), np.zeros(6))]),
        "planar-3r: joint or drive 0 joins bodies 0 and 9; there are bodies 0 to 3",
    ),
    "drives, short list": (
        lambda: screw_block.driven(DRIVES, [np.zeros(1)]),
        "qdd has vectors of the shapes (1,); expected one for each drive: (1,), (1,), (1,)",
    ),
    "drives, short vector": (
        lambda: screw_block.driven(
            screw_block.tree_drives(FREE, FREE.neutral(), np.zeros(6), np.zeros(6)), [np.zeros(2)]
        ),
        "qdd has vectors of the shapes (2,); expected one for each drive: (6,)",
    ),
    "graph, names": (
        lambda: path([("a", "b")]),
        "arc 1 is ('a', 'b'); give the numbers of the two bodies it joins, as (0, 1)",
    ),
    "graph, one end": (
        lambda: renaud([(0, 1), (2,)]),
        "arc 2 is (2,); give the numbers of the two bodies it joins, as (0, 1)",
    ),
    "graph, no pair": (
        lambda: incidence([3]),
        "arc 1 is 3; give the numbers of the two bodies it joins, as (0, 1)",
    ),
    "graph, itself": (lambda: path([(0, 1), (1, 1)]), "arc 2 joins body 1 to itself"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused(case):
    call, message = CASES[case]
    with pytest.raises(kp.InputError, match=f"^{re.escape(message)}$"):
        call()


def test_lists_will_do():
    result = appell.in_quasi_velocities(MODEL, [0.0] * 3, [1.0] * 3, W.tolist(), (0 * W).tolist())
    assert np.abs(result.H - ARM.mass_matrix(ZERO)).max() < 1e-14
    assert lagrange_cylinders.inertia_shares(CYLINDERS, [0.1, 0.2, 0.3])[0].shape == (3, 3)
