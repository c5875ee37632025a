"""Rows of a batch with limits and friction are the single runs: the same events, the same motion to rounding.

Vector and scalar code differ by rounding ε in every step. Over n steps of a motion whose neighbours part by the factor
L in its whole time, rows differ by at most about 4 n ε L; L ≤ 100 for these short, dissipative motions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp

ROUNDING = 4 * np.finfo(float).eps * 100.0


def ball():
    b = kp.Builder("ball").link("ball", mass=2.0)
    return kp.build(b.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))


def arm():
    """Two links with friction in both joints, between limits."""
    b = kp.Builder("arm")
    b = b.link("upper", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    b = b.link("fore", mass=0.6, com=(0.15, 0, 0), inertia=(0.005, 0.01, 0.01))
    b = b.joint("shoulder", "revolute", "ground", "upper", axis="y", lower=-0.6, upper=0.9, friction=0.4)
    b = b.joint(
        "elbow", "revolute", "upper", "fore", axis="y", xyz=(0.4, 0, 0), lower=-0.8, upper=0.5, friction=0.2
    )
    return kp.build(b)


def four_bar():
    """The bundled four-bar with friction in its crank and a limit on it."""
    own = kp.example("four-bar").model.description
    first, *others = own.joints
    return kp.build(replace(own, joints=(replace(first, friction=(0.02,), upper=(1.9,)), *others)))


def spring(t, q, qd):
    return 1600.0 * (0.1 * t - q)


def starts(m, rows, seed, spread):
    """Random starts near the start of a mechanism; loops closed."""
    rng = np.random.default_rng(seed)
    q = m.start() + spread * rng.uniform(-1.0, 1.0, (rows, m.nq))
    qd = rng.uniform(-2.0, 2.0, (rows, m.nv))
    if m.constraints:
        first = list(m.q_names)[:1]
        q = np.array([m.assemble(x, fixed=first) for x in q])
        qd = np.array([m.velocities(x, guess=v) for x, v in zip(q, qd, strict=True)])
    return q, qd


CASES = {
    "ball": (ball, (np.array([0.5]), 0.4), {"limits": kp.Limits("bounce", restitution=0.5)}, 0.8),
    "belt": (lambda: kp.example("stick-slip"), (np.zeros(1), 0.01), {"torque": spring}, 0.5),
    "arm": (arm, (np.zeros(2), 0.4), {"limits": kp.Limits("bounce", restitution=0.6)}, 0.6),
    "arm that stops": (arm, (np.zeros(2), 0.4), {"limits": "stop"}, 0.6),
    "four-bar": (four_bar, (None, 0.1), {"limits": "stop"}, 0.5),
}


def case(name):
    make, (center, spread), options, duration = CASES[name]
    m = make()
    q, qd = starts(m, 7, 3, spread)
    if center is not None:
        q = q - m.start() + center
    return m, q, qd, {**options, "duration": duration, "dt": 1e-3, "integrator": "rk4"}


@pytest.mark.parametrize("name", CASES)
def test_a_row_of_a_batch_is_the_single_run(name):
    m, q, qd, options = case(name)
    batch = kp.simulate(m, q, qd, **options)
    assert batch.status.ok
    steps = len(batch.time)
    for row in range(len(q)):
        one = kp.simulate(m, q[row], qd[row], **options)
        own = [x for x in batch.events if x.row == row]
        assert [x.name for x in own] == [x.name for x in one.events]
        assert [x.time for x in own] == pytest.approx([x.time for x in one.events], abs=steps * ROUNDING)
        size = 1.0 + np.abs(one.qd).max()
        assert np.abs(one.q - batch.q[row]).max() <= steps * ROUNDING * size
        assert np.abs(one.qd - batch.qd[row]).max() <= 10.0 * steps * ROUNDING * size
    assert len(batch.events) > len(q)  # something happens in the mean row


@pytest.mark.parametrize("name", CASES)
def test_a_stepper_is_the_run(name):
    """Of a batch in vector code, of one motion in scalar code, both to the last bit; steps in any portions."""
    m, q, qd, options = case(name)
    limits, torque = options.get("limits", "ignore"), options.get("torque")
    options = {"torque": np.zeros(m.nv), **options}  # a stepper has inputs
    batch, one = kp.simulate(m, q, qd, **options), kp.simulate(m, q[2], qd[2], **options)
    for run, start, rows in ((batch, (q, qd), len(q)), (one, (q[2], qd[2]), None)):
        s = kp.stepper(m, 1e-3, batch=rows, limits=limits, input=torque)
        s.reset(*start)
        events, steps = list(s.events), len(run.time) - 1
        while s.steps < steps // 2:
            s.step(steps=min(3, steps // 2 - s.steps))
            events += s.events
        there = s.state()
        s.step(steps=steps - s.steps)
        assert (s.q == run.q[..., -1, :]).all()
        assert (s.qd == run.qd[..., -1, :]).all()
        assert [(x.time, x.row, x.name) for x in (*events, *s.events)] == [
            (x.time, x.row, x.name) for x in run.events
        ]
        s.restore(there)
        while s.steps < steps:
            s.step()
        assert (s.q == run.q[..., -1, :]).all()
        assert (s.qd == run.qd[..., -1, :]).all()


def test_single_motions_of_a_stepper_begin_anew_at_their_limit():
    s = kp.stepper(ball(), 1e-3, batch=3, limits=kp.Limits("bounce", restitution=0.5))
    s.reset([[0.5], [0.0], [0.1]], [[0.0], [-1.0], [0.0]])
    assert s.qd[:, 0].tolist() == [0.0, 0.5, 0.0]  # the second one is struck at once
    s.step(steps=400)
    s.reset([0.0], [0.0], rows=[1])
    before = s.q.copy()
    s.step(steps=50)
    assert s.q[1, 0] == 0.0
    assert s.qd[1, 0] == 0.0
    assert (s.q[[0, 2]] != before[[0, 2]]).all()


@pytest.mark.parametrize("rows", [None, 5])
def test_a_limit_opens_and_closes_where_the_inputs_of_a_stepper_jump(rows):
    """Between calls guards have seen no change of sign: the first step with new inputs begins by the event."""
    b = kp.Builder("slide", gravity=(0, 0, 0)).link("slide", mass=1.0)
    m = kp.build(b.joint("x", "prismatic", "ground", "slide", axis="x", lower=0.0))
    s = kp.stepper(m, 1e-3, batch=rows, limits="stop")
    s.reset([0.5], [-2.0])
    s.step(np.full(s.u.shape, -1.0), steps=600)
    assert not s.q.any()
    assert not s.qd.any()
    s.step(np.full(s.u.shape, 1.0))
    assert {x.name for x in s.events} == {"x leaves its lower limit"}
    assert s.qd == pytest.approx(np.full(s.qd.shape, 1e-3), abs=1e-15)
    s.step(steps=9)
    assert s.q == pytest.approx(np.full(s.q.shape, 0.5e-4), abs=1e-15)
    s.step(np.full(s.u.shape, -100.0), steps=10)
    assert {x.name for x in s.events} == {"x at its lower limit"}
    assert not s.q.any()


def test_friction_lets_go_where_sampled_efforts_jump_whatever_the_chunks():
    """An effort held for 10 ms jumps between ±3 N, friction takes 2 N: 96 changes in 1 s."""

    class Square:
        sample_time, traceable = 0.01, True

        def __call__(self, t, q, qd):
            return np.array([3.0 * np.where(np.sin(300.0 * t) > 0.0, 1.0, -1.0)])

    b = kp.Builder("slide", gravity=(0, 0, 0)).link("slide", mass=1.0)
    m = kp.build(b.joint("x", "prismatic", "ground", "slide", axis="x", friction=2.0))
    options = {"duration": 1.0, "dt": 1e-3, "integrator": "rk4", "torque": Square()}
    one = kp.simulate(m, [0.0], [0.0], **options)
    many = kp.simulate(m, np.zeros((5, 1)), np.zeros((5, 1)), **options)
    adaptive = kp.simulate(m, [0.0], [0.0], duration=1.0, torque=Square(), rtol=1e-10, atol=1e-12)
    assert len(many.events) == 5 * len(one.events)
    assert [x.name for x in one.events] == [x.name for x in adaptive.events]
    assert np.abs(many.q - one.q).max() <= 1000 * ROUNDING
    assert one.q[-1, 0] == pytest.approx(adaptive.q[-1, 0], abs=1e-9)


def test_a_row_without_numbers_changes_no_bit_of_its_neighbours():
    """In vector code and in steps with events; the row has its own status."""
    m, q, qd, options = case("arm")
    whole = kp.simulate(m, q, qd, **options)
    torque = np.zeros((len(q), m.nv))
    torque[3] = 1e300
    with pytest.warns(kp.RunWarning, match="1 of 7 motions failed; motion 3"):
        part = kp.simulate(m, q, qd, torque=torque, **options)
    assert list(part.failures) == [3]
    others = [row for row in range(len(q)) if row != 3]
    plain = kp.simulate(m, q, qd, torque=np.zeros((len(q), m.nv)), **options)
    assert (part.q[others] == plain.q[others]).all()
    assert (part.qd[others] == plain.qd[others]).all()
    assert np.abs(plain.q - whole.q).max() <= len(whole.time) * ROUNDING * 10.0
    s = kp.stepper(m, 1e-3, batch=len(q), limits=options["limits"])
    s.reset(q, qd)
    s.step(torque, steps=len(whole.time) - 1)
    assert s.failed.tolist() == [row == 3 for row in range(len(q))]
    assert (s.q[others] == plain.q[others, -1]).all()


def test_a_row_that_ends_early_has_the_status_of_its_single_run():
    """A drive takes a slider into its limit: no impulse holds both."""
    b = kp.Builder("driven", gravity=(0, 0, 0)).link("slide", mass=1.0)
    b = b.joint("x", "prismatic", "ground", "slide", axis="x", upper=0.1)
    m = kp.build(b).with_constraints(kp.constraint.custom("speed", psi=lambda q, qd, t: qd[0] - 1.0))
    options = {"duration": 0.2, "dt": 1e-3, "integrator": "rk4", "limits": "stop"}
    with pytest.warns(kp.RunWarning, match="1 of 2 motions failed"):
        batch = kp.simulate(m, [[0.0], [-0.5]], [[1.0], [1.0]], **options)
    with pytest.warns(kp.RunWarning, match="no force at the limits holds 'x at its upper limit'"):
        status = kp.simulate(m, [0.0], [1.0], **options).status
    assert (batch.failures[0].name, batch.failures[0].message) == (status.name, status.message)
    assert batch.failures[0].time == pytest.approx(status.time, abs=1e-12)
    assert np.isnan(batch.q[0, -1, 0])
    assert batch.q[1, -1, 0] == pytest.approx(-0.3, abs=1e-12)


def test_more_events_in_a_step_than_are_taken_end_without_rebound():
    """A ball with e = 0.9 comes to rest within one step of 0.1 s: its rebounds of the rest of the step are left out."""
    limits = kp.Limits("bounce", restitution=0.9)
    options = {"duration": 0.3, "dt": 0.1, "integrator": "rk4", "limits": limits}
    batch = kp.simulate(ball(), [[1e-4], [0.4]], [[0.0], [0.0]], **options)
    assert batch.status.ok
    names = [x.name for x in batch.events if x.row == 0]
    assert names.count("more than 16 events in a step") == 1
    assert names.count("drop at its lower limit") == 17
    assert (batch.q[0, 1:] == 0.0).all()
    assert batch.ledger.gained.max() <= 1e-12
    assert "'more than 16 events in a step'" in batch.summary


def test_a_batch_that_goes_on_is_the_one_that_was_never_cut(tmp_path, monkeypatch):
    m, q, qd, options = case("arm that stops")
    whole = kp.simulate(m, q, qd, **options)
    path = tmp_path / "run.h5"
    reports = []

    def stop(part):
        reports.append(part)
        if part > 0.3:
            raise KeyboardInterrupt

    from kinpair.simulation.steppers import stepper

    monkeypatch.setattr(stepper, "FIRST_STEPS", 70)
    monkeypatch.setattr(stepper, "LEAP", 1)
    part = kp.simulate(m, q, qd, **options, save=path, checkpoint=1e-9, progress=stop)
    assert part.status.name == "interrupted"
    assert 0.3 < reports[-1] < 1.0
    run = kp.resume(path)
    assert (run.q == whole.q).all()
    assert (run.qd == whole.qd).all()
    assert [(x.time, x.row, x.name) for x in run.events] == [(x.time, x.row, x.name) for x in whole.events]
    assert (run.history.number == whole.history.number).all()
    stored = kp.load_run(whole.save(tmp_path / "whole.h5"))
    assert [x.row for x in stored.events] == [x.row for x in whole.events]
    assert (stored.history.number == whole.history.number).all()


def test_a_saved_run_has_room_for_the_phases_of_many_limits(tmp_path):
    """Ten sliders with twenty limits, one motion and a batch; the file has what the run has."""
    b, n = kp.Builder("sliders", gravity=(0, 0, 0)), 10
    for k in range(n):
        b = b.link(f"s{k}", mass=1.0)
        b = b.joint(f"x{k}", "prismatic", "ground", f"s{k}", axis="x", lower=0.0, upper=1.0)
    m = kp.build(b)
    options = {"duration": 1.0, "dt": 1e-2, "integrator": "rk4", "limits": "stop"}
    rates = np.linspace(0.6, 1.2, n)
    for q, qd in ((np.full(n, 0.5), rates), (np.full((3, n), 0.5), np.outer([1.0, -1.0, 0.5], rates))):
        saved = kp.simulate(m, q, qd, save=tmp_path / f"{np.ndim(q)}.h5", **options)
        plain = kp.simulate(m, q, qd, **options)
        assert len(plain.events) >= n
        assert (saved.q == plain.q).all()
        assert len(saved.events) == len(plain.events)


def test_accelerations_of_a_batch_are_those_of_the_modes_of_its_rows():
    run = kp.simulate(
        ball(), [[0.0], [0.5]], [[0.0], [0.0]], duration=0.1, dt=1e-2, integrator="rk4", limits="stop"
    )
    assert np.abs(run.qdd[0]).max() <= 1e-12  # at rest on the floor
    assert run.qdd[1] == pytest.approx(np.full((11, 1), -9.81), rel=1e-4)
