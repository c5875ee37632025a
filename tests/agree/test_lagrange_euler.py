"""Euler angles of the links as coordinates: the same motion, the same work as in internal coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair.formulations import lagrange_euler
from opaque import hide, reveal

BALLS = [zoo.tree(seed, n, kinds=("spherical",)) for seed, n in ((1, 1), (2, 3), (3, 6))]
STEP = 1e-200


@pytest.fixture(params=BALLS, ids=lambda m: m.name)
def m(request):
    return request.param


@pytest.fixture
def angles(m):
    """η, η̇, η̈ with every ϑ away from 0 and π, where Π is singular."""
    rng = np.random.default_rng(m.nv)
    return rng.uniform(0.4, 2.6, size=m.nv), rng.normal(size=m.nv), rng.normal(size=m.nv)


@pytest.mark.parametrize("method", ["newton-euler", "lagrange"])
def test_forces_along_the_angles_do_the_work_of_the_joints(m, angles, method):
    tau = m.inverse_dynamics(*lagrange_euler.to_internal(m.model, *angles), method=method)
    expected = lagrange_euler.from_joint_efforts(m.model, angles[0], tau)
    assert zoo.relative_error(lagrange_euler.inverse_dynamics(m.model, *angles), expected) <= 1e-12


def test_power_is_the_same_along_the_angles_and_in_the_joints(m, angles):
    tau = np.random.default_rng(1).normal(size=m.nv)
    _, qd, _ = lagrange_euler.to_internal(m.model, *angles)
    Q = lagrange_euler.from_joint_efforts(m.model, angles[0], tau)
    assert Q @ angles[1] == pytest.approx(tau @ qd, rel=1e-12)


def test_internal_coordinates_rates_and_accelerations_belong_together(m, angles):
    """By central differences along the motion, whose error is of the order h² + eps / h = 1e-10."""
    eta, etad, etadd = angles
    h, frame = 1e-5, m.frames[-1]

    def at(t):
        return lagrange_euler.to_internal(
            m.model, eta + t * etad + t * t / 2 * etadd, etad + t * etadd, etadd
        )

    (q, qd, qdd), before, after = at(0.0), at(-h), at(h)
    assert zoo.relative_error((after[1] - before[1]) / (2 * h), qdd) <= 1e-8
    velocity = (m.pose(after[0], frame).position - m.pose(before[0], frame).position) / (2 * h)
    assert zoo.relative_error(velocity, (m.jacobian(q, frame) @ qd)[3:]) <= 1e-8


def test_mass_matrix_is_that_of_the_kinetic_energy(m, angles):
    eta, etad, etadd = angles
    H = lagrange_euler.mass_matrix(m.model, eta)
    q, qd, _ = lagrange_euler.to_internal(m.model, *angles)
    assert etad @ H @ etad / 2 == pytest.approx(m.energy(q, qd).kinetic, rel=1e-12)
    still = lagrange_euler.inverse_dynamics(m.model, eta, etad, 0 * etadd)
    full = lagrange_euler.inverse_dynamics(m.model, *angles)
    assert zoo.relative_error(full - still, H @ etadd) <= 1e-12


def test_forces_are_lagranges_equations_of_the_energies(m, angles):
    """Q = d/dt (H η̇) − ∂T/∂η + ∂V/∂η by complex steps on T = ½ η̇ᵀ H η̇ alone, less the forces at rest."""
    eta, etad, etadd = angles
    H = lagrange_euler.mass_matrix
    momentum = H(m.model, eta + 1j * STEP * etad) @ (etad + 1j * STEP * etadd)
    slope = [np.imag(etad @ H(m.model, eta + 1j * STEP * unit) @ etad) / 2 / STEP for unit in np.eye(m.nv)]
    weight = lagrange_euler.inverse_dynamics(m.model, eta, 0 * etad, 0 * etadd)
    expected = np.imag(momentum) / STEP - slope + weight
    assert zoo.relative_error(lagrange_euler.inverse_dynamics(m.model, *angles), expected) <= 1e-12


def test_no_equation_looks_at_a_value(m, angles):
    result = reveal(lagrange_euler.inverse_dynamics(m.model, *(hide(x) for x in angles)))
    assert zoo.relative_error(result, lagrange_euler.inverse_dynamics(m.model, *angles)) <= 1e-12
    H = reveal(lagrange_euler.mass_matrix(m.model, hide(angles[0])))
    assert zoo.relative_error(H, lagrange_euler.mass_matrix(m.model, angles[0])) <= 1e-12
