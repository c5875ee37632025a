"""`kinpair track`: regulators, what stands around them, many motions, a picture."""

from __future__ import annotations

import json

from kinpair.cli.main import main

MOTION = "track double-pendulum --to 1,0.5 --duration 1 --hold 0.5 --output 0.05 "


def test_a_perturbed_start_is_taken_away(capsys, tmp_path):
    file = tmp_path / "track.png"
    words = MOTION + f"--degree 3 --off shoulder=0.1 --plot {file}"
    assert main(words.split()) == 0
    text = capsys.readouterr().out
    assert "largest error 0.1 (shoulder)" in text
    assert f"picture: {file}" in text.replace("\n", "")
    assert file.stat().st_size > 10_000


def test_many_motions_with_noise_are_one_document(capsys):
    words = "--regulator pd --frequency 12 --noise 1e-5 --encoder 1e-4 --delay 0.002 --runs 4 --spread 0.02 --json"
    assert main((MOTION + words).split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(found["final"]), len(found["final"][0])] == [4, 2]
    assert max(map(max, found["final"])) < 0.01
    assert len({tuple(x) for x in found["final"]}) == 4


def test_every_regulator_follows_and_nominal_efforts_alone_do_not(capsys):
    ends = {}
    for kind in ("computed-torque", "force-feedback", "none"):
        words = f"--regulator {kind} --off shoulder=0.1 --json"
        assert main((MOTION + words).split()) == 0
        ends[kind] = max(json.loads(capsys.readouterr().out)["final"])
    assert ends["computed-torque"] < 1e-4
    assert ends["force-feedback"] < 1e-3
    assert ends["none"] > 0.05


def test_a_joint_that_does_not_settle_never_does(capsys):
    assert main((MOTION + "--regulator none --off shoulder=0.1").split()) == 0
    text = capsys.readouterr().out
    assert "not settled: shoulder, elbow" in text
    assert (text.count("never"), text.count("nan")) == (2, 0)


def test_what_makes_no_sense_is_told(capsys):
    assert main((MOTION + "--regulator none --noise 1e-3").split()) == 2
    words = "--regulator none measures nothing; choose one for --saturate, --delay, --encoder, --noise"
    assert words in " ".join(capsys.readouterr().err.split())
    assert main((MOTION + "--runs 0").split()) == 2
    assert "--runs is 0; give 1 or more" in capsys.readouterr().err
