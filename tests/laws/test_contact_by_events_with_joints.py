"""Laws of contact by events together with limits and dry friction of joints: closed forms, and time steps as dt → 0."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp

G = 9.81


def finger(friction, mu=0.3):
    """A finger on a slide along x, with dry friction, and a box in front of it on a floor with friction."""
    b = kp.Builder("finger")
    b.link("finger", mass=0.5, inertia=[0.01] * 3).link("sx").link("box", mass=1.0, inertia=[0.01] * 3)
    b.joint("push", "prismatic", "ground", "finger", axis="x", friction=friction)
    b.joint("x", "prismatic", "ground", "sx", axis="x").joint("z", "prismatic", "sx", "box", axis="z")
    b.contact("floor", "ground", plane=True, xyz=[0, 0, -0.05], mu=mu)
    b.contact("tip", "finger", sphere=0.02, mu=0.0).contact("body", "box", box=[0.1, 0.1, 0.1], mu=mu)
    b.contact_pair("tip", "body", mu=0.0).contact_pair("body", "floor", mu=mu)
    return kp.build(b)


def run(m, q, qd, **options):
    return kp.simulate(m, q, qd, **{"integrator": "dop853", "output": 0.1, **options})


def names(result):
    return [x.name for x in result.events]


def test_a_finger_with_friction_in_its_joint_pushes_a_box_with_both_frictions():
    force, friction, mu, t = 10.0, 2.0, 0.3, 0.5
    result = run(finger(friction, mu), [-0.07, 0.0, 0.0], [0, 0, 0], torque=[force, 0, 0], duration=t)
    a = (force - friction - mu * G) / 1.5
    assert result.status.name == "done"
    assert_allclose(result.q[-1, :2], [-0.07 + 0.5 * a * t**2, 0.5 * a * t**2], atol=1e-9)
    assert result.balance.relative < 1e-9


@pytest.mark.parametrize("force", [1.9, 4.9])
def test_a_finger_holds_still_below_the_sum_of_both_frictions(force):
    result = run(finger(2.0), [-0.07, 0.0, 0.0], [0, 0, 0], torque=[force, 0, 0], duration=1.0)
    assert np.abs(result.q - result.q[0]).max() <= 1e-12


def test_a_finger_that_strikes_a_box_slides_with_it_to_rest_by_the_law_of_both():
    v, friction, mu = 1.0, 2.0, 0.3
    result = run(finger(friction, mu), [-0.07, 0.0, 0.0], [v, 0, 0], duration=0.8)
    assert result.status.name == "done"
    after, free = v / 3, mu * G  # one velocity behind the impact; then each is braked by its own friction
    together = (friction + mu * G) / 1.5  # the finger alone would stop faster than the box: the box leaves it
    assert friction / 0.5 > together > free
    assert_allclose(result.q[-1, 1], after**2 / (2 * free), atol=1e-9)
    assert_allclose(result.q[-1, 0] + 0.07, after**2 / (2 * friction / 0.5), atol=1e-9)
    assert "push sticks" in names(result)


def arm():
    """An arm whose joint stops at a limit and whose elbow lets its tip fall on a plane; the elbow has friction."""
    b = kp.Builder("arm").link("upper", mass=1.0, com=[0.2, 0, 0], inertia=[0.02] * 3)
    b.link("lower", mass=0.5, com=[0.15, 0, 0], inertia=[0.01] * 3)
    b.joint("shoulder", "revolute", "ground", "upper", axis="y", upper=0.4)
    b.joint("elbow", "revolute", "upper", "lower", axis="y", xyz=[0.4, 0, 0], friction=0.05)
    b.contact("floor", "ground", plane=True, xyz=[0, 0, -0.35], mu=0.4)
    return kp.build(b.contact("tip", "lower", point=True, xyz=[0.3, 0, 0]))


@pytest.fixture(scope="module")
def landed():
    limits = kp.Limits("stop")
    return run(arm(), [0.0, 0.0], [0.5, 0.0], duration=1.5, limits=limits, rtol=1e-10, atol=1e-10)


def test_an_arm_with_a_limit_rests_on_a_plane(landed):
    assert landed.status.name == "done"
    assert "shoulder at its upper limit" in names(landed)
    assert "tip on floor lands" in names(landed)
    assert_allclose(landed.q[-1, 0], 0.4, atol=1e-9)
    q = landed.q[-1]
    assert_allclose(0.4 * np.sin(q[0]) + 0.3 * np.sin(q[0] + q[1]), 0.35, atol=1e-9)
    assert np.abs(landed.qd[-1]).max() <= 1e-12
    assert landed.balance.relative < 1e-8


def test_time_steps_come_to_the_same_rest_as_dt_falls(landed):
    for dt in (2e-3, 2e-4):
        options = {"limits": kp.Limits("stop"), "output": 0.5}
        steps = kp.simulate(
            arm(), [0.0, 0.0], [0.5, 0.0], duration=1.5, integrator="time-stepping", dt=dt, **options
        )
        assert np.abs(steps.q[-1] - landed.q[-1]).max() < 5 * dt


def test_a_limit_returns_a_part_of_the_velocity():
    """A ball on a slide between a floor and a limit, without gravity: it returns with e of its speed from both."""
    b = kp.Builder("shuttle", gravity=[0, 0, 0]).link("ball", mass=1.0, inertia=[0.01] * 3)
    b.joint("z", "prismatic", "ground", "ball", axis="z", upper=0.5)
    b.contact("floor", "ground", plane=True, restitution=0.6).contact("ball", "ball", sphere=0.1)
    limits = kp.Limits("bounce", restitution=0.5)
    result = run(kp.build(b), [0.3], [1.0], duration=1.5, limits=limits)
    assert_allclose([x.time for x in result.events], [0.2, 0.2 + 0.4 / 0.5], atol=1e-9)
    assert_allclose(result.qd[-1], [0.3], atol=1e-12)


def test_friction_reverses_without_sticking_where_the_force_is_larger():
    b = kp.Builder("sledge", gravity=[0, 0, 0]).link("a", mass=1.0, inertia=[0.01] * 3)
    b.joint("x", "prismatic", "ground", "a", axis="x", friction=1.0)
    b.contact("wall", "ground", plane=True, xyz=[0, 0, -9]).contact("a", "a", sphere=0.1)
    m = kp.build(b)
    result = run(m, [0.0], [1.0], torque=[-3.0], duration=1.0)
    rest = 1.0 / 4.0
    q = 1.0 / 8.0 - 0.5 * 2.0 * (1.0 - rest) ** 2
    assert_allclose(result.q[-1, 0], q, atol=1e-9)
