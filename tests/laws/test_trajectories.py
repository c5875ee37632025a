"""Laws of every motion: its derivatives are derivatives, it rests outside, it can be compiled."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.algebra.series import derivatives
from motions import FRAMES, JOINTS

KINDS = pytest.mark.parametrize("name", JOINTS)
FRAME_KINDS = pytest.mark.parametrize("name", FRAMES)


def between_knots(x, h):
    """Times farther than h from every knot."""
    knots = np.array(x.knots)
    parts = np.linspace(0.1, 0.9, 9)
    times = (knots[:-1, None] + np.diff(knots)[:, None] * parts).ravel()
    assert h < 0.05 * np.diff(knots).min()
    return times


@KINDS
def test_each_is_the_derivative_of_the_one_before(name):
    x = JOINTS[name][0]
    h = 1e-4 * np.diff(x.knots).min()
    times = between_knots(x, h)
    orders = 7
    here = derivatives(x.series(times, orders))
    here += [np.zeros_like(here[0])] * (orders + 1 - len(here))
    moved = {s: derivatives(x.series(times + s * h, orders)) for s in (-1, 1)}
    moved = {s: f + [np.zeros_like(f[0])] * (orders + 1 - len(f)) for s, f in moved.items()}
    sizes = [max(1.0, np.abs(f).max()) for f in here]
    for k in range(3):
        difference = (moved[1][k] - moved[-1][k]) / (2 * h)
        bound = h**2 / 4 * np.abs(here[k + 3]).max()  # h²/6 of the third derivative of this one
        assert np.abs(difference - here[k + 1]).max() <= bound + 1e-15 * sizes[k] / h
    for at, derivative in zip(x.at(times), here, strict=False):
        assert np.array_equal(at.reshape(derivative.shape), derivative)


@KINDS
def test_it_rests_before_and_after(name):
    x = JOINTS[name][0]
    for time, end in ((-1.0, 0.0), (x.duration + 1.0, x.duration)):
        q, *others = x.at(time)
        assert np.array_equal(q, x.at(end).q)
        assert not np.any(others)


@KINDS
def test_it_states_its_smoothness(name):
    x, smooth = JOINTS[name]
    assert x.smoothness == smooth


@KINDS
def test_compiled_it_gives_the_same(name):
    x = JOINTS[name][0]
    kernel = kp.compile(lambda time: tuple(x.at(time)), 0.0)
    times = np.array([-1.0, 0.0, *between_knots(x, 1e-9), *x.knots, x.duration + 1.0])
    for one, other in zip(kernel(times), x.at(times), strict=True):
        assert np.abs(one - other).max() <= 1e-12 * max(1.0, np.abs(other).max())


@FRAME_KINDS
def test_twists_are_the_rates_of_the_pose(name):
    """Along R(t + h) R(t − h)ᵀ = exp(2h ω) and p(t + h) − p(t − h) = 2h v, off by h² of the jerk."""
    x = FRAMES[name][0]
    h = 1e-4
    times = between_knots(x, h)
    behind, here, ahead = (x.at(times + s * h) for s in (-1, 0, 1))
    turn = ahead.rotation @ np.swapaxes(behind.rotation, 1, 2)
    angular = np.stack(
        [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1
    )
    bound = h**2 * np.abs(here.jerk).max() + h**2 * np.abs(here.twist).max() ** 3 + 1e-15 / h
    assert np.abs(angular / (4 * h) - here.twist[:, :3]).max() <= bound
    assert np.abs((ahead.position - behind.position) / (2 * h) - here.twist[:, 3:]).max() <= bound
    for low, high, bound in (("twist", "acceleration", 1e-4), ("acceleration", "jerk", 1e-3)):
        difference = (getattr(ahead, low) - getattr(behind, low)) / (2 * h)
        assert np.abs(difference - getattr(here, high)).max() <= bound * np.abs(getattr(here, high)).max()


@FRAME_KINDS
def test_a_frame_states_its_smoothness_and_can_be_compiled(name):
    x, smooth = FRAMES[name]
    assert x.smoothness == smooth
    kernel = kp.compile(lambda time: tuple(x.at(time)), 0.0)
    times = np.linspace(-0.5, x.duration + 0.5, 23)
    for one, other in zip(kernel(times), x.at(times), strict=True):
        assert np.abs(one - other).max() <= 1e-12 * max(1.0, np.abs(other).max())
