"""Loops of steps in machine code, on equations whose solution is known or that plain Python steps as well."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.cache import Store, contents
from kinpair.compiler.time_loop.inputs import Inputs, callback
from kinpair.compiler.time_loop.loop import AdaptiveLoop, FixedLoop
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.tableau import Tableau
from kinpair.compiler.trace import trace
from kinpair.simulation.methods.tableaux import DOP853, DOPRI5, RK4

SHAPES = {"time": (), "y": (2,), "u": (1,)}


def swing(time, y, u):
    return np.array([y[1], -np.sin(y[0]) + u[0]])


def flow(**options) -> Flow:
    return Flow(2, 1, rhs=trace(swing, SHAPES), **options)


def watched(**options) -> Flow:
    watch = trace(lambda time, y, u: np.array([time, y[0] * y[1], u[0]]), SHAPES)
    return flow(nw=3, watch=watch, **options)


def stepped(inputs, dt: float, steps: int, start) -> np.ndarray:
    """The same by plain Python; inputs: (time, y) → u at every stage."""
    y, result = np.array(start, dtype=float), []
    for n in range(steps):
        time, k = n * dt, []
        for c, row in zip(RK4.c, RK4.a, strict=True):
            stage = y + dt * sum((a * x for a, x in zip(row, k, strict=True)), np.zeros(2))
            k.append(swing(time + c * dt, stage, inputs(time + c * dt, stage)))
        y = y + dt * sum(b * x for b, x in zip(RK4.b, k, strict=True))
        result.append(y)
    return np.array(result)


ROUNDING = 1e-13  # of some hundred steps


def test_steps_are_those_of_plain_python():
    result = FixedLoop(watched(), RK4).run(np.array([1.0, 0.2, 0.3]), dt=0.05, samples=100)
    expected = stepped(lambda time, y: [0.3], 0.05, 100, [1.0, 0.2])
    assert np.abs(result.Y - expected).max() < ROUNDING
    assert np.abs(result.W[:, 0] - 0.05 * np.arange(1, 101)).max() < ROUNDING
    assert np.abs(result.W[:, 1] - expected[:, 0] * expected[:, 1]).max() < ROUNDING
    assert (result.W[:, 2] == 0.3).all()
    assert result.why == "more"


def two_body(time, y):
    r2 = y[:3] @ y[:3]
    return np.concatenate([y[3:6], -y[:3] / (r2 * np.sqrt(r2))])


@pytest.mark.parametrize("copies", [2, 4])
def test_sums_over_stages_are_the_same_in_numbers_and_in_vectors(copies):
    """Six states are summed one by one, several times six in vectors, once in a loop over them."""

    def same(time, y):
        return np.concatenate([two_body(time, y[6 * k : 6 * k + 6]) for k in range(copies)])

    start, wanted = np.array([0.5, 0, 0, 0, 1.5, 0.8]), np.linspace(0.0, 7.0, 23)
    results: list[np.ndarray] = []
    for f, n in ((two_body, 6), (same, 6 * copies)):
        loop = AdaptiveLoop(Flow(n, rhs=trace(f, {"time": (), "y": (n,)})), DOP853)
        at = loop.begin(np.tile(start, n // 6), 0.0, wanted)
        loop.run(at, stop=7.0, wanted=wanted, rtol=1e-10, atol=np.full(n, 1e-10))
        assert at.why == "done"
        results.append(at.Y.reshape(len(wanted), -1, 6))
    assert (
        np.abs(results[1] - results[0]).max() < 1e-10
    )  # the mean of the error is the same, its rounding is not


def test_inputs_of_a_table_lie_on_straight_lines_and_end_flat():
    times, rows = np.array([0.5, 1.0, 3.0]), np.array([[0.0], [2.0], [-1.0]])
    inputs = Inputs(times=times, rows=rows)
    result = FixedLoop(flow(source="table"), RK4).run(
        np.array([0.1, 0.0, 9.0]), dt=0.05, samples=80, inputs=inputs
    )
    expected = stepped(lambda time, y: [np.interp(time, times, rows[:, 0])], 0.05, 80, [0.1, 0.0])
    assert np.abs(result.Y - expected).max() < ROUNDING


def no_failure(problem):
    raise AssertionError(problem)


def test_a_called_function_is_asked_at_every_stage():
    request_of = []

    def control(time, y):
        request_of.append(time)
        return np.array([np.cos(time) - y[0]])

    inputs = Inputs(called=callback(control, 2, 1, no_failure))
    result = FixedLoop(flow(source="call"), RK4).run(
        np.array([0.1, 0.0, 0.0]), dt=0.05, samples=40, inputs=inputs
    )
    assert len(request_of) == 4 * 40
    assert np.abs(result.Y - stepped(lambda t, y: [np.cos(t) - y[0]], 0.05, 40, [0.1, 0.0])).max() < ROUNDING


@pytest.mark.parametrize("way", ["program", "call"])
def test_held_inputs_change_at_their_sample_times_only(way):
    control = trace(lambda time, y, u: np.array([-2.0 * y[0] + time]), SHAPES)
    built = flow(source=way, sampled=True, control=control if way == "program" else None)
    called = callback(lambda time, y: np.array([-2.0 * y[0] + time]), 2, 1, no_failure)
    loop, inputs = FixedLoop(built, RK4), Inputs(called=called)
    options = {"dt": 0.05, "hold": 4, "inputs": inputs}
    start = loop.run(np.array([0.4, 0.0, 0.0]), samples=1, every=0, **options).end
    result = loop.run(start, samples=40, **options)

    expected, y = [], np.array([0.4, 0.0])
    for n in range(10):
        u = [-2.0 * y[0] + 4 * n * 0.05]
        expected.extend(stepped(lambda time, y, u=u: u, 0.05, 4, y))
        y = expected[-1]
    assert np.abs(result.Y - np.array(expected)).max() < ROUNDING


def test_a_run_cut_in_pieces_is_the_same_to_the_last_bit():
    control = trace(lambda time, y, u: np.array([np.sin(time) - y[1]]), SHAPES)
    loop = FixedLoop(watched(source="program", sampled=True, control=control), RK4)
    options = {"dt": 0.01, "hold": 7, "t0": 0.3}
    start = loop.run(np.array([0.4, 0.0, 0.0]), samples=1, every=0, **options).end
    whole = loop.run(start, samples=60, every=5, **options)
    at, Y, W = start, [], []
    for first, samples in ((0, 1), (1, 13), (14, 46)):
        piece = loop.run(at, samples=samples, every=5, first=5 * first, **options)
        at = piece.end
        Y.append(piece.Y)
        W.append(piece.W)
    assert np.array_equal(np.concatenate(Y), whole.Y)
    assert np.array_equal(np.concatenate(W), whole.W)
    assert np.array_equal(at, whole.end)


@pytest.mark.parametrize("rows", [1, 3, 8, 21])
def test_a_row_of_a_batch_does_not_depend_on_its_neighbours(rows):
    loop = FixedLoop(watched(source="table"), RK4)
    rng = np.random.default_rng(1)
    start, table = rng.normal(size=(21, 3)), rng.normal(size=(21, 5, 1))
    times = np.linspace(0, 2, 5)
    options = {"dt": 0.02, "samples": 10, "every": 10}
    every = loop.run(start, inputs=Inputs(times=times, rows=table), threads=2, **options)
    some = loop.run(start[-rows:], inputs=Inputs(times=times, rows=table[-rows:]), **options)
    assert np.array_equal(every.Y[-rows:], some.Y)
    assert np.array_equal(every.W[-rows:], some.W)
    for k in range(21):
        one = loop.run(start[k], inputs=Inputs(times=times, rows=table[k]), **options)
        assert np.abs(one.Y - every.Y[k]).max() < ROUNDING
        assert np.abs(one.W - every.W[k]).max() < ROUNDING


def test_what_is_not_finite_stops_one_run_and_one_row_of_a_batch():
    explode = trace(lambda time, y: y * y, {"time": (), "y": (1,)})
    loop = FixedLoop(Flow(1, rhs=explode), RK4)
    alone = loop.run(np.array([1.0]), dt=0.05, samples=400)
    assert alone.why == "not finite"
    assert 20 < alone.step < 40  # y = 1/(1 − t) leaves at t = 1, steps across it take a little longer
    assert np.isfinite(alone.Y[: alone.step]).all()
    many = loop.run(np.array([[0.0], [1.0], [-1.0]]), dt=0.05, samples=400)
    assert many.why == ["more", "not finite", "more"]
    assert many.step[1] == alone.step
    assert np.isfinite(many.Y[[0, 2]]).all()


def test_a_function_that_refuses_stops_the_run():
    def refuses(time, y):
        if time > 0.49:
            raise ZeroDivisionError
        return np.zeros(1)

    kept = []
    inputs = Inputs(called=callback(refuses, 2, 1, kept.append))
    result = FixedLoop(flow(source="call"), RK4).run(
        np.array([0.4, 0.0, 0.0]), dt=0.1, samples=20, inputs=inputs
    )
    assert (result.why, result.step) == ("refused", 4)
    assert {type(problem) for problem in kept} == {ZeroDivisionError}


def newton(target: float):
    """z → z − (z² − target)/(2z): how far it was, in units of 1e-12."""
    shapes = {"y": (1,), "z": (1,)}

    def improve(y, z):
        step = (z * z - target * y) / (2.0 * z)
        return z - step, np.abs(step[0]) * 1e12

    return trace(improve, shapes)


def test_an_implicit_step_is_repeated_until_it_stands():
    built = Flow(
        1,
        nz=1,
        start=trace(lambda y: y, {"y": (1,)}),
        improve=newton(2.0),
        finish=trace(lambda y, z: z + 0.0 * y, {"y": (1,), "z": (1,)}),
    )
    loop = FixedLoop(built)
    one = loop.run(np.array([5.0]), dt=1.0, samples=30)
    assert one.Y[0, 0] == pytest.approx(np.sqrt(10.0), rel=1e-15)
    assert one.Y[-1, 0] == pytest.approx(2.0, rel=1e-8)  # y ← √(2 y)
    rows = loop.run(np.array([[5.0], [0.1], [2.0]]), dt=1.0, samples=30)
    assert np.abs(rows.Y[0] - one.Y).max() < 1e-15 * 5
    assert rows.Y[:, -1, 0] == pytest.approx([2.0, 2.0, 2.0], rel=1e-8)


def test_an_implicit_step_that_does_not_converge_says_so():
    built = Flow(
        1,
        nz=1,
        start=trace(lambda y: y, {"y": (1,)}),
        improve=newton(-1.0),  # z² = −y has no solution
        finish=trace(lambda y, z: z + 0.0 * y, {"y": (1,), "z": (1,)}),
    )
    result = FixedLoop(built).run(np.array([1.5]), dt=1.0, samples=5)
    assert (result.why, result.step) == ("not converged", 0)


@pytest.mark.parametrize("repeated", [False, True])
def test_states_are_settled_after_each_step(repeated):
    turn = trace(lambda time, y: np.array([-y[1], y[0]]), {"time": (), "y": (2,)})

    def shrink(time, y):
        factor = 1.5 - 0.5 * (y @ y)  # Newton for 1/|y|
        return (y * factor, np.abs(factor - 1.0) * 1e12) if repeated else y * factor

    built = Flow(2, rhs=turn, after=trace(shrink, {"time": (), "y": (2,)}))
    result = FixedLoop(built, RK4).run(np.array([1.0, 0.0]), dt=0.2, samples=50)
    assert np.abs(np.linalg.norm(result.Y, axis=1) - 1.0).max() < (1e-12 if repeated else 1e-6)


def test_sines_of_many_angles_are_those_of_each():
    """One trajectory computes them in vectors, before the code that uses them; one is a result itself, one is far."""

    def turn(time, y):
        others = y[[1, 2, 3, 4, 0]]
        return np.array([np.sin(y[0]), *(np.cos(y[1:]) * np.sin(others[1:]) + np.sin(y[1:] + time))])

    loop = FixedLoop(Flow(5, rhs=trace(turn, {"time": (), "y": (5,)})), RK4)
    start = np.array([0.3, -2.0, 4e5, 7.0, 1e-9])
    one = loop.run(start, dt=0.01, samples=1)
    many = loop.run(np.array([start, start + 1]), dt=0.01, samples=1)
    k = []
    for c, row in zip(RK4.c, RK4.a, strict=True):
        stage = start + 0.01 * sum((a * x for a, x in zip(row, k, strict=True)), np.zeros(5))
        k.append(turn(c * 0.01, stage))
    expected = start + 0.01 * sum(b * x for b, x in zip(RK4.b, k, strict=True))
    assert one.Y[0] == pytest.approx(expected, rel=1e-15, abs=1e-15)
    assert many.Y[0, 0] == pytest.approx(expected, rel=1e-15, abs=1e-15)


# adaptive


def solved(tableau: Tableau, tolerance: float, wanted: np.ndarray, steps: int = 1 << 40):
    loop = AdaptiveLoop(Flow(2, nw=1, **circle()), tableau)
    at = loop.begin(np.array([1.0, 0.0]), 0.0, wanted)
    calls = 0
    while True:
        loop.run(at, stop=20.0, wanted=wanted, rtol=tolerance, atol=np.full(2, tolerance), steps=steps)
        calls += 1
        if at.why != "more":
            return at, calls


def circle():
    shapes = {"time": (), "y": (2,)}
    return {
        "rhs": trace(lambda time, y: np.array([y[1], -y[0]]), shapes),
        "watch": trace(lambda time, y: np.array([y[0] - np.cos(time)]), shapes),
    }


@pytest.mark.parametrize("tableau", [DOPRI5, DOP853], ids=lambda t: t.name)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_errors_follow_the_tolerance(tableau, tolerance):
    wanted = np.linspace(0, 20, 173)
    at, _ = solved(tableau, tolerance, wanted)
    error = np.abs(at.Y[:, 0] - np.cos(wanted)).max()
    assert (at.why, at.samples, at.time) == ("done", 173, 20.0)
    assert 0.1 * tolerance < error < 20 * tolerance  # a tolerance is of one step; 20 s are three turns
    assert np.abs(at.W[:, 0]).max() == pytest.approx(error, rel=1e-3)


@pytest.mark.parametrize("tableau", [DOPRI5, DOP853], ids=lambda t: t.name)
def test_an_adaptive_run_cut_in_pieces_is_the_same_to_the_last_bit(tableau):
    wanted = np.linspace(0, 20, 50)
    whole, once = solved(tableau, 1e-9, wanted)
    pieces, often = solved(tableau, 1e-9, wanted, steps=3)
    assert once == 1
    assert often > 10
    assert np.array_equal(whole.Y, pieces.Y)
    assert np.array_equal(whole.memory[:4], pieces.memory[:4])


def test_a_pole_stops_an_adaptive_run_in_time():
    explode = trace(lambda time, y: y * y, {"time": (), "y": (1,)})
    loop = AdaptiveLoop(Flow(1, rhs=explode), DOP853)
    wanted = np.linspace(0, 2, 21)
    at = loop.begin(np.array([1.0]), 0.0, wanted)
    loop.run(at, stop=2.0, wanted=wanted, rtol=1e-9, atol=np.array([1e-9]))
    assert at.why in ("collapsed", "not finite")
    assert at.time == pytest.approx(1.0, abs=1e-6)
    assert at.Y[:10, 0] == pytest.approx(1 / (1 - wanted[:10]), rel=1e-7)


def test_entries_without_tolerance_do_not_decide_the_steps():
    wild = trace(lambda time, y: np.array([-y[0], np.sin(1e4 * y[0])]), {"time": (), "y": (2,)})
    loop = AdaptiveLoop(Flow(2, rhs=wild), DOPRI5)
    wanted = np.array([1.0])
    steps = []
    for atol in (1e-6, np.inf):
        at = loop.begin(np.array([1.0, 0.0]), 0.0, wanted)
        loop.run(at, stop=1.0, wanted=wanted, rtol=1e-6, atol=np.array([1e-6, atol]))
        steps.append(at.steps)
    assert steps[0] > 20 * steps[1]


def falling() -> Flow:
    """A ball under gravity 1; the guards are its height and the time left."""
    shapes = {"time": (), "y": (2,)}
    rhs = trace(lambda time, y: np.array([y[1], -1.0]), shapes)
    return Flow(2, rhs=rhs, ng=2, guard=trace(lambda time, y: np.array([y[0], 9.0 - time]), shapes))


def test_a_fixed_run_stops_before_the_step_in_which_a_guard_changes_its_sign():
    loop = FixedLoop(falling(), RK4)
    result = loop.run(np.array([1.0, 0.0]), dt=0.1, samples=50)
    assert (result.why, result.step) == ("crossed", 14)  # y = 1 − t²/2 is zero at 1.414
    assert result.end == pytest.approx([1 - 1.4**2 / 2, -1.4])
    assert result.Y[13] == pytest.approx(result.end)


@pytest.mark.parametrize("steps", [1 << 40, 1])
def test_an_adaptive_run_stops_before_the_step_in_which_a_guard_changes_its_sign(steps):
    loop, wanted = AdaptiveLoop(falling(), DOPRI5), np.array([5.0])
    at = loop.begin(np.array([1.0, 0.0]), 0.0, wanted, dt=0.3)
    for _ in range(100):
        loop.run(at, stop=5.0, wanted=wanted, rtol=1e-6, atol=np.full(2, 1e-6), longest=0.3, steps=steps)
        if at.why != "more":
            break
    assert at.why == "crossed"
    assert at.time < np.sqrt(2) < at.time + at.dt * (1 + 1e-12)
    assert at.state(2) == pytest.approx([1 - at.time**2 / 2, -at.time])


def test_code_is_kept(tmp_path):
    tmp_path.chmod(0o700)
    for _ in range(2):
        result = FixedLoop(flow(), RK4, store=Store(tmp_path)).run(np.array([1.0, 0, 0]), dt=0.1, samples=1)
        assert result.Y[0] == pytest.approx(stepped(lambda t, y: [0.0], 0.1, 1, [1.0, 0])[0])
    assert len(contents(tmp_path)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": (0.5, 0.4)}, "b sums to 0.9; it must be 1.0"),
        ({"c": (0, 0.5)}, "row 1 of a sums to 1.0; it must be 0.5"),
        ({"a": ((), (1.0, 0.0))}, r"the rows of a have lengths \[0, 2\]"),
    ],
)
def test_a_tableau_checks_itself(change, message):
    good = {"name": "heun", "order": 2, "c": (0, 1.0), "a": ((), (1.0,)), "b": (0.5, 0.5)}
    assert Tableau(**good).stages == 2
    with pytest.raises(ValueError, match=message):
        Tableau(**(good | change))
