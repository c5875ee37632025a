"""The bundled mechanisms with actuators: what they do, and that their energy closes by name."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp


def wave(m: kp.Mechanism, amplitudes):
    def inputs(time, q, qd):
        return [a * np.sin((2.0 + 0.3 * k) * time) for k, a in enumerate(amplitudes)]

    return inputs


CASES = {
    "dc-actuator": ((12.0,), 0.3, {}),
    "hydraulic-actuator": ((1e-4,), 0.1, {}),
    "motor-arm": ((0.5, 0.3, -0.4, 0.6, 0.5, 0.7), 0.5, {"rtol": 1e-9, "atol": 1e-10}),
    "excavator": ((0.5, -0.4, 0.5), 0.6, {}),
    "servo": ((0.6,), 1.0, {}),
}


@cache
def run(name: str) -> kp.Result:
    amplitudes, duration, how = CASES[name]
    m = kp.example(name)
    return kp.simulate(
        m, m.start(), np.zeros(m.nv), duration=duration, input=wave(m, amplitudes), output=0.01, **how
    )


@pytest.mark.parametrize("name", CASES)
def test_energy_closes_to_1e_8_loss_by_loss(name):
    result = run(name)
    assert result.status.ok, result.status.message
    assert result.balance.relative < 1e-8
    scale = max(np.abs(result.work).max(), np.abs(result.loss).max())
    assert sum(x[-1] for x in result.supplied.values()) == pytest.approx(result.work[-1], abs=1e-9 * scale)
    small = ("cavitation", "displacement", "conversion")
    assert all(x[-1] >= -1e-9 * scale for name, x in result.losses.items() if not name.endswith(small))


def test_the_motor_arm_follows_its_positions():
    """A cascade with a position gain of 8 1/s lags by q̇/8 and a little more."""
    result, m = run("motor-arm"), kp.example("motor-arm")
    assert (m.nx, m.nu) == (30, 6)
    lag = result.u - result.q
    assert np.abs(lag[-1] - result.qd[-1] / 8.0).max() < 0.25 * np.abs(result.qd[-1] / 8.0).max()
    assert all(np.abs(result.x[:, m.x_names.index(f"servo{k}.current")]).max() > 0.01 for k in range(1, 7))


def test_the_excavator_stands_until_a_valve_opens():
    m = kp.example("excavator")
    assert m.u_names == ("boom", "arm", "bucket")
    assert m.mobility(m.start()).freedom == 3
    still = m.state_derivative(m.start(), np.zeros(m.nv))
    assert np.abs(still.qdd).max() < 1e-3  # pressures in the file are whole pascals
    tau = m.inverse_dynamics(m.start(), np.zeros(m.nv), np.zeros(m.nv))
    slides = [name.endswith("cylinder") for name in m.v_names]  # joints with actuated = false take no share
    assert (tau[np.logical_not(slides)] == 0.0).all()
    assert np.abs(tau[slides]).min() > 1e3
    raised = kp.simulate(m, m.start(), np.zeros(m.nv), duration=0.6, input={"boom": 0.5}, output=0.05)
    assert raised.q[-1, 0] > raised.q[0, 0] + 0.02
    assert raised.residual.worst[0] < 1e-9
    assert raised.losses["boom.valve"][-1] > 1e3


def test_the_table_of_a_mechanism_has_its_actuators():
    lines = str(kp.example("motor-arm")).splitlines()
    assert lines[-8].split() == ["actuator", "joint", "kind", "gear"]
    assert lines[-6].split(maxsplit=3) == ["servo1", "joint1", "servo", "100, elastic"]
