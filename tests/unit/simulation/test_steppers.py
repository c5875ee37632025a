"""Runs in pieces: what they yield is complete, and where they stop they can go on, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.simulation.driver.driver import Driver
from kinpair.simulation.given import Options
from kinpair.simulation.monitors import runaways
from kinpair.simulation.prepare import prepared
from kinpair.simulation.sample_memory import joined
from kinpair.simulation.steppers import adaptive, external, stepper

Q, QD = [0.3, 0.2], [0.1, 0.0]


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch):
    monkeypatch.setattr(stepper, "PAUSE", 1e-5)
    monkeypatch.setattr(stepper, "FIRST_STEPS", 3)


def driver_of(whole=True, q=Q, qd=QD, **options) -> Driver:
    arguments = Options(q=q, qd=qd, duration=0.5, **options)
    return Driver(prepared(kp.example("double-pendulum"), arguments), whole=whole)


def collected(pieces) -> tuple[np.ndarray, np.ndarray]:
    """Times and states; a piece may be gone when the next one comes."""
    kept = [(piece.times, piece.Y.copy()) for piece in pieces]
    return np.concatenate([x for x, _ in kept]), np.concatenate([y for _, y in kept], axis=-2)


def check_resumed(whole, **options):
    """A run goes on from any of its pieces in a driver of its own."""
    kept = []
    for piece in driver_of(whole, **options).pieces():
        kept.append((piece.times.copy(), piece.Y.copy(), piece.memory, piece.steps))
    assert len(kept) > 3
    Y = np.concatenate([y for _, y, _, _ in kept], axis=-2)
    for k in (1, 2, len(kept) - 2):
        _, _, memory, steps = kept[k]
        if memory is None or not steps:
            continue
        rest = driver_of(whole, **options)
        rest.restore(memory, steps, [], rest.modes.entered[:])
        before = [y for _, y, _, _ in kept[: k + 1]]
        _, after = collected(rest.pieces(begun=True))
        assert np.array_equal(np.concatenate([*before, after], axis=-2), Y)
    return np.concatenate([t for t, _, _, _ in kept]), Y


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler", "implicit-midpoint", "variational"])
@pytest.mark.parametrize("output", [None, 0.03, 0.5, [0.05, 0.11, 0.12, 0.4]])
@pytest.mark.parametrize("whole", [True, False])
def test_a_fixed_run_goes_on_from_any_piece_to_the_last_bit(method, output, whole):
    times, _ = check_resumed(whole, integrator=method, dt=0.01, output=output)
    plan = driver_of(integrator=method, dt=0.01, output=output).run.plan
    assert times == pytest.approx(plan.sampled * 0.01)


@pytest.mark.parametrize("whole", [True, False])
def test_an_adaptive_run_goes_on_from_any_piece_to_the_last_bit(whole):
    check_resumed(whole, output=0.05, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("whole", [True, False])
def test_a_batch_goes_on_from_any_piece_to_the_last_bit(whole):
    q = np.array(Q) + np.linspace(0.0, 0.1, 5)[:, None]
    check_resumed(whole, q=q, qd=np.zeros((5, 2)), integrator="rk4", dt=0.01)


def test_pieces_of_a_whole_run_lie_side_by_side():
    for options in ({"integrator": "rk4", "dt": 0.01}, {"output": 0.01}):
        pieces = list(driver_of(**options).pieces())
        Y = joined([piece.Y for piece in pieces])
        assert np.shares_memory(Y, pieces[0].Y) or not len(pieces[0].times)
        assert np.array_equal(Y, np.concatenate([piece.Y for piece in pieces], axis=-2))


def test_a_run_that_is_cut_by_single_steps_is_the_same():
    """An event that is not recorded is looked at after each step."""

    def far(time, q, qd):
        return float(q[0] - 1e9)

    far.traceable = False
    for options in ({"integrator": "rk4", "dt": 0.01}, {"output": 0.01}):
        plain, watched = driver_of(**options), driver_of(events=[kp.Event("far", far)], **options)
        one, other = collected(plain.pieces()), collected(watched.pieces())
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])


@pytest.mark.parametrize("method", ["dop853", "ida"])
def test_a_run_that_goes_nowhere_ends_at_the_same_step_on_any_clock(monkeypatch, method):
    """Whether it does is looked at every hundred steps; here that is the case where as many are still to go."""
    monkeypatch.setattr(adaptive, "STEPS", 100)
    monkeypatch.setattr(external, "STEPS_OUTSIDE", 100)
    monkeypatch.setattr(runaways, "ENDLESS", 1.0)
    arm, ends = kp.example("double-pendulum"), []
    for pause in (1.0, 0.0):
        monkeypatch.setattr(stepper, "PAUSE", pause)
        run = stopped(arm, [0.3, 0.2], [0.1, 0.0], duration=20.0, rtol=1e-11, atol=1e-11, integrator=method)
        ends.append((run.status, run.steps, run.rejected))
    assert ends[0] == ends[1]
    assert ends[0][0].name == "endless"
