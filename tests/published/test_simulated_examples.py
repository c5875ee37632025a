"""Motions of the sources re-made by `kp.simulate`: E9, E10, E11 and E13, to the digits printed."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
SOLVERS = ("multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi", "partition")
FLOATING = {  # E9, corrected; time: theta, psi, their rates; both arms move alike
    10: (2.0691491850336, 0.2272198116416, 0.2443693188947, 0.1663524672388),
    20: (3.5963719016039, 0.1580090431415, 0.0515001731718, -0.1736576895073),
    30: (4.7956031453049, -0.4799649562614, 0.2204846150097, 0.1145130358045),
    40: (6.9766013651515, 0.6419784566038, 0.1422669486443, -0.0327950521348),
    50: (7.8019061754419, -0.6210322449398, 0.1305931689505, -0.0519004569987),
    60: (9.939392894144, 0.419154899067, 0.228292119884, 0.131249831573),
}
PRINTED_END = (9.572900147136, -0.293492486675, 0.236865611511, 0.151226690810)
SPINNING = np.array([0.1, -0.1, -0.1])


def mirrored(values) -> np.ndarray:
    theta, psi, theta_rate, psi_rate = values
    return np.array([theta, psi, psi, theta_rate, psi_rate, psi_rate])


@pytest.mark.parametrize("solver", SOLVERS)
def test_space_robot_turns_to_the_computed_states(solver):
    robot, times = kp.example("space-robot"), list(FLOATING)
    run = kp.simulate(
        robot, closed.start("space-robot"), SPINNING, duration=60.0, output=times, solver=solver, **TIGHT
    )
    result = np.concatenate([run.q, run.qd], axis=1)
    expected = np.array([mirrored(x) for x in FLOATING.values()])
    assert np.abs(result - expected).max() < 1e-11
    assert robot.momentum(run.q, run.qd)[:, 2] == pytest.approx(253.180438763306, abs=1e-11, rel=0)
    assert run.energy.kinetic == pytest.approx(20.444662584220, abs=1e-11, rel=0)


def test_space_robot_as_printed_keeps_momentum_and_loses_energy():
    """The range was read off at the ends of some 145 steps; between them the energy dips a little lower."""
    robot = kp.example("space-robot-printed")
    run = kp.simulate(robot, closed.start("space-robot"), SPINNING, duration=60.0, output=0.01, **TIGHT)
    assert np.concatenate([run.q[-1], run.qd[-1]]) == pytest.approx(mirrored(PRINTED_END), abs=1e-11, rel=0)
    assert run.residual.rate.max() < 1e-10
    assert run.energy.kinetic.max() == pytest.approx(20.55651, abs=1e-5, rel=0)
    assert 19.98053 - 2e-4 < run.energy.kinetic.min() < 19.98053


@pytest.mark.parametrize(("method", "digits"), [("cvode", 1e-6), ("ida", 1e-6), ("taylor", 1e-10)])
def test_space_robot_turns_there_by_other_libraries(method, digits):
    run = kp.simulate(
        kp.example("space-robot"), closed.start("space-robot"), SPINNING,
        duration=10.0, output=[10.0], integrator=method, rtol=1e-11, atol=1e-11,
    )  # fmt: skip
    result = np.concatenate([run.q[-1], run.qd[-1]])
    assert np.abs(result - mirrored(FLOATING[10])).max() < digits


IN_MM = np.array([1, 1, 1, 1e3, 1e3, 1])
EXACT = np.array([1, 1, 2, -0.02 / 3, -0.02 / np.sqrt(3), -2 / 3])
ROUNDED = np.array([1, 1, 2, -6.667e-3, -11.547e-3, -0.667])
DRIVEN, IDLE = 1e-6 * np.array([0.25, 0, 0, 0, 0, 0]), None
ROLLED = {  # E10: rates at the start, efforts, how constraints are held; coordinates and rates after 60 s
    "exact": (
        (EXACT, DRIVEN, "project"),
        (83.0286224688, 80.9911511204, 80.3302264108, -172.6108756231, 288.3948429083, -39.7014012244),
        (0.7933170505, 1.9464835778, 1.3051993717, 13.3385241204, 0.3656888778, -0.6741666667),
    ),
    "rounded": (
        (ROUNDED, DRIVEN, "none"),
        (83.0123123528, 81.0084805362, 80.3292071111, -172.1236646985, 288.2714663713, -39.7214012244),
        (0.7867920273, 1.9410903728, 1.3171175999, 13.3393113261, 0.3377323355, -0.6745),
    ),
    "idle": (
        (EXACT, IDLE, "project"),
        (82.7581470862, 80.3179372512, 79.9239156627, -176.2601125397, 290.7500105570, -39.4764012244),
        (0.8640298799, 1.9780448542, 1.1579252659, 13.3160926821, 0.6778299638, -0.6666666667),
    ),
}


@pytest.mark.parametrize("case", ROLLED)
def test_omni_robot_rolls_to_the_computed_state(case):
    (qd, tau, hold), expected, rates = ROLLED[case]
    robot, start = kp.example("omni-robot"), closed.start("omni-robot")
    run = kp.simulate(
        robot, start, qd, duration=60.0, torque=tau, hold=hold, output=1.0, rtol=1e-13, atol=1e-16
    )
    assert IN_MM * run.q[-1] == pytest.approx(expected, abs=1e-9, rel=0)
    assert IN_MM * run.qd[-1] == pytest.approx(rates, abs=1e-9, rel=0)
    if hold == "none":  # the residual of the start is carried along
        assert 1e3 * run.residual.rate == pytest.approx(0.0135047, abs=1e-6, rel=0)
    else:
        assert run.residual.rate.max() < 1e-15
        assert run.balance.error < 1e-15
    if case == "exact":
        assert 1e6 * run.work[-1] == pytest.approx(20.507155617, abs=1e-8, rel=0)


def test_omni_robot_refuses_the_rounded_start_unless_told():
    with pytest.raises(kp.InputError, match="qd does not obey the constraints"):
        kp.simulate(kp.example("omni-robot"), closed.start("omni-robot"), ROUNDED, duration=1.0)


FALLEN = {  # E13; time: angles and rates
    0.5: (
        *(-0.000295409760, 2.278528473528, 2.278380730395),
        *(-0.308612301791, 0.154316858523, -0.000069211773),
    ),
    1.33: (
        *(-3.049359177430, 2.716870656855, 1.045587211000),
        *(22.699829426718, 5.089289628924, 1.394077908817),
    ),
}


@pytest.mark.parametrize("name", ["four-bar", "four-bar-3d"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_four_bar_falls_to_the_computed_states(name, solver):
    """To ten units of the last digit at 0.5 s; at 1.33 s the errors of the integration have grown some twentyfold."""
    linkage, times = kp.example(name), list(FALLEN)
    run = kp.simulate(
        linkage, closed.start(name), np.zeros(3), duration=1.33, output=times, solver=solver, **TIGHT
    )
    for k, (time, expected) in enumerate(FALLEN.items()):
        result = np.concatenate([run.q[k], run.qd[k]])
        assert result == pytest.approx(expected, abs=1e-11 if time < 1 else 5e-10, rel=0)
    assert run.residual.position.max() < 1e-14
    assert run.balance.error < 1e-11


def test_split_masses_swing_like_the_whole():
    """E11: the mass matrix is singular; x1 and x2 move as two masses between three springs do."""
    split = kp.System(
        ["x1", "s", "y"],
        lambda q, qd, t: 0.5 * qd[0] ** 2 + (qd[1] + qd[2]) ** 2,
        lambda q, qd, t: [-3 * q[0], -5 * (q[1] + q[2]), -4 * q[2] - 5 * (q[1] + q[2])],
        [{"name": "interface", "phi": lambda q, t: q[1] - q[0]}],
    )
    run = kp.simulate(split, [0.2, 0.2, -0.3], np.zeros(3), duration=10.0, output=0.1, **TIGHT)
    assert run.qdd[0] == pytest.approx((-1.8, -1.8, 2.65), abs=1e-12)
    K, M = np.array([[7.0, -4.0], [-4.0, 9.0]]), np.diag([1.0, 2.0])
    squares, modes = np.linalg.eig(np.linalg.solve(M, K))
    share = np.linalg.solve(modes, [0.2, -0.1])
    expected = np.cos(np.outer(run.time, np.sqrt(squares))) * share @ modes.T
    assert np.abs(run.q[:, 0] - expected[:, 0]).max() < 1e-11
    assert np.abs(run.q[:, 1] + run.q[:, 2] - expected[:, 1]).max() < 1e-11
