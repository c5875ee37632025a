"""Six-revolute industrial arm (E2; data of Shah & Saha, ReDySim, modified DH)."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from published.cycloid import along

TORQUES = {
    0.0: (0, 128.711691940, 14.536124833, 0, 0, 0),
    0.25: (106.003072, 209.530996, 35.727676, -0.000861, -0.175322, 0.000010),
    0.5: (-39.530280, 150.359766, 21.463363, 0.196761, -0.323636, 0.000006),
    0.75: (-74.103117, 2.827468, -8.699738, -0.291537, -0.062366, -0.000038),
    1.0: (0, 66.785840073, 9.698056520, 0.130561857, 0.054283585, 0),
}


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
@pytest.mark.parametrize("time", TORQUES)
def test_torques_along_the_cycloid(time, method):
    arm = kp.example("kr5")
    tau = arm.inverse_dynamics(*along(np.zeros(6), np.full(6, np.pi / 3), 1.0, time), method=method)
    decimals = 9 if time in (0.0, 1.0) else 6
    assert tau == pytest.approx(TORQUES[time], abs=10 * 10.0**-decimals, rel=0)
