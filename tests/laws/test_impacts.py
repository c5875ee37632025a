"""Impacts at limits and at constraints that begin: closed forms, momentum along what is free, energy."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.constraints.rows.bounded import BoundedRow, BoundedRows, stacked
from kinpair.constraints.solve.stick import response
from kinpair.constraints.solvers.rank_revealing import null_space
from kinpair.simulation.driver.impacts import Struck, impact

EXACT = 1e-10  # demanded of known times and heights
G = 9.81


def ball() -> kp.Mechanism:
    builder = kp.Builder("ball").link("ball", mass=2.0)
    return kp.build(builder.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))


def sliders() -> kp.Mechanism:
    """Two blocks on a line; the second moves in the first and cannot pass it."""
    builder = kp.Builder("sliders", gravity=(0, 0, 0)).link("first", mass=2.0).link("second", mass=2.0)
    builder = builder.joint("rail", "prismatic", "ground", "first", axis="x")
    return kp.build(builder.joint("gap", "prismatic", "first", "second", axis="x", lower=0.0))


def limits(N: np.ndarray, qd: np.ndarray) -> BoundedRows:
    """Rows of limits that are reached."""
    return stacked([BoundedRow(f"limit {k}", 0.0, row @ qd, row) for k, row in enumerate(N)], len(qd))


@pytest.mark.parametrize("method", [{}, {"integrator": "dopri5"}, {"integrator": "rk4", "dt": 0.01}], ids=str)
def test_bouncing_ball_hits_when_it_should_and_comes_to_rest(method):
    e, first = 0.7, np.sqrt(2 / G)
    run = kp.simulate(ball(), [1.0], [0.0], duration=4.0, limits=kp.Limits("bounce", restitution=e), **method)
    times = np.cumsum([first, *(2 * first * e ** np.arange(1, 15))])
    result = run.events[: len(times)]
    assert np.abs([x.time for x in result] - times).max() < EXACT
    speeds = np.array([x.qd[0] for x in result])
    heights = speeds**2 / (2 * G)
    assert np.abs(heights - e ** (2 * np.arange(1, len(times) + 1))).max() < EXACT
    end = first * (1 + 2 * e / (1 - e))  # where the bounces pile up; what is left below `rest` is left out
    assert run.events[-1].time == pytest.approx(end, abs=2 * 1e-5 / (G * (1 - e)))
    assert run.status.ok
    assert run.q[-1, 0] == pytest.approx(0.0, abs=1e-12)
    assert run.balance.loss == pytest.approx(2.0 * G, rel=1e-9)
    assert run.balance.relative < 1e-9


def test_bounces_without_end_are_reported():
    run = stopped(ball(), [1.0], [0.0], duration=4.0, limits=kp.Limits("bounce", restitution=0.5, rest=0.0))
    assert run.status.name == "zeno"
    assert run.balance.relative < 1e-9


def test_pendulum_comes_back_from_a_stop_with_its_part_of_the_energy():
    builder = kp.Builder("pendulum").link("bob", mass=1.0, com=[0, 0, -1.0])
    m = kp.build(builder.joint("pin", "revolute", "ground", "bob", axis="y", lower=-0.2, upper=2.0))
    options = {"rtol": 1e-12, "atol": 1e-12}
    run = kp.simulate(m, [1.0], [0.0], duration=1.5, limits=kp.Limits("bounce", restitution=0.6), **options)
    hit = run.events[0]
    assert hit.q[0] == pytest.approx(-0.2, abs=EXACT)
    speed = np.sqrt(2 * G * (np.cos(0.2) - np.cos(1.0)))
    assert hit.qd_before[0] == pytest.approx(-speed, abs=EXACT)
    assert hit.qd[0] == pytest.approx(0.6 * speed, abs=EXACT)
    assert hit.lost == pytest.approx(0.5 * (1 - 0.6**2) * speed**2, abs=EXACT)
    assert run.q.min() > -0.2 - 1e-9


def test_equal_sliders_exchange_their_speeds():
    run = kp.simulate(
        sliders(), [0.0, 1.0], [2.0, -2.0], duration=1.0, limits=kp.Limits("bounce", restitution=1.0)
    )
    (hit,) = run.events
    assert hit.time == pytest.approx(0.5, abs=EXACT)
    assert hit.qd == pytest.approx([0.0, 2.0], abs=1e-12)
    assert hit.lost == pytest.approx(0.0, abs=1e-12)


def test_sliders_that_stop_move_on_together_until_one_is_pulled_away():
    pull = ([0.0, 1.0, 1.0 + 1e-9, 2.0], [[0, 0], [0, 0], [0, 3.0], [0, 3.0]])
    run = kp.simulate(
        sliders(),
        [0.0, 0.5],
        [2.0, -1.0],
        duration=2.0,
        limits="stop",
        torque=(pull[0], np.array(pull[1], float)),
    )
    hit, leaves = run.events
    assert hit.qd == pytest.approx([1.5, 0.0], abs=1e-12)  # momentum 2·2 + 2·1 of 4 kg
    assert hit.lost == pytest.approx(4.0 + 1.0 - 0.5 * 4 * 1.5**2)
    assert leaves.name == "gap leaves its lower limit"
    assert leaves.time == pytest.approx(1.0, abs=1e-8)
    assert run.q[-1, 1] == pytest.approx(0.5 * (3.0 / 2 + 3.0 / 2), rel=1e-6)  # ±3 N between blocks of 2 kg
    assert run.balance.relative < 1e-9


def bar(limits: dict[str, float]) -> kp.Mechanism:
    """The bundled four-bar with a limit on one of its joints."""
    from dataclasses import replace

    result = kp.example("four-bar").model.description
    joints = tuple(replace(x, lower=(limits[x.name],)) if x.name in limits else x for x in result.joints)
    return kp.build(replace(result, joints=joints))


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_four_bar_stays_closed_and_keeps_its_momentum_along_what_is_free(e):
    free = kp.example("four-bar")
    q = free.start()
    name = free.q_names[-1]
    Z = null_space(free.constraint_matrix(q))
    assert Z.shape[1] == 1
    k = free.nv - 1
    qd = -Z[:, 0] * np.sign(Z[k, 0]) * 2.0
    m = bar({name: float(q[k]) - 0.15})
    run = kp.simulate(
        m, q, qd, duration=0.4, limits=kp.Limits("bounce", restitution=e), rtol=1e-11, atol=1e-12
    )
    hit = run.events[0]
    assert hit.q[k] == pytest.approx(q[k] - 0.15, abs=EXACT)
    assert np.abs(m.constraint_residual(hit.q)).max() < EXACT
    assert np.abs(m.constraint_matrix(hit.q) @ hit.qd).max() < EXACT
    assert hit.qd[k] == pytest.approx(-e * hit.qd_before[k], abs=EXACT)
    z = null_space(m.constraint_matrix(hit.q))[:, 0]
    inertia = z @ m.mass_matrix(hit.q) @ z  # of the one freedom
    before = hit.qd_before @ z
    assert hit.lost == pytest.approx(0.5 * inertia * (1 - e * e) * before**2, rel=1e-8)
    residuals = np.abs([m.constraint_residual(x) for x in run.q]).max()
    assert residuals < 1e-9
    assert run.q[:, k].min() > q[k] - 0.15 - 1e-9
    assert run.balance.relative < 1e-7


def test_a_rod_that_catches_keeps_the_momentum():
    """Two free sliders are coupled when they are 1 m apart: the common rate follows from the momentum."""
    builder = kp.Builder("catch", gravity=(0, 0, 0)).link("a", mass=1.0).link("b", mass=3.0)
    builder = builder.joint("x", "prismatic", "ground", "a", axis="x").joint(
        "y", "prismatic", "ground", "b", axis="x"
    )
    link = kp.constraint.coupling("catch", "y", follows="x", offset=1.0)
    event = kp.Event("apart", lambda time, q, qd: q[1] - q[0] - 1.0, action=kp.Change(add=[link]))
    run = kp.simulate(kp.build(builder), [0.0, 0.0], [0.0, 2.0], duration=1.0, events=[event])
    (hit,) = run.events
    assert hit.time == pytest.approx(0.5, abs=1e-12)
    assert hit.qd == pytest.approx([1.5, 1.5], abs=1e-12)
    assert hit.lost == pytest.approx(0.5 * (1 * 3 / 4) * 2.0**2)  # of the reduced mass
    assert run.q[-1, 1] - run.q[-1, 0] == pytest.approx(1.0, abs=1e-12)
    assert run.balance.error < 1e-12


def test_springs_at_limits_store_and_dissipate_what_the_balance_says():
    run = kp.simulate(ball(), [1.0], [0.0], duration=1.0, limits="spring", rtol=1e-10, atol=1e-12)
    assert run.q.min() < 0.0
    assert run.balance.loss > 0.0
    assert run.balance.relative < 1e-7
    stiff = kp.Limits("spring", stiffness=1e5, damping=0.0)
    again = kp.simulate(ball(), [1.0], [0.0], duration=0.8, limits=stiff, rtol=1e-10, atol=1e-12)
    assert again.balance.loss == pytest.approx(0.0, abs=1e-6)
    depth = -again.q.min()
    assert 0.5 * 1e5 * depth**2 == pytest.approx(2.0 * G * (1 + depth), rel=2e-2)  # between samples


@pytest.mark.parametrize("seed", range(5))
def test_several_limits_at_once_obey_newton_and_take_energy(seed):
    rng = np.random.default_rng(seed)
    n, count = 6, 3
    L = rng.normal(size=(n, n))
    M, A, N = L @ L.T + np.eye(n), rng.normal(size=(2, n)), rng.normal(size=(count, n))
    qd = null_space(A) @ rng.normal(size=n - 2)
    e = np.full(count, 0.5)
    after = impact(Struck(M, response(M, A), limits(N, qd)), qd, e).qd
    assert np.abs(A @ after).max() < 1e-12
    assert (N @ after > -1e-9).all()
    assert after @ M @ after <= qd @ M @ qd * (1 + 1e-12)


def test_sixteen_limits_reached_at_once_take_no_energy_from_outside_and_stop():
    """More limits than sets of them could be tried: bodies in a row, each kept apart from the next."""
    n = 16
    builder = kp.Builder("row", gravity=(0, 0, 0))
    for k in range(n):
        builder = builder.link(f"b{k}", mass=1.0 + 0.1 * k)
        builder = builder.joint(
            f"j{k}", "prismatic", f"b{k - 1}" if k else "ground", f"b{k}", axis="x", lower=0.0
        )
    run = kp.simulate(kp.build(builder), np.full(n, 0.5), np.full(n, -1.0), duration=1.0, limits="stop")
    assert run.status.ok
    assert np.abs(run.qd[-1]).max() < 1e-12
    assert run.q[-1] == pytest.approx(np.zeros(n), abs=1e-12)
    assert run.balance.relative < 1e-9


@pytest.mark.parametrize("way", ["stop", "bounce"])
def test_a_joint_driven_beyond_its_limit_ends_the_run_and_says_so(way):
    builder = kp.Builder("slider").link("block", mass=2.0)
    builder = builder.joint("rail", "prismatic", "ground", "block", axis="x", upper=0.5)
    m = kp.build(builder).with_constraints(kp.constraint.drive("motor", "rail", "t"))
    run = stopped(m, [0.0], [1.0], duration=1.0, limits=way)
    assert run.status.name == "singular"
    assert run.status.message == (
        "Stopped at t = 0.5 s: no force at the limits holds 'rail at its upper limit': the constraints drive the "
        "mechanism on; change the constraints, or the limits"
    )
