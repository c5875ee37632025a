"""Ctrl-C, `sys.exit` and errors in functions that a run calls: the run stops, and what it has computed is right.

The signal is raised in the n-th call of a function, so the moment is the same on any computer. In `make long` a timer
raises it at random moments, in machine code and in calls alike.
"""

from __future__ import annotations

import ctypes
import itertools
import signal
import sys
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
import pytest

import kinpair as kp
from endings import failed
from families import family
from kinpair.compiler.jit import Loaded, object_code
from kinpair.compiler.time_loop.inputs import FAILURE, SUCCESS, Call, callback

Q, QD = [0.3, 0.2], [0.1, 0.0]
COLUMNS = ("time", "q", "qd", "tau", "work", "loss", "kinetic", "potential")
STEPS = {
    "dop853": {},
    "dopri5": {"integrator": "dopri5"},
    "rk4": {"integrator": "rk4", "dt": 1e-3},
    "cvode": {"integrator": "cvode"},
    "ida": {"integrator": "ida"},
}


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.fixture(autouse=True)
def ctrl_c():
    """A shell may have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Counted:
    """A function in Python that does something else in its n-th call."""

    traceable = False

    def __init__(self, act: Callable[[], object] = list, call: int = 0) -> None:
        self.act, self.call, self.calls = act, call, 0

    def __call__(self, *arguments):
        self.calls += 1
        if self.calls == self.call:
            self.act()
        return self.value(*arguments)

    def value(self, *arguments):
        return None


class Torque(Counted):
    def value(self, time, q, qd):
        return -3.0 * q - 0.2 * qd


class Held(Torque):
    sample_time = 0.05


class Level(Counted):
    def value(self, time, q, qd):
        return q[0] - 0.1


def torque(arm, act, call):
    torque = Torque(act, call)
    return torque, {"torque": torque}


def held_torque(arm, act, call):
    torque = Held(act, call)
    return torque, {"torque": torque}


def event(arm, act, call):
    level = Level(act, call)
    return level, {"events": [kp.Event("level", level)]}


def torque_and_event(arm, act, call):
    torque = Torque(act, call)
    return torque, {"torque": torque, "events": [kp.Event("level", Level())]}


def regulator(arm, act, call):
    motion = kp.motion.cycloid(np.array(Q), np.array([0.6, 0.1]), 1.0)
    watched = Counted(act, call)
    return watched, {"torque": kp.regulator.pd(arm, motion, frequency=8.0), "progress": watched}


def progress(arm, act, call):
    watched = Counted(act, call)
    return watched, {"progress": watched}


SOURCES = {x.__name__: x for x in (torque, held_torque, event, torque_and_event, regulator, progress)}
CASES = {f"{source} {steps}": (source, steps) for source in SOURCES for steps in STEPS}
USUAL = ["torque dop853", "torque rk4", "torque ida", "held_torque dop853", "event dop853"]
USUAL += ["torque_and_event rk4", "torque_and_event dop853", "regulator rk4", "progress cvode"]


def simulated(
    arm, case: str, act: Callable[[], object] = list, call: int = 0, duration: float = 0.2
) -> tuple[kp.Result, int]:
    """The run, and how often its function was called."""
    source, steps = CASES[case]
    function, options = SOURCES[source](arm, act, call)
    run = kp.simulate(arm, Q, QD, duration=duration, output=0.01, **options, **STEPS[steps])
    return run, function.calls


def columns(run: kp.Result) -> dict[str, np.ndarray]:
    every = {name: getattr(run, name) for name in COLUMNS[:6]}
    return every | {"kinetic": run.energy.kinetic, "potential": run.energy.potential}


def assert_is_the_beginning(run: kp.Result, whole: kp.Result) -> None:
    """To the bit; the sample at the moment of an event is the only one that the whole run does not have."""
    n = len(run.time)
    assert n <= len(whole.time)
    for name, x in columns(run).items():
        assert np.array_equal(x, columns(whole)[name][:n]), name
    assert [(x.time, x.name) for x in run.events] == [
        (x.time, x.name) for x in whole.events[: len(run.events)]
    ]


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("case", family(CASES, USUAL, "an integrator and a source that others stand for"))
def test_ctrl_c_in_any_call_stops_the_run_and_what_it_has_is_that_of_the_whole_run(arm, case, monkeypatch):
    from kinpair.simulation.steppers import stepper

    monkeypatch.setattr(stepper, "FIRST_STEPS", 5)  # more pieces, and more calls of progress
    monkeypatch.setattr(stepper, "PAUSE", 0.0)
    whole, calls = simulated(arm, case)
    assert whole.status.ok
    rng = np.random.default_rng(sum(map(ord, case)))
    lengths = []
    most = 4 if case in USUAL else 40
    for call in [2, *rng.integers(3, calls, size=most).tolist(), calls - 1]:
        try:
            run, called = simulated(arm, case, interrupt, call)
        except KeyboardInterrupt:  # before there was anything
            lengths.append(0)
            continue
        assert run.status.name == "interrupted"
        assert run.status.message == f"Interrupted at t = {run.time[-1]:.9g} s"
        assert called == call  # no function is called again
        if run.status.time > 0.0:
            assert_is_the_beginning(run, whole)
        lengths.append(len(run.time))
    assert max(lengths) > 1


@contextmanager
def swallowed():
    """Exceptions that Python itself has taken out of the way: what a signal raises while an object is deleted."""
    lost: list[object] = []
    before, sys.unraisablehook = sys.unraisablehook, lost.append
    try:
        yield lost
    finally:
        sys.unraisablehook = before
    assert not any("ctypes callback" in (x.err_msg or "") for x in lost)


@pytest.mark.long(reason="a hundred runs interrupted at random moments by a timer")
@pytest.mark.parametrize("case", [x for x in CASES if x.split()[1] in ("dop853", "rk4", "cvode")])
def test_ctrl_c_at_random_moments_stops_the_run(arm, case):
    simulated(arm, case, duration=1.0)
    whole, _ = simulated(arm, case, duration=1.0)  # what it takes when all is compiled
    rng = np.random.default_rng(7)
    for _ in range(10):
        delivered: list[int] = []

        def raises(number, frame, delivered=delivered):
            delivered.append(number)
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, raises)
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 1.1 * max(whole.took, 1e-3)))
            with swallowed() as lost:
                run, _ = simulated(arm, case, duration=1.0)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        except KeyboardInterrupt:
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        assert run.status.name == "interrupted" or not delivered or lost
        if run.status.time > 0.0:
            assert_is_the_beginning(run, whole)


@pytest.mark.parametrize("steps", STEPS)
def test_a_signal_in_the_first_call_leaves_the_start(arm, steps):
    run = kp.simulate(arm, Q, QD, duration=1.0, torque=Torque(interrupt, 1), **STEPS[steps])
    assert (run.status.name, run.status.time) == ("interrupted", 0.0)
    assert run.q.tolist() == [Q]
    assert np.isnan(run.tau).all()  # the torque is unknown


@pytest.mark.parametrize("steps", STEPS)
def test_sys_exit_in_a_torque_leaves_with_its_code_and_keeps_the_run(arm, steps):
    whole = kp.simulate(arm, Q, QD, duration=1.0, torque=Torque(), output=0.01, **STEPS[steps])
    leaving = Torque(lambda: sys.exit(3), 150)
    with pytest.raises(SystemExit) as left:
        kp.simulate(arm, Q, QD, duration=1.0, torque=leaving, output=0.01, **STEPS[steps])
    assert left.value.code == 3
    run = left.value.run  # type: ignore[attr-defined]
    assert run.status.message == f"Interrupted at t = {run.time[-1]:.9g} s: SystemExit: 3"
    assert_is_the_beginning(run, whole)
    assert leaving.calls == 150  # it is not called again


class Unable:
    """A number whose conversion to a float raises an error."""

    def __index__(self) -> int:
        raise ZeroDivisionError("no number")

    __float__ = __index__


def test_a_result_that_gives_no_number_raises_with_the_run(arm):
    class Returns(Torque):
        def value(self, time, q, qd):
            return [Unable(), 0.0] if time > 0.5 else super().value(time, q, qd)

    for options in STEPS.values():
        run = failed(arm, Q, QD, duration=1.0, torque=Returns(), output=0.01, **options)
        assert "torque raised ZeroDivisionError: no number" in run.status.message
        assert_is_the_beginning(
            run, kp.simulate(arm, Q, QD, duration=1.0, torque=Torque(), output=0.01, **options)
        )


def test_an_error_of_a_signal_handler_is_the_cause_of_the_error(arm):
    """As in a program that limits the time of its calls."""

    def expires(number, frame):
        raise TimeoutError("one second is over")

    before = signal.signal(signal.SIGALRM, expires)
    try:
        slow = Torque(lambda: signal.raise_signal(signal.SIGALRM), 100)
        with pytest.raises(kp.RunError, match="torque raised TimeoutError: one second is over") as caught:
            kp.simulate(arm, Q, QD, duration=1.0, torque=slow)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert len(caught.value.run.time) > 1


def test_a_file_of_a_run_that_sys_exit_has_ended_goes_on(arm, tmp_path):
    path, options = tmp_path / "run.h5", {"duration": 1.0, "output": 0.01, "integrator": "rk4", "dt": 1e-3}
    with pytest.raises(SystemExit) as left:
        kp.simulate(arm, Q, QD, torque=Torque(lambda: sys.exit(3), 1500), save=path, **options)
    assert left.value.run.status.name == kp.load_run(path).status.name == "interrupted"  # type: ignore[attr-defined]
    resumed = kp.resume(path, torque=Torque())
    assert np.array_equal(resumed.q, kp.simulate(arm, Q, QD, torque=Torque(), **options).q)


def test_ctrl_c_in_a_run_within_a_sweep_stops_the_sweep(arm):
    counts = itertools.count()

    def case(x):
        call = 100 if next(counts) == 2 else 0
        return float(kp.simulate(arm, Q, QD, duration=0.5, torque=Torque(interrupt, call)).q[-1, 0])

    table = kp.sweep(case, {"x": range(5)}, workers=0)
    assert len(table) == 2


# the call itself

TRAMPOLINE = """
define void @late(ptr %raise, ptr %function, ptr %arguments, ptr %answer) {{
  call i32 %raise(i32 {signal})
  %result = call i64 %function(ptr %arguments)
  store i64 %result, ptr %answer
  ret void
}}
"""


def test_a_signal_that_arrives_in_machine_code_is_raised_within_the_guard_of_the_next_call():
    """Before its first instruction, where no `try` of a function would see it."""
    code = object_code(TRAMPOLINE.format(signal=int(signal.SIGINT)))
    library = Loaded(code, "late")
    late = library.function(*[ctypes.c_void_p] * 4)
    kept: list[BaseException] = []
    called = []

    def function(time, y):
        called.append(time)
        return y

    pointer = callback(function, 1, 1, kept.append)
    y, u, answer = np.ones(1), np.zeros(1), np.full(1, 7, dtype=np.int64)
    arguments = Call(0.5, y.ctypes.data, u.ctypes.data)
    libc = ctypes.CDLL(None)
    with swallowed() as lost:
        late(
            ctypes.cast(libc["raise"], ctypes.c_void_p).value,
            ctypes.cast(pointer, ctypes.c_void_p).value,
            ctypes.addressof(arguments),
            answer.ctypes.data,
        )
    assert not lost
    assert [type(x) for x in kept] == [KeyboardInterrupt]
    assert answer[0] == FAILURE
    assert not called
    assert pointer(ctypes.addressof(arguments)) == SUCCESS  # the guard stands again
    assert u[0] == 1.0
