"""Numbers that look random: L'Ecuyer's own figures, moments, independence of seeds."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.control import in_loop


def plain(state):
    """(RN1) in whole numbers."""
    a, b = int(state[0]) * 40014 % 2147483563, int(state[1]) * 40692 % 2147483399
    z = a - b
    return (z + 2147483562 if z < 1 else z) / 2147483563, (a, b)


def test_floating_point_does_the_whole_numbers_exactly():
    state, whole = in_loop.seeded(11), tuple(map(int, in_loop.seeded(11)))
    for _ in range(2000):
        (u, state), (v, whole) = in_loop.uniform(state), plain(whole)
        assert u == v
        assert tuple(state) == whole


def test_machine_code_does_the_same():
    def draw(state):
        numbers, state = in_loop.normal(state, 5)
        return np.concatenate([numbers, state])

    kernel, state = Kernel(trace(draw, {"state": (2,)})), in_loop.seeded(3)
    for _ in range(20):
        numbers, state_after = in_loop.normal(state, 5)
        found = kernel(state)
        assert found[:5] == pytest.approx(numbers, rel=1e-12, abs=1e-12)
        assert np.array_equal(found[5:], state_after)
        state = found[5:]


def test_normal_numbers_have_mean_zero_and_variance_one():
    numbers, _ = in_loop.normal(in_loop.seeded(0), 40000)
    assert abs(numbers.mean()) < 4 / 200  # four standard deviations of the mean
    assert abs(numbers.var() - 1) < 4 * np.sqrt(2 / 40000)
    assert abs(np.mean(numbers[1:] * numbers[:-1])) < 4 / 200
    assert in_loop.seeded([1, 2]).shape == (2, 2)
