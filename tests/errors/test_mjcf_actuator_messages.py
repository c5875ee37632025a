"""What actuators of an MJCF file may not be, and which of them are not taken, word for word."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.description.mjcf import parse_mjcf
from kinpair.description.warning_list import WarningList
from mjcf_models import mjcf

JOINTS = (
    '<body name="arm"><joint name="a"/><geom size="1"/><body name="tip"><joint name="b"/><geom size="1"/></body></body>'
    '<body name="ball"><freejoint name="f"/><geom size="1" contype="0" conaffinity="0"/></body>'
)


def read(actuators, *sections):
    warnings = WarningList()
    text = mjcf(JOINTS, *sections, f"<actuator>{actuators}</actuator>")
    return parse_mjcf(text, source="r.xml", warnings=warnings)


@pytest.mark.parametrize(
    ("actuators", "message"),
    [
        (
            '<motor joint="c"/>',
            "r.xml:1: actuator 'actuator 0' names the joint 'c', which does not exist; Joints: a, b, f",
        ),
        (
            '<motr name="m" joint="a"/>',
            "r.xml:1: actuator 'm' is a <motr>, which is not an actuator of MJCF; did you mean 'motor'? Actuators: "
            "general, motor, position, velocity, intvelocity, damper, cylinder, dcmotor, muscle, "
            "adhesion, orientation, pid, plugin",
        ),
        (
            '<motor name="m" joint="a" class="x"/>',
            "r.xml:1: actuator 'm' names the class 'x', which does not exist; Classes: main",
        ),
        (
            '<dcmotor name="m" joint="a" motorconst=".1"/>',
            "r.xml:1: actuator 'm' is a dcmotor without resistance or motorconst; give both, or nominal",
        ),
        (
            '<position name="m" joint="a" kv="-1"/>',
            "r.xml:1: actuator 'm' has <position kv=\"-1\">; give none below zero",
        ),
        (
            '<position name="m" joint="a" timeconst="-1"/>',
            "r.xml:1: actuator 'm' has <position timeconst=\"-1\">; give none below zero",
        ),
        (
            '<intvelocity name="m" joint="a" kv="1" dampratio="1"/>',
            "r.xml:1: actuator 'm' has <intvelocity> with kv and dampratio; give one of them",
        ),
        (
            '<damper name="m" joint="a" kv="1" ctrlrange="-1 1"/>',
            "r.xml:1: actuator 'm' has <damper ctrlrange=\"-1 1\">; give none below zero",
        ),
        (
            '<dcmotor name="m" joint="a" motorconst=".1" resistance="-2"/>',
            "r.xml:1: actuator 'm' has <dcmotor resistance=\"-2\">; give none below zero",
        ),
        (
            '<motor name="m" joint="a"/><motor name="m" joint="b"/>',
            "r.xml:1: actuator 'm' is already there at r.xml:1; give one of them another name",
        ),
    ],
)
def test_refused(actuators, message):
    with pytest.raises(kp.DescriptionError) as problem:
        read(actuators)
    assert str(problem.value) == message


DC = "<dcmotor name='m' joint='a' motorconst='.1' resistance='2' "


@pytest.mark.parametrize(
    ("actuators", "reason"),
    [
        ('<muscle name="m" joint="a"/>', "it is a <muscle>"),
        ('<motor name="m" tendon="t"/>', "it acts on the tendon 't'"),
        ('<motor name="m" site="s"/>', "it acts on the site 's'"),
        ('<motor name="m" joint="f"/>', "joint 'f' has several coordinates"),
        ('<general name="m" joint="a" dyntype="user"/>', 'it has dyntype="user"'),
        ('<general name="m" joint="a" gaintype="muscle"/>', 'it has gaintype="muscle"'),
        ('<motor name="m" joint="a" gear="0"/>', "its gear is 0"),
        ('<motor name="m" joint="a" delay=".1"/>', "it has a delay"),
        ('<motor name="m" joint="a" damping="1 2"/>', "it has damping of higher order"),
        ('<motor name="m" joint="a" group="3"/>', "its group is switched off"),
        (
            '<position name="m" joint="a" inheritrange="1"/>',
            "it has inheritrange, and joint 'a' has no range",
        ),
        (DC + "cogging='1'/>", "it has cogging"),
        (DC + "input='pos'/>", 'it has input="pos"'),
        (DC + "saturation='0 0 3'/>", "it has a saturation of the rate of its current"),
        (DC + "saturation='1' inductance='.1'/>", "its torque is bounded, and its current is not"),
        (DC + "ctrlrange='0 1'/>", "its ctrlrange is not even"),
    ],
)
def test_not_taken(actuators, reason):
    made = read(actuators, '<option actuatorgroupdisable="3"/>')
    assert made.warnings == (
        f"r.xml:1: the section <actuator> has 1 of 1 that are not taken: 'm' ({reason}); efforts on the joints stand "
        "in their place",
    )
    assert made.actuators == ()
    assert all(joint.actuated is not False for joint in made.joints)


def test_actuators_of_one_joint_are_left_out_together_in_one_sentence():
    drives = [f'<position name="p{k}" joint="a"/>' for k in range(3)]
    made = read("".join([*drives, '<muscle name="x" joint="f"/>', '<motor name="m" joint="b"/>']))
    assert made.warnings == (
        "r.xml:1: the section <actuator> has 4 of 5 that are not taken: 'p0' (joint 'a' has 3), "
        "'p1' (joint 'a' has 3), 'p2' (joint 'a' has 3), ...; efforts on the joints stand in their place",
    )
    assert [x.name for x in made.actuators] == ["m"]


def test_actuation_that_is_switched_off():
    made = read('<motor name="m" joint="a"/>', '<option><flag actuation="disable"/></option>')
    assert "'m' (actuation is switched off)" in made.warnings[0]
    assert made.actuators == ()


def test_a_name_that_another_joint_has_is_told_apart():
    made = read('<motor name="b" joint="a"/><motor name="a" joint="b"/>')
    assert [(x.name, x.joint) for x in made.actuators] == [("b actuator", "a"), ("a actuator", "b")]


@pytest.mark.parametrize("attribute", ["ctrlrange", "forcerange"])
def test_a_range_that_is_written_upside_down(attribute):
    made = read(f'<motor name="m" joint="a" {attribute}="1 -1"/>')
    assert made.warnings == (
        f"r.xml:1: actuator 'm' has the {attribute} 1 to -1, which leaves no room; taken as unlimited",
    )


def test_unknown_attributes():
    made = read('<motor name="m" joint="a" kp="3"/>')
    assert made.warnings == ("r.xml:1: actuator 'm' has the unknown attribute 'kp'; left out",)
