"""Coarser surfaces: no more triangles than allowed, near to the surface they stand for, with their own colours."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.viewer.surfaces import Surface, ball, box, clustered, reduced, shared_out, simplified


def fine_ball():
    """A sphere of radius 1 with 20 480 triangles that share no point."""
    corners = ball(1.0).points[ball(1.0).faces]
    for _ in range(2):
        a, b, c = (corners[:, k] for k in range(3))
        d, e, f = a + b, b + c, c + a
        corners = np.concatenate([np.stack(x, axis=1) for x in ((a, d / 2, f / 2), (d / 2, b, e / 2))])
    return Surface(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


@pytest.mark.parametrize("most", [12, 100, 1000])
def test_a_coarser_surface_stays_within_a_cell_of_the_surface(most):
    surface = fine_ball()
    coarse, origin = reduced(surface, most)
    assert len(coarse.faces) <= most
    assert len(origin) == len(coarse.faces)
    radii = np.linalg.norm(coarse.points, axis=1)
    assert radii.max() <= 1.0 + 1e-12
    middles = surface.points[surface.faces[origin]].mean(axis=1)
    apart = np.linalg.norm(coarse.points[coarse.faces].mean(axis=1) - middles, axis=1)
    assert apart.max() < 12.0 / np.sqrt(most)  # triangles are where those were that they come from


def test_a_triangle_that_is_there_twice_stays_once():
    both = Surface(box(1, 1, 1).points, np.tile(box(1, 1, 1).faces, (2, 1)))
    once, kept = clustered(both, 1e-3)
    assert len(once.faces) == 12
    assert (kept < 12).all()


def test_few_triangles_stay_as_they_are_and_many_share_the_rest():
    small, large = box(1, 1, 1), fine_ball()
    assert simplified(small, 12) is small
    first, second = shared_out([small, large], 500)
    assert first is small
    assert len(second.faces) <= 488
