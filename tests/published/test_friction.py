"""Friction against published data: bristles (Canudas de Wit et al. 1995), Stribeck's curve under a sine force (the data
of `Modelica.Mechanics.Translational.Examples.Friction`), computed with other programs."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def test_bristles_stick_and_slip_when_they_should():
    """x, v and z at 25 s, and the times at which v passes 0.01 m/s, by two programs that agree to 1e-12."""
    m = kp.example("bristle")
    fast = kp.Event("fast", lambda time, q, qd: qd[0] - 0.01)
    run = kp.simulate(
        m, [0.0], [0.0], duration=25.0, torque=lambda t, q, qd: np.array([0.2 * t]),
        events=[fast], output=25.0, rtol=1e-13, atol=1e-15,
    )  # fmt: skip
    assert run.status.ok
    times = [
        7.458014670843,
        10.223503484084,
        13.820734491908,
        16.586223305148,
        20.183454312975,
        22.948943126214,
    ]
    assert [e.time for e in run.events] == pytest.approx(times, abs=1e-11)
    assert run.q[-1, 0] == pytest.approx(1.9088391992255, abs=1e-12)
    assert run.qd[-1, 0] == pytest.approx(9.4241545908e-06, abs=1e-15)
    assert run.x[-1, 0] == pytest.approx(1.18167954559e-05, abs=1e-15)


@pytest.mark.parametrize(("name", "options"), [("dop853", TIGHT), ("rk4", {"dt": 5e-4})])
def test_a_mass_with_stribeck_friction_under_a_sine_force(name, options):
    """1 kg, 25 sin(2π t/4) N, friction 5 + v + 10 exp(−2|v|) N while sliding, sticks up to 15 N."""
    law = {
        "law": "stribeck",
        "level": 5,
        "level_static": 15,
        "stribeck_speed": 0.5,
        "exponent": 1,
        "viscous": 1,
    }
    builder = kp.Builder("mass").link("m", mass=1.0, inertia=[1, 1, 1])
    m = kp.build(builder.joint("s", "prismatic", "ground", "m", axis="x", friction=law))
    run = kp.simulate(
        m, [0.0], [0.0], duration=5.0, torque=lambda t, q, qd: np.array([25.0 * np.sin(0.5 * np.pi * t)]),
        integrator=name, output=1.0, **options,
    )  # fmt: skip
    assert run.status.ok
    at = {float(t): k for k, t in enumerate(run.time)}
    assert run.q[at[1.0], 0] == pytest.approx(1.71605804, abs=1e-7)
    assert run.qd[at[1.0], 0] == pytest.approx(6.92857714, abs=1e-7)
    assert run.q[at[5.0], 0] == pytest.approx(1.76851781, abs=1e-7)
    assert run.qd[at[5.0], 0] == pytest.approx(6.86484037, abs=1e-7)
