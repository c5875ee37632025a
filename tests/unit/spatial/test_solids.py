"""Inertia of simple solids."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kinpair.errors import InputError
from kinpair.spatial.inertia import Inertia, about_com, rod, solid_box, solid_cylinder, solid_sphere

CELLS = 60  # midpoint rule: the error falls with the square of the cell


def integrated(mass, size, inside=lambda x, y, z: x == x):
    """Second moments of the points of a box of this size that lie inside."""
    axes = [(np.arange(CELLS) + 0.5) / CELLS * edge - edge / 2 for edge in size]
    x, y, z = (grid.ravel() for grid in np.meshgrid(*axes, indexing="ij"))
    x, y, z = (grid[inside(x, y, z)] for grid in (x, y, z))
    k = mass / len(x)
    moments = [y @ y + z @ z, x @ x + z @ z, x @ x + y @ y, -(x @ y), -(x @ z), -(y @ z)]
    return np.array(moments) * k


def test_a_box_has_the_moments_of_its_points():
    size = (0.3, 0.5, 0.8)
    assert solid_box(2.0, size) == pytest.approx(integrated(2.0, size), rel=1e-3, abs=1e-12)


def test_a_cylinder_has_the_moments_of_its_points():
    result = integrated(2.0, (0.6, 0.6, 0.9), lambda x, y, z: x**2 + y**2 <= 0.09)
    assert solid_cylinder(2.0, 0.3, 0.9) == pytest.approx(result, rel=5e-3, abs=1e-12)


def test_a_sphere_has_the_moments_of_its_points():
    result = integrated(2.0, (0.6, 0.6, 0.6), lambda x, y, z: x**2 + y**2 + z**2 <= 0.09)
    assert solid_sphere(2.0, 0.3) == pytest.approx(result, rel=5e-3, abs=1e-12)


def test_a_rod_is_a_cylinder_of_no_thickness():
    for axis in "xyz":
        assert rod(2.0, 0.7, axis) == solid_cylinder(2.0, 0.0, 0.7, axis)


@pytest.mark.parametrize(("axis", "order"), [("x", (2, 0, 1)), ("y", (0, 2, 1)), ("z", (0, 1, 2))])
def test_the_axis_of_a_cylinder_carries_the_small_moment(axis, order):
    upright = solid_cylinder(1.0, 0.1, 2.0)
    assert solid_cylinder(1.0, 0.1, 2.0, axis)[:3] == tuple(upright[i] for i in order)


def test_eight_corner_boxes_make_the_box():
    size, half = np.array([0.2, 0.4, 0.6]), np.array([0.1, 0.2, 0.3])
    total = np.zeros((3, 3))
    for signs in itertools.product((-1, 1), repeat=3):
        corner = Inertia(0.25, np.array(signs) * half / 2, np.diag(solid_box(0.25, half)[:3]))
        total += corner.about_origin()
    assert np.diag(total) == pytest.approx(solid_box(2.0, size)[:3], rel=1e-14)


def test_moving_to_the_mass_centre_undoes_huygens_and_steiner():
    random = np.random.default_rng(3)
    xx, yy, zz, xy, xz, yz = arguments = random.normal(size=6)
    mass, com = 1.7, random.normal(size=3)
    there = Inertia(mass, com, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])).about_origin()
    six = (there[0, 0], there[1, 1], there[2, 2], there[0, 1], there[0, 2], there[1, 2])
    assert about_com(six, mass, com) == pytest.approx(arguments, abs=1e-13)


def test_an_unknown_axis_is_refused():
    with pytest.raises(InputError) as caught:
        rod(1.0, 1.0, "w")
    assert str(caught.value) == "axis is 'w'; give 'x', 'y' or 'z'"
