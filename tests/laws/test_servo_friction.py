"""The law `servo`: its load is external and motor torque alone, and `level_static` is the level at rest."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

SERVO = {
    "law": "servo", "level": 0.1, "level_static": 0.25, "stribeck_speed": 0.3, "exponent": 1.3, "motor_share": 0.05,
    "load_share": 0.07, "motor_share_static": 0.02, "load_share_static": 0.03, "motor_square": 0.01,
    "load_square": 0.02, "viscous": 0.4,
}  # fmt: skip


def wheel(*others: dict, **changes: float) -> kp.Mechanism:
    """A balanced wheel: nothing but its own friction resists a steady rotation."""
    b = kp.Builder("wheel").link("wheel", mass=1.0, inertia=(0.02, 0.02, 0.03))
    friction = {key: x for key, x in {**SERVO, **changes}.items() if x is not None}
    return kp.build(
        b.joint(
            "axle",
            "revolute",
            "ground",
            "wheel",
            axis="z",
            friction=[friction, *others] if others else friction,
        )
    )


def turning(qd: float, c: float, load: float = 0.0) -> float:
    """The motor torque of a steady rotation forward against a load of the other sign, in closed form."""
    s = np.exp(-((qd / SERVO["stribeck_speed"]) ** SERVO["exponent"]))
    l_m, l_e, l_ms, l_es = (
        SERVO[key] for key in ("motor_share", "load_share", "motor_share_static", "load_share_static")
    )
    constant = 0.1 + s * (0.15 + SERVO["load_square"] * load**2) + (l_e + s * l_es) * load
    return (constant + load + c * qd) / (1.0 - l_m - s * l_ms)


@pytest.mark.parametrize("qd", [0.05, 0.4, 6.0])
def test_a_servo_that_turns_freely_is_loaded_by_its_motor_alone(qd):
    m = wheel()
    tau = m.inverse_dynamics([0.3], [qd], [0.0])
    assert tau == pytest.approx([turning(qd, 0.4)], rel=1e-12)
    assert m.forward_dynamics([0.3], [qd], tau) == pytest.approx([0.0], abs=1e-10)


def test_a_damper_next_to_a_servo_is_a_load():
    """It resists from outside: its torque passes through the servo."""
    qd, c = 0.4, 2.0
    outside = wheel({"law": "viscous", "viscous": c}, viscous=0.0)
    tau = outside.inverse_dynamics([0.3], [qd], [0.0])
    assert tau == pytest.approx([turning(qd, 0.0, load=c * qd)], rel=1e-12)
    assert tau[0] > wheel(viscous=c).inverse_dynamics([0.3], [qd], [0.0])[0]


def test_viscous_of_a_servo_is_one_parameter():
    m, other = wheel(), wheel(viscous=0.7)
    assert m.parameter_names.count("axle.friction.viscous") == 1
    kernel = m.kernel("forward_dynamics", parameters=("axle.friction.viscous",))
    state = np.array([0.3]), np.array([0.8]), np.array([1.0])
    assert kernel(*state, np.array(0.7))[0] == pytest.approx(other.forward_dynamics(*state), rel=1e-12)


@pytest.mark.parametrize("tau", [0.26, 0.27])
def test_level_static_is_the_torque_that_a_servo_without_load_leaves_rest_at(tau):
    """0.25 N m and the share of the motor: τ = 0.25/(1 − 0.05 − 0.02) = 0.26882."""
    m = wheel()
    assert (m.forward_dynamics([0.0], [0.0], [tau])[0] == 0.0) == (tau * (1.0 - 0.07) < 0.25)


def test_a_servo_whose_level_at_rest_is_below_that_of_sliding():
    with pytest.raises(kp.DescriptionError) as caught:
        wheel(level_static=0.05)
    assert str(caught.value) == (
        "joint 'axle': friction: level_static 0.05 is below level 0.1: leaving rest takes at least as much as sliding; "
        "give 0.1 or more"
    )
    with pytest.raises(kp.InputError, match=r"axle\.friction\.level_static is below axle\.friction\.level"):
        kp.simulate(wheel(), [0.0], [1.0], duration=0.1, parameters={"axle.friction.level": 0.5})
