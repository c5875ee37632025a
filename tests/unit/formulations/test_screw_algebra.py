"""Laws of screws at a fixed origin, on random poses and motions; derivatives by complex step."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.formulations import screw_algebra as sa
from kinpair.formulations.screw_algebra import WRENCHES, wrenches_of
from kinpair.pairs import CLOSINGS, PAIRS
from kinpair.pairs.helical import Helical
from kinpair.spatial.inertia import Inertia
from kinpair.spatial.rotation import from_rpy, skew

STEP = 1e-200  # of the complex step


@pytest.fixture(params=range(4))
def rng(request) -> np.random.Generator:
    return np.random.default_rng(request.param)


def pose(rng) -> tuple[np.ndarray, np.ndarray]:
    return from_rpy(*rng.normal(size=3)), rng.normal(size=3)


def moved(R, p, V):
    """The pose a complex step later: Ṙ = [ω] R, ṗ = v + ω × p."""
    v, omega = V[:3], V[3:]
    return R + 1j * STEP * skew(omega) @ R, p + 1j * STEP * (v + np.cross(omega, p))


def near(a, b):
    assert np.shape(a) == np.shape(b)
    assert np.abs(a - b).max(initial=0.0) <= 1e-13 * np.abs(b).max(initial=1.0)


def test_power_does_not_depend_on_the_frame(rng):
    R, p = pose(rng)
    V, W = rng.normal(size=(2, 6))
    near(sa.motion_transform(R, p) @ V, sa.motion_moved(R, p, V))
    near(sa.force_transform(R, p) @ W, sa.force_moved(R, p, W))
    near(sa.motion_moved(R, p, V) @ sa.force_moved(R, p, W), V @ W)
    near(sa.force_transform(R, p) @ sa.motion_transform(R, p).T, np.eye(6))


def test_transforms_change_by_the_cross_products(rng):
    (R, p), V = pose(rng), rng.normal(size=6)
    at = moved(R, p, V)
    near(np.imag(sa.motion_transform(*at)) / STEP, sa.motion_cross(V) @ sa.motion_transform(R, p))
    near(np.imag(sa.force_transform(*at)) / STEP, sa.force_cross(V) @ sa.force_transform(R, p))
    near(sa.force_cross(V), -sa.motion_cross(V).T)
    near(sa.motion_cross(V) @ V, np.zeros(6))


def test_inertia_in_another_frame_and_its_rate(rng):
    (R, p), V = pose(rng), rng.normal(size=6)
    c, half = rng.normal(size=3), rng.normal(size=(3, 3))
    body = Inertia(1.7, c, half @ half.T)
    outside = body.moved(R, p)
    I_A = sa.inertia(body.m, body.d, body.I)
    I_O = sa.inertia(outside.m, outside.d, outside.I)
    near(sa.inertia_moved(R, p, I_A), I_O)
    near(np.imag(sa.inertia_moved(*moved(R, p, V), I_A)) / STEP, sa.inertia_rate(I_O, V))
    near(sa.inertia_rate(I_O, V) @ V, sa.force_cross(V) @ I_O @ V)


def test_point_of_a_body_turning_about_a_fixed_axis():
    """r̈ = −ω² r on the circle, though A = (0; 0)."""
    r = np.array([0.3, -0.2, 0.7])
    result = sa.point_acceleration(np.zeros(6), np.array([0, 0, 0, 0, 0, 2.0]), r)
    near(result, -4.0 * np.array([0.3, -0.2, 0]))


def test_composition_of_velocities_and_accelerations(rng):
    """B moves in A, A in the world: velocity and acceleration of a point of B by its own path."""
    (R, p), V_A, A_A, V_B, A_B, r = pose(rng), *rng.normal(size=(4, 6)), rng.normal(size=3)
    V = sa.composed_velocity(V_A, V_B, R, p)
    A = sa.composed_acceleration(A_A, V_A, V_B, A_B, R, p)
    in_A = R.T @ (r - p)
    velocity = R @ (V_B[:3] + np.cross(V_B[3:], in_A))  # of the point relative to A
    near(V[:3] + np.cross(V[3:], r), V_A[:3] + np.cross(V_A[3:], r) + velocity)
    carried = sa.point_acceleration(A_A, V_A, r)
    relative = R @ sa.point_acceleration(A_B, V_B, in_A)
    near(sa.point_acceleration(A, V, r), carried + 2 * np.cross(V_A[3:], velocity) + relative)  # Coriolis


# What the pairs hold.


def example(kind: str):
    return Helical(0.3) if kind == "helical" else PAIRS[kind]()


@pytest.mark.parametrize("kind", PAIRS)
def test_what_a_pair_holds_does_no_work_and_its_drive_does_unit_work(kind, rng):
    """(SP1)–(SP3), p and D_0 carried from the moved frame to the seat."""
    pair = example(kind)
    q = pair.moved(pair.neutral(), rng.normal(size=pair.nv))
    row, at = wrenches_of(pair), (pair.rotation(q), pair.translation(q))
    C, D, M = row.wrenches(pair, q), sa.force_moved(*at, row.drive(pair, q)), row.denied(pair, q)
    S = sa.motion_moved(*at, sa.swapped(pair.p(q)))
    assert C.shape == M.shape == (6, 6 - pair.nv)
    near(C.T @ S, np.zeros((6 - pair.nv, pair.nv)))
    near(D.T @ S, np.eye(pair.nv))
    near(C.T @ M, np.eye(6 - pair.nv))
    assert np.linalg.matrix_rank(np.concatenate([C, D], axis=1)) == 6


@pytest.mark.parametrize("kind", PAIRS)
def test_rate_of_what_a_pair_holds(kind, rng):
    pair = example(kind)
    q, qd = pair.moved(pair.neutral(), rng.normal(size=pair.nv)), rng.normal(size=pair.nv)
    row = wrenches_of(pair)
    rate = np.imag(row.wrenches(pair, q + 1j * STEP * pair.dq_dt(q, qd))) / STEP
    assert np.abs(rate - row.rates(pair, q, qd)).max(initial=0.0) < 1e-14


def test_every_pair_has_its_row():
    assert set(WRENCHES) == set(CLOSINGS)


def test_drives_change_with_the_motion_of_their_pair(rng):
    """Ḋ_0 is p̊: D_0 is p itself, or constant as p is."""
    for kind in PAIRS:
        pair = example(kind)
        q, qd = pair.moved(pair.neutral(), rng.normal(size=pair.nv)), rng.normal(size=pair.nv)
        drive = wrenches_of(pair).drive
        rate = np.imag(drive(pair, q + 1j * STEP * pair.dq_dt(q, qd))) / STEP
        assert np.abs(rate - sa.swapped(pair.pd(q, qd))).max(initial=0.0) < 1e-14
