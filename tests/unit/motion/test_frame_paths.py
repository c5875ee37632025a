"""Paths of frames: where they lead."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair import motion
from kinpair.spatial.rotation import about
from motions import FRAMES, VIA, A, B, C


@pytest.mark.parametrize("name", ["line", "arc"])
def test_it_leads_from_pose_to_pose(name):
    x = FRAMES[name][0]
    for time, pose in ((0.0, A), (x.duration, B)):
        found = x.at(time)
        assert found.position == pytest.approx(pose.position, abs=1e-14)
        assert found.rotation == pytest.approx(pose.rotation, abs=1e-14)


def test_a_line_is_straight_and_turns_about_one_axis():
    twist = FRAMES["line"][0].at(np.linspace(0.2, 1.8, 9)).twist
    along = twist / np.linalg.norm(twist, axis=1)[:, None]
    assert along == pytest.approx(np.tile(along[0], (9, 1)), abs=1e-12)


def test_an_arc_passes_its_point_and_keeps_its_distance_from_the_centre():
    x = FRAMES["arc"][0]
    places = x.at(np.linspace(0.0, x.duration, 4001)).position
    assert np.linalg.norm(places - VIA, axis=1).min() < 1e-3
    midpoint = motion.arc(A, VIA, B, 2.0, law="linear").at([0.5, 1.0, 1.5])
    speed = np.linalg.norm(midpoint.twist[:, 3:], axis=1)
    assert speed == pytest.approx(np.full(3, speed[0]))
    normal = np.cross(midpoint.twist[0, 3:], midpoint.acceleration[0, 3:])
    radius = speed[0] ** 2 / np.linalg.norm(midpoint.acceleration[:, 3:], axis=1)
    assert radius == pytest.approx(np.full(3, radius[0]))
    assert (places - A.position) @ normal == pytest.approx(np.zeros(len(places)), abs=1e-11)


def test_a_screw_turns_about_its_axis_and_advances():
    e, c = np.array([1.0, 2.0, 3.0]) / np.sqrt(14), np.array([0.1, 0.2, 0.3])
    x = FRAMES["screw"][0].at(2.0)
    R = about(e, 2.5)
    assert x.rotation == pytest.approx(R @ A.rotation, abs=1e-14)
    assert x.position == pytest.approx(c + R @ (A.position - c) + 0.1 * 2.5 * e, abs=1e-14)


def test_blends_leave_the_segments_alone_outside_of_them():
    corner = motion.blended(
        motion.line(A, B, 1.0), motion.line(B, C, 1.0), radius=0.1, duration=3.0, law="linear"
    )
    places = corner.at(np.linspace(0.0, 3.0, 2001)).position
    along = (B.position - A.position) / np.linalg.norm(B.position - A.position)
    off = np.linalg.norm((places - A.position) - np.outer((places - A.position) @ along, along), axis=1)
    first_half = np.linspace(0.0, 3.0, 2001) < corner.knots[1]
    assert off[first_half].max() < 1e-14
    assert np.linalg.norm(places - B.position, axis=1).min() > 1e-3  # the corner itself is cut
    assert places[-1] == pytest.approx(C.position)


def test_pictures_are_drawn(tmp_path):
    FRAMES["blended"][0].plot(tmp_path / "frame.png", title="a frame")
    assert (tmp_path / "frame.png").exists()
