"""Base parameters: numbers, sums, and two methods that agree."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.identification.base_parameters import lengths_of, numerical, structural
from kinpair.identification.columns import (
    COULOMB,
    OFFSET,
    VISCOUS,
    Layout,
    floored,
    is_consistent,
    measurement,
    parameters_of,
    pseudo_inertia,
    rate,
    transfer,
)

TREES = ("planar-3r", "scara", "stanford-arm", "kr5", "cart-pole", "two-handed-arm", "double-pendulum")


def layout(m, *, terms=(), rotors=False):
    return Layout(m, tuple(range(m.nv)), terms, rotors)


@pytest.mark.parametrize("rotors", [False, True])
@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("name", TREES)
def test_structure_and_random_states_give_the_same_sums(name, rotors, offsets):
    m = kp.example(name)
    by_rank = numerical(layout(m, terms=(OFFSET,) if offsets else (), rotors=rotors))
    by_structure = structural(m, rotors=rotors, offsets=offsets)
    assert by_structure.rank == by_rank.rank
    np.testing.assert_array_equal(by_structure.independent, by_rank.independent)
    np.testing.assert_allclose(by_structure.K, by_rank.K, atol=1e-9)


def test_viscous_and_coulomb_columns_are_independent():
    m = kp.example("planar-3r")
    plain = numerical(layout(m)).rank
    assert numerical(layout(m, terms=(VISCOUS, COULOMB))).rank == plain + 2 * m.nv


def test_base_parameters_of_a_planar_arm_are_those_of_khalil():
    """W. Khalil, E. Dombre, Modeling, identification and control of robots, ch. 9: of a planar arm only ZZ, MX, MY and
    masses beyond the first link have an effect; ZZR_j = ZZ_j + d² Σ_{i>j} M_i, MXR_j = MX_j + d Σ_{i>j} M_i."""
    m = kp.example("planar-3r")
    labels = structural(m).labels(lengths_of(m))
    assert labels == [
        "link1: m cx + 0.3 link2: m + 0.3 link3: m",
        "link1: m cy",
        "link1: Izz + 0.3² link2: m + 0.3² link3: m",
        "link2: m cx + 0.25 link3: m",
        "link2: m cy",
        "link2: Izz + 0.25² link3: m",
        "link3: m cx",
        "link3: m cy",
        "link3: Izz",
    ]


@pytest.mark.parametrize("name", ["planar-3r", "stanford-arm"])
def test_efforts_depend_on_base_parameters_alone(name):
    m = kp.example(name)
    base = numerical(layout(m))
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 20, m.nv))
    Y = m.regressor(q, qd, qdd)[:, :, : len(base.names)]
    theta = rng.normal(size=len(base.names))
    np.testing.assert_allclose(Y @ theta, Y[:, :, base.independent] @ (base.matrix @ theta), atol=1e-9)


def test_parameters_without_effect_are_named():
    without = numerical(layout(kp.example("planar-3r"))).without_effect
    assert "link1: m" in without
    assert "link3: Ixx" in without
    assert "link3: m" not in without


def random_parameters(rng):
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 1.0, 5)
    P = np.zeros((4, 4))
    for r, mass in zip(points, masses, strict=True):
        x = np.append(r, 1.0)
        P += mass * np.outer(x, x)
    return parameters_of(P)


def test_pseudo_inertia_of_points_is_positive_and_the_map_inverts():
    pi = random_parameters(np.random.default_rng(0))
    assert is_consistent(pi)
    np.testing.assert_allclose(parameters_of(pseudo_inertia(pi)), pi, rtol=1e-12)


def test_measurement_is_the_product_with_the_mass_matrix_of_a_body():
    rng = np.random.default_rng(1)
    pi, v1, v2 = random_parameters(rng), *rng.normal(size=(2, 6))
    m, h, I = pi[0], pi[1:4], pi[[4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(3, 3)
    S = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
    M = np.block([[I, S], [S.T, m * np.eye(3)]])
    assert measurement(v1, v2) @ pi == pytest.approx(v1 @ M @ v2, rel=1e-12)


def test_rate_is_the_slope_of_the_transfer():
    from scipy.linalg import expm

    from kinpair.identification.columns import hat

    twist, step = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6]), 1e-6
    slope = (transfer(expm(step * hat(twist))) - transfer(expm(-step * hat(twist)))) / (2 * step)
    np.testing.assert_allclose(rate(twist), slope, atol=1e-8)


def test_a_prior_without_inertia_is_floored():
    pi = floored(np.array([2.0, 0.2, 0.0, 0.0, 0, 0, 0, 0, 0, 0]), 10.0)
    assert is_consistent(pi)
    assert pi[0] == 2.0
