"""Ordinary NumPy in every place that takes a function of a user: compiled, with the motion that Python gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kinpair as kp
from motors import driven

Q, QD = [0.3, 0.2], [0.5, -0.4]
FIXED = {"integrator": "rk4", "dt": 2e-3, "duration": 0.3}


def clipped(time, q, qd):
    wanted = np.array([-30.0 * (q[0] - 0.1), -20.0 * q[1]]) - 2.0 * qd
    return np.clip(wanted, -3.0, 3.0)


def filled(time, q, qd):
    tau = np.zeros(2)
    tau[0] = np.where((q[0] > 0.0) & (qd[0] > 0.0) | (time < 0.1), -2.0, 1.0)
    tau[1] = -np.sign(q[1]) * np.minimum(np.abs(q[1]), 0.1)
    tau -= 0.3 * qd
    return tau


def by_math(time, q, qd):
    return [math.sin(3.0 * time) * max(0.0, q[0]), -math.copysign(0.5, q[1]) * math.fabs(qd[1])]


def from_table(time, q, qd):
    return np.interp(q, [-1.0, 0.0, 0.5], [2.0, 0.0, -1.0]) * np.heaviside(0.2 - time, 1.0)


def radial(time, q, qd):
    r = np.stack([np.cos(q[0]), 0.0, np.sin(q[0])])
    axis = np.cross(r, np.array([0.0, 1.0, 0.0]))
    return np.concatenate([np.atleast_1d(-np.linalg.norm(axis) * qd[0]), qd[1:] * np.dot(r, axis)])


class Kept:
    """The same function, kept in Python."""

    traceable = False

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *state: Any) -> Any:
        return self.function(*state)


@pytest.mark.parametrize("torque", [clipped, filled, by_math, from_table, radial], ids=lambda f: f.__name__)
def test_a_torque_in_ordinary_numpy_is_compiled_and_moves_as_in_python(torque):
    arm = kp.example("double-pendulum")
    compiled, called = (kp.simulate(arm, Q, QD, torque=f, **FIXED) for f in (torque, Kept(torque)))
    assert not compiled.notes
    assert called.notes
    assert compiled.q == pytest.approx(called.q, abs=1e-11)


def test_a_torque_in_ordinary_numpy_drives_a_batch():
    arm = kp.example("double-pendulum")
    starts = np.array([[0.3, 0.2], [-0.3, 0.1], [0.0, 0.0]])
    batch = kp.simulate(arm, starts, np.zeros((3, 2)), torque=filled, **FIXED)
    for k, start in enumerate(starts):
        assert batch.q[k] == pytest.approx(
            kp.simulate(arm, start, [0.0, 0.0], torque=filled, **FIXED).q, abs=1e-12
        )


def test_an_input_of_a_motor_is_limited_by_numpy():
    m = driven()

    def voltage(time, q, qd, x):
        return np.array([np.clip(40.0 * np.sin(9.0 * time) - x[0], -6.0, 6.0), np.maximum(-1.0, -qd[1])])

    compiled, called = (kp.simulate(m, Q, QD, input=f, **FIXED) for f in (voltage, Kept(voltage)))
    assert not compiled.notes
    assert np.abs(compiled.u[:, 0]).max() == 6.0
    assert compiled.q == pytest.approx(called.q, abs=1e-11)


def gust(time, q, qd):
    return np.array([0.0, 0.0, 0.0, np.where(q[0] > 0.2, 3.0 * np.sin(time), -1.0), 0.0, 0.0])


def branching_gust(time, q, qd):
    return [0.0, 0.0, 0.0, 3.0 * math.sin(time) if q[0] > 0.2 else -1.0, 0.0, 0.0]


EFFORTS = {
    "none": None,
    "constant": [0.1, 0.2],
    "recorded": lambda time, q, qd: -0.1 * qd,
    "table": ([0.0, 0.1, 0.3], [[0.0, 1.0], [2.0, 1.0], [0.0, 0.0]]),
}


@pytest.mark.parametrize("torque", EFFORTS)
def test_a_wrench_that_branches_is_called_with_one_warning_and_moves_as_the_compiled_one(torque):
    arm = kp.example("double-pendulum")
    options = {**FIXED, "torque": EFFORTS[torque]}
    compiled = kp.simulate(arm, Q, QD, external={"upper": [0, 0, 0, 0, 0, 0.1], "lower": gust}, **options)
    assert not compiled.notes
    with pytest.warns(kp.RecordingWarning) as given:
        called = kp.simulate(
            arm, Q, QD, external={"upper": [0, 0, 0, 0, 0, 0.1], "lower": branching_gust}, **options
        )
    assert len(given) == 1
    assert given[0].filename == __file__
    assert called.q == pytest.approx(compiled.q, abs=1e-11)
    kept = Kept(branching_gust)
    assert kp.simulate(arm, Q, QD, external={"lower": kept}, **options).status.ok  # no warning


def test_a_wall_of_numpy_is_compiled_and_takes_no_energy():
    ball = kp.build(
        kp.Builder("ball").link("ball", mass=1.0).joint("x", "prismatic", "ground", "ball", axis="x"),
        gravity=(-9.81, 0.0, 0.0),
    )
    run = kp.simulate(ball, [0.1], [0.0], duration=1.0, torque=lambda time, q, qd: 1e4 * np.maximum(0.0, -q))
    assert not run.notes
    energy = 0.5 * run.qd[:, 0] ** 2 + 9.81 * run.q[:, 0] + 0.5e4 * np.minimum(run.q[:, 0], 0.0) ** 2
    assert energy == pytest.approx(0.981, rel=1e-6)
    assert (np.diff(np.sign(run.q[:, 0])) > 0).sum() >= 3  # bounces


def test_numpy_may_be_used_on_quantities_of_the_mechanism():
    arm = kp.example("double-pendulum")

    def rope(time, q, qd):
        place, J = arm.pose(q, "tip").position, arm.jacobian(q, "tip")[3:]
        speed = np.linalg.norm(J @ qd)
        return (
            -J.T @ np.clip(place, -0.2, 0.2) - np.minimum(speed, 1.0) * qd + arm.gravity_forces(np.zeros(2))
        )

    compiled, called = (kp.simulate(arm, Q, QD, torque=f, **FIXED) for f in (rope, Kept(rope)))
    assert not compiled.notes
    assert compiled.q == pytest.approx(called.q, abs=1e-11)


def test_an_event_in_ordinary_numpy_is_found_in_compiled_code():
    arm = kp.example("double-pendulum")

    def height(time, q, qd):
        return np.maximum(np.abs(q[0]), np.linalg.norm(q)) - 0.3

    run = kp.simulate(arm, Q, QD, duration=1.0, events=[kp.Event("far", height)])
    assert not run.notes
    assert run.events
    for event in run.events:
        assert np.hypot(*event.q) == pytest.approx(0.3, abs=1e-9)


def spring(**keys: Any) -> kp.Mechanism:
    return kp.build(
        kp.Builder("hanging")
        .link("mass", mass=1.0)
        .joint("z", "prismatic", "ground", "mass", axis="z")
        .spring("rope", "ground", "mass", **keys)
    )


def test_a_rope_written_in_numpy_is_the_rope_that_is_built_in():
    built_in = spring(stiffness=100.0, damping=2.0, rest_length=0.5, tension_only=True)

    def taut(length, rate):
        return np.where(length > 0.5, np.maximum(0.0, 100.0 * (length - 0.5) + 2.0 * rate), 0.0)

    def stored(length):
        return 50.0 * np.clip(length - 0.5, 0.0, None) ** 2

    written = spring(law=taut, energy=stored)
    random = np.random.default_rng(2)
    q, qd, tau = random.uniform(-1.0, 1.0, (3, 20, 1))
    for m, other in ((written, built_in), (written.reference, built_in.reference)):
        for own, expected in (
            (m.forward_dynamics(q, qd, tau), other.forward_dynamics(q, qd, tau)),
            (m.forward_dynamics(q[0], qd[0], tau[0]), other.forward_dynamics(q[0], qd[0], tau[0])),
            (m.energy(q, qd).potential, other.energy(q, qd).potential),
        ):
            assert own == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_system_with_a_wall_in_its_forces_is_compiled():
    def forces(q, qd, t):
        return [1e2 * np.maximum(0.0, -q[0]) - 9.81]

    system = kp.System(["x"], lambda q, qd, t: 0.5 * qd[0] ** 2, forces)
    for x in (0.3, -0.3):
        assert system.forward_dynamics([x], [0.0]) == pytest.approx([100.0 * max(0.0, -x) - 9.81])
    assert not kp.simulate(system, [0.3], [0.0], duration=0.5).notes
