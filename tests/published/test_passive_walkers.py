"""Walkers that nothing drives.

The simplest walking model: M. Garcia, A. Chatterjee, A. Ruina, M. Coleman 1998, slope 0.009; digits computed apart from
this library, and held within ten units of the last place printed. Its period doubles near a slope of 0.015 (ibid.).
"""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from walking import simplest_gait


def test_simplest_walker_has_the_printed_gait():
    gait = simplest_gait()
    assert gait.q[0, 0] == pytest.approx(0.2003109005443, abs=1e-12)
    assert gait.qd[0, 0] == pytest.approx(-0.1998324730049, abs=1e-12)
    assert gait.period == pytest.approx(3.88246375285, abs=1e-10)
    first, second, *others = gait.multipliers
    assert first == pytest.approx(-0.19010 + 0.55760j, abs=1e-4)
    assert second == pytest.approx(np.conj(first))
    assert abs(first) == pytest.approx(0.58911, abs=1e-4)
    assert np.abs(others).max() < 1e-12
    assert gait.stable


def test_its_period_doubles_where_published():
    branch = kp.walking.continuation(simplest_gait(), 0.0158, points=6)
    assert branch.doubling is not None
    assert branch.doubling.value == pytest.approx(0.015, abs=2e-4)
    assert np.abs(branch.doubling.multipliers + 1.0).min() < 1e-9
    two = branch.doubled()
    assert len(two.times) == 2
    assert two.stable
    assert abs(two.times[0] - two.times[1]) > 1e-3
    assert not branch.cycles[-1].stable
