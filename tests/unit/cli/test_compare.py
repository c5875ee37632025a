"""`kinpair compare`."""

from __future__ import annotations

import json

import pytest

import kinpair as kp
from kinpair.cli.main import main
from kinpair.quantities import METHODS


def shown(capsys, *words):
    """Standard output of a command that succeeds."""
    assert main(["compare", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_every_formulation_is_shown(capsys):
    out = shown(capsys, "cart-pole", "--no-time")
    assert out.startswith("cart-pole: 2 degrees of freedom, 32 random states (seed 0), processor ")
    for title in ("Inverse dynamics", "Forward dynamics", "Mass matrix H", "Coriolis matrix C", "Reactions"):
        assert f"\n{title}\n" in out
    for method in METHODS["inverse_dynamics"]:
        assert f"\n{method} " in out
    assert "cheapest: newton-euler" in out


def test_options_reach_the_library(capsys):
    words = ("--quantity", "mass_matrix", "gravity_forces", "--states", "3", "--seed", "5", "--no-time")
    out = shown(capsys, "planar-3r", *words)
    expected = kp.compare(
        kp.example("planar-3r"), quantities=["mass_matrix", "gravity_forces"], states=3, seed=5, time=False
    )
    cells = {tuple(line.split()) for line in out.splitlines()}
    assert {tuple(line.split()) for line in str(expected).splitlines() if "---" not in line} <= cells
    assert "Inverse" not in out


def test_times_and_files(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ("cart-pole", "--quantity", "mass_matrix", "--html", "a.html", "--json", "a.json")
    out = shown(capsys, *words)
    assert "batch [ns]" in out
    assert out.endswith("page: a.html\njson: a.json\n")
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert [row["method"] for row in rows] == list(METHODS["mass_matrix"])
    assert all(row["compile"] > 0 for row in rows)
    assert "<svg" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize(("base", "nv"), [("fixed", 2), ("free", 8)])
def test_a_file_of_ones_own(capsys, tmp_path, base, nv):
    inertia = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    links = "".join(f'<link name="{name}">{inertia}</link>' for name in "abc")
    joints = "".join(
        f'<joint name="{p}{c}" type="continuous"><parent link="{p}"/><child link="{c}"/>'
        '<origin xyz="0 0 1"/><axis xyz="1 0 0"/></joint>'
        for p, c in ("ab", "bc")
    )
    file = tmp_path / "rods.urdf"
    file.write_text(f'<robot name="rods">{links}{joints}</robot>')
    out = shown(capsys, file, "--base", base, "--no-time", "--states", "1")
    assert out.startswith(f"rods: {nv} degrees of freedom, 1 random state (seed 0)")
    assert "!" not in out
