"""Reading MJCF."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import mjcf_models as models
import zoo
from kinpair.cli.main import main
from kinpair.description import mjcf_solids as solids
from kinpair.description.constraint_parts import Coupling, Loop
from kinpair.description.mjcf import parse_mjcf, read_mjcf
from kinpair.description.mjcf_settings import z_to
from kinpair.description.parts import GROUND, Description, Origin, Shape
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList
from kinpair.spatial.inertia import Inertia, joined


def parsed(text: str, folder=None) -> Description:
    """What a text says, without any warning about it."""
    warnings = WarningList(strict=True)
    return parse_mjcf(text, source="r.xml", warnings=warnings, folder=folder)


def only_link(geom: str, *sections: str):
    return parsed(models.mjcf(f'<body name="it"><joint name="j"/><geom {geom}/></body>', *sections)).links[0]


# The tree.


def test_bodies_hang_on_the_ground_and_keep_the_order_of_the_file():
    result = parsed(models.TREES["joint-after-child"])
    assert [link.name for link in result.links] == ["a", "b"]
    assert [(j.name, j.parent, j.child) for j in result.joints] == [("i", GROUND, "a"), ("j", "a", "b")]


def test_several_joints_of_a_body_move_massless_links_one_after_another():
    result = parsed(models.TREES["three-of-one-body"])
    assert [link.name for link in result.links] == ["b/x", "b/y", "b", "tip"]
    assert [link.mass for link in result.links[:2]] == [0.0, 0.0]
    assert [(j.name, j.parent, j.child) for j in result.joints] == [
        ("x", GROUND, "b/x"),
        ("y", "b/x", "b/y"),
        ("joint 2", "b/y", "b"),
        ("z", "b", "tip"),
    ]


def test_a_body_without_joints_is_fixed_and_may_have_any_name():
    result = parsed(
        models.mjcf('<body name="a"/><body name="b"><joint name="a fixed"/><geom size="1"/></body>')
    )
    assert [(j.name, j.kind) for j in result.joints] == [("a fixed 2", "fixed"), ("a fixed", "revolute")]


def test_the_world_is_called_world_if_a_body_is_called_ground():
    result = parsed(models.TREES["body-called-ground"])
    assert result.links[0].name == result.joints[0].parent == "world"
    assert result.frames[0].link == "world"


def test_names_of_the_file_and_of_the_model():
    assert parsed("<mujoco><worldbody><body/></worldbody></mujoco>").name == "r"
    assert parsed(models.TREES["hinge"]).name == "test"


def test_several_worldbodies_are_one():
    text = '<mujoco><worldbody><body name="a"/></worldbody><worldbody><body name="b"/></worldbody></mujoco>'
    assert [link.name for link in parsed(text).links] == ["a", "b"]


def test_q_is_the_angle_of_the_file_plus_ref():
    with_ref = kp.build(parsed(models.TREES["hinge"]))
    without = kp.build(parsed(models.TREES["hinge"].replace('ref="30"', "")))
    q = 0.4
    one, other = with_ref.pose([q], "b"), without.pose([q - np.radians(30)], "b")
    assert zoo.relative_error(one.rotation, other.rotation) <= 1e-15
    assert zoo.relative_error(one.position, other.position) <= 1e-15


def test_a_free_body_starts_where_the_file_puts_it_and_a_ball_as_it_is():
    (free,) = parsed(models.TREES["free"]).joints
    assert free.origin == Origin()
    m = kp.build(parsed(models.TREES["free"]))
    still = kp.build(parsed(models.TREES["free"].replace('<freejoint name="j"/>', "")))
    assert zoo.relative_error(m.pose(m.start(), "b").position, still.pose([], "b").position) <= 1e-15
    assert zoo.relative_error(m.pose(m.start(), "b").rotation, still.pose([], "b").rotation) <= 1e-15
    assert parsed(models.TREES["ball"]).joints[0].start == ()
    assert parsed(models.SOLIDS["box"]).joints[0].start == ()


KEYS = (
    """<keyframe><key name="home" qpos="1 2 3 .1 .2 .3 .4" qvel="1 2 3 4 5 6"/><key/></keyframe></mujoco>"""
)


def test_keyframes_survive_writing_splitting_and_opening():
    result = parsed(models.TREES["free"].replace("</mujoco>", KEYS))
    assert parse_toml(kp.to_toml(result), source="r.toml", warnings=WarningList()) == result
    m = kp.build(result)
    home = m.keyframes["home"]
    split, between = m.split()
    x, xd, _ = between.to_split(home.q, home.qd, np.zeros(6))
    assert split.keyframes["home"].q == pytest.approx(x, abs=1e-15)
    assert split.keyframes["home"].qd == pytest.approx(xd, abs=1e-15)
    assert np.array_equal(m.without_constraints().start("home"), home.q)
    assert np.array_equal(m.start("key 1"), m.start())


def test_limits_are_in_degrees_unless_radians_are_asked_for():
    (joint,) = parsed(models.TREES["passive"]).joints
    assert (joint.lower, joint.upper, joint.rest) == tuple((np.radians(x),) for x in (-30, 60, 20))
    assert joint.effort == (5.0,)
    radian = models.TREES["passive"].replace("<worldbody>", '<compiler angle="radian"/><worldbody>')
    (joint,) = parsed(radian).joints
    assert (joint.lower, joint.upper, joint.rest) == ((-30,), (60,), (20,))


def test_sites_are_frames_and_one_called_as_a_body_says_so():
    assert [f.name for f in parsed(models.TREES["site-called-as-body"]).frames] == ["a site"]
    (frame,) = parsed(models.TREES["turn-quat"]).frames
    assert (frame.name, frame.link, frame.origin.xyz) == ("s", "t", (0.1, 0.2, 0.3))


# Orientations.


def pose_of(turn: str, *sections: str) -> np.ndarray:
    result = parsed(models.mjcf(f'<body name="b" {turn}/>', *sections))
    return result.joints[0].origin.pose().R


HALF = np.sqrt(0.5)
SAME = [
    (f'quat="{HALF} 0 0 {HALF}"', 'axisangle="0 0 2 90"'),
    ('euler="0 0 90"', 'axisangle="0 0 1 90"'),
    ('xyaxes="0 1 0 -1 0.5 0"', 'euler="0 0 90"'),
    ('zaxis="1 0 0"', 'euler="0 90 0"'),
    ('zaxis="0 0 -1"', 'euler="180 0 0"'),
    ('quat="2 0 0 0"', 'euler="0 0 0"'),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_turn_in_two_ways(one, other):
    assert np.abs(pose_of(one) - pose_of(other)).max() <= 1e-15


def test_fixed_euler_axes_are_turning_ones_backwards():
    fixed = pose_of('euler="10 20 30"', '<compiler eulerseq="XYZ"/>')
    assert np.abs(fixed - pose_of('euler="30 20 10"', '<compiler eulerseq="zyx"/>')).max() <= 1e-15


@pytest.mark.parametrize("direction", [(1, 2, 3), (0, 0, 1), (0, 0, -1), (1e-13, 0, -1), (-3, 1, -2)])
def test_the_shortest_turn_takes_z_there(direction):
    e = np.array(direction) / np.linalg.norm(direction)
    R = z_to(np.array(direction, dtype=float))
    assert np.abs(R @ R.T - np.eye(3)).max() <= 1e-15
    assert np.abs(R[:, 2] - e).max() <= 2e-13


# Masses.

SIZES = {"sphere": (0.3,), "capsule": (0.2, 0.5), "cylinder": (0.2, 0.5), "box": (0.2, 0.3, 0.5)}
SHELLS = {name: solids.SOLIDS[name] for name in SIZES}


@pytest.mark.parametrize("name", SIZES)
def test_a_shell_is_what_a_solid_gains_by_growing(name):
    """Its rate of growth, by central differences: off by some step² and some eps/step."""
    _, solid, shell = SHELLS[name]
    step = 1e-5
    grown = (
        [1.0, 0.0] if name == "capsule" else [1.0] * len(SIZES[name])
    )  # a capsule's ends grow with its radius
    more, less = (solid(*(np.array(SIZES[name]) + s * np.array(grown))) for s in (step, -step))
    area, moments = shell(*SIZES[name])
    assert area == pytest.approx((more[0] - less[0]) / (2 * step), rel=1e-8)
    assert moments == pytest.approx((np.array(more[1]) - np.array(less[1])) / (2 * step), rel=1e-8)


def test_round_shapes_of_equal_axes_are_spheres():
    for one, other in ((solids.ellipsoid, solids.sphere), (solids.ellipsoid_shell, solids.sphere_shell)):
        (v, x), (w, y) = one(0.3, 0.3, 0.3), other(0.3)
        assert (v, *x) == pytest.approx((w, *y), rel=1e-14)
    assert solids.capsule(0.3, 1e-9)[0] == pytest.approx(solids.sphere(0.3)[0], rel=1e-8)


def test_mass_wins_over_density_and_density_over_water():
    box = 'type="box" size=".5 .5 .5"'
    assert only_link(box).mass == 1000.0
    assert only_link(f'{box} density="3"').mass == 3.0
    assert only_link(f'{box} density="3" mass="7"').mass == 7.0
    assert only_link(f'{box} density="3" mass="7"').inertia[:3] == pytest.approx([7 / 6] * 3)


def test_what_has_no_volume_has_no_mass():
    world = '<body name="a"><joint name="j"/><geom size="1"/>{}</body>'
    plain = parsed(models.mjcf(world.format(""))).links[0]
    more = '<geom type="plane" size="1 1 1"/><geom type="hfield" hfield="h"/><geom size="3" group="6"/>'
    assert replace(parsed(models.mjcf(world.format(more))).links[0], shapes=()) == replace(plain, shapes=())


def test_no_inertia_from_geoms_if_none_is_wanted():
    assert only_link('size="1"', '<compiler inertiafromgeom="false"/>').mass == 0.0


def test_shapes_are_drawn_in_whole_lengths():
    shapes = [
        only_link(geom).shapes[0]
        for geom in (
            'type="box" size="1 2 3" pos="1 2 3"',
            'type="capsule" size="1 2"',
            'type="cylinder" size="1" fromto="0 0 0 0 0 -4"',
            'size="1"',
        )
    ]
    assert shapes == [
        Shape("box", (2.0, 4.0, 6.0), Origin((1.0, 2.0, 3.0))),
        Shape("capsule", (1.0, 4.0)),
        Shape("cylinder", (1.0, 4.0), Origin((0.0, 0.0, -2.0))),
        Shape("sphere", (1.0,)),
    ]
    assert only_link('type="ellipsoid" size="1 2 3"').shapes == ()


# Meshes.

CORNERS = np.array([[0, 0, 0], [0.5, 0, 0], [0.125, 0.5, 0], [0.125, 0.25, 0.375]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def stl(corners, faces) -> bytes:
    head = b" " * 80 + struct.pack("<I", len(faces))
    return head + b"".join(struct.pack("<12fH", 0, 0, 0, *corners[face].ravel(), 0) for face in faces)


def obj(corners, faces) -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1}/1 {b + 1} {c - 4}" for a, b, c in faces]
    return "\n".join(["# a comment", "", *lines]).encode()


def msh(corners, faces) -> bytes:
    head = struct.pack("<4i", len(corners), 0, 0, len(faces))
    return head + corners.astype("<f4").tobytes() + faces.astype("<i4").tobytes()


FILES = {"m.stl": stl, "m.obj": obj, "M.MSH": msh}
BODY = '<body name="it"><joint name="j"/><geom type="mesh" mesh="{}"/></body>'


def mesh_link(tmp_path, name, inertia="exact"):
    asset = f'<asset><mesh file="sub/{name}" inertia="{inertia}"/></asset>'
    text = models.mjcf(BODY.format(name[0]), '<compiler meshdir="meshes"/>', asset)
    return parsed(text, tmp_path).links[0]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("inertia", ["exact", "legacy"])
def test_a_mesh_is_the_same_in_every_kind_of_file(name, inertia, tmp_path):
    (tmp_path / "meshes" / "sub").mkdir(parents=True)
    file = tmp_path / "meshes" / "sub" / name
    file.write_bytes(FILES[name](CORNERS, FACES))
    link = mesh_link(tmp_path, name, inertia)
    volume = np.linalg.det(CORNERS[1:]) / 6
    assert link.mass == pytest.approx(1000 * volume, rel=1e-14)
    assert link.com == pytest.approx(CORNERS.mean(axis=0), rel=1e-14)
    assert link.shapes == (Shape("mesh", (1.0, 1.0, 1.0), mesh=str(file)),)
    # a tetrahedron about its centre has ∫ x xᵀ = m/20 Σ x_k x_kᵀ over its corners
    x = CORNERS - CORNERS.mean(axis=0)
    second = link.mass / 20 * x.T @ x
    assert link.tensor() == pytest.approx(np.trace(second) * np.eye(3) - second, abs=1e-13)


def test_a_mesh_that_is_a_box_weighs_as_a_box():
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    faces = "0 1 3 0 3 2 4 6 7 4 7 5 0 4 5 0 5 1 2 3 7 2 7 6 0 2 6 0 6 4 1 5 7 1 7 3"
    vertex = " ".join(f"{x} {y} {z}" for x, y, z in corners)
    for inertia, shell in (("exact", "false"), ("legacy", "false"), ("shell", "true")):
        asset = f'<asset><mesh name="m" inertia="{inertia}" vertex="{vertex}" face="{faces}"/></asset>'
        meshed = only_link('type="mesh" mesh="m"', asset)
        plain = only_link(f'type="box" size=".5 1 1.5" pos=".5 1 1.5" shellinertia="{shell}"')
        assert meshed.mass == pytest.approx(plain.mass, rel=1e-14)
        assert meshed.com == pytest.approx(plain.com, rel=1e-14)
        assert meshed.inertia == pytest.approx(plain.inertia, rel=1e-13, abs=1e-10)


def test_paths_are_stripped_if_asked_for(tmp_path):
    (tmp_path / "m.stl").write_bytes(stl(CORNERS, FACES))
    asset = r'<asset><mesh file="C:\there\m.stl"/></asset>'
    text = models.mjcf(BODY.format("m"), '<compiler strippath="true"/>', asset)
    assert parsed(text, tmp_path).links[0].mass > 0.0


def test_meshes_are_not_read_where_masses_are_written(tmp_path):
    world = f'<body name="it"><joint name="j"/>{models.LINK}<geom type="mesh" mesh="gone"/></body>'
    warnings = WarningList()
    result = parse_mjcf(
        models.mjcf(world, '<asset><mesh file="gone.stl"/></asset>'),
        source="r.xml",
        warnings=warnings,
        folder=tmp_path,
    )
    assert result.links[0].mass == 2.0
    assert warnings.sentences == [
        "r.xml:1: link 'it' shows the mesh 'gone.stl', which is not there (1 missing in all); left undrawn"
    ]


# Files.


def test_included_files_stand_where_they_are_named_and_lines_are_their_own(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "arm.xml").write_text(
        '<any>\n\n<body name="a"><joint name="j"/><include file="sub/ball.xml"/></body></any>'
    )
    (tmp_path / "sub" / "ball.xml").write_text('<mujocoinclude><geom size=".1"/></mujocoinclude>')
    main_file = tmp_path / "robot.xml"
    main_file.write_text(models.mjcf('<include file="sub/arm.xml"/><body name="b"/>'))
    result = read_mjcf(main_file, warnings=WarningList(strict=True))
    assert [link.name for link in result.links] == ["a", "b"]
    assert result.links[0].where == f"{tmp_path / 'sub' / 'arm.xml'}:3"
    assert result.links[0].mass == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3)


def test_load_knows_mjcf_and_urdf_by_their_root(tmp_path, capsys):
    (tmp_path / "r.xml").write_text(models.TREES["hinge"])
    (tmp_path / "u.xml").write_text('<robot name="u"><link name="a"/></robot>')
    assert kp.load(tmp_path / "r.xml").name == "test"
    assert kp.load(tmp_path / "u.xml").name == "u"
    assert main(["info", str(tmp_path / "r.xml")]) == 0
    assert "-0.3491 to 0.8727" in capsys.readouterr().out


# Defaults.


def test_classes_inherit_and_a_child_class_reaches_down():
    one, two, three = parsed(models.TREES["classes"]).joints
    assert [j.damping for j in (one, two, three)] == [(0.5,), (0.5,), (2.0,)]
    assert [j.stiffness for j in (one, two, three)] == [(3.0,), (), (3.0,)]


def test_a_shorter_size_overrides_the_first_numbers_only():
    section = '<default><geom type="box" size="1 2 3"/></default>'
    assert only_link('size="5"', section).shapes[0].size == (10.0, 4.0, 6.0)


def test_the_outermost_class_may_have_a_name():
    section = '<default class="all"><joint damping="2"/></default>'
    text = models.mjcf('<body name="a"><joint name="j" class="all"/><geom size="1"/></body>', section)
    assert parsed(text).joints[0].damping == (2.0,)


# Constraints.


def test_constraints_are_loops_and_couplings():
    both = models.held(models.LOOPS["connect"], models.COUPLINGS["line"])
    loop, coupling = parsed(both).constraints
    assert isinstance(loop, Loop)
    assert (loop.name, loop.kind, loop.parent, loop.child) == ("connect 0", "spherical", "one", "two")
    assert isinstance(coupling, Coupling)
    assert (coupling.name, coupling.joint, coupling.terms) == ("joint 1", "a", (("b", (1.0,)),))
    assert coupling.offset == pytest.approx(np.radians(10 + 20))


def test_a_body_form_holds_as_the_file_stands():
    for name in ("connect", "connect-world", "weld", "weld-world"):
        result = parsed(models.held(models.LOOPS[name]))
        tree = kp.build(replace(result, constraints=())).reference
        q = [np.radians(10), np.radians(-20), 0.5]
        (loop,) = result.constraints
        one, two = (tree.pose(q, link) for link in (loop.parent, loop.child))
        a, b = loop.origin.pose(), loop.child_origin.pose()
        assert one.position + one.rotation @ a.a == pytest.approx(
            two.position + two.rotation @ b.a, abs=1e-14
        )
        if loop.kind == "fixed":
            assert np.abs(one.rotation @ a.R - two.rotation @ b.R).max() <= 1e-14


def test_a_weld_that_does_not_mind_turning_is_a_ball():
    weld = '<weld body1="one" body2="two" torquescale="0" anchor=".1 .2 .3"/>'
    (loop,) = parsed(models.held(weld)).constraints
    assert (loop.kind, loop.child_origin) == ("spherical", Origin((0.1, 0.2, 0.3)))


def test_powers_of_a_coupling_are_gathered():
    """y − y₀ = Σ a_k (x − x₀)^k at some x."""
    (coupling,) = parsed(models.held(models.COUPLINGS["quartic"])).constraints
    a, x, x0, y0 = (0.1, 0.2, 0.3, -0.4, 0.5), 0.7, np.radians(-20), np.radians(10)
    ((_, powers),) = coupling.terms
    result = coupling.offset + sum(c * x ** (k + 1) for k, c in enumerate(powers))
    assert result == pytest.approx(y0 + sum(c * (x - x0) ** k for k, c in enumerate(a)), rel=1e-14)


def test_active_may_come_from_a_class():
    text = models.held(models.LOOPS["weld"]).replace(
        "<worldbody>", '<default><equality active="false"/></default><worldbody>'
    )
    assert parsed(text).constraints == ()


def test_total_mass_is_shared_out():
    links = parsed(models.TREES["total-mass"]).links
    assert sum(link.mass for link in links) == pytest.approx(14.0, rel=1e-14)


def test_bounds_apply_to_principal_moments():
    one, two = parsed(models.TREES["bounds"]).links
    assert (one.mass, one.inertia[:3]) == (0.2, pytest.approx((4.0, 4.0, 4.0)))
    assert (two.mass, two.inertia[:3]) == (0.2, pytest.approx((0.05, 0.05, 0.05)))


def test_solids_of_a_body_are_joined():
    world = '<body name="a"><joint name="j"/><geom size=".1"/><geom size=".2" pos="1 0 0"/></body>'
    link = parsed(models.mjcf(world)).links[0]
    parts = [only_link('size=".1"'), only_link('size=".2" pos="1 0 0"')]
    whole = joined(Inertia(part.mass, np.array(part.com), part.tensor()) for part in parts)
    assert link.mass == whole.m
    assert link.com == pytest.approx(whole.d)
    assert link.tensor() == pytest.approx(whole.I)
