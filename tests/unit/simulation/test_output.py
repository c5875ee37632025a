"""Samples at given times: those times and no others, whoever makes the steps; the run goes on to its end."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

METHODS = {
    "rk4": {"integrator": "rk4", "dt": 1e-3},
    "variational": {"integrator": "variational", "dt": 1e-3},
    "dop853": {},
    "cvode": {"integrator": "cvode"},
    "ida": {"integrator": "ida"},
}
START = {"q": [0.3, 0.2], "qd": [0.0, 0.0], "duration": 1.0}


def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.mark.parametrize("method", METHODS)
def test_the_times_given_are_the_samples(method):
    options = {**START, **METHODS[method]}
    run = kp.simulate(arm(), **options, output=[0.2, 0.5])
    whole = kp.simulate(arm(), **options, output=[0.0, 0.2, 0.5, 1.0])
    assert run.time.tolist() == [0.2, 0.5]
    assert run.q == pytest.approx(whole.q[1:3], abs=1e-12)
    assert run.steps == whole.steps
    assert run.status.finished
    assert run.status.time == 1.0
    assert str(run.status.message).startswith("Reached t = 1 s")


@pytest.mark.parametrize("method", METHODS)
def test_events_after_the_last_sample_are_found(method):
    options = {**START, **METHODS[method]}
    events = [kp.Event("through", lambda time, q, qd: q[0])]
    run = kp.simulate(arm(), **options, output=[0.1], events=events)
    whole = kp.simulate(arm(), **options, events=events)
    assert run.time.tolist() == [0.1]
    assert [x.time for x in run.events] == pytest.approx([x.time for x in whole.events], abs=1e-7)
    assert len(run.events) > 0
    assert run.events[0].time > 0.1


def test_a_run_that_an_event_ends_has_that_moment_as_a_sample():
    events = [kp.Event("through", lambda time, q, qd: q[0], action="stop")]
    run = kp.simulate(arm(), **START, output=[0.1, 0.9], events=events)
    assert run.time.tolist() == [0.1, run.events[0].time]


def test_a_batch_has_the_times_given():
    options = {**START, "q": np.array([[0.3, 0.2], [0.1, 0.0]]), **METHODS["rk4"]}
    run = kp.simulate(arm(), **options, output=[0.2, 0.5])
    assert run.time.tolist() == [0.2, 0.5]
    assert run.q.shape == (2, 2, 2)
    assert run.q[0] == pytest.approx(
        kp.simulate(arm(), **START, **METHODS["rk4"], output=[0.2, 0.5]).q, abs=1e-12
    )


@pytest.mark.parametrize("method", ["rk4", "dop853", "cvode"])
def test_saved_runs_have_the_times_given(method, tmp_path):
    options = {**START, **METHODS[method], "output": [0.2, 0.5]}
    path = tmp_path / "run.h5"
    run = kp.simulate(arm(), **options, save=path)
    assert run.time.tolist() == [0.2, 0.5]
    assert np.array_equal(run.q, kp.simulate(arm(), **options).q)
    again = kp.load_run(path)
    assert again.time.tolist() == [0.2, 0.5]
    assert (again.status.name, again.status.time) == ("done", 1.0)


@pytest.mark.parametrize("method", ["rk4", "dop853", "cvode"])
def test_a_run_cut_off_behind_its_last_sample_goes_on_to_the_end(method, tmp_path):
    options = {**START, **METHODS[method], "output": [0.05, 0.1]}
    path = tmp_path / "run.h5"

    def stop(share: float) -> None:
        if share > 0.2:
            raise KeyboardInterrupt

    cut = kp.simulate(arm(), **options, save=path, checkpoint=1e-9, progress=stop)
    whole = kp.simulate(arm(), **options)
    assert cut.time.tolist() == [0.05, 0.1]
    resumed = kp.resume(path)
    assert np.array_equal(resumed.q, whole.q)
    if method != "cvode":  # which begins with short steps wherever it was cut
        assert resumed.steps == whole.steps
    assert (resumed.status.name, resumed.status.time) == ("done", 1.0)
