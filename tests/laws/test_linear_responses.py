"""Bode diagrams, step responses and margins of linear models, against python-control and against closed forms."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import control
import numpy as np
import pytest

import kinpair as kp


@cache
def two_masses():
    b = kp.Builder("row")
    b.link("one", mass=1.0)
    b.joint("one", "prismatic", "ground", "one", axis="x", stiffness=20.0, damping=2.0)
    b.link("two", mass=0.5)
    b.joint("two", "prismatic", "one", "two", axis="x", stiffness=30.0, damping=0.3)
    return kp.linearise(kp.build(b), [0, 0], inputs=["one"], outputs=["q.one", "qd.two"])


def one_mass(stiffness, damping, mass=1.0):
    b = kp.Builder("mass")
    b.link("one", mass=mass)
    b.joint("one", "prismatic", "ground", "one", axis="x", stiffness=stiffness, damping=damping)
    return kp.linearise(kp.build(b), [0], outputs=["q.one"])


def amplified(model, gain):
    return replace(model, C=gain * model.C, D=gain * model.D)


@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_bode_is_the_frequency_response_of_python_control(sample_time):
    model = two_masses() if sample_time is None else two_masses().discrete(sample_time)
    x = model.bode([0.5, 3.0, 8.0, 40.0])
    other = control.frequency_response(model.to_control(), x.omega)
    assert x.gain == pytest.approx(np.moveaxis(other.magnitude, -1, 0), rel=1e-9)
    turns = (x.phase - np.degrees(np.moveaxis(other.phase, -1, 0))) / 360.0
    assert turns == pytest.approx(np.round(turns), abs=1e-9)
    assert x.decibels == pytest.approx(20.0 * np.log10(x.gain))
    assert x.units == (" [m/N]", " [(m/s)/N]")


def test_a_double_integrator_has_a_phase_of_minus_180_degrees():
    phase = one_mass(0.0, 0.0).bode([0.1, 1.0, 10.0]).phase
    assert phase == pytest.approx(np.full((3, 1, 1), -180.0))


@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_the_phase_falls_at_an_undamped_pole(sample_time):
    model = one_mass(25.0, 0.0)
    phase = (model if sample_time is None else model.discrete(sample_time)).bode([1.0, 4.9, 5.1, 50.0]).phase
    late = 0.0 if sample_time is None else np.degrees(0.02 * np.array([1.0, 4.9, 5.1, 50.0]) / 2)
    assert phase[:, 0, 0] == pytest.approx(np.array([0.0, 0.0, -180.0, -180.0]) - late, abs=1e-9)


@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_step_is_the_step_response_of_python_control(sample_time):
    model = two_masses() if sample_time is None else two_masses().discrete(sample_time)
    x = model.step()
    other = control.step_response(model.to_control(), x.time)
    assert x.y[:, :, 0] == pytest.approx(other.outputs[:, 0].T, abs=1e-9)
    assert x.final[0, 0] == pytest.approx(1.0 / 20.0)
    assert x.y[-1, 0, 0] == pytest.approx(x.final[0, 0], rel=0.02)


def test_rise_overshoot_and_settling_are_those_of_a_second_order_system():
    """ω = 2 rad/s, ζ = 0.3: overshoot exp(−πζ/√(1−ζ²)), peak at π/(ω√(1−ζ²))."""
    zeta, omega = 0.3, 2.0
    x = one_mass(omega**2, 2 * zeta * omega).step(np.linspace(0.0, 12.0, 4001))
    root = np.sqrt(1 - zeta**2)
    assert x.overshoot[0, 0] == pytest.approx(100.0 * np.exp(-np.pi * zeta / root), rel=1e-5)
    assert x.time[x.y[:, 0, 0].argmax()] == pytest.approx(np.pi / (omega * root), abs=4e-3)
    info = control.step_info(one_mass(omega**2, 2 * zeta * omega).to_control(), T=x.time)
    assert x.rise_time[0, 0] == pytest.approx(info["RiseTime"], abs=4e-3)
    assert x.settling_time[0, 0] == pytest.approx(info["SettlingTime"], abs=7e-3)


def test_a_response_that_does_not_settle_has_no_final_value():
    assert one_mass(0.0, 1.0).step().final[0, 0] == np.inf  # drifts
    assert np.isnan(one_mass(4.0, 0.0).step().final[0, 0])  # swings
    cart = kp.linearise(kp.example("cart-pole"), [0, 0], inputs=["slide"], outputs=["q.swing"])
    assert np.isnan(cart.step().final[0, 0])  # grows
    assert np.isnan(cart.step().settling_time[0, 0])


@pytest.mark.parametrize("gain", [5.0, 60.0, 300.0])
@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_margins_are_those_of_python_control(gain, sample_time):
    model = amplified(two_masses(), gain)
    model = model if sample_time is None else model.discrete(sample_time)
    x = model.margins("q.one", "tau.one")
    method = "poly" if sample_time is None else "frd"
    gm, pm, _, w_gain, w_phase, _ = control.stability_margins(model.to_control()[0, 0], method=method)
    found = {"gain": (x.gain, gm), "at": (x.gain_frequency, w_gain)} if sample_time is not None else {}
    if np.isfinite(pm):
        found |= {"phase": (x.phase, pm), "phase at": (x.phase_frequency, w_phase)}
    for own, other in found.values():
        assert own == pytest.approx(other, rel=1e-6)
    assert np.isfinite(x.phase) == np.isfinite(pm)
    closed = model.A - model.B @ model.C[:1]
    values = np.linalg.eigvals(closed)
    assert x.stable == (values.real.max() < 0 if sample_time is None else np.abs(values).max() < 1)


def test_at_its_margins_a_loop_is_at_the_limit_of_stability():
    """With the gain margin in the loop, an eigenvalue is on the unit circle at the frequency stated."""
    T = 0.02
    model = amplified(two_masses(), 60.0).discrete(T)
    x = model.margins("q.one", "tau.one")
    values = np.linalg.eigvals(model.A - x.gain * model.B @ model.C[:1])
    edge = values[np.abs(np.abs(values) - 1.0).argmin()]
    assert abs(edge) == pytest.approx(1.0, abs=1e-9)
    assert abs(np.angle(edge)) / T == pytest.approx(x.gain_frequency, rel=1e-8)
    assert np.exp(1j * x.phase_frequency * x.delay) == pytest.approx(np.exp(1j * np.radians(x.phase)))


def test_sharp_resonances_are_not_missed():
    """|L| passes one on both sides of a resonance of damping 1e-6."""
    x = one_mass(100.0, 2e-5).margins()
    assert x.phase_frequency == pytest.approx(np.sqrt(101.0), rel=1e-6)
    assert x.phase == pytest.approx(np.degrees(2e-5 * np.sqrt(101.0)), rel=1e-3)


def test_pictures_have_units_on_every_axis(tmp_path):
    bode, step = (
        x.plot(tmp_path / f"{k}.png") for k, x in enumerate((two_masses().bode(), two_masses().step()))
    )
    assert [axis.get_ylabel() for axis in bode.axes] == ["gain [dB]", "phase [deg]"]
    assert bode.axes[-1].get_xlabel() == "frequency [rad/s]"
    assert [axis.get_ylabel() for axis in step.axes] == ["output [m/N]", "output [(m/s)/N]"]
    assert step.axes[-1].get_xlabel() == "time [s]"
