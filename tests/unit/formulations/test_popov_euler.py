"""Absolute Euler angles of the links."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations import kinematics, popov, popov_euler
from kinpair.formulations.linear_forms import accelerations, assembled
from kinpair.spatial.rotation import about_x, about_z

STEP = 1e-200  # of the complex step
ETA, ETAD = np.array([0.4, 1.1, -2.0]), np.array([0.7, -0.3, 1.9])
TREES = [zoo.tree(3, 12), zoo.tree(4, 12, floating=True), zoo.tree(6, 7, kinds=zoo.ONE_DEGREE, reach=1)]


def test_angles_are_those_of_the_rotation():
    assert popov_euler.angles_of(popov_euler.rotation(ETA)) == pytest.approx(ETA, abs=1e-15)
    R = about_z(0.4) @ about_x(1.1) @ about_z(-2.0)
    assert np.abs(popov_euler.rotation(ETA) - R).max() == 0


def test_angular_velocity_is_the_change_of_the_rotation():
    """[ω] = Ṙ Rᵀ."""
    Rd = np.imag(popov_euler.rotation(ETA + 1j * STEP * ETAD)) / STEP
    W = Rd @ popov_euler.rotation(ETA).T
    omega = popov_euler.rates_matrix(ETA) @ ETAD
    assert omega == pytest.approx([W[2, 1], W[0, 2], W[1, 0]], abs=1e-15)


def test_rate_of_the_matrix_is_its_derivative():
    rate = np.imag(popov_euler.rates_matrix(ETA + 1j * STEP * ETAD)) / STEP
    assert np.abs(popov_euler.rates_matrix_rate(ETA, ETAD) - rate).max() < 1e-15


def test_determinant_is_the_sine_of_the_nutation():
    assert abs(np.linalg.det(popov_euler.rates_matrix(ETA))) == pytest.approx(np.sin(1.1), abs=1e-15)


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_angles_give_back_the_rotation_of_every_link(mechanism):
    s, model = zoo.motion(mechanism, seed=3), mechanism.model
    placed = assembled(model, s.q)
    moved = accelerations(model, placed, s.q, s.qd, s.qdd)
    result = popov_euler.links(model, s.q, s.qd, s.qdd)
    for i in model.moving:
        eta, etad, etadd = result[i].angles
        Pi, Pid = popov_euler.rates_matrix(eta), popov_euler.rates_matrix_rate(eta, etad)
        assert zoo.relative_error(popov_euler.rotation(eta), placed[i].R) < 1e-14
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
        f"{arm.name}: the third axis of link {arm.model.names[1]!r} is parallel to the inertial one, sin ϑ = 0.0e+00, "
        "so precession and spin are not two angles and det Π = 0; move away from this position, or use method='popov'"
    )
    with pytest.raises(kp.SingularError, match=re.escape(message)) as refused:
        popov_euler.inverse_dynamics(arm.model, q, q, q, w)
    assert refused.value.parts == {"link": arm.model.names[1]}


@pytest.mark.parametrize(("sine", "refused"), [(1e-7, False), (1e-9, True)])
def test_positions_near_parallel_axes(sine, refused):
    parts = kp.Builder("ball").link("bob", mass=1.0, com=[0.1, 0, 0.2], inertia=[1, 1, 1])
    ball = kp.build(parts.joint("socket", "spherical", "ground", "bob"))
    q, w = np.array([np.sin(sine / 2), 0, 0, np.cos(sine / 2)]), kinematics.no_wrenches(ball.model)
    state = q, np.array([0.1, 0.2, 0.3]), np.zeros(3)
    if refused:
        with pytest.raises(kp.SingularError):
            popov_euler.links(ball.model, *state)
    else:
        assert np.isfinite(popov_euler.inverse_dynamics(ball.model, *state, w)).all()


def test_compiled_drives_are_those_of_floats():
    chain = TREES[2]
    s, model = zoo.motion(chain, seed=3), chain.model

    def drives(q, qd, qdd):
        return popov_euler.inverse_dynamics(model, q, qd, qdd, kinematics.no_wrenches(model))

    kernel = kp.compile(drives, s.q, s.qd, s.qdd)
    expected = drives(s.q, s.qd, s.qdd)
    sines = [np.hypot(*at.R[:2, 2]) for at in assembled(model, s.q)[1:]]
    assert zoo.relative_error(kernel(s.q, s.qd, s.qdd), expected) < 1e-14 * len(sines) / min(sines) ** 2
