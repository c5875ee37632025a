"""What actuators may not be, word for word."""

from __future__ import annotations

import pytest

import kinpair as kp

MOTOR = {"resistance": 1.6, "torque_constant": 0.26}
HEAD = "actuator 'motor': "


def built(*actuators, joint=None):
    builder = kp.Builder("arm")
    builder.link("upper", mass=1.0, inertia=(0.1, 0.1, 0.1)).link("lower", mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("shoulder", "revolute", "ground", "upper", **(joint or {}))
    builder.joint("ball", "spherical", "upper", "lower")
    for name, at, kind, keys in actuators:
        builder.actuator(name, at, kind, **keys)
    return kp.build(builder.description())


@pytest.mark.parametrize(
    ("kind", "keys", "message"),
    [
        ("dc-moter", {}, "kind is 'dc-moter'; did you mean 'dc-motor'? give 'effort' or 'affine' or 'dc-motor' or "
         "'servo' or 'series-elastic' or 'hydraulic-cylinder' or 'hydraulic-motor'"),
        ("dc-motor", {**MOTOR, "resistance": -1.0}, "resistance is -1; give a number above zero"),
        ("dc-motor", {"resistance": 1.0}, "torque_constant is missing; give it in N m/A"),
        ("dc-motor", {**MOTOR, "gear": {"ratio": 0.0}}, "@gear: ratio is 0; give a number that is not zero"),
        ("dc-motor", {**MOTOR, "gear": {"efficiency": 1.2}},
         "@gear: efficiency is 1.2; give a number above 0, up to 1"),
        ("dc-motor", {**MOTOR, "gear": {"efficiency_back": 0.5}}, "gear.efficiency_back needs gear.efficiency"),
        ("dc-motor", {**MOTOR, "gear": {"backlash": 0.01}},
         "gear.backlash needs gear.stiffness: a rigid gear has none"),
        ("dc-motor", {**MOTOR, "gear": {"stiffness": 10.0}},
         "an elastic gear needs a rotor_inertia: the rotor moves by itself"),
        ("dc-motor", {**MOTOR, "winding_capacity": 10.0},
         "winding_capacity needs winding_to_housing and housing_to_ambient and housing_capacity"),
        ("dc-motor", {"sheet": "maxon"}, "sheet is 'maxon', which is not a data sheet; there are "
         + ", ".join(kp.data_sheets())),
        ("dc-motor", {"sheet": "cylinder-80-50-400"},
         "sheet is 'cylinder-80-50-400', which is of a hydraulic-cylinder; take one of a dc-motor"),
        ("servo", MOTOR, "a servo has position_gain with speed_gain, or voltage_gain; give one of both"),
        ("servo", {**MOTOR, "position_gain": 5.0}, "position_gain needs speed_gain"),
        ("effort", {"velocity": 3.0}, "velocity needs effort"),
        ("affine", {"input_lower": 1.0, "input_upper": 0.5},
         "input_lower is 1 and input_upper 0.5; give the smaller one first"),
        ("affine", {"filter_time": 1.0, "integral_rate": 0.5},
         "filter_time and integral_rate are both given; give one of them"),
        ("affine", {"filter_time": 0.0}, "filter_time is 0; give a number above zero"),
        ("series-elastic", {"rotor_inertia": 1e-3},
         "gear.stiffness is missing; it is the spring of a series-elastic actuator, in N m/rad"),
        ("hydraulic-cylinder", {"area": 1e-3, "bulk_modulus": 1e9, "volume": 1e-4, "stroke": 0.5},
         "give supply_pressure and flow_constant and rod_volume, or flow_gain for the linear form"),
        ("hydraulic-cylinder", {"area": 1e-3, "bulk_modulus": 1e9, "flow_gain": 0.5},
         "flow_gain needs pressure_flow and volume"),
    ],
)  # fmt: skip
def test_numbers(kind, keys, message):
    with pytest.raises(kp.DescriptionError) as problem:
        built(("motor", "shoulder", kind, keys))
    head = HEAD if not message.startswith("@") else "actuator 'motor', "
    assert str(problem.value) == head + message.removeprefix("@")


SHEET = {"nominal_voltage": 48.0, "stall_current": 28.8, "stall_torque": 1.27, "no_load_speed": 1078.6}


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        (
            {"resistance": 3.0},
            "the data sheet contradicts itself: resistance is 3, and nominal_voltage and stall_current give 1.667; "
            "correct one of these figures, or leave it out",
        ),
        (
            {"no_load_current": 5.0},
            "the data sheet contradicts itself: stall_torque and stall_current give torque_constant = 0.0441, and "
            "nominal_voltage and no_load_speed and no_load_current give 0.03678; correct one of these figures, or "
            "leave it out",
        ),
        (
            {"speed_torque_gradient": 500.0},
            "the data sheet contradicts itself: speed_torque_gradient is 500, and resistance, torque_constant give "
            "857.1; correct one of these figures, or leave it out",
        ),
        (
            {"rotor_inertia": 85e-7, "mechanical_time_constant": 0.02},
            "the data sheet contradicts itself: mechanical_time_constant is 0.02, and resistance, torque_constant and "
            "rotor_inertia give 0.007285; correct one of these figures, or leave it out",
        ),
    ],
)
def test_data_sheets_that_contradict_themselves(figures, message):
    with pytest.raises(kp.DescriptionError) as problem:
        built(("motor", "shoulder", "dc-motor", {**SHEET, **figures}))
    assert str(problem.value) == HEAD + message


