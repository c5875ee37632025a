"""Preview control of a cart on a table: gains of Kajita et al., Biped walking pattern generation by using preview
control of zero-moment point, ICRA 2003, for T = 5 ms, z = 0.814 m, g = 9.8 m/s², Q = 1, R = 1e-6, 320 steps ahead."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

G_I = 618.556391934
G_X = [72738.0696533, 21565.6140832, 177.0885579203]
G_D = [-618.556391934, -777.449531109, -952.239615858, -1082.222656279]
LAST = -5.041080549
EXACT = [618.556391922298, 72738.06965261875, 21565.6140830051, 177.0885579197072]


def gains():
    return kp.regulator.preview_gains(
        kp.regulator.cart_table(0.814, 5e-3, gravity=9.8), steps=320, Q=1.0, R=1e-6
    )


def test_gains_are_those_of_fifty_digits():
    """Riccati's equation solved by doubling in 50 digits (mpmath): rounding of double precision is all that is left."""
    x = gains()
    found = [x.G_i[0, 0], *x.G_x[0]]
    assert found == pytest.approx(EXACT, rel=1e-12)


def test_gains_to_the_printed_digits():
    """Ten units of the last place printed, but for the first: the printed one is 12 units off the exact one."""
    x = gains()
    assert x.G_i[0, 0] == pytest.approx(G_I, abs=1.2e-8)
    assert x.G_x[0, :2] == pytest.approx(G_X[:2], abs=1e-6)
    assert x.G_x[0, 2] == pytest.approx(G_X[2], abs=1e-9)
    assert x.G_d[0, 0, 0] == pytest.approx(G_D[0], abs=1.2e-8)
    assert x.G_d[1:4, 0, 0] == pytest.approx(G_D[1:], abs=1e-8)
    assert x.G_d[-1, 0, 0] == pytest.approx(LAST, abs=1e-8)


def test_the_zero_moment_point_follows_steps_of_a_walk():
    """A walk of 0.3 m steps every 0.8 s: the point is where it should be but within a tenth of a second of a step."""
    time = 0.005 * np.arange(1000)
    reference = 0.3 * np.clip(np.floor((time - 1.0) / 0.8), 0, 4)
    _, points, _ = gains().follow(reference)
    phase = (time - 1.0) % 0.8
    away = np.minimum(phase, 0.8 - phase) > 0.1
    assert np.abs(points[away, 0] - reference[away]).max() < 0.02
