"""Motions for identification: exact slopes, limits, rest at both ends, well conditioned."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kinpair as kp

excitations = sys.modules[kp.motion.Excitation.__module__]


@pytest.mark.parametrize("name", ["planar-3r", "scara", "stanford-arm"])
@pytest.mark.parametrize("measure", ["log_determinant", "log_conditions"])
def test_slopes_agree_with_differences(name, measure):
    m = kp.example(name)
    problem, _ = excitations._problem(m, 10.0, 4, None, None, 0.9)
    rng = np.random.default_rng(3)
    x, direction = rng.normal(size=(2, problem.basis[0].shape[1] * m.nv))
    own, h = getattr(excitations, measure), 1e-6
    slope = problem.value(x, own)[1] @ direction
    difference = (problem.value(x + h * direction, own)[0] - problem.value(x - h * direction, own)[0]) / (
        2 * h
    )
    assert slope == pytest.approx(difference, rel=1e-5, abs=1e-6)


@pytest.fixture(scope="module")
def arm():
    return kp.example("stanford-arm")


@pytest.fixture(scope="module")
def found(arm):
    return kp.motion.excitation(arm, 10.0, rates=2.0, accelerations=6.0)


def test_it_rests_at_both_ends_and_stays_within_limits(arm, found):
    time = np.linspace(0.0, 10.0, 2001)
    q, qd, qdd, _ = found.at(time)
    np.testing.assert_allclose(qd[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(qdd[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(q[0], q[-1], atol=1e-9)
    assert np.abs(qd).max() <= 2.0
    assert np.abs(qdd).max() <= 6.0
    joints = arm.model.joints
    assert (q >= joints.lower).all()
    assert (q <= joints.upper).all()


def test_it_is_better_conditioned_than_random_series(arm, found):
    problem, _ = excitations._problem(arm, 10.0, 5, 2.0, 6.0, 0.9)
    rng = np.random.default_rng(0)
    conditions = []
    for _ in range(10):
        c, _ = problem.coefficients(rng.normal(size=problem.basis[0].shape[1] * arm.nv))
        W = problem.rows(*problem.motion(c)).reshape(-1, len(problem.columns))
        conditions.append(np.linalg.cond(W / np.linalg.norm(W, axis=0)))
    assert found.condition < 0.7 * min(conditions)
    assert found.condition < 10


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("four-bar", {}, "open mechanisms"),
        ("planar-3r", {"harmonics": 2}, "3 or more"),
        ("planar-3r", {"duration": -1.0}, "duration"),
        ("planar-3r", {"rates": 0.0}, "limits are positive"),
    ],
)
def test_mistakes_are_named(name, options, words):
    with pytest.raises(kp.InputError, match=words):
        kp.motion.excitation(kp.example(name), **{"duration": 5.0, **options})
