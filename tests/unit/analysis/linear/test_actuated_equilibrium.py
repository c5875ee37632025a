"""Equilibria of mechanisms with actuators: constant inputs, or inputs to be found; internal states stand still too."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from motors import swing

LONG = pytest.mark.long(reason="hundreds of steps of a search, or a large example")
R, K, N, LEVER = 1.6, 0.26, 5.0, 9.81 * 0.3


@cache
def lift() -> kp.Mechanism:
    builder = kp.Builder("lift", gravity=(0.0, -9.81, 0.0))
    builder.link("arm", mass=1.0, com=(0.0, -0.3, 0.0), inertia=(0.1, 0.1, 0.1))
    builder.joint("hinge", "revolute", "ground", "arm", axis="z")
    numbers = {"resistance": R, "torque_constant": K, "inductance": 2e-3}
    return kp.build(
        builder.actuator("motor", "hinge", "dc-motor", **numbers, gear={"ratio": N}).description()
    )


def test_a_voltage_lifts_an_arm_as_far_as_its_current_holds():
    """N k U/R = m g l sin q."""
    x = kp.equilibrium(lift(), [0.1], u={"motor": 2.0})
    assert x.x == pytest.approx([2.0 / R], rel=1e-12)
    assert x.q == pytest.approx([np.arcsin(N * K * 2.0 / R / LEVER)], rel=1e-9)
    assert x.stability == "asymptotically stable"
    upright = kp.equilibrium(lift(), [2.8], u=[2.0])
    assert upright.q == pytest.approx([np.pi - x.q[0]], rel=1e-9)
    assert upright.stability == "unstable"
    assert str(x) == (
        "lift: equilibrium, asymptotically stable\nq: hinge 0.58495\ninputs: motor 2\nx: motor.current 1.25"
    )


def test_a_motor_without_current_has_no_line():
    assert str(kp.equilibrium(lift(), [0.1])) == "lift: equilibrium, asymptotically stable\nq: hinge 0"


def test_the_voltage_that_holds_an_arm():
    x = kp.equilibrium(lift(), [0.4], free=("motor",), fixed=("hinge",))
    assert x.q == pytest.approx([0.4])
    assert x.u == pytest.approx([LEVER * np.sin(0.4) * R / (N * K)], rel=1e-9)


@pytest.mark.parametrize("case", ["servo", "affine filtered"])
def test_nothing_moves_and_runs_that_settle_end_there(case):
    m = swing(case)
    x = kp.equilibrium(m, [0.1, 0.0], u=[0.1 if case != "affine filtered" else 0.02])
    qdd, rate = m.state_derivative(x.q, x.qd, x.x, x.u)
    assert np.abs(qdd).max() < 1e-9
    assert np.abs(rate).max(initial=0.0) < 1e-9
    run = kp.simulate(m, x.q, x.qd, x=x.x, input=x.u, duration=0.1)
    assert np.abs(run.q - x.q).max() < 1e-8


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: kp.equilibrium(lift(), [0.1], free=("hinge",)),
            kp.InputError,
            "lift: no input 'hinge' for free=; Inputs: motor",
        ),
        pytest.param(
            lambda: kp.equilibrium(lift(), [0.1], u=[5.0]),
            kp.SingularError,
            "lift: no equilibrium found from this guess: ",
            marks=LONG,
        ),
        pytest.param(
            lambda: kp.equilibrium(kp.example("excavator")),
            kp.SingularError,
            "excavator: what was found has 'arm.pressure', 'arm.rod_pressure' beyond a limit, where it cannot stand; "
            "give another guess of q or x, or other inputs",
            marks=LONG,
        ),
    ],
)
def test_what_is_refused(call, kind, message):
    with pytest.raises(kind) as problem:
        call()
    assert str(problem.value).startswith(message)
