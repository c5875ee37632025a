"""Gaits by Newton on the return map are what runs with events and impacts do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.walking.cycle import tilted
from walking import LEGS_CHANGE, both_feet_down, compass, compass_gait, garcia_heel_strike, simplest_gait


@cache
def downhill(gait: kp.walking.Cycle) -> kp.Mechanism:
    return tilted(gait.of, gait.value)


def one_step(gait: kp.walking.Cycle, x: np.ndarray) -> np.ndarray:
    """The state behind the next event, by a run; a state near the last event may pass it once more."""
    watched = gait.of.event
    late = replace(
        watched, action=lambda t, q, qd: watched.action(t, q, qd) if t > 0.5 * gait.period else None
    )
    run = kp.simulate(
        downhill(gait),
        x[:2],
        x[2:],
        duration=1.2 * gait.period,
        events=[late],
        rtol=1e-12,
        atol=1e-13,
    )
    return np.concatenate([run.events[-1].q, run.events[-1].qd])


@pytest.mark.parametrize("gait", [simplest_gait, compass_gait], ids=["simplest", "compass"])
def test_run_with_its_event_comes_back_to_the_gait(gait):
    x = gait()
    start = np.concatenate([x.q[0], x.qd[0]])
    np.testing.assert_allclose(one_step(x, start), start, rtol=0, atol=1e-9)


def test_derivative_of_the_return_map_is_that_of_runs():
    x, h = compass_gait(), 1e-5
    start = np.concatenate([x.q[0], x.qd[0]])
    columns = [(one_step(x, start + h * e) - one_step(x, start - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(np.stack(columns, axis=1), x.jacobian, rtol=0, atol=1e-6)


def test_guess_is_followed_to_its_event_by_a_run():
    m, event = compass()
    x = kp.walking.cycle(m, [0.272, 0.544], [-1.09, -0.71], event, slope=np.deg2rad(3.0))
    np.testing.assert_allclose(x.unknowns, compass_gait().unknowns, rtol=0, atol=1e-10)


def test_heel_strike_keeps_the_momentum_about_the_striking_foot():
    m, event = compass()
    q, qd = np.array([-0.25, -0.5]), np.array([-1.2, 0.4])
    after = event.action(0.0, q, qd)
    foot = m.pose(q, "foot").position
    before = m.momentum(q, qd)
    about = before[:3] - np.cross(foot, before[3:])
    np.testing.assert_allclose(m.momentum(after.q, after.qd)[1], about[1], rtol=1e-12)
    lost = m.energy(q, qd).kinetic - m.energy(after.q, after.qd).kinetic
    assert lost > 0.0


def test_heel_strike_of_light_feet_tends_to_garcias():
    """The difference falls in proportion to the mass of the feet."""
    q, qd = np.array([-0.2, -0.4]), np.array([-0.2, 0.1])
    limit = garcia_heel_strike(0.0, q, qd).qd
    gaps = []
    for mass in (1e-3, 1e-5):
        c = 1.0 / (1.0 + mass)
        I = (1.0 - c) ** 2 + mass * c**2
        m = kp.build(
            kp.Builder("feet")
            .link("stance-leg", mass=1.0 + mass, com=[0, 0, c], inertia=[I, I, 0])
            .link("swing-leg", mass=mass, com=[0, 0, -1])
            .joint("stance", "revolute", "ground", "stance-leg", axis="-y")
            .joint("hip", "revolute", "stance-leg", "swing-leg", xyz=[0, 0, 1], axis="y")
            .frame("foot", "swing-leg", xyz=[0, 0, -1])
        )
        after = kp.walking.heel_strike(m, "foot", LEGS_CHANGE).action(0.0, q, qd)
        np.testing.assert_allclose(after.q, [0.2, 0.4])
        gaps.append(np.abs(after.qd - limit).max())
    assert gaps[1] == pytest.approx(gaps[0] / 100, rel=0.05)


def simplest_strike() -> kp.Event:
    m = kp.example("simplest-walker")
    with pytest.warns(kp.DescriptionWarning) as caught:
        event = kp.walking.heel_strike(m, "foot", LEGS_CHANGE, function=both_feet_down, direction=1)
    assert [str(x.message) for x in caught] == [
        "heel_strike: simplest-walker has no mass at the foot that is released, so the impact is singular; the rates "
        "behind it are the limit of a light foot there"
    ]
    return event


@pytest.mark.parametrize("seed", range(3))
def test_heel_strike_of_a_foot_without_mass_is_garcias(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.1, 0.4)
    q, qd = np.array([-angle, -2.0 * angle]), rng.normal(size=2)
    after, limit = simplest_strike().action(0.0, q, qd), garcia_heel_strike(0.0, q, qd)
    np.testing.assert_allclose(after.q, limit.q, rtol=0, atol=1e-15)
    np.testing.assert_allclose(after.qd, limit.qd, rtol=0, atol=1e-14)


def test_cycle_converges_with_the_heel_strike_of_the_simplest_walker():
    """From the published fixed point, and to the gait with the published impact."""
    m, angle, rate = kp.example("simplest-walker"), 0.2003109005443, -0.1998324730049
    start = [rate, (1.0 - np.cos(2.0 * angle)) * rate]
    gait = kp.walking.cycle(m, [angle, 2.0 * angle], start, simplest_strike(), slope=0.009)
    np.testing.assert_allclose(gait.unknowns, simplest_gait().unknowns, rtol=0, atol=1e-11)
    np.testing.assert_allclose(gait.multipliers, simplest_gait().multipliers, rtol=0, atol=1e-9)


def test_impact_that_is_singular_in_one_position_is_refused_there():
    """A mass above the hip: where the legs are in line with it, one motion about the foot does not move it."""
    m = kp.build(
        kp.Builder("bent")
        .link("stance-leg", mass=1.0, com=[0, 0, 1])
        .link("swing-leg", mass=1e-14, com=[0, 0, -0.5])
        .joint("stance", "revolute", "ground", "stance-leg", axis="-y")
        .joint("hip", "revolute", "stance-leg", "swing-leg", xyz=[0, 0, 0.5], axis="y", start=0.5)
        .frame("foot", "swing-leg", xyz=[0, 0, -0.5])
    )
    event = kp.walking.heel_strike(m, "foot", LEGS_CHANGE)
    assert np.isfinite(event.action(0.0, np.array([0.25, 0.5]), np.array([0.1, 0.2])).qd).all()
    with pytest.raises(kp.SingularError) as caught:
        event.action(0.0, np.array([0.25, 0.0]), np.array([0.1, 0.2]))
    assert str(caught.value) == (
        "heel_strike: bent: the impact of 'foot' is singular: there is a motion without inertia while that foot stands "
        "at q = [0.25, 0.0]; give its links mass"
    )


def test_gait_over_the_mass_of_the_hip():
    _, event = compass()
    x = kp.walking.cycle(
        tilted(compass_gait().of, compass_gait().value),
        compass_gait().q[0],
        compass_gait().qd[0],
        event,
        parameter="stance-leg.mass",
        value=15.0,
        duration=0.734,
    )
    np.testing.assert_allclose(x.unknowns, compass_gait().unknowns, rtol=0, atol=1e-10)


def test_both_feet_are_down_at_an_event():
    x = compass_gait()
    time, states = x.path(50)
    assert abs(both_feet_down(0.0, states[-1, :2], None)) < 1e-12
    assert time[-1] == pytest.approx(x.period)
