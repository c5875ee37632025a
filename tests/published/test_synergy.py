"""Trunk compensation with a prescribed zero-moment point (the method of Vukobratović, chapter 3).

Digits: Fourier collocation with 41 points, confirmed by integration over one period to 1e-12. They hold within ten
units of the last place printed.
"""

from __future__ import annotations

import numpy as np
import pytest

from kinpair import motion
from walking import SOLE, compensated


@pytest.mark.parametrize("method", ["collocation", "shooting"])
def test_trunk_swings_as_printed(method):
    s = compensated(method)
    at = [s.at(t) for t in (0.0, 0.25, 0.5, 0.75)]
    found = [at[0].q[1], at[0].qd[1], at[1].q[1], at[2].q[1], at[3].q[1]]
    printed = [0.061096455075, -0.926338748110, -0.147708544789, -0.061096455075, 0.147708544789]
    np.testing.assert_allclose(found, printed, rtol=0, atol=1e-11)
    np.testing.assert_allclose([s.at(t).q[1] for t in (0.3125, 0.8125)], [-0.15997821, 0.15997821], atol=1e-7)


def test_harmonics_are_the_printed_ones():
    q = compensated().at(np.arange(256) / 256).q[:, 1]
    c = np.fft.rfft(q) / 128
    np.testing.assert_allclose([c[1].real, -c[1].imag], [0.061226142707, -0.147639383688], rtol=0, atol=1e-11)
    assert abs(c[3]) == pytest.approx(1.47e-4, abs=1e-5)


def test_multipliers_are_the_printed_ones():
    np.testing.assert_allclose(compensated().multipliers, [14.3486, 0.0707], rtol=0, atol=1e-3)


def test_hip_torque_is_the_printed_one():
    x = motion.nominal(compensated().mechanism, compensated().motion)
    assert x.effort[0, 1] == pytest.approx(-18.5012767504, abs=1e-9)
    assert np.abs(x.effort[:, 1]).max() == pytest.approx(31.2, abs=1.0)


def test_rigid_trunk_would_let_the_zero_moment_point_swing_as_printed():
    s = compensated()
    time = np.arange(512) / 512
    state = [x.copy() for x in s.at(time)[:3]]
    for x in state:
        x[:, 1] = 0.0
    rigid = motion.support(s.mechanism, *state, {"ground": SOLE}, loads=np.ones((512, 1)), time=time)
    assert np.abs(rigid.zmp[:, 0]).max() == pytest.approx(0.24529, abs=1e-4)
    assert not rigid.feasible
