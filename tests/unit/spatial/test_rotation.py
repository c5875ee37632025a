"""Rotations: group axioms, and two roads to each matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinpair.spatial.rotation import (
    about,
    about_x,
    about_y,
    about_z,
    clean,
    cross,
    from_quaternion,
    from_rpy,
    quaternion_exp,
    quaternion_product,
    quaternion_rate,
    skew,
    to_quaternion,
    turn_z_to,
)

ANGLE = st.floats(-10, 10)
NUMBER = st.floats(-5, 5)
THREE = st.tuples(NUMBER, NUMBER, NUMBER).map(np.array)
QUATERNION = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER).map(np.array).filter(lambda k: k @ k > 1e-3)


@given(THREE, THREE)
def test_cross_product_by_its_matrix(a, b):
    assert skew(a) @ b == pytest.approx(np.cross(a, b))
    assert cross(a, b) == pytest.approx(np.cross(a, b))


@given(ANGLE)
def test_turns_about_the_axes_are_rodrigues_turns(angle):
    for turn, e in ((about_x, (1, 0, 0)), (about_y, (0, 1, 0)), (about_z, (0, 0, 1))):
        assert np.abs(turn(angle) - about(np.array(e, float), angle)).max() < 1e-15


@given(ANGLE, ANGLE, ANGLE)
def test_rpy_turns_about_fixed_axes_in_that_order(r, p, y):
    x = np.array([0.3, -0.4, 0.5])
    assert from_rpy(r, p, y) @ x == pytest.approx(about_z(y) @ (about_y(p) @ (about_x(r) @ x)))


@given(QUATERNION, QUATERNION)
def test_product_of_quaternions_is_product_of_rotations(a, b):
    product = from_quaternion(quaternion_product(a, b))
    assert np.abs(product - from_quaternion(a) @ from_quaternion(b)).max() < 1e-14


@given(THREE.filter(lambda a: a @ a > 1e-6))
def test_exponential_is_rodrigues(turn):
    angle = np.linalg.norm(turn)
    R = from_quaternion(quaternion_exp(turn))
    assert np.abs(R - about(turn / angle, angle)).max() < 1e-14


@given(QUATERNION, THREE)
def test_quaternion_rate_is_that_of_the_rotation(k, omega):
    k = k / np.linalg.norm(k)
    h = 1e-200
    R = from_quaternion(k)
    Rd = np.imag(from_quaternion(k + 1j * h * quaternion_rate(k, omega))) / h
    assert np.abs(R.T @ Rd - skew(omega)).max() < 1e-13


@given(THREE.filter(lambda a: a @ a > 1e-6))
def test_z_is_turned_to_any_direction(axis):
    R = turn_z_to(axis)
    assert R[:, 2] == pytest.approx(axis / np.linalg.norm(axis), abs=1e-13)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-13
    assert np.linalg.det(R) == pytest.approx(1)


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1), (0, 0, 3)]
)
def test_turns_to_coordinate_axes_are_permutations(axis):
    R = turn_z_to(axis)
    assert set(np.abs(R).ravel().tolist()) == {0.0, 1.0}
    assert pytest.approx(np.array(axis) / np.abs(axis).max()) == R @ (0, 0, 1)


def test_cleaning_touches_rounding_only():
    R = np.array([6e-17, -1 + 2e-16, 4e-6, 1 - 1e-12])
    assert clean(R).tolist() == [0.0, -1.0, 4e-6, 1 - 1e-12]
    assert clean(R, 1e-5).tolist() == [0.0, -1.0, 0.0, 1.0]
    assert not np.signbit(clean(np.array([-1e-17])))[0]


@given(QUATERNION)
def test_the_quaternion_of_a_rotation_is_the_one_it_was_made_from(k):
    k = k / np.linalg.norm(k)
    result = to_quaternion(from_quaternion(k))
    assert result[3] >= 0.0
    assert np.outer(result, result) == pytest.approx(np.outer(k, k), abs=1e-14)


@pytest.mark.parametrize("k", np.eye(4))
def test_half_turns_and_no_turn_have_their_quaternions_exactly(k):
    assert to_quaternion(from_quaternion(k)).tolist() == k.tolist()
