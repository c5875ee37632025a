"""`kinpair gait`: numbers, a picture and a file of a walking machine."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest

from kinpair.cli.main import main


def test_gait_is_told_drawn_and_saved(capsys, tmp_path):
    picture, file = tmp_path / "gait.png", tmp_path / "gait.h5"
    assert main(f"gait biped --speed 0.8 --plot {picture} --save {file}".split()) == 0
    said = capsys.readouterr().out
    assert "biped: 0.8 m/s, steps of 0.5 m in 0.625 s" in said
    assert "feasible: a foot on the ground can give all this" in said
    assert "left-knee" in said
    assert picture.read_bytes()[:4] == b"\x89PNG"
    with h5py.File(file) as saved:
        assert saved["q"].shape == (801, 25)
        assert saved.attrs["margin"] == pytest.approx(0.05, abs=1e-6)
        lifted = np.abs(saved["wrenches/left-sole"][0]).max()
    assert lifted == 0.0


def test_gait_as_json(capsys):
    assert main("gait --speed 0.8 --json".split()) == 0
    x = json.loads(capsys.readouterr().out)
    assert x["feasible"]
    assert x["figures"]["friction"] < 0.6


def test_file_of_another_kind_is_not_replaced(capsys, tmp_path):
    file = tmp_path / "mine.h5"
    file.write_bytes(b"mine")
    assert main(f"gait biped --save {file}".split()) == 2
    assert file.read_bytes() == b"mine"
    assert "mine.h5" in capsys.readouterr().err
