"""Efforts of a gait make it: the free machine with its feet held goes the same way; a regulator leads it back."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.walking.replay import Phase, chebyshev, phases
from walking import biped_gait


@cache
def both() -> tuple[Phase, Phase]:
    return phases(biped_gait())


def test_efforts_of_the_gait_reproduce_single_support():
    """Nothing leads the machine back: errors grow, and stay below 1e-6."""
    gait, single = biped_gait(), both()[0]
    x = gait.synergy.at(0.0)
    run = kp.simulate(
        single.mechanism, x.q, x.qd, duration=single.end, torque=single.efforts, rtol=1e-12, atol=1e-12
    )
    end = gait.synergy.at(single.end)
    np.testing.assert_allclose(run.q[-1], end.q, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.qd[-1], end.qd, rtol=0, atol=1e-6)


@pytest.mark.long(reason="compiles the machine with both feet held as well")
def test_efforts_of_the_gait_reproduce_a_step():
    played = kp.walking.replay(biped_gait())
    assert played.deviations.max() < 1e-6
    assert max(played.jumps) < 1e-6


def test_foot_that_is_held_gives_the_wrench_of_the_gait():
    gait, single = biped_gait(), both()[0]
    x = gait.synergy.at(0.3)
    found = single.mechanism.constraint_forces(x.q, x.qd, gait.efforts([0.3])[0])
    predicted = gait.wrenches([0.3])["right-sole"][0]
    np.testing.assert_allclose(
        found.wrenches["right-hold"], predicted, rtol=0, atol=1e-8 * np.abs(predicted).max()
    )


def test_series_of_a_phase_are_its_efforts():
    gait = biped_gait()
    for phase in both():
        time = np.linspace(phase.start, phase.end, 13)
        found = np.array([phase.efforts(t, None, None) for t in time])
        np.testing.assert_allclose(found[:, 6:], gait.efforts(time)[:, 6:], rtol=0, atol=1e-6)


def test_chebyshev_series_is_numpys():
    a = np.random.default_rng(3).normal(size=(7, 2))
    np.testing.assert_allclose(chebyshev(a, 0.3), np.polynomial.chebyshev.chebval(0.3, a), rtol=1e-12)
