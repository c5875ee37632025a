"""Modes and comparisons as pictures."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import kinpair as kp
from kinpair.analysis.compare import Comparison, Row


def test_every_mode_has_a_picture_with_its_frequency_and_a_page_in_which_it_swings(tmp_path):
    model = kp.linearise(kp.example("double-pendulum"), [0.0, 0.0], [0.0, 0.0])
    figure = model.plot_modes()
    hertz = [mode.frequency / (2 * np.pi) for mode in model.modes]
    assert [x.get_title() for x in figure.axes] == [
        f"mode {k + 1}: {f:.3g} Hz, damping 0" for k, f in enumerate(hertz)
    ]
    text = model.report(tmp_path / "mode.html", mode=1).read_text("utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert len(data["panels"][0]["curves"]) == 2
    q = model.swing(1, 0.2, 121, half_cycles=6)
    assert q[0] == pytest.approx(q[40])  # three cycles
    assert np.abs(q).max() == pytest.approx(0.2)


def test_bars_are_the_operations_of_each_formulation():
    rows = (
        Row("mass_matrix", "newton-euler", operations=30, multiplications=12, additions=10, batch=2e-8),
        Row("mass_matrix", "denoc", operations=90, multiplications=50, additions=38),
        Row("mass_matrix", "kane", reason="not here"),
    )
    comparison = Comparison("arm", 3, 1, 0, "", rows)
    left, right = comparison.plot().axes
    ends = [bar.get_x() + bar.get_width() for bar in left.patches[-2:]]
    assert ends == [30, 90]
    assert [x.get_text() for x in right.texts] == [" not measured"]


def test_the_participation_matrix_shows_its_numbers():
    model = kp.linearise(kp.example("double-pendulum"), [0.0, 0.0])
    plane, matrix = model.plot().axes
    written = {(x.get_position()[1], x.get_position()[0]): float(x.get_text()) for x in matrix.texts}
    for j, mode in enumerate(model.modes):
        for i, state in enumerate(model.states):
            assert written.get((i, j), 0.0) == pytest.approx(mode.participation[state], abs=0.005)
    assert [x.get_xlabel() for x in (plane, matrix)] == ["real part [1/s]", "mode"]


def test_axes_of_curves_and_bars_have_units():
    model = kp.linearise(kp.example("double-pendulum"), [0.0, 0.0])
    locus = type(model).plot_locus([model, model], [0.0, 1.0], quantity="length [m]")
    response = model.plot_response()
    motion = kp.motion.cycloid([0.0], [1.0], 1.0).plot()
    for axis in (*locus.axes[:2], *response.axes, *motion.axes):
        names = [
            axis.get_ylabel(),
            *([axis.get_xlabel()] if axis.xaxis.get_tick_params()["labelbottom"] else []),
        ]
        assert all("[" in name for name in names), (axis.get_title(loc="left"), names)
