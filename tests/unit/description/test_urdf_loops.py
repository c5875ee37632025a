"""Loops in URDF files: each way to write them gives the four-bar linkage of the TOML file."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp

# A four-bar linkage in the x-z plane: crank 1, coupler 3, rocker 2, ground 3 m; hinges about y.
BAR = """<link name="{name}"><inertial><origin xyz="{half} 0 0"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
HINGE = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/></joint>"""
TREE = "".join(
    [
        '<link name="base"/>',
        *(
            BAR.format(name=n, half=h, mass=m)
            for n, h, m in (("crank", 0.5, 1), ("coupler", 1.5, 3), ("rocker", 1, 2))
        ),
        HINGE.format(name="a", parent="base", child="crank", x=0),
        HINGE.format(name="b", parent="crank", child="coupler", x=1),
        HINGE.format(name="d", parent="base", child="rocker", x=3),
    ]
)
ENDS = [("coupler", 3.0), ("rocker", 2.0)]
MARK = """<link name="closing_pin_{k}"/><joint name="m{k}" type="fixed"><parent link="{link}"/>
<child link="closing_pin_{k}"/><origin xyz="{x} 0 0"/></joint>"""
WAYS = {
    "constraint": """<constraint name="pin" type="revolute"><parent link="coupler"/><parent_origin xyz="3 0 0"/>
<parent_axis xyz="0 1 0"/><child link="rocker"/><child_origin xyz="2 0 0"/><child_axis xyz="0 1 0"/></constraint>""",
    "constraint with turned frames": """<constraint name="pin" type="revolute"><parent link="coupler"/>
<parent_origin xyz="3 0 0" rpy="0 0 1.5707963267948966"/><parent_axis xyz="1 0 0"/><child link="rocker"/>
<child_origin xyz="2 0 0" rpy="1.5707963267948966 0 0"/><child_axis xyz="0 0 -1"/></constraint>""",
    "loop_joint": """<loop_joint name="pin" type="revolute"><link1 link="coupler" xyz="3 0 0"/>
<link2 link="rocker" xyz="2 0 0"/><axis xyz="0 1 0"/></loop_joint>""",
    "closing": "".join(MARK.format(k=k + 1, link=link, x=x) for k, (link, x) in enumerate(ENDS)),
}


def linkage(tmp_path, way: str) -> kp.Mechanism:
    file = tmp_path / "linkage.urdf"
    file.write_text(f'<robot name="linkage">{TREE}{WAYS[way]}</robot>', "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", kp.DescriptionWarning
        )  # the kind of a closing frame is not in the file
        return kp.load(file)


def by_builder(kind: str) -> kp.Mechanism:
    b = kp.Builder("linkage")
    for name, half, mass in (("crank", 0.5, 1.0), ("coupler", 1.5, 3.0), ("rocker", 1.0, 2.0)):
        b.link(name, mass=mass, com=[half, 0, 0], inertia=[0.01, 0.2, 0.2])
    for name, parent, child, x in (
        ("a", "ground", "crank", 0),
        ("b", "crank", "coupler", 1),
        ("d", "ground", "rocker", 3),
    ):
        b.joint(name, "revolute", parent, child, xyz=[x, 0, 0], axis="y")
    b.loop("pin", kind, parent="coupler", child="rocker", xyz=[3, 0, 0], child_xyz=[2, 0, 0], axis="y")
    return kp.build(b)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_closes_the_loop(way, tmp_path):
    m = linkage(tmp_path, way)
    expected = by_builder("spherical" if way == "closing" else "revolute")
    q = expected.assemble([-1.0, 0.9, -1.5], fixed=["a"])
    qd = expected.velocities(q, {"a": 2.0})
    assert np.abs(m.constraint_residual(q)).max() < 1e-12
    assert m.mobility(q).freedom == 1
    assert m.velocities(q, {"a": 2.0}) == pytest.approx(qd, abs=1e-12)
    tau = np.array([3.0, 0.0, 0.0])
    assert m.forward_dynamics(q, qd, tau) == pytest.approx(expected.forward_dynamics(q, qd, tau), rel=1e-10)


def test_a_joint_for_gazebo_is_placed_in_its_child_as_the_file_stands(tmp_path):
    """All coordinates zero: the end of a straight coupler is at x = 4, that of the rocker at x = 5."""
    joint = """<gazebo><joint name="pin" type="revolute"><parent>coupler</parent><child>rocker</child>
<pose>1 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></gazebo>"""
    file = tmp_path / "linkage.urdf"
    file.write_text(f'<robot name="linkage">{TREE}{joint}</robot>', "utf-8")
    m = kp.load(file)
    [loop] = m.model.description.constraints
    assert loop.origin.xyz == (3.0, 0.0, 0.0)
    assert loop.child_origin.xyz == (1.0, 0.0, 0.0)
    assert np.abs(m.constraint_residual(np.zeros(3))).max() < 1e-12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '<constraint name="pin" type="hinge"><parent link="coupler"/><child link="rocker"/></constraint>',
            "constraint 'pin' has the type 'hinge'; Types: revolute, continuous, prismatic, fixed, cylindrical, "
            "planar, universal, spherical, ball",
        ),
        (
            '<loop_joint name="pin" type="revolute"><link1 link="copler"/><link2 link="rocker"/></loop_joint>',
            "loop_joint 'pin' joins link 'copler' by <link1>, which does not exist; did you mean 'coupler'? Links: ",
        ),
    ],
)
def test_messages(text, message, tmp_path):
    file = tmp_path / "linkage.urdf"
    file.write_text(f'<robot name="linkage">{TREE}{text}</robot>', "utf-8")
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(file)
    assert message in str(caught.value)


def test_a_joint_on_a_world_that_is_not_declared_is_on_the_ground(tmp_path):
    file = tmp_path / "arm.urdf"
    weld = (
        '<joint name="w" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 2"/></joint>'
    )
    file.write_text(f'<robot name="linkage">{TREE}{weld}</robot>', "utf-8")
    m = kp.load(file)
    assert m.pose(np.zeros(3), "rocker").position == pytest.approx([3, 0, 2])
    free = kp.load(file, base="free")
    assert free.nq == m.nq + 7
    assert free.start()[:7] == pytest.approx([0, 0, 2, 0, 0, 0, 1])
