"""Solids as triangles enclose the volume that the formula says, and their normals point outwards."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from kinpair.spatial.pose import Pose
from kinpair.viewer import surfaces
from kinpair.viewer.surfaces import AROUND, Surface

ROUND = np.sin(2 * pi / AROUND) * AROUND / (2 * pi)  # area of a polygon of so many corners beside its circle


def volume(surface: Surface) -> float:
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize(
    ("surface", "expected", "tolerance"),
    [
        (surfaces.box(1.0, 2.0, 3.0), 6.0, 1e-12),
        (surfaces.cylinder(0.5, 2.0), ROUND * pi * 0.25 * 2.0, 1e-12),
        (surfaces.ball(1.0), 4 * pi / 3, 0.03),  # both circles are polygons: 1 − (1 − 0.0114) (1 − 0.0114)
        (surfaces.ellipsoid(1.0, 2.0, 0.5), 4 * pi / 3, 0.03),
        (surfaces.capsule(0.5, 2.0), pi * 0.25 * 2.0 + pi / 6, 0.03),
        (surfaces.ring(1.0, 0.2), 2 * pi**2 * 0.04, 0.07),  # twelve corners around the rim
        (
            surfaces.between(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 3.0]), 0.5),
            pi * 0.5 + pi / 6,
            0.03,
        ),
    ],
)
def test_a_surface_encloses_its_volume(surface, expected, tolerance):
    assert volume(surface) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("surface", [surfaces.box(1, 1, 1), surfaces.ball(1.0), surfaces.cylinder(0.3, 1.0)])
def test_normals_point_away_from_the_middle(surface):
    normals = surface.normals()
    assert ((normals * surface.points).sum(axis=1) > 0.0).all()
    assert np.sqrt((normals**2).sum(axis=1)) == pytest.approx(1.0)


@pytest.mark.parametrize("direction", [[0, 0, 1], [1, 0, 0], [0, -2, 0], [1, -2, 3], [0, 0, 0]])
def test_axes_along_a_direction_are_a_rotation(direction):
    R = surfaces.axes_along(np.array(direction, dtype=float))
    assert pytest.approx(np.eye(3), abs=1e-15) == R @ R.T
    assert np.linalg.det(R) == pytest.approx(1.0)
    if any(direction):
        assert R[:, 2] @ direction == pytest.approx(np.sqrt(np.dot(direction, direction)))


def test_a_coil_reaches_from_end_to_end():
    points = surfaces.coil(2.0, 0.1).points
    assert (points[:, 2].min(), points[:, 2].max()) == pytest.approx((0.0, 2.0), abs=0.02)
    assert np.abs(points[:, :2]).max() == pytest.approx(0.1, rel=0.25)


def test_moving_keeps_the_volume():
    pose = Pose(surfaces.axes_along(np.array([1.0, 2.0, 2.0])), np.array([1.0, 2.0, 3.0]))
    assert volume(surfaces.box(1.0, 2.0, 3.0).moved(pose)) == pytest.approx(6.0)
