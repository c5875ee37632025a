"""`kinpair compare`."""

from __future__ import annotations

import json

import pytest

import kinpair as kp
from kinpair.analysis.compare import Row
from kinpair.cli.main import main
from kinpair.evaluation.quantities.request import METHODS


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


def test_ctrl_c_shows_and_writes_what_is_finished(capsys, monkeypatch, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(METHODS, "mass_matrix", METHODS["mass_matrix"] | {"kane": stop})
    words = "compare cart-pole --quantity gravity_forces mass_matrix --no-time --html a.html --json a.json"
    with pytest.raises(SystemExit) as end:
        main(words.split())
    assert end.value.code == 130
    out = capsys.readouterr().out
    done = len(METHODS["gravity_forces"]) + list(METHODS["mass_matrix"]).index("kane")
    status = f"stopped after {done} of {len(METHODS['gravity_forces']) + len(METHODS['mass_matrix'])} rows"
    assert out.splitlines()[0].endswith(f"; {status}")
    assert out.endswith(
        f"page: a.html\njson: a.json\ninterrupted: {status}; --quantity selects fewer quantities\n"
    )
    assert len(json.loads((tmp_path / "a.json").read_text())["rows"]) == done
    assert status in (tmp_path / "a.html").read_text()


def test_on_80_columns_no_name_is_broken(capsys, monkeypatch):
    row = Row(
        "reactions", "roberson-wittenburg", "", 1e-16, 1.0, True, None, 12345, 12345, 31234, 1e-4, 1e-5, 9.9
    )
    comparison = kp.Comparison("m", 1, 1, 0, "cpu", (row,))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("kinpair.compare", lambda *_, **__: comparison)
    lines = shown(capsys, "cart-pole").splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("roberson"))
    assert lines[at].split() == [
        "roberson-wittenburg", "1e-16", "12345", "12345", "6544", "100000", "10000.0", "9900"
    ]  # fmt: skip
    assert max(map(len, lines[at - 3 : at + 1])) <= 80


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
