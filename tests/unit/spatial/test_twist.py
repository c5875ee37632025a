"""Carrying twists and wrenches: nothing is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.spatial.pose import (
    Pose,
    propagation,
    propagation_rate,
    rotate,
    shift_twist,
    shift_wrench,
    spatial,
    spin,
)
from kinpair.spatial.rotation import from_rpy, skew

RNG = np.random.default_rng(3)
R_ij, R_jk = from_rpy(0.1, 0.7, -0.3), from_rpy(-1.0, 0.2, 0.5)
c_ij, c_jk, r = RNG.normal(size=(3, 3))
t, w = RNG.normal(size=(2, 6))


def test_propagation_composes():
    c_ik = c_ij + R_ij @ c_jk
    B = propagation(R_ij, c_ij) @ propagation(R_jk, c_jk)
    assert np.abs(B - propagation(R_ij @ R_jk, c_ik)).max() < 1e-14


def test_propagation_has_an_inverse_of_its_kind():
    back = propagation(R_ij.T, -(R_ij.T @ c_ij))
    assert np.abs(back @ propagation(R_ij, c_ij) - np.eye(6)).max() < 1e-14


def test_power_does_not_depend_on_where_it_is_taken():
    there = shift_twist(t, r)
    assert shift_wrench(w, r) @ t == pytest.approx(w @ there)
    assert rotate(R_ij, w) @ rotate(R_ij, t) == pytest.approx(w @ t)


def test_columns_of_twists_shift_as_single_ones():
    T = RNG.normal(size=(6, 3))
    assert np.abs(shift_twist(T, r) - np.column_stack([shift_twist(x, r) for x in T.T])).max() < 1e-15


def test_propagation_rate_is_the_lever_of_the_relative_velocity():
    Bd = propagation_rate(R_ij, r)
    assert Bd @ t == pytest.approx(spatial(np.zeros(3), np.cross(r, R_ij @ t[:3])))


def test_spin_turns_both_halves():
    assert spin(r) @ t == pytest.approx(spatial(skew(r) @ t[:3], skew(r) @ t[3:]))


def test_poses_compose_and_invert():
    a, b = Pose(R_ij, c_ij), Pose(R_jk, c_jk)
    both = a @ b
    assert both.R @ r + both.a == pytest.approx(a.R @ (b.R @ r + b.a) + a.a)
    home = both @ both.inverse()
    assert np.abs(home.R - np.eye(3)).max() < 1e-15
    assert np.abs(home.a).max() < 1e-15
