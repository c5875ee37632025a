"""Motors and cylinders against published figures and closed forms.

Sources: M. Vukobratović and V. Potkonjak, Dynamics of Manipulation Robots (1982), chapter 4, with numbers of the
bundled examples; the machines of the Modelica Standard Library, Electrical.Machines.Examples.DCMachines (start of a
permanent-magnet motor; where its losses go); the maker's data sheet of the motor maxon EC 40, 167180. Printed digits
hold within ten units of the last place.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.actuator_schema import data_sheet
from kinpair.forces.actuators.actuator import MACHINES
from kinpair.forces.actuators.machine import Shaft

RPM = 2 * np.pi / 60


def matrix(m: kp.Mechanism) -> np.ndarray:
    """A of a linear mechanism: the derivatives at unit states."""
    n = m.nq + m.nv

    def derivative(z):
        qdd, x_rate = m.state_derivative(z[: m.nq], z[m.nq : n], z[n:])
        return np.concatenate([z[m.nq : n], qdd, x_rate])

    return np.stack([derivative(unit) for unit in np.eye(n + m.nx)], axis=1)


def test_eigenvalues_of_the_direct_current_actuator():
    m = kp.example("dc-actuator")
    R, L, k, J, B = 1.6, 2.2e-3, 0.26, 1.4e-3, 1e-3
    eigenvalues = np.sort(np.linalg.eigvals(matrix(m)).real)
    roots = np.sort(np.roots([1.0, B / J + R / L, (B * R + k * k) / (J * L)]))
    assert eigenvalues == pytest.approx([*roots, 0.0], rel=1e-9, abs=1e-9)
    assert eigenvalues == pytest.approx([-695.691773450, -32.295239537, 0.0], abs=1e-8)
    assert k / (B * R + k * k) == pytest.approx(3.757225434, abs=1e-8)  # rad/s of the shaft a volt
    run = kp.simulate(m, [0.0], [0.0], duration=2.0, input=[10.0], output=[2.0])
    assert 31.17 * run.qd[-1, 0] == pytest.approx(37.57225434, abs=1e-7)
    linear = np.sort(kp.linearise(m, [0.0], [0.0]).eigenvalues.real)
    assert linear == pytest.approx([*roots, 0.0], rel=1e-9, abs=1e-9)


def test_eigenvalues_of_the_hydraulic_actuator():
    m = kp.example("hydraulic-actuator")
    A, V, beta, mass, B, K_ce = 1e-3, 2e-4, 1e9, 50.0, 200.0, 1e-12
    omega = np.sqrt(4 * beta * A * A / (V * mass))
    zeta = K_ce / A * np.sqrt(beta * mass / V) + B / (4 * A) * np.sqrt(V / (beta * mass))
    assert (omega, zeta) == (pytest.approx(632.455532, abs=1e-5), pytest.approx(0.018973666, abs=1e-8))
    eigenvalues = np.linalg.eigvals(matrix(m))
    fast = eigenvalues[np.argmax(eigenvalues.imag)]
    assert fast.real == pytest.approx(-12.0, rel=1e-9)
    assert fast.imag == pytest.approx(632.404933567, abs=1e-8)
    assert np.sort(eigenvalues.real)[0] == pytest.approx(-1e3 / 3, rel=1e-9)
    # (HY9) keeps B and K_ce in the square: ω² = ω_h² + 4 β K_ce B/(V m), 2 ζ ω = 4 β K_ce/V + B/m
    square, twice = omega**2 + 4 * beta * K_ce * B / (V * mass), 4 * beta * K_ce / V + B / mass
    assert abs(fast) ** 2 == pytest.approx(square, rel=1e-9)
    assert -2 * fast.real == pytest.approx(twice, rel=1e-9)
    gain = kp.simulate(m, [0.0], [0.0], duration=1.0, input=[1e-4], output=[1.0]).qd[-1, 0] / 1e-4
    assert gain == pytest.approx(500.0, rel=1e-3)  # K_q/A; K_ce and B take 2e-7 of it, the oscillation 1e-5


def rotor(**motor) -> kp.Mechanism:
    """A motor that turns its own rotor."""
    builder = kp.Builder("rotor", gravity=(0.0, 0.0, 0.0))
    builder.link("shaft").joint("axle", "revolute", "ground", "shaft", axis="z")
    return kp.build(builder.actuator("motor", "axle", "dc-motor", **motor).description())


def test_start_and_load_of_a_motor():
    """A ramp to 100 V from 0.2 s to 1 s; 63.66 N m from 1.5 s on."""
    k = 0.6366197723675814
    m = rotor(resistance=0.05, inductance=1.5e-3, torque_constant=k, rotor_inertia=0.3)
    ramp = ([0.0, 0.2, 1.0, 2.0], [[0.0], [0.0], [100.0], [100.0]])
    run = kp.simulate(m, [0.0], [0.0], duration=1.5, input=ramp, output=[1.0, 1.5])
    assert run.x[:, 0] == pytest.approx([92.5273855, 0.0208520346], abs=1e-6)
    assert run.qd[:, 0] == pytest.approx([149.8125374, 157.077829062], abs=1e-6)
    load = {"shaft": [0.0, 0.0, -63.66, 0.0, 0.0, 0.0]}
    on = {"duration": 0.5, "time": 1.5, "input": [100.0], "external": load, "output": [2.0]}
    run = kp.simulate(m, run.q[-1], run.qd[-1], x=run.x[-1], **on)
    assert run.x[-1, 0] == pytest.approx(99.97436343, abs=1e-7)
    assert run.qd[-1, 0] == pytest.approx(149.22784375, abs=1e-7)
    assert run.q[-1, 0] == pytest.approx(210.225983668, abs=1e-8)


@cache
def from_sheet() -> kp.Mechanism:
    return rotor(sheet="maxon-ec40-167180")


def test_a_motor_from_its_data_sheet():
    """R, k, gradient, stall and time constant to 0.5 %, the nominal point to 2 %."""
    m, sheet = from_sheet(), data_sheet("maxon-ec40-167180")
    R, k, J = 1.66, 44.1e-3, 85e-7
    gradient = R / k**2
    assert gradient == pytest.approx(8.16 * RPM / 1e-3, rel=5e-3)
    assert J * gradient == pytest.approx(7.26e-3, rel=5e-3)
    stall = m.actuation([0.0], [0.0], [48.0 / R], [48.0])
    assert sheet["stall_current"] == pytest.approx(48.0 / R, rel=5e-3)
    assert stall.effort[0] == pytest.approx(1.27, rel=5e-3)
    run = kp.simulate(m, [0.0], [0.0], duration=0.2, input=[48.0], output=[0.2])
    assert run.qd[-1, 0] == pytest.approx(10_300 * RPM, rel=5e-3)
    assert run.x[-1, 0] == pytest.approx(0.222, rel=5e-3)
    load = {"shaft": [0.0, 0.0, -0.123, 0.0, 0.0, 0.0]}
    run = kp.simulate(m, [0.0], [0.0], duration=0.2, input=[48.0], external=load, output=[0.2])
    assert run.qd[-1, 0] == pytest.approx(9_190 * RPM, rel=2e-2)
    assert run.x[-1, 0] == pytest.approx(2.96, rel=2e-2)


@pytest.mark.parametrize("sheet", kp.data_sheets())
def test_every_bundled_data_sheet_makes_an_actuator(sheet):
    kind = data_sheet(sheet)["kind"]
    slides = kind == "hydraulic-cylinder"
    builder = kp.Builder(sheet).link("load", mass=20.0, inertia=(0.1, 0.1, 0.1))
    builder.joint(
        "drive", "prismatic" if slides else "revolute", "ground", "load", axis="x" if slides else "z"
    )
    gains = {"voltage_gain": 20.0} if kind == "servo" else {}
    m = kp.build(builder.actuator("motor", "drive", kind, sheet=sheet, **gains).description())
    run = kp.simulate(m, [0.1], [0.0], duration=0.05, input=[0.2])
    assert run.status.ok
    assert run.balance.relative < 1e-8


def test_where_the_power_of_a_motor_goes():
    """10 kW in: copper 500, core 200, stray 50, friction 100, brushes 50 W; 9100 W and 61.30 N m out."""
    speed, i = 1417.5 * RPM, 100.0
    numbers = {
        "resistance": 0.03864,
        "copper_coefficient": 0.00392,
        "temperature": 95.0,
        "torque_constant": 94.5 / speed,
        "brush_voltage": 0.5,
        "iron_damping": 200.0 / speed**2,
        "stray": 50.0 / (i * speed) ** 2,
        "damping": 100.0 / speed**2,
    }
    work = MACHINES["dc-motor"](numbers).work(np.zeros(0), 100.0, Shaft(0.0, speed))
    expected = {"copper": 500.0, "iron": 200.0, "stray": 50.0, "friction": 100.0, "brush": 50.0}
    assert work.losses == pytest.approx(expected, rel=1e-3)  # R at 95 °C is 0.0500002 ohm
    assert work.supply["source"] == pytest.approx(10_000.0, rel=1e-3)
    assert work.effort * speed == pytest.approx(9100.0, abs=10.0)
    assert work.effort == pytest.approx(61.30, abs=0.1)
    figures = {key: x for key, x in data_sheet("modelica-dcpm").items() if key not in ("kind", "inductance")}
    same = MACHINES["dc-motor"]({**figures, "temperature": 95.0}).work(np.zeros(0), 100.0, Shaft(0.0, speed))
    assert same.losses == pytest.approx(expected, rel=1e-3)
    assert same.effort == pytest.approx(61.30, abs=0.1)


def test_the_winding_of_a_motor_warms_to_what_its_thermal_resistances_say():
    """At rest under 1 A: R i² = ΔT/R_th, with R that rises with the temperature."""
    heat = {
        "winding_to_housing": 2.0,
        "housing_to_ambient": 4.0,
        "winding_capacity": 2.0,
        "housing_capacity": 5.0,
    }
    m = rotor(resistance=2.0, torque_constant=0.05, rotor_inertia=1e9, **heat)
    run = kp.simulate(m, [0.0], [0.0], duration=800.0, input=[2.0], output=[800.0])
    T_w, T_h = run.x[-1]
    power = 2.0**2 / (2.0 * (1 + 0.00393 * (T_w - 20.0)))
    assert T_h - 20.0 == pytest.approx(4.0 * power, rel=1e-6)
    assert T_w - T_h == pytest.approx(2.0 * power, rel=1e-6)


def test_a_servo_whose_friction_grows_with_both_torques():
    """Dynamixel MX-106, law M6 of the BAM project: accelerations by a fixed point of its formulas."""
    k_t, R, J = 2.209828156, 2.033661749, 0.026016184
    f_b, f_s, l_m, l_e = 1.02325264e-5, 0.121954096, 0.198005537, 0.02221553
    l_ms, l_es, q_m, q_e = 0.198599702, 0.087103283, 0.00999993, 7.327e-05
    v_s, alpha, viscous = 1.746325174, 1.142827788, 0.050715665
    I, weight = 0.002 + 0.15**2, 9.81 * 0.15
    m, rng = kp.example("servo"), np.random.default_rng(24)
    for q, qd, u in rng.normal(size=(12, 3)) * [1.0, 3.0, 1.0]:
        motor = k_t * (np.clip(40.0 * (u - q), -12.0, 12.0) - k_t * qd) / R
        s, qdd = np.exp(-(abs(qd / v_s) ** alpha)), 0.0
        for _ in range(400):
            load = -(I * qdd + weight * np.sin(q))
            square = q_e * load**2 if abs(motor) > abs(load) else q_m * motor**2
            slow = f_s + abs(l_es * load - l_ms * motor) + (square if load * motor < 0.0 else 0.0)
            level = f_b + abs(l_e * load - l_m * motor) + s * slow
            effort = motor - np.sign(qd) * level - viscous * qd - weight * np.sin(q)
            qdd = 0.5 * (qdd + effort / (I + J))
        assert m.state_derivative([q], [qd], u=[u]).qdd[0] == pytest.approx(qdd, rel=1e-9)
