"""Transmissions of a URDF: torque of the joint = reduction × torque of the motor; what is left out, word for word."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.actuator_parts import Actuator
from kinpair.description.urdf import parse_urdf
from kinpair.description.warning_list import WarningList

ARM = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="k" type="continuous"><parent link="arm"/><child link="tip"/></joint>{}</robot>"""
SIMPLE = "<type>transmission_interface/SimpleTransmission</type>"
RATIO = "<mechanicalReduction>-50</mechanicalReduction>"
GEARED = Actuator("m", "j", "effort", (), (("ratio", -50.0),))


def read(*transmissions: str, **options):
    text = ARM.format("".join(f'<transmission name="t{k}" {x}' for k, x in enumerate(transmissions)))
    return parse_urdf(text, source="r.urdf", warnings=WarningList(**options))


@pytest.mark.parametrize(
    "inside",
    [
        f'>{SIMPLE}<joint name="j"/><actuator name="m">{RATIO}</actuator></transmission>',
        f'>{SIMPLE}<joint name="j">{RATIO}</joint><actuator name="m"/></transmission>',
        f'type="pr2_mechanism_model/SimpleTransmission"><joint name="j"/><actuator name="m"/>{RATIO}</transmission>',
    ],
)
def test_a_reduction_wherever_it_stands(inside):
    assert read(inside, strict=True).actuators == (GEARED,)


@pytest.mark.parametrize("reduction", ["", "<mechanicalReduction>1.0</mechanicalReduction>"])
def test_a_reduction_of_one_makes_no_actuator(reduction):
    inside = f'>{SIMPLE}<joint name="j"/><actuator name="m">{reduction}</actuator></transmission>'
    assert read(inside, strict=True).actuators == ()


def test_the_torque_of_the_motor_counts_as_often_as_it_turns():
    m = kp.build(read(f'>{SIMPLE}<joint name="j"/><actuator name="m">{RATIO}</actuator></transmission>'))
    assert m.u_names == ("m", "k")
    q, qd = [0.3, -0.2], [0.5, 0.1]
    qdd, _ = m.state_derivative(q, qd, [], [0.2, 3.0])
    assert np.array_equal(qdd, m.forward_dynamics(q, qd, [-10.0, 3.0]))


def test_what_is_not_taken_is_said_once():
    made = read(
        '><type>transmission_interface/DifferentialTransmission</type><joint name="j"/></transmission>',
        f'>{SIMPLE}<joint name="x"/><actuator name="m">{RATIO}</actuator></transmission>',
        f'>{SIMPLE}<joint name="k"/><actuator name="m">{RATIO}</actuator></transmission>',
        f'>{SIMPLE}<joint name="k"/></transmission>',
        "/>",
    )
    assert made.warnings == (
        "r.urdf:5: <transmission> has 5 of 5 that are not taken: 't0' (it is a DifferentialTransmission), 't1' (joint "
        "'x' does not exist), 't2' (joint 'k' has 2), ...; efforts on the joints stand in their place",
    )
    assert made.actuators == ()


def test_transmissions_of_one_name_are_counted_each():
    twice = (
        f'<transmission name="t">{SIMPLE}<joint name="k"/><actuator name="m">{RATIO}</actuator></transmission>'
        * 2
    )
    made = parse_urdf(ARM.format(twice), source="r.urdf", warnings=WarningList())
    assert made.warnings == (
        "r.urdf:5: <transmission> has 2 of 2 that are not taken: 't' (joint 'k' has 2), 't' (joint 'k' has 2); efforts "
        "on the joints stand in their place",
    )


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        ("/>", "it is a transmission without a type"),
        (f'>{SIMPLE}<joint name="k"/></transmission>', "it has 1 joints and 0 actuators"),
        (
            f'>{SIMPLE}<joint name="k"/><actuator>{RATIO}</actuator></transmission>'.replace("-50", "ten"),
            "its mechanicalReduction is 'ten'",
        ),
    ],
)
def test_reasons(inside, reason):
    assert read(inside).warnings == (
        f"r.urdf:5: <transmission> has 1 of 1 that are not taken: 't0' ({reason}); efforts on the joints stand in "
        "their place",
    )
