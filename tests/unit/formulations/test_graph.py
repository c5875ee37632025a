"""Laws of the graph matrices, and Roberson–Wittenburg with all matrices in full and arcs in any direction."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair.formulations import kinematics
from kinpair.formulations import roberson_wittenburg as rw
from kinpair.formulations.graph import incidence, is_regular, path, renaud
from kinpair.formulations.roberson_wittenburg_augmented import (
    augmented_bodies,
    from_mass_centre,
    inner_energy,
)
from kinpair.model.recursion import rates
from kinpair.spatial.rotation import skew

TREES = [zoo.tree(21, 8), zoo.tree(22, 8, floating=True), zoo.tree(23, 12, kinds=("revolute", "prismatic"))]
FLOATING = [
    zoo.tree(seed, 7, kinds=("revolute", "spherical", "universal"), floating=True) for seed in range(3)
]
EPS = np.finfo(float).eps


def random_arcs(seed: int, n: int) -> list[tuple[int, int]]:
    """A tree with bodies in any order, arcs in any order and direction."""
    rng = np.random.default_rng(seed)
    name = [0, *(1 + rng.permutation(n))]
    arcs = [(int(name[rng.integers(k)]), int(name[k])) for k in range(1, n + 1)]
    turned = [arc[::-1] if rng.integers(2) else arc for arc in arcs]
    return [turned[k] for k in rng.permutation(n)]


@pytest.mark.parametrize("seed", range(5))
def test_path_matrix_is_the_inverse_of_the_incidence_matrix(seed):
    arcs = random_arcs(seed, 9)
    S_0, S = incidence(arcs)
    T = path(arcs)
    assert np.array_equal(T @ S, np.eye(9))
    assert np.array_equal(S @ T, np.eye(9))
    assert (S_0 @ T).tolist() == [-1] * 9


@pytest.mark.parametrize("seed", range(5))
def test_renaud_matrices(seed):
    e, epsilon, a = renaud(random_arcs(seed, 9))
    assert np.array_equal(epsilon @ (np.eye(9) - e), np.eye(9))
    assert [int(np.flatnonzero(column)[0]) + 1 if column.any() else 0 for column in e.T] == a.tolist()


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_regular_numbering_makes_the_matrices_triangular(mechanism):
    arcs = rw.arcs_of(mechanism.model)
    T = path(arcs)
    assert is_regular(arcs)
    assert not is_regular(rw.arcs_of(mechanism.model, {1}))
    assert np.array_equal(T, np.triu(T))
    assert np.array_equal(np.diag(T), -np.ones(len(T)))
    assert np.array_equal(np.abs(T), renaud(arcs).epsilon)


@pytest.fixture(params=TREES, ids=lambda m: m.name)
def mechanism(request):
    return request.param


@pytest.fixture
def arcs(mechanism):
    """About half of the arcs point inward."""
    rng = np.random.default_rng(1)
    return rw.arcs_of(mechanism.model, {i for i in mechanism.model.moving if rng.integers(2)})


def outward_sign(model, arcs):
    return np.array([1.0 if head == i else -1.0 for i, (_, head) in zip(model.moving, arcs, strict=True)])


def centres(model, q):
    where = kinematics.poses(model, q)
    return np.array([where[i].R @ model.body[i].d + where[i].a for i in model.moving])


def test_angular_velocities_by_the_path_matrix(mechanism, arcs):
    model, s = mechanism.model, zoo.motion(mechanism)
    result = rw.links(model, s.q)
    qds = rates(model, s.qd)
    Omega = [
        sign * result[i].e @ qds[i] for i, sign in zip(model.moving, outward_sign(model, arcs), strict=True)
    ]
    omega = -path(arcs).T @ np.array(Omega)
    state = kinematics.states(model, s.q, s.qd)
    expected = np.array([state[i].pose.R @ state[i].omega for i in model.moving])
    assert zoo.relative_error(omega, expected) < 1e-13


def test_mass_centres_by_the_path_matrix(mechanism, arcs):
    model, s = mechanism.model, zoo.motion(mechanism)
    r = np.zeros((len(model.moving), 3))
    for (_, i), x in rw.carried_vectors(model, s.q, arcs).items():
        r[i - 1] -= x
    assert zoo.relative_error(r, centres(model, s.q)) < 1e-13


def test_partial_velocities_by_the_path_matrix(mechanism, arcs):
    """(RW3) in full, and r̈ = Σ a1 q̈ + b1."""
    model, s = mechanism.model, zoo.motion(mechanism)
    result, T = rw.links(model, s.q), path(arcs)
    CT = rw.carried_vectors(model, s.q, arcs)
    a1, sign = rw.partial_velocities(model, result), outward_sign(model, arcs)
    for i in model.moving:
        for a in model.moving:
            e, u = sign[a - 1] * result[a].e, sign[a - 1] * result[a].u
            full = -T[a - 1, i - 1] * u
            for k in model.moving:
                a2 = -T[a - 1, k - 1] * e
                full = full + skew(CT.get((k, i), np.zeros(3))) @ a2
            assert zoo.relative_error(full, a1.get((i, a), 0 * full)) < 1e-13
    b1 = [x.a for x in rw.motions(model, s.q, s.qd, 0 * s.qdd, result)]
    a = [x.a for x in rw.motions(model, s.q, s.qd, s.qdd, result)]
    qdds = rates(model, s.qdd)
    for i in model.moving:
        sums = sum((a1[i, k] @ qdds[k] for k in model.path_to_ground(i)), b1[i])
        assert zoo.relative_error(sums, a[i]) < 1e-12


def test_forces_and_couples_by_the_path_matrix(mechanism, arcs):
    """X = T (m r̈ − F) and Y = T (…) in full; S X = m r̈ − F."""
    model, s = mechanism.model, zoo.motion(mechanism)
    rng = np.random.default_rng(2)
    w = [np.zeros(6), *rng.normal(size=(len(model.moving), 6))]
    result, T, (_, S) = rw.links(model, s.q), path(arcs), incidence(arcs)
    lack = rw.lacks(model, result, rw.motions(model, s.q, s.qd, s.qdd, result), w)[1:]
    X, Y = rw.constraint_forces(model, s.q, s.qd, s.qdd, w, arcs)
    forces = np.array([x.force for x in lack])
    assert zoo.relative_error(T @ forces, np.array(X)) < 1e-13
    assert zoo.relative_error(S @ np.array(X), forces) < 1e-13
    couples = np.array([x.couple for x in lack])
    for (k, a), c in rw.joint_vectors(model, s.q, arcs).items():
        if k:
            couples[k - 1] -= np.cross(c, X[a - 1])
    assert zoo.relative_error(T @ couples, np.array(Y)) < 1e-12


# Augmented bodies.


@pytest.mark.parametrize("mechanism", [*FLOATING, TREES[1]], ids=lambda m: m.name)
def test_barycentres(mechanism):
    """Σ_i m_i b_ki = 0, r_i − r_C = Σ_k b_ki, Σ_i m_i b_ki b_liᵀ = −M b_kl b_lkᵀ."""
    model, q = mechanism.model, zoo.motion(mechanism).q
    x, m = augmented_bodies(model, q), {i: model.body[i].m for i in model.moving}
    assert pytest.approx(mechanism.mass) == x.M
    r, r_C = centres(model, q), mechanism.centre_of_mass(q)
    for k in model.moving:
        assert np.abs(sum(m[i] * x.b[k, i] for i in model.moving)).max() < 1e-13 * x.M
        assert zoo.relative_error(from_mass_centre(x, k, model.moving), r[k - 1] - r_C) < 1e-13
        for l in set(model.moving) - {k}:
            sums = sum(m[i] * np.outer(x.b[k, i], x.b[l, i]) for i in model.moving)
            assert zoo.relative_error(sums, -x.M * np.outer(x.b[k, l], x.b[l, k])) < 1e-13


@pytest.mark.parametrize("mechanism", FLOATING, ids=lambda m: m.name)
def test_energy_by_augmented_inertias(mechanism):
    """(RA5): the angular velocities and the velocity of the mass centre make the whole kinetic energy, less rotors."""
    model, s = mechanism.model, zoo.motion(mechanism)
    x, state = augmented_bodies(model, s.q), kinematics.states(model, s.q, s.qd)
    omega = [None, *(state[i].pose.R @ state[i].omega for i in model.moving)]
    P, qds = mechanism.momentum(s.q, s.qd)[3:], rates(model, s.qd)
    rotors = sum((model.body[i].rotor * qds[i]) @ qds[i] for i in model.moving) / 2
    result = inner_energy(x, omega, model.moving) + P @ P / (2 * x.M) + rotors
    assert result == pytest.approx(mechanism.energy(s.q, s.qd).kinetic, rel=1e-12)
