"""`kinpair info`."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import closed
import kinpair as kp
from kinpair.cli.main import main

ODD = """
<robot name="odd [red]">
<link name="base"/>
<link name="arm [bold]one"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tip"/>
<link name="pad"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm [bold]one"/><axis xyz="0 0 -1"/>
<limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping="0.5" friction="0.25"/></joint>
<joint name="last" type="continuous"><parent link="arm [bold]one"/><child link="tip"/><axis xyz="1 1 0"/>
<mimic joint="turn"/></joint>
<joint name="weld" type="fixed"><parent link="tip"/><child link="pad"/></joint>
</robot>
"""


@pytest.fixture
def odd(tmp_path):
    file = tmp_path / "odd.urdf"
    file.write_text(ODD)
    return str(file)


def shown(capsys, *words):
    assert main(["info", *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def row(text, first):
    """The cells of the line that starts with `first`."""
    return next(line.split() for line in text.splitlines() if line.startswith(first))


@pytest.mark.parametrize("name", list(kp.examples(systems=False)))
def test_every_body_and_joint_of_an_example_is_shown(capsys, name):
    model, text = kp.example(name).model, shown(capsys, name)
    for part in (*model.names[1:], *model.joint_names[1:]):
        assert re.search(rf"(^| ){re.escape(part)}( |$)", text, re.MULTILINE), part


def test_a_joint_is_shown_with_what_it_has(capsys, odd):
    text = shown(capsys, odd)
    assert row(text, "0  ") == ["0", "turn", "revolute", "-z", "-1", "to", "2", "0"]
    assert row(text, "1  ") == ["1", "last", "revolute", "1", "1", "0", "0"]
    assert row(text, "turn") == ["turn", "0.5", "0.25"]
    assert row(text, "last") == ["last", "turn"]


@pytest.mark.parametrize(
    ("name", "joint", "words"),
    [
        ("drawer", "slide", "guide mu 0.3"),
        ("lead-screw", "nut", "thread mu 0.12, self-locking"),
        ("gear-train", "train", "gear mu 0.09568"),
    ],
)
def test_friction_from_load_is_shown_with_its_coefficient(capsys, name, joint, words):
    told = [line.split("  ") for line in shown(capsys, name).splitlines() if words in line]
    assert [line[0].strip() for line in told] == [joint]


def test_a_thread_locks_itself_by_its_coefficient_at_rest(capsys, tmp_path):
    """tan λ = pitch/radius = 0.1 between mu and mu_static."""
    friction = 'friction = {law = "thread", mu = 0.09, mu_static = 0.11, radius = 0.01}'
    lines = "[[link]]", 'name = "nut"', "mass = 1", "inertia = [1, 1, 1]", "[[joint]]", 'name = "screw"'
    more = 'kind = "helical"', 'parent = "ground"', 'child = "nut"', "pitch = 0.001", friction
    file = tmp_path / "screw.toml"
    file.write_text("\n".join((*lines, *more)), encoding="utf-8")
    (joint,) = json.loads(shown(capsys, str(file), "--json"))["joints"]
    assert joint["locks_itself"]
    assert [x["law"] for x in joint["friction_laws"]] == ["thread"]
    file.write_text("\n".join((*lines, *more)).replace("0.11", "0.095"), encoding="utf-8")
    assert not json.loads(shown(capsys, str(file), "--json"))["joints"][0]["locks_itself"]


def test_names_are_shown_as_they_are(capsys, odd):
    text = shown(capsys, odd)
    assert text.startswith("odd [red]\n")
    assert "arm [bold]one  base" in text


def test_totals_and_frames(capsys, odd):
    text = shown(capsys, odd)
    assert "bodies 2, mass 2 kg, coordinates 2\n" in text
    assert row(text, "pad") == ["pad", "tip"]
    assert "degrees of freedom 4, mobility 4 (an open tree)\n" in shown(capsys, "scara")


def test_a_joint_that_mimics_takes_a_freedom_away(capsys, odd):
    text = shown(capsys, odd)
    assert (
        "degrees of freedom without constraints 2, at the start:\nfreedom 1: 2 rates, 1 constraint rows"
        in text
    )
    assert row(text, "last mimics") == ["last", "mimics", "coupling", "last,", "turn", "1"]


@pytest.mark.parametrize("name", closed.STARTS)
def test_freedom_by_rank_and_by_counting_is_that_of_the_mechanism(capsys, name):
    mechanism, result = kp.example(name), json.loads(shown(capsys, name, "--json"))
    mobility, rank = result["mobility"], np.linalg.matrix_rank(mechanism.constraint_matrix(result["start"]))
    assert mobility["freedom"] == mechanism.nv - rank
    assert mobility["counted"] == mechanism.nv - len(mechanism.constraint_rows)
    assert len(mobility["redundant"]) == len(mechanism.constraint_rows) - rank
    assert [x["name"] for x in result["constraints"]] == list(mechanism.constraints)
    assert [row for x in result["constraints"] for row in x["rows"]] == list(mechanism.constraint_rows)
    assert np.abs(mechanism.constraint_residual(result["start"])).max(initial=0.0) < 1e-9


def test_a_closed_mechanism_is_shown_with_its_constraints(capsys):
    text = shown(capsys, "four-bar-3d")
    assert (
        "freedom 1: 3 rates, 5 constraint rows of rank 2\ncounted (Grübler) -2\nredundant rows: pin.z,"
        in text
    )
    assert row(text, "1  ") == ["1", "output", "revolute", "z", "2.2784"]
    assert row(text, "pin") == ["pin", "revolute", "loop", "crank,", "coupler", "5"]
    assert row(shown(capsys, "space-robot"), "momentum")[2:] == ["all", "that", "moves", "1"]


def test_a_loop_that_cannot_close_is_told_and_the_rest_shown(capsys, tmp_path):
    file = tmp_path / "short.toml"
    file.write_text(kp.example_text("four-bar").replace("xyz = [0.15, 0, 0]", "xyz = [1.5, 0, 0]"))
    text = shown(capsys, str(file))
    assert "degrees of freedom without constraints 3, mobility unknown: four-bar: cannot be assembled" in text
    assert row(text, "pin") == ["pin", "spherical", "loop", "crank,", "coupler", "3"]
    result = json.loads(shown(capsys, str(file), "--json"))
    assert (result["start"], result["mobility"]) == (None, None)
    assert "'pin' stays open by" in result["reason"]


def test_a_massless_link_that_a_mimic_holds_is_no_warning(capsys, odd):
    assert json.loads(shown(capsys, odd, "--json"))["warnings"] == []


def test_warnings_come_last_and_not_as_python_warnings(capsys, tmp_path):
    file = tmp_path / "loose.urdf"
    file.write_text(ODD.replace('<mimic joint="turn"/>', ""))
    sentences = json.loads(shown(capsys, str(file), "--json"))["warnings"]
    assert sentences
    assert shown(capsys, str(file)).endswith("".join(f"- {sentence}\n" for sentence in sentences))


def test_a_column_that_is_empty_is_left_out(capsys):
    text = shown(capsys, "planar-3r")
    assert "limits" not in text
    assert "damping" not in text
    assert text.endswith("warnings: none\n")


def test_a_free_base_adds_its_joint(capsys, odd):
    result = json.loads(shown(capsys, odd, "--base", "free", "--json"))
    assert (result["nq"], result["nv"]) == (9, 8)
    assert result["joints"][0]["kind"] == "free"
    assert result["joints"][0]["axes"] == []


def test_json_says_the_same_as_the_mechanism(capsys):
    arm, result = kp.example("scara"), json.loads(shown(capsys, "scara", "--json"))
    assert result["q_names"] == list(arm.q_names)
    assert result["mass"] == arm.mass
    assert [joint["name"] for joint in result["joints"]] == list(arm.joint_names)
    assert result["joints"][0]["upper"] == [2.3]
    assert result["joints"][3]["upper"] == [None]
    assert result["bodies"][1] == {"name": "forearm", "parent": "upper-arm", "joint": "elbow", "mass": 5.0}
    assert result["frames"] == [{"name": "tool", "body": "flange"}]


def test_a_file_of_the_same_name_comes_before_the_example(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scara").mkdir()
    assert shown(capsys, "scara").startswith("scara\n")
    (tmp_path / "scara").rmdir()
    (tmp_path / "scara").write_text("")
    assert main(["info", "scara"]) == 2


def test_a_humanoid_fits_into_eighty_columns(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"right_gripper_fingertip_{k}" for k in range(40)]
    links = "".join(f'<link name="{name}_link"/>' for name in ["base", *names])
    joints = "".join(
        f'<joint name="{name}_joint" type="revolute"><parent link="{parent}_link"/><child link="{name}_link"/>'
        '<limit lower="-0.2094" upper="-0.008727" effort="1" velocity="1"/>'
        '<dynamics damping="0.01" friction="0.0125"/></joint>'
        for parent, name in zip(["base", *names], names, strict=False)
    )
    file = tmp_path / "long.urdf"
    file.write_text(f'<robot name="long">{links}{joints}</robot>')
    lines = shown(capsys, str(file)).splitlines()
    table = [line for line in lines if not line.startswith("- ")]
    assert max(map(len, table)) <= 80
    assert sum("right_gripper_fingertip_39_joint" in line for line in table) == 2
