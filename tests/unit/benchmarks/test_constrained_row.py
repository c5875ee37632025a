"""A row of four-bars: it moves as one pendulum, and costs as much per loop however long it is."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import constrained_row as row_of

import kinpair as kp
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.stacked import rows_at


def pendulum(n: int, angle: float) -> float:
    """θ̈ of the row: couplers stay level, so each moves as a point on the tip of a crank; (H) θ̈ = −g cos θ Σ m l."""
    cranks, couplers = n + 1, n
    inertia = cranks * (0.0075 + 1.0 * 0.15**2) + couplers * 1.5 * 0.3**2
    return -9.81 * np.cos(angle) * (cranks * 1.0 * 0.15 + couplers * 1.5 * 0.3) / inertia


@pytest.mark.parametrize("n", [1, 4, 30])
def test_it_moves_as_one_pendulum(n):
    m = row_of.row(n)
    q, qd = row_of.state(n, 0.7, 1.3)
    assert np.abs(m.constraint_residual(q)).max() <= 1e-14 * n
    qdd = m.forward_dynamics(q, qd, np.zeros(m.nv))
    _, turned = row_of.state(n, 0.0, 1.0)
    assert qdd == pytest.approx(pendulum(n, 0.7) * turned, rel=1e-12 * n)


def test_operations_grow_with_the_number_of_loops():
    counts = {n: row_of.kernel(n).count["total"] for n in (20, 40)}
    assert counts[40] / counts[20] < 2.2


def test_the_exponent_of_a_cost():
    n = (1, 5, 10, 20)
    result = row_of.Growth(n, (9, 5, 10, 20), (9.0, 25.0, 100.0, 400.0), (0.0, 0.0, 0.0, 0.0))
    assert result.exponent("operations") == pytest.approx(1.0)
    assert result.exponent("time") == pytest.approx(2.0)


@pytest.mark.parametrize("solver", ["udwadia-kalaba", "rosenberg-extended", "maggi", "partition"])
def test_every_solver_gives_the_accelerations_of_a_short_row(solver):
    m: kp.Mechanism = row_of.row(3).reference
    q, qd = row_of.state(3, 0.7, 1.3)
    qdd = m.forward_dynamics(q, qd, np.zeros(m.nv), solver=solver)
    assert qdd[0] == pytest.approx(pendulum(3, 0.7), rel=1e-12)


def test_states_of_the_legs_and_rows_beside_lcaba_close_their_loops():
    lcaba = pytest.importorskip("benchmarks.constrained_lcaba", exc_type=ImportError)
    for x in (lcaba.legs(), lcaba.four_bars(3)):
        model = x.mechanism.model
        for q, qd in zip(x.q[:3], x.qd[:3], strict=True):
            A = rows_at(constraints_of(model), Motion(model, q, 0.0, qd)).A
            np.testing.assert_allclose(np.asarray(A, dtype=float) @ qd, 0.0, atol=1e-13)
            np.testing.assert_allclose(x.mechanism.constraint_residual(q), 0.0, atol=1e-13)
