"""Sleeves and balls in runs: rates that rub as one come to rest together, are held as one, and leave rest as one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kinpair as kp

MU, MASS, RADIUS = 0.2, 2.0, 0.02
LEVEL = MU * MASS * 9.81  # [N]
STEPS: dict[str, dict[str, Any]] = {"dop853": {}, "rk4": {"dt": 1e-3}, "cvode": {}}


@cache
def sleeve(inertia: float = MASS * RADIUS**2, **more: float) -> kp.Mechanism:
    """A collar on a level rod; with this inertia it resists turning and sliding alike."""
    b = kp.Builder("collar on a rod").link("collar", mass=MASS, inertia=(inertia,) * 3)
    friction = {"law": "bearing", "mu": MU, "radius": RADIUS, "length": 0.1, **more}
    return kp.build(b.joint("rod", "cylindrical", "ground", "collar", axis="x", friction=friction))


@cache
def ball(inertia: tuple[float, float, float] = (0.02, 0.03, 0.01), **more: float) -> kp.Mechanism:
    """A body on a socket at its mass centre."""
    b = kp.Builder("ball").link("body", mass=MASS, inertia=inertia)
    friction = {"law": "bearing", "mu": MU, "radius": 0.03, **more}
    return kp.build(b.joint("socket", "spherical", "ground", "body", friction=friction))


@pytest.mark.parametrize("integrator", STEPS)
def test_a_sleeve_runs_down_along_a_line_and_stays(integrator):
    """s = (r φ̇, ż) keeps its direction and falls by μg: T = |s|/(μg), and half of s T is the way."""
    qd = np.array([30.0, 0.8])
    size = np.hypot(RADIUS * qd[0], qd[1])
    stop = size / (MU * 9.81)
    run = kp.simulate(sleeve(), [0, 0], qd, duration=1.0, integrator=integrator, **STEPS[integrator])
    assert [x.name for x in run.events] == ["rod sticks"]
    assert run.events[0].time == pytest.approx(stop, abs=1e-9)
    before = run.time < stop - 1e-3
    tight = 1e-8 if integrator == "cvode" else 1e-9
    assert run.qd[before, 0] * qd[1] == pytest.approx(run.qd[before, 1] * qd[0], abs=30 * tight)
    assert run.q[-1] == pytest.approx(0.5 * qd * stop, abs=30 * tight)
    after = run.time > stop
    assert not run.qd[after].any()
    assert (run.q[after] == run.q[-1]).all()
    own = run.friction["rod"]
    assert (own.sticks == after).all()
    assert own.since == run.events[0].time
    assert own.slid[-1] == pytest.approx(0.5 * size * stop, abs=tight)
    assert own.heat[-1] == pytest.approx(run.loss[-1], rel=1e-12)
    assert run.balance.relative < 1e-8


@pytest.mark.parametrize("part", [1.0 - 1e-9, 1.0 + 1e-6])
@pytest.mark.parametrize("angle", np.linspace(0.1, 2.0 * np.pi + 0.1, 6, endpoint=False).round(3))
def test_the_region_of_rest_is_a_disc(angle, part):
    force = part * LEVEL * np.array([np.cos(angle), np.sin(angle)])
    run = kp.simulate(sleeve(), [0, 0], [0, 0], duration=0.1, torque=force * [RADIUS, 1.0])
    moved = run.qd[-1] * [RADIUS, 1.0]
    assert bool(moved.any()) == (part > 1.0)
    assert run.friction["rod"].sticks[-1] == (part < 1.0)
    if part > 1.0:  # 0.1 s of 1e-6 of the level, to a tenth: it begins at a speed below the tolerances
        assert moved == pytest.approx(0.1 * (part - 1.0) / part * force / MASS, rel=0.5)


@pytest.mark.parametrize("integrator", ["dop853", "cvode"])
def test_a_sleeve_leaves_rest_where_the_force_reaches_the_disc(integrator):
    """A force along (0.6, 0.8) grows to 1.6 levels in 1 s; from 1/1.6 s on it accelerates by what is above."""
    ramp = np.array([0.0, 1.0]), 1.6 * LEVEL * np.array([[0, 0], [0.6 * RADIUS, 0.8]])
    run = kp.simulate(sleeve(), [0, 0], [0, 0], duration=1.0, torque=ramp, integrator=integrator)
    assert [x.name for x in run.events] == ["rod slides"]
    assert run.events[0].time == pytest.approx(1 / 1.6, abs=1e-9)
    speed = 1.6 * LEVEL / MASS * (1.0 - 1 / 1.6) ** 2 / 2.0
    assert run.qd[-1] == pytest.approx(speed * np.array([0.6 / RADIUS, 0.8]), rel=1e-8)


@pytest.mark.parametrize(
    ("static", "integrator"),
    [(0.2, "dop853"), (0.3, "dop853"), (0.3, "rk4")],  # fixed steps: first order where a motion begins slowly
)
def test_a_sleeve_that_turns_less_easily_than_it_slides_leaves_rest_once(static, integrator):
    """m s̈ = f − μ m g A s/|s| with A = (1/50, 1), by another integrator from the direction in which f − μ m g A u is
    along u: it turns by 10° within the first micrometres a second."""
    heavy, way = 50.0, np.array([0.6, 0.8])
    m = sleeve(heavy * MASS * RADIUS**2, mu_static=static)
    ramp = np.array([0.0, 1.0]), 1.6 * static * MASS * 9.81 * np.outer([0.0, 1.0], way * [RADIUS, 1.0])
    steps = {"dt": 1e-3} if integrator == "rk4" else {}
    run = kp.simulate(m, [0, 0], [0, 0], duration=0.7, torque=ramp, integrator=integrator, **steps)
    assert [x.name for x in run.events] == ["rod slides"]
    assert run.events[0].time == pytest.approx(1 / 1.6, abs=1e-9)
    A = np.array([1.0 / heavy, 1.0])

    def pull(time: float) -> np.ndarray:
        return A * 1.6 * static * 9.81 * time * way

    begin = 1 / 1.6 + 1e-6
    u = fixed_direction(pull(begin), MU * 9.81 * A)
    speed = float(u @ (pull(begin) - MU * 9.81 * A * u)) * 1e-6
    path = solve_ivp(
        lambda t, s: pull(t) - MU * 9.81 * A * s / np.linalg.norm(s),
        (begin, 0.7),
        speed * u,
        method="Radau",
        rtol=1e-9,
        atol=1e-15,
    )
    assert run.qd[-1] * [RADIUS, 1.0] == pytest.approx(path.y[:, -1], rel=2e-5)
    assert run.balance.relative < 1e-8


def fixed_direction(a: np.ndarray, R: np.ndarray) -> np.ndarray:
    """u = (cos x, sin x) with a − R u along u."""

    def across(x: float) -> float:
        u = np.array([np.cos(x), np.sin(x)])
        rest = a - R * u
        return float(u[0] * rest[1] - u[1] * rest[0])

    angles = np.linspace(0.0, np.pi / 2, 200)
    for low, high in pairwise(angles):
        if across(low) * across(high) <= 0.0:
            x = brentq(across, low, high, xtol=1e-15)
            u = np.array([np.cos(x), np.sin(x)])
            if u @ (a - R * u) > 0.0:
                return u
    raise AssertionError("no direction")


def test_a_sleeve_that_carries_nothing_stays_at_rest():
    """In free fall what a sleeve carries is zero up to rounding, and so is the force that holds it."""
    b = kp.Builder("fall").link("rod", mass=1.3, com=(0.1, -0.05, 0.2), inertia=(0.03, 0.04, 0.05))
    b.link("collar", mass=0.7, com=(-0.1, 0.15, 0.1), inertia=(0.02, 0.03, 0.01))
    b.joint("drop", "prismatic", "ground", "rod", axis="z")
    friction = {"law": "bearing", "mu": MU, "radius": RADIUS, "length": 0.1}
    b.joint("sleeve", "cylindrical", "rod", "collar", axis="x", xyz=(0.1, 0.2, -0.1), friction=friction)
    run = kp.simulate(kp.build(b), [0, 0, 0], [0.5, 0, 0], duration=0.5)
    assert run.status.name == "done"
    assert not run.events
    assert not run.qd[:, 1:].any()


MOTIONS: dict[str, tuple[Any, Any, Any, Any]] = {  # mechanism, q̇, efforts, duration
    "sleeve": (lambda: sleeve(5 * MASS * RADIUS**2, mu_static=0.3), [30.0, -0.8], [0.01, 1.0], 2.0),
    "Stribeck": (
        lambda: sleeve(mu_static=0.3, stribeck_speed=0.1, exponent=1.0),
        [30.0, -0.8],
        [0.01, 1.0],
        1.0,
    ),
    "ball": (ball, [3.0, -2.0, 1.0], [0.02, 0.0, 0.01], 1.5),
}


@pytest.mark.parametrize("integrator", STEPS)
@pytest.mark.parametrize("name", MOTIONS)
def test_integrators_agree_where_the_direction_turns(name, integrator):
    make, qd, efforts, duration = MOTIONS[name]
    m = make()
    start = {"duration": duration, "torque": efforts, "output": 0.01}
    first = kp.simulate(m, m.start(), qd, **start)
    run = kp.simulate(m, m.start(), qd, integrator=integrator, **start, **STEPS[integrator])
    joint = m.model.joint_names[1]
    assert [x.name for x in run.events] == [x.name for x in first.events] == [f"{joint} sticks"]
    assert run.events[0].time == pytest.approx(
        first.events[0].time, abs=3e-4
    )  # of rk4: its last step is one kink
    assert run.q[-1] == pytest.approx(first.q[-1], abs=2e-6)
    assert not run.qd[-1].any()
    assert run.balance.relative < (3e-7 if integrator == "rk4" else 3e-8)
    assert (np.diff(run.loss) >= 0.0).all()


def test_a_ball_runs_down_about_a_fixed_axis():
    """Alike about all axes: ω falls by μ r m g/J along itself."""
    m, omega = ball((0.02,) * 3), np.array([3.0, -2.0, 1.0])
    stop = np.linalg.norm(omega) * 0.02 / (0.03 * LEVEL)
    run = kp.simulate(m, m.start(), omega, duration=1.0)
    assert run.events[0].time == pytest.approx(stop, abs=1e-9)
    assert not run.qd[run.time > stop].any()
    turn = 0.5 * np.linalg.norm(omega) * stop  # half of |ω| T, about the axis of ω
    q = np.append(np.sin(0.5 * turn) * omega / np.linalg.norm(omega), np.cos(0.5 * turn))
    assert run.q[-1] == pytest.approx(q, abs=1e-9)


@pytest.mark.parametrize("part", [0.999, 1.001])
def test_the_region_of_rest_of_a_ball_is_a_ball(part):
    torque = part * 0.03 * LEVEL * np.array([2.0, -3.0, 6.0]) / 7.0
    m = ball()
    run = kp.simulate(m, m.start(), np.zeros(3), duration=0.1, torque=torque)
    assert bool(run.qd[-1].any()) == (part > 1.0)


def test_batches_and_steppers_hold_them_at_the_ends_of_steps():
    m = sleeve(mu_static=0.3)
    qd = np.array([[30.0, 0.8], [0.0, 0.0], [3.0, -0.4]])
    run = kp.simulate(m, np.zeros((3, 2)), qd, duration=0.6, integrator="rk4", dt=1e-3)
    assert not run.qd[:, -1].any()
    assert run.friction["rod"].sticks[:, -1].all()
    stepper = kp.stepper(m, dt=1e-3)
    stepper.reset([0, 0], qd[0])
    stepper.step(steps=600)
    assert stepper.q == pytest.approx(run.q[0, -1], abs=1e-12)
    stepper.step(1.49 * LEVEL * np.array([0.6 * RADIUS, 0.8]), steps=50)
    assert not stepper.qd.any()
    stepper.step(1.51 * LEVEL * np.array([0.6 * RADIUS, 0.8]), steps=100)
    speed = 0.51 * LEVEL / MASS * 0.1
    assert stepper.qd == pytest.approx(
        speed * np.array([0.6 / RADIUS, 0.8]), rel=0.02
    )  # it leaves within a step


def test_a_run_that_was_cut_while_held_goes_on_to_the_last_bit(tmp_path):
    m, path = sleeve(), tmp_path / "run.h5"
    options = {"duration": 1.0, "output": 0.01, "torque": lambda t, q, qd: np.array([0.0, 8.0 * t * t])}
    whole = kp.simulate(m, [0, 0], [3.0, 0.4], **options)
    assert [x.name for x in whole.events] == ["rod sticks", "rod slides"]

    def stop(part: float) -> None:
        if part > 0.5:
            raise KeyboardInterrupt

    kp.simulate(m, [0, 0], [3.0, 0.4], **options, save=path, checkpoint=1e-9, progress=stop)
    resumed = kp.resume(path, torque=options["torque"], mechanism=m)
    assert np.array_equal(resumed.q, whole.q)
    assert np.array_equal(resumed.phase, whole.phase)


@cache
def closed() -> kp.Mechanism:
    """A crank that moves a slider on a sleeve."""
    bearing = {"law": "bearing", "mu": 0.15, "radius": 0.02, "length": 0.1}
    b = kp.Builder("loop").link("crank", mass=1.0, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    b.link("coupler", mass=2.0, com=(0.15, 0, 0.02), inertia=(1e-3, 1e-2, 1e-2))
    b.link("slider", mass=1.5, com=(0, 0, 0.02), inertia=(1e-3, 2e-3, 2e-3))
    b.joint("a", "revolute", "ground", "crank", axis="y")
    b.joint("b", "universal", "crank", "coupler", axis="y", axis2="z", xyz=(0.1, 0, 0))
    own = {"xyz": (0.3, 0.02, 0), "axis": (1, 0.2, 0.1), "friction": {**bearing, "mu": 0.6}}
    b.joint("c", "cylindrical", "ground", "slider", **own)
    return kp.build(b.loop("d", "spherical", "slider", "coupler", child_xyz=(0.3, 0, 0)))


def test_a_sleeve_in_a_loop_comes_to_rest_and_holds_it():
    m = closed()
    q = m.assemble([0.6, 0, 0, 0, 0.05])
    run = kp.simulate(m, q, np.zeros(m.nv), duration=1.5)
    assert run.status.ok
    assert run.events[-1].name == "c sticks"
    assert np.abs(run.qd[-1]).max() < 1e-12
    assert run.balance.relative < 1e-8
    assert np.abs(m.forward_dynamics(run.q[-1], np.zeros(m.nv), np.zeros(m.nv))).max() < 1e-9


def test_joints_that_hold_a_linkage_leave_rest_together():
    """All joints are at their level at once; they do not hand it to each other without end."""
    description = kp.example("four-bar").model.description
    m = kp.build(replace(description, joints=tuple(replace(x, friction=(0.5,)) for x in description.joints)))
    times = np.linspace(0.0, 2.0, 401)
    efforts = np.column_stack([2.0 * np.sin(5.0 * times), 0.0 * times, 0.0 * times])
    run = kp.simulate(m, m.start(), np.zeros(3), duration=2.0, torque=(times, efforts))
    assert run.status.ok
    leaving = [x.time for x in run.events if x.name == "crank slides"]
    for other in ("output", "coupler"):
        assert set(leaving) <= {x.time for x in run.events if x.name == f"{other} slides"}
    assert run.balance.relative < 1e-8
