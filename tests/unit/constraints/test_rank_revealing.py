"""Accelerations of one state whatever the rank: redundant, contradicting, fading and drifted rows, lost inertia."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp
from kinpair.constraints.solvers.rank_revealing import Drift, lengths, null_space, rank_of, solve

RNG = np.random.default_rng(21)
N = 6
ROOT = RNG.normal(size=(N, N))
M, F = ROOT @ ROOT.T + np.eye(N), RNG.normal(size=N)
A, B = RNG.normal(size=(3, N)), RNG.normal(size=3)


def by_kkt(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    whole = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    result = np.linalg.solve(whole, np.concatenate([F, b]))
    return result[:N], result[N:]


def test_rows_of_full_rank_give_the_saddle_point():
    result = solve(M, F, A, B)
    qdd, lam = by_kkt(A, B)
    assert result.rank == 3
    assert result.qdd == pytest.approx(qdd, abs=1e-11)
    assert result.lam == pytest.approx(lam, abs=1e-11)
    assert result.lost.shape == (N, 0)
    assert not len(result.contradicting)


def test_redundant_rows_that_agree_change_nothing_and_share_the_load():
    more, right = np.vstack([A, A[0] + A[1]]), np.array([*B, B[0] + B[1]])
    result = solve(M, F, more, right)
    assert result.rank == 3
    assert result.qdd == pytest.approx(by_kkt(A, B)[0], abs=1e-11)
    assert more.T @ result.lam == pytest.approx(M @ result.qdd - F, abs=1e-11)


def test_rows_that_contradict_each_other_are_numbered():
    result = solve(M, F, np.vstack([A, A[1]]), np.array([*B, B[1] + 0.5]))
    assert result.contradicting.tolist() == [1, 3]


def test_no_rows_leave_the_free_motion():
    result = solve(M, F, np.zeros((0, N)), np.zeros(0))
    assert result.qdd == pytest.approx(np.linalg.solve(M, F), abs=1e-12)
    assert (result.rank, len(result.lam)) == (0, 0)


def test_rows_for_everything_leave_no_choice():
    rows, right = RNG.normal(size=(N, N)), RNG.normal(size=N)
    result = solve(M, F, rows, right)
    assert result.qdd == pytest.approx(np.linalg.solve(rows, right), abs=1e-10)


def test_inertia_that_is_lost_is_shown_as_a_motion():
    light = M.copy()
    light[2] = light[:, 2] = 0.0
    free = solve(light, F, np.eye(N)[:2], np.zeros(2))
    assert free.lost.shape == (N, 1)
    assert np.flatnonzero(np.abs(free.lost[:, 0]) > 1e-9).tolist() == [2]
    assert solve(light, F, np.eye(N)[1:3], np.zeros(2)).lost.shape == (N, 0)


def test_every_motion_without_inertia_is_shown():
    light = M.copy()
    light[[2, 4]] = light[:, [2, 4]] = 0.0
    result = solve(light, F, np.eye(N)[:2], np.zeros(2))
    assert result.lost.shape == (N, 2)
    assert np.flatnonzero(np.abs(result.lost).max(1) > 1e-9).tolist() == [2, 4]


def test_a_small_inertia_is_one_where_it_is_judged_by_its_own_size():
    """1e-14 kg m² beside 1 kg: lost against the largest entry, and none against scales of its own kind."""
    M, F = np.diag([1.0, 1e-14]), np.array([2.0, 3e-14])
    nothing = np.zeros((0, 2)), np.zeros(0)
    assert solve(M, F, *nothing).lost.shape == (2, 1)
    result = solve(M, F, *nothing, scales=np.array([1.0, 1e-14]))
    assert result.lost.shape == (2, 0)
    assert result.qdd == pytest.approx([2.0, 3.0])


def test_null_space_holds_what_the_rows_allow():
    Z = null_space(A)
    assert Z.shape == (N, 3)
    assert np.abs(A @ Z).max() < 1e-13
    assert np.abs(Z.T @ Z - np.eye(3)).max() < 1e-14
    assert null_space(np.zeros((0, N))).tolist() == np.eye(N).tolist()
    assert rank_of(np.zeros(0)) == 0


def test_a_row_that_fades_away_is_not_blown_up():
    rows = np.array([[1.0, 0, 0], [0, 0.5, 0], [0, 0, 1e-18]])
    assert lengths(rows).tolist() == [1.0, 0.5, 0.01]
    assert null_space(rows).shape == (3, 1)
    assert lengths(np.zeros((2, 3))).tolist() == [1.0, 1.0]


def test_what_drift_explains_is_no_contradiction_and_no_rank():
    """A redundant row that a residual of 1e-6 has bent a little: by itself a fourth row, in truth no news."""
    bent = np.vstack([A, A[0] + A[1] + 1e-7 * RNG.normal(size=N)])
    right = np.array([*B, B[0] + B[1] + 1e-5])
    assert solve(M, F, bent, right).rank == 4
    result = solve(M, F, bent, right, Drift(1e-6, 1e-5, 2.0))
    assert result.rank == 3
    assert not len(result.contradicting)
    assert result.qdd == pytest.approx(by_kkt(A, B)[0], abs=1e-3)


@pytest.mark.parametrize("solver", ["multipliers", "maggi"])
def test_a_state_a_little_off_its_constraints_moves_as_one_that_obeys(solver):
    """Bennett's rows are redundant only where it is closed; stages of an integration are not quite."""
    m = kp.example("bennett").reference
    q = m.assemble(closed.start("bennett"))
    qd = m.velocities(q, {m.v_names[0]: 2.0})
    tau = np.array([0.06, 0.05, -0.03])
    expected = m.forward_dynamics(q, qd, tau, solver=solver)
    for off in (1e-10, 1e-8, 1e-6, 1e-5):
        turned = np.array([1.0, -0.5, 0.3])
        result = m.forward_dynamics(q + off * turned, qd + 10 * off * turned, tau, solver=solver)
        assert np.abs(result - expected).max() < 1e4 * off, off


def test_rates_of_rows_that_are_not_linear_in_them():
    """A point kept at speed one: found by Newton's method from the guess, and its acceleration has no part along it."""
    rows = [{"name": "speed", "psi": lambda q, qd, t: qd[0] ** 2 + qd[1] ** 2 - 1.0}]
    point = kp.System(
        ["x", "y"],
        lambda q, qd, t: 0.5 * (qd[0] ** 2 + qd[1] ** 2),
        lambda q, qd, t: [1.0, 2.0],
        rows,
        compiled=False,
    )
    assert point.velocities([0, 0], guess=[0.5, 0.5]) == pytest.approx([np.sqrt(0.5)] * 2, abs=1e-13)
    assert point.velocities([0, 0], {"x": 0.6}, guess=[0, 0.5]) == pytest.approx([0.6, 0.8], abs=1e-13)
    v, Q = np.array([0.6, 0.8]), np.array([1.0, 2.0])
    for solver in ("multipliers", "udwadia-kalaba", "maggi", "partition"):
        result = point.forward_dynamics([0, 0], v, solver=solver)
        assert result == pytest.approx(Q - (Q @ v) * v, abs=1e-14), solver
    with pytest.raises(kp.SingularError) as caught:
        point.velocities([0, 0], {"x": 1.5}, guess=[0, 0.5])
    assert str(caught.value) == ("system: no rates found that obey speed; give a guess nearer to such rates")
