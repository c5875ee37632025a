"""Geoms in files and builders: keys, messages, and what is written back."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList

BLOCK = """
name = "block"
max_contacts = 12
[[link]]
name = "body"
mass = 1.0
inertia = [1, 1, 1]
[[link]]
name = "arm"
mass = 1.0
inertia = [1, 1, 1]
[[joint]]
name = "free"
kind = "free"
parent = "ground"
child = "body"
[[joint]]
name = "elbow"
kind = "revolute"
parent = "body"
child = "arm"
[[contact]]
name = "floor"
link = "ground"
plane = true
mu = 0.5
[[contact]]
name = "box"
link = "body"
box = [0.4, 0.2, 0.1]
xyz = [0, 0, 0.1]
mu = 0.2
mu_static = 0.9
restitution = 0.3
[[contact]]
name = "tip"
link = "arm"
sphere = 0.1
contype = 2
torsional = 0.01
[[contact]]
name = "wedge"
link = "arm"
hull = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.1, 0, 0.1]]
contype = 0
conaffinity = 0
[[contact]]
name = "drum"
link = "arm"
cylinder = [0.1, 0.2]
contype = 0
conaffinity = 0
"""
EXTRA = """
[[contact_pair]]
geoms = ["tip", "box"]
mu = 0.7
[[contact_exclude]]
links = ["arm", "ground"]
"""


def described(text: str) -> kp.Description:
    return parse_toml(text, source="m.toml", warnings=WarningList())


def pairs(description: kp.Description) -> dict[tuple[str, str], dict[str, float]]:
    data = kp.build(description).model.contacts
    keys = ("mu", "mu_static", "restitution", "torsional", "rolling")
    return {
        (data.names[a], data.names[b]): {key: float(getattr(data, key)[k]) for key in keys}
        for k, (a, b) in enumerate(zip(data.first, data.second, strict=True))
    }


def test_the_larger_number_of_two_geoms_counts():
    surfaces = pairs(described(BLOCK))
    assert list(surfaces) == [("box", "floor"), ("tip", "floor")]
    assert surfaces["box", "floor"] == {
        "mu": 0.5,
        "mu_static": 0.9,
        "restitution": 0.3,
        "torsional": 0.0,
        "rolling": 0.0,
    }
    assert surfaces["tip", "floor"]["torsional"] == 0.01


def test_a_pair_counts_before_its_geoms_and_an_exclusion_before_groups():
    surfaces = pairs(described(BLOCK + EXTRA))
    assert list(surfaces) == [("box", "floor"), ("tip", "box")]
    assert surfaces["tip", "box"]["mu"] == surfaces["tip", "box"]["mu_static"] == 0.7
    assert surfaces["tip", "box"]["restitution"] == 0.3


def test_a_builder_gives_the_description_of_the_file():
    b = kp.Builder("block", max_contacts=12)
    b.link("body", mass=1.0, inertia=[1, 1, 1]).link("arm", mass=1.0, inertia=[1, 1, 1])
    b.joint("free", "free", "ground", "body").joint("elbow", "revolute", "body", "arm")
    b.contact("floor", "ground", plane=True, mu=0.5)
    b.contact("box", "body", box=[0.4, 0.2, 0.1], xyz=[0, 0, 0.1], mu=0.2, mu_static=0.9, restitution=0.3)
    b.contact("tip", "arm", sphere=0.1, contype=2, torsional=0.01)
    points = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.1, 0, 0.1]])
    b.contact("wedge", "arm", hull=points, contype=0, conaffinity=0)
    b.contact("drum", "arm", cylinder=[0.1, 0.2], contype=0, conaffinity=0)
    b.contact_pair("tip", "box", mu=0.7).contact_exclude("arm", "ground")
    assert b.description() == described(BLOCK + EXTRA)


def test_a_written_file_reads_back():
    description = described(BLOCK + EXTRA)
    assert described(kp.to_toml(description)) == description


def test_copies_of_a_link_have_its_geoms():
    b = kp.Builder("balls").link("ball", mass=1.0, inertia=[1, 1, 1]).joint("free", "free", "ground", "ball")
    b.contact("shell", "ball", sphere=0.1).contact("floor", "ground", plane=True)
    b.contact_pair("shell", "floor", mu=0.4).copy("ball", 2, xyz=[1, 0, 0])
    surfaces = pairs(b.description())
    assert len(surfaces) == 6
    assert surfaces["shell_2", "floor"]["mu"] == 0.4


def test_groups_priority_and_dimensions():
    b = kp.Builder("two")
    for k in range(2):
        b.link(f"ball{k}", mass=1.0, inertia=[1, 1, 1]).joint(f"free{k}", "free", "ground", f"ball{k}")
    b.contact("one", "ball0", sphere=0.1, mu=0.9, priority=1, dimensions=1)
    b.contact("two", "ball1", sphere=0.1, mu=0.4, rolling=0.1, dimensions=3)
    b.contact("floor", "ground", plane=True, mu=0.2, contype=2, conaffinity=2)
    assert pairs(b.description()) == {
        ("one", "two"): dict.fromkeys(("mu", "mu_static", "restitution", "torsional", "rolling"), 0.0)
    }


def test_points_of_a_geom_on_a_welded_link_and_a_frame_are_where_they_are_drawn():
    b = kp.Builder("seat").link("base", mass=1.0, inertia=[1, 1, 1]).link("tool", mass=0.1, inertia=[1, 1, 1])
    b.joint("free", "free", "ground", "base").joint(
        "weld", "fixed", "base", "tool", xyz=[0, 0, 0.5], rpy=[0, 1, 0]
    )
    b.frame("tip", "tool", xyz=[0.2, 0, 0]).contact("ball", "tip", sphere=0.1, xyz=[0, 0, 0.1])
    b.contact("floor", "ground", plane=True)
    m = kp.build(b)
    q = m.neutral() + np.array([0.1, 0.2, 0.3, 0, 0, 0, 0])
    R, a = m.pose(q, "tip")
    (point,) = m.contacts(q, margin=10.0)
    centre = a + R @ [0, 0, 0.1]
    np.testing.assert_allclose(point.point, [centre[0], centre[1], (centre[2] - 0.1) / 2], atol=1e-14)
    assert point.gap == pytest.approx(centre[2] - 0.1, abs=1e-14)


MESSAGES = {
    "plane = true\nmu = 0.5": (
        "plane = true\nmu = -0.5",
        "m.toml:22: contact 'floor': mu is -0.5; give zero or more",
    ),
    "restitution = 0.3": (
        "restitution = 1.2",
        "m.toml:27: contact 'box': restitution is 1.2; give a number from 0 to 1",
    ),
    "sphere = 0.1": ("sphere = 0.0", "m.toml:35: contact 'tip': sphere is 0.0; give a radius, positive"),
    "plane = true": ("plane = 1", "m.toml:22: contact 'floor': plane is 1; give true"),
    "contype = 2": (
        "contype = -1",
        "m.toml:35: contact 'tip': contype is -1; give a whole number, zero or more",
    ),
    "torsional = 0.01": (
        "dimensions = 2",
        "m.toml:35: contact 'tip': dimensions is 2; give 1 (no friction), 3 (sliding), 4 (and torsional) or 6 (and "
        "rolling)",
    ),
    'link = "arm"\nsphere': (
        'link = "amr"\nsphere',
        "m.toml:35: contact 'tip': link has 'amr', which does not exist; did you mean 'arm'? Links and frames: "
        "ground, body, arm",
    ),
    "max_contacts = 12": (
        "max_contacts = 0",
        "m.toml: max_contacts is 0; give the largest number of contact points that a state may have",
    ),
    "box = [0.4, 0.2, 0.1]": (
        "box = [0.4, 0.2, 0.1]\nsphere = 0.1",
        "m.toml:27: contact 'box': has sphere and box; give one of ",
    ),
}


@pytest.mark.parametrize("text", MESSAGES, ids=str)
def test_messages(text):
    replacement, message = MESSAGES[text]
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(described(BLOCK.replace(text, replacement)))
    assert str(refused.value).startswith(message)


OF_PAIRS = {
    '[[contact_pair]]\ngeoms = ["tip", "flor"]': (
        "m.toml:53: contact_pair 'tip' and 'flor': geoms has 'flor', which does not exist; did you mean 'floor'? "
        "Geoms: floor, box, tip, wedge, drum"
    ),
    '[[contact_pair]]\ngeoms = ["tip", "tip"]': "m.toml:53: contact_pair 'tip' and 'tip': give two different geoms",
    '[[contact_exclude]]\nlinks = ["arm"]': (
        "m.toml:53: contact_exclude 1: links has 1 name; give the names of two links"
    ),
}


@pytest.mark.parametrize("extra", OF_PAIRS)
def test_messages_of_pairs(extra):
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(described(BLOCK + extra))
    assert str(refused.value) == OF_PAIRS[extra]


def test_a_mesh_that_is_not_closed_or_not_convex_is_reported_and_its_hull_touches(tmp_path):
    import trimesh

    cube = trimesh.creation.box((0.2, 0.2, 0.2))
    ring = trimesh.creation.annulus(0.1, 0.3, 0.2)
    half = trimesh.Trimesh(cube.vertices, cube.faces[:-2])
    b = kp.Builder("meshes").contact("floor", "ground", plane=True)
    for k, (name, mesh) in enumerate({"cube": cube, "ring": ring, "half": half}.items()):
        mesh.export(tmp_path / f"{name}.stl")
        b.link(name, mass=1.0, inertia=[1, 1, 1]).joint(
            name, "free", "ground", name, start=[k, 0, 0.1, 0, 0, 0, 1]
        )
        b.contact(name, name, mesh=str(tmp_path / f"{name}.stl"), contype=2)
    with pytest.warns(kp.DescriptionWarning):
        m = kp.build(b)
    assert [x.split(": ")[-1].split("stl' ")[1] for x in m.warnings] == [
        "is not convex; its convex hull touches",
        "is not closed; its convex hull touches",
    ]
    corners = [x for x in m.contacts(m.start(), margin=1e-6) if x.a == "cube"]
    assert len(corners) == 4
    np.testing.assert_allclose([x.gap for x in corners], 0.0, atol=1e-8)


def test_points_in_a_plane_enclose_no_volume():
    b = kp.Builder("flat").contact("leaf", "ground", hull=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    b.link("body", mass=1.0, inertia=[1, 1, 1]).joint("free", "free", "ground", "body")
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(b)
    assert str(refused.value) == "contact 'leaf': its 4 points enclose no volume; give four or more"


URDF = """<robot name="cart"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 0.1"/><geometry><box size="1 1 0.2"/></geometry></collision>
<collision name="ball"><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""


def test_collision_shapes_of_a_urdf_file_touch_on_request(tmp_path):
    file = tmp_path / "cart.urdf"
    file.write_text(URDF)
    assert kp.load(file, base="free").model.contacts is None
    cart = kp.load(file, base="free", contacts=True).with_contact("floor", "ground", plane=True, mu=0.3)
    assert [(x.a, x.b, x.mu) for x in cart.contacts(cart.neutral())] == [
        ("base collision 1", "floor", 0.3)
    ] * 4 + [("ball", "floor", 0.3)]
    assert kp.build(cart.model.description, contacts=False).model.contacts is None
