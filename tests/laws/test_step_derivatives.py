"""Derivatives of a time step with contact are those of differences, never NaN, and marked where a set is degenerate."""

import numpy as np
import pytest

import kinpair as kp
from kinpair.formulations import kinematics

G, SMALL = 9.81, 1e-6


def body(shape, *, mu=0.5, restitution=0.0):
    b = kp.Builder("body")
    b.link("body", mass=1.0, inertia=[0.002, 0.003, 0.004])
    b.joint("free", "free", "ground", "body", start=[0, 0, 0.05, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True, mu=mu, restitution=restitution).contact("shape", "body", **shape)
    return kp.build(b)


def differences(m, s, q, qd):
    """Derivatives of a step by central differences of the step itself."""

    def end(at, rates):
        s.reset(at, rates)
        s.step()
        return s.q.copy(), s.qd.copy()

    q1, _ = end(q, qd)
    E = np.array([kinematics.dq_dt(m.model, q1, x) for x in np.eye(m.nv)], dtype=float).T
    columns = []
    for k in range(2 * m.nv):
        ends = []
        for h in (SMALL, -SMALL):
            step = h * np.eye(2 * m.nv)[k]
            at = np.asarray(kinematics.nudged(m.model, q, step[: m.nv]), dtype=float)
            there, rates = end(at, qd + step[m.nv :])
            ends.append(np.concatenate([np.linalg.pinv(E) @ there, rates]))
        columns.append((ends[0] - ends[1]) / (2 * SMALL))
    return np.array(columns).T


HEIGHTS = {"slides": 0.05 - 1e-5, "lands": 0.0505, "flies": 0.5}
RATES = {
    "slides": [0, 0, 0, 1.0, 0.2, -0.01],
    "lands": [1.0, 2.0, 3.0, 1.0, 0.2, -1.0],
    "flies": [1.0, 2.0, 3.0, 1.0, 0, 0],
}


@pytest.mark.parametrize("case", HEIGHTS)
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_derivatives_of_a_ball_are_those_of_differences(case, restitution):
    m = body({"sphere": 0.05}, mu=0.3, restitution=restitution)
    s = kp.stepper(m, 1e-3, integrator="time-stepping")
    q, qd = np.array([0, 0, HEIGHTS[case], 0, 0, 0, 1.0]), np.array(RATES[case], dtype=float)
    s.reset(q, qd)
    found = s.derivatives()
    exact = differences(m, s, q, qd)
    assert not found.degenerate
    assert np.abs(found.A - exact).max() <= 1e-6 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_a_box_on_a_corner_are_those_of_differences(seed):
    m, rng = body({"box": [0.1, 0.12, 0.14]}), np.random.default_rng(seed)
    s = kp.stepper(m, 1e-3, integrator="time-stepping")
    turn = rng.normal(size=4)
    q = np.array([0.0, 0.0, 0.3, *(turn / np.linalg.norm(turn))])
    q[2] -= min(x.gap for x in m.contacts(q, margin=1.0)) + 1e-5  # the lowest corner overlaps by 10 µm
    qd = np.array([*rng.normal(size=3), *rng.normal(size=3)])
    s.reset(q, qd)
    found = s.derivatives()
    exact = differences(m, s, q, qd)
    assert not found.degenerate
    assert np.abs(found.A - exact).max() <= 1e-6 * max(1.0, np.abs(exact).max())


def test_derivatives_do_not_depend_on_the_impulses_that_a_step_starts_from():
    b = kp.Builder("balls")
    b.contact("floor", "ground", plane=True, mu=0.5)
    for name, height in (("lower", 0.05 - 1e-5), ("upper", 0.15 - 2e-5)):  # overlaps of 10 µm
        b.link(name, mass=1.0, inertia=[0.002] * 3)
        b.joint(f"{name} free", "free", "ground", name, start=[0, 0, height, 0, 0, 0, 1])
        b.contact(name, name, sphere=0.05, mu=0.5)
    m = kp.build(b)
    s = kp.stepper(m, 1e-3, integrator="time-stepping")
    s.reset(m.start(), np.zeros(m.nv))
    s.step(steps=20)  # impulses of the last step satisfy the problem of the next
    warm, q, qd = s.derivatives(), s.q.copy(), s.qd.copy()
    s.reset(q, qd)
    cold = s.derivatives()
    assert not warm.degenerate
    np.testing.assert_allclose(warm.A, cold.A, atol=1e-9)


def test_inputs_are_differentiated():
    b = kp.Builder("slide")
    b.link("body", mass=2.0, inertia=[0.01] * 3).joint("x", "prismatic", "ground", "body", axis=[1, 0, 0])
    s = kp.stepper(kp.build(b), 1e-3, integrator="time-stepping")
    found = s.derivatives()
    np.testing.assert_allclose(found.B, [[0.5e-6 / 2.0], [1e-3 / 2.0]], rtol=1e-6)


def test_a_batch_has_derivatives_of_each_row_and_no_nan():
    m = body({"sphere": 0.05})
    s = kp.stepper(m, 1e-3, batch=3, integrator="time-stepping")
    s.reset(np.tile([0, 0, 0.2, 0, 0, 0, 1.0], (3, 1)), np.zeros((3, 6)))
    s.qd[1, 0] = np.nan
    found = s.derivatives()
    assert found.A.shape == (3, 12, 12)
    assert np.isfinite(found.A).all()
    assert found.degenerate.tolist() == [False, True, False]


def test_a_nan_input_of_one_row_stays_in_that_row_and_is_seen():
    q, qd = some_states(6, 1)
    steppers = [kp.stepper(body({"box": [0.1] * 3}), 1e-3, batch=6, integrator="time-stepping") for _ in "ab"]
    others, inputs = [0, 1, 3, 4, 5], np.zeros((6, 6))
    for s, value in zip(steppers, (np.nan, 0.0), strict=True):
        s.reset(q, qd)
        inputs[2, 0] = value
        for _ in range(3):
            s.step(inputs)
            inputs[:] = 0.0
    lost, sound = steppers
    assert lost.failed.tolist() == [k == 2 for k in range(6)]
    assert not sound.failed.any()
    assert np.isnan(lost.qd[2]).any()
    assert (lost.q[others] == sound.q[others]).all()
    assert (lost.qd[others] == sound.qd[others]).all()


def some_states(count, seed):
    """Random states of a box around touchdown: some fly, some land, some overlap, some only touch."""
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=(count, 4))
    turn[::4] = [0, 0, 0, 1]
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    heights = rng.choice([0.05, 0.05 - 1e-6, 0.06, 0.09], size=count)
    q = np.column_stack([np.zeros((count, 2)), heights, turn])
    return q, rng.normal(size=(count, 6)) * rng.choice([0.0, 1e-3, 1.0, 10.0], size=(count, 1))


