"""Chain of three cylinders (E8): torques, mass matrix and gravity after Vukobratović's chapter 1."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations import lagrange_cylinders

PRINTED = 1e-11
Q, QD, QDD = (0.3, 0.5, -0.4), (0.7, -0.2, 1.1), (0.5, 0.4, -0.6)


@pytest.fixture(scope="module")
def chain() -> kp.Mechanism:
    return kp.example("three-cylinders")


def test_axial_and_transverse_inertia(chain):
    I = [chain.model.description.links[k].tensor() for k in range(3)]
    assert [J[0, 0] for J in I] == pytest.approx((0.00375, 0.0016, 0.00045), abs=1e-12)
    assert [J[1, 1] for J in I] == pytest.approx((0.064375, 0.0274666667, 0.007725), abs=1e-9)
    assert [J[2, 2] for J in I] == pytest.approx([J[1, 1] for J in I])


@pytest.mark.parametrize("method", METHODS["mass_matrix"])
def test_mass_matrix(chain, method):
    M = (
        (2.194261231876, 0, 0),
        (0, 0.408218985947, 0.08548865964),
        (0, 0.08548865964, 0.030225),
    )
    assert np.abs(chain.mass_matrix(Q, method=method) - M).max() < PRINTED


def test_mass_matrix_is_the_sum_over_the_links(chain):
    """M^{1i}, the share of link i: the same chain with all other links made massless."""
    from dataclasses import replace

    from kinpair.model.build import build

    d = chain.model.description
    shares = []
    for kept in range(3):
        links = [x if k == kept else kp.Link(x.name) for k, x in enumerate(d.links)]
        shares.append(kp.Mechanism(build(replace(d, links=tuple(links)))).mass_matrix(Q))
    assert shares[0][0, 0] == pytest.approx(0.251875, abs=PRINTED, rel=0)
    assert np.diag(shares[1])[:2] == pytest.approx((0.934166360147, 0.107466666667), abs=PRINTED, rel=0)
    assert np.diag(shares[2]) == pytest.approx((1.008219871730, 0.300752319280, 0.030225), abs=PRINTED, rel=0)
    assert shares[2][1, 2] == pytest.approx(0.085488659640, abs=PRINTED, rel=0)
    assert np.abs(sum(shares) - chain.mass_matrix(Q)).max() < 1e-14


@pytest.mark.parametrize("method", METHODS["inverse_dynamics"])
def test_torques(chain, method):
    f = (0, 8.351416574922, 1.464148629207)
    torque = (1.170376640127, 8.651899317240, 1.486968429764)
    assert chain.gravity_forces(Q, method=method) == pytest.approx(f, abs=PRINTED, rel=0)
    assert chain.inverse_dynamics(Q, QD, QDD, method=method) == pytest.approx(torque, abs=PRINTED, rel=0)


M2 = np.array(
    [
        [0.104637177413, 0, 0],
        [0.243567451869, 0.051403221185, 0.025701610592],
        [0.010991343890, 0.017523825404, 0.002336510054],
    ]
)


@pytest.mark.parametrize("method", METHODS["coriolis_matrix"])
def test_convective_torques(chain, method):
    """M² φ̇ of eq 1.23; M² itself is another factorisation than C."""
    C = chain.coriolis_matrix(Q, QD, method=method)
    assert np.abs((C - M2) @ QD).max() < PRINTED
    assert np.abs(C - M2).max() > 0.01


# The equations of the source, written out for cylinders.


def test_links_are_cylinders(chain):
    result = lagrange_cylinders.cylinders(chain.model)[1:]
    assert [c.J_S for c in result] == pytest.approx((0.00375, 0.0016, 0.00045), abs=1e-12, rel=0)
    assert [c.J_N for c in result] == pytest.approx((0.064375, 0.0824 / 3, 0.007725), abs=1e-12, rel=0)
    assert [abs(c.q @ c.d) for c in result] == pytest.approx(
        (0.25, 0.2, 0.15)
    )  # the mass centre is on the axis


def test_inertia_of_each_link_written_out(chain):
    """M^{1i} of eqs 1.13 to 1.16, digit by digit."""
    first, second, third = lagrange_cylinders.inertia_shares(chain.model, np.array(Q))
    assert np.abs(first - np.diag([0.251875, 0, 0])).max() < PRINTED
    assert np.abs(second - np.diag([0.934166360147, 0.107466666667, 0])).max() < PRINTED
    M13 = (
        (1.008219871730, 0, 0),
        (0, 0.300752319280, 0.085488659640),
        (0, 0.085488659640, 0.030225),
    )
    assert np.abs(third - M13).max() < PRINTED


def test_convective_matrix_written_out(chain):
    """M² of eq 1.23, digit by digit: the same forces as Christoffel's C, but Ṁ¹ − 2 M² is not skew."""
    result = sum(lagrange_cylinders.convective_shares(chain.model, np.array(Q), np.array(QD)))
    assert np.abs(result - M2).max() < PRINTED
    step = 1e-200
    shares = lagrange_cylinders.inertia_shares(chain.model, np.array(Q) + 1j * step * np.array(QD))
    Md = np.imag(sum(shares)) / step

    def asymmetry(C):
        return np.abs((Md - 2 * C) + (Md - 2 * C).T).max()

    C = chain.coriolis_matrix(Q, QD, method="lagrange")
    assert result @ QD == pytest.approx(C @ QD, abs=1e-14, rel=0)
    assert asymmetry(C) < 1e-14
    assert asymmetry(result) > 0.1


def test_torques_written_out(chain):
    f = sum(lagrange_cylinders.weight_shares(chain.model, np.array(Q)))
    assert f == pytest.approx((0, 8.351416574922, 1.464148629207), abs=PRINTED, rel=0)
    result = lagrange_cylinders.inverse_dynamics(chain.model, np.array(Q), np.array(QD), np.array(QDD))
    assert result == pytest.approx((1.170376640127, 8.651899317240, 1.486968429764), abs=PRINTED, rel=0)
