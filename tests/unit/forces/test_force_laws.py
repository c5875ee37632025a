"""Springs, ropes and motors: power balances and second formulas."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.forces.actuators.dc_motor import DCMotor
from kinpair.forces.actuators.machine import Shaft
from kinpair.forces.springs import Linear, Rope, Traced

STEP = 1e-6
LENGTHS = (0.7, 0.95, 1.3)
LAWS = {
    "linear": Linear(40.0, 3.0, 0.9, 2.0),
    "rope": Rope(40.0, 3.0, 0.9, 0.0),
    "rope with preload": Rope(40.0, 3.0, 0.9, 4.0),
    "law": Traced(lambda l, v: 5.0 * (l - 0.9) ** 3 + 2.0 * v, lambda l: 1.25 * (l - 0.9) ** 4),
}


def slope(f, x):
    return (f(x + STEP) - f(x - STEP)) / (2 * STEP)


@pytest.mark.parametrize("rate", [-0.2, 0.0, 0.5])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_power_into_a_spring_is_stored_or_lost(law, length, rate):
    """(PS4), (PS5): F ℓ̇ = V̇ + loss, V̇ by differences."""
    stored = slope(law.energy, length) * rate
    assert law.tension(length, rate) * rate == pytest.approx(stored + law.loss(length, rate), abs=1e-7)


@pytest.mark.parametrize("rate", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_rope_pulls_and_never_loses_less_than_nothing(length, rate):
    for name in ("rope", "rope with preload"):
        assert LAWS[name].tension(length, rate) >= 0.0
        assert LAWS[name].loss(length, rate) >= -1e-12


@pytest.mark.parametrize("length", [1.0, 1.3])
def test_a_taut_rope_is_a_linear_spring(length):
    rope, spring = Rope(40.0, 3.0, 0.9, 0.0), Linear(40.0, 3.0, 0.9, 0.0)
    assert rope.tension(length, 0.1) == pytest.approx(spring.tension(length, 0.1))
    assert rope.energy(length) - rope.energy(0.9) == pytest.approx(spring.energy(length))


@pytest.mark.parametrize("length", [0.2, 0.8])
def test_a_slack_rope_has_no_force_and_no_change_of_energy(length):
    rope = Rope(40.0, 3.0, 0.9, 0.0)
    assert rope.tension(length, 1.0) == 0.0
    assert rope.energy(length) == rope.energy(0.9)
    assert rope.switches(length, 1.0)["taut"] < 0.0


MOTORS = {
    "plain": DCMotor(2.0, 0.1),
    "inductance": DCMotor(2.0, 0.1, inductance=0.01),
    "constants differ": DCMotor(2.0, 0.1, voltage_constant=0.12),
    "losses": DCMotor(2.0, 0.1, damping=1e-3, friction=0.02, iron_damping=2e-3, iron_torque=0.01, stray=1e-3),
    "brushes": DCMotor(2.0, 0.1, inductance=0.01, brush_voltage=0.6),
    "limits": DCMotor(2.0, 0.1, voltage=5.0, current=1.5),
}


@pytest.mark.parametrize("speed", [-30.0, 0.0, 12.0])
@pytest.mark.parametrize("motor", MOTORS.values(), ids=MOTORS)
def test_power_of_a_motor_is_supply_less_losses_less_what_is_stored(motor, speed):
    """(EL1) at the shaft, for currents that change."""
    x = np.full(len(motor.states), 0.8)
    w = motor.work(x, 6.0, Shaft(0.0, speed))
    after = motor.work(x + STEP * np.array(w.rates), 6.0, Shaft(0.0, speed)).energy
    before = motor.work(x - STEP * np.array(w.rates), 6.0, Shaft(0.0, speed)).energy
    stored = (after - before) / (2 * STEP)
    power = sum(w.supply.values()) - sum(w.losses.values()) - stored
    assert w.effort * speed == pytest.approx(power, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("speed", [-10.0, 25.0])
def test_a_current_at_rest_is_that_of_a_motor_without_inductance(speed):
    """di/dt = 0 at i = (v − k_e ω)/R."""
    i = (6.0 - 0.1 * speed) / 2.0
    slow, quick = MOTORS["inductance"], MOTORS["plain"]
    w = slow.work(np.array([i]), 6.0, Shaft(0.0, speed))
    assert w.rates[0] == pytest.approx(0.0, abs=1e-9)
    assert w.effort == pytest.approx(quick.work(np.zeros(0), 6.0, Shaft(0.0, speed)).effort)


def test_the_largest_current_bounds_the_effort():
    w = MOTORS["limits"].work(np.zeros(0), 100.0, Shaft(0.0, 0.0))
    assert w.effort == pytest.approx(0.1 * 1.5)
    low = MOTORS["limits"].work(np.zeros(0), 2.0, Shaft(0.0, 0.0))
    assert low.effort == pytest.approx(0.1 * 2.0 / 2.0)
