"""Viscous friction that grows with a power of the speed."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList

TEXT = """
[[link]]
name = "wheel"
mass = 1.0
inertia = [0.1, 0.1, 0.2]
[[joint]]
name = "axle"
kind = "revolute"
parent = "ground"
child = "wheel"
friction = {{ law = "viscous", viscous = 0.4, exponent = {n} }}
"""


def wheel(n):
    return kp.build(parse_toml(TEXT.format(n=n), source="wheel.toml", warnings=WarningList()))


@pytest.mark.parametrize("n", [2 / 3, 1.0, 2.0])
@pytest.mark.parametrize("v", [-3.0, -0.1, 0.5, 20.0])
def test_effort_is_the_power_of_the_speed(n, v):
    tau = wheel(n).inverse_dynamics([0.2], [v], [0.0])[0]
    assert tau == pytest.approx(0.4 * np.sign(v) * abs(v) ** n, rel=1e-4)


def test_a_wheel_runs_down_by_the_closed_form():
    """I ω̇ = −c ω^{2/3}: ω^{1/3} falls linearly, by c/(3 I) per second."""
    run = kp.simulate(wheel(2 / 3), [0.0], [8.0], duration=1.5)
    expected = (2.0 - 0.4 / (3 * 0.2) * run.time) ** 3
    np.testing.assert_allclose(run.qd[:, 0], expected, rtol=1e-5)


def test_the_regressor_has_a_column_for_it():
    m = wheel(2 / 3)
    q, qd, qdd = np.array([[0.1], [0.3]]), np.array([[1.5], [-0.4]]), np.array([[0.2], [0.7]])
    assert m.regressor_names[-1] == "axle: viscous"
    np.testing.assert_allclose(
        m.regressor(q, qd, qdd) @ m.regressor_parameters(), m.inverse_dynamics(q, qd, qdd), rtol=1e-12
    )


def test_derivatives_agree_with_differences():
    m, h = wheel(2 / 3), 1e-6
    d = m.inverse_dynamics_derivatives([0.1], [0.3], [0.0])
    slope = (m.inverse_dynamics([0.1], [0.3 + h], [0.0]) - m.inverse_dynamics([0.1], [0.3 - h], [0.0])) / (
        2 * h
    )
    assert d[1][0, 0] == pytest.approx(slope[0], rel=1e-7)
