"""`kinpair nominal`: joints, frames, loops, the fastest motion."""

from __future__ import annotations

import json

import pytest

from kinpair.cli.main import main


def test_a_motion_of_joints_as_json(capsys):
    assert main("nominal scara --to elbow=0.5 --duration 1 --samples 11 --json".split()) == 0
    x = json.loads(capsys.readouterr().out)
    assert x["q"][-1][1] == pytest.approx(0.5)
    assert sum(x["work"]) == pytest.approx(x["gain"] + x["loss"], abs=1e-9)
    assert len(x["time"]) == 11
    assert x["feasible"]


def test_a_frame_moves_by_a_displacement_and_is_drawn(capsys, tmp_path):
    file = tmp_path / "hand.png"
    words = f"nominal redundant-arm --frame hand --by -0.05,0,0.02 --criterion energy --plot {file}"
    assert main(words.split()) == 0
    said = capsys.readouterr().out
    assert "a motion of 2 s, 3 continuous derivatives" in said
    assert "feasible: all limits of the file are kept" in said
    assert file.read_bytes()[:4] == b"\x89PNG"


def test_a_closed_mechanism_and_the_fastest_motion(capsys):
    assert main("nominal four-bar --to crank=1.2 --actuators crank --samples 21".split()) == 0
    assert "output [rad]" in capsys.readouterr().out
    assert main("nominal redundant-arm --to elbow=0.9 --fastest".split()) == 0
    assert "feasible: all limits of the file are kept" in capsys.readouterr().out
