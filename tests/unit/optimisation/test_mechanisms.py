"""Optimal motions of mechanisms: trees, loops, wheels, motors, impacts."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

approx = pytest.approx
CRANKS = ["left-crank", "right-crank"]


def test_a_mechanism_and_its_accelerations_as_a_function_have_the_same_optimum():
    m = kp.example("double-pendulum")
    goal = {"duration": 1.0, "intervals": 12, "method": "hermite-simpson"}
    x = kp.optimise(m, start=[0, 0], end=[1.0, 0.5], **goal)
    H, h = m.mass_matrix(x.states[:, :2]), m.bias_forces(x.states[:, :2], x.states[:, 2:])
    needed = np.einsum("kij,kj->ki", H, x.algebraic) + h
    assert x.inputs == approx(needed, abs=1e-8)
    fine = np.linspace(0.0, 1.0, 4001)
    simulated = kp.simulate(m, [0, 0], [0, 0], duration=1.0, torque=(fine, x.input_at(fine)))
    assert simulated.q[-1] == approx([1.0, 0.5], abs=2e-3)  # the table holds inputs for 0.25 ms
    assert x.error <= 1e-4


def test_a_closed_mechanism_stays_closed_and_costs_less_than_a_cycloid():
    m = kp.example("five-bar")
    start = m.start()
    end = m.assemble(start + np.array([0.6, 0, 0.3, 0]), fixed=CRANKS)
    x = kp.optimise(m, start=start, end=end, duration=0.5, actuators=CRANKS, intervals=12)
    q, qd = x.states[:, :4], x.states[:, 4:]
    assert np.abs(m.constraint_residual(q)).max() <= 1e-8
    assert np.abs(np.einsum("kij,kj->ki", m.constraint_matrix(q), qd)).max() <= 1e-7
    assert q[-1] == approx(end, abs=1e-7)
    assert x.error <= 1e-6
    law = kp.motion.cycloid(0.0, 1.0, 0.5)
    targets = {name: kp.motion.cycloid(start[k], end[k], 0.5) for k, name in ((0, CRANKS[0]), (2, CRANKS[1]))}
    cycloid = kp.motion.nominal(m, targets, start=start, actuators=CRANKS)
    assert law.duration == 0.5
    assert x.cost < np.trapezoid((cycloid.effort**2).sum(1), cycloid.time)


def test_least_energy_is_positive_work_and_heat_and_does_not_depend_on_the_mesh():
    """A five-bar from place to place: positive work of the cranks and heat 0.05 u² of their motors."""
    m, heat = kp.example("five-bar"), 0.05
    start = m.start()
    end = m.assemble(start + np.array([0.6, 0, 0.3, 0]), fixed=CRANKS)
    goal = {"start": start, "end": end, "duration": 0.5, "actuators": CRANKS, "accuracy": None}
    coarse, fine, ample = (
        kp.optimise(m, **goal, cost={"energy": 1.0, "effort": heat}, intervals=n) for n in (12, 24, 48)
    )
    assert coarse.cost == approx(ample.cost, rel=1e-2)
    assert abs(fine.cost - ample.cost) <= 0.2 * abs(coarse.cost - ample.cost)
    assert ample.error <= 1e-6

    def energy(u, rates, time):
        return np.trapezoid((np.maximum(u * rates, 0.0) + heat * u**2).sum(1), time)

    time = np.linspace(0.0, 0.5, 5001)
    cranks = ample.at(time).qd[:, [0, 2]]
    found = energy(ample.input_at(time)[:, :2], cranks, time)
    assert ample.cost == approx(found, rel=3e-3)  # of the intervals in which a power changes its sign
    least_effort = kp.optimise(m, **goal, intervals=15)
    other = energy(least_effort.input_at(time), least_effort.at(time).qd[:, [0, 2]], time)
    assert found < 0.95 * other


def test_a_delta_robot_lifts_over_an_obstacle():
    """Pick and place of the platform, 0.3 m in 0.4 s, above a hump of 0.05 m: six loops, three arms that act."""
    m, arms = kp.example("delta"), ["arm1", "arm2", "arm3"]
    start, end = (
        m.assemble(np.array([x, 0.0, -0.1, *m.start()[3:]]), fixed=["platform"]) for x in (-0.15, 0.15)
    )

    def clearance(q):
        return q[..., 2] + 0.1 - 0.05 * (1.0 - (q[..., 0] / 0.15) ** 2)

    over = kp.optimise(
        m, start=start, end=end, duration=0.4, actuators=arms, intervals=8,
        path={"clearance": (0.0, lambda point: clearance(point.q), None)},
    )  # fmt: skip
    q = over.states[:, : m.nq]
    assert clearance(q).min() >= -1e-6
    assert [x.name for x in over.active] == ["clearance"]
    assert np.abs(m.constraint_residual(q)).max() <= 1e-7
    assert q[-1] == approx(end, abs=1e-7)
    assert over.error <= 1e-5  # of a simulation by the mass matrix


def test_a_scheme_with_both_ends_is_rejected_for_loops():
    m = kp.example("five-bar")
    start = m.start()
    goal = {"start": start, "end": start, "duration": 1.0, "actuators": CRANKS}
    with pytest.raises(kp.InputError, match="use method='radau-5'"):
        kp.optimise(m, **goal, method="hermite-simpson")
    with pytest.raises(kp.InputError, match=r"end breaks the constraints of five-bar .* m.assemble"):
        kp.optimise(m, **{**goal, "end": start + 0.1})


def test_work_of_a_step_is_what_the_impact_takes():
    """Compass walker on level ground by hip torque alone: net work over a step = energy lost at heel strike."""
    m = kp.example("compass-walker")
    strike = kp.walking.heel_strike(m, "foot", np.array([[1.0, -1.0], [0.0, -1.0]]))
    x = kp.optimise(
        m,
        start={"q": None, "qd": None},
        end={"q": None, "qd": None},
        repeat=strike,
        actuators=["hip"],
        limits={"q": {"hip": 1.5}},
        boundary={"speed": lambda start, end: end.position("foot")[0] - 0.4 * end.duration},
        duration=(0.2, 2.0),
        intervals=20,
    )
    time = np.linspace(0.0, x.duration, 4001)
    work = np.trapezoid(x.input_at(time)[:, 0] * x.at(time).qd[:, 1], time)
    before, after = (sum(m.energy(s[:2], s[2:])) for s in (x.states[-1], x.states[0]))
    assert work == approx(before - after, rel=1e-3)
    assert work > 0
    change = strike.action(0.0, x.states[-1, :2], x.states[-1, 2:])
    assert np.concatenate([change.q, change.qd]) == approx(x.states[0], abs=1e-7)


def test_motors_take_less_energy_than_along_a_cycloid():
    """Energy that six motors take, at equal time; the cycloid is followed by a strong tracking cost."""
    m = kp.example("motor-arm")
    start = m.start()
    end = start + np.array([1.2, 0.5, -0.5, 0.8, 0.6, 0.5])
    x = kp.optimise(m, start=start, end=end, duration=1.0, cost="energy", intervals=16, accuracy=None)
    time = np.linspace(0.0, 1.5, 1501)
    lost = []
    for motion in (kp.motion.cycloid(start, end, 1.0), x):
        run = kp.simulate(
            m, start, np.zeros(6), duration=1.5, input=(time, motion.at(np.minimum(time, 1.0)).q)
        )
        lost.append(sum(float(power[-1]) for power in run.losses.values()))
    assert lost[1] <= 0.9 * lost[0]
    assert np.abs(x.inputs).max() <= 12.0


def test_least_time_along_a_line_is_that_of_the_fastest_motion_and_longer_than_without_it():
    m = kp.example("scara")
    start = m.start()
    end = start + np.array([1.0, -0.6, -0.05, 0.4])
    d = end - start
    limits = {"u": [60.0, 40.0, 80.0, 5.0], "qd": 3.0}
    line = {"line": lambda p: (p.q[1:] - start[1:]) * d[0] - (p.q[0] - start[0]) * d[1:]}
    goal = {"start": start, "end": end, "cost": "time", "limits": limits}
    fixed, free = kp.optimise(m, **goal, path=line), kp.optimise(m, **goal, accuracy=None)
    path = kp.motion.cycloid(start, end, 1.0)
    known = kp.motion.fastest(m, path, effort=limits["u"], velocity=3.0)
    assert fixed.duration == approx(known.duration, rel=1e-3)
    assert free.duration <= fixed.duration + 1e-4


def test_smoothest_motion_of_one_joint_is_the_polynomial_of_fifth_order():
    """Least ∫jerk² from rest to rest with accelerations of zero: 10 s³ − 15 s⁴ + 6 s⁵."""
    m = kp.example("double-pendulum")
    still = {"qd": [0, 0], "qdd": [0, 0]}
    x = kp.optimise(
        m,
        start={"q": [0, 0], **still},
        end={"q": [1, -1], **still},
        duration=1.0,
        cost="jerk",
        intervals=10,
        accuracy=None,
    )
    s, q = x.time[::3], x.states[::3]  # nodes
    shape = 10 * s**3 - 15 * s**4 + 6 * s**5
    assert q[:, 0] == approx(shape, abs=1e-6)
    assert q[:, 1] == approx(-shape, abs=1e-6)


def test_a_vehicle_parks_sideways():
    m = kp.example("diff-drive")
    goal = {"q": {"base.x": 0.0, "base.y": 0.5, "base.angle": 0.0}}
    wheels = ["left-wheel", "right-wheel"]
    x = kp.optimise(
        m, start=m.start(), end=goal, duration=3.0, actuators=wheels, limits={"u": 5.0}, intervals=16
    )
    assert x.states[-1, :3] == approx([0.0, 0.5, 0.0], abs=1e-8)
    assert x.error <= 1e-4
    q, qd = x.states[:, : m.nq], x.states[:, m.nq :]
    assert np.abs(np.einsum("kij,kj->ki", m.constraint_matrix(q), qd)).max() <= 1e-7  # wheels do not slip
    assert np.ptp(q[:, 2]) >= 0.5  # it turns, drives and turns back


def test_internal_states_begin_as_in_the_file():
    """A hydraulic cylinder has no pressure before its valve opens: nothing moves without input."""
    m = kp.example("hydraulic-actuator")
    x = kp.optimise(m, start=m.start(), end=[0.1], duration=2.0, accuracy=None, intervals=20)
    eq = x.transcription.grids[0].phase.equations
    inside = eq.parts["x"][1]
    assert x.states[0, inside] == approx(eq.origin[inside])
    assert x.states[-1, 0] == approx(0.1)
