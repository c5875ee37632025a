"""Formulations beside each other: what is found is so, and what is wrong is found."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import sys
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pytest
from benchmarks.chains import dh_chain

import kinpair as kp
import zoo
from kinpair.algebra.arrays import array
from kinpair.analysis.compare import USUAL, Comparison, Row
from kinpair.analysis.comparison_views import BAR
from kinpair.analysis.measuring import random_states
from kinpair.compiler import patience as patience_module
from kinpair.compiler import patience as progress_module
from kinpair.errors import InputError
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations import composite, denoc
from waiting import HANGS, wait_until

compare_module = importlib.import_module(
    "kinpair.analysis.compare"
)  # the package has a function of that name


@pytest.fixture(scope="module")
def arm():
    return kp.example("planar-3r")


@pytest.fixture(scope="module")
def found(arm):
    return kp.compare(arm, time=False)


@pytest.fixture(scope="module")
def timed(arm):
    return kp.compare(arm, quantities=["mass_matrix", "forward_dynamics"], states=4)


def with_method(monkeypatch, quantity, name, formulation):
    """One more way to a quantity, for the time of a test."""
    monkeypatch.setitem(METHODS, quantity, METHODS[quantity] | {name: formulation})


def row_of(comparison, quantity, method):
    return next(row for row in comparison.of(quantity) if row.method == method)


def test_every_formulation_has_a_row(found):
    assert found.quantities == USUAL
    for quantity in USUAL:
        assert [row.method for row in found.of(quantity)] == list(METHODS[quantity])


@pytest.mark.parametrize(
    "mechanism",
    [kp.example("planar-3r"), kp.example("kr5"), zoo.tree(3, 5), zoo.tree(4, 4, floating=True)],
    ids=lambda m: m.name,
)
def test_all_that_apply_agree_to_rounding(mechanism):
    comparison = kp.compare(mechanism, time=False, states=5, seed=2)
    assert comparison.agrees, str(comparison)
    assert all(row.error <= row.bound for row in comparison.rows if not row.reason)
    assert all(row.bound < 1e-6 for row in comparison.rows if not row.reason)


def test_compiled_code_agrees_with_the_yardstick(timed):
    assert timed.agrees, str(timed)
    assert row_of(timed, "mass_matrix", "denoc").error > 0


def test_operations_are_those_of_the_kernel(arm, found):
    for row in found.rows:
        count = arm.kernel(row.quantity, method=row.method, passive=False).count
        assert row.multiplications == count["multiplications"] + count["divisions"]
        assert row.additions == count["additions"]
        assert row.operations == count["total"] == row.multiplications + row.additions + row.others


def test_springs_and_dampers_do_not_count():
    arm = kp.example("scara")
    bare, damped = (arm.kernel("inverse_dynamics", passive=p).count["total"] for p in (False, True))
    row = kp.compare(arm, time=False, quantities=["inverse_dynamics"]).rows[0]
    assert row.operations == bare < damped


def test_a_wrong_formulation_is_found_and_wins_nothing(monkeypatch, arm):
    with_method(monkeypatch, "mass_matrix", "wrong", lambda model, q: np.eye(model.nv))
    comparison = kp.compare(arm, quantities=["mass_matrix"], time=False)
    wrong = row_of(comparison, "mass_matrix", "wrong")
    assert wrong.operations == 0
    assert wrong.agrees is False
    assert not comparison.agrees
    assert comparison.cheapest == {"mass_matrix": "newton-euler"}
    assert "! beyond what rounding explains: wrong" in str(comparison)


def test_a_slightly_wrong_one_too(monkeypatch, arm):
    with_method(
        monkeypatch, "mass_matrix", "wrong", lambda model, q: (1 + 1e-11) * composite.mass_matrix(model, q)
    )
    wrong = row_of(kp.compare(arm, quantities=["mass_matrix"], time=False), "mass_matrix", "wrong")
    assert wrong.agrees is False
    assert 1e-12 < wrong.error < 1e-10


def test_numbers_that_are_none_do_not_agree(monkeypatch, arm):
    with_method(monkeypatch, "mass_matrix", "lost", lambda model, q: np.full((3, 3), np.nan))
    comparison = kp.compare(arm, quantities=["mass_matrix"], time=False)
    assert row_of(comparison, "mass_matrix", "lost").agrees is False
    lost = next(row for row in json.loads(comparison.to_json())["rows"] if row["method"] == "lost")
    assert lost["error"] is None


def test_a_refusal_is_a_row_with_its_reason(monkeypatch, arm):
    def refusing(model, q):
        raise InputError("only for snakes")

    with_method(monkeypatch, "mass_matrix", "snake", refusing)
    comparison = kp.compare(arm, quantities=["mass_matrix"], time=False)
    row = row_of(comparison, "mass_matrix", "snake")
    assert row == Row("mass_matrix", "snake", reason="only for snakes")
    assert comparison.agrees
    assert "\nsnake: only for snakes" in str(comparison)


def test_force_has_long_work_done(monkeypatch):
    from kinpair.formulations import limits

    monkeypatch.setattr(limits, "COSTLY", {"denoc": lambda model, quantity: "is long work"})
    arm = kp.example("planar-3r")
    assert row_of(kp.compare(arm, quantities=["mass_matrix"], time=False), "mass_matrix", "denoc").reason == (
        "method 'denoc' is long work"
    )
    forced = kp.compare(arm, quantities=["mass_matrix"], time=False, force=True)
    assert row_of(forced, "mass_matrix", "denoc").agrees


def test_a_singular_solve_is_a_reason():
    body = kp.Link("pin", 0.0)
    with pytest.warns(kp.DescriptionWarning):
        pin = kp.build(kp.Description("pin", (body,), (kp.Joint("turn", "revolute", "ground", "pin"),)))
    rows = kp.compare(pin, quantities=["forward_dynamics"], time=False).rows
    assert all("singular at joint 'turn'" in row.reason for row in rows)


def test_what_several_say_is_said_once():
    rows = (
        Row("x", "a", reason="too short"),
        Row("x", "b", reason="method 'b' needs more"),
        Row("x", "c", reason="too short"),
    )
    lines = str(Comparison("m", 1, 1, 0, "cpu", rows)).splitlines()
    assert lines[-2:] == ["a, c: too short", "method 'b' needs more"]


def test_of_a_long_mechanism_only_the_loop_is_counted():
    comparison = kp.compare(dh_chain(121), quantities=["inverse_dynamics"], states=1, time=False)
    looped = {row.method: row for row in comparison.rows if row.method in ("newton-euler", "denoc")}
    assert all(row.agrees and row.operations > 0 for row in looped.values())
    others = [row for row in comparison.rows if row.method not in looped]
    assert all(row.reason and row.operations is None for row in others)
    assert row_of(comparison, "inverse_dynamics", "popov").reason == (
        "chain of 121 has 121 bodies; beyond 120 this is evaluated without the compiler, so there are no "
        "operations to count"
    )


def test_two_coriolis_matrices_may_differ_and_only_one_be_skew(monkeypatch):
    """K q̇ = 0 with K = a aᵀ, a across q̇: the efforts stay, Ḣ − 2C is skew no more."""

    def unlike(model, q, qd):
        a = array([qd[1], -qd[0]])
        return denoc.coriolis_matrix(model, q, qd) + np.outer(a, a)

    with_method(monkeypatch, "coriolis_matrix", "unlike", unlike)
    comparison = kp.compare(kp.example("cart-pole"), quantities=["coriolis_matrix"], time=False)
    assert row_of(comparison, "coriolis_matrix", "denoc").skewness < 1e-13
    row = row_of(comparison, "coriolis_matrix", "unlike")
    assert row.agrees
    assert row.skewness > 0.1


def test_times_are_measured_and_no_cache_is_used(monkeypatch, tmp_path, arm):
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path / "cache"))
    for row in kp.compare(arm, quantities=["mass_matrix"], states=1).rows:
        assert 0 < row.batch < row.one < row.compile
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("quantity", ["forward_dynamics", "reactions", "forward_dynamics_derivatives"])
def test_timed_is_the_method_that_a_user_calls(monkeypatch, quantity):
    """What the clock sees is the method itself, bound to a mechanism, with states and options as a user writes them."""
    raced = {}

    def race(calls, turns, clock):
        raced.update(calls)
        return dict.fromkeys(calls, 1.0)

    monkeypatch.setattr("kinpair.analysis.measuring.race", race)
    monkeypatch.setitem(METHODS, quantity, dict(list(METHODS[quantity].items())[:1]))
    m = kp.example("double-pendulum")
    kp.compare(m, quantities=[quantity], states=1)
    states = random_states(m.model, 1024, 0)
    inputs = [states[name] for name in ("q", "qd", "tau" if quantity.startswith("forward") else "qdd")]
    (method, _), one = next(iter(raced.items()))
    timed = one.__closure__ and {
        x.cell_contents for x in one.__closure__ if isinstance(x.cell_contents, partial)
    }
    (call,) = timed
    assert call.func.__name__ == quantity
    assert call.keywords == {"method": method, "force": False, "passive": False}
    assert all(np.array_equal(x, y[0]) for x, y in zip(call.args, inputs, strict=True))
    batch = raced[method, "batch"]
    assert batch.func.__name__ == quantity
    expected = getattr(m, quantity)(*inputs, passive=False)
    found = batch()
    pairs = (
        zip(found.values(), expected.values(), strict=True)
        if quantity == "reactions"
        else [(found, expected)]
    )
    assert all(np.allclose(x, y, rtol=1e-9, atol=1e-9) for x, y in pairs)


def test_without_time_nothing_is_compiled(found):
    assert all(row.one is row.batch is row.compile is None for row in found.rows)
    assert found.fastest == {}
    assert "[ns]" not in str(found)


def test_the_same_seed_gives_the_same_numbers(arm, found):
    again, other = (kp.compare(arm, time=False, seed=seed) for seed in (0, 1))
    assert again.rows == found.rows
    assert other.rows != found.rows


def test_the_least_win():
    rows = (
        Row("x", "a", agrees=True, operations=5, batch=2e-9),
        Row("x", "b", agrees=True, operations=4, batch=3e-9),
        Row("x", "c", agrees=False, operations=1, batch=1e-9),
        Row("y", "d", reason="no"),
    )
    comparison = Comparison("m", 1, 1, 0, "cpu", rows)
    assert comparison.cheapest == {"x": "b"}
    assert comparison.fastest == {"x": "a"}
    assert not comparison.agrees


def test_it_is_said_that_loops_are_left_open(found):
    assert found.constraints == 0
    assert "left open" not in str(found)
    assert "; 2 of its constraints beyond the joints left open" in str(replace(found, constraints=2))


def test_states_stay_within_the_limits():
    model = kp.example("scara").model
    states = random_states(model, 200, 3)
    bounded = np.isfinite(model.joints.lower)
    assert bounded.any()
    assert (states["q"] >= model.joints.lower).all()
    assert (states["q"] <= model.joints.upper).all()
    floating = random_states(kp.example("floating-arm").model, 50, 3)["q"]
    assert np.linalg.norm(floating[:, 3:7], axis=1) == pytest.approx(np.ones(50), rel=1e-15)


def test_the_table_names_the_winners(timed):
    text = str(timed)
    assert text.startswith("planar-3r: 3 degrees of freedom, 4 random states (seed 0), processor ")
    assert re.search(r"\nMass matrix H\nmethod .*compile \[ms\]\n", text)
    assert f"cheapest: {timed.cheapest['mass_matrix']}, fastest in a batch: " in text
    assert max(map(len, text.splitlines())) <= 120


def test_json_has_all_of_it(timed, tmp_path):
    document = json.loads(timed.to_json(tmp_path / "c.json"))
    assert json.loads((tmp_path / "c.json").read_text()) == document
    assert [Row(**row) for row in document["rows"]] == list(timed.rows)
    assert document["cheapest"] == timed.cheapest


def test_records_are_plain(timed):
    assert {tuple(record) for record in timed.records} == {tuple(timed.records[0])}
    assert timed.records[0]["mechanism"] == "planar-3r"
    assert timed.records[0]["operations"] == timed.rows[0].operations


class Bars(HTMLParser):
    """Widths of the bars, and the tags that are open."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.widths = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag == "rect":
            self.widths.append(float(dict(attrs)["width"]))
        if tag not in ("meta", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_complete_in_itself(timed, tmp_path):
    text = timed.to_html(tmp_path / "c.html").read_text("utf-8")
    bars = Bars()
    bars.feed(text)
    assert not bars.open
    assert bars.seen.count("svg") == 2
    assert not {"script", "link", "img"} & set(bars.seen)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_bars_are_as_long_as_what_they_show(found, tmp_path):
    bars = Bars()
    bars.feed(found.to_html(tmp_path / "c.html").read_text("utf-8"))
    rows = found.of(found.quantities[0])
    most = max(row.operations for row in rows)
    shown = np.reshape(bars.widths[: 3 * len(rows)], (-1, 3))
    expected = [[BAR * x / most for x in (r.multiplications, r.additions, r.others)] for r in rows]
    assert shown == pytest.approx(np.array(expected), abs=0.051)


def test_names_are_text_and_no_markup(tmp_path):
    comparison = Comparison("<b>&", 1, 1, 0, "cpu", (Row("x", "m", reason="<i>"),))
    text = comparison.to_html(tmp_path / "c.html").read_text("utf-8")
    assert "<b>" not in text
    assert "<i>" not in text
    assert "&lt;b&gt;&amp;" in text


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (HANGS, False)])
def test_long_work_shows_a_bar_on_a_terminal(monkeypatch, patience, shown):
    monkeypatch.setattr(progress_module, "PATIENCE", patience)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_module.progress("comparing", 2) as begin:
        begin("first")
        wait_until(lambda: terminal.getvalue() or not shown, "no bar appeared")
        begin("second")
    assert ("comparing" in terminal.getvalue()) is shown


