"""The Stanford arm with Paul's data (E3) and with those attributed to Saha (E4).

Data: R. P. Paul, Robot Manipulators, 1981, as distributed with public robotics libraries, two slips
corrected (see bundled/stanford-arm.toml); digits by two independent formulations. "To the printed digits"
is within ten units of the last place printed.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from published.cycloid import along

PI = np.pi

E3_TORQUES = {
    0.0: (0, -7.20182511, 0, 0, 0, 0),
    2.5: (0.119166723621, -8.963457155372, 3.065161960989, -0.236653425471, -0.252258546544, 0.000043381613),
    5.0: (
        0.037056330717,
        -16.004601936303,
        16.351179903873,
        -1.046798586722,
        -1.340056274864,
        -0.000010071146,
    ),
    7.5: (
        -0.148804060414,
        -21.548536083054,
        28.994524453176,
        -1.078047407899,
        -1.928266974961,
        -0.000035316337,
    ),
    10.0: (0, -22.571101148488, 31.73535, -0.959072197500, -1.974057464179, 0),
}
E4_TORQUES = {
    0.0: (0, 14.67576, 0, 0, 1.33416, 0),
    2.5: (0.106815464790, 15.245338895271, 5.723222506398, -0.012290871168, 1.312263240571, 0.000287942172),
    5.0: (-0.071373892389, 14.887214735527, 29.782582433177, -0.285952540668, 0.539216691990, 0.000000258756),
    7.5: (
        -0.049383943521,
        10.736393453758,
        48.666697615593,
        -0.508438982899,
        -0.624280625397,
        -0.000422748984,
    ),
    10.0: (0, 9.49608, 51.823826187865, -0.50031, -0.83385, 0),
}
E3_START, E3_END = (0, PI / 2, 0.5, 0, 0, 0), (PI / 3, PI / 3, 0.8, PI / 3, PI / 3, PI / 3)
E4_START = (0, PI / 2, 0, 0, 0, 0)
E4_END = (PI / 3, PI / 2 + PI / 3, 0.1, PI / 3, PI / 3, PI / 3)
PRINTED = 1e-11  # twelve decimals printed

Q = np.array([0.2, 1.1, 0.6, -0.3, 0.7, 0.4])
QD = np.array([0.5, -0.4, 0.3, 1, -0.8, 0.6])


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("stanford-arm")


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
@pytest.mark.parametrize("time", E3_TORQUES)
def test_paul_arm_torques_along_the_cycloid(arm, time, method):
    tau = arm.inverse_dynamics(*along(E3_START, E3_END, 10.0, time), method=method)
    assert tau == pytest.approx(E3_TORQUES[time], abs=PRINTED if time else 1e-7, rel=0)


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
@pytest.mark.parametrize("time", E4_TORQUES)
def test_saha_arm_torques_along_the_cycloid(time, method):
    arm = kp.example("stanford-arm-saha")
    tau = arm.inverse_dynamics(*along(E4_START, E4_END, 10.0, time), method=method)
    assert tau == pytest.approx(E4_TORQUES[time], abs=PRINTED, rel=0)


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
def test_paul_arm_mass_matrix(arm, method):
    upper = np.array(
        [
            [
                1.873378654276,
                -0.029330729808,
                -0.752920410809,
                -0.032751243422,
                -0.150502235535,
                0.000154979077,
            ],
            [0, 1.845809701279, 0.052983975010, 0.134359090151, -0.061246707873, -0.000184633399],
            [0, 0, 6.47, 0, -0.160437261265, 0],
            [0, 0, 0, 0.03999099027, 0, 0.000229452656],
            [0, 0, 0, 0, 0.092963794, 0],
            [0, 0, 0, 0, 0, 0.0003],
        ]
    )
    H = arm.mass_matrix(Q, method=method)
    assert np.abs(np.triu(H) - upper).max() < PRINTED
    assert np.abs(H - H.T).max() < 1e-14


def test_paul_arm_convective_and_gravity_torques(arm):
    Cqd = (0.500141205434, -0.824955573984, -0.516029079969, -0.173506870095, -0.056568142814, 0.000071649064)
    g = (0, -11.327096543808, 28.790063344166, -1.324946238154, -0.221780704830, 0)
    assert arm.coriolis_matrix(Q, QD) @ QD == pytest.approx(Cqd, abs=PRINTED, rel=0)
    assert arm.gravity_forces(Q) == pytest.approx(g, abs=PRINTED, rel=0)
    assert arm.bias_forces(Q, QD) == pytest.approx(np.add(Cqd, g), abs=2 * PRINTED, rel=0)


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
def test_paul_arm_falls(arm, method):
    qdd = (
        -2.242850715757,
        5.167156777631,
        -4.810583919887,
        18.329590887215,
        -5.534743628768,
        -9.919325757420,
    )
    result = arm.forward_dynamics(Q, QD, np.zeros(6), method=method)
    assert result == pytest.approx(qdd, abs=PRINTED, rel=0)


def test_paul_arm_pivots_of_reverse_elimination(arm):
    from kinpair.formulations import denoc

    D = (1.436427090141, 1.350542530425, 6.193116778106, 0.039815495199, 0.092963794, 0.0003)
    assert denoc.solve(arm.model, Q, np.zeros(6)).pivots == pytest.approx(D, abs=PRINTED, rel=0)
