"""What a notebook shows of a mechanism, a run, a comparison and equations."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import kinpair as kp

EMPTY = {"img", "br", "meta"}


class Cells(HTMLParser):
    """Texts of the cells of all tables, row by row; every element must be closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "crane"])
def test_the_page_of_a_mechanism_has_the_cells_of_its_text(name):
    m = kp.example(name)
    text, html = str(m), m._repr_html_()
    rows = [re.split(r" {2,}", line) for line in text.splitlines() if "  " in line and "---" not in line]
    assert Cells(html).rows == rows
    assert text.splitlines()[0] in html


def test_the_page_of_a_mechanism_says_how_it_can_move():
    assert "freedom 1: 3 rates" in kp.example("four-bar")._repr_html_()


def test_names_are_escaped():
    build = kp.Builder("<b>").link("<i>", mass=1.0, inertia=[1, 1, 1])
    m = kp.build(build.joint("a&b", "revolute", "ground", "<i>", axis="y").description())
    assert Cells(m._repr_html_()).rows[1][:3] == ["<i>", "ground", "a&b"]


@pytest.fixture(scope="module")
def run() -> kp.Result:
    m = kp.example("cart-pole")
    return kp.simulate(m, [0.0, 0.5], [0.1, 0.0], duration=0.5, torque=[1.0, 0.2], output=0.1)


@pytest.fixture(scope="module")
def batch(run) -> kp.Result:
    q = np.linspace([0.0, 0.1], [0.0, 0.3], 3)
    return kp.simulate(run.mechanism, q, [0.0, 0.0], duration=0.2, integrator="rk4", dt=0.1)


def test_the_page_of_a_run_has_summary_and_picture(run, batch):
    for x in (run, batch):
        html = x._repr_html_()
        assert Cells(html).rows == []
        assert "Reached t = " in html
        assert '<img src="data:image/png;base64,' in html
    assert "the first of 3 trajectories" in batch._repr_html_()


def test_without_matplotlib_the_page_of_a_run_has_a_table(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    rows = Cells(run._repr_html_()).rows
    assert rows[0] == ["", "unit", "start", "end", "least", "largest"]
    assert rows[2][:3] == ["q swing", "rad", "0.5"]


def test_the_page_of_a_comparison_has_the_rows_of_its_text():
    results = kp.compare(kp.example("double-pendulum"), quantities=["mass_matrix"], states=2, time=False)
    html = results._repr_html_()
    methods = [row[0] for row in Cells(html).rows]
    assert methods == ["method", *(row.method for row in results.rows if not row.reason)]
    assert "double-pendulum: 2 degrees of freedom" in html


def test_formulas_in_a_notebook_are_mathematics_alone():
    """MathJax knows no \\noindent and no text outside of formulas."""
    shown = kp.equations(kp.example("double-pendulum"))._repr_latex_()
    assert shown.startswith("$$")
    assert shown.endswith("$$")
    assert shown.count("$$") == 2
    assert "noindent" not in shown
    assert r"H \ddot{q} + C \dot{q} + G = \tau" in shown
    assert r"H_{22} &= m_{2} \, r_{2}^{2} + I_{2}" in shown


def test_constrained_equations_are_shown_too():
    shown = kp.equations(kp.example("four-bar"), solver="multipliers")._repr_latex_()
    assert r"M \ddot{q} = F + A^T \lambda" in shown
    assert "A_{11} &= " in shown


def test_long_equations_are_left_to_print():
    eqs = kp.equations(kp.example("kr5"), form="terms")
    assert eqs._repr_latex_() is None
    assert repr(eqs) == f"<Equations of 'kr5': {eqs.terms} terms>"


def test_data_frames(run, batch):
    frame = run.to_pandas()
    assert frame.index.name == "time"
    assert list(frame.columns) == [
        *("q.slide", "q.swing", "qd.slide", "qd.swing", "tau.slide", "tau.swing"),
        *("kinetic", "potential", "work", "loss"),
    ]
    assert (frame["q.swing"].to_numpy() == run.q[:, 1]).all()
    assert frame.attrs["units"]["qd.slide"] == "m/s"
    assert frame.loc[0.5, "work"] == run.work[-1]
    many = batch.to_pandas()
    assert many.index.names == ["run", "time"]
    assert (many.loc[2, "q.swing"].to_numpy() == batch.q[2, :, 1]).all()
    assert many.shape == (9, 10)


def test_without_pandas_the_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(kp.MissingExtraError) as result:
        run.to_pandas()
    assert str(result.value) == (
        'a data frame needs pandas; install it with pip install ".[data]" in the folder of kinpair\'s sources'
    )