def test_elsewhere_short_work_is_silent(capsys):
    with progress_module.progress("comparing", 1) as begin:
        begin("first")
    assert capsys.readouterr() == ("", "")


def test_elsewhere_long_work_says_how_far_it_is(monkeypatch):
    """After a second and then every five, also while one step goes on."""
    screen = io.StringIO()
    monkeypatch.setattr(patience_module, "PATIENCE", 0.0)
    monkeypatch.setattr(patience_module, "PAUSE", 0.01)
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_module.progress("comparing", 3) as begin:
        begin("first")
        wait_until(lambda: screen.getvalue().count("0 of 3 done, now first\n") > 1, "nothing was said")
        begin("second")
        wait_until(
            lambda: "kinpair: comparing: 1 of 3 done, now second\n" in screen.getvalue(), "no second line"
        )


def test_a_comparison_tells_each_method(monkeypatch):
    names: list[str] = []
    monkeypatch.setattr(compare_module, "progress", lambda *_: contextlib.nullcontext(names.append))
    kp.compare(kp.example("cart-pole"), quantities=["coriolis_matrix"], time=False)
    assert names == [f"coriolis matrix, {name}" for name in METHODS["coriolis_matrix"]]


def stop(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("time", [False, True])
def test_ctrl_c_keeps_the_rows_that_are_finished(monkeypatch, tmp_path, arm, found, time):
    methods = METHODS["forward_dynamics"]
    place = list(methods).index("uicker")
    monkeypatch.setitem(METHODS, "forward_dynamics", methods | {"uicker": stop})
    part = kp.compare(arm, quantities=["mass_matrix", "forward_dynamics", "reactions"], time=time)
    kept = [("mass_matrix", m) for m in METHODS["mass_matrix"]]
    kept += [("forward_dynamics", m) for m in list(methods)[:place]]
    assert [(row.quantity, row.method) for row in part.rows] == kept
    every = sum(len(METHODS[name]) for name in ("mass_matrix", "forward_dynamics", "reactions"))
    assert (part.complete, part.status) == (False, f"stopped after {len(kept)} of {every} rows")
    assert part.agrees
    assert all((row.batch is not None) is time for row in part.rows)
    assert [row.operations for row in part.rows] == [row_of(found, *x).operations for x in kept]
    assert part.status in str(part).splitlines()[0]
    document = json.loads(part.to_json())
    assert (document["complete"], document["status"]) == (False, part.status)
    assert part.status in part.to_html(tmp_path / "c.html").read_text("utf-8")


def test_ctrl_c_before_the_first_row_has_nothing_to_keep(monkeypatch, arm):
    monkeypatch.setattr("kinpair.analysis.measuring.warm_up", stop)
    with pytest.raises(KeyboardInterrupt):
        kp.compare(arm)


def test_a_whole_comparison_is_complete(found):
    assert (found.complete, found.status) == (True, "complete")
    assert json.loads(found.to_json())["complete"] is True
    assert "stopped" not in str(found)
