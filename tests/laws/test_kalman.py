"""Laws of Kalman filters: the dual of the regulator, its equation, its poles in a loop, its covariance."""

from __future__ import annotations

from functools import cache

import control
import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_discrete_are

import kinpair as kp
from kinpair.analysis.linear.step_response import held
from kinpair.control import riccati

W = {"q.slide": 0.01, "q.swing": 0.02, "qd.slide": 0.5, "qd.swing": 2.0}
NOISE = {"q.slide": 1e-4, "q.swing": 3e-4}
PROCESS, SENSOR = np.diag(list(W.values())), np.diag(list(NOISE.values()))


@cache
def cart_pole():
    return kp.example("cart-pole")


@cache
def model():
    return kp.linearise(cart_pole(), [0.0, 0.0], inputs=["slide"], outputs=list(NOISE))


@cache
def of(sample_time=None):
    return kp.regulator.kalman(model(), W=W, V=NOISE, sample_time=sample_time)


def integrated(A, spread, period, count=2000):
    """∫ exp(A s) W exp(Aᵀ s) ds by Simpson's rule."""
    s = np.linspace(0.0, period, count + 1)
    weights = np.r_[1.0, np.tile([4.0, 2.0], count // 2)[:-1], 1.0] * period / (3 * count)
    phi = held(A * s[:, None, None], np.zeros((count + 1, len(A), 1)), 1.0)[0]
    return np.einsum("k,kij,jl,kml->im", weights, phi, spread, phi)


def test_the_continuous_filter_solves_its_riccati_equation():
    """(KF1), term by term; and as SciPy and python-control solve it."""
    x, m = of(), model()
    terms = [m.A @ x.P, x.P @ m.A.T, -x.L @ SENSOR @ x.L.T, PROCESS]
    assert np.abs(sum(terms)).max() <= 1e-10 * max(np.abs(t).max() for t in terms)
    assert x.residual <= 1e-10
    assert pytest.approx(solve_continuous_are(m.A.T, m.C.T, PROCESS, SENSOR), rel=1e-9, abs=1e-12) == x.P
    L, P, poles = control.lqe(m.A, np.eye(4), m.C, PROCESS, SENSOR)
    assert pytest.approx(L, rel=1e-8, abs=1e-9) == x.L
    assert pytest.approx(P, rel=1e-8, abs=1e-12) == x.P
    assert np.sort_complex(x.poles) == pytest.approx(np.sort_complex(poles), rel=1e-7)


def test_the_sampled_filter_solves_its_riccati_equation():
    """(KF3) and (KF4); and as SciPy and python-control solve it."""
    x, m = of(0.02), model().discrete(0.02)
    spread = integrated(model().A, PROCESS, 0.02)
    again = m.A @ x.covariance @ m.A.T + spread
    assert np.abs(again - x.P).max() <= 1e-10 * np.abs(x.P).max()
    assert pytest.approx(solve_discrete_are(m.A.T, m.C.T, spread, SENSOR), rel=1e-8, abs=1e-12) == x.P
    L, P, poles = control.dlqe(m.A, np.eye(4), m.C, spread, SENSOR)
    assert pytest.approx(L, rel=1e-7, abs=1e-9) == m.A @ x.L  # python-control has the gain of the prediction
    assert pytest.approx(P, rel=1e-7, abs=1e-12) == x.P
    assert np.sort(np.abs(x.poles)) == pytest.approx(np.sort(np.abs(poles)), rel=1e-7)


def test_a_filter_is_the_regulator_of_the_transposed_model():
    m = model()
    gain = riccati.continuous(m.A.T, m.C.T, PROCESS, SENSOR, 0.0)
    assert np.array_equal(gain.K.T, of().L)
    step = m.discrete(0.02)
    gain = riccati.sampled(step.A.T, step.C.T, integrated(m.A, PROCESS, 0.02), SENSOR, 1.0)
    assert pytest.approx(gain.K.T, rel=1e-8, abs=1e-10) == step.A @ of(0.02).L


def test_faster_samples_tend_to_the_continuous_filter():
    """Samples of covariance V/T carry the information of the intensity V."""
    off = []
    for T in (2e-3, 1e-3):
        x = kp.regulator.kalman(model(), W=W, V={k: v / T for k, v in NOISE.items()}, sample_time=T)
        off.append(np.abs(x.L / T - of().L).max())
    assert off[1] == pytest.approx(off[0] / 2, rel=0.1)


@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_the_poles_of_a_loop_are_those_of_regulator_and_filter(sample_time):
    """Separation: from sample to sample, of the model with the law in its loop, by its response to unit states."""
    step = sample_time or 1e-3
    regulator = kp.regulator.lqr(model(), degree=1.0, sample_time=sample_time)
    law, plant = kp.regulator.lqg(regulator, of(sample_time)), model().discrete(step)
    x, row, n = of(sample_time).steps(None), law.table.at(0.0), 4
    K = law.table.part(row, "K").reshape(1, n)
    estimated = np.hstack([x.M @ x.C, np.eye(n) - x.M @ x.C])
    u = -K @ estimated
    top = np.hstack([plant.A, np.zeros((n, n))]) + plant.B @ u
    below = x.F @ estimated + x.G @ u + np.hstack([x.H @ x.C, np.zeros((n, n))])
    values = np.linalg.eigvals(np.vstack([top, below]))
    if sample_time is None:
        expected = np.exp(step * np.concatenate([regulator.poles, of().poles]))
        rel = 0.01  # the outputs are held for 1 ms, which the continuous design does not know
    else:
        expected, rel = np.concatenate([regulator.poles, of(sample_time).poles]), 1e-7
    assert np.sort(np.abs(values)) == pytest.approx(np.sort(np.abs(expected)), rel=rel)


@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_a_user_puts_the_filter_in_a_loop_and_the_pole_stays_upright(sample_time):
    """Only places are measured, with noise; rates come from the filter."""
    m = cart_pole()
    regulator = kp.regulator.lqr(model(), degree=1.0, sample_time=sample_time)
    law = kp.regulator.lqg(regulator, of(sample_time))
    loop = kp.regulator.in_loop(law, noise=(1e-4, 5.0))  # rates are too noisy to be of use
    x = kp.simulate(
        m, [0.1, 0.1], [0.0, 0.0], duration=8.0, torque=loop, integrator="rk4", dt=1e-3, output=8.0
    )
    assert np.abs(x.q[-1]).max() < 0.02


def test_errors_of_estimates_have_the_covariance_that_the_filter_states():
    """Four thousand seeded motions of a linear model, ten samples each: mean squares against P, to 3 σ."""
    m = kp.example("double-pendulum")
    own = kp.linearise(m, [0.0, 0.0], inputs=["shoulder"], outputs=["q.shoulder", "q.elbow"])
    x = kp.regulator.kalman(own, W=0.05, V=1e-3, sample_time=0.05)
    rng, count = np.random.default_rng(5), 4000
    plant, spread = own.discrete(0.05), integrated(own.A, 0.05 * np.eye(4), 0.05)
    error = rng.multivariate_normal(np.zeros(4), x.P, count)
    for _ in range(10):
        v = rng.normal(0.0, np.sqrt(1e-3), (count, 2))
        w = rng.multivariate_normal(np.zeros(4), spread, count)
        after = error - (error @ plant.C.T + v) @ x.L.T
        error = after @ plant.A.T + w
    for found, stated in ((error, x.P), (after, x.covariance)):
        assert np.mean(found**2, axis=0) == pytest.approx(np.diag(stated), rel=3.0 * np.sqrt(2.0 / count))


def test_estimates_of_a_record_are_those_of_the_loop():
    """`estimate` on outputs and inputs of a linear model started away from the estimate finds its state."""
    x, plant = of(0.02), model().discrete(0.02)
    K = kp.regulator.lqr(model(), degree=1.0, sample_time=0.02).K
    state, states, outputs, inputs = np.array([0.1, 0.05, 0.0, 0.0]), [], [], []
    for _ in range(400):
        u = -K @ state
        states.append(state)
        outputs.append(plant.C @ state)
        inputs.append(u)
        state = plant.A @ state + plant.B @ u
    found = x.estimate(np.array(outputs), np.array(inputs))
    slow = np.abs(x.poles).max() ** 400
    assert np.abs(found[-1] - states[-1]).max() <= 100.0 * slow


@pytest.mark.parametrize("sample_time", [None, 0.05])
def test_margins_of_a_linear_quadratic_regulator_are_at_least_sixty_degrees(sample_time):
    """Kalman 1964, for a continuous loop: 60° and half the gain. Held for 50 ms, the loop has less."""
    x = kp.regulator.lqr(model(), sample_time=sample_time).loop.margins()
    assert x.stable
    if sample_time is None:
        assert x.phase >= 60.0
        assert x.gain <= 0.5
    else:
        assert 0.0 < x.phase < kp.regulator.lqr(model()).loop.margins().phase
