"""The interior-point method: it solves contacts on its own, and gives the solution of Newton's method and sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.loops.functions import compiled
from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve.interior import determinant, interior, scaling_point, to_boundary, turned
from kinpair.constraints.solve.problem import Disc, Interval, Scaling, solve

CODE = compiled(interior)


def contacts(seed: int, count: int, rank: int, tangents: int = 2):
    """Random contacts: D = J Jᵀ, and rates g = J v that close most normals."""
    random = np.random.default_rng(seed)
    width = 1 + tangents
    J = random.normal(size=(width * count, rank))
    down = random.normal(size=rank)
    J[::width] += np.outer(np.ones(count), down)
    groups = []
    for k in range(0, width * count, width):
        rows = tuple(range(k + 1, k + width))
        groups += [Interval(k), Disc(rows, mu=random.uniform(0.1, 0.8), normal=k)]
    return J @ J.T, J @ (random.normal(size=rank) - 2.0 * down), groups


def solved(D, g, groups, code=CODE):
    """x, |F|∞, whether it is met, and the number of steps."""
    scaling, memory, x = Scaling(D, g, groups), nonsmooth.memory(len(g)), np.zeros(len(g))
    verdict = code(scaling.problem, x, memory, nonsmooth.TOLERANCE)
    return x * scaling.gamma / scaling.T, *verdict, memory.counts.tolist()


@pytest.mark.parametrize("tangents", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_the_solution_is_that_of_the_chain(seed, tangents):
    """D is regular: x is unique in all of these, and both methods end at 1e-12 of the scaled problem."""
    D, g, groups = contacts(seed, 6, 40, tangents)
    x, residual, met, counts = solved(D, g, groups)
    assert met
    assert residual <= 1e-10
    assert counts[1] > 1
    np.testing.assert_allclose(x, solve(D, g, groups).x, rtol=0, atol=1e-9 * np.abs(x).max())


@pytest.mark.parametrize("seed", range(10))
def test_redundant_contacts_are_solved(seed):
    """36 rows of 18 rates: forces are not unique."""
    D, g, groups = contacts(seed, 12, 18)
    assert solved(D, g, groups)[2]


@pytest.mark.parametrize("seed", range(4))
def test_machine_code_gives_the_bits_of_the_reference(seed):
    D, g, groups = contacts(seed, 4, 9)
    fast, slow = solved(D, g, groups), solved(D, g, groups, code=interior)
    np.testing.assert_array_equal(fast[0], slow[0])
    assert fast[1:] == slow[1:]


def test_other_groups_are_left_to_other_methods():
    for group in (Interval(3, -1.0, 1.0), Disc((3,), level=1.0), Disc((3,), level=1.0, direction=(1.0,))):
        groups = [Interval(0), Disc((1, 2), mu=0.5, normal=0), group]
        assert solved(np.eye(4), -np.ones(4), groups)[1:] == (np.inf, False, [0, 0])


@pytest.mark.parametrize("n", [2, 3])
def test_the_scaling_maps_v_to_y(n):
    """P v = W W v = y, and W v = W⁻¹ y."""
    random = np.random.default_rng(n)
    for _ in range(20):
        y, v, w, once, twice, back = np.zeros((6, 4))
        y[1:n], v[1:n] = random.normal(size=(2, n - 1))
        y[0], v[0] = (np.linalg.norm(u[1:]) + random.uniform(0.1, 2.0) for u in (y, v))
        eta = scaling_point(y, v, n, w)
        turned(w, v, n, 1.0, once)
        turned(w, once, n, 1.0, twice)
        turned(w, y, n, -1.0, back)
        np.testing.assert_allclose(eta**2 * twice[:n], y[:n], rtol=0, atol=1e-13 * np.abs(y).max() * eta**2)
        np.testing.assert_allclose(eta * once[:n], back[:n] / eta, rtol=1e-12)


def test_steps_end_on_the_boundary_of_the_cone():
    random = np.random.default_rng(0)
    for _ in range(50):
        u, du = np.array([1.0, 0.3, -0.2, 0.0]), random.normal(size=4)
        step = to_boundary(u, du, 3)
        if step < np.inf:
            assert determinant(u + step * du, 3) == pytest.approx(0.0, abs=1e-12 * (1.0 + step**2))
            assert determinant(u + 0.999 * step * du, 3) > 0.0
        else:
            assert determinant(u + 1e6 * du, 3) >= 0.0
