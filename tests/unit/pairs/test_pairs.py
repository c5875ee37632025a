"""What every pair promises, whatever its kind."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.pairs import PAIRS
from kinpair.pairs.pair import Pair
from kinpair.spatial.rotation import skew

STEP = 1e-200
AXIS, ACROSS = (0.6, 0.0, 0.8), (0.8, 0.0, -0.6)


def made(kind: str) -> Pair:
    return PAIRS[kind].seated(AXIS, ACROSS, 0.07)[1]


def state(pair: Pair, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, pair.nq)
    if pair.nq > pair.nv:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q, rng.normal(size=pair.nv), rng.normal(size=pair.nv)


@pytest.fixture(params=list(PAIRS))
def pair(request) -> Pair:
    return made(request.param)


def test_motion_is_the_rate_of_the_pose(pair):
    """p q̇ = [ω; v] of the child in the seat, in its own axes: [ω] = RᵀṘ, v = Rᵀ ẋ."""
    q, qd, _ = state(pair)
    moving = q + 1j * STEP * pair.dq_dt(q, qd)
    R = pair.rotation(q)
    W = R.T @ (np.imag(pair.rotation(moving)) / STEP)
    v = R.T @ (np.imag(pair.translation(moving)) / STEP)
    t = pair.p(q) @ qd
    assert np.abs(skew(t[:3]) - W).max() < 1e-14
    assert np.abs(t[3:] - v).max() < 1e-14


def test_change_of_motion_is_its_derivative(pair):
    q, qd, _ = state(pair)
    moving = q + 1j * STEP * pair.dq_dt(q, qd)
    assert np.abs(pair.pd(q, qd) - np.imag(pair.p(moving)) / STEP).max(initial=0.0) < 1e-14


def test_displacements_and_rates_commute_but_for_the_bracket(pair):
    """D(S v)[S w] − D(S w)[S v] = −S T(v) w with dq/dt = S v: which of two small motions comes first."""
    q, v, w = state(pair)

    def along(rates, direction):
        return np.imag(pair.dq_dt(q + 1j * STEP * pair.dq_dt(q, direction), rates)) / STEP

    swapped = along(v, w) - along(w, v)
    assert np.abs(swapped + pair.dq_dt(q, pair.bracket(v) @ w)).max(initial=0.0) < 1e-14


def test_a_difference_is_what_was_moved(pair):
    """Back from a displacement: exact where rates are dq/dt, else but for the third power of the angle."""
    q, step, _ = state(pair)
    small = 1e-3 * step
    assert np.abs(pair.difference(q, pair.moved(q, small)) - small).max(initial=0.0) < 1e-8
    turned = -2.0 * pair.moved(q, small) if pair.nq > pair.nv and pair.nq == 4 else pair.moved(q, small)
    assert np.abs(pair.difference(q, turned) - small).max(initial=0.0) < 1e-8


def test_rotation_is_orthogonal(pair):
    q, _, _ = state(pair)
    R = pair.rotation(q)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert np.linalg.det(R) == pytest.approx(1)


def test_neutral_is_the_seat(pair):
    assert np.abs(pair.rotation(pair.neutral()) - np.eye(3)).max() == 0
    assert not pair.translation(pair.neutral()).any()


def test_small_displacement_goes_along_the_rates(pair):
    q, qd, _ = state(pair)
    h = 1e-6
    change = (pair.moved(q, h * qd) - pair.moved(q, -h * qd)) / (2 * h)
    assert np.abs(change - pair.dq_dt(q, qd)).max(initial=0.0) < 1e-9


def test_displacement_by_nothing_is_nothing(pair):
    q, qd, _ = state(pair)
    assert pair.moved(q, 0 * qd) == pytest.approx(q, abs=1e-16)


def test_split_and_back(pair):
    q, qd, qdd = state(pair)
    s, sd, sdd = pair.to_split(q, qd, qdd)
    q2, qd2, qdd2 = pair.from_split(s, sd, sdd)
    assert np.abs(pair.rotation(q2) - pair.rotation(q)).max() < 1e-14
    assert qd2 == pytest.approx(qd, abs=1e-13)
    assert qdd2 == pytest.approx(qdd, abs=1e-13)
    assert pair.split_rates(s) @ sd == pytest.approx(qd, abs=1e-13)


def test_steps_have_the_degrees_of_the_pair(pair):
    assert len(pair.steps) in (0, pair.nv)
    assert pair.nv <= 1 or pair.steps


def test_standard_axes_are_turned_to_those_described():
    for kind in ("revolute", "prismatic", "helical", "cylindrical", "planar"):
        R, _ = PAIRS[kind].seated(AXIS, None, 0.0)
        assert R[:, 2] == pytest.approx(AXIS, abs=1e-15)
        assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    R, _ = PAIRS["universal"].seated(AXIS, ACROSS, 0.0)
    assert R[:, 0] == pytest.approx(AXIS)
    assert R[:, 1] == pytest.approx(ACROSS)


def test_second_axis_of_a_universal_joint_is_perpendicular_when_not_given():
    R, _ = PAIRS["universal"].seated(AXIS, None, 0.0)
    assert R[:, 0] @ R[:, 1] == pytest.approx(0, abs=1e-15)
    assert np.linalg.det(R) == pytest.approx(1)


def test_any_length_of_a_quaternion_is_the_same_rotation():
    ball = made("spherical")
    q = state(ball)[0]
    assert np.abs(ball.rotation(3.7 * q) - ball.rotation(q)).max() < 1e-15
