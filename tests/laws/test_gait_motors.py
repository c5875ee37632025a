"""A gait with motors in the joints: voltages, and where the energy goes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from walking import biped_gait

RATIO, RESISTANCE, CONSTANT, INDUCTANCE = 80.0, 0.2, 0.1, 2e-4
MOTOR = {
    "kind": "dc-motor",
    "resistance": RESISTANCE,
    "inductance": INDUCTANCE,
    "torque_constant": CONSTANT,
    "rotor_inertia": 3e-5,
    "damping": 1e-5,
    "gear": {"ratio": RATIO, "efficiency": 0.85},
}


def driven(**more):
    """The gait of the biped with motors, which do not change it."""
    gait = biped_gait()
    motors = dict.fromkeys(gait.mechanism.v_names[6:], MOTOR | more)
    return replace(gait, mechanism=gait.mechanism.with_actuators(motors))


@cache
def walk():
    gait = driven()
    return gait, gait.inputs()


def test_energy_that_comes_in_is_lost_on_the_way_or_does_work():
    """Over two steps on level ground the machine gains nothing, rotors and windings included; the sums are those of
    trapezoids over functions with kinks."""
    gait, plan = walk()
    parts, x = plan.totals, gait.samples
    work = float(np.trapezoid(x["power"][:, 6:].sum(1), x["time"]))
    assert set(parts) == {"source", "copper", "friction", "gear"}
    assert parts["source"] > 0.0 > max(parts["copper"], parts["friction"], parts["gear"])
    assert sum(parts.values()) == pytest.approx(work, abs=1e-5 * parts["source"])
    assert work == pytest.approx(0.0, abs=1e-4 * parts["source"])


def test_copper_and_voltage_are_those_of_the_current():
    """What resistance and speed leave of the voltage changes the current; summed over time, since currents jump within
    a sample where a gear begins to be driven from behind."""
    gait, plan = walk()
    m, time = gait.mechanism, plan.time
    i = plan.x[:, m.x_names.index("left-knee.current")]
    np.testing.assert_allclose(plan.power["left-knee.copper"], -RESISTANCE * i**2, rtol=1e-9, atol=1e-12)
    u, speed = (
        plan.u[:, m.u_names.index("left-knee")],
        RATIO * plan.nominal.qd[:, m.v_names.index("left-knee")],
    )
    left = u - RESISTANCE * i - CONSTANT * speed
    summed = np.concatenate([[0.0], np.cumsum((left[1:] + left[:-1]) / 2 * np.diff(time))])
    np.testing.assert_allclose(summed / INDUCTANCE, i - i[0], rtol=0, atol=np.abs(np.diff(i)).max() / 2)


def test_voltage_beyond_its_limit_is_named():
    gait = driven(voltage=40.0)
    gait.__dict__["samples"] = walk()[0].samples  # equal; nothing is compiled again
    with pytest.warns(kp.LimitWarning) as warned:
        plan = gait.inputs()
    assert {x.actuator for x in plan.exceeded} == {"left-knee", "right-knee", "left-ankle", "right-ankle"}
    assert str(warned[0].message) == f"biped: {', '.join(map(str, plan.exceeded))}"
    assert str(plan.exceeded[0]) == (
        "'left-knee' of joint 'left-knee' needs a voltage of 46.2 at t = 0.1438 s, 15.5 % beyond its limit 40"
    )


def test_actuator_of_a_joint_that_is_not_there():
    with pytest.raises(kp.DescriptionError) as refused:
        kp.example("double-pendulum").with_actuators({"elbw": MOTOR})
    assert str(refused.value) == (
        "actuator 'elbw': joint 'elbw' does not exist; did you mean 'elbow'? Joints: shoulder, elbow"
    )
