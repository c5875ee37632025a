"""A resident stepper moves as a simulation does, to the last bit."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler.time_loop.loop import FEW

MECHANISMS = ["double-pendulum", "four-bar", "floating-arm", "diff-drive", "crane"]
METHODS = ["rk4", "semi-implicit-euler", "implicit-midpoint", "generalised-alpha"]


def start_of(m, rng, rows=()):
    """A start that obeys the constraints, with some speed."""
    q = m.start()
    qd = (
        m.velocities(q, guess=rng.uniform(-0.3, 0.3, m.nv)) if m.constraints else rng.uniform(-0.3, 0.3, m.nv)
    )
    return np.broadcast_to(q, (*rows, m.nq)).copy(), np.broadcast_to(qd, (*rows, m.nv)).copy()


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_a_run(name, method):
    m, rng = kp.example(name), np.random.default_rng(1)
    if method == "implicit-midpoint" and m.constraints:
        with pytest.raises(kp.InputError, match="takes no constraints"):
            kp.stepper(m, integrator=method)
        return
    q, qd = start_of(m, rng)
    tau = rng.uniform(-0.1, 0.1, m.nv)
    s = kp.stepper(m, 1 / 256, integrator=method)
    s.reset(q, qd)
    for _ in range(12):
        s.step(tau)
    without_guards = kp.Limits("ignore")
    run = kp.simulate(
        m,
        q[None],
        qd[None],
        duration=12 / 256,
        dt=1 / 256,
        integrator=method,
        torque=tau,
        limits=without_guards,
    )
    assert s.time == 12 / 256
    assert np.abs(s.q - run.q[0, -1]).max() <= 1e-13  # one lane of a batch and scalar code round differently
    assert np.abs(s.qd - run.qd[0, -1]).max() <= 1e-12 * (1.0 + np.abs(s.qd).max())
    assert s.work == pytest.approx(run.work[0, -1], abs=1e-13)
    assert s.loss == pytest.approx(run.loss[0, -1], abs=1e-13)


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "floating-arm"])
def test_one_motion_is_that_of_a_run_to_the_last_bit(name):
    m, rng = kp.example(name), np.random.default_rng(2)
    q, qd = start_of(m, rng)
    tau = rng.uniform(-0.1, 0.1, m.nv)
    s = kp.stepper(m, 1 / 256)
    s.reset(q, qd)
    s.step(tau, steps=20)
    run = kp.simulate(m, q, qd, duration=20 / 256, dt=1 / 256, integrator="rk4", torque=tau)
    assert np.array_equal(s.q, run.q[-1])
    assert np.array_equal(s.qd, run.qd[-1])


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
def test_a_batch_is_its_motions_side_by_side(name):
    m, rng = kp.example(name), np.random.default_rng(3)
    q, qd = start_of(m, rng, (5,))
    tau = rng.uniform(-0.1, 0.1, (5, m.nv))
    s = kp.stepper(m, 1 / 256, batch=5)
    s.reset(q, qd)
    for _ in range(10):
        s.step(tau)
    run = kp.simulate(m, q, qd, duration=10 / 256, dt=1 / 256, integrator="rk4", torque=tau)
    assert np.array_equal(s.q, run.q[:, -1])
    assert np.array_equal(s.qd, run.qd[:, -1])
    assert not s.failed.any()


def test_views_change_with_each_step_and_inputs_can_be_written_to_them():
    s = kp.stepper(kp.example("double-pendulum"))
    q, qd = s.reset([0.3, 0.2])
    before = q.copy()
    s.u[:] = [0.5, 0.0]
    assert s.step() == (q, qd) or s.step()[0] is q
    assert (q != before).any()
    assert (s.u == [0.5, 0.0]).all()


def test_a_snapshot_is_returned_to_exactly():
    m = kp.example("four-bar")
    s = kp.stepper(m)
    s.reset()
    s.step(steps=50)
    snapshot = s.state()
    s.step([0.1, 0, 0], steps=30)
    there, when = s.q.copy(), s.time
    s.restore(snapshot)
    assert s.time == pytest.approx(0.05)
    s.step([0.1, 0, 0], steps=30)
    assert np.array_equal(s.q, there)
    assert s.time == when


def test_single_motions_of_a_batch_begin_anew():
    m = kp.example("double-pendulum")
    s = kp.stepper(m, batch=4)
    s.reset([0.3, 0.2])
    s.step(steps=20)
    others = s.q[[0, 2]].copy()
    s.reset([1.0, 1.0], [0.1, 0.2], rows=[1, 3])
    assert (s.q[[1, 3]] == 1.0).all()
    assert (s.qd[[1, 3]] == [0.1, 0.2]).all()
    assert np.array_equal(s.q[[0, 2]], others)
    assert s.time == pytest.approx(0.02)


def test_parameters_and_wrenches_are_those_of_a_run():
    m = kp.example("double-pendulum")
    link = m.model.names[-1]
    masses = {f"{link}.mass": np.array([1.0, 2.0, 3.0])}
    s = kp.stepper(m, batch=3, parameters=masses, external=[link])
    s.reset([0.3, 0.2])
    wrench = np.array([0, 0.2, 0, 0, 0, -1.0])
    s.step(np.concatenate([[0.1, 0.0], wrench]), steps=10)
    run = kp.simulate(
        m, np.tile([0.3, 0.2], (3, 1)), np.zeros((3, 2)), duration=0.01, dt=1e-3, integrator="rk4",
        torque=[0.1, 0.0], external={link: wrench}, parameters=masses,
    )  # fmt: skip
    assert np.array_equal(s.q, run.q[:, -1])


def test_a_motion_without_numbers_is_told():
    m = kp.example("double-pendulum")
    one = kp.stepper(m)
    one.reset([0.3, 0.2])
    with pytest.raises(kp.SingularError, match=r"the state is not finite any more at t = 0.001 s"):
        one.step([np.nan, 0.0])
    assert one.failed
    one.reset([0.3, 0.2])
    one.step([0.0, 0.0])
    many = kp.stepper(m, batch=3)
    many.reset([0.3, 0.2])
    many.step([[0, 0], [np.nan, 0], [0, 0]])
    assert many.failed.tolist() == [False, True, False]
    assert np.isfinite(many.q[[0, 2]]).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"batch": 0}, "batch is 0; give the number of motions, 1 or more, or None for one alone"),
        ({"dt": -1.0}, "dt is -1.0; it must be a number above zero"),
        ({"integrator": "cvode"}, "cvode chooses its steps"),
        ({"external": ["hand"]}, "no link or frame 'hand'"),
        ({"integrator": "rk5"}, "no integrator 'rk5'; did you mean 'rk4'?"),
    ],
)
def test_what_a_stepper_does_not_take_is_said(given, words):
    with pytest.raises(kp.InputError) as refused:
        kp.stepper(kp.example("double-pendulum"), **given)
    assert words in str(refused.value)


def test_a_start_beyond_limits_is_rejected_and_one_that_is_open():
    builder = kp.Builder("ball").link("ball", mass=2.0)
    ball = kp.build(builder.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))
    many = kp.stepper(ball, batch=2, limits="stop")
    with pytest.raises(
        kp.InputError, match=r"'drop' starts 0\.1 beyond its lower limit 0 \(motion 1 of the batch\)"
    ):
        many.reset([[0.0], [-0.1]])
    s = kp.stepper(ball, limits="spring")
    s.reset([0.1])
    for _ in range(1000):
        s.step()
    assert s.q[0] > -0.1
    linkage = kp.stepper(kp.example("four-bar"))
    with pytest.raises(kp.InputError, match="q does not obey the constraints"):
        linkage.reset([0.1, 0.2, 0.3])


def test_long_calls_that_let_other_threads_run_step_like_short_ones():
    m, q = kp.example("double-pendulum"), np.array([0.3, 0.2])
    short, long = kp.stepper(m, 1e-3), kp.stepper(m, 1e-3)
    for s in (short, long):
        s.reset(q, np.zeros(2))
    for _ in range(2 * FEW):
        short.step([0.1, 0.2])
    long.step([0.1, 0.2], steps=2 * FEW)
    assert np.array_equal(short.q, long.q)
    assert short.time == long.time


def test_a_stepper_gives_its_memory_back():
    m = kp.example("double-pendulum")
    s = kp.stepper(m, 1e-3)
    memory = weakref.ref(s.q.base)
    del s
    assert memory() is None


def test_a_stepper_without_the_short_way_steps_alike(monkeypatch):
    m, q = kp.example("double-pendulum"), np.array([0.3, 0.2])
    one = kp.stepper(m, 1e-3)
    monkeypatch.setattr("kinpair.compiler.time_loop.loop.thin_calls_work", lambda: False)
    other = kp.stepper(m, 1e-3)
    for s in (one, other):
        s.reset(q, np.zeros(2))
        s.step([0.1, 0.2])
    assert np.array_equal(one.q, other.q)
