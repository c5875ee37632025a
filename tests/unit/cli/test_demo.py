"""`kinpair demo`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from kinpair.cli.compare import NEXT
from kinpair.cli.main import main

# Stanford arm of R. P. Paul (1981), cycloidal motion; made by two independent formulations outside kinpair.
TORQUES = {
    "0": (0, -7.20182511, 0, 0, 0, 0),
    "2.5": (
        0.119166723621,
        -8.963457155372,
        3.065161960989,
        -0.236653425471,
        -0.252258546544,
        0.000043381613,
    ),
    "5": (
        0.037056330717,
        -16.004601936303,
        16.351179903873,
        -1.046798586722,
        -1.340056274864,
        -0.000010071146,
    ),
    "7.5": (
        -0.148804060414,
        -21.548536083054,
        28.994524453176,
        -1.078047407899,
        -1.928266974961,
        -0.000035316337,
    ),
    "10": (0, -22.571101148488, 31.73535, -0.959072197500, -1.974057464179, 0),
}
HALF_A_DIGIT = 0.5000001e-6  # the table has six decimals


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the demo printed, and the directory it drew in."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("demo")
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        assert main(["demo"]) == 0
    return out.getvalue(), folder


@pytest.mark.parametrize("time", TORQUES)
def test_the_torques_are_the_published_ones(shown, time):
    row = next(
        line.split() for line in shown[0].splitlines() if line.split()[:1] == [time] and line.count(".") > 5
    )
    assert [float(x) for x in row[1:]] == pytest.approx(TORQUES[time], abs=HALF_A_DIGIT)


def test_the_formulations_agree_to_rounding(shown):
    line = next(line for line in shown[0].splitlines() if line.startswith("largest difference"))
    assert float(line.split()[2].rstrip(";")) < 1e-12


def test_the_picture_is_where_it_is_said_to_be(shown):
    assert "\npicture: kinpair-demo.png\n" in shown[0]
    assert (shown[1] / "kinpair-demo.png").read_bytes().startswith(b"\x89PNG")


def test_every_command_it_proposes_works(shown, capsys):
    for command in NEXT:
        assert command in shown[0]
        if "your" not in command:
            assert main(shlex.split(command)[1:]) == 0


@pytest.mark.parametrize(("out", "file"), [("new/dir", "new/dir/kinpair-demo.png"), ("a.svg", "a.svg")])
def test_the_picture_goes_to_a_file_or_a_directory(capsys, monkeypatch, tmp_path, out, file):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--out", out]) == 0
    assert Path(file).is_file()
    assert f"picture: {Path(file)}\n" in capsys.readouterr().out


def test_without_matplotlib_all_but_the_picture_is_there(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert 'no picture: pictures need matplotlib; install it with pip install ".[view]" in' in out
    assert "largest difference" in out
    assert "Next commands" in out
    assert not list(tmp_path.iterdir())
