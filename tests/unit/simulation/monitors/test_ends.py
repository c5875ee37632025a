"""Runs that meet a singular position, or go nowhere: what is kept, what is said, and what is crossed."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.algebra.choice import sign
from kinpair.simulation.given import Options
from kinpair.simulation.monitors import runaways
from kinpair.simulation.monitors.runaways import chatter_of
from kinpair.simulation.prepare import prepared
from kinpair.simulation.steppers import stepper


def parallelogram() -> kp.Mechanism:
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=(0, 0, 0)).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    return kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))


@pytest.mark.parametrize("method", ["rk4", "generalised-alpha"])
def test_a_singular_position_hit_exactly_is_named_and_nothing_behind_it_kept(method, tmp_path):
    flat = parallelogram()
    q = np.array([-0.5, 0.5, -0.5])
    qd = flat.velocities(q, {"a": 1.0})
    wish = {"duration": 1.0, "integrator": method, "dt": 1 / 64}
    run = stopped(flat, q, qd, **wish)
    assert not run.status.ok
    assert "at t = 0.5 s the mechanism is in a singular position" in run.status.message
    assert run.singular.time == pytest.approx(0.5, abs=1e-6)
    assert run.time[-1] <= 0.5
    assert max(run.residual.worst) < 1e-12
    stored = stopped(flat, q, qd, save=tmp_path / "run.h5", **wish)
    assert (stored.time == run.time).all()
    assert stored.singular == run.singular
    assert "at t = 0.5 s the mechanism is in a singular position" in stored.status.message


@pytest.mark.parametrize(("name", "when"), [("stewart", 0.393133), ("delta", 0.320751)])
def test_adaptive_steps_cross_a_position_at_which_no_error_estimate_can_pass(name, when):
    """The reference: fixed steps of two lengths that agree to 3e-10."""
    mechanism = kp.example(name)
    q, qd = mechanism.start(), np.zeros(mechanism.nv)
    fixed = kp.simulate(mechanism, q, qd, duration=0.6, integrator="rk4", dt=5e-4, output=0.6)
    run = kp.simulate(mechanism, q, qd, duration=0.6)
    assert run.status.ok
    assert run.steps < 200
    assert np.abs(run.q[-1] - fixed.q[-1]).max() < 1e-8
    assert f"over singular positions at t = {when} s, each in one step (" in run.status.message


def test_a_motion_that_runs_away_ends(monkeypatch):
    class Wild:
        sample_time = 0.05

        def __call__(self, time, q, qd):
            return -200.0 * q - 20.0 * qd

    arm = kp.example("double-pendulum")
    far = [kp.Event("far", lambda time, q, qd: q[0] - 1e9)]
    for method, events in (("dop853", None), ("dop853", far), ("cvode", None)):
        if method == "cvode":
            monkeypatch.setattr(runaways, "GROWN", 1e3)  # its steps take their time
        run = stopped(
            arm, [0.3, 0.2], [0.0, 0.0], duration=2.0, torque=Wild(), events=events, integrator=method
        )
        assert run.status.name == "runaway"
        assert "look at the torque, its gains and its sample time" in run.status.message
        assert run.steps < 5_000_000


def test_stiff_motions_are_not_taken_for_runaways():
    def stiff(time, q, qd):
        return -2e5 * q - 2e4 * qd

    run = kp.simulate(kp.example("double-pendulum"), [0.3, 0.2], [0.0, 0.0], duration=3.0, torque=stiff)
    assert run.status.ok
    assert run.steps > 100_000  # the pace was looked at


def rubbing() -> kp.Mechanism:
    builder = kp.Builder("rubbing").link("a", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.1])
    rough = {"friction": 0.3, "damping": 0.2, "lower": -2.0, "upper": 2.0}
    return kp.build(builder.joint("h", "revolute", "ground", "a", axis="y", **rough).description())


@pytest.mark.parametrize(
    "wish", [{}, {"limits": "stop"}, {"events": [kp.Event("far", lambda time, q, qd: q[0] - 9.0)]}]
)
def test_dry_friction_holds_a_run_at_rest_to_its_end(wish):
    """Another road to the position in which it sticks: steps of equal length, whose events are found within them."""
    run = kp.simulate(rubbing(), [1.0], [0.0], duration=5.0, **wish)
    assert run.status.ok
    assert run.steps + run.rejected < 3_000
    assert run.qd[-1, 0] == 0.0
    for method in ("rk4", "semi-implicit-euler"):
        passed = kp.simulate(rubbing(), [1.0], [0.0], duration=5.0, integrator=method, dt=1e-3, **wish)
        assert passed.status.ok
        assert passed.q[-1, 0] == pytest.approx(run.q[-1, 0], abs=1e-8 if method == "rk4" else 5e-3)


def test_dry_friction_that_is_not_at_rest_ends_nothing(monkeypatch):
    monkeypatch.setattr(runaways.Runaway.__init__, "__defaults__", (1,))  # a look after each chunk
    monkeypatch.setattr(runaways, "LEFT", 0.0)
    assert kp.simulate(rubbing(), [1.0], [0.0], duration=3.0).status.ok


# no progress


class Clock:
    """Seconds of computing, so many from one look to the next."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0

    def __call__(self) -> float:
        self.now += self.seconds
        return self.now


