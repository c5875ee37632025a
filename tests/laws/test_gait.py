"""A gait of a biped: it repeats itself, feet on the ground can give what it takes, and the efforts make it."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from families import family
from kinpair import motion
from kinpair.motion import human_gait
from kinpair.motion.leg_synergy import mirror
from walking import biped_gait

STATES = 60


def test_every_state_repeats():
    gait = biped_gait()
    assert gait.repeats < 1e-8
    x = gait.motion(4)
    here, later = x.at(0.3 * gait.step_time), x.at(2.3 * gait.step_time)
    way = np.zeros(gait.mechanism.nq)
    way[0] = 2 * gait.numbers.step
    np.testing.assert_allclose(later.q - way, here.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(later.qdd, here.qdd, rtol=0, atol=1e-9)


def test_zero_moment_point_is_where_it_was_prescribed_and_inside_the_feet():
    gait = biped_gait()
    s = gait.support
    np.testing.assert_allclose(s.zmp, gait.path.at(s.time).q, rtol=0, atol=1e-9)
    assert s.margin.min() > 0.04
    assert s.friction.max() < 0.6
    assert s.slip.max() < 0.6
    assert s.feasible


def test_rigid_trunk_would_lose_its_balance():
    assert biped_gait().rigid.margin.min() < -0.05


def test_ground_gives_rate_of_momentum_less_weight_and_joints_the_rest():
    """Efforts of the base, which nothing drives, are what is left of the balance of the whole machine."""
    gait = biped_gait()
    x = gait.samples
    weight = gait.mechanism.mass * 9.81
    assert np.abs(x["effort"][:, :6]).max() < 1e-9 * weight
    assert np.abs(x["effort"][:, 6:]).max() < 250.0


def test_feet_stand_still_while_they_carry():
    gait = biped_gait()
    p, m = gait.numbers, gait.mechanism
    time = np.linspace(0.0, p.T, STATES)
    x = gait.motion(2).at(time)
    for side, place, when in (
        ("right", [0.0, -p.track, 0.0], time >= 0.0),
        ("left", [p.step, p.track, 0.0], time >= p.swing),
    ):
        pose = m.pose(x.q[when], f"{side}-sole")
        np.testing.assert_allclose(
            pose.position, np.broadcast_to(place, pose.position.shape), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(pose.rotation, np.broadcast_to(np.eye(3), pose.rotation.shape), atol=1e-12)
        twist = np.einsum("nij,nj->ni", m.jacobian(x.q[when], f"{side}-sole"), x.qd[when])
        assert np.abs(twist).max() < 1e-11
    lifted = m.pose(x.q, "left-sole").position[:, 2]
    assert lifted.min() > -1e-12
    assert lifted.max() == pytest.approx(0.06, abs=1e-3)


def test_load_goes_over_continuously():
    gait = biped_gait()
    p = gait.numbers
    for border, foot in ((p.swing, "left-sole"), (p.T, "right-sole")):
        before, after = gait.wrenches([border - 1e-7])[foot], gait.wrenches([border + 1e-7])[foot]
        np.testing.assert_allclose(before, after, rtol=0, atol=1e-2)
        assert np.abs(after).max() < 1e-2  # it carries nothing there
    middle = gait.wrenches([(p.swing + p.T) / 2])
    np.testing.assert_allclose(middle["left-sole"][:, 5], middle["right-sole"][:, 5], rtol=1e-9)


def test_next_step_is_the_mirror_image():
    names = kp.example("biped").v_names
    M = mirror(names)
    np.testing.assert_array_equal(M @ M, np.eye(len(names)))
    gait = biped_gait()
    first, second = gait.efforts([0.2])[0], gait.efforts([0.2 + gait.step_time])[0]
    np.testing.assert_allclose(second, M @ first, rtol=0, atol=1e-8)


def test_shooting_finds_the_same_gait():
    gait, other = biped_gait(arms=0.0), biped_gait(arms=0.0, method="shooting")
    time = np.linspace(0.0, gait.step_time, 41)
    np.testing.assert_allclose(other.synergy.at(time).q, gait.synergy.at(time).q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.synergy.multipliers, gait.synergy.multipliers, rtol=1e-8)
    assert np.abs(gait.synergy.multipliers[0]) > 1.0  # a saddle


def test_arms_take_their_part_of_the_moment():
    still, swinging = biped_gait(arms=0.0), biped_gait()
    time = np.linspace(0.0, still.step_time, 31)
    np.testing.assert_allclose(swinging.moment(time), 0.5 * still.moment(time), rtol=0, atol=1e-7)
    x = swinging.synergy.at(time).q
    names = swinging.mechanism.q_names
    left, right = (x[:, names.index(f"{side}-shoulder")] for side in ("left", "right"))
    np.testing.assert_allclose(left, -right)
    assert np.abs(left).max() > 0.2


WALKS = [(speed, slope, arms) for speed in (0.4, 0.6, 0.8) for slope in (0.0, 0.05) for arms in (0.0, 0.5)]


@pytest.mark.parametrize(
    "walk", family(WALKS, ["(0.6, 0.0, 0.5)"], "gaits at other speeds and on slopes"), ids=str
)
def test_gaits_at_other_speeds_and_on_slopes_are_feasible(walk):
    speed, slope, arms = walk
    gait = biped_gait(speed=speed, slope=slope, arms=arms)
    assert gait.repeats < 1e-8
    assert gait.feasible, gait.support.excesses
    assert np.abs(gait.efforts(np.linspace(0.0, gait.step_time, 9))[:, :6]).max() < 1e-6


def test_foot_swings_as_that_of_a_person():
    """Legs are shortest early in swing, and the foot is never below the ground."""
    b, c = human_gait.swing_coefficients()
    sigma = np.linspace(0.0, 1.0, 201)
    height, way = human_gait.height(sigma, c), human_gait.progress(sigma, b)
    assert height.min() > -1e-12
    assert height.max() == pytest.approx(1.0, abs=1e-3)
    assert 0.25 < sigma[height.argmax()] < 0.5
    assert (np.diff(way) > -1e-12).all()


def test_series_of_the_table_goes_through_it():
    mean, a, b = human_gait.fourier_series(human_gait.KNEE, 9)
    s = (np.arange(20) + 0.5) / 20
    turns = 2 * np.pi * np.outer(s, np.arange(1, 10))
    assert np.abs(mean + np.cos(turns) @ a + np.sin(turns) @ b - human_gait.KNEE).max() < 1.0


def test_picture_has_four_panels():
    assert len(biped_gait().plot().axes) == 4


def test_gait_says_what_it_is():
    words = str(biped_gait())
    assert "0.8 m/s, steps of 0.5 m in 0.625 s" in words
    assert "feasible" in words
    assert motion.Gait.__doc__
