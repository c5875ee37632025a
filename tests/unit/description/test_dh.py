"""Tables of Denavit and Hartenberg."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from kinpair.description.dh import DHRow, dh_description, parse_dh_csv, read_dh_csv
from kinpair.description.parts import Origin
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import about_z

PAGE = Path(__file__).parents[3] / "docs" / "dh.md"


def rot_z(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def rot_x(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])


def trans(x, z):
    built = np.eye(4)
    built[:3, 3] = x, 0, z
    return built


TEXTBOOK = {
    "standard": lambda row, t, d: rot_z(t) @ trans(0, d) @ trans(row.a, 0) @ rot_x(row.alpha),
    "modified": lambda row, t, d: rot_x(row.alpha) @ trans(row.a, 0) @ rot_z(t) @ trans(0, d),
}
MOTION = {
    "revolute": lambda q: Pose(about_z(q), np.zeros(3)),
    "prismatic": lambda q: Pose(np.eye(3), np.array([0, 0, q])),
}


def by_matrices(rows, convention, q):
    T = np.eye(4)
    for row, x in zip(rows, q, strict=True):
        slides = row.kind == "prismatic"
        T = T @ TEXTBOOK[convention](row, row.theta + (0 if slides else x), row.d + (x if slides else 0))
    return T


def by_parts(description, q):
    pose = Pose(np.eye(3), np.zeros(3))
    for joint, x in zip(description.joints, q, strict=True):
        pose = pose @ joint.origin.pose() @ MOTION[joint.kind](x) @ joint.child_origin.pose()
    return pose


def random_rows(seed):
    random = np.random.default_rng(seed)
    kinds = random.choice(["revolute", "prismatic"], size=6)
    return [DHRow(*random.uniform(-2, 2, size=4).tolist(), str(kind)) for kind in kinds], random.normal(
        size=6
    )


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("seed", range(8))
def test_the_parts_move_like_the_matrices_of_the_table(convention, seed):
    rows, q = random_rows(seed)
    T = by_matrices(rows, convention, q)
    pose = by_parts(dh_description(rows, convention=convention), q)
    assert np.allclose(pose.R, T[:3, :3], rtol=0, atol=1e-9)  # the pose rounds entries within 1e-10
    assert np.allclose(pose.a, T[:3, 3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_base_carries_the_whole_arm(convention):
    rows, q = random_rows(11)
    base = Origin((1.0, -2.0, 0.5), (0.3, -0.4, 0.9))
    bare = by_parts(dh_description(rows, convention=convention), q)
    pose = by_parts(dh_description(rows, convention=convention, base=base), q)
    expected = base.pose() @ bare
    assert np.allclose(pose.R, expected.R, atol=1e-9)
    assert np.allclose(pose.a, expected.a, atol=1e-9)


def test_rows_hang_one_on_the_other_and_are_numbered():
    rows = [DHRow(0, 0, 1, 0), DHRow("pi/2", 0, 0, 0, name="elbow", link="forearm"), DHRow(0, 1, 0, 0)]
    joints = dh_description(rows, convention="modified", name="x").joints
    assert [(j.name, j.parent, j.child) for j in joints] == [
        ("joint1", "ground", "link1"),
        ("elbow", "link1", "forearm"),
        ("joint3", "forearm", "link3"),
    ]


def test_everything_in_a_row_reaches_its_part():
    row = DHRow(
        *(0.0, 0.5, 0.0, 0.0),
        mass=2.0,
        com=[0.1, 0, 0],
        inertia=[1, 1.02, 1.02],
        inertia_about="origin",
        lower=-1,
        upper="pi",
        velocity=2,
        effort=3,
        damping=4,
        friction=5,
        rotor_inertia=6,
        gear_ratio=7,
    )
    description = dh_description([row], convention="standard", gravity=np.array([0, 0, -1]))
    (link,), (joint,) = description.links, description.joints
    assert (link.mass, link.com) == (2.0, (0.1, 0.0, 0.0))
    assert link.inertia == pytest.approx((1, 1, 1, 0, 0, 0), abs=1e-15)
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == ((-1.0,), (math.pi,), (2.0,), (3.0,))
    assert (joint.damping, joint.friction) == ((4.0,), (5.0,))
    assert (joint.rotor_inertia, joint.gear_ratio) == (6.0, 7.0)
    assert description.gravity == (0.0, 0.0, -1.0)


TOML = """
[dh]
convention = "modified"
base_xyz = [0, 0, 1]
inertia_about = "origin"
[[dh.row]]
d = 0.4
mass = 2
com = [0, 0, 1]
inertia = [3, 3, 1]
[[dh.row]]
alpha_deg = 90
a = 0.18
theta = "pi/2"
kind = "prismatic"
mass = 1
inertia = [1, 1, 1, 0.1, 0, 0]
inertia_about = "com"
[[frame]]
name = "tool"
link = "link2"
"""
CSV = """# convention: modified
# two joints
alpha_deg, a, d, theta, kind, mass, com_z, Ixx, Iyy, Izz, Ixy, inertia_about

