"""Laws of nominal dynamics: work is energy gained and lost, reactions are those of the motion, limits are seen."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

START, END = np.array([0.2, 1.1, 0.3, -0.3, 0.7, 0.4]), np.array([0.9, 0.5, 0.6, 0.4, -0.5, 1.2])
MOVES = {
    "septic": kp.motion.polynomial(START, END, 1.0, order=7),
    "trapezoid": kp.motion.trapezoid(START, END, velocity=1.0, acceleration=3.0),
    "spline": kp.motion.spline([START, (START + END) / 2 + 0.2, END], 2.0),
    "linear": kp.motion.polynomial(START, END, 1.0, order=1),
}


@pytest.fixture(scope="module")
def arm():
    return kp.example("stanford-arm")


def damped() -> kp.Mechanism:
    """Two links with a spring, dampers and dry friction, and a spring between points."""
    b = kp.Builder("damped")
    for name, parent, z in (("upper", "ground", 0.0), ("lower", "upper", -0.4)):
        b.link(name, mass=1.0, com=[0, 0, -0.2], inertia=[0.02, 0.02, 0.001])
        b.joint(
            name, "revolute", parent, name, axis="y", xyz=[0, 0, z], damping=0.3, friction=0.5, stiffness=2.0
        )
    b.spring(
        "rope",
        "ground",
        "lower",
        xyz=[0.5, 0, 0],
        child_xyz=[0, 0, -0.3],
        stiffness=30.0,
        rest_length=0.2,
        damping=1.0,
    )
    return kp.build(b)


def balanced(x: kp.motion.Nominal) -> None:
    work = float(x.work.sum())
    assert work == pytest.approx(x.gain + x.loss, abs=1e-9 * max(1.0, abs(work)))


@pytest.mark.parametrize("move", MOVES)
def test_work_is_the_energy_gained(arm, move):
    balanced(kp.motion.nominal(arm, MOVES[move]))


def test_work_is_the_energy_gained_and_lost():
    """Rates change their sign on the way, so that friction jumps."""
    move = kp.motion.spline([[0.1, 0.2], [0.9, -0.4], [-0.3, 0.5]], 2.0)
    x = kp.motion.nominal(damped(), move)
    assert x.loss > 0.1
    balanced(x)
    balanced(kp.motion.nominal(damped(), move, passive=False))


def test_friction_from_load_takes_its_part_of_the_work():
    """A box of 3 kg in a level guide: μ m g a metre, there and back; a spring gives back what it took."""
    b = kp.Builder("box").link("box", mass=3.0, inertia=[0.1, 0.1, 0.1])
    guide = {"law": "guide", "mu": 0.1, "length": 0.3, "width": 0.2}
    m = kp.build(b.joint("rail", "prismatic", "ground", "box", axis="x", friction=guide, stiffness=20.0))
    x = kp.motion.nominal(m, kp.motion.spline([[0.0], [0.5], [0.0]], 2.0))
    assert x.loss == pytest.approx(0.1 * 3.0 * 9.81 * 1.0, rel=1e-9)
    balanced(x)
    assert kp.motion.nominal(m, x.motion, passive=False).loss == 0.0


def test_work_of_a_hand_and_of_a_closed_mechanism():
    arm = kp.example("redundant-arm")
    rotation, position = arm.pose(arm.start(), "hand")
    path = kp.motion.line((rotation, position), (rotation, position - 0.05), 1.0)
    balanced(kp.motion.nominal(arm, {"hand": path}, criterion="energy"))
    linkage = kp.example("four-bar")
    turn = kp.motion.polynomial(linkage.start()[0], linkage.start()[0] + 1.0, 1.0, order=7)
    move = kp.motion.follow(linkage, {"crank": turn}, samples=80)
    x = kp.motion.nominal(linkage, move, actuators=["crank"], samples=51)
    assert not x.effort[:, 1:].any()
    assert np.abs(linkage.constraint_residual(x.q)).max() < 1e-9
    work = float(x.work.sum())
    assert work == pytest.approx(
        x.gain + x.loss, abs=1e-8 * max(1.0, abs(work))
    )  # loops close to 1e-9 between samples


def test_reactions_are_those_of_a_simulation_of_the_motion(arm):
    """The efforts of the nominal motion, fed forward, make it again."""
    move = MOVES["septic"]

    def torque(time, q, qd):
        x = move.at(time)
        return arm.inverse_dynamics(x.q, x.qd, x.qdd)

    run = kp.simulate(
        arm, START, np.zeros(6), duration=1.0, torque=torque, rtol=1e-12, atol=1e-13, output=0.1
    )
    x = kp.motion.nominal(arm, move, samples=11)
    assert np.abs(run.q - x.q).max() < 1e-9
    for joint, wrench in x.reactions.items():
        assert np.abs(run.reactions[joint] - wrench).max() <= 1e-8 * max(1.0, np.abs(wrench).max())
    work = run.work[-1] - run.work[0]
    assert float(x.work.sum()) == pytest.approx(float(np.sum(work)), abs=1e-8)


def test_reactions_of_a_closed_mechanism_go_with_its_efforts():
    m = kp.example("four-bar")
    turn = kp.motion.polynomial(m.start()[0], m.start()[0] + 1.0, 1.0, order=7)
    x = kp.motion.nominal(m, kp.motion.follow(m, {"crank": turn}, samples=20), actuators=["crank"], samples=5)
    alone = m.reactions(x.q[2], x.qd[2], x.qdd[2], tau=x.effort[2])
    assert set(x.reactions) == set(alone)
    for name, wrench in alone.items():
        assert x.reactions[name][2] == pytest.approx(wrench, abs=1e-9)


def test_limits_that_are_exceeded_are_named_with_joint_and_time():
    arm = kp.example("redundant-arm")
    q = arm.start()
    end = q + np.array([0.0, 0.0, 0.0, 1.6, 0.0, 0.0, 0.0])  # the elbow to 2.8, beyond 2.6
    x = kp.motion.nominal(arm, kp.motion.polynomial(q, end, 0.5))
    found = {(e.joint, e.quantity): e for e in x.feasibility.excesses}
    assert not x.feasibility.feasible
    elbow = found["elbow", "coordinate"]
    assert (elbow.value, elbow.limit, elbow.time) == pytest.approx((2.8, 2.6, 0.5))
    rate = found["elbow", "rate"]
    assert (rate.value, rate.limit, rate.time) == pytest.approx((1.875 * 1.6 / 0.5, 3.0, 0.25))
    when = x.time[np.abs(x.qd[:, 3]) > 3.0]
    assert (rate.first, rate.last) == (when[0], when[-1])
    assert str(rate) == (
        f"elbow: rate 6 rad/s at 0.25 s exceeds 3 (between {when[0]:.4g} and {when[-1]:.4g} s)"
    )
    assert found["elbow", "acceleration"].unit == "rad/s²"
    calm = kp.motion.nominal(arm, kp.motion.scurve(q, q + 0.1, of=arm))
    assert calm.feasibility.feasible
    assert str(calm).splitlines()[-1] == "feasible: all limits of the file are kept"


MOTOR = """
[[actuator]]
name = "motor"
joint = "{joint}"
kind = "dc-motor"
resistance = 1.2
inductance = 1e-4
torque_constant = 0.08
rotor_inertia = 1e-5
damping = 1e-4
voltage = {voltage}
current = {current}
gear = {{ ratio = 80, efficiency = 0.8 }}
"""


def motored(folder, voltage=48.0, current=30.0) -> kp.Mechanism:
    """A pendulum with a motor in its shoulder, and one without in its elbow."""
    file = folder / "motored.toml"
    text = kp.example_text("double-pendulum")
    joint = kp.example("double-pendulum").v_names[0]
    file.write_text(text + MOTOR.format(joint=joint, voltage=voltage, current=current), "utf-8")
    return kp.load(file)


def test_voltages_of_the_motors_make_the_motion_again(tmp_path):
    """By the actuators themselves: the current gives the effort, and the voltage the rate of the current."""
    m = motored(tmp_path)
    x = kp.motion.nominal(m, kp.motion.polynomial([0.1, 0.2], [0.9, -0.3], 0.8, order=7), samples=2001)
    motor = x.motors["motor"]
    u = np.zeros((2001, m.nu))
    u[:, m.u_names.index("motor")] = motor.voltage
    actuation = m.actuation(x.q, x.qd, motor.current[:, None], u)
    assert actuation[0][:, 0] == pytest.approx(x.effort[:, 0], abs=1e-9 * np.abs(x.effort).max())
    rate = np.gradient(motor.current, x.time)
    assert actuation[1][2:-2, 0] == pytest.approx(rate[2:-2], abs=1e-6 * np.abs(rate).max())
    assert x.feasibility.feasible


def test_voltage_and_current_beyond_the_motor_are_named(tmp_path):
    m = motored(tmp_path, voltage=9.0, current=2.0)
    x = kp.motion.nominal(m, kp.motion.polynomial([0.1, 0.2], [0.9, -0.3], 0.8, order=7))
    named = {(e.joint, e.quantity) for e in x.feasibility.excesses}
    assert named == {(m.v_names[0], "voltage"), (m.v_names[0], "current")}
    worst = next(e for e in x.feasibility.excesses if e.quantity == "voltage")
    assert abs(worst.value) == pytest.approx(np.abs(x.motors["motor"].voltage).max())
    assert f"exceeds {9:g}" in str(worst)


def test_pictures_are_drawn(arm, tmp_path):
    kp.motion.nominal(arm, MOVES["trapezoid"]).plot(tmp_path / "nominal.png")
    assert (tmp_path / "nominal.png").exists()
