"""Races are won by the faster; demands are judged as they are written."""

from __future__ import annotations

from functools import partial

import pytest
from benchmarks import methods, symbols, targets
from benchmarks.batches import Row
from benchmarks.machine import compiling_for, instruction_sets
from benchmarks.markdown import formulations
from benchmarks.methods import Counted
from benchmarks.report import _methods
from benchmarks.robots import ROBOTS, robot
from benchmarks.timing import race, repeated, wall_time

from kinpair.compiler import target
from kinpair.evaluation.quantities.request import METHODS


def test_the_faster_wins():
    passed = [0.0]

    def works(seconds: float) -> None:
        passed.append(passed[-1] + seconds)

    rivals = {name: partial(works, seconds) for name, seconds in (("fast", 0.001), ("slow", 0.005))}
    best = race(rivals, turns=2, clock=lambda: passed[-1])
    assert best == pytest.approx({"fast": 0.001, "slow": 0.005})


def test_every_operation_is_recorded_once():
    assert symbols.record(1000) == 1 + 1000 + 500  # x, a product and a sum each time, and a constant


def test_time_on_the_wall_goes_on():
    before = wall_time()
    assert wall_time() >= before


def test_a_repeated_call_is_made_so_often():
    built = []
    repeated(built.append, 1, times=7)()
    assert built == [1] * 7


@pytest.mark.parametrize(
    ("instructions", "width"), [("SSE2", 16), ("AVX2", 32), (instruction_sets()[-1], 64)]
)
def test_code_for_less_than_the_machine_has(instructions, width):
    before = target.host()
    with compiling_for(instructions):
        assert target.host().width == min(width, before.width)
        with compiling_for("host"):
            assert target.host().width == min(width, before.width)
    assert target.host() == before


@pytest.mark.parametrize(
    ("quantity", "label", "nv", "demanded"),
    [
        ("inverse dynamics", "UR5", 6, 25.0),
        ("forward dynamics", "G1", 29, 12.0),
        ("forward dynamics", "G1", 44, None),
        ("mass matrix", "G1", 29, 16.0),
        ("one state", "Panda", 9, 4.0),
    ],
)
def test_what_is_demanded_of_a_robot(quantity, label, nv, demanded):
    assert targets.ratio(quantity, "Pinocchio", robot(label), nv) == demanded


def test_a_ratio_is_their_time_to_ours():
    row = Row("mass matrix", "UR5", 6, {"AVX2": 20.0}, {}, {"Pinocchio": 500.0})
    assert row.ratio("Pinocchio", "AVX2") == 25.0


def test_a_default_with_more_operations_is_seen():
    assert Counted("x", "UR5", {"default": 5, "other": 5}).default_is_leanest
    assert not Counted("x", "UR5", {"default": 6, "other": 5}).default_is_leanest


def test_only_the_coriolis_matrix_has_a_default_for_another_reason_than_its_operations():
    chosen = {name: Counted(name, "UR5", {}).chosen for name in METHODS}
    assert {name for name, why in chosen.items() if why} == {"coriolis_matrix"}
    table = _methods([Counted("coriolis_matrix", "UR5", {"denoc": 6, "lagrange": 5})])
    assert list(table.columns[-1].cells) == ["published form", ""]


def test_ratios_of_a_method_are_to_the_default():
    row = Counted("x", "UR5", {"a": 10, "b": 30}, {"a": 2e-8, "b": 3e-8}, {"a": 0.1, "b": 0.4})
    assert row.ratios("b") == pytest.approx((3.0, 1.5, 4.0))


def test_methods_of_an_arm_are_counted_and_timed():
    every = methods.rows(("UR5",), timed=("UR5",), quantities=("mass_matrix",))
    (row,) = every
    assert list(row.operations) == list(row.compile) == list(row.batch)
    assert row.default_is_leanest


def test_every_robot_has_a_file():
    assert all(r.path.exists() for r in ROBOTS)


def test_the_table_of_formulations_has_a_column_each():
    rows = [
        Counted("mass_matrix", "UR5", {"a": 10, "b": 20}, {"a": 1e-8, "b": 3e-8}, {"a": 0.1, "b": 0.05}),
        Counted("reactions", "UR5", {"b": 7}, {"b": 2e-8}, {"b": 0.2}),
    ]
    assert formulations(rows).splitlines()[2:] == [
        "| quantity | robot | `a` | `b` |",
        "| --- | --- | --- | --- |",
        "| mass matrix | UR5 | 10 · 10 ns · 100 ms | 2.0 · 3.0 · 0.5 |",
        "| reactions | UR5 |  | 7 · 20 ns · 200 ms |",
    ]
