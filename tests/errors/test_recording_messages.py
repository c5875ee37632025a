"""Functions of a user that cannot be compiled: one warning with function, line and replacement, word for word."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation import recording

ARM = kp.example("double-pendulum")
IF = (
    "`if`, `and`, `or` and `not` need a truth value, and this value is only known at run time; use "
    "np.where(condition, a, b), and & | ~ between conditions"
)
AFTER = " To call a function from Python without this warning, set its attribute traceable = False."


def branching(time, q, qd):
    return -qd if q[0] > 0.0 else qd


def between(time, q, qd):
    return -qd if 0.0 < q[0] < 1.0 else qd


def as_float(time, q, qd):
    return -float(qd[0]) * np.ones(2)


def sorted_rates(time, q, qd):
    return np.sort(qd)


def series(time, q, qd):
    return np.log1p(qd**2)


def indexed(time, q, qd):
    return np.array([1.0, 2.0]) * q[q > 0.0].sum()


def whole(time, q, qd):
    return np.ones(2) * int(q[0])


def solved(time, q, qd):
    return np.linalg.solve(np.array([[2.0, 1.0], [0.0, 1.0]]), qd)


last = 0.0


def remembering(time, q, qd):
    global last
    rate, last = (q[0] - last) / 0.01, q[0]
    return np.array([-rate, 0.0])


def masked(time, q, qd):
    return np.ones(2) * np.max(qd, initial=1.0)


def spectral(time, q, qd):
    return np.ones(2) * np.linalg.norm(np.outer(q, qd), 2)


def high_power(time, q, qd):
    return q**100


def line(function) -> str:
    return f"line {inspect.getsourcelines(function)[1] + 1} of test_recording_messages.py"


REASONS = {
    branching: f"0 < q[0]: {IF}",
    between: f"0 < q[0]: {IF}",
    as_float: (
        "qd[0]: a plain number is needed here, and this value is only known at run time; leave out float() and int(), "
        "use functions of NumPy, and put such values into an array by np.array([...])"
    ),
    whole: (
        "q[0]: a plain number is needed here, and this value is only known at run time; leave out float() and int(), "
        "use functions of NumPy, and put such values into an array by np.array([...])"
    ),
    solved: "np.linalg.solve is not recorded; use np.linalg.inv(A) @ b with a constant matrix A",
    masked: "np.maximum with initial= is not recorded; use np.where(condition, a, b)",
    spectral: (
        "np.linalg.norm with ord=2 is not recorded; recorded are the norms of vectors with ord 1, 2 and inf, and the "
        "Frobenius norm of matrices"
    ),
    high_power: "the power 100 is not recorded; whole powers are, up to 64",
    sorted_rates: "np.sort is not recorded; use np.minimum and np.maximum",
    series: "np.log1p is not recorded; use np.log(1 + x)",
    indexed: "an index that is only known at run time is not recorded; use np.where(condition, a, b)",
}


@pytest.mark.parametrize("function", REASONS, ids=lambda f: f.__name__)
def test_a_torque_that_is_called_warns_once(function):
    with pytest.warns(kp.RecordingWarning) as given:
        run = kp.simulate(ARM, [0.3, 0.2], [0.1, 0.2], duration=0.01, torque=function)
    sentence = (
        "The torque is called from Python, which is slow: TraceError: "
        f"{REASONS[function]} ({function.__name__}, {line(function)})."
    )
    assert [str(x.message) for x in given] == [f"double-pendulum: {sentence}{AFTER}"]
    assert run.notes == (sentence,)
    assert given[0].filename == __file__


def test_a_function_that_keeps_what_it_sees_is_called_and_keeps_numbers_alone():
    seen: list[np.ndarray] = []

    def logging(time, q, qd):
        seen.append(np.array(q, dtype=float))
        return -0.1 * qd

    with pytest.warns(kp.RecordingWarning) as given:
        run = kp.simulate(
            ARM, [0.3, 0.2], [0.1, 0.2], duration=0.01, integrator="rk4", dt=0.005, torque=logging
        )
    assert [str(x.message).partition("TraceError: ")[2] for x in given] == [
        f"logging changes 'seen', a name outside of it, so it has a memory.{AFTER}"
    ]
    assert {x.dtype for x in seen} == {np.dtype(float)}
    assert len(seen) >= 4 * (len(run.time) - 1)  # the stages of rk4


def test_a_function_that_records_to_a_long_program_is_called(monkeypatch):
    monkeypatch.setattr(recording, "MOST", 20)
    times, values = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 0.1, 9) ** 2

    def long(time, q, qd):
        return np.interp(time, times, values) - 0.1 * qd

    with pytest.warns(kp.RecordingWarning) as given:
        kp.simulate(ARM, [0.3, 0.2], [0.1, 0.2], duration=0.01, torque=long)
    (message,) = (str(x.message) for x in given)
    assert message.startswith(
        "double-pendulum: The torque is called from Python, which is slow: recorded, it has "
    )
    assert " operations, more than 20; use a table (times, values) or a regulator" in message


def test_a_function_with_a_memory_is_called():
    def counting(time, q, qd):
        nonlocal calls
        calls = calls + 1
        return -0.001 * calls * qd

    calls = 0
    for function, name in ((counting, "calls"), (remembering, "last")):
        with pytest.warns(kp.RecordingWarning) as given:
            kp.simulate(ARM, [0.3, 0.2], [0.1, 0.2], duration=0.01, torque=function)
        assert [str(x.message) for x in given] == [
            f"double-pendulum: The torque is called from Python, which is slow: TraceError: {function.__name__} "
            f"assigns to {name!r}, a name outside of it, so it has a memory.{AFTER}"
        ]
    assert calls > 1


def test_an_event_that_is_called_warns_with_its_name():
    event = kp.Event("up", lambda time, q, qd: 1.0 if q[0] > 0.1 else -1.0)
    with pytest.warns(kp.RecordingWarning) as given:
        kp.simulate(ARM, [0.3, 0.2], [0.1, 0.2], duration=0.01, torque=branching, events=[event])
    (warning,) = given  # one for both
    assert str(warning.message).startswith(
        "double-pendulum: The torque is called from Python, which is slow: "
    )
    assert "Event 'up' is called from Python after each step, which is slow: TraceError: 0.1 < q[0]: " in str(
        warning.message
    )


def test_a_function_that_stays_in_python_by_choice_gives_no_warning():
    def chosen(time, q, qd):
        return -qd if q[0] > 0.0 else qd

    chosen.traceable = False
    run = kp.simulate(ARM, [0.3, 0.2], [0.1, 0.2], duration=0.01, torque=chosen)
    assert run.notes


def test_a_stepper_needs_machine_code():
    with pytest.raises(kp.InputError) as refused:
        kp.stepper(ARM, input=branching)
    assert str(refused.value) == (
        "double-pendulum: input of a stepper is a regulator, or a function that can be recorded, and TraceError: "
        f"{REASONS[branching]} (branching, {line(branching)})"
    )


def test_a_wrench_that_branches_is_no_wrench_for_a_batch():
    def push(time, q, qd):
        return [0, 0, 0, 1.0 if q[0] > 0 else 0.0, 0, 0]

    with pytest.raises(kp.InputError) as refused:
        kp.simulate(
            ARM,
            np.zeros((2, 2)),
            np.zeros((2, 2)),
            duration=0.1,
            integrator="rk4",
            dt=0.01,
            external={"lower": push},
        )
    assert str(refused.value) == (
        "double-pendulum: external['lower'] is a function that cannot be recorded, and a batch does not call Python; "
        "write it in NumPy terms (docs/compiler.md) or give its values as (times, values)"
    )
