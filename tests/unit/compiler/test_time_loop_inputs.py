"""A function of Python as a compiled loop calls it."""

from __future__ import annotations

import ctypes

import numpy as np

import kinpair as kp
from kinpair.compiler.time_loop.inputs import SUCCESS, Call, callback


def test_a_place_that_held_inputs_may_hold_a_state_later():
    """Memory that is freed and given out again has another use and another size."""
    seen = []

    def control(time, y):
        seen.append(y.tolist())
        return np.array([time])

    kept = []
    function = callback(control, 3, 1, kept.append)

    def call(time, y, u):
        arguments = Call(time, y, u)
        return function(ctypes.addressof(arguments))

    memory = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    here, there = memory.ctypes.data, memory[3:].ctypes.data
    assert call(0.5, here, there) == SUCCESS
    assert memory.tolist() == [1.0, 2.0, 3.0, 0.5, 5.0]
    other = np.zeros(3)
    assert call(0.7, other.ctypes.data, here) == SUCCESS
    assert memory[0] == 0.7
    assert memory[1:].tolist() == [2.0, 3.0, 0.5, 5.0]
    assert call(0.9, here, there) == SUCCESS
    assert seen == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0.7, 2.0, 3.0]]


def test_a_called_torque_sees_whole_states_through_many_events():
    lengths = set()

    class Damper:
        def __call__(self, time, q, qd):
            lengths.add((len(q), len(qd)))
            return -0.01 * qd

    builder = kp.Builder("pendulum").link("rod", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.1])
    pendulum = kp.build(builder.joint("hinge", "revolute", "ground", "rod", axis="y"))
    events = [
        kp.Event("turns", lambda time, q, qd: qd[0]),
        kp.Event("passes", lambda time, q, qd: q[0]),
    ]
    options = {"duration": 60.0, "integrator": "rk4", "dt": 1e-2}
    run = kp.simulate(pendulum, [1.0], [0.0], torque=Damper(), events=events, **options)
    assert run.status.ok
    assert lengths == {(1, 1)}
    assert len(run.events) > 60
