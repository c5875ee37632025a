"""`kinpair optimise`: a motion, a picture, a page, a document, and messages."""

from __future__ import annotations

import json

import pytest

from kinpair.cli.main import main

WORDS = "optimise double-pendulum --to 1,0.5 --duration 1 --intervals 10 "


def test_a_motion_with_picture_and_page(capsys, tmp_path):
    picture, page = tmp_path / "motion.png", tmp_path / "motion.html"
    assert main((WORDS + f"--plot {picture} --report {page}").split()) == 0
    text = capsys.readouterr().out
    assert "solved: cost" in text
    assert "error by simulation" in text
    assert picture.stat().st_size > 10_000
    assert "Active limits" in page.read_text("utf-8")


def test_the_document_has_states_and_inputs(capsys):
    assert (
        main((WORDS + "--effort 8 --cost time --velocity 6 --json").replace("--duration 1 ", "").split()) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "solved"
    assert found["states"][-1][:2] == pytest.approx([1.0, 0.5], abs=1e-8)
    assert max(abs(x) for row in found["inputs"] for x in row) == pytest.approx(8.0, rel=1e-6)
    assert {x["name"] for x in found["active"]} <= {"shoulder.u", "elbow.u", "shoulder.qd", "elbow.qd"}


def test_a_goal_is_required(capsys):
    assert main(["optimise", "double-pendulum"]) == 2
    assert "--to is missing" in capsys.readouterr().err
