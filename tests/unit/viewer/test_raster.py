"""Pixels: what is nearer hides what is farther, areas are those of the solids, and what is clear lets through."""

from __future__ import annotations

import tracemalloc
from math import pi, tan

import numpy as np
import pytest

from kinpair.spatial.pose import Pose
from kinpair.viewer import raster
from kinpair.viewer.raster import MARGIN, Camera, Canvas, around, draw, fragments, grid_step, ground
from kinpair.viewer.surfaces import Surface, ball, box

RED, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
FRONT = Camera(np.eye(3), np.zeros(3), 10.0)


def seen(*things, size=200):
    canvas = Canvas.on(np.ones((size, size)))
    draw(canvas, FRONT, things)
    return canvas


def at(surface, x, y, z):
    return surface.moved(Pose(np.eye(3), np.array([x, y, z], dtype=float)))


def test_a_triangle_covers_the_pixels_whose_middle_is_inside():
    corners = np.array([[[0.0, 0.0], [7.0, 0.0], [0.0, 5.0]]])
    _, row, column = (np.concatenate(x) for x in zip(*fragments(corners, 20, 20), strict=True))
    i, j = np.mgrid[0:20, 0:20]
    inside = (j + 0.5) / 7 + (i + 0.5) / 5 <= 1.0
    assert {*zip(row.tolist(), column.tolist(), strict=True)} == {*zip(*np.nonzero(inside), strict=True)}


def test_a_ball_covers_the_disk_that_geometry_says():
    canvas = seen((ball(1.0), RED), size=400)
    radius = 200 / tan(FRONT.opening / 2) / np.sqrt(10.0**2 - 1.0)  # where lines of sight touch it
    assert np.isfinite(canvas.depth).sum() == pytest.approx(pi * radius**2, rel=0.03)
    assert canvas.depth.min() == pytest.approx(9.0, rel=1e-3)


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_nearer_hides_what_is_farther(order):
    near, far = (at(box(1, 1, 1), 0, 0, 2), RED), (at(box(2, 2, 1), 0, 0, -2), BLUE)
    middle = seen(*[near, far][::order]).colour[100, 100]
    assert middle[0] > middle[2]
    edge = seen(*[near, far][::order]).colour[100, 100 + 32]
    assert edge[2] > edge[0]


def test_solids_that_cut_each_other_are_cut_where_they_meet():
    canvas = seen((box(4, 0.5, 0.5), RED), (at(ball(1.0), 0, 0, 0.0), BLUE))
    assert canvas.colour[100, 100, 2] > canvas.colour[100, 100, 0]
    assert canvas.colour[100, 160, 0] > canvas.colour[100, 160, 2]


def test_what_is_clear_lets_through():
    solid = seen((at(box(1, 1, 1), 0, 0, -2), BLUE)).colour[100, 100]
    through = seen((at(box(1, 1, 1), 0, 0, -2), BLUE), (at(box(1, 1, 1), 0, 0, 2), (1.0, 0.0, 0.0, 0.5)))
    assert through.colour[100, 100, 2] == pytest.approx(solid[2] / 2, abs=0.2)
    assert through.colour[100, 100, 0] > solid[0] + 0.2


def test_a_camera_around_points_sees_all_of_them():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(50, 3))
    shown = around(points, np.eye(3), 1.5).seen(points)
    assert np.abs(shown[:, 1]).max() < 1.0
    assert np.abs(shown[:, 0]).max() < 1.5
    assert max(np.abs(shown[:, 1]).max(), np.abs(shown[:, 0]).max() / 1.5) > 0.7


@pytest.mark.parametrize(("size", "step"), [(1.0, 0.1), (0.19, 0.02), (25.0, 2.0), (5.0, 0.5)])
def test_lines_of_the_ground_are_at_round_distances(size, step):
    assert grid_step(size) == pytest.approx(step)


def test_the_ground_is_white_above_the_horizon_and_dark_below_things():
    axes = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.75**0.5], [0.0, -(0.75**0.5), 0.5]])
    camera = Camera(axes, np.zeros(3), 6.0)
    things = [(at(box(1, 1, 1), 0, 0, 0.5), RED)]
    z = np.array([0.0, 0.0, 1.0])
    bare, shadowed = (ground(camera, x, z, 0.0, 1.0, (60, 60)) for x in ([], things))
    assert (shadowed <= bare).all()
    assert (bare - shadowed).max() > 0.1
    below = Camera(np.diag([1.0, 1.0, 1.0]) @ axes, np.array([0.0, 0.0, -20.0]), 6.0)
    assert (ground(below, things, z, 0.0, 1.0, (20, 20)) == 1.0).all()


def test_a_picture_drawn_part_by_part_is_the_same(monkeypatch):
    things = [
        (ball(1.0), RED),
        (at(box(1, 1, 1), 0.4, 0.2, 0.6), BLUE),
        (at(ball(0.5), -1, 0, 1), (0, 1.0, 0, 0.4)),
    ]
    whole = seen(*things)
    monkeypatch.setattr(raster, "TRIANGLES", 7)
    monkeypatch.setattr(raster, "FRAGMENTS", 50)
    parts = seen(*things)
    assert (parts.colour == whole.colour).all()
    assert (parts.depth == whole.depth).all()


def test_memory_of_a_picture_is_bounded_whatever_the_number_of_triangles():
    """Four times the triangles take little more memory: the parts and the pixels count, not the whole."""
    peaks = [_peak(np.tile(ball(1.0).faces, (n, 1))) for n in (100, 400)]
    assert peaks[1] < 1.5 * peaks[0]


def _peak(faces):
    surface = Surface(ball(1.0).points, faces)
    tracemalloc.start()
    seen((surface, RED))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.5])
def test_what_is_drawn_fills_the_picture_to_its_margins_on_two_opposite_sides(aspect):
    points = np.random.default_rng(5).normal(size=(40, 3)) * [1.0, 2.0, 3.0]
    across, up, _ = around(points, np.eye(3), aspect).seen(points).T
    reached = {
        "left": -across.min() / aspect,
        "right": across.max() / aspect,
        "below": -up.min(),
        "above": up.max(),
    }
    edge = 1.0 / MARGIN
    assert max(reached.values()) == pytest.approx(edge)
    filled = {name for name, x in reached.items() if x == pytest.approx(edge)}
    assert filled >= {"left", "right"} or filled >= {"below", "above"}