0, 0, 0.4, 0, revolute, 2, 1, 3, 3, 1,, origin
90, 0.18, , pi/2, prismatic, 1, , 1, 1, 1, 0.1, com
"""
ROWS = [
    DHRow(0, 0, 0.4, 0, mass=2, com=(0, 0, 1), inertia=(1, 1, 1)),
    DHRow(math.pi / 2, 0.18, 0, math.pi / 2, "prismatic", mass=1, inertia=(1, 1, 1, 0.1, 0, 0)),
]


def test_a_table_is_the_same_in_python_toml_and_csv():
    warnings = WarningList(strict=True)
    python = dh_description(ROWS, convention="modified", name="arm")
    based = dh_description(ROWS, convention="modified", name="arm", base=Origin((0.0, 0.0, 1.0)))
    toml = parse_toml(TOML, source="arm.toml", warnings=warnings)
    assert parse_dh_csv(CSV, source="arm.csv", warnings=warnings) == python
    assert (toml.links, toml.joints) == (based.links, based.joints)
    assert toml.frames[0].name == "tool"


def test_rows_know_their_lines(tmp_path):
    toml = parse_toml(TOML, source="arm.toml", warnings=WarningList())
    assert [joint.where for joint in toml.joints] == ["arm.toml:6", "arm.toml:11"]
    assert [link.where for link in toml.links] == ["arm.toml:6", "arm.toml:11"]
    file = tmp_path / "arm.csv"
    file.write_text(CSV, encoding="utf-8")
    assert [joint.where for joint in read_dh_csv(file, warnings=WarningList()).joints] == [
        f"{file}:5",
        f"{file}:6",
    ]


def test_a_csv_that_hides_its_convention_is_doubted():
    warnings = WarningList()
    description = parse_dh_csv("a,d\n1,2\n", source="arm.csv", warnings=warnings)
    sentence = "arm.csv: does not say its convention; read as standard, write '# convention: standard' on top"
    assert warnings.sentences == [sentence]
    assert description.warnings == (sentence,)
    assert description.joints[0].child_origin == Origin((1.0, 0.0, 2.0))


def test_the_documented_csv_reads_as_the_documented_toml():
    page = PAGE.read_text("utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (csv,) = re.findall(r"```text\n(# convention.*?)```", page, re.DOTALL)
    warnings = WarningList(strict=True)
    from_toml = parse_toml(toml, source="arm.toml", warnings=warnings)
    from_csv = parse_dh_csv(csv, source="arm.csv", warnings=warnings)
    assert (from_csv.links, from_csv.joints) == (from_toml.links, from_toml.joints)


@pytest.mark.parametrize(
    "line", ["# Convention: Modified", "# convention: modified,,,,", '"# convention: modified"']
)
def test_csv_as_spreadsheets_save_it(line):
    text = f"{line}\nalpha,a,d,theta,mass,\n0,1,0,0,2,\n,,,,,\n,,,,,,\n"
    warnings = WarningList()
    result = parse_dh_csv(text, source="arm.csv", warnings=warnings)
    assert len(result.joints) == 1
    assert result.joints[0].origin == Origin((1.0, 0.0, 0.0))
    assert warnings.sentences == []


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_what_a_row_does_not_give_is_zero_as_in_a_file(convention):
    bare = dh_description([DHRow(), DHRow(d=0.4), DHRow(theta=0.1)], convention=convention)
    full = dh_description(
        [DHRow(0, 0, 0, 0), DHRow(0, 0, 0.4, 0), DHRow(0, 0, 0, 0.1)], convention=convention
    )
    assert bare == full
