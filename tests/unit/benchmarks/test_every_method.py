"""Every public method of a mechanism is timed, or it is said why not; figures of a busy machine are marked."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import every_method as bench
from benchmarks.busy import Look, Watch
from benchmarks.machine import peak_rate

import kinpair as kp

TIMED = bench.TREE.keys() | bench.CLOSED.keys()


def test_every_public_method_has_a_row_or_a_reason():
    every = {
        name
        for name in dir(kp.Mechanism)
        if not name.startswith("_") and inspect.isfunction(inspect.getattr_static(kp.Mechanism, name))
    }
    others = bench.SPECIAL.keys() | bench.NOT_TIMED.keys()
    assert TIMED | others == every
    assert not TIMED & others
    assert all(len(reason) > 10 for reason in bench.NOT_TIMED.values())


@pytest.mark.parametrize("name", bench.TREE)
def test_the_rows_of_trees_are_calls_that_work(name):
    m = kp.example("double-pendulum").reference
    s = {"q": np.array([[0.1, 0.2], [0.3, 0.4]]), "qd": np.ones((2, 2)), "x": np.ones((2, 2))}
    method = bench.TREE[name]
    bench.prepared(m, name, method, {part: x[0] for part, x in s.items()})()
    if method.batch:
        bench.prepared(m, name, method, s)()


def test_the_rows_of_loops_are_calls_that_work(monkeypatch):
    monkeypatch.setattr(bench, "BATCH", 2)
    monkeypatch.setattr(bench, "WARM", 1)
    m = kp.example("four-bar")
    s = bench.closed_states(m)
    for name, method in bench.CLOSED.items():
        bench.prepared(m, name, method, {part: x[0] for part, x in s.items()})()
        if method.batch:
            bench.prepared(m, name, method, s)()


def test_demands_on_a_row_are_judged_as_written():
    row = bench.Timed(
        "x", "y", 100.0, 20.0, {"Pinocchio": 350.0}, 40, 5.0, {"Pinocchio": 3.0, "batch [ns]": 10.0}
    )
    assert [(found, met) for _, found, _, met in row.verdicts()] == [(3.5, True), (20.0, False)]
    assert row.over_limit == 4.0


def test_figures_of_a_busy_machine_are_marked():
    calm = Look(best=1e-3, spread=0.02, load=0.1)
    assert str(Watch(calm, calm)) == (
        "the machine was free (load before 0.10 a core, after 0.10): figures may be quoted"
    )
    shaken, crowded, slower = replace(calm, spread=0.4), replace(calm, load=1.5), replace(calm, best=1.3e-3)
    for watch, reason in (
        (Watch(calm, shaken), "after the measurements the same loop took 40% longer at the median"),
        (Watch(crowded, calm), "1.5 processes a core wanted to run before it began"),
        (Watch(calm, slower), "the same loop took +30% of its time at the end"),
    ):
        assert not watch.trusted
        assert str(watch).startswith("THE MACHINE WAS BUSY (load before ")
        assert str(watch).endswith(f"do not quote these figures: {reason}")


def test_the_limit_of_the_machine_is_a_rate_of_operations():
    assert 0.0 < peak_rate(chains=(8,), turns=1) < np.inf
