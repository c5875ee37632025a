"""Roots of guards in machine code, on motions whose roots are known: a ball under gravity 1, which bounces."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kinpair.algebra.choice import less, where
from kinpair.compiler.time_loop.loop import AdaptiveLoop
from kinpair.compiler.time_loop.memory import Standing
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.roots import LOOK, NOTHING, PASS, STOP, row_length
from kinpair.compiler.trace import trace
from kinpair.simulation.methods.tableaux import DOP853, DOPRI5

RESTITUTION = 0.8
BOTTOM, RATE, CLOCK = range(3)  # guards: the height, its rate, and the time to 1
NEVER = np.array([[NOTHING] * 3, [NOTHING] * 3, [0.0] * 3, [-1.0] * 3])


def bounced(time, y, e):
    """The ball leaves the ground; beyond the fourth second it is not known what becomes of it."""
    hits = less(0.5, e[BOTTOM])
    rate = where(hits, -RESTITUTION * y[1], y[1])
    return np.array([y[0], rate]), where(less(4.0, time), -1.0, where(less(0.5, e[-1]), 2.0, 0.0))


@cache
def ball(tableau=DOPRI5) -> AdaptiveLoop:
    shapes = {"time": (), "y": (2,)}
    rhs = trace(lambda time, y: np.array([y[1], -1.0]), shapes)
    guard = trace(lambda time, y: np.array([y[0], y[1], 1.0 - time]), shapes)
    change = trace(bounced, {**shapes, "e": (4,)})
    return AdaptiveLoop(Flow(2, ng=3, rhs=rhs, guard=guard, change=change), tableau)


def acts(**changed) -> np.ndarray:
    """Nothing but what is given: rows of acts by guard."""
    table, rows = NEVER.copy(), {"falls": 0, "rises": 1, "fired": 2, "slope": 3}
    for name, value in changed.items():
        row, guard = name.split("_")
        table[rows[row], {"bottom": BOTTOM, "rate": RATE, "clock": CLOCK}[guard]] = value
    return table


def run(table, *, start=(1.0, 0.0), stop=3.0, tableau=DOPRI5, room=10, longest=0.3, steps=1 << 40):
    """To the end, or to where it returns; and the log."""
    loop, wanted = ball(tableau), np.linspace(0.0, stop, 7)
    at = loop.begin(np.array(start), 0.0, wanted, dt=longest)
    log = loop.log(room)
    further(at, table, log, stop=stop, longest=longest, steps=steps, loop=loop, wanted=wanted)
    return at, log[: at.roots]


def further(at: Standing, table, log, *, loop, wanted, stop=3.0, longest=0.3, steps=1 << 40) -> None:
    loop.run(
        at, stop=stop, wanted=wanted, rtol=1e-9, atol=np.full(2, 1e-9), longest=longest,
        steps=steps, acts=table, log=log,
    )  # fmt: skip


def bounces(count: int) -> np.ndarray:
    """Times at which a ball from rest at height 1 meets the ground."""
    rates = np.sqrt(2.0) * RESTITUTION ** np.arange(count)
    return np.cumsum(np.concatenate([rates[:1], 2.0 * rates[1:]]))


@pytest.mark.parametrize("tableau", [DOPRI5, DOP853], ids=["dopri5", "dop853"])
def test_a_run_stops_at_the_root(tableau):
    at, log = run(acts(falls_bottom=STOP), tableau=tableau)
    assert at.why == "root"
    assert at.time == pytest.approx(np.sqrt(2.0), abs=4e-15)
    assert at.state(2) == pytest.approx([0.0, -np.sqrt(2.0)], abs=1e-14)
    assert at.state(2)[0] <= 0.0
    assert at.dt == 0.3  # the length that the step had
    assert log[:, 0] == at.time
    assert log[0, 1:4].tolist() == [1.0, 0.0, 0.0]
    assert log[0, 4] > 0.0 > log[0, 7]
    assert at.Y[: at.samples, 0] == pytest.approx(1.0 - np.linspace(0.0, 1.0, 3) ** 2 / 2.0)


def test_a_run_passes_its_roots_by_the_change_and_returns_where_that_cannot_tell():
    at, log = run(acts(falls_bottom=PASS), stop=9.0)
    expected = bounces(3)
    assert at.why == "root"  # the third bounce is beyond 4 s
    assert log[:, 0] == pytest.approx(expected, abs=2e-14)
    before, behind = log[:, -4:-2], log[:, -2:]
    assert behind[:2, 1] == pytest.approx(-RESTITUTION * before[:2, 1], rel=1e-15)
    assert behind[2] == pytest.approx(before[2], abs=0.0)
    assert at.state(2) == pytest.approx(before[2], abs=0.0)


def test_a_run_goes_on_from_a_full_log_as_if_it_had_not_returned():
    whole, log = run(acts(falls_bottom=PASS), stop=4.0)
    assert (whole.why, len(log)) == ("done", 2)
    at, first = run(acts(falls_bottom=PASS), stop=4.0, room=1)
    assert (at.why, len(first)) == ("more", 1)
    assert at.time == first[0, 0]
    second = ball().log(9)
    further(at, acts(falls_bottom=PASS), second, loop=ball(), wanted=np.linspace(0.0, 4.0, 7), stop=4.0)
    assert at.why == "done"
    assert second[0].tolist() == log[1].tolist()
    assert at.memory[:11].tolist() == whole.memory[:11].tolist()
    assert at.state(2).tolist() == whole.state(2).tolist()


def test_a_run_cut_into_single_steps_has_the_same_roots():
    whole, log = run(acts(falls_bottom=PASS), stop=4.0)
    at, rows = run(acts(falls_bottom=PASS), stop=4.0, steps=1)
    wanted, every = np.linspace(0.0, 4.0, 7), list(rows)
    while at.why == "more":
        part = ball().log(9)
        further(at, acts(falls_bottom=PASS), part, loop=ball(), wanted=wanted, stop=4.0, steps=1)
        every += list(part[: at.roots])
    assert np.array(every).tolist() == log.tolist()
    assert at.state(2).tolist() == whole.state(2).tolist()


def test_a_change_of_sign_that_calls_for_nothing_changes_no_bit():
    at, log = run(acts(rises_bottom=STOP, falls_rate=NOTHING, rises_clock=STOP))
    free = ball().begin(np.array([1.0, 0.0]), 0.0, np.linspace(0.0, 3.0, 7), dt=0.3)
    ball().run(
        free, stop=3.0, wanted=np.linspace(0.0, 3.0, 7), rtol=1e-9, atol=np.full(2, 1e-9), longest=0.3,
        minding=False,
    )  # fmt: skip
    assert (at.why, len(log)) == ("done", 0)
    assert at.Y.tolist() == free.Y.tolist()
    assert at.memory.tolist() == free.memory.tolist()


def test_of_two_roots_in_a_step_the_first_is_taken_and_then_the_other():
    height = 0.6  # the ground is met at √1.2 = 1.095, in the same step as the time 1
    table = acts(falls_bottom=PASS, falls_clock=PASS)
    at, log = run(table, start=(height, 0.0), longest=0.9, stop=1.2)
    assert at.why == "done"
    assert log[:, 0] == pytest.approx([1.0, np.sqrt(2.0 * height)], abs=4e-15)
    assert log[:, 1:4].tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_guards_that_meet_at_one_instant_have_one_root():
    at, log = run(acts(falls_bottom=STOP, falls_clock=STOP), start=(0.5, 0.0))  # on the ground at 1
    assert at.why == "root"
    assert log[0, 0] == pytest.approx(1.0, abs=4e-15)
    assert log[0, 1:4].tolist() == [1.0, 0.0, 1.0]


def test_from_the_value_at_which_it_has_just_fired_a_guard_makes_no_root():
    at, _ = run(acts(falls_bottom=STOP), longest=2.0)
    assert at.time == pytest.approx(np.sqrt(2.0), abs=2e-14)  # 1e-14 of the step
    again, log = run(acts(falls_bottom=STOP, fired_bottom=1.0), longest=2.0)  # the step begins at height 1
    assert (again.why, len(log)) == ("done", 0)


def test_a_slope_that_rises_is_looked_at_where_the_value_may_have_been_below_zero_in_between():
    shapes, wanted, rising = {"time": (), "y": (2,)}, np.array([9.0]), acts(slope_rate=BOTTOM)
    rhs = trace(lambda time, y: np.array([y[1], 1.0]), shapes)
    guard = trace(lambda time, y: np.array([y[0], y[1], 1.0 - time]), shapes)
    loop = AdaptiveLoop(Flow(2, ng=3, rhs=rhs, guard=guard), DOPRI5)
    for low, why in ((0.05, "crossed"), (5.0, "done")):
        at = loop.begin(np.array([low, -0.5]), 0.0, wanted, dt=1.0)
        further(at, rising, loop.log(3), loop=loop, wanted=wanted, stop=1.0, longest=1.0)
        assert at.why == why


@pytest.mark.parametrize("table", [acts(falls_bottom=LOOK), None])
def test_a_run_returns_before_a_step_that_is_to_be_looked_at(table):
    at, log = run(table, start=(0.4, 0.0))  # on the ground at √0.8, before the time 1
    assert (at.why, len(log)) == ("crossed", 0)
    assert at.time < np.sqrt(0.8) < at.time + at.dt


def test_a_row_of_the_log_has_room_for_everything():
    assert row_length(ball().flow) == 1 + 3 * 3 + 2 * 2 == ball().log(1).shape[1]