def no_nan(count, seed):
    s = kp.stepper(body({"box": [0.1] * 3}), 1e-3, batch=count, integrator="time-stepping")
    s.reset(*some_states(count, seed))
    found = s.derivatives()
    assert np.isfinite(found.A).all()
    assert np.isfinite(found.B).all()


def test_derivatives_at_random_states_are_never_nan():
    no_nan(40, 3)


@pytest.mark.long("100 000 states take two and a half minutes of CPU")
@pytest.mark.parametrize("seed", range(100))
def test_derivatives_at_many_random_states_are_never_nan(seed):
    no_nan(1000, seed)


def test_points_that_an_impact_brings_within_reach_have_derivatives():
    """A box between floor and wall turns so fast after its impact that the search of points is widened in the step."""
    b = kp.Builder("corner").contact("floor", "ground", plane=True, mu=0.5, restitution=0.3)
    b.contact("wall", "ground", box=[0.2, 0.2, 0.2], xyz=[0.2, 0, 0.05], mu=0.4)
    b.link("body", mass=1.0, inertia=[0.002, 0.003, 0.004]).joint("free", "free", "ground", "body")
    s = kp.stepper(
        kp.build(b.contact("box", "body", box=[0.1, 0.12, 0.14])), 1e-3, integrator="time-stepping"
    )
    turn = np.array([0.8335119081990255, 0.09657544564034226, 0.48297828396001313, 0.2503259063957011])
    at = [0.17856907751189516, 0.013303044140063974, 0.0008957727054560483]
    s.reset([*at, *turn], [1.71726851, -2.67530755, 2.8951034805, -7.3305780716, 2.51748846, 1.85822971655])
    found = s.derivatives()
    assert np.isfinite(found.A).all()
    assert np.abs(found.A).max() > 0.9
