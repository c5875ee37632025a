"""Over singular positions the error falls with the tolerance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from families import family

CRANK, SPACING, COUPLER = 0.3, 0.5, 1.5  # [m], [m], [kg]
ANGLE, RATE = 0.7, 1.3  # of the cranks at the start [rad], [rad/s]
GROWTH = 10.0  # of the error of a step over the second that follows: dopri5 has 5 on a plain pendulum


def row(n: int) -> kp.Mechanism:
    """n parallelograms side by side that share their cranks; all of them are flat, and singular, at once."""
    builder = kp.Builder(f"row of {n}", gravity=(0.0, -9.81, 0.0))
    for k in range(n + 1):
        builder.link(f"crank{k}", mass=1.0, com=[CRANK / 2, 0, 0], inertia=[0.0001, 0.0075, 0.0075])
        builder.joint(f"crank{k}", "revolute", "ground", f"crank{k}", xyz=[k * SPACING, 0, 0], axis="z")
    for k in range(n):
        builder.link(f"coupler{k}", mass=COUPLER, com=[SPACING / 2, 0, 0], inertia=[0.0001, 0.03, 0.03])
        builder.joint(f"coupler{k}", "revolute", f"crank{k}", f"coupler{k}", xyz=[CRANK, 0, 0], axis="z")
        tips = {"xyz": [CRANK, 0, 0], "child_xyz": [SPACING, 0, 0]}
        builder.loop(f"pin{k}", "spherical", f"crank{k + 1}", f"coupler{k}", **tips)
    return kp.build(builder)


def one_body(n: int) -> kp.System:
    """The same motion without loops: couplers do not turn, so that all is one angle."""
    inertia = (n + 1) * (0.0075 + (CRANK / 2) ** 2) + n * COUPLER * CRANK**2
    moment = 9.81 * ((n + 1) * CRANK / 2 + n * COUPLER * CRANK)
    return kp.System(
        ["angle"], lambda q, qd, t: 0.5 * inertia * qd[0] ** 2, lambda q, qd, t: [-moment * np.cos(q[0])]
    )


ROWS = family([1, 4, 12, 40], ["1", "4"], "longer rows take up to half a minute to compile")


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
@pytest.mark.parametrize("n", ROWS)
def test_the_error_of_a_row_of_four_bars_falls_with_the_tolerance(n, method):
    """The cranks are flat at 0.27 and 0.6 s."""
    turned = np.concatenate([np.ones(n + 1), -np.ones(n)])
    options = {"duration": 1.0, "output": [1.0], "integrator": method}
    exact = kp.simulate(one_body(n), [ANGLE], [RATE], duration=1.0, rtol=1e-13, atol=1e-13, output=[1.0]).q[
        -1, 0
    ]
    mechanism = row(n)
    for tolerance in (1e-6, 1e-8, 1e-10, 1e-12):
        run = kp.simulate(mechanism, ANGLE * turned, RATE * turned, rtol=tolerance, atol=tolerance, **options)
        assert run.status.ok, run.status
        assert np.abs(run.q[-1] - exact * turned).max() < GROWTH * tolerance


def test_the_status_says_what_a_passage_took():
    mechanism, turned = row(12), np.concatenate([np.ones(13), -np.ones(12)])
    run = kp.simulate(mechanism, ANGLE * turned, RATE * turned, duration=0.5, rtol=1e-12, atol=1e-12)
    flat = kp.simulate(
        one_body(12), [ANGLE], [RATE], duration=0.5, events=[kp.Event("flat", lambda time, q, qd: q[0])]
    ).events[0]
    assert f"over singular positions at t = {flat.time:.6g} s, each in one step (" in run.status.message


TURNED = np.array([1.0, 1.0, -1.0])


@pytest.fixture(scope="module")
def weightless() -> kp.Mechanism:
    """Without forces its cranks turn at their rate. From one radian at 1 rad/s they are flat at 1 s, where a sample is,
    and where a stage of a method may fall."""
    return kp.build(replace(row(1).model.description, gravity=(0.0, 0.0, 0.0)))


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
@pytest.mark.parametrize("tolerance", [1e-7, 1e-9, 1e-11])
def test_rows_that_are_only_pulled_back_cross_too(weightless, tolerance, method):
    given = {"duration": 2.0, "hold": "baumgarte", "integrator": method, "rtol": tolerance, "atol": tolerance}
    run = kp.simulate(weightless, -TURNED, TURNED, **given)
    assert run.status.ok, run.status
    assert np.abs(run.q - np.outer(run.time - 1.0, TURNED)).max() < GROWTH * tolerance


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_a_sample_in_a_singular_position_is_of_the_motion(weightless, method):
    """Rows that are lost there project nothing: they would make errors of the tolerance as large as the rates."""
    run = kp.simulate(weightless, -TURNED, TURNED, duration=2.0, integrator=method)
    assert run.status.ok, run.status
    assert np.abs(run.qd - TURNED).max() < 1e-4


def test_a_step_with_a_stage_in_a_singular_position_leaves_no_sample(weightless):
    run = stopped(weightless, -TURNED, TURNED, duration=2.0, integrator="rk4", dt=1 / 64)
    assert run.status.name == "not finite"
    assert run.time[-1] == 63 / 64
    assert run.singular.time == pytest.approx(1.0, abs=1e-6)
    assert np.abs(run.qd - TURNED).max() < 1e-10


@pytest.mark.parametrize("lead", [5e-4, 1e-3, 2e-3, 5e-3, 2e-2])
def test_a_jump_just_before_a_singular_position_is_not_stepped_over(lead):
    """The reference: the same jump on one body, integrated up to it and on from it.

    To find a jump, steps become short until its effect is within the tolerance, each time it is tried. One body alone,
    with the jump unknown to it, is off by up to 16 tolerances; a row of four has as many more rates in its error norm.
    """
    n, tolerance = 3, 1e-9
    turned, body = np.concatenate([np.ones(n + 1), -np.ones(n)]), one_body(n)
    options = {"rtol": tolerance, "atol": tolerance}
    flat = kp.simulate(
        body, [ANGLE], [RATE], duration=0.5, events=[kp.Event("flat", lambda time, q, qd: q[0])], **options
    ).events[0]
    jump = flat.time - lead

    def push(time, q, qd):
        return np.concatenate([[5.0 * (1.0 + np.sign(time - jump))], np.zeros(len(qd) - 1)])

    one = kp.simulate(body, [ANGLE], [RATE], duration=jump, output=[jump], **options)
    two = kp.simulate(
        body, one.q[-1], one.qd[-1], duration=0.5 - jump, torque=[10.0], output=[0.5 - jump], **options
    )
    run = kp.simulate(
        row(n), ANGLE * turned, RATE * turned, duration=0.5, torque=push, output=[0.5], **options
    )
    assert run.status.ok, run.status
    assert np.abs(run.q[-1] - two.q[-1, 0] * turned).max() < 10.0 * GROWTH * tolerance
