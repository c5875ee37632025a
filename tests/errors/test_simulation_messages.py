"""What a simulation says when something is wrong with the wish, and when something goes wrong on the way."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

import kinpair as kp
from endings import failed, stopped

Q, QD = [0.3, 0.2], [0.0, 0.0]


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


RK4 = {"integrator": "rk4", "dt": 0.01}


class Sampled:
    def __init__(self, sample_time: float) -> None:
        self.sample_time = sample_time

    def __call__(self, time, q, qd):
        return -q


WISHES = {
    "no integrator 'rk5'; did you mean 'rk4'? Integrators: rk4, dopri5, dop853, semi-implicit-euler, "
    "implicit-midpoint, variational, generalised-alpha, time-stepping, cvode, ida, taylor": {
        "integrator": "rk5"
    },
    "double-pendulum: cvode chooses its steps; give rtol= and atol=, not dt=": {
        "integrator": "cvode",
        "dt": 0.01,
    },
    "rho_inf is 0.5 for integrator 'rk4'; 'generalised-alpha' takes a number from 0 to 1": RK4
    | {"rho_inf": 0.5},
    "rho_inf is 1.5 for integrator 'generalised-alpha'; 'generalised-alpha' takes a number from 0 to 1": {
        "integrator": "generalised-alpha",
        "rho_inf": 1.5,
    },
    "double-pendulum: duration is 0; it must be a number above zero": {"duration": 0},
    "double-pendulum: duration 1 s is not a whole number of steps dt = 0.03 s; give dt = 0.0294117647": {
        "dt": 0.03
    },
    "double-pendulum: output 0.015 s is not a whole number of steps dt = 0.01 s; give dt = 0.0075": RK4
    | {"output": 0.015},
    "double-pendulum: output must be an interval [s] or increasing times between 0 and 1 s": {
        "output": [0.5, 0.4]
    },
    "double-pendulum: rk4 by fixed steps takes dt=, no rtol= and atol=": RK4 | {"rtol": 1e-6},
    "double-pendulum: rtol is -1; it must be a number above zero": {"rtol": -1},
    "double-pendulum: atol is [1, 2, 3]; it must be a number above zero or 4 of them": {"atol": [1, 2, 3]},
    "double-pendulum: torque has shape (3,); expected (2,) or (batch, 2): shoulder, elbow": {
        "torque": [1, 2, 3]
    },
    "double-pendulum: torque holds NaN or infinity": {"torque": [1, np.nan]},
    "double-pendulum: the times of torque= must be an increasing vector of at least two numbers; found shape (1,)": {
        "torque": ([0.0], [[1.0, 2.0]])
    },
    "double-pendulum: torque= has 2 times and values of shape (2, 3); expected (2, 2) or (batch, 2, 2): "
    "shoulder, elbow": {"torque": ([0.0, 1.0], np.zeros((2, 3)))},
    "double-pendulum: no link or frame 'lowr'; did you mean 'lower'? Links and frames: ground, upper, lower, tip": {
        "external": {"lowr": np.zeros(6)}
    },
    "double-pendulum: external['lower'] is a function that cannot be recorded: it returns shape (5,); it must be "
    "(time, q, qd) → wrench (6,) in NumPy terms, see docs/compiler.md": {
        "external": {"lower": lambda time, q, qd: np.zeros(5)}
    },
    "double-pendulum: parameter 'upper.mass' must be a number, or one for each motion of a batch": {
        "parameters": {"upper.mass": [[1.0]]}
    },
    "double-pendulum: batches differ in length: torque has 2, parameters has 3 rows": RK4
    | {"torque": np.zeros((2, 2)), "parameters": {"upper.mass": np.ones(3)}},
    "double-pendulum: a batch takes fixed steps; give dt=, for instance integrator='rk4', dt=0.001": {
        "torque": np.zeros((2, 2))
    },
    "double-pendulum: output 1e-12 s would be 1e+12 samples; at most 1e+08 are taken": {"output": 1e-12},
    "double-pendulum: output 1e-11 s would be 1e+11 samples; at most 1e+08 are taken": RK4
    | {"output": 1e-11},
    "double-pendulum: output 2e-08 s is not a whole number of steps dt = 0.01 s; give dt = 2e-08": RK4
    | {"output": 2e-8},
    "double-pendulum: output 2e-08 s is shorter than a step dt = 0.05 s": RK4 | {"dt": 0.05, "output": 2e-8},
    "double-pendulum: rtol is 'a'; it must be a number above zero": {"rtol": "a"},
    "double-pendulum: atol is '1'; it must be a number above zero or 4 of them": {"atol": "1"},
    "double-pendulum: time is 'x'; it must be a finite number": {"time": "x"},
    "double-pendulum: duration is '5'; it must be a number above zero": {"duration": "5"},
    "double-pendulum: parameters is 5; give a dict: name of a constant → number": {"parameters": 5},
    "hold is 'foo'; it is one of project, baumgarte, none": {"hold": "foo"},
    "double-pendulum: alpha is 'a'; it must be a finite number": {"alpha": "a"},
    "double-pendulum: alpha is -1; it must not be below zero": {"alpha": -1},
    "double-pendulum: save is 5; it must be the path of a file": {"save": 5},
    "double-pendulum: dt 1e-300 s makes 1e+300 steps in a duration of 1 s; at most 1e+12 are taken: use a longer dt, "
    "such as 0.001 s, or a shorter duration": {"dt": 1e-300},
    "double-pendulum: max_step 1e-300 s makes 1e+300 steps in a duration of 1 s; at most 1e+12 are taken: use a longer "
    "max_step, such as 0.001 s, or a shorter duration": {"max_step": 1e-300},
    "double-pendulum: sample_time of torque 1e-300 s makes 1e+300 steps in a duration of 1 s; at most 1e+12 are taken: "
    "use a longer sample_time of torque, such as 0.001 s, or a shorter duration": {"torque": Sampled(1e-300)},
    "double-pendulum: the sample time of torque, 1e-09 s, is shorter than a step dt = 0.01 s; give dt = 1e-09 or a "
    "longer sample_time": RK4 | {"torque": Sampled(1e-9)},
    "double-pendulum: the run lasts from time = 1e+18 s to 1e+18 s, where neighbouring numbers are 128 s apart, too "
    "far for the duration 1 s; start nearer to zero, such as time = 0, and shift functions of time": {
        "time": 1e18
    },
    "double-pendulum: the run lasts from time = -1e+18 s to -1e+18 s, where neighbouring numbers are 128 s apart, too "
    "far for a step dt = 0.01 s; start nearer to zero, such as time = 0, and shift functions of time": RK4
    | {"time": -1e18},
    "double-pendulum: rtol is 1e-18; double precision resolves 2.2e-16: give rtol = 1e-15 or larger, such as 1e-9": {
        "rtol": 1e-18
    },
    "double-pendulum: rtol is 1e-18; double precision resolves 2.2e-16: give rtol = 1e-16 or larger, such as 1e-9": {
        "rtol": 1e-18,
        "integrator": "taylor",
    },
    "double-pendulum: atol is 1e-300; errors in units of it are not finite numbers: give atol = 1e-100 or larger, such "
    "as 1e-10": {"atol": [1e-10, 1e-10, 1e-300, 1e-10]},
    "double-pendulum: dt 1e+300 s is longer than the duration 1 s; give dt = 1 or a shorter one": RK4
    | {"dt": 1e300},
    "double-pendulum: patience is 0; it must be a number of seconds above zero, or inf to wait": {
        "patience": 0
    },
}


@pytest.mark.parametrize(("message", "wish"), WISHES.items())
def test_wishes_that_cannot_be(arm, message, wish):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, Q, QD, **({"duration": 1.0} | wish))
    assert str(refused.value) == message


def test_rates_of_a_wrong_unit_are_rejected_by_name_and_in_a_batch_only_their_row(arm):
    found = "double-pendulum: qd of 'elbow' is -1e+09 at the start"
    message = f"{found}; at most 1e+08 rad/s or m/s is simulated: check its unit"
    for _ in range(2):  # the second run repeats what is known of the first
        with pytest.raises(kp.InputError) as refused:
            kp.simulate(arm, Q, [0.0, -1e9], duration=1.0)
        assert str(refused.value) == message
        kp.simulate(arm, Q, QD, duration=0.1)
    with pytest.raises(kp.InputError) as refused:
        kp.stepper(arm).reset(Q, [0.0, -1e9])
    assert str(refused.value) == message
    run = stopped(arm, [Q, Q], [QD, [0.0, -1e9]], duration=0.1, **RK4)
    assert list(run.failures) == [1]


def test_coordinates_of_a_wrong_unit_are_rejected_by_name(arm):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, [0.1, -1e17], QD, duration=1.0)
    assert str(refused.value) == (
        "double-pendulum: q of 'elbow' is -1e+17 at the start; at most 1e+12 rad or m is simulated: check its unit"
    )


def test_times_as_clocks_give_them_are_taken(arm):
    for options in ({}, RK4):
        run = kp.simulate(arm, Q, QD, duration=1.0, time=1.7e9, **options)
        assert run.status.ok


@pytest.mark.parametrize("given", ["double-pendulum", 5, None])
def test_what_is_no_mechanism(given):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(given, Q, QD, duration=1.0)
    assert str(refused.value) == (
        f"simulate takes a Mechanism or a System, not {given!r}; load() takes files, example() names"
    )


def test_a_parameter_that_is_text(arm):
    with pytest.raises(kp.InputError, match=r"parameter 'upper\.mass' must be a number"):
        kp.simulate(arm, Q, QD, duration=1.0, parameters={"upper.mass": "a"})


def test_a_solver_is_checked_without_constraints_too(arm):
    with pytest.raises(kp.InputError, match="no solver 'foo'; Solvers: "):
        kp.simulate(arm, Q, QD, duration=1.0, solver="foo")


@pytest.mark.parametrize(
    ("q", "qd", "message"),
    [
        ([0.3], QD, "double-pendulum: q has shape (1,); expected (2,) or (batch, 2): shoulder, elbow"),
        ([0.3, np.inf], QD, "double-pendulum: q holds NaN or infinity"),
        (np.zeros((0, 2)), QD, "double-pendulum: the batch has no rows, so there is nothing to simulate"),
        (
            np.zeros((3, 2)),
            np.zeros((2, 2)),
            "double-pendulum: batches differ in length: q has 3, qd has 2 rows",
        ),
    ],
)
def test_states_that_cannot_be(arm, q, qd, message):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, q, qd, duration=1.0, **RK4)
    assert str(refused.value) == message


def test_functions_and_batches(arm):
    def decide(time, q, qd):
        return np.ones(2) if time > 0.5 else np.zeros(2)

    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, np.zeros((3, 2)), QD, duration=1.0, torque=decide, **RK4)
    assert str(refused.value) == (
        "double-pendulum: torque is a function that cannot be recorded, and a batch does not call Python; write it in "
        "NumPy terms (docs/compiler.md) or give its values as (times, values)"
    )


def test_quaternions():
    floating = kp.example("floating-arm")
    with pytest.raises(
        kp.InputError,
        match="joint 'base' has the quaternion 0 0 0 0 in q, which is not a rotation; the identity is 0 0 0 1",
    ):
        kp.simulate(floating, np.zeros(10), np.zeros(9), duration=1.0)
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(
            floating, floating.neutral(), np.zeros(9), duration=1.0, integrator="variational", dt=0.01
        )
    assert str(refused.value) == (
        "floating-arm: integrator 'variational' takes no quaternions, and joint 'base' has one; take "
        "'implicit-midpoint', or `mechanism.split()`, whose joints have one degree each"
    )


def test_sample_times_are_whole_steps(arm):
    def hold(time, q, qd):
        return -q

    hold.sample_time = 0.015
    with pytest.raises(
        kp.InputError, match=r"the sample time of torque, 0\.015 s is not a whole number of steps"
    ):
        kp.simulate(arm, Q, QD, duration=1.0, torque=hold, **RK4)
    hold.sample_time = "x"
    with pytest.raises(kp.InputError, match="sample_time of torque= is 'x'; give seconds, above zero"):
        kp.simulate(arm, Q, QD, duration=1.0, torque=hold, **RK4)
    hold.sample_time = -1
    with pytest.raises(kp.InputError, match="sample_time of torque= is -1; give seconds, above zero"):
        kp.simulate(arm, Q, QD, duration=1.0, torque=hold, **RK4)


# trouble on the way: what was computed is kept


class Faulty:
    """Goes wrong at half a second."""

    def __init__(self, fault, sample_time=None) -> None:
        self.fault = fault
        if sample_time:
            self.sample_time = sample_time

    def __call__(self, time, q, qd):
        return self.fault() if time >= 0.5 - 1e-9 else -q


def runs_out():
    raise MemoryError


def raises():
    raise ZeroDivisionError("no gain")


FAULTS = {
    "torque raised ZeroDivisionError: no gain": raises,
    "torque returned nan for 'elbow'": lambda: np.array([1.0, np.nan]),
    "torque returned shape (3,); expected (2,)": lambda: np.zeros(3),
    "torque raised MemoryError": runs_out,
    "torque raised ValueError: could not convert string to float: 'much'": lambda: "much",
}


@pytest.mark.parametrize("sample_time", [None, 0.1])
@pytest.mark.parametrize("options", [RK4, {}], ids=["fixed", "adaptive"])
@pytest.mark.parametrize(("fault", "make"), FAULTS.items())
def test_a_controller_that_fails_ends_the_run_and_keeps_it(arm, fault, make, options, sample_time):
    run = failed(arm, Q, QD, duration=1.0, torque=Faulty(make, sample_time), output=0.01, **options)
    good = kp.simulate(
        arm, Q, QD, duration=1.0, torque=Faulty(lambda: np.zeros(2), sample_time), output=0.01, **options
    )
    assert not run.status.ok
    assert run.status.name == "refused"
    assert run.status.message == f"Stopped at t = {run.status.time:.9g} s: {fault}"
    assert 0.5 - 1e-9 <= run.status.time < 0.65  # an adaptive step looks ahead
    n = len(run.time)
    assert 0.4 < run.time[-1] <= 0.5 + 1e-9
    assert np.abs(run.q - good.q[:n]).max() < 1e-9
    assert run.status.message in run.summary


@pytest.mark.parametrize(
    ("torque", "message"),
    [
        (lambda time, q: -q, "torque is a function of (time, q); expected a function of (time, q, qd)"),
        (lambda time, q, qd: -q[:1], "torque returned shape (1,); expected (2,)"),
        (lambda time, q, qd: 3.0, "torque returned shape (); expected (2,)"),
        (lambda time, q, qd: None, "torque returned None; return an array of shape (2,)"),
        (lambda time, q, qd: {}["gain"], "torque raised KeyError: 'gain'"),
    ],
)
@pytest.mark.parametrize("options", [RK4, {}, {"integrator": "cvode"}], ids=["fixed", "adaptive", "cvode"])
def test_a_torque_that_is_rejected_raises_with_the_run(arm, torque, message, options):
    with pytest.raises(kp.RunError) as refused:
        kp.simulate(arm, Q, QD, duration=1.0, torque=torque, **options)
    assert str(refused.value) == (
        f"double-pendulum: stopped at t = 0 s: {message}; error.run has the samples before"
    )
    assert refused.value.parts == {"time": 0.0}
    assert refused.value.run.q.tolist() == [Q]
    assert np.isnan(refused.value.run.tau).all()
    cause = refused.value.__cause__
    assert type(cause).__name__ in message or (cause is None) == ("returned" in message)


def test_a_fault_at_once_leaves_the_start(arm):
    run = failed(arm, Q, QD, duration=1.0, torque=lambda time, q, qd: raises(), **RK4)
    assert run.status.message == "Stopped at t = 0 s: torque raised ZeroDivisionError: no gain"
    assert run.q.tolist() == [Q]


@pytest.mark.parametrize("integrator", ["cvode", "ida", "taylor"])
@pytest.mark.parametrize(
    ("efforts", "fault"),
    [
        (np.zeros(3), "torque returned shape (3,); expected (2,)"),
        (np.array([1.0, np.nan]), "torque returned nan for 'elbow'"),
    ],
)
def test_a_fault_at_once_by_libraries(arm, integrator, efforts, fault):
    run = failed(arm, Q, QD, duration=1.0, torque=lambda time, q, qd: efforts, integrator=integrator)
    assert run.status.name == "refused"
    assert run.status.message == f"Stopped at t = 0 s: {fault}"
    assert run.q.tolist() == [Q]


@pytest.mark.parametrize("integrator", ["cvode", "ida"])
def test_samples_before_a_fault_are_complete_and_the_library_is_silent(arm, integrator, capfd):
    run = failed(arm, Q, QD, duration=1.0, torque=Faulty(raises), output=0.01, integrator=integrator)
    assert run.status.name == "refused"
    assert "torque raised ZeroDivisionError: no gain" in run.status.message
    assert len(run.time) > 40
    assert np.array_equal(run.tau, -run.q)
    assert np.isfinite(run.energy.kinetic).all()
    assert capfd.readouterr() == ("", "")


def test_a_motion_that_explodes_says_when(arm):
    run = stopped(arm, Q, QD, duration=2.0, torque=lambda time, q, qd: 1e3 * qd * qd * qd + 1.0, **RK4)
    assert run.status.name == "not finite"
    assert np.isfinite(run.q).all()
    assert run.status.message == (
        f"Stopped at t = {run.status.time:.9g} s: the state is no longer finite; the steps are too long for this "
        "motion, or it grows without bound"
    )


def test_an_adaptive_motion_to_infinity_collapses(arm):
    run = stopped(arm, Q, QD, duration=2.0, torque=lambda time, q, qd: 1e3 * qd * qd * qd + 1.0)
    assert run.status.name in ("collapsed", "not finite")
    assert 0 < run.status.time < 1
    assert np.isfinite(run.q).all()


def test_a_joint_without_inertia_is_named():
    parts = (
        kp.Builder("loose")
        .link("frame", mass=1.0, inertia=(1, 1, 1, 0, 0, 0))
        .link("ghost")
        .joint("a", "revolute", "ground", "frame", axis="x")
        .joint("b", "revolute", "frame", "ghost", axis="x")
    )
    with pytest.warns(kp.DescriptionWarning, match="singular"):
        loose = kp.build(parts)
    run = stopped(loose, [0.1, 0.2], [0.0, 0.0], duration=1.0, **RK4)
    assert run.status.message == (
        "Stopped at t = 0 s: the state is no longer finite: joint 'b' moves nothing that has inertia"
    )


def test_steps_that_cannot_be_solved_say_so(arm):
    run = stopped(arm, [1.0, 0.5], [10.0, -10.0], duration=10.0, integrator="implicit-midpoint", dt=0.1)
    assert run.status.message == (
        f"Stopped at t = {run.status.time:.9g} s: the equations of the step were not solved in 60 iterations; take a "
        "shorter dt"
    )


def test_rows_of_a_batch_that_fail_are_named(arm):
    q = np.array([[0.1, 0.1], [0.2, 0.3], [0.3, 0.1]])
    gain = np.array([0.0, 0.0, 0.0])
    qd = np.array([[0.0, 0.0], [1e200, 0.0], [0.0, 1.0]])
    run = stopped(arm, q, qd, duration=0.5, torque=np.outer(gain, [1, 1]), **RK4)
    assert list(run.failures) == [1]
    assert run.failures[1].name == "not finite"
    assert run.failures[1].time == 0.0
    assert np.isfinite(run.q[[0, 2]]).all()
    assert not run.status.ok
    assert "Reached t = 0.5 s, but 1 of 3 motions failed; motion 1: Stopped at t = 0 s" in run.summary


def test_an_interrupted_run_keeps_what_it_has(arm):
    caught = []

    def interrupt(part: float) -> None:
        caught.append(part)
        if len(caught) == 8:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        run = kp.simulate(arm, Q, QD, duration=1e5, integrator="rk4", dt=1e-3, output=1.0, progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.status.name == "interrupted"
    assert run.status.message == f"Interrupted at t = {run.time[-1]:.9g} s"
    assert 1 < len(run.time) < 1e5
    again = kp.simulate(arm, Q, QD, duration=10.0, integrator="rk4", dt=1e-3, output=1.0)
    n = min(len(run.q), 10)
    assert np.array_equal(run.q[:n], again.q[:n])


@pytest.mark.parametrize("kept", [True, False])
def test_a_progress_function_that_raises_ends_the_run_and_keeps_it(arm, kept, tmp_path):
    def fails(part: float) -> None:
        raise ZeroDivisionError("no screen")

    save = tmp_path / "run.h5" if kept else None
    run = failed(arm, Q, QD, duration=1e4, output=1.0, progress=fails, save=save, **RK4)
    assert run.status.name == "interrupted"
    assert run.status.message == (
        f"Interrupted at t = {run.time[-1]:.9g} s: progress raised ZeroDivisionError: no screen"
    )
    assert 1 <= len(run.time) < 1e4


def test_results_name_their_joints_and_take_paths(arm):
    run = kp.simulate(arm, Q, QD, duration=0.1, **RK4)
    with pytest.raises(kp.InputError) as refused:
        run.reactions["sholder"]
    assert str(refused.value) == "no joint 'sholder'; did you mean 'shoulder'? Joints: shoulder, elbow"
    with pytest.raises(kp.InputError, match="save takes the path of a file, not 5"):
        run.save(5)


@pytest.mark.parametrize(
    ("arguments", "keys", "message"),
    [
        ((), {"tau": [0.0, 0.0]}, "simulate has no argument 'tau'; did you mean 'torque'?"),
        ((), {"t_end": 1.0}, "simulate has no argument 't_end'; did you mean 'duration'?"),
        (
            ([0, 0], [0, 0], [0, 0]),
            {},
            "simulate takes 3 arguments by place (mechanism, q, qd), not 4; give the others by name: duration, torque, "
            "input, x, ",
        ),
    ],
)
def test_arguments_of_other_names_and_by_place_are_named(arguments, keys, message):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(kp.example("double-pendulum"), *arguments, **keys)
    assert str(refused.value).startswith(message)
