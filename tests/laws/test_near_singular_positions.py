"""Generalised-α near a singular position: a regular state is solved for, however near and however short the step."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import stopped

LIFT = 9.81  # [m/s²] upwards, away from the flat position
INERTIA = (
    2 * (0.01 + 0.5**2) + 1.0
)  # of crank and rocker about their pins, and of the coupler that goes round


def parallelogram(gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> kp.Mechanism:
    """Flat, and singular, at zero; moving by the angle a it turns like one body of the inertia above."""
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=gravity).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    return kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))


def motion(mechanism: kp.Mechanism, angle: float, rate: float, duration: float, dt: float) -> kp.Run:
    q = np.array([angle, -angle, angle])
    qd = mechanism.velocities(q, {"a": rate})
    return kp.simulate(
        mechanism, q, qd, duration=duration, integrator="generalised-alpha", dt=dt, output=[duration]
    )


@pytest.mark.parametrize("dt", [1e-2, 2e-3, 1e-3, 2e-4, 1e-4])
@pytest.mark.parametrize(
    ("angle", "rate"), [(0.12, 1.0), (0.12, 0.1), (-0.32, 1.0), (0.02, 0.1), (2e-3, 0.01)]
)
def test_a_parallelogram_turns_evenly_beside_its_flat_position(angle, rate, dt):
    """Without forces it turns at its rate. Each step leaves rounding of φ over √p of (AL7), which is 1/angle at most,
    in the rates, as often up as down."""
    run = motion(parallelogram(), angle, rate, 0.2, dt)
    assert run.status.ok, run.status
    nearest = min(abs(angle), abs(angle + 0.2 * rate))
    allowed = 1e-14 / nearest * np.sqrt(0.2 / dt)
    assert abs(run.q[-1, 0] - (angle + 0.2 * rate)) < allowed


def test_the_order_stays_two_beside_a_singular_position():
    """The reference: one body of the same inertia under the same moment."""
    body = kp.System(
        ["a"], lambda q, qd, t: 0.5 * INERTIA * qd[0] ** 2, lambda q, qd, t: [2.0 * LIFT * np.cos(q[0])]
    )
    exact = kp.simulate(body, [0.12], [0.1], duration=0.2, rtol=1e-13, atol=1e-13, output=[0.2]).q[-1, 0]
    raised = parallelogram((0.0, LIFT, 0.0))
    errors = [abs(motion(raised, 0.12, 0.1, 0.2, dt).q[-1, 0] - exact) for dt in (4e-3, 2e-3, 1e-3, 5e-4)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(2.0, abs=0.1)


def test_a_singular_position_is_not_taken_for_a_regular_one():
    run = stopped(parallelogram(), -0.5, 1.0, 1.0, 1 / 64, call=motion)
    assert run.status.name == "not converged"
    assert run.status.time == pytest.approx(0.5 - 1 / 64)  # the start of the step that ends there
