"""The energy of accelerations and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair.formulations import appell, kinematics, newton_euler

TREES = [zoo.tree(3, 12), zoo.tree(4, 12, floating=True)]
STEP = 1e-200  # of the complex step


@pytest.fixture(params=TREES, ids=lambda m: m.name)
def mechanism(request):
    return request.param


@pytest.fixture
def motion(mechanism):
    return zoo.motion(mechanism, seed=2)


def slope(model, q, qd, qdd):
    """∂S/∂q̈ by complex step."""
    units = np.eye(model.nv)
    return np.array(
        [np.imag(appell.acceleration_energy(model, q, qd, qdd + 1j * STEP * e)) / STEP for e in units]
    )


def test_forces_are_the_slope_of_the_energy_less_those_of_gravity_and_loads(mechanism, motion):
    model, q, qd, qdd = mechanism.model, motion.q, motion.qd, motion.qdd
    w = [np.random.default_rng(i).normal(size=6) for i in range(len(model.parent))]
    still = 0 * qd
    Q = -newton_euler.inverse_dynamics(model, q, still, still, w)
    tau = appell.inverse_dynamics(model, q, qd, qdd, w)
    assert zoo.relative_error(tau + Q, slope(model, q, qd, qdd)) < 1e-12


def test_mass_matrix_is_the_curvature_of_the_energy(mechanism, motion):
    """S is quadratic in q̈: differences of slopes are exact."""
    model, q, qd = mechanism.model, motion.q, motion.qd
    bias = slope(model, q, qd, 0 * qd)
    columns = [slope(model, q, qd, e) - bias for e in np.eye(model.nv)[:5]]
    assert zoo.relative_error(np.array(columns), appell.mass_matrix(model, q)[:5]) < 1e-12


def test_energy_at_rest_is_the_kinetic_energy_of_the_accelerations(mechanism, motion):
    """Without rates S(q̈) is T(q̇) with q̈ in the place of q̇."""
    model, q, qdd = mechanism.model, motion.q, motion.qdd
    S = appell.acceleration_energy(model, q, 0 * qdd, qdd)
    assert pytest.approx(kinematics.kinetic_energy(model, q, qdd), rel=1e-13) == S


def test_motion_without_efforts_makes_the_energy_stationary_among_motions():
    """Gauss: S at the true accelerations is smaller than at any other, no forces acting."""
    mechanism = zoo.without_gravity(TREES[1])
    s, model = zoo.motion(mechanism, seed=2), mechanism.model
    qdd = appell.forward_dynamics(model, s.q, s.qd, np.zeros(model.nv), kinematics.no_wrenches(model)).qdd
    least = appell.acceleration_energy(model, s.q, s.qd, qdd)
    for other in np.random.default_rng(0).normal(size=(20, model.nv)):
        assert appell.acceleration_energy(model, s.q, s.qd, qdd + other) > least
