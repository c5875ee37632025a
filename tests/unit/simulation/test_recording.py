"""Functions of a user: recorded where they can be, with a reason where not, and compiled once."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation import loops
from kinpair.simulation.recording import NotRecorded, Recorded, recorded
from kinpair.simulation.steppers import solver

STATE = np.array([0.3, 0.2]), np.array([0.1, -0.4]), 0.5


def test_lists_are_results_like_arrays():
    arm = kp.example("double-pendulum")
    runs = [
        kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.3, torque=torque)
        for torque in (
            lambda time, q, qd: np.array([-0.1 * qd[0], 0.2]),
            lambda time, q, qd: [-0.1 * qd[0], 0.2],
            lambda time, q, qd: (-0.1 * qd[0], 0.2),
        )
    ]
    assert all(np.array_equal(run.q, runs[0].q) for run in runs)
    assert all(not run.notes for run in runs)
    push = {"lower": lambda time, q, qd: [0, 0, 0, np.sin(time), 0, 0]}
    assert kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.1, external=push).status.ok


def branching(time, q, qd):
    if q[0] > 0:
        return -qd
    return qd


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            branching,
            "`if`, `and`, `or` and `not` need a truth value, and this value is only known at run time",
        ),
        (branching, f"(branching, line {branching.__code__.co_firstlineno + 1} of test_recording.py)"),
        (lambda time, q, qd: qd[:1], "it returns shape (1,)"),
        (lambda time, q, qd: {"a": qd, "b": q}, "it returns several things"),
        (lambda time, q, qd: np.random.default_rng(None).uniform(size=2) * qd, "other numbers than called"),
        (lambda time, q, qd: undefined, "NameError: name 'undefined' is not defined"),  # noqa: F821
    ],
)
def test_a_refusal_says_why_and_where(function, words):
    result = recorded(function, (2,), STATE)
    assert isinstance(result, NotRecorded)
    assert words in result.reason


def test_a_run_says_why_its_torque_is_called():
    arm = kp.example("double-pendulum")
    with pytest.warns(
        kp.RecordingWarning, match=r"double-pendulum: The torque is called from Python, which is slow"
    ):
        run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.1, torque=branching)
    assert "The torque is called from Python, which is slow: TraceError" in run.summary
    assert "test_recording.py" in run.summary


def test_equal_formulas_are_one():
    def gained(k):
        return recorded(lambda time, q, qd: -k * qd, (2,), STATE)

    one, same, other = gained(0.5), gained(0.5), gained(0.6)
    assert isinstance(one, Recorded)
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


@pytest.mark.parametrize("method", ["dop853", "rk4", "cvode", "ida"])
def test_a_second_run_compiles_nothing_and_a_changed_function_is_seen(method, monkeypatch):
    arm = kp.example("double-pendulum")

    def go(gain, level):
        events = [kp.Event("passes", lambda time, q, qd: q[0] - level)]
        torque = lambda time, q, qd: -gain * qd  # noqa: E731
        options = {"integrator": method, "duration": 0.5, "events": events, "torque": torque}
        return kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], **options)

    first = go(0.1, 0.25)
    built = []
    monkeypatch.setattr(loops, "flow_of", lambda *a, **k: built.append("loop"))
    monkeypatch.setattr(solver, "Kernel", lambda *a, **k: built.append("kernel"))
    again = go(0.1, 0.25)
    assert not built
    assert np.array_equal(first.q, again.q)
    assert [x.time for x in first.events] == [x.time for x in again.events]
    monkeypatch.undo()
    other = go(0.2, 0.2)
    assert not np.array_equal(first.q, other.q)
    assert other.events[0].q[0] == pytest.approx(0.2, abs=1e-8)
