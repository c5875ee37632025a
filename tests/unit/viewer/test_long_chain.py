"""Mechanisms of many links are drawn as rods."""

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.builder import Builder
from kinpair.viewer.links import MANY, RADIUS
from kinpair.viewer.scene import link_poses, scene_of
from kinpair.viewer.still import stick_scene

N = MANY + 1


@pytest.fixture(scope="module")
def rope():
    return kp.build(Builder("rope").chain("rope", n=N, length=4.0, mass=1.0, joint="revolute")).reference


def test_one_rod_a_link_and_one_surface_for_all(rope):
    scene = scene_of(rope)
    assert [piece.link for piece in scene.pieces] == [link.name for link in rope.model.description.links]
    assert len({id(piece.surface) for piece in scene.pieces[:-1]}) == 1
    assert len(stick_scene(rope).pieces) == N


def test_rods_follow_the_chain(rope):
    """All points of the rods are within their radius of the chain, which is an arc of a circle here."""
    q = np.full(N, 1.0 / N)
    scene, side = scene_of(rope), 4.0 / N
    R = side / (2 * np.sin(0.5 / N))  # of the circle through the joints
    points = np.concatenate([surface.points for surface, _ in scene.placed(link_poses(rope, q))])
    centre = R * np.array([-np.cos(0.5 / N), 0.0, np.sin(0.5 / N)])  # the first link has turned by one angle
    distances = np.hypot(points[:, 0] - centre[0], points[:, 2] - centre[2])
    assert np.abs(distances - R).max() <= RADIUS * scene.size + side**2 / (8 * R) + 1e-12


def test_a_picture_shows_the_chain(rope):
    figure = rope.picture(q=np.full(N, 1.0 / N), width=160, height=120)
    image = np.asarray(figure.axes[0].images[0].get_array())
    blue = (image[..., 2].astype(int) - image[..., 0] > 40).any(axis=0)
    assert blue.sum() > 20


def test_markers_leave_most_of_a_link_to_be_seen():
    short = kp.build(Builder("rope").chain("rope", n=40, length=4.0, mass=1.0, joint="revolute"))
    markers = [x for x in scene_of(short).pieces if x.layer == "joints"]
    assert len(markers) == 40
    assert max(np.ptp(x.surface.points[:, 2]) for x in markers) <= 0.05
