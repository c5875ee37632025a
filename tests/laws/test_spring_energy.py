"""Energy balances of runs with springs between points, ropes and limit springs, in trees and in loops.

Forces of ropes and limits jump where they begin. Methods with error control find that by shorter steps, and a step that
goes over a jump by luck costs some 1e-8 of the energy at rtol 1e-11: the tolerances here are tighter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp

TIGHT = {"rtol": 1e-13, "atol": 1e-13}
CLOSES = 1e-8
STRUT = {"stiffness": 60.0, "damping": 1.5, "rest_length": 0.4, "preload": 2.0}
ROPE = {"stiffness": 900.0, "damping": 4.0, "rest_length": 0.47, "tension_only": True}
LAW = {"law": lambda x, v: 40.0 * (x - 0.5) ** 3 + 0.3 * v, "energy": lambda x: 10.0 * (x - 0.5) ** 4}


def sprung(name: str, parent: str, child: str, at, **spring) -> kp.Mechanism:
    plain = kp.example(name).model.description
    builder = kp.Builder("x").spring("s", parent, child, xyz=at, **spring).description().springs
    return kp.build(replace(plain, springs=builder))


@pytest.fixture(scope="module")
def crane() -> kp.Mechanism:
    return kp.example("crane")


TREES = {
    "strut": ("double-pendulum", "ground", "lower", [0.6, 0, -0.4], STRUT),
    "rope": ("double-pendulum", "ground", "lower", [0.3, 0, -0.4], {**ROPE, "rest_length": 0.7}),
    "law": ("double-pendulum", "ground", "lower", [0.6, 0, -0.4], LAW),
    "within": ("floating-arm", None, None, [0.2, 0.1, 0.0], STRUT),
}


@pytest.mark.parametrize("case", TREES)
def test_trees(case):
    name, parent, child, at, spring = TREES[case]
    names = kp.example(name).model.names
    m = sprung(name, parent or names[1], child or names[-1], at, **spring)
    qd = 0.5 * np.sin(np.arange(m.nv) + 1.0)
    run = kp.simulate(m, m.start(), qd, duration=2.0, output=0.05, **TIGHT)
    assert run.status.ok
    assert abs(run.balance.loss) > 1e-3
    assert run.balance.relative < CLOSES


@pytest.mark.parametrize("spring", [STRUT, ROPE, LAW], ids=["strut", "rope", "law"])
@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_loops(name, spring):
    plain = kp.example(name)
    m = sprung(name, "ground", plain.model.names[-1], [0.2, 0.3, 0.4], **spring)
    q = m.start()
    qd = m.velocities(q, guess=2.0 * np.cos(np.arange(m.nv)))
    run = kp.simulate(m, q, qd, duration=1.0, output=0.05, **TIGHT)
    assert run.status.ok
    assert abs(run.balance.loss) > 1e-4
    assert run.balance.relative < CLOSES


def test_limit_springs_in_a_tree_and_in_a_loop():
    arm = kp.Builder("arm").link("a", mass=1.0, com=[0, 0, -0.4], inertia=[0.1, 0.1, 0.01])
    arm.link("b", mass=0.5, com=[0, 0, -0.3], inertia=[0.05, 0.05, 0.01])
    arm.joint("j", "revolute", "ground", "a", axis="y", lower=-0.5, upper=0.7)
    arm.joint("k", "revolute", "a", "b", axis="y", xyz=[0, 0, -0.8], lower=-0.3, upper=0.3)
    run = kp.simulate(kp.build(arm), [0.5, 0.1], [1, 0], duration=2.0, limits="spring", output=0.05, **TIGHT)
    assert run.balance.loss > 0.1
    assert run.balance.relative < CLOSES
    bars = kp.example("four-bar").model.description
    q = kp.example("four-bar").start()
    joint = bars.joints[0]
    stopped = replace(bars, joints=(replace(joint, lower=(-2.0,)), *bars.joints[1:]))
    m = kp.build(stopped)
    qd = m.velocities(q, {joint.name: 2.0})
    soft = kp.Limits("spring", stiffness=50.0, damping=0.5)
    run = kp.simulate(m, q, qd, duration=1.0, limits=soft, output=0.05, **TIGHT)
    assert run.balance.loss > 1e-3
    assert run.balance.relative < CLOSES


def test_the_rope_of_a_crane_goes_slack_and_taut(crane):
    """It falls freely while the rope is slack, is never pushed, and hangs in the end as statics has it."""
    start = crane.start()
    run = kp.simulate(crane, start, [0.0, 0.0, 0.0], duration=20.0, output=0.005, **TIGHT)
    length = 1.4 - run.q[:, 2]
    slack = length < 2.0
    free = run.time < np.sqrt(2 * 0.6 / 9.81)
    assert run.q[free, 2] == pytest.approx(-0.5 * 9.81 * run.time[free] ** 2, abs=1e-10)
    assert np.count_nonzero(np.diff(slack)) > 5
    assert run.qdd[slack, 2] == pytest.approx(-9.81)
    assert run.qdd[:, 2].min() >= -9.81 - 1e-9
    assert length[-1] == pytest.approx(2.0 + 10 * 9.81 / 8000, abs=1e-6)
    assert run.balance.relative < CLOSES


def test_a_trolley_that_moves_swings_the_load(crane):
    run = kp.simulate(crane, crane.start(), [0.5, 0, 0], duration=3.0, output=0.01, **TIGHT)
    assert np.ptp(run.q[:, 1]) > 0.05
    assert run.balance.relative < CLOSES


def test_default_tolerances_are_within_what_the_monitors_allow(crane):
    run = kp.simulate(crane, crane.start(), [0.5, 0, 0], duration=6.0, output=0.01)
    assert run.status.ok
    assert run.balance.relative < 1e-5


@pytest.mark.parametrize("integrator", ["dop853", "dopri5", "cvode", "ida"])
def test_every_method_with_error_control_goes_over_the_jumps(integrator):
    """A ball in the air with a damped rope and a damped floor: the tension jumps at 60 m/s², the push at 40 m/s²."""
    b = (
        kp.Builder("ball")
        .link("ball", mass=2.0)
        .joint("z", "prismatic", "ground", "ball", axis="z", lower=0.0)
    )
    b.spring("rope", "ground", "ball", stiffness=2000.0, damping=30.0, rest_length=0.6, tension_only=True)
    soft = kp.Limits("spring", stiffness=3000.0, damping=20.0)
    options = {"duration": 2.0, "output": 0.05, "limits": soft}
    run = kp.simulate(kp.build(b), [0.3], [5.0], integrator=integrator, **options)
    assert run.status.ok
    exact = kp.simulate(kp.build(b), [0.3], [5.0], **TIGHT, **options)
    assert run.q == pytest.approx(exact.q, abs=1e-5)
    assert run.balance.loss == pytest.approx(exact.balance.loss, rel=1e-5)


@pytest.mark.parametrize("integrator", ["rk4", "implicit-midpoint", "variational", "generalised-alpha"])
def test_fixed_steps_come_to_the_same_motion(integrator):
    """Between branches of the tree, so that the matrix of the implicit steps is full; error of order 2 at least."""
    b = kp.Builder("two").link("a", mass=1.0, com=[0, 0, -0.4], inertia=[0.1, 0.1, 0.01])
    b.link("b", mass=2.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.01])
    b.joint("j", "revolute", "ground", "a", axis="y").joint(
        "k", "revolute", "ground", "b", axis="y", xyz=[1, 0, 0]
    )
    b.spring(
        "s", "a", "b", xyz=[0, 0, -0.8], child_xyz=[0, 0, -0.9], stiffness=400, damping=9, rest_length=0.7
    )
    m = kp.build(b)
    options = {"duration": 1.0, "output": [1.0]}
    exact = kp.simulate(m, [0.3, -0.2], [0, 1], **TIGHT, **options)
    errors = [
        np.abs(kp.simulate(m, [0.3, -0.2], [0, 1], integrator=integrator, dt=dt, **options).q - exact.q).max()
        for dt in (2e-3, 1e-3)
    ]
    assert errors[1] < 0.35 * errors[0]  # a quarter at order 2, with room for higher terms


@pytest.mark.parametrize(
    ("name", "integrator"),
    [
        ("four-bar", "generalised-alpha"),
        ("floating-arm", "implicit-midpoint"),
        ("floating-arm", "generalised-alpha"),
    ],
)
def test_implicit_steps_in_loops_and_with_quaternions(name, integrator):
    """Derivatives of the spring go through Cayley's map, or beside rows of constraints."""
    plain = kp.example(name)
    m = sprung(name, "ground", plain.model.names[-1], [0.2, 0.3, 0.4], **STRUT)
    q = m.start()
    qd = 0.5 * np.cos(np.arange(m.nv))
    qd = m.velocities(q, guess=qd) if m.closure is not None else qd
    options = {"duration": 0.5, "output": [0.5]}
    exact = kp.simulate(m, q, qd, **TIGHT, **options)
    errors = [
        np.abs(kp.simulate(m, q, qd, integrator=integrator, dt=dt, **options).q - exact.q).max()
        for dt in (2e-3, 1e-3)
    ]
    assert errors[1] < 0.35 * errors[0]  # a quarter at order 2, with room for higher terms


