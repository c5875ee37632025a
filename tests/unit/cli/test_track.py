"""`kinpair track`: regulators, what stands around them, many motions, a picture."""

from __future__ import annotations

import json

import pytest

import kinpair as kp
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


CLOSED = "track {file} --to crank=0.5 --duration 0.5 --hold 0.2 --off crank=0.02 --output 0.1 --json "


def passive_four_bar(tmp_path):
    """The bundled linkage without actuated joints."""
    file = tmp_path / "bars.toml"
    lines = kp.example_text("four-bar").splitlines()
    file.write_text("\n".join(x for x in lines if not x.startswith("actuated")))
    return file


@pytest.mark.parametrize("kind", ["lqr", "pd", "computed-torque", "none"])
def test_a_closed_mechanism_follows_with_the_actuators_that_are_chosen(capsys, tmp_path, kind):
    words = CLOSED.format(file=passive_four_bar(tmp_path)) + f"--regulator {kind} "
    assert main(words.split()) == 2
    assert "--actuators crank" in " ".join(capsys.readouterr().err.split())
    assert main((words + "--actuators crank").split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["error"][0][0] == pytest.approx(0.02, abs=1e-12)
    assert all(x[1:] == [0.0, 0.0] for x in found["tau"])


def test_a_closed_mechanism_takes_weights_by_name(capsys):
    words = CLOSED.format(file="four-bar") + "--degree 4 "
    ends = []
    for more in ("", "--weights crank=100", "--effort-weights crank=0.01"):
        assert main((words + more).split()) == 0
        ends.append(json.loads(capsys.readouterr().out)["rms"][0])
    assert max(ends[1:]) < ends[0]


def test_many_motions_of_a_closed_mechanism(capsys):
    words = CLOSED.format(file="four-bar") + "--runs 3 --spread 0.01 --regulator pd"
    assert main(words.split()) == 0
    assert len(json.loads(capsys.readouterr().out)["final"]) == 3


def test_actuators_of_a_regulator_that_takes_none(capsys):
    assert main((MOTION + "--regulator force-feedback --actuators shoulder").split()) == 2
    words = "--regulator force-feedback needs an effort in every joint; leave out --actuators, or choose lqr"
    assert words in " ".join(capsys.readouterr().err.split())


def test_what_makes_no_sense_is_told(capsys):
    assert main((MOTION + "--regulator none --noise 1e-3").split()) == 2
    words = "--regulator none has no feedback; choose a regulator for --saturate, --delay, --encoder, --noise"
    assert words in " ".join(capsys.readouterr().err.split())
    assert main((MOTION + "--runs 0").split()) == 2
    assert "--runs is 0; give 1 or more" in capsys.readouterr().err
