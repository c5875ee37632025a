"""A regulator follows the motion it is given, not samples of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.control.regulator import POINTS, fitted, through
from kinpair.formulations import kinematics
from kinpair.motion.rated import with_rates

EXACT = 1e-9  # [rad] or [m]


@cache
def mechanism(name):
    return kp.example(name)


START, END = np.array([0.3, -0.2]), np.array([1.4, 0.7])
MOTIONS = {
    "cycloid": lambda: kp.motion.cycloid(START, END, 1.5),
    "polynomial": lambda: kp.motion.polynomial(START, END, 1.5, order=9),
    "trapezoid": lambda: kp.motion.trapezoid(START, END, velocity=2.0, acceleration=6.0),
    "scurve": lambda: kp.motion.scurve(START, END, velocity=2.0, acceleration=6.0, jerk=50.0),
    "spline": lambda: kp.motion.spline([START, [0.9, 0.4], [0.5, -0.6], END], 2.0),
    "cubic spline": lambda: kp.motion.spline([START, [0.9, 0.4], END], 1.5, order=3),
    "twenty periods": lambda: kp.motion.fourier(START, [[0.1, 0.05]], [[0.0, 0.1]], 0.1, periods=20),
}


@pytest.mark.parametrize("motion", MOTIONS)
def test_computed_torque_from_the_exact_start_stays_on_the_motion(motion):
    m, path = mechanism("double-pendulum"), MOTIONS[motion]()
    x = kp.track(m, path, kp.regulator.computed_torque(m, path, frequency=6.0))
    assert x.run.status.ok
    assert x.largest.max() <= EXACT


@pytest.mark.parametrize("integrator", ["dopri5", "cvode", "rk4"])
def test_the_motion_is_followed_with_every_kind_of_integrator(integrator):
    """To the error of the integrator: a tolerance of 1e-11, or steps of 1 ms of the fourth order."""
    m, path = mechanism("double-pendulum"), MOTIONS["spline"]()
    steps = {"dt": 1e-3} if integrator == "rk4" else {"rtol": 1e-11, "atol": 1e-13}
    law = kp.regulator.computed_torque(m, path, frequency=6.0)
    assert kp.track(m, path, law, integrator=integrator, **steps).largest.max() <= EXACT


@pytest.mark.parametrize("kind", ["pd", "computed-torque", "lqr", None])
def test_every_regulator_and_the_nominal_efforts_alone_stay_on_the_motion(kind):
    m, path = mechanism("double-pendulum"), MOTIONS["cycloid"]()
    assert kp.track(m, path, kind).largest.max() <= EXACT


def test_another_motion_needs_no_compiling():
    """Motions are numbers of a table: regulators for different motions have the same formula."""
    from kinpair.simulation.regulated import regulated

    m = mechanism("double-pendulum")
    loops = [
        kp.regulator.computed_torque(m, MOTIONS[name](), frequency=6.0) for name in ("cycloid", "spline")
    ]
    first, second = (regulated(m, x, m.v_names) for x in loops)
    assert first == second


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_regulator_states_how_well_it_represents_the_motion(motion):
    m, path = mechanism("double-pendulum"), MOTIONS[motion]()
    table = kp.regulator.pd(m, path, kp=1.0, kd=1.0).table
    times = np.sort(np.random.default_rng(2).uniform(0.0, path.duration, 50))
    rows = [table.at(t) for t in times]
    for name in ("q", "qd"):
        off = np.abs([table.part(row, name) for row in rows] - getattr(path.at(times), name)).max()
        assert off <= 2.0 * table.errors[name] + 1e-14
    assert table.errors["q"] <= 1e-12


def test_efforts_between_knots_are_those_of_the_motion():
    m, path = mechanism("double-pendulum"), MOTIONS["cycloid"]()
    table = kp.regulator.pd(m, path, kp=1.0, kd=1.0).table
    for t in np.random.default_rng(3).uniform(0.0, 1.5, 20):
        x = path.at(t)
        assert table.part(table.at(t), "tau") == pytest.approx(
            m.inverse_dynamics(x.q, x.qd, x.qdd), abs=1e-11
        )


def test_efforts_against_dry_friction_jump_where_the_motion_turns_round():
    """Between two knots, and by the whole friction at once."""
    b = kp.Builder("slide")
    b.link("block", mass=2.0)
    b.joint("slide", "prismatic", "ground", "block", axis="x", friction=3.0)
    m = kp.build(b)
    path = kp.motion.spline([[0.0], [0.5], [0.1]], 1.0, order=5)
    table = kp.regulator.pd(m, path, kp=1.0, kd=1.0).table
    for t in np.linspace(0.013, 0.987, 301):
        x = path.at(t)
        expected = 2.0 * x.qdd + 3.0 * np.sign(x.qd)
        assert table.part(table.at(t), "tau") == pytest.approx(expected, abs=1e-9)


def test_after_a_motion_that_ends_with_an_acceleration_the_efforts_hold_its_end():
    m, path = mechanism("double-pendulum"), MOTIONS["trapezoid"]()
    table = kp.regulator.pd(m, path, kp=1.0, kd=1.0).table
    row = table.at(path.duration + 0.5)
    assert table.part(row, "tau") == pytest.approx(m.gravity_forces(END), abs=1e-12)
    assert table.part(row, "qd") == pytest.approx([0.0, 0.0], abs=1e-14)


def test_samples_are_interpolated_to_the_eighth_order_and_their_error_is_stated():
    """Half the step: 2⁸ times less error; the estimate is not below the error."""
    errors = []
    for count in (21, 41):
        times = np.linspace(0.0, 2.0, count)
        course = through(times, {"q": np.sin(3.0 * times)[:, None]})
        fine = np.linspace(0.0, 2.0, 997)
        errors.append(float(np.abs(course.at(fine)["q"][:, 0] - np.sin(3.0 * fine)).max()))
        assert errors[-1] <= course.errors["q"]
    assert errors[0] / errors[1] > 2.0**7


def test_a_polynomial_of_degree_seven_is_represented_exactly():
    """To rounding, multiplied by the condition of the matrix that gives the coefficients."""
    c = np.random.default_rng(1).uniform(-1.0, 1.0, 8)
    course = fitted(np.array([0.0, 0.3, 1.0]), lambda t: {"q": np.polyval(c, t)[:, None]})
    fine = np.linspace(0.0, 1.0, 101)
    true = np.polyval(c, fine)
    rounding = np.finfo(float).eps * np.linalg.cond(np.vander(POINTS)) * np.abs(true).max()
    assert course.at(fine)["q"][:, 0] == pytest.approx(true, abs=rounding)


# Quaternions and closed mechanisms.


def floating():
    m = mechanism("floating-arm")
    end = m.start()
    end[0], end[3:7], end[7:] = 0.3, [0.3, 0.2, -0.4, 0.8], end[7:] + 0.4
    return m, kp.motion.cycloid(m.start(), end, 1.2)


def ball():
    b = kp.Builder("ball", gravity=(0, 0, -9.81))
    b.link("top", mass=2.0, com=(0.0, 0.0, 0.2), inertia=(0.05, 0.06, 0.02))
    b.joint("socket", "spherical", "ground", "top")
    m = kp.build(b)
    return m, kp.motion.cycloid([0, 0, 0, 1.0], [0.4, -0.2, 0.3, 0.9], 1.0)


def four_bar():
    m = mechanism("four-bar")
    crank = kp.motion.cycloid(m.start()[0], m.start()[0] + 0.8, 1.0)
    return m, kp.motion.follow(m, {"crank": crank})


def delta():
    m = mechanism("delta")
    R, p = m.pose(m.start(), "platform")
    line = kp.motion.line((R, p), (R, p + np.array([0.05, 0.02, -0.03])), 0.8)
    return m, kp.motion.follow(m, {"platform": line}, parts={"platform": "position"})


SUBJECTS = {
    "free base": (floating, {}),
    "ball joint": (ball, {}),
    "four-bar": (four_bar, {"actuators": ["crank"]}),
    "delta": (delta, {"actuators": ["arm1", "arm2", "arm3"]}),
}


CLOSED = [
    "four-bar",
    pytest.param("delta", marks=pytest.mark.long(reason="compiles nine rates under six rows")),
]


@pytest.mark.parametrize("subject", ["free base", "ball joint", *CLOSED])
def test_computed_torque_takes_quaternions_and_closed_mechanisms(subject):
    make, options = SUBJECTS[subject]
    m, path = make()
    x = kp.track(m, path, kp.regulator.computed_torque(m, path, frequency=8.0, **options), hold=0.1)
    assert x.largest.max() <= EXACT
    idle = [k for k, name in enumerate(m.v_names) if name not in options.get("actuators", m.v_names)]
    assert not x.run.tau[:, idle].any()


def decayed(x, frequency):
    """e₀ (1 + ωt) exp(−ωt) of every rate, from rest."""
    return np.outer((1.0 + frequency * x.time) * np.exp(-frequency * x.time), x.error[0])


@pytest.mark.parametrize("subject", CLOSED)
def test_actuated_joints_of_a_closed_mechanism_move_as_the_gains_require(subject):
    make, options = SUBJECTS[subject]
    m, path = make()
    law = kp.regulator.computed_torque(m, path, frequency=8.0, **options)
    x = kp.track(m, path, law, off={options["actuators"][0]: 0.02}, hold=0.2)
    own = [m.v_names.index(name) for name in options["actuators"]]
    assert x.error[:, own] == pytest.approx(decayed(x, 8.0)[:, own], abs=1e-8)


@pytest.mark.parametrize("make", [floating, ball])
def test_small_turns_decay_as_the_gains_require(make):
    """To the second order of the deviation: a tenth of it leaves a hundredth of the difference."""
    m, path = make()
    law = kp.regulator.computed_torque(m, path, frequency=8.0)
    left = []
    for size in (1e-2, 1e-3):
        x = kp.track(m, path, law, off={m.v_names[0]: size, m.v_names[1]: -size}, hold=0.2)
        left.append(np.abs(x.error - decayed(x, 8.0)).max())
    assert left[1] <= 0.02 * left[0] + EXACT


@pytest.mark.parametrize("make", [floating, ball])
def test_rates_of_a_motion_with_quaternions_are_its_derivatives(make):
    m, path = make()
    x, h = with_rates(m, path), 1e-5
    for t in (0.2, 0.5, 0.9):
        before, now, after = (x.at(t + d) for d in (-h, 0.0, h))
        ahead, back = (
            np.array(kinematics.difference(m.model, now.q, y.q), dtype=float) for y in (after, before)
        )
        assert (ahead - back) / (2 * h) == pytest.approx(now.qd, abs=1e-7)
        assert (after.qd - before.qd) / (2 * h) == pytest.approx(now.qdd, abs=1e-7)
        assert (after.qdd - before.qdd) / (2 * h) == pytest.approx(now.jerk, abs=1e-6)


@pytest.mark.long(reason="compiles inverse kinematics of nine rates")
def test_rates_of_a_motion_of_frames_with_quaternions_stay_as_they_are():
    m, path = delta()
    assert with_rates(m, path) is path
