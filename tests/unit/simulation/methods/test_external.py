"""Libraries that choose their steps: controllers that are held, events, limits, files, as with methods of our own."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp
from endings import failed

METHODS = ("cvode", "ida", "taylor")
TIGHT = {"rtol": 1e-10, "atol": 1e-10}
NEAR = 1e-7  # backward differences gather some hundred times what a step may be off by


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


class Digital:
    """A controller with a memory, which may be asked at its own times only; its n-th answer may be a fault."""

    def __init__(self, sample_time: float = 0.02, at: int = -1, fault=None) -> None:
        self.sample_time, self.state = sample_time, np.zeros(2)
        self.at, self.fault = at, fault
        self.request_of: list[float] = []

    def __call__(self, time, q, qd):
        self.request_of.append(time)
        self.state += self.sample_time * q[:2]
        if len(self.request_of) == self.at:
            return self.fault()
        tau = np.zeros(len(qd))
        tau[:2] = -5.0 * q[:2] - self.state
        return tau


def sampled(time, q, qd):
    return np.sin(3.0 * time) - 2.0 * q


sampled.sample_time = 0.03  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", METHODS)
def test_a_controller_is_asked_at_its_sample_times_and_moves_the_same(arm, method):
    ours, theirs = Digital(), Digital()
    options = {"duration": 0.4, "output": 0.005, **TIGHT}
    expected = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], torque=ours, **options)
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], torque=theirs, integrator=method, **options)
    assert run.status.ok
    assert theirs.request_of == ours.request_of
    assert len(theirs.request_of) == 21
    for result, wanted in ((run.q, expected.q), (run.tau, expected.tau), (run.work, expected.work)):
        assert np.abs(result - wanted).max() < NEAR


@pytest.mark.parametrize("method", METHODS)
def test_loops_quaternions_and_recorded_functions_are_held_too(method):
    linkage, q = kp.example("four-bar"), closed.start("four-bar")
    floating = kp.example("floating-arm")
    cases = (
        (linkage, q, linkage.velocities(q, {"crank": 1.0}), Digital),
        (floating, floating.neutral(), np.linspace(-1, 1, floating.nv), Digital),
        (kp.example("double-pendulum"), [0.3, 0.2], [0.0, 0.0], lambda: sampled),
    )
    for mechanism, start, rate, torque in cases:
        ours, theirs = (
            kp.simulate(
                mechanism, start, rate, duration=0.3, output=0.01, torque=torque(), integrator=x, **TIGHT
            )
            for x in ("dop853", method)
        )
        assert np.abs(theirs.q - ours.q).max() < NEAR
        assert np.abs(theirs.tau - ours.tau).max() < NEAR


def raises():
    raise ZeroDivisionError("no gain")


FAULTS = (raises, lambda: np.array([1.0, np.nan]), lambda: np.zeros(3), lambda: "much")


@pytest.mark.parametrize("at", [1, 6])
@pytest.mark.parametrize("method", METHODS)
def test_a_controller_that_fails_ends_the_run_as_with_others(arm, method, at):
    for fault in FAULTS:
        ours, theirs = (
            failed(
                arm,
                [0.3, 0.2],
                [0.0, 0.0],
                duration=1.0,
                output=0.02,
                torque=Digital(0.05, at, fault),
                integrator=x,
                **TIGHT,
            )
            for x in ("dop853", method)
        )
        assert theirs.status == ours.status
        assert theirs.status.name == "refused"
        assert (theirs.time == ours.time).all()
        assert np.abs(theirs.q - ours.q).max() < NEAR


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_a_controller_keeps_what_there_is(arm, method):
    def interrupts():
        raise KeyboardInterrupt

    torque = Digital(0.05, 6, interrupts)
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, torque=torque, integrator=method, output=0.1)
    assert run.status.name == "interrupted"
    assert run.time == pytest.approx([0.0, 0.1, 0.2])


# files


@pytest.mark.parametrize("method", METHODS)
def test_a_run_goes_on_from_its_file(arm, method, tmp_path, monkeypatch):
    from kinpair.simulation.steppers import stepper

    monkeypatch.setattr(stepper, "PAUSE", 0.0)  # a piece for each step
    path = tmp_path / "run.h5"
    options = {"duration": 0.6, "output": 0.01, "integrator": method, **TIGHT}
    cut = failed(
        arm, [0.3, 0.2], [0.0, 0.0], torque=Digital(0.05, 8, raises), save=path, checkpoint=1e-6, **options
    )
    assert cut.status.name == "refused"
    assert cut.time[-1] == pytest.approx(0.34)
    whole = kp.resume(path, torque=Digital(0.05))
    plain = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], torque=Digital(0.05), **options)
    assert whole.status.ok
    assert (whole.time == plain.time).all()
    assert np.abs(whole.q - plain.q).max() < NEAR
    assert np.abs(whole.tau - plain.tau).max() < NEAR


# events and limits


def height(time, q, qd):
    return q[0] - 0.55


def called(time, q, qd):
    return float(q[0]) - 0.55


called.traceable = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def stone() -> kp.Mechanism:
    builder = kp.Builder("stone", gravity=(0, 0, -10.0)).link("stone", mass=1.0)
    return kp.build(builder.joint("fall", "prismatic", "ground", "stone", axis="z", lower=0.0))


@pytest.mark.parametrize("function", [height, called])
@pytest.mark.parametrize("method", METHODS)
def test_a_run_ends_at_the_event_that_stops_it(stone, method, function):
    stop = kp.Event("low", function, action="stop")
    run = kp.simulate(stone, [1.0], [0.0], duration=1.0, events=[stop], integrator=method, **TIGHT)
    assert run.status.name == "event"
    assert run.time[-1] == run.status.time == pytest.approx(0.3, abs=NEAR)
    assert run.q[-1, 0] == pytest.approx(0.55, abs=1e-12)
    assert run.qd[-1, 0] == pytest.approx(-3.0, abs=NEAR)
    assert (np.diff(run.time) > 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_events_that_are_recorded_change_nothing(arm, method):
    low = kp.Event("low", lambda time, q, qd: q[0])
    options = {"duration": 3.0, "output": 0.05, "integrator": method, **TIGHT}
    plain = kp.simulate(arm, [0.5, 0.0], [0.0, 0.0], **options)
    watched = kp.simulate(arm, [0.5, 0.0], [0.0, 0.0], events=[low], **options)
    ours = kp.simulate(arm, [0.5, 0.0], [0.0, 0.0], events=[low], **{**options, "integrator": "dop853"})
    assert [x.time for x in watched.events] == pytest.approx([x.time for x in ours.events], abs=NEAR)
    assert len(ours.events) > 2
    assert (watched.time == plain.time).all()
    assert np.abs(watched.q - plain.q).max() < NEAR


@pytest.mark.parametrize("method", METHODS)
def test_two_changes_of_sign_are_found_where_steps_are_bounded(stone, method):
    near = kp.Event("near", lambda time, q, qd: (time - 0.05) * (time - 0.0505), every=2e-4)
    run = kp.simulate(stone, [9.0], [0.0], duration=0.06, output=0.06, events=[near], integrator=method)
    assert [x.time for x in run.events] == pytest.approx([0.05, 0.0505], abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_stone_bounces_and_its_energy_is_accounted_for(stone, method):
    way = kp.Limits("bounce", restitution=0.5)
    run = kp.simulate(stone, [1.0], [0.0], duration=0.8, limits=way, integrator=method, **TIGHT)
    fall = np.sqrt(0.2)
    assert [x.time for x in run.events] == pytest.approx([fall], abs=NEAR)
    assert run.events[0].lost == pytest.approx(7.5, abs=1e-5)
    later = run.time[-1] - fall
    assert run.q[-1, 0] == pytest.approx(0.5 * 10 * fall * later - 5 * later**2, abs=NEAR * 10)
    assert run.balance.relative < NEAR


@pytest.mark.parametrize("method", METHODS)
def test_limits_of_a_linkage_hold_and_let_go(arm, method):
    builder = kp.Builder("swing").link("bob", mass=1.0, com=[0, 0, -1.0])
    swing = kp.build(builder.joint("pin", "revolute", "ground", "bob", axis="y", lower=-0.2, upper=1.0))

    def push(time, q, qd):
        return np.array([6.0 * np.sin(4.0 * time)])

    options = {"duration": 3.0, "output": 0.05, "torque": push, "limits": "stop", **TIGHT}
    ours, theirs = (kp.simulate(swing, [0.5], [0.0], integrator=x, **options) for x in ("dop853", method))
    assert [x.name for x in theirs.events] == [x.name for x in ours.events]
    assert len(ours.events) > 3
    assert np.abs(np.array([x.time for x in theirs.events]) - [x.time for x in ours.events]).max() < 1e-6
    assert np.abs(theirs.q - ours.q).max() < 1e-6


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_springs_at_limits_push_alike(stone, method):
    spring = kp.Limits("spring", stiffness=1e4, damping=10.0)
    options = {"duration": 1.0, "output": 0.05, "limits": spring}
    ours, theirs = (kp.simulate(stone, [1.0], [0.0], integrator=x, **options) for x in ("dop853", method))
    assert theirs.status.ok
    assert ours.loss[-1] > 0.1
    assert np.abs(theirs.q - ours.q).max() < 1e-6
    assert np.abs(theirs.loss - ours.loss).max() < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_constraints_begin_and_a_controller_is_asked_no_more_often(stone, method):
    request_of: list[float] = []

    def up(time, q, qd):
        request_of.append(time)
        return np.array([10.0 - q[0]])

    up.sample_time = 0.05  # type: ignore[attr-defined]
    up.traceable = False  # type: ignore[attr-defined]
    hook = kp.constraint.custom("hook", phi=lambda q, t: q[0] - 1.55)
    catch = kp.Event("catch", lambda time, q, qd: q[0] - 1.55, action=kp.Change(add=[hook]))
    run = kp.simulate(
        stone, [1.5], [1.0], duration=0.5, output=0.1, torque=up, events=[catch], integrator=method
    )
    assert request_of == pytest.approx(0.05 * np.arange(11), abs=1e-12)
    assert run.status.ok
    assert run.q[1:, 0] == pytest.approx([1.55] * 5, abs=1e-9)
    assert run.balance.relative < 1e-6
