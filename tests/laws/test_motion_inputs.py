"""Inputs for a motion, played back through the actuators, return the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from motors import KINDS, swing

MOTOR = {"resistance": 1.6, "inductance": 2.2e-3, "torque_constant": 0.26, "damping": 1e-3, "friction": 0.005}


def stanford() -> kp.Mechanism:
    """The arm with a motor in each joint."""
    description = kp.example("stanford-arm").model.description
    builder = kp.Builder("motors")
    for k, joint in enumerate(description.joints):
        ratio = 500.0 if joint.kind == "prismatic" else 100.0
        builder.actuator(f"m{k}", joint.name, "dc-motor", **MOTOR, gear={"ratio": ratio})
    return kp.build(replace(description, actuators=builder.description().actuators))


def test_voltages_of_the_stanford_arm_return_its_motion():
    """A motion of degree seven in 2 s, open loop."""
    m = stanford()
    start = np.array([0.0, np.pi / 2, 0.5, 0.1, 0.2, 0.1])
    end = start + np.array([0.8, -0.5, 0.2, 0.7, 0.6, -0.9])
    motion = kp.motion.polynomial(start, end, 2.0, order=7)
    plan = kp.motion.inputs(m, motion, samples=4001)
    assert plan.exceeded == ()
    when = np.linspace(0.2, 2.0, 10)
    run = kp.simulate(m, start, np.zeros(6), duration=2.0, input=plan.table, x=plan.x[0], output=when)
    assert np.abs(run.q - motion.at(when).q).max() < 1e-6
    lost = {name: -plan.energy[name] for name in run.losses}
    assert {name: x[-1] for name, x in run.losses.items()} == pytest.approx(lost, rel=1e-4)
    supplied = {name: plan.energy[name] for name in run.supplied}
    assert {name: x[-1] for name, x in run.supplied.items()} == pytest.approx(supplied, rel=1e-4)


def test_friction_from_load_is_among_the_losses_of_a_driven_motion():
    """A disk that turns about its own axis on a bearing under its weight: μ m g r times the way."""
    b = kp.Builder("turntable").link("disk", mass=3.0, inertia=(0.1, 0.1, 0.2))
    bearing = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.03, "length": 0.1}
    b.joint("post", "revolute", "ground", "disk", axis="z", friction=bearing, damping=0.01)
    b.actuator("motor", "post", "dc-motor", **MOTOR, gear={"ratio": 10.0})
    plan = kp.motion.inputs(kp.build(b), kp.motion.polynomial([0.0], [2.0], 1.0, order=7))
    lost = 0.1 * 3.0 * 9.81 * 0.03 * 2.0
    assert -plan.energy["post.friction"] == pytest.approx(lost, rel=1e-9)
    bare = kp.motion.inputs(plan.mechanism, plan.nominal.motion, passive=False)
    assert bare.nominal.loss == 0.0
    assert bare.energy.get("post.friction", 0.0) == 0.0


CASES = ("effort", "affine filtered", "dc-motor", "dc-motor at once")
CASES += ("series-elastic", "linear cylinder", "hydraulic-cylinder")


def held(case: str) -> kp.Mechanism:
    """The first joint of `swing`, alone."""
    kind, numbers, gear = KINDS[case]
    slides = swing(case).model.description.joints[0].kind == "prismatic"
    builder = kp.Builder(case)
    builder.link("first", mass=50.0 if slides else 2.0, com=(0.0, -0.2, 0.0), inertia=(0.1, 0.1, 0.1))
    builder.joint(
        "drive", "prismatic" if slides else "revolute", "ground", "first", axis="x" if slides else "z"
    )
    builder.actuator("motor", "drive", kind, **numbers, **({"gear": gear} if gear else {}))
    return kp.build(builder.description())


@pytest.mark.parametrize("case", CASES)
def test_a_motion_of_one_joint_comes_back(case):
    m = held(case)
    motion = kp.motion.polynomial([0.0], [0.1], 1.0, order=9)
    plan = kp.motion.inputs(m, motion, samples=2001)
    when = np.linspace(0.1, 1.0, 10)
    run = kp.simulate(m, [0.0], [0.0], duration=1.0, input=plan.table, x=plan.x[0], output=when)
    assert np.abs(run.q - motion.at(when).q).max() < 2e-6
    assert run.x[-1] == pytest.approx(plan.x[-1], abs=1e-3 * max(1.0, np.abs(plan.x).max(initial=0.0)))


@pytest.mark.long(reason="a large example; cylinders and loops are tested by themselves")
def test_openings_of_the_excavator_return_its_motion():
    """Through loops: links by their angles, efforts of the cylinders in the loops, pressures, valves, and back."""
    m, q = kp.example("excavator"), kp.example("excavator").start()
    ends = {"boom": 0.56, "arm": -1.65, "bucket": -0.75}
    wanted = {
        name: kp.motion.polynomial(float(a), ends[name], 1.0, order=9)
        for name, a in zip(ends, q, strict=False)
    }
    plan = kp.motion.inputs(m, wanted, start=q, samples=1001)
    assert plan.exceeded == ()
    when = np.array([0.3, 0.6])
    run = kp.simulate(m, q, np.zeros(m.nv), duration=0.6, input=plan.table, x=plan.x[0], output=when)
    assert np.abs(run.q - plan.nominal.motion.at(when).q).max() < 1e-6
    assert np.abs(run.q[-1] - q).max() > 0.03


def test_a_voltage_that_cannot_hold_the_motion_is_named():
    builder = kp.Builder("weak").link("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("hinge", "revolute", "ground", "arm", axis="z")
    motor = {**MOTOR, "voltage": 12.0, "current": 20.0}
    builder.actuator("motor", "hinge", "dc-motor", **motor, gear={"ratio": 100.0})
    motion = kp.motion.polynomial([0.0], [1.0], 1.0, order=7)
    with pytest.warns(kp.LimitWarning) as warned:
        plan = kp.motion.inputs(kp.build(builder.description()), motion)
    (worst,) = plan.exceeded
    assert (worst.actuator, worst.joint, worst.limit) == ("motor", "hinge", 12.0)
    assert worst.time == pytest.approx(0.5, abs=0.02)
    assert worst.value == pytest.approx(
        0.26 * 100.0 * 2.1875, rel=0.05
    )  # the largest rate of degree seven is 35/16
    assert str(warned[0].message) == f"weak: {worst}"
    assert str(worst) == (
        f"'motor' of joint 'hinge' needs a voltage of {worst.value:.4g} at t = {worst.time:.4g} s, "
        f"{100 * (worst.value / 12 - 1):.3g} % beyond its limit 12"
    )


def test_what_has_no_inverse_says_so():
    motion = kp.motion.polynomial([0.0, 0.0], [1.0, 0.0], 1.0, order=7)
    with pytest.raises(kp.InputError) as problem:
        kp.motion.inputs(kp.example("double-pendulum"), motion)
    assert str(problem.value) == (
        "double-pendulum: has no actuators; `kp.motion.nominal` has the joint efforts of a motion"
    )
    with pytest.raises(kp.InputError) as problem:
        kp.motion.inputs(swing("servo"), motion)
    assert str(problem.value) == (
        "servo: actuator 'motor' is a servo: its input is the position that is wanted, and its controller finds the "
        "voltage; give it as a dc-motor to have that"
    )
