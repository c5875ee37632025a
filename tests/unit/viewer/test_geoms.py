"""Geoms in pictures: planes, and shapes of links that nothing else draws."""

from __future__ import annotations

import numpy as np

import kinpair as kp
from kinpair.viewer.scene import scene_of


def test_a_level_plane_is_the_floor_and_an_inclined_one_a_slab():
    incline, table = scene_of(kp.example("block-on-incline")), scene_of(kp.example("table"))
    (slab,) = [x for x in incline.pieces if x.link == "ground"]
    corners = slab.surface.points - slab.surface.points.mean(axis=0)
    normal = np.array([np.sin(np.pi / 12), 0.0, np.cos(np.pi / 12)])
    assert np.ptp(corners @ normal) < 0.01 * incline.size
    assert not [x for x in table.pieces if x.link == "ground"]
    assert table.floor == 0.0


def test_a_link_without_looks_is_drawn_by_its_geoms():
    b = (
        kp.Builder("plain")
        .link("ball", mass=1.0, inertia=[0.1, 0.1, 0.1])
        .joint("free", "free", "ground", "ball")
    )
    b.frame("tip", "ball", xyz=[0, 0, 0.5]).contact("shell", "tip", sphere=0.2).contact(
        "step", "ground", box=[1, 1, 1]
    )
    pieces = {x.link: x for x in scene_of(kp.build(b)).pieces if x.layer == "visual"}
    np.testing.assert_allclose(pieces["ball"].surface.points[:, 2].max(), 0.7, atol=1e-12)
    assert np.abs(pieces["ground"].surface.points).max() == 0.5