class Switching:
    """A torque in Python that opposes the rate of the shoulder, as dry friction does; the elbow is free."""

    def __call__(self, time, q, qd):
        return np.array([-5.0 * np.sign(qd[0]), 0.0])


def recorded_switching(time, q, qd):
    return np.array([-5.0 * sign(qd[0]), 0.0])


CHATTERS = (
    "Stopped at t = {time:.9g} s: no progress, {advance:.2g} s of motion in 5 s of computing: the torque of 'shoulder' "
    "chatters: it jumps by 10 N m where qd of 'shoulder' crosses 0 rad/s; use a friction law of the joint "
    "instead, an event at the switch, or fixed steps (integrator='rk4', dt=0.001); patience=math.inf (--patience inf) "
    "waits"
)


@pytest.mark.parametrize("torque", [Switching(), recorded_switching], ids=["called", "recorded"])
def test_a_torque_that_switches_to_and_fro_ends_the_run_in_ten_seconds_and_is_named(monkeypatch, torque):
    clock = Clock(1.0)
    monkeypatch.setattr(runaways, "clock", clock)
    run = stopped(kp.example("double-pendulum"), [0.3, 0.2], [0.0, 0.0], duration=2.0, torque=torque)
    assert run.status.name == "endless"
    assert clock.now <= 11.0  # from its start
    advance = float(run.status.message.partition("progress, ")[2].partition(" s of motion")[0])
    assert 0.0 < advance <= 1.1 * run.status.time < 1e-3  # two digits
    assert run.status.message == CHATTERS.format(time=run.status.time, advance=advance)


def test_a_run_that_is_to_wait_waits(monkeypatch):
    monkeypatch.setattr(runaways, "clock", Clock(1e6))
    monkeypatch.setattr(runaways, "HOPELESS", (0.0, 0.0))
    arm = kp.example("double-pendulum")
    assert stopped(arm, [0.3, 0.2], [0.0, 0.0], duration=50.0).status.name == "endless"
    assert kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=50.0, patience=np.inf).status.ok


def test_a_switch_that_slows_a_compiled_run_down_is_named_before_it_is_hopeless(monkeypatch):
    """Weak friction in NumPy: joints pass rest several times before one of them stays there."""

    def weak(time, q, qd):
        return np.array([-0.05 * sign(x) for x in qd])

    monkeypatch.setattr(runaways, "clock", Clock(1.0))
    monkeypatch.setattr(runaways, "HOPELESS", (np.inf, np.inf))
    run = stopped(kp.example("double-pendulum"), [0.3, 0.2], [1.0, -0.5], duration=2.0, torque=weak)
    assert run.status.name == "endless"
    assert "chatters: it jumps by 0.1 N m where qd of" in run.status.message
    assert 1.0 < run.status.time < 2.0


def test_short_first_steps_while_code_is_compiled_are_progress(monkeypatch):
    """CVODE begins with steps of a billionth of a second; here each of them takes an hour."""
    monkeypatch.setattr(runaways, "clock", Clock(3600.0))
    monkeypatch.setattr(stepper, "PAUSE", 0.0)
    arm = kp.example("double-pendulum")
    assert kp.simulate(arm, [0.3, 0.2], [5.0, 0.0], duration=10.0, integrator="cvode").status.ok


def test_slow_functions_and_long_runs_make_progress(monkeypatch):
    """An hour for each look has few steps left; a run of a million seconds has little work left."""
    arm = kp.example("double-pendulum")
    monkeypatch.setattr(runaways, "clock", Clock(3600.0))
    assert kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=50.0, torque=lambda t, q, qd: -q).status.ok

    def stop(part):
        raise KeyboardInterrupt

    monkeypatch.setattr(runaways, "clock", Clock(10.0))
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=1e6, output=1e5, progress=stop)
    assert run.status.name == "interrupted"


@pytest.mark.parametrize(
    ("torque", "jumps"),
    [
        (lambda time, q, qd: -1e5 * qd, False),  # steep, and no jump
        (lambda time, q, qd: np.where(q > 0.3, 1.0, 0.0), True),
        (lambda time, q, qd: -np.sign(q - 0.25 + 0.5 * qd), True),
        (lambda time, q, qd: np.array([np.floor(1e6 * q[0] + 0.5), 0.0]), True),
    ],
)
def test_a_jump_is_told_from_a_slope(torque, jumps):
    arm = kp.example("double-pendulum")
    torque.traceable = False
    options = Options(q=[0.3, 0.25], qd=[0.0, 0.0], duration=1.0, torque=torque)
    run = prepared(arm, options)
    assert bool(chatter_of(run, 0.0, run.d.parted(run.start)[0])) == jumps
