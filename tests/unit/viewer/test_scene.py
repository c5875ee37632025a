"""The scene of a mechanism: every link is drawn, where it is, and nothing tears."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.mesh_file import Triangles
from kinpair.description.parts import GROUND
from kinpair.spatial.pose import HOME
from kinpair.viewer.links import Mesh, _by_colour, packed, unpacked
from kinpair.viewer.raster import directions
from kinpair.viewer.scene import connector_surface, link_poses, scene_of, start_of
from kinpair.viewer.still import plane_of, stick_scene
from kinpair.viewer.surfaces import between
from robots import talos

EXAMPLES = sorted(kp.examples(systems=False))


@cache
def mechanism(name: str) -> kp.Mechanism:
    return kp.example(name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_link_with_mass_is_drawn_within_the_size_of_the_scene(name):
    m = mechanism(name)
    scene = scene_of(m)
    heavy = {link.name for link in m.model.description.links if link.mass > 0.0}
    assert heavy <= {*scene.links}
    assert scene.warnings == ()
    poses = link_poses(m, start_of(m))
    for surface, colour in scene.placed(poses):
        assert np.isfinite(surface.points).all()
        assert len(colour) == 4
        assert np.abs(surface.points - scene.centre).max() < 1.5 * scene.size


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar", "stewart", "gripper"])
def test_marks_of_a_loop_sit_on_both_of_its_links(name):
    m = mechanism(name)
    scene = scene_of(m)
    poses = link_poses(m, start_of(m))
    marks = [piece for piece in scene.pieces if piece.layer == "loops"]
    loops = [x for x in m.model.description.constraints if type(x).__name__ == "Loop"]
    assert len(marks) == len(loops)
    for mark, loop in zip(marks, loops, strict=True):
        middle = mark.surface.moved(poses[mark.link]).points.mean(axis=0)
        pose = poses[loop.parent]
        held = pose.R @ np.array(loop.origin.xyz) + pose.a
        if loop.kind != "prismatic":
            assert middle == pytest.approx(held, abs=1e-6)


def test_a_rod_and_a_rope_reach_from_point_to_point():
    for name in ("delta", "crane"):
        m = mechanism(name)
        scene = scene_of(m)
        poses = link_poses(m, start_of(m))
        for connector in scene.connectors:
            start, end = connector.ends(poses)
            points = connector_surface(connector, scene.size, start, end).points
            for x in (start, end):
                assert np.sqrt(((points - x) ** 2).sum(axis=1)).min() < 0.06 * scene.size


def test_a_body_that_is_not_drawn_looks_as_its_inertia_says():
    b = kp.Builder("brick")
    b.link("brick", mass=2.0, inertia=[0.002, 0.005, 0.006], com=[0.0, 0.0, -1.0])
    b.joint("hinge", "revolute", parent=GROUND, child="brick", axis="x")
    solid = scene_of(kp.build(b)).pieces[0].surface.points
    semi = (solid.max(axis=0) - solid.min(axis=0)) / 2
    moments = (
        2.0
        * np.array([semi[1] ** 2 + semi[2] ** 2, semi[0] ** 2 + semi[2] ** 2, semi[0] ** 2 + semi[1] ** 2])
        / 5
    )
    assert moments == pytest.approx([0.002, 0.005, 0.006], rel=0.01)
    assert solid.mean(axis=0) == pytest.approx([0.0, 0.0, -1.0], abs=1e-9)


def test_merging_keeps_every_triangle():
    scene = scene_of(mechanism("stewart"))
    merged = scene.merged()
    assert len(merged) < len(scene.pieces)
    assert sum(len(x.surface.faces) for x in merged) == sum(len(x.surface.faces) for x in scene.pieces)


@pytest.mark.parametrize(
    ("name", "normal"),
    [("four-bar", [0, 0, 1]), ("double-pendulum", None), ("scara", None), ("stewart", None)],
)
def test_plane_mechanisms_are_known(name, normal):
    found = plane_of(mechanism(name))
    if normal is not None:
        assert np.abs(found) == pytest.approx(normal)
    elif name != "double-pendulum":
        assert found is None


def test_a_plane_mechanism_is_seen_on_its_plane():
    axes = directions("corner", np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    assert axes[2, 2] > 0.9
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_a_stick_figure_has_rods_and_joints_alone():
    scene = stick_scene(mechanism("kr5"))
    assert {piece.layer for piece in scene.pieces} == {"visual", "joints"}
    assert len(scene.pieces) < len(scene_of(mechanism("kr5")).pieces)


def test_a_picture_changes_with_the_state(tmp_path):
    m = mechanism("double-pendulum")
    images = [
        m.picture(None, q, width=120, height=90).axes[0].images[0].get_array()
        for q in ([0.0, 0.0], [1.0, 0.0])
    ]
    assert (images[0] != images[1]).any()
    several = m.picture(tmp_path / "x.png", [[0.0, 0.0], [1.0, 0.0]], width=120, height=90, titles=["a", "b"])
    assert [axis.get_title() for axis in several.axes] == ["a", "b"]
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    over = m.picture(None, [[0.0, 0.0], [1.0, 0.0]], width=120, height=90, overlay=True, labels=True)
    assert len(over.axes) == 1
    assert {text.get_text() for text in over.axes[0].texts} == {x.name for x in m.model.description.links}
    stick = m.picture(None, {"elbow": 0.3}, style="stick", view=(30, 20), width=120, height=90)
    assert len(stick.axes) == 1


@pytest.mark.parametrize("name", ["motor-arm", "dc-actuator", "servo", "hydraulic-actuator"])
def test_a_motor_stands_on_the_axis_of_its_joint_clear_of_the_bodies(name):
    m = mechanism(name)
    scene, poses = scene_of(m), link_poses(m, start_of(m))
    drawn = [x for x in scene.pieces if x.layer == "actuators"]
    actuators = m.model.description.actuators
    assert len(drawn) == len(actuators)
    for piece, actuator in zip(drawn, actuators, strict=True):
        (joint,) = (x for x in m.model.description.joints if x.name == actuator.joint)
        assert piece.link == joint.parent
        frame = poses[joint.parent] @ joint.origin.pose()
        axis = frame.R @ np.array(joint.axis) / np.linalg.norm(joint.axis)
        middle = piece.surface.moved(poses[piece.link]).points.mean(axis=0) - frame.a
        assert np.abs(np.cross(axis, middle)).max() < 1e-9
        assert (middle @ axis) * (-1.0 if joint.kind == "prismatic" else 1.0) > 0.0


def test_the_rod_of_a_cylinder_grows_with_its_joint():
    m = mechanism("excavator")
    scene, q = scene_of(m), m.start()
    rods = [x for x in scene.connectors if x.layer == "actuators"]
    assert len(rods) == len(m.model.description.actuators) == 3
    poses = link_poses(m, q)
    for rod, actuator in zip(rods, m.model.description.actuators, strict=True):
        start, end = rod.ends(poses)
        assert np.linalg.norm(end - start) == pytest.approx(q[m.q_names.index(actuator.joint)], abs=1e-9)


def test_springs_of_joints_are_coils_that_follow():
    b = kp.Builder("springs")
    b.link("slide", mass=1.0, inertia=[0.1, 0.1, 0.1])
    b.link("door", mass=1.0, inertia=[0.1, 0.1, 0.1], com=[0.3, 0.0, 0.0])
    b.joint("x", "prismatic", parent=GROUND, child="slide", axis="x", stiffness=10.0)
    b.joint("hinge", "revolute", parent="slide", child="door", axis="z", stiffness=2.0)
    m = kp.build(b)
    scene = scene_of(m)
    assert [x.link for x in scene.pieces if x.layer == "springs"] == ["slide"]
    (along,) = (x for x in scene.connectors if x.layer == "springs")
    lengths = [np.linalg.norm(np.subtract(*along.ends(link_poses(m, [x, 0.0])))) for x in (0.0, 0.2)]
    assert lengths[1] - lengths[0] == pytest.approx(0.2)


def test_a_mesh_kept_on_disk_is_the_mesh_and_its_colours_stay_apart():
    points = np.arange(15.0).reshape(5, 3)
    faces = np.array([[0, 1, 2], [2, 3, 4], [0, 2, 4]])
    colours = np.array([[1.0, 0, 0, 1], [0, 0, 1.0, 1], [1.0, 0, 0, 1]])
    for triangles in (Triangles(points, faces, colours), Triangles(points, faces)):
        mesh = unpacked(packed(Mesh(triangles, 7)))
        assert mesh.count == 7
        back = mesh.triangles
        assert (back.points == points).all()
        assert (back.faces == faces).all()
        assert (back.colours is None) == (triangles.colours is None)
    blue, red = _by_colour(Triangles(points, faces, colours), HOME, mirrored=False)
    assert (red[1], blue[1]) == ((1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0))
    assert (blue[0].points[blue[0].faces] == points[faces[[1]]]).all()
    assert (red[0].points[red[0].faces] == points[faces[[0, 2]]]).all()


def test_a_humanoid_with_meshes_does_not_stand_on_balls():
    """Links without a visual, such as frames on the soles, have no solid among meshes."""
    m = talos()
    bare = {link.name for link in m.model.description.links if link.mass > 0.0 and not link.shapes}
    assert {"left_sole_link", "right_sole_link"} <= bare
    assert not bare & {piece.link for piece in scene_of(m).pieces if piece.layer == "visual"}


def test_a_link_without_a_visual_that_moves_is_a_rod_among_meshes():
    mesh = next(x.shapes[0].mesh for x in talos().model.description.links if x.shapes)
    b = kp.Builder("arm").link("a", mass=1.0, inertia=[0.1] * 3, visual=[{"mesh": mesh}])
    b.link("b", mass=1.0, inertia=[0.1] * 3, com=[0.0, 0.0, 0.5])
    b.joint("first", "revolute", "ground", "a").joint("second", "revolute", "a", "b", xyz=[0.0, 0.0, 0.5])
    assert [
        len(x.surface.faces) for x in scene_of(kp.build(b)).pieces if x.link == "b" and x.layer == "visual"
    ] == [len(between(np.zeros(3), np.ones(3), 1.0).faces)]
