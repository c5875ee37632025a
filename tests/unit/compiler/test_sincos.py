"""Sine and cosine against 200-bit arithmetic: within 2 ulp up to 1e5, the C library beyond, NaN stays NaN."""

import math

import numpy as np
import pytest
from mpmath import mp

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace

PROGRAM = trace(lambda x: (np.sin(x), np.cos(x)), {"x": ()}, name="sincos")
random = np.random.default_rng(11)
NEAR_ZEROS = np.concatenate([np.nextafter(k * np.pi / 2, [-np.inf, np.inf]) for k in range(1, 60_000, 613)])
POINTS = np.concatenate(
    [
        random.uniform(-np.pi, np.pi, 1500),
        random.uniform(-1e5, 1e5, 1500),
        np.arange(-40, 41) * np.pi / 4,
        NEAR_ZEROS,
        [0.0, -0.0, 5e-324, 1e-300, 1e-8, 1e5, -1e5],
    ]
)


def ulps(found: np.ndarray, x: np.ndarray, function) -> float:
    """The largest error, in units of the last place of the result."""
    with mp.workprec(200):
        exact = [function(mp.mpf(float(v))) for v in x]
        return max(
            float(abs(mp.mpf(float(f)) - e) / mp.mpf(float(np.spacing(found.dtype.type(abs(float(e)))))))
            for f, e in zip(found, exact, strict=True)
        )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_within_two_ulp_to_a_hundred_thousand(dtype):
    x = POINTS.astype(dtype)
    x = x[(abs(x) > 1e-30) | (x == 0)]
    sine, cosine = Kernel(PROGRAM, dtype=dtype)(x)
    assert ulps(sine, x, mp.sin) <= 2.0
    assert ulps(cosine, x, mp.cos) <= 2.0


def test_one_state_and_a_batch_agree_to_two_ulp():
    kernel = Kernel(PROGRAM)
    x = POINTS[:300]
    one = np.array([kernel(float(v)) for v in x])
    assert ulps(one[:, 0], x, mp.sin) <= 2.0
    assert ulps(one[:, 1], x, mp.cos) <= 2.0


def test_beyond_the_c_library_answers():
    x = np.concatenate([10.0 ** random.uniform(5, 300, 200), [1.0000001e5, 6381956970095103 * 2.0**797]])
    sine, cosine = Kernel(PROGRAM)(x)
    assert sine.tolist() == [math.sin(v) for v in x]
    assert cosine.tolist() == [math.cos(v) for v in x]


def test_a_far_neighbour_changes_nothing():
    kernel = Kernel(PROGRAM)
    x = random.uniform(-3, 3, 16)
    alone = np.array(kernel(x))
    for far in (1e9, np.nan, np.inf):
        x[5] = far
        together = np.array(kernel(x))
        rest = np.arange(16) != 5
        assert (together[:, rest] == alone[:, rest]).all()
        assert far == 1e9 or np.isnan(together[:, 5]).all()


@pytest.mark.parametrize("count", [3, 5, 11])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_angles_of_one_state_turned_together_are_those_turned_alone(count, dtype):
    """To the last bit, whatever the others are: far away, infinite, or no number."""
    program = trace(lambda x: (np.sin(x), np.cos(x)), {"x": (count,)}, name="turns")
    together, alone = Kernel(program, dtype=dtype), Kernel(PROGRAM, dtype=dtype)
    for far in (0.5, -1e9, np.inf, np.nan):
        x = random.uniform(-3, 3, count).astype(dtype)
        x[count // 2] = far
        assert np.array_equal(together(x), alone(x), equal_nan=True)
