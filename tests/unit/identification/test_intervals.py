"""Intervals contain true values as often as they say; payloads and drive gains are found."""

from __future__ import annotations

import numpy as np
import pytest

import identification_logs as logs
import kinpair as kp
from kinpair.identification import output_error
from kinpair.identification.fitted import described
from kinpair.loading import build

OPTIONS = {"friction": ["viscous", "coulomb", "offset"], "progress": False, "signals": {"delay": 0.0}}
WORDS = {"rotor inertia": "rotor inertia", "viscous": "damping", "coulomb": "friction"}


def true_values(result):
    """θ of the arm that made the log."""
    m = logs.arm()
    by_name = dict(zip(m.regressor_names, m.regressor_parameters(), strict=True))
    found = []
    for x in result.layout.parameters:
        owner, _, what = x.name.rpartition(": ")
        found.append(by_name.get(x.name, by_name.get(f"{owner}: {WORDS.get(what, '')}", 0.0)))
    return np.array(found)


def coverage(seeds, duration=60.0):
    path = logs.motion(duration, 7)
    inside = []
    for seed in seeds:
        log = logs.log(logs.arm(), seed=seed, path=path, noise=0.3, position_noise=1e-5)
        result = kp.identify(logs.guess(), log, **OPTIONS)
        assert result.is_consistent
        true = result.base.matrix @ true_values(result)
        inside.append([x.low <= v <= x.high for x, v in zip(result.intervals, true, strict=True)])
    return np.array(inside)


def test_intervals_contain_true_values():
    """Of 5 × 25 intervals that are nearly independent, fewer than 108 contain the true value once in 10⁴ times if each
    does with 95 %."""
    inside = coverage(range(5))
    assert inside.sum() >= 108


@pytest.mark.long("200 seeds")
def test_intervals_contain_true_values_in_200_seeds():
    inside = coverage(range(200))
    assert inside.mean() >= 0.92
    assert inside.mean(0).min() >= 0.90 - 0.05  # each of 25 parameters, 3 deviations of 200 draws


def test_nominal_deviations_are_too_small_and_the_bootstrap_is_near_the_sandwich():
    log = logs.log(logs.arm(), path=logs.motion(60.0, 7), noise=0.3)
    result = kp.identify(logs.guess(), log, **OPTIONS)
    c = result.covariance
    assert np.median(c.deviation / c.nominal) > 1.3
    widths = np.diff(result.bootstrap(200), axis=1)[:, 0] / (2 * c.reach)
    assert np.median(widths) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("estimator", ["wls", "ols", "huber", "tls", "iv"])
def test_estimators_agree_on_a_clean_log(estimator):
    log = logs.log(logs.arm(), duration=20.0, noise=1e-3)
    result = kp.identify(logs.guess(), log, estimator=estimator, **OPTIONS)
    true = result.base.matrix @ true_values(result)
    size = np.maximum(np.abs(true), 0.2)
    assert np.abs((result.estimate.beta - true) / size).max() < 0.02


def test_output_error_finds_true_values():
    """Efforts drive the simulation after their own filter, which is not that of the positions: 5 % instead of 2 %."""
    log = logs.log(logs.arm(), duration=20.0, noise=1e-3)
    result = kp.identify(logs.guess(), log, estimator="output-error", validate=0.3, **OPTIONS)
    assert result.validated.total < 0.01
    assert result.is_consistent
    true = result.base.matrix @ true_values(result)
    size = np.maximum(np.abs(true), 1.0)
    assert np.abs((result.estimate.beta - true) / size).max() < 0.05
    assert any("output error over" in x for x in result.notes)


def test_sensitivities_of_simulated_positions_agree_with_differences():
    result = kp.identify(logs.guess(), logs.log(logs.arm(), duration=10.0, noise=0.01), **OPTIONS)
    layout, theta = result.layout, result.theta
    q, qd, tau, _, dt = output_error._windows(layout, result.runs, [9.0])

    def simulated(x):
        return output_error._simulated(build(described(layout, x)), layout, x, q[:3], qd[:3], tau[:3], dt)

    S = simulated(theta)[1]
    for k in (
        layout.names.index(x) for x in ("fore: m cx", "upper: Izz", "elbow: viscous", "shoulder: coulomb")
    ):
        h = 1e-4 * max(abs(theta[k]), 0.1)
        up, down = theta.copy(), theta.copy()
        up[k], down[k] = theta[k] + h, theta[k] - h
        difference = (simulated(up)[0] - simulated(down)[0]) / (2 * h)
        np.testing.assert_allclose(S[..., k], difference, rtol=1e-4, atol=1e-7)


def test_huber_resists_outliers():
    log = logs.log(logs.arm(), duration=20.0, noise=0.02)
    for k in range(300, 3900, 400):
        log["tau_shoulder"][k : k + 8] += 60.0
    results = {x: kp.identify(logs.guess(), log, estimator=x, **OPTIONS) for x in ("wls", "huber")}
    errors = {}
    for name, x in results.items():
        true = x.base.matrix @ true_values(x)
        errors[name] = np.linalg.norm(x.estimate.beta - true)
    assert errors["huber"] < 0.3 * errors["wls"]


LOAD = {"mass": 3.0, "com": [0.05, 0.02, 0.04], "inertia": [0.02, 0.03, 0.025]}


@pytest.fixture(scope="module")
def pair():
    plain, heavy = logs.arm(), logs.arm().with_payload("fore", name="box", **LOAD)
    path = logs.motion(30.0, 7)
    return [logs.log(plain, path=path, noise=0.1), logs.log(heavy, seed=1, path=path, noise=0.1)]


def test_payload_is_found(pair):
    result = kp.identify(logs.guess(), pair, payload={"link": "fore", "runs": [1]}, **OPTIONS)
    assert result.payload["mass"] == pytest.approx(3.0, rel=0.01)
    np.testing.assert_allclose(result.payload["centre"], LOAD["com"], atol=0.01)
    assert result.is_consistent


def test_drive_gains_are_found_with_a_known_mass(pair):
    gains = np.array([12.0, 10.0, 8.0])
    currents = []
    for x in pair:
        efforts = [k for k in x if k.startswith("tau_")]
        own = {k: v for k, v in x.items() if k not in efforts}
        currents.append(
            own | {k.replace("tau_", "i_"): x[k] / g for k, g in zip(efforts, gains, strict=True)}
        )
    load = {"link": "fore", "runs": [1], "mass": 3.0}
    result = kp.identify(logs.guess(), currents, torque="current", payload=load, **OPTIONS)
    np.testing.assert_allclose(result.gains[1:], gains[1:], rtol=0.01)
    assert result.gains[0] == pytest.approx(gains[0], rel=0.2)  # a vertical axis: accelerations alone
    assert any("drive gains identified" in x for x in result.notes)
