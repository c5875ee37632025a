"""What is said of friction that has no meaning, word for word."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp

COULOMB = {"law": "coulomb", "level": 1.0}
STRIBECK = {"law": "stribeck", "level": 1.0, "level_static": 2.0, "stribeck_speed": 0.1, "exponent": 2.0}


def described(friction, kind: str = "prismatic") -> kp.Builder:
    return (
        kp.Builder("m")
        .link("a", mass=1.0, inertia=[1, 1, 1])
        .joint("x", kind, "ground", "a", friction=friction)
    )


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        (
            {"law": "colomb", "level": 1.0},
            "joint 'x', friction: law is 'colomb'; did you mean 'coulomb'? give 'viscous' or "
            "'coulomb' or 'stribeck' or 'lugre' or 'bearing' or 'guide' or 'thread' or 'gear' or 'servo'",
        ),
        (
            {"law": "coulomb", "levl": 1.0},
            "joint 'x', friction: unknown key 'levl'; did you mean 'level'? "
            "Keys: law, name, level, level_static, level_negative, viscous, stribeck_speed, exponent, sigma0, sigma1, "
            "mu, mu_static, radius, thrust_radius, length, width, preload, efficiency, efficiency_back, motor_share, "
            "load_share, motor_share_static, load_share_static, motor_square, load_square",
        ),
        (
            {"level": 1.0},
            "joint 'x', friction: law is missing; give 'viscous', 'coulomb', 'stribeck', 'lugre', 'bearing', "
            "'guide', 'thread', 'gear', 'servo'",
        ),
        (
            {"law": "stribeck", "level": 1.0, "level_static": 2.0, "exponent": 2},
            "joint 'x', friction: stribeck_speed is missing; law 'stribeck' needs it "
            "(speed at which the static surplus has faded, rad/s or m/s)",
        ),
        (
            [COULOMB, {"law": "viscous", "viscous": 1.0, "level": 2.0}],
            "joint 'x', entry 2 of friction: law 'viscous' takes no level; it takes viscous, exponent",
        ),
        (
            [COULOMB, 2.0],
            "joint 'x': entry 2 of friction is 2.0; give tables with a law, or numbers alone",
        ),
    ],
)
def test_a_table_that_is_no_law_of_friction(friction, message):
    with pytest.raises(kp.DescriptionError) as caught:
        described(friction)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        (-1.0, "joint 'x': friction: level is -1; friction resists motion, so give zero or more"),
        (
            {**COULOMB, "level_static": 0.5},
            "joint 'x': friction: level_static 0.5 is below level 1: leaving rest takes at least as much as sliding; "
            "give 1 or more, or leave level_static out",
        ),
        (
            {**STRIBECK, "level_static": 0.5},
            "joint 'x': friction: level_static 0.5 is below level 1: leaving rest takes at least as much as sliding; "
            "give 1 or more",
        ),
        (
            [COULOMB, {**STRIBECK, "stribeck_speed": 0.0}],
            "joint 'x': friction 2: stribeck_speed is 0; give a number above zero "
            "(speed at which the static surplus has faded, rad/s or m/s)",
        ),
        (
            {**COULOMB, "viscous": [1.0, 2.0]},
            "joint 'x': friction: viscous has 2 numbers; a prismatic joint takes 1",
        ),
    ],
)
def test_numbers_that_no_friction_has(friction, message):
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(described(friction))
    assert str(caught.value) == message


def test_friction_in_a_joint_that_a_drive_moves():
    builder = described(0.5).drive("wave", "x", lambda t: np.sin(t))
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(builder)
    assert str(caught.value) == (
        "joint 'x' has dry friction, and drive 'wave' moves it: a drive sets the motion whatever resists; leave "
        "friction out of this joint, or move it by efforts (torque=) instead of the drive"
    )
    kp.build(described({"law": "viscous", "viscous": 0.5}).drive("wave", "x", lambda t: np.sin(t)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"x.friction.level": -1.0}, "m: parameters: x.friction.level is -1; it is zero or above"),
        ({"x.friction.exponent": 0.0}, "m: parameters: x.friction.exponent is 0; it is above zero"),
        (
            {"x.friction.level": 3.0},
            "m: parameters: x.friction.level_static is below x.friction.level; it takes at least as much to leave rest "
            "as to slide",
        ),
    ],
)
def test_parameters_that_no_friction_has(parameters, message):
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(kp.build(described(STRIBECK)), [0.0], [1.0], duration=0.1, parameters=parameters)
    assert str(caught.value) == message


def test_a_law_without_a_closed_form():
    with pytest.raises(kp.InputError) as caught:
        kp.equations(kp.build(described(STRIBECK)))
    assert str(caught.value) == (
        "m: x.friction has law 'stribeck', which has no closed form here; passive=False (--no-passive) leaves springs, "
        "dampers and friction out"
    )


def test_a_solver_that_needs_full_rank_is_refused_where_joints_may_stick_and_taken_where_friction_is_left_out():
    description = kp.example("four-bar").model.description
    joints = tuple(replace(x, friction=(0.1,)) if x.name == "crank" else x for x in description.joints)
    m = kp.build(replace(description, joints=joints))
    q, still = m.start(), np.zeros(3)
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(m, q, still, duration=0.1, solver="maggi")
    assert str(caught.value) == (
        "four-bar: solver 'maggi' needs rows of full rank, and joints that stick take it away; 'multipliers' takes dry "
        "friction, passive=False (--no-passive) leaves it out"
    )
    assert kp.simulate(m, q, still, duration=0.1, solver="maggi", passive=False).status.ok


TWO = {
    "law": "lugre",
    "level_static": 2.0,
    "stribeck_speed": 0.1,
    "exponent": 2,
    "sigma0": 1e4,
    "sigma1": 1.0,
}


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        (
            {"law": "coulomb", "level": "20*sin(3*x)"},
            "joint 'x', friction: level has the variable 'x' in the formula '20*sin(3*x)'; Variables: t, pi",
        ),
        (
            {"law": "coulomb", "level": {"scale": 3}},
            "joint 'x', friction, level: input is missing; give the name of the input that operates it",
        ),
        (
            {"law": "coulomb", "level": {"input": "pedal", "scale": -3}},
            "joint 'x', friction, level: scale is -3; give zero or more",
        ),
        (
            {"law": "coulomb", "level": True},
            "joint 'x', friction: level is True; give a number, a formula of t as a text, or "
            '{input = "name", scale = 100}',
        ),
        (
            {"law": "coulomb", "level": {"input": "x"}},
            "joint 'x': friction takes the input 'x', and joint 'x' has an input of that name; give the input of the "
            "friction another name",
        ),
        (
            {"law": "coulomb", "level": {"input": "p"}, "level_negative": {"input": "r"}},
            "joint 'x': friction: inputs p, r both operate it; a law takes one input",
        ),
        (
            TWO | {"level": "t"},
            "joint 'x': friction: level changes, and law 'lugre' takes a number; laws coulomb, stribeck, bearing, "
            "guide, thread, gear take numbers that change",
        ),
        (
            {"law": "coulomb", "level": lambda t: [t, t]},
            "joint 'x', friction: level function of t gives 2 numbers; give one",
        ),
    ],
)
def test_levels_that_cannot_change_so(friction, message):
    with pytest.raises(kp.DescriptionError) as caught:
        kp.simulate(kp.build(described(friction)), [0.0], [1.0], duration=0.1)
    assert str(caught.value) == message


def test_a_level_below_zero():
    timed = kp.build(described({"law": "coulomb", "level": "1 - 2*t"}))
    operated = kp.build(described({"law": "coulomb", "level": {"input": "clamp", "scale": 5.0}}))
    ends = np.array([0.0, 2.0])
    words = "has a level below zero at t = {} s; friction resists motion, so its level is zero or above"
    calls = [
        (lambda: timed.forward_dynamics([0.0], [0.0], [0.0], time=2.0), 2),
        (lambda: timed.forward_dynamics([0.0], [1.0], [0.0], time=2.0), 2),
        (lambda: timed.inverse_dynamics([0.0], [1.0], [0.0], time=2.0), 2),
        (lambda: operated.state_derivative([0.0], [1.0], u=[-1.0, 0.0]), 0),
        (lambda: operated.state_derivative([0.0], [0.0], u=[-1.0, 0.0]), 0),
    ]
    for call, when in calls:
        with pytest.raises(kp.InputError) as caught:
            call()
        assert str(caught.value) == f"m: x.friction {words.format(when)}"
    falling = (ends, np.stack([1.0 - 2.0 * ends, np.zeros(2)], axis=-1))
    for m, inputs in [(timed, {}), (operated, {"input": falling})]:
        with pytest.raises(kp.RunError) as caught:
            kp.simulate(m, [0.0], [90.0], duration=2.0, **inputs)
        assert str(caught.value) == (
            f"m: stopped at t = 0.5 s: x.friction {words.format(0.5)}; error.run has the samples before"
        )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"joint": "y"},
            "brake 'b': joint is 'y', which does not exist; Joints: x",
        ),
        (
            {"level": -2.0},
            "brake 'b' of joint 'x': level is -2; friction resists motion, so give zero or more",
        ),
        ({"level": "q"}, "brake 'b': level has the variable 'q' in the formula 'q'; Variables: t, pi"),
    ],
)
def test_brakes(keys, message):
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(described(0.0).brake(**{"name": "b", "joint": "x", "level": 1.0} | keys))
    assert str(caught.value) == message


def test_two_brakes_of_one_name():
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(described([COULOMB | {"name": "b"}, COULOMB | {"name": "b"}]))
    assert str(caught.value) == (
        "brake 'b' of joint 'x': joint 'x' has a brake of that name; give one of them another name"
    )
