"""What `input=` and `x=` may not be, word for word."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import failed
from motors import driven

Q, QD = [0.3, -0.5], [0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"torque": [1.0, 0.0]},
            "double-pendulum: has actuators, and they make the joint efforts; give input= in place of torque=: motor, "
            "elbow; or load it with actuators=False",
        ),
        (
            {"input": [1.0]},
            "double-pendulum: input has shape (1,); expected (2,) or (batch, 2): motor, elbow",
        ),
        (
            {"input": {"motr": 1.0}},
            "double-pendulum: input has no entry 'motr'; did you mean 'motor'? Entries: motor, elbow",
        ),
        ({"input": {"motor": np.nan}}, "double-pendulum: input: motor is nan; it must be a finite number"),
        ({"input": [np.inf, 0.0]}, "double-pendulum: input holds NaN or infinity"),
        (
            {"input": ([0.0, 1.0], [[1.0], [2.0]])},
            "double-pendulum: input= has 2 times and values of shape (2, 1); expected (2, 2) or (batch, 2, 2): motor, "
            "elbow",
        ),
        (
            {"x": [1.0, 2.0]},
            "double-pendulum: x has shape (2,); expected (1,) or (batch, 1): motor.current",
        ),
        (
            {"x": {"current": 1.0}},
            "double-pendulum: x has no entry 'current'; did you mean 'motor.current'? Entries: motor.current",
        ),
        ({"x": [np.nan]}, "double-pendulum: x holds NaN or infinity"),
        (
            {"x": [[0.0], [1.0]], "input": [[0.0, 0.0]] * 3},
            "double-pendulum: batches differ in length: input has 3, x has 2 rows",
        ),
        (
            {"integrator": "implicit-midpoint"},
            "double-pendulum: integrator 'implicit-midpoint' takes no actuators and no internal states; 'dop853' and "
            "the other explicit ones do, and where these are fast, 'cvode' and 'ida'",
        ),
    ],
)
def test_runs_with_actuators(options, message):
    with pytest.raises(kp.InputError) as problem:
        kp.simulate(driven(), Q, QD, duration=0.1, **options)
    assert str(problem.value) == message


def test_an_actuator_that_is_too_fast_for_explicit_steps():
    builder = kp.Builder("stiff").link("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.joint("hinge", "revolute", "ground", "arm", axis="z")
    numbers = {"resistance": 1.0, "inductance": 1e-9, "torque_constant": 0.1}
    m = kp.build(builder.actuator("motor", "hinge", "dc-motor", **numbers).description())
    with pytest.raises(kp.InputError) as problem:
        kp.simulate(m, [0.0], [0.0], duration=5.0, input=[1.0], integrator="dop853")
    assert str(problem.value) == (
        "stiff: 'motor.current' settles within 1e-09 s, and dop853 would take 8e+08 steps to follow it; take "
        "integrator='cvode', which is made for stiff motions, or leave out what is so fast"
    )
    run = kp.simulate(m, [0.0], [0.0], duration=5.0, input=[1.0])
    assert run.status.ok
    assert run.integrator == "cvode"
    reason = "'motor.current' settles within 1e-09 s, and dop853 would take 8e+08 steps to follow it"
    assert f"Integrator 'cvode' was chosen: {reason}." in run.summary


def test_torque_and_input_at_once():
    with pytest.raises(kp.InputError) as problem:
        kp.simulate(kp.example("double-pendulum"), Q, QD, duration=0.1, torque=[1.0, 0.0], input=[1.0, 0.0])
    assert str(problem.value) == "double-pendulum: torque= and input= are both given; give one of them"


def test_an_input_that_fails_on_the_way():
    class Broken:
        def __call__(self, time, q, qd, x):
            return [1.0]

    run = failed(driven(), Q, QD, duration=0.1, input=Broken())
    assert run.status.message == "Stopped at t = 0 s: input returned shape (1,); expected (2,)"


def test_state_derivative_with_an_input_of_the_wrong_size():
    with pytest.raises(kp.InputError) as problem:
        driven().state_derivative(Q, QD, u=[1.0, 2.0, 3.0])
    assert str(problem.value) == (
        "double-pendulum: u has shape (3,); expected (2,) or (batch, 2): motor, elbow"
    )
