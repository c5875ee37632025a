"""Errors, settling and efforts of a run beside its motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp

STEPS = {"integrator": "rk4", "dt": 1e-3, "output": 0.01}


@cache
def case():
    m = kp.example("double-pendulum")
    return m, kp.motion.cycloid([0.3, -0.2], [1.4, 0.7], 1.0)


def test_errors_are_where_it_is_less_where_it_should_be():
    m, motion = case()
    x = kp.track(m, motion, "computed-torque", off=[0.1, -0.05], hold=0.5, **STEPS)
    e = x.error
    assert e == pytest.approx(x.run.q - motion.at(x.time).q, abs=1e-14)
    assert e[0] == pytest.approx([0.1, -0.05])
    assert x.largest == pytest.approx(np.abs(e).max(0))
    assert x.final == pytest.approx(np.abs(e[-1]))
    assert x.rms == pytest.approx(np.sqrt((e**2).mean(0)))


def test_settled_is_when_the_error_stays_small():
    """(1 + ωt) exp(−ωt) = 0.02 at ωt = 5.8339, ω = 10/s; samples are 10 ms apart."""
    m, motion = case()
    x = kp.track(m, motion, "computed-torque", off=0.1, hold=0.5, **STEPS)
    assert x.settled == pytest.approx([0.59, 0.59], abs=1e-9)
    near = kp.Tracking(x.run, motion, band=1e-12)
    assert np.isnan(near.settled).all()
    assert "not settled: shoulder, elbow" in str(near)


def test_an_exact_motion_has_settled_from_the_start():
    m, motion = case()
    x = kp.track(m, motion, "computed-torque")
    assert x.settled == pytest.approx([0.0, 0.0])
    assert "settled after 0 s" in str(x)


def test_a_batch_is_so_many_motions():
    m, motion = case()
    off = np.array([[0.1, 0.0], [0.0, 0.1], [0.05, 0.05]])
    many = kp.track(m, motion, "pd", off=off, **STEPS)
    for k, one in enumerate(off):
        alone = kp.track(m, motion, "pd", off=one, **STEPS)
        assert np.array_equal(many.error[k], alone.error)
    assert many.settled.shape == (3, 2)
    assert "3 motions" in str(many)


@cache
def closed_case():
    m = kp.example("four-bar")
    crank = kp.motion.cycloid(m.start()[0], m.start()[0] + 0.8, 1.0)
    path = kp.motion.follow(m, {"crank": crank})
    return m, path, kp.regulator.computed_torque(m, path, frequency=8.0, actuators=["crank"])


def test_a_closed_mechanism_starts_off_by_what_is_named():
    m, path, law = closed_case()
    x = kp.track(m, path, law, off={"crank": 0.05}, off_rates={"crank": 0.3}, **STEPS)
    assert x.error[0, 0] == pytest.approx(0.05, abs=1e-12)
    assert x.rate_error[0, 0] == pytest.approx(0.3, abs=1e-12)


def test_more_names_than_freedoms_start_at_the_nearest_position():
    m, path, law = closed_case()
    off = {"crank": 0.05, "output": 0.02}
    named, listed = (kp.track(m, path, law, off=x, **STEPS) for x in (off, [0.05, 0.02, 0.0]))
    assert np.array_equal(named.run.q[0], listed.run.q[0])
    near = path.at(0.0).q + np.array([0.05, 0.02, 0.0])
    assert np.array_equal(named.run.q[0], m.assemble(near))


def test_a_batch_of_a_closed_mechanism_starts_assembled():
    m, path, law = closed_case()
    off = np.array([[0.05, 0.0, 0.0], [0.0, 0.02, 0.0]])
    many = kp.track(m, path, law, off=off, **STEPS)
    for k, one in enumerate(off):
        alone = kp.track(m, path, law, off=one, **STEPS)
        assert many.error[k] == pytest.approx(alone.error, abs=1e-9)
    rates = kp.track(m, path, law, off_rates=[[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]], **STEPS)
    assert rates.error.shape[0] == 2


def test_a_regulator_that_knows_another_mechanism_leaves_an_error():
    """The plant has a heavier fore-arm than computed torque believes."""
    m, motion = case()
    heavy = kp.build(_heavier(m))
    right, wrong = (
        kp.track(m, motion, "computed-torque", plant=x, **STEPS).largest.max() for x in (m, heavy)
    )
    assert right < 1e-9
    assert wrong > 1e-3


def _heavier(m):
    from dataclasses import replace

    d = m.model.description
    *links, last = d.links
    return replace(d, links=(*links, replace(last, mass=1.5 * last.mass)))


def test_monte_carlo_by_a_sweep():
    """Random starts: what a sweep records are the errors of single runs."""
    m, motion = case()
    regulator = kp.regulator.pd(m, motion, frequency=12.0)
    study = kp.Study(
        m,
        motion.at(0.0).q,
        torque=regulator,
        duration=1.0,
        record=[lambda run: {"final": float(kp.Tracking(run, motion).final.max())}],
        integrator="rk4",
        dt=1e-3,
    )
    over = {"q.shoulder": kp.Normal(0.3, 0.02), "q.elbow": kp.Normal(-0.2, 0.02)}
    table = kp.sweep(study, over=over, samples=4, seed=5, workers=0)
    finals = table["final"]
    for k in range(4):
        off = [table["q.shoulder"][k] - 0.3, table["q.elbow"][k] + 0.2]
        alone = kp.track(m, motion, regulator, off=off, integrator="rk4", dt=1e-3)
        assert finals[k] == pytest.approx(alone.final.max(), abs=1e-9)
