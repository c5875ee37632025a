"""Absolute Euler angles of the links."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations import kinematics, popov, popov_euler
from kinpair.formulations.euler_angles import (
    OFFSETS,
    SEQUENCES,
    Choice,
    angles_of,
    best,
    couple_of,
    determinant,
    rates_matrix,
    rates_matrix_rate,
    rates_of,
    rotation,
)
from kinpair.formulations.linear_forms import accelerations, assembled
from kinpair.spatial.rotation import about_x, about_z

STEP = 1e-200  # of the complex step
ETA, ETAD = np.array([0.4, 1.1, -2.0]), np.array([0.7, -0.3, 1.9])
TREES = [zoo.tree(3, 12), zoo.tree(4, 12, floating=True), zoo.tree(6, 7, kinds=zoo.ONE_DEGREE, reach=1)]


TURN = about_z(0.3) @ about_x(-0.8)
CHOICES = [Choice(sequence, offset) for sequence in SEQUENCES for offset in (np.eye(3), TURN)]


def test_the_sequence_of_the_book():
    R = about_z(0.4) @ about_x(1.1) @ about_z(-2.0)
    assert np.abs(rotation(ETA) - R).max() == 0
    c, s, ct, st = np.cos(0.4), np.sin(0.4), np.cos(1.1), np.sin(1.1)
    assert rates_matrix(ETA) == pytest.approx(
        np.array([[0, c, s * st], [0, s, -c * st], [1, 0, ct]]), abs=1e-15
    )


@pytest.mark.parametrize("choice", CHOICES, ids=lambda x: x.sequence)
def test_angles_are_those_of_the_rotation(choice):
    eta = rotation(angles_of(rotation(ETA, choice), choice), choice)
    assert np.abs(eta - rotation(ETA, choice)).max() < 1e-15
    assert np.abs(rotation(ETA, choice) @ rotation(ETA, choice).T - np.eye(3)).max() < 1e-15


@pytest.mark.parametrize("choice", CHOICES, ids=lambda x: x.sequence)
def test_angular_velocity_is_the_change_of_the_rotation(choice):
    """[ω] = Ṙ Rᵀ."""
    Rd = np.imag(rotation(ETA + 1j * STEP * ETAD, choice)) / STEP
    W = Rd @ rotation(ETA, choice).T
    omega = rates_matrix(ETA, choice) @ ETAD
    assert omega == pytest.approx([W[2, 1], W[0, 2], W[1, 0]], abs=1e-15)
    assert rates_of(rates_matrix(ETA, choice), omega) == pytest.approx(ETAD, abs=1e-14)
    assert rates_matrix(ETA, choice).T @ couple_of(rates_matrix(ETA, choice), ETAD) == pytest.approx(
        ETAD, abs=1e-14
    )


@pytest.mark.parametrize("choice", CHOICES, ids=lambda x: x.sequence)
def test_rate_of_the_matrix_is_its_derivative(choice):
    rate = np.imag(rates_matrix(ETA + 1j * STEP * ETAD, choice)) / STEP
    assert np.abs(rates_matrix_rate(ETA, ETAD, choice) - rate).max() < 1e-15


@pytest.mark.parametrize("choice", CHOICES, ids=lambda x: x.sequence)
def test_determinant_is_the_sine_or_cosine_of_the_second_angle(choice):
    assert abs(np.linalg.det(rates_matrix(ETA, choice))) == pytest.approx(determinant(ETA, choice), abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_some_sequence_is_far_from_singular_for_every_rotation(seed):
    """One of the nine entries of R has a square of 1/3 or less, and |det Π| = √(1 − R_ij²)."""
    R = rotation(np.random.default_rng(seed).uniform(-3, 3, 3))
    choice = best(R, SEQUENCES, OFFSETS)
    assert determinant(angles_of(R, choice), choice) >= np.sqrt(2 / 3)
    assert best(np.eye(3), SEQUENCES, OFFSETS)[0] == "zxz"
    assert best(np.eye(3), SEQUENCES, (np.eye(3),))[0] == "xyz"


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_angles_give_back_the_rotation_of_every_link(mechanism):
    s, model = zoo.motion(mechanism, seed=3), mechanism.model
    placed = assembled(model, s.q)
    moved = accelerations(model, placed, s.q, s.qd, s.qdd)
    result = popov_euler.links(model, s.q, s.qd, s.qdd)
    for i in model.moving:
        eta, etad, etadd, _ = result[i].angles
        Pi, Pid = rates_matrix(eta), rates_matrix_rate(eta, etad)
        assert zoo.relative_error(rotation(eta), placed[i].R) < 1e-14
        assert zoo.relative_error(Pi @ etad, moved[i].omega) < 1e-13
        assert zoo.relative_error(Pi @ etadd + Pid @ etad, moved[i].epsilon) < 1e-12


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_drives_are_those_of_the_pairs(mechanism):
    """η̈ has 1/sin² ϑ: rounding grows by it."""
    s, model = zoo.motion(mechanism, seed=3), mechanism.model
    w = [np.random.default_rng(i).normal(size=6) for i in range(len(model.parent))]
    sines = [np.hypot(*at.R[:2, 2]) for at in assembled(model, s.q)[1:]]
    expected = popov.inverse_dynamics(model, s.q, s.qd, s.qdd, w)
    result = popov_euler.inverse_dynamics(model, s.q, s.qd, s.qdd, w)
    assert zoo.relative_error(result, expected) < 1e-14 * len(sines) / min(sines) ** 2


def test_parallel_axes_are_refused_by_name():
    arm = kp.example("planar-3r")
    q, w = np.array([0.3, -0.4, 0.5]), kinematics.no_wrenches(arm.model)
    message = (
        "planar-3r: |det Π| = 0.0e+00 of link 'link1' in the sequence 'zxz': at ϑ = 0 rad ψ and φ turn about one axis; "
        "use sequence='auto' or another offset, or move away from this position"
    )
    with pytest.raises(kp.SingularError, match=re.escape(message)) as refused:
        popov_euler.inverse_dynamics(arm.model, q, q, q, w)
    assert refused.value.parts == {"link": "link1", "angle": "theta"}


@pytest.mark.parametrize(("sine", "refused"), [(2e-6, False), (5e-7, True)])
def test_positions_near_parallel_axes(sine, refused):
    parts = kp.Builder("ball").link("bob", mass=1.0, com=[0.1, 0, 0.2], inertia=[1, 1, 1])
    ball = kp.build(parts.joint("socket", "spherical", "ground", "bob"))
    q, w = np.array([np.sin(sine / 2), 0, 0, np.cos(sine / 2)]), kinematics.no_wrenches(ball.model)
    state = q, np.array([0.1, 0.2, 0.3]), np.zeros(3)
    if refused:
        with pytest.raises(kp.SingularError):
            popov_euler.links(ball.model, *state)
    else:
        with pytest.warns(kp.AccuracyWarning, match=r"\|det Π\| = 2.0e-06 is small") as caught:
            assert np.isfinite(popov_euler.inverse_dynamics(ball.model, *state, w)).all()
        assert len(caught) == 1


def test_compiled_drives_are_those_of_floats():
    chain = TREES[2]
    s, model = zoo.motion(chain, seed=3), chain.model

    def drives(q, qd, qdd):
        return popov_euler.inverse_dynamics(model, q, qd, qdd, kinematics.no_wrenches(model))

    kernel = kp.compile(drives, s.q, s.qd, s.qdd)
    expected = drives(s.q, s.qd, s.qdd)
    sines = [np.hypot(*at.R[:2, 2]) for at in assembled(model, s.q)[1:]]
    assert zoo.relative_error(kernel(s.q, s.qd, s.qdd), expected) < 1e-14 * len(sines) / min(sines) ** 2
