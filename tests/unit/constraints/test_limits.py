"""Closing loops and reaching places within the limits of the joints, and saying so where that cannot be."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.rows.closing import Box

LENGTHS = (0.3, 0.2)
ROUNDING = 1e-9


def arm(**limits: list[float]) -> kp.Mechanism:
    """Two links in a plane, a wrist that turns nothing, and limits [lower, upper] by joint."""
    b = kp.Builder("arm")
    for name, parent, x in (
        ("shoulder", "ground", 0.0),
        ("elbow", "shoulder", LENGTHS[0]),
        ("wrist", "elbow", 0.1),
    ):
        low, high = limits.get(name, (None, None))
        b.link(name, mass=1, com=[0.1, 0, 0], inertia=[0.01, 0.01, 0.01])
        b.joint(name, "revolute", parent, name, axis="z", xyz=[x, 0, 0], lower=low, upper=high)
    return kp.build(b.frame("tip", "elbow", xyz=[LENGTHS[1], 0, 0]))


def elbows(position: np.ndarray) -> np.ndarray:
    """Both angles of the elbow by the law of cosines."""
    a, b = LENGTHS
    angle = np.arccos((position @ position - a * a - b * b) / (2 * a * b))
    return np.array([angle, -angle])


def four_bar(**limits: list[float]) -> kp.Mechanism:
    """The bundled one with limits [lower, upper] by joint."""
    description = kp.example("four-bar").model.description
    bounds = {name: {"lower": (low,), "upper": (high,)} for name, (low, high) in limits.items()}
    joints = tuple(replace(j, **bounds.get(j.name, {})) for j in description.joints)
    return kp.build(replace(description, joints=joints))


@pytest.mark.parametrize("seed", range(3))
def test_the_elbow_bends_the_way_its_limits_let_it(seed):
    rng = np.random.default_rng(seed)
    there = rng.uniform(0.15, 0.25, 2) * rng.choice([-1.0, 1.0], 2)
    up, down = elbows(there)
    reached = [
        arm(**limits).inverse_kinematics([0.0, 0.5, 0.7], "tip", [*there, 0.0])
        for limits in ({"elbow": [0, 3]}, {"elbow": [-3, 0]})
    ]
    for q, elbow in zip(reached, (up, down), strict=True):
        assert q[1] == pytest.approx(elbow, abs=ROUNDING)
        assert arm().pose(q, "tip").position[:2] == pytest.approx(there, abs=ROUNDING)
        assert q[2] == 0.7


def test_a_place_that_only_a_forbidden_elbow_reaches_is_reached_and_told():
    m = arm(elbow=[-0.1, 0.1], shoulder=[-1, 1])
    there = np.array([0.2, 0.1])
    with pytest.warns(kp.LimitWarning) as caught:
        q = m.inverse_kinematics([0.0, 0.5, 0.0], "tip", [*there, 0.0])
    assert np.array_equal(q, arm().inverse_kinematics([0.0, 0.5, 0.0], "tip", [*there, 0.0]))
    elbow = elbows(there)[0]
    assert [str(x.message) for x in caught] == [
        f"arm: closed beyond limits: 'elbow' is {elbow:.4g} (-0.1 to 0.1); give a guess within the limits, or hold "
        "other coordinates"
    ]
    assert caught[0].filename == __file__


def test_full_turns_are_taken_off():
    m, free = arm(shoulder=[-3, 3]), arm()
    guess = [0.3 + 4 * np.pi, 0.5, 0.0]
    there = free.pose([0.4, 0.6, 0.0], "tip").position
    q, beyond = (x.inverse_kinematics(guess, "tip", there) for x in (m, free))
    assert beyond - q == pytest.approx([4 * np.pi, 0, 0], abs=ROUNDING)
    assert m.pose(q, "tip").position == pytest.approx(there, abs=ROUNDING)


def test_a_loop_closes_on_the_branch_within_limits():
    free = four_bar()
    guess = [0.3, 2.2, 2.2]
    one, other = (free.assemble(x, fixed=["crank"]) for x in (guess, [0.3, -2.2, -2.2]))
    for limits, q in (([0, 3.1], one), ([-3.1, 0], other)):
        results = four_bar(output=limits).assemble(guess, fixed=["crank"])
        assert limits[0] <= results[1] <= limits[1]
        assert np.exp(1j * results) == pytest.approx(np.exp(1j * q), abs=ROUNDING)
    assert np.array_equal(four_bar(output=[-3.1, 3.1]).assemble(guess, fixed=["crank"]), one)


def test_held_joints_and_those_no_loop_depends_on_are_not_judged():
    guess = [0.3, 2.2, 2.2]
    free = four_bar().assemble(guess, fixed=["crank"])
    assert np.array_equal(four_bar(crank=[1, 2]).assemble(guess, fixed=["crank"]), free)
    q = arm(wrist=[1, 2]).inverse_kinematics([0.0, 0.5, 0.0], "tip", [0.3, 0.2, 0.0])
    assert q[2] == 0.0


def test_a_guess_that_closes_but_for_a_few_digits_is_a_position_and_stays():
    free = four_bar().assemble([0.3, 2.2, 2.2], fixed=["crank"])
    m = four_bar(output=[-3.1, 0])
    with pytest.warns(kp.LimitWarning, match="'output' is"):
        q = m.assemble(free.round(4), fixed=["crank"])
    assert q[1:] == pytest.approx(free[1:], abs=1e-3)


def test_a_start_beyond_limits_is_told_where_it_is_asked_for_only():
    m = four_bar(crank=[-9, 9], output=[-0.1, 0.1], coupler=[-0.1, 0.1])
    with pytest.warns(kp.LimitWarning, match="four-bar: closed beyond limits") as caught:
        q = m.start()
    assert caught[0].filename == __file__
    assert np.array_equal(q, four_bar().start())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(m)
        m.kernel("forward_dynamics")


def test_a_box_moves_what_is_limited_and_nothing_else():
    box = Box(np.array([0, 1, -1]), np.array([-1.0, -np.inf, -np.inf]), np.array([1.0, np.inf, np.inf]))
    q = np.array([2.0, 50.0])
    assert box.beyond(q).tolist() == [1.0, -np.inf, -np.inf]
    assert not box.holds(q)
    assert box.moved(q, box.positions(q)).tolist() == [1.0, 50.0]
    assert box.turned(np.array([7.0, 50.0])) == pytest.approx([7.0 - 2 * np.pi, 50.0])
    assert box.of_rates([1, 2]).holds(q)
