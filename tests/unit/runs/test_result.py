from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
from kinpair.runs.pictures import POINTS, curves, drawn
from kinpair.simulation.monitors.verdict import Energies, ledger


@pytest.fixture(scope="module")
def run() -> kp.Result:
    arm = kp.example("double-pendulum")
    return kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.5, torque=[0.1, 0.0], output=0.1)


@pytest.fixture(scope="module")
def batch() -> kp.Result:
    arm = kp.example("double-pendulum")
    return kp.simulate(arm, np.full((3, 2), 0.2), [0.0, 0.0], duration=0.5, integrator="rk4", dt=0.1)


def test_shapes(run, batch):
    assert (run.time.shape, run.q.shape, run.qd.shape, run.tau.shape) == ((6,), (6, 2), (6, 2), (6, 2))
    assert run.energy.kinetic.shape == run.work.shape == (6,)
    assert (batch.q.shape, batch.energy.potential.shape) == ((3, 6, 2), (3, 6))
    assert batch.reactions["elbow"].shape == (3, 6, 6)
    assert repr(run) == "<Result of 'double-pendulum': 6 samples, done>"
    assert repr(batch) == "<Result of 'double-pendulum': 3 × 6 samples, done>"


def test_energies_are_those_of_the_states(run):
    kinetic, potential = run.mechanism.energy(run.q, run.qd)
    assert run.energy.kinetic == pytest.approx(kinetic, abs=1e-12)
    assert run.energy.potential == pytest.approx(potential, abs=1e-12)
    assert run.work[-1] == pytest.approx(0.1 * (run.q[-1, 0] - run.q[0, 0]), abs=1e-10)


def test_summary_is_a_paragraph(run):
    assert run.status.ok
    assert str(run) == run.summary
    assert "\n" not in run.summary
    assert run.summary.startswith("double-pendulum: 6 samples from t = 0 s to 0.5 s. Reached t = 0.5 s.")
    assert "the balance is off by at most" in run.summary


def test_pictures(run, batch, tmp_path):
    run.plot(tmp_path / "run.png")
    batch.plot(tmp_path / "row.svg", row=2)
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("run.png", "row.svg"))


def test_curves_of_many_samples_keep_every_peak():
    rng = np.random.default_rng(5)
    x = np.cumsum(rng.normal(size=(123_457, 2)), axis=0)
    x[77_777] = 1e6, -1e6
    shown, time = drawn(x), drawn(np.arange(len(x), dtype=float)[:, None])
    assert shown.shape == (len(time), 2)
    assert len(shown) <= POINTS
    assert (shown.max(axis=0) == x.max(axis=0)).all()
    assert (shown.min(axis=0) == x.min(axis=0)).all()
    assert (time[0, 0], time[-1, 0]) == (0.0, len(x) - 1)
    assert (np.diff(time[:, 0]) > 0).all()
    few = x[:POINTS]
    assert np.array_equal(drawn(few), few)


def test_energies_are_drawn_since_the_start_of_the_run():
    arm = kp.example("double-pendulum")
    options = {"duration": 1.0, "torque": [3.0, 0.0]}
    late = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], **options, output=[0.5, 1.0])
    whole = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], **options, output=0.5)
    for name, x in curves(late)[1][-1].curves.items():
        assert x == pytest.approx(curves(whole)[1][-1].curves[name][1:], abs=1e-9)


def test_data_sets(run, batch):
    one, many = run.to_xarray(), batch.to_xarray()
    assert one.q.sel(coordinate="elbow", time=0.5).item() == run.q[-1, 1]
    assert dict(many.sizes) == {"run": 3, "time": 6, "coordinate": 2, "rate": 2}
    assert one.kinetic.units == "J"


def test_a_result_of_other_parameters_has_no_accelerations():
    arm = kp.example("double-pendulum")
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.1, parameters={"upper.mass": 2.0})
    with pytest.raises(kp.InputError, match=r"the run had other upper\.mass than the mechanism"):
        _ = run.qdd


def test_balance_finds_the_energy_that_is_missing():
    kinetic, work = np.array([0.0, 1.0, 4.0]), np.array([0.0, 1.5, 5.0])
    samples = Energies(kinetic, np.zeros(3), work, np.array([0.0, 0.5, 0.7]))
    result = ledger(samples, None, np.array([[0.0], [1.0], [2.0]])).balance
    assert ledger(samples, None, np.zeros((3, 1))).balance.relative == 0.0
    assert (result.work, result.loss, result.stored) == (5.0, 0.7, 4.0)
    assert result.error == pytest.approx(0.3)
    assert result.relative == pytest.approx(0.3 / 5.0)


def test_progress_ends_at_one():
    caught: list[float] = []
    arm = kp.example("double-pendulum")
    kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, dt=1e-4, integrator="rk4", progress=caught.append)
    assert caught[-1] == 1.0
    assert caught == sorted(caught)


def test_a_summary_has_no_step_longer_than_the_run():
    """Motion at constant rate is exact for any step, so that adaptive steps grow without bound."""
    build = kp.Builder("wheel", gravity=[0, 0, 0]).link("a", mass=1.0, inertia=[1, 1, 1])
    wheel = kp.build(build.joint("j", "revolute", "ground", "a", axis="y"))
    run = kp.simulate(wheel, [0.0], [1.0], duration=2.0, output=2.0)
    last = float(re.search(r"the last of (\S+) s", run.summary)[1])
    assert last <= 2.0
