"""Long chains: rounding along a chain, the catenary, waves; functions of docs/pictures/long_chains.py."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.builder import Builder

FILE = Path(__file__).parents[2] / "docs" / "pictures" / "long_chains.py"
EPSILON = np.finfo(float).eps
LONGER = np.finfo(np.longdouble).eps < EPSILON / 100  # else the reference is a recursion in double


@pytest.fixture(scope="module")
def chains():
    spec = importlib.util.spec_from_file_location("long_chains", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("n", [1, 10, 300, 3000])
def test_rotations_along_a_chain_drift_no_faster_than_rounding(chains, n):
    """A product of two 3 × 3 matrices and the entries of one of them have errors of at most 3 ε each: 6 ε a link."""
    rotation, position, orthogonality = chains.drift(n)
    assert rotation <= 6 * n * EPSILON
    assert position <= 6 * n * EPSILON
    assert orthogonality <= 12 * n * EPSILON


@pytest.mark.parametrize("n", [40, 80])
def test_forward_dynamics_of_order_n_is_more_accurate_than_solving_with_the_mass_matrix(chains, n):
    """Solving with H loses what its condition number says; the recursions, which never form H, lose far less."""
    errors = chains.solve_errors(n)
    *recursive, by_ldl, by_lapack = list(errors.values())[:4]
    assert max(by_ldl, by_lapack) <= EPSILON * errors["condition"]
    assert max(recursive) <= min(by_ldl, by_lapack) / 10
    if LONGER:
        assert errors["check"] <= min(recursive) / 10


@pytest.mark.parametrize("n", [2, 50, 2000])
def test_a_chain_in_the_shape_of_its_catenary_needs_no_efforts(chains, n):
    """Sums of n weights times n levers have errors of at most n ε of weight times length."""
    assert chains.catenary_residual(n) <= n * EPSILON


def test_a_chain_with_both_ends_fixed_rests_on_its_catenary(chains):
    n, span = 12, 0.6
    hanging = Builder("catenary").chain("chain", n=n, length=1.0, mass=1.0, joint="revolute")
    hanging.loop("end", "pin", "ground", "chain_12", xyz=[span, 0, 0], child_xyz=[0, 0, -1 / n], axis="y")
    m = kp.build(hanging).reference
    q = np.diff(chains.catenary(n)[0] - np.pi / 2, prepend=0.0)
    assert np.abs(m.constraint_residual(q)).max() < 1e-14
    qdd = m.forward_dynamics(q, np.zeros(n), np.zeros(n))
    size = np.abs(m.without_constraints().reference.forward_dynamics(q, np.zeros(n), np.zeros(n))).max()
    assert np.abs(qdd).max() < 1e-10 * size


def test_the_chain_becomes_the_catenary(chains):
    """Its lowest joint is off the continuous curve by a part that falls as 1/n²."""
    deep, _ = chains.sag()
    errors = [chains.points_of(chains.catenary(n)[0])[n // 2, 1] + deep for n in (20, 40, 80)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.03)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.01)
    assert (4 * errors[2] - errors[1]) / 3 == pytest.approx(0.0, abs=1e-6)


def test_frequencies_of_a_hanging_chain_are_zeros_of_bessels_function(chains):
    exact = chains.exact_frequencies()
    errors = [chains.frequencies(n) - exact for n in (20, 40, 80)]
    assert np.allclose(errors[1][:2] / errors[2][:2], 4.0, rtol=0.05)
    assert np.abs((4 * errors[2] - errors[1]) / 3 / exact).max() < 2e-4


def test_a_pulse_runs_down_a_hanging_chain_with_the_speed_sqrt_g_x(chains):
    n, width, times = 100, 0.03, np.array([0.05, 0.1, 0.15, 0.2])
    displacements, heights = chains.wave(n, times, width=width)
    peaks = heights[np.argmax(displacements, axis=1)]
    ray = chains.ray(times)
    growth = width**2 / (4 * ray)  # amplitudes grow as x^(−1/4)
    assert np.all(np.abs(peaks - ray) <= 1 / n + growth)