def test_an_unknown_data_sheet():
    with pytest.raises(kp.InputError) as problem:
        kp.data_sheet("maxon")
    assert str(problem.value).startswith("no data sheet 'maxon'; ")


@pytest.mark.parametrize(
    ("actuators", "joint", "message"),
    [
        (
            [("motor", "sholder", "effort", {})],
            {},
            HEAD + "joint 'sholder' does not exist; did you mean 'shoulder'? Joints: shoulder, ball",
        ),
        (
            [("motor", "ball", "effort", {})],
            {},
            HEAD + "joint 'ball' has 3 degrees of freedom; an actuator drives a joint of one",
        ),
        (
            [("first", "shoulder", "effort", {}), ("motor", "shoulder", "dc-motor", MOTOR)],
            {},
            HEAD
            + "joint 'shoulder' is driven by actuator 'first' already; a rate has one actuator: take one of them "
            "away, or give its numbers to the other",
        ),
        (
            [("motor", "shoulder", "dc-motor", {**MOTOR, "rotor_inertia": 1e-3})],
            {"rotor_inertia": 2e-3},
            HEAD
            + "rotor_inertia is given, and joint 'shoulder' has rotor_inertia = 0.002; give it once, here or in "
            "the joint",
        ),
        (
            [("motor", "shoulder", "dc-motor", {**MOTOR, "gear": {"ratio": 10.0}})],
            {"gear_ratio": 5.0},
            HEAD
            + "gear.ratio is given, and joint 'shoulder' has gear_ratio = 5; give it once, here or in the joint",
        ),
    ],
)
def test_joints(actuators, joint, message):
    with pytest.raises(kp.DescriptionError) as problem:
        built(*actuators, joint=joint)
    assert str(problem.value) == message


def test_two_actuators_of_one_name():
    with pytest.raises(kp.DescriptionError) as problem:
        built(("motor", "shoulder", "effort", {}), ("motor", "ball", "effort", {}))
    assert str(problem.value) == "actuator 'motor' is already there; give one of them another name"


@pytest.mark.parametrize(
    ("actuators", "what"),
    [(["ball"], "actuators is ['ball']"), ({"ball": None}, "actuator of 'ball' is None")],
)
def test_more_actuators_are_given_by_joint(actuators, what):
    with pytest.raises(kp.InputError) as caught:
        built().with_actuators(actuators)
    assert (
        str(caught.value)
        == f'arm: {what}; give a dict by name of the joint: {{"elbow": {{"kind": "effort"}}}}'
    )


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("motor.resistance", -1.0, "give a number above zero"),
        ("motor.damping", [0.1, -1.0], "give zero or more"),
        ("motor.gear.ratio", 0.0, "give a number that is not zero"),
    ],
)
def test_parameters_are_what_a_file_may_have(name, value, advice):
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(kp.example("dc-actuator"), [0.0], [0.0], duration=0.1, parameters={name: value})
    wrong = min(value) if isinstance(value, list) else value
    assert str(caught.value) == f"dc-actuator: parameters: {name} is {wrong:g}; {advice}"
