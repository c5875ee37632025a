"""Riccati's equations against plain integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinpair.control import riccati


def problem(n=4, m=2, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, n)),
        rng.normal(size=(n, m)),
        np.diag(rng.uniform(0.5, 2, n)),
        np.diag([0.3, 2.0]),
    )


@pytest.mark.parametrize("degree", [0.0, 0.7])
def test_along_a_motion_it_is_the_differential_equation(degree):
    """(RG3) with (RG3a) and (RG3b) against an integration of (RG2) backwards."""
    A, B, Q, R = problem()
    times, end = np.array([0.0, 0.1, 0.25, 1.0]), np.eye(4)
    F = A + degree * np.eye(4)

    def back(_, s):
        S = s.reshape(4, 4)
        return (S @ F + F.T @ S - S @ B @ np.linalg.solve(R, B.T @ S) + Q).ravel()

    found = solve_ivp(
        back, (0.0, 1.0), end.ravel(), rtol=1e-12, atol=1e-12, t_eval=[0.75, 0.9, 1.0], method="DOP853"
    )
    _, S = riccati.along(times, np.stack([A] * 4), np.stack([B] * 4), Q, R, degree, end)
    assert S[2::-1].reshape(3, 16) == pytest.approx(found.y.T, rel=1e-9, abs=1e-9)


def test_weights_may_be_of_each_time():
    """The same ones at all times are those of one matrix; along samples, too."""
    A, B, Q, R = problem(seed=3)
    times, end = np.array([0.0, 0.1, 0.25, 1.0]), np.eye(4)
    models, each = (np.stack([x] * 4) for x in (A, B)), (np.stack([x] * 4) for x in (Q, R))
    models, each = tuple(models), tuple(each)
    for one, many in zip(
        (*riccati.along(times, *models, Q, R, 0.3, end), *riccati.along_samples(*models, Q, R, 1.1, end)),
        (*riccati.along(times, *models, *each, 0.3, end), *riccati.along_samples(*models, *each, 1.1, end)),
        strict=True,
    ):
        np.testing.assert_allclose(many, one, rtol=1e-13)


def test_far_from_the_end_it_is_the_algebraic_solution_however_long_an_interval_is():
    A, B, Q, R = problem(seed=1)
    times = np.array([0.0, 1e3, 1e6])
    steady = riccati.continuous(A, B, Q, R, 0.2)
    K, S = riccati.along(times, np.stack([A] * 3), np.stack([B] * 3), Q, R, 0.2, np.zeros((4, 4)))
    assert S[0] == pytest.approx(steady.S, rel=1e-8, abs=1e-9)
    assert K[0] == pytest.approx(steady.K, rel=1e-8, abs=1e-9)
    assert steady.residual < 1e-13


def test_samples_that_come_fast_are_continuous_time():
    from kinpair.analysis.linear.step_response import held

    A, B, Q, R = problem(seed=2)
    dt = 1e-4
    sampled = riccati.sampled(*held(A, B, dt), Q * dt, R * dt, 1.0)
    assert pytest.approx(riccati.continuous(A, B, Q, R, 0.0).K, rel=1e-2) == sampled.K
