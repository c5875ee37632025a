"""Curves drawn to a file."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kinpair.errors import InputError, MissingExtraError
from kinpair.viewer.curves import draw_curves
from kinpair.viewer.looks import Panel

TIME = np.linspace(0, 1, 11)
PNG = b"\x89PNG"


def panels(count, curves=2):
    values = {f"way {k}": TIME**k for k in range(curves)}
    return [Panel(f"joint{i}", "torque [N m]", values) for i in range(count)]


@pytest.mark.parametrize(("count", "curves"), [(1, 1), (3, 2), (6, 5)])
def test_a_picture_is_written(tmp_path, count, curves):
    file = draw_curves(tmp_path / "a.png", TIME, panels(count, curves), title="t")
    assert file == tmp_path / "a.png"
    assert file.read_bytes().startswith(PNG)


def test_every_label_is_in_the_picture(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        text = draw_curves(tmp_path / "a.svg", TIME, panels(2), title="of an arm").read_text("utf-8")
    for label in ("joint0", "joint1", "torque [N m]", "time [s]", "way 0", "way 1", "of an arm"):
        assert f">{label}<" in text


def test_drawing_leaves_the_users_plots_alone(tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    draw_curves(tmp_path / "a.png", TIME, panels(1))
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError) as result:
        draw_curves(tmp_path / "a.png", TIME, panels(1))
    assert str(result.value) == (
        'pictures need matplotlib; install it with pip install ".[view]" in the folder of kinpair\'s sources'
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.xyz", "a.xyz: pictures named *.xyz are not written; endings: "),
        ("a", "a: pictures named * without an ending are not written; endings: "),
        ("none/a.png", "none/a.png: cannot be written (No such file or directory)"),
    ],
)
def test_a_place_that_cannot_hold_a_picture_is_refused(monkeypatch, tmp_path, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as result:
        draw_curves(name, TIME, panels(1))
    assert str(result.value).startswith(message)
