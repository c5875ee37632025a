"""Four-bar linkage (E13; data of Shah & Saha, ReDySim, with start angles that close the loop)."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp

START = closed.start("four-bar")
BOTH = ["four-bar", "four-bar-3d"]


@pytest.fixture(params=BOTH, scope="module")
def linkage(request) -> kp.Mechanism:
    return kp.example(request.param)


def test_coordinates_are_in_the_order_of_the_source(linkage):
    assert linkage.q_names == ("crank", "output", "coupler")


def test_published_start_angles_do_not_close_the_loop_and_these_do(linkage):
    published = np.array([0.0, *np.radians([145.54, 130.54])])
    x, y = closed.gap(linkage, published)[:2]
    assert (x, y) == pytest.approx((0.003404, -0.025880), abs=1e-6)
    assert np.abs(closed.gap(linkage, START)).max() < 1e-16
    assert np.degrees(START[1:]) == pytest.approx([130.541601873505] * 2, abs=1e-12, rel=0)


def test_it_starts_to_fall_as_published(linkage):
    qdd, lam = closed.motion(linkage, START, np.zeros(3), np.zeros(3))
    assert qdd == pytest.approx((-161.217124787, 80.608562394, 0), abs=1e-8, rel=0)
    assert lam[:2] == pytest.approx((-5.013389657, -3.327071880), abs=1e-8, rel=0)


def test_rows_across_the_plane_are_redundant(linkage):
    A, _, b = closed.conditions(linkage, START, np.array([0.2, 0.3, -0.1]))
    assert np.linalg.matrix_rank(A) == 2
    assert not A[2:].any()
    assert not b[2:].any()
