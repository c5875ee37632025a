"""Studies as files, and `kinpair sweep`."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import kinpair as kp
from kinpair import DescriptionError, Grid, LatinHypercube, Normal, Uniform
from kinpair.cli.main import main
from kinpair.sweeps.study_file import RANGE, TOP, read_study

DOCS = (Path(__file__).parents[3] / "docs" / "sweep.md").read_text("utf-8")
STUDY = """
mechanism = "double-pendulum"
duration = 0.1
integrator = "rk4"
dt = 0.001
record = ["final", "own.py:height"]
samples = 3

[q]
shoulder = "pi/6"

[over]
"q.elbow" = { from = 0, to = "pi/4", count = 2 }
"upper.mass" = { from = 1, to = 2, draw = "latin-hypercube" }
"lower.mass" = { from = 1, to = 2, draw = "uniform" }
"lower.com.x" = { mean = 0, deviation = 0.1, draw = "normal" }
"qd.shoulder, qd.elbow" = [[0, 0], [1, 2]]

[units]
height = "m"
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("LENGTH = 2.0\n\ndef height(run):\n    return LENGTH * run.q[-1, 0]\n")
    (tmp_path / "swing.toml").write_text(STUDY)
    return tmp_path / "swing.toml"


def test_a_file_says_what_python_would(study):
    plan = read_study(study)
    assert isinstance(plan.study, kp.Study)
    assert plan.study.name == "swing"
    assert plan.study.q.tolist() == [math.pi / 6, 0.0]
    assert plan.study.options == {"duration": 0.1, "integrator": "rk4", "dt": 0.001}
    assert [*plan.over.values()] == [
        Grid(0, math.pi / 4, 2),
        LatinHypercube(1, 2),
        Uniform(1, 2),
        Normal(0, 0.1),
        [[0, 0], [1, 2]],
    ]
    assert (plan.samples, plan.seed, plan.units) == (3, 0, {"height": "m"})


def test_the_command_sweeps_resumes_and_tells(study, capsys):
    assert main(["sweep", "swing.toml", "--workers", "0"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("swing: 12 cases\n")
    assert re.search(r"^height +m ", out, re.MULTILINE)
    assert out.endswith("table: swing.sweep/table.parquet\n")
    table = kp.open_sweep("swing.sweep")
    assert table["height"] == pytest.approx(2 * table["final q.shoulder"], rel=1e-15)
    assert main(["sweep", "swing.toml", "--workers", "0"]) == 2
    assert "holds 12 finished cases; resume" in capsys.readouterr().err
    assert main(["sweep", "swing.toml", "--workers", "0", "--resume"]) == 0
    assert main(["sweep", "swing.toml", "--workers", "0", "--out", "elsewhere"]) == 0
    assert Path("elsewhere/table.parquet").exists()


def test_a_function_in_a_file(study, capsys):
    Path("own.py").write_text(
        "def case(x):\n    if x > 2:\n        raise ValueError('large')\n    return {'y': x}\n"
    )
    Path("plain.toml").write_text('function = "own.py:case"\n[over]\nx = [1, 2, 3]\n')
    assert main(["sweep", "plain.toml", "--workers", "0"]) == 2
    out = capsys.readouterr().out
    assert out.startswith("case: 3 cases, 1 failed\n")
    assert "failed: x = 3: ValueError: large (own.py:3)\n" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('mechanism = "scara"', "over is missing; give what varies, as [over] with a line for each input"),
        ("[over]\nx = [1]", "has neither mechanism nor function; give one of them"),
        ('mecanism = "scara"\n[over]\nx = [1]', "unknown key 'mecanism'; did you mean 'mechanism'? Keys: "),
        (
            'function = "own.py:none"\n[over]\nx = [1]',
            "function is 'own.py:none', and there is no function 'none' in own.py",
        ),
        ('function = "no.py:f"\n[over]\nx = [1]', "function is 'no.py:f', and 'no.py' cannot be read: "),
        ('function = "own.py:height"\ndt = 1\n[over]\nx = [1]', "dt goes with a mechanism; a function takes"),
        (
            'mechanism = "scara"\n[over]\nx = 3',
            "over: x is 3; give a list of values, or a table: from to count; ",
        ),
        ('mechanism = "scara"\n[over]\nx = {from = 1}', "over: x has from; give one of from to count; "),
        (
            '[[link]]\nname = "bob"\nmass = 1',
            "describes a mechanism; a study is a file of its own that names it: mechanism = 'swing.toml', and under "
            "[over] what varies",
        ),
        ('mechanism = "scara"\nsamples = 1.5\n[over]\nx = [1]', "samples is 1.5; give a whole number"),
    ],
)
def test_what_is_no_study_is_refused_with_its_place(study, text, message):
    study.write_text(text)
    with pytest.raises(DescriptionError) as refused:
        read_study("swing.toml")
    assert str(refused.value).startswith(f"swing.toml: {message}")


def test_every_key_is_in_the_docs():
    table = DOCS.partition("## A study as a file")[2]
    for key in (*RANGE, *(key for key, rule in TOP.items() if rule.note != "option of simulate")):
        assert f"`{key}" in table, key


@pytest.mark.parametrize(("values", "count"), [("0, 1, 2", "1 of 3 cases"), ("0", "1 of 1 case")])
def test_the_command_says_how_many_cases_failed(tmp_path, monkeypatch, capsys, values, count):
    monkeypatch.chdir(tmp_path)
    Path("cases.py").write_text("def inverse(x):\n    return 1 / x\n")
    Path("some.toml").write_text(f'function = "cases.py:inverse"\n[over]\nx = [{values}]\n')
    assert main(["sweep", "some.toml", "--workers", "0"]) == 2
    caught = capsys.readouterr()
    assert caught.err == f"kinpair: {count} failed; compute them again with --resume --retry\n"
    assert "failed: x = 0" in caught.out
    assert len(kp.open_sweep("some.sweep")) == len(values.split(","))
