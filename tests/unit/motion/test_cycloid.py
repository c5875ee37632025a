"""The cycloidal motion."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.errors import InputError
from kinpair.motion.cycloid import cycloid

START, END, T = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, 2.0]), 4.0


def test_it_starts_and_ends_at_rest():
    q, qd, qdd = cycloid([0.0, T], START, END, T)
    assert np.array_equal(q, [START, END])
    assert not qd.any()
    assert not qdd.any()


def test_half_way_in_half_the_time_at_twice_the_mean_rate():
    q, qd, qdd = cycloid(T / 2, START, END, T)
    assert q == pytest.approx((START + END) / 2)
    assert qd == pytest.approx(2 * (END - START) / T)
    assert qdd == pytest.approx(0, abs=1e-15)


def test_it_stays_before_and_after():
    before, after = cycloid(-1.0, START, END, T), cycloid(T + 1, START, END, T)
    assert np.array_equal(before.q, START)
    assert np.array_equal(after.q, END)
    assert not np.any([before.qd, before.qdd, after.qd, after.qdd])


def test_rates_and_accelerations_are_the_derivatives():
    time = np.linspace(0.1, T - 0.1, 50)
    h = 1e-5  # error of the central difference: h² |third derivative| / 6 < 1e-9
    ahead, here, behind = (cycloid(time + step, START, END, T) for step in (h, 0, -h))
    assert here.qd == pytest.approx((ahead.q - behind.q) / (2 * h), abs=1e-9)
    assert here.qdd == pytest.approx((ahead.qd - behind.qd) / (2 * h), abs=1e-9)


@pytest.mark.parametrize(
    ("time", "start", "shape"),
    [(1.0, 0.0, ()), ([1, 2], 0.0, (2,)), (1.0, [0, 0, 0], (3,)), ([1, 2], [0, 0, 0], (2, 3))],
)
def test_time_comes_before_the_joints_in_the_shape(time, start, shape):
    assert {x.shape for x in cycloid(time, start, np.ones_like(start, dtype=float), 3.0)} == {shape}


def test_a_motion_takes_time():
    with pytest.raises(InputError) as found:
        cycloid(0.0, 0.0, 1.0, 0.0)
    assert str(found.value) == "cycloid: duration is 0 s; give a positive number"


def test_both_ends_have_the_same_joints():
    with pytest.raises(InputError) as found:
        cycloid(0.0, [0.0, 1.0], 1.0, 2.0)
    assert str(found.value) == "cycloid: start has shape (2,) and end (); give both the same"