@pytest.mark.parametrize("integrator", ["generalised-alpha", "implicit-midpoint"])
def test_implicit_methods_take_limit_springs(integrator):
    """A ball on a soft floor: the same as by small explicit steps, to the order that a kink leaves."""
    b = (
        kp.Builder("ball")
        .link("ball", mass=1.0)
        .joint("z", "prismatic", "ground", "ball", axis="z", lower=0.0)
    )
    m, soft = kp.build(b), kp.Limits("spring", stiffness=2e3, damping=5.0)
    options = {"duration": 2.0, "output": 0.1, "limits": soft}
    exact = kp.simulate(m, [0.3], [0.0], **TIGHT, **options)
    run = kp.simulate(m, [0.3], [0.0], integrator=integrator, dt=1e-4, **options)
    assert run.status.ok
    assert np.abs(run.q - exact.q).max() < 1e-3
    assert run.balance.loss == pytest.approx(exact.balance.loss, rel=2e-3)


def test_an_idle_rope_changes_nothing():
    """A rope that never becomes taut leaves the motion as it is."""
    plain = kp.example("double-pendulum")
    m = sprung("double-pendulum", "ground", "lower", [0, 0, 0], **{**ROPE, "rest_length": 100.0})
    options = {"duration": 1.0, "integrator": "rk4", "dt": 1e-3, "output": 0.1}
    run, bare = (kp.simulate(x, [0.5, 0.2], [0, 0], **options) for x in (m, plain))
    assert run.q == pytest.approx(bare.q, rel=1e-13, abs=1e-13)
    assert (run.loss == bare.loss).all() if bare.loss is not None else not run.loss.any()
