"""Watchmen: the ledger of energy begins with the run, and a run that does not keep it is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from endings import stopped

G = 9.81


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.fixture(scope="module")
def ball() -> kp.Mechanism:
    builder = kp.Builder("ball").link("ball", mass=2.0)
    return kp.build(builder.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))


# the ledger


def test_an_impact_at_the_start_is_in_the_ledger(ball):
    run = kp.simulate(ball, [0.0], [-2.0], duration=0.1, limits=kp.Limits("bounce", restitution=0.5))
    assert run.events[0].time == 0.0
    assert run.balance.loss == pytest.approx(0.5 * 2.0 * (2.0**2 - 1.0**2))
    assert run.balance.relative < 1e-9


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "dt": 1e-3}, {"integrator": "cvode"}], ids=str)
def test_the_ledger_begins_with_the_run_not_with_the_first_sample(arm, options, tmp_path):
    arguments = {"duration": 1.0, "torque": [3.0, 0.0], "output": [0.5, 1.0], **options}
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], **arguments)
    whole = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], **{**arguments, "output": 0.1})
    assert run.balance.relative < 1e-5
    assert run.balance.stored == pytest.approx(whole.balance.stored, rel=1e-6)
    saved = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], **arguments, save=tmp_path / "run.h5")
    run.save(tmp_path / "copy.h5")
    for same in (saved, kp.load_run(tmp_path / "run.h5"), kp.load_run(tmp_path / "copy.h5")):
        assert same.balance == run.balance


def test_the_ledger_of_a_batch_begins_with_the_run_for_all_parameters(arm):
    q, masses = np.array([[0.3, 0.2], [1.0, -0.4], [0.5, 0.1]]), np.array([1.0, 2.0, 3.0])
    options = {"duration": 1.0, "integrator": "rk4", "dt": 1e-3, "output": [1.0]}
    run = kp.simulate(arm, q, [0.1, 0.0], parameters={"lower.mass": masses}, **options)
    assert run.balance.relative < 1e-9
    assert run.ledger.error.shape == (3,)


def test_springs_at_limits_are_in_the_ledger_from_the_start(ball):
    limits = kp.Limits("spring", stiffness=2e3, damping=0.0)
    with pytest.warns(kp.LimitWarning, match="the start is outside the limits"):
        run = kp.simulate(ball, [-0.05], [0.0], duration=0.3, limits=limits, output=[0.3])
    assert run.balance.relative < 1e-7


@pytest.mark.parametrize("rho", [0.9, 1.0])
def test_stiff_joints_lose_the_same_energy_by_every_method(rho):
    rods = kp.Builder("stiff")
    for name, parent, at in (("upper", "ground", 0.0), ("lower", "upper", -1.0)):
        rods = rods.link(name, mass=1.0, com=[0, 0, -0.5], inertia=[1 / 12, 1 / 12, 0, 0, 0, 0]).joint(
            f"j{name}", "revolute", parent, name, axis="y", xyz=[0, 0, at], stiffness=1e4, damping=5.0
        )
    stiff = kp.build(rods)
    exact = kp.simulate(stiff, [0.1, -0.1], [0.0, 0.0], duration=0.5)
    run = kp.simulate(
        stiff, [0.1, -0.1], [0.0, 0.0], duration=0.5, integrator="generalised-alpha", dt=1e-3, rho_inf=rho
    )
    assert run.balance.loss == pytest.approx(exact.balance.loss, rel=0.03)
    assert run.balance.relative < 0.01
    assert run.status.ok


# runs in doubt


def test_loose_tolerances_are_told(arm):
    run = stopped(arm, [1.0, 0.5], [0.0, 0.0], duration=5.0, integrator="dopri5", rtol=0.1, atol=0.1)
    assert run.status.name == "doubtful"
    assert not run.status.ok
    assert "of the energy that moved; take smaller rtol and atol" in run.status.message
    assert 0.0 < run.status.time < 5.0
    assert run.time[-1] == 5.0


def test_a_spring_too_stiff_for_the_step_is_told(ball):
    limits = kp.Limits("spring", stiffness=1e7, damping=0.0)
    run = stopped(ball, [1.0], [0.0], duration=2.0, limits=limits, integrator="rk4", dt=0.05)
    assert run.status.name == "doubtful"
    assert "J came from nowhere" in run.status.message
    assert "take a shorter dt" in run.status.message


def test_a_file_in_doubt_is_finished(arm, tmp_path):
    options = {"duration": 10.0, "integrator": "rk4", "dt": 0.125}
    run = stopped(arm, [2.0, 1.0], [0.0, 0.0], **options, save=tmp_path / "run.h5")
    plain = stopped(arm, [2.0, 1.0], [0.0, 0.0], **options)
    assert run.status == plain.status
    assert run.status.name == "doubtful"
    assert kp.resume(tmp_path / "run.h5").status == run.status


@pytest.mark.parametrize("method", ["semi-implicit-euler", "generalised-alpha"])
def test_energy_that_a_method_is_made_to_take_is_no_doubt(arm, method):
    run = kp.simulate(arm, [1.0, 0.5], [0.0, 0.0], duration=5.0, integrator=method, dt=0.01)
    assert run.balance.relative > 1e-4
    assert run.status.ok


def test_rest_is_no_doubt(ball):
    free = kp.Builder("free", gravity=[0, 0, 0]).link("a", mass=1.0, inertia=[1, 1, 1])
    free = kp.build(free.joint("f", "free", "ground", "a"))
    assert kp.simulate(free, [0, 0, 0, 0, 0, 0, 1], np.full(6, 1e-12), duration=1.0).status.ok
    assert kp.simulate(ball, [0.0], [0.0], duration=1.0, limits="stop").status.ok


# momentum


def test_a_floating_arm_keeps_its_momentum(tmp_path):
    arm = kp.example("floating-arm")
    rng = np.random.default_rng(3)
    q, qd = arm.start(), rng.normal(size=arm.nv)
    push = [0, 0, 0, 0, 0, 0, 2.0, -1.0, 0.5]  # inside, which changes nothing
    run = kp.simulate(arm, q, qd, duration=5.0, torque=push)
    assert run.momentum.directions.shape == (6, 6)
    assert run.momentum.linear == 3
    assert run.momentum.relative.max() < 1e-8
    assert (
        "Linear momentum (3 of 3 components) and angular momentum (3 of 3 components): constant to"
        in run.summary
    )
    run.save(tmp_path / "run.h5")
    assert kp.load_run(tmp_path / "run.h5").summary == run.summary
    thrust = kp.simulate(arm, q, qd, duration=0.5, torque=[0, 0, 0, 1.0, 0, 0, 0, 0, 0])
    assert thrust.momentum is None


def test_momentum_that_changes_without_a_reason_is_told():
    arm = kp.example("floating-arm")
    spin = [0.5, 3.0, 0.5, 0, 0, 0, 4.0, -6.0, 5.0]
    run = stopped(arm, arm.start(), spin, duration=20.0, integrator="rk4", dt=0.1)
    assert run.status.name == "doubtful"
    assert run.momentum.relative.max() > 0.01


def test_the_space_robot_keeps_its_turning():
    robot = kp.example("space-robot")
    qd = robot.velocities(robot.start(), guess=[0.1, -0.1, -0.1])
    run = kp.simulate(robot, robot.start(), qd, duration=20.0)
    assert (run.momentum.linear, len(run.momentum.directions)) == (0, 1)
    assert run.momentum.directions[0] == pytest.approx(
        [0, 0, run.momentum.directions[0, 2], 0, 0, 0], abs=1e-9
    )
    assert run.momentum.relative.max() < 1e-8


@pytest.mark.parametrize(
    ("name", "linear", "angular"),
    [("cart-pole", 1, 0), ("kr5", 0, 1), ("double-pendulum", 0, 0), ("four-bar", 0, 0)],
)
def test_what_is_kept_is_what_ground_and_gravity_leave(name, linear, angular):
    m = kp.example(name)
    run = kp.simulate(m, m.start(), np.zeros(m.nv), duration=0.2, output=0.1)
    result = run.momentum
    assert (result is None) == (linear + angular == 0)
    if result is not None:
        assert (result.linear, len(result.directions)) == (linear, linear + angular)


def turntable(rotor: float = 0.0) -> kp.Mechanism:
    builder = kp.Builder("turntable").link("post", mass=2.0, inertia=[0.1, 0.1, 0.2])
    builder = builder.link("boom", mass=1.0, com=[0.5, 0, 0], inertia=[0.01, 0.1, 0.1])
    builder = builder.joint("pan", "revolute", "ground", "post", axis="z", rotor_inertia=rotor)
    return kp.build(builder.joint("tilt", "revolute", "post", "boom", axis="y", xyz=[0, 0, 1.0]))


def test_a_rotor_at_the_ground_takes_momentum_up():
    run = kp.simulate(turntable(0.5), [0, 0.3], [1, 0], duration=3.0)
    assert run.status.ok
    assert run.momentum is None
    bare = kp.simulate(turntable(), [0, 0.3], [1, 0], duration=3.0)
    assert (bare.momentum.linear, len(bare.momentum.directions)) == (0, 1)
    assert bare.momentum.relative.max() < 1e-8


def test_a_push_between_the_samples_is_a_push():
    t, tau = [0, 4.005, 4.01, 4.02, 4.025, 10], np.zeros((6, 2))
    tau[2:4, 0] = 50.0
    run = kp.simulate(turntable(), [0, 0.3], [0, 0], duration=10.0, torque=(t, tau))
    assert run.status.ok
    assert run.momentum is None
    inside = kp.simulate(turntable(), [0, 0.3], [1, 0], duration=10.0, torque=(t, tau[:, ::-1]))
    assert inside.status.ok
    assert inside.momentum.relative.max() < 1e-7


def test_a_function_is_judged_where_it_is_seen_to_leave_the_ground_alone():
    def inside(time, q, qd):
        return np.array([0.0, -2.0 * q[1] - qd[1]])

    def outside(time, q, qd):
        return np.array([50.0 * np.maximum(0.0, time - 0.995), 0.0])

    class Brake:
        def __call__(self, time, q, qd):
            return np.zeros(2)

    table, start = turntable(), ([0, 0.3], [1, 0])
    assert kp.simulate(table, *start, duration=1.0, torque=inside).momentum.relative.max() < 1e-8
    for torque in (outside, Brake()):
        run = kp.simulate(table, *start, duration=1.0, torque=torque)
        assert run.status.ok
        assert run.momentum is None


@pytest.mark.parametrize("first", [0.0, 0.5])
def test_what_is_kept_does_not_depend_on_the_first_motion(first):
    builder = kp.Builder("u", gravity=[0, 0, 0])
    builder = builder.link("a", mass=2.0, com=[0.2, 0.1, 0.3], inertia=[0.1, 0.2, 0.25])
    cross = kp.build(builder.joint("u", "universal", "ground", "a"))
    rates = [[first, first], [1, 0.5], [2, 1]]
    run = kp.simulate(cross, np.zeros((3, 2)), rates, duration=3.0, integrator="rk4", dt=1e-3)
    assert run.status.ok, run.status
    assert (run.momentum.linear, len(run.momentum.directions)) == (0, 1)
    assert run.momentum.relative.max() < 1e-8


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "dt": 1e-3}], ids=str)
def test_keeping_momentum_against_a_push_is_work(options):
    robot = kp.example("space-robot")
    q, tau = robot.start(), np.full(3, 10.0)
    qd = robot.velocities(q, guess=np.ones(3))
    run = kp.simulate(robot, q, qd, duration=1.0, torque=tau, **options)
    assert run.status.ok, run.status
    assert run.balance.relative < 1e-7
    of_drives = tau @ (run.q[-1] - run.q[0])
    assert abs(run.work[-1] - of_drives) > 1.0  # the rest is that of the force which keeps momentum
    free = kp.simulate(robot, q, qd, duration=1.0, **options)
    assert np.abs(free.work).max() < 1e-9 * free.energy.kinetic[0]


# batches


def test_a_batch_is_as_well_as_its_rows(arm, tmp_path):
    q = [[2.0, 1.0], [0.2, 0.1], [2.1, 1.0]]
    options = {"duration": 5.0, "integrator": "rk4", "dt": 0.1}
    run = stopped(arm, q, [0.0, 0.0], **options)
    assert {k: x.name for k, x in run.failures.items()} == {0: "doubtful", 2: "doubtful"}
    assert run.status.name == "failed"
    assert not run.status.ok
    assert run.status.message == f"Reached t = 5 s, but 2 of 3 motions failed; motion 0: {run.failures[0]}"
    saved = stopped(arm, q, [0.0, 0.0], **options, save=tmp_path / "run.h5")
    assert (saved.status, saved.failures) == (run.status, run.failures)
    assert kp.resume(tmp_path / "run.h5").status == run.status


def test_a_batch_that_fails_as_a_whole_says_so(arm):
    run = stopped(arm, [[2.0, 1.0], [2.1, 1.0]], [0.0, 0.0], duration=10.0, integrator="rk4", dt=0.2)
    assert len(run.failures) == 2
    assert not run.status.ok
    assert run.status.message.startswith("Reached t = 10 s, but all motions failed; motion 0: ")


def test_a_sweep_says_which_cases_are_in_doubt(arm):
    study = kp.Study(arm, duration=5.0, integrator="rk4", dt=0.125, record=["energy drift"])
    table = kp.sweep(study, {"q.shoulder": [0.1, 2.5]}, workers=0)
    assert not table.errors[0]
    assert "the energy does not add up" in table.errors[1]


def test_a_spring_to_the_ground_takes_momentum_up_and_one_between_bodies_does_not():
    base = kp.example("floating-arm").model.description.with_gravity((0.0, 0.0, 0.0))
    names = [link.name for link in base.links]
    for parent, kept in (("ground", False), (names[0], True)):
        builder = kp.Builder("x").spring("s", parent, names[-1], xyz=[1, 0, 0], stiffness=20, rest_length=0.1)
        m = kp.build(replace(base, springs=builder.description().springs))
        run = kp.simulate(m, m.start(), np.full(m.nv, 0.1), duration=1.0)
        assert run.status.ok
        assert (run.momentum is not None) == kept
        if kept:
            assert run.momentum.relative.max() < 1e-8
    free = kp.simulate(m, m.start(), np.full(m.nv, 0.1), duration=1.0, passive=False)
    assert free.momentum is not None
