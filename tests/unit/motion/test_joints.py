"""Motions of joints: their ends, their limits, the shapes they have."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair import motion
from motions import END, POINTS, START

T = 4.0


@pytest.mark.parametrize("make", [motion.cycloid, motion.polynomial])
def test_it_starts_and_ends_at_rest(make):
    q, qd, qdd, _ = make(START, END, T).at([0.0, T])
    assert np.array_equal(q, [START, END])
    assert not qd.any()
    assert not qdd.any()


def test_half_way_in_half_the_time_at_twice_the_mean_rate():
    q, qd, qdd, jerk = motion.cycloid(START, END, T).at(T / 2)
    assert q == pytest.approx((START + END) / 2)
    assert qd == pytest.approx(2 * (END - START) / T)
    assert qdd == pytest.approx(0, abs=1e-15)
    assert jerk == pytest.approx(-((2 * np.pi) ** 2) * (END - START) / T**3)


@pytest.mark.parametrize(
    ("time", "start", "shape"),
    [(1.0, 0.0, ()), ([1, 2], 0.0, (2,)), (1.0, [0, 0, 0], (3,)), ([1, 2], [0, 0, 0], (2, 3))],
)
def test_time_comes_before_the_joints_in_the_shape(time, start, shape):
    assert {x.shape for x in motion.cycloid(start, np.ones_like(start, dtype=float), 3.0).at(time)} == {shape}


def test_a_jump_of_the_acceleration_is_seen_from_both_sides():
    x = motion.trapezoid(0.0, 2.0, velocity=1.0, acceleration=2.0)
    assert x.knots == pytest.approx((0.0, 0.5, 2.0, 2.5))
    assert [float(x.at(0.5, side=side).qdd) for side in ("left", "right", "")] == pytest.approx(
        [2.0, 0.0, 0.0]
    )
    assert [float(x.at(x.duration, side=side).qdd) for side in ("left", "right", "")] == [-2.0, 0.0, -2.0]


@pytest.mark.parametrize("velocity", [0.1, 1.0, 9.0])
@pytest.mark.parametrize("acceleration", [0.5, 2.0, 90.0])
@pytest.mark.parametrize("jerk", [1.0, 10.0])
def test_scurves_reach_their_limits_and_never_pass_them(velocity, acceleration, jerk):
    """A shorter motion would break one of them: each quantity is at its limit, or the next one always is."""
    x = motion.scurve(START, END, velocity=velocity, acceleration=acceleration, jerk=jerk)
    found = x.at(np.sort([*x.knots, *np.linspace(0.0, x.duration, 500)]))
    largest = [np.abs(y).max() for y in found[1:]]
    limits = [velocity, acceleration, jerk]
    assert all(most <= limit * (1 + 1e-12) for most, limit in zip(largest, limits, strict=True))
    assert largest[2] == pytest.approx(jerk)
    at = np.abs(found.qd).max(1), np.abs(found.qdd).max(1), np.abs(found.jerk).max(1)
    busy = np.any([y >= limit * (1 - 1e-9) for y, limit in zip(at, limits, strict=True)], axis=0)
    assert busy.all()


def test_limits_come_from_the_file(tmp_path):
    text = kp.example_text("double-pendulum").replace(
        'kind = "revolute"', 'kind = "revolute"\nvelocity = 2\nacceleration = 8\njerk = 64'
    )
    file = tmp_path / "limited.toml"
    file.write_text(text, "utf-8")
    m = kp.load(file)
    own, given = (
        motion.scurve([0, 0], [1, 2], of=m),
        motion.scurve([0, 0], [1, 2], velocity=2, acceleration=8, jerk=64),
    )
    assert own.knots == given.knots
    assert motion.trapezoid([0, 0], [1, 2], of=m, velocity=0.5).duration == pytest.approx(4.0 + 0.5 / 8)
    assert kp.read(file) == kp.read(file)
    kp.write_toml(kp.read(file), tmp_path / "again.toml")
    assert np.array_equal(kp.load(tmp_path / "again.toml").model.joints.jerk, [64.0, 64.0])


@pytest.mark.parametrize("order", [3, 5, 7])
def test_splines_pass_through_their_points(order):
    times = [0.0, 0.5, 2.0, 3.0]
    x = motion.spline(POINTS, times=times, order=order)
    assert x.at(times).q == pytest.approx(np.array(POINTS), abs=1e-12)
    inner = [x.series(np.array(times[1:-1]), order - 1, side) for side in ("left", "right")]
    assert np.allclose(*inner, rtol=1e-9, atol=1e-9)
    assert not np.allclose(
        *(x.series(np.array(times[1:-1]), order, side)[order] for side in ("left", "right"))
    )


def test_periodic_splines_go_on_as_they_began():
    x = motion.spline([*POINTS, POINTS[0]], 3.0, ends="periodic")
    for start, end in zip(x.at(0.0), x.at(3.0), strict=True):
        assert start == pytest.approx(end, abs=1e-9)


def test_a_straight_line_is_a_spline_through_two_points():
    spline, polynomial = motion.spline([START, END], T), motion.polynomial(START, END, T)
    for one, other in zip(spline.at(np.linspace(0, T, 9)), polynomial.at(np.linspace(0, T, 9)), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_pictures_are_drawn(tmp_path):
    file = tmp_path / "motion.png"
    motion.trapezoid(START, END, velocity=1.0, acceleration=2.0).plot(file, names="abc", title="a motion")
    assert file.read_bytes()[:4] == b"\x89PNG"
