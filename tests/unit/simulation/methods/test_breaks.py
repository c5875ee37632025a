"""What a method that chooses its steps cannot know by itself: kinks of a table of efforts, short pulses, jumps."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import failed
from kinpair.simulation.steppers import taylor

ADAPTIVE = ("dop853", "dopri5", "cvode", "ida")
LIBRARIES = ("cvode", "ida", "taylor")
AT_REST = {"q": [0.0, 0.0], "qd": [0.0, 0.0]}
PULSE = [0.0, 0.5, 0.525, 0.55, 1.0], [[0.0, 0.0], [0.0, 0.0], [20.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.mark.parametrize("method", ADAPTIVE)
def test_no_step_goes_over_a_pulse_of_a_table(arm, method):
    fixed = kp.simulate(arm, **AT_REST, duration=1.0, torque=PULSE, integrator="rk4", dt=1e-3)
    run = kp.simulate(arm, **AT_REST, duration=1.0, torque=PULSE, integrator=method)
    assert np.abs(fixed.q[-1]).min() > 0.03
    assert run.q[-1] == pytest.approx(
        fixed.q[-1], abs=1e-7
    )  # rk4 with kinks at ends of steps: dt⁴ and rounding
    assert run.work[-1] == pytest.approx(fixed.work[-1], abs=1e-6)


@pytest.mark.parametrize("method", ["dop853", "cvode"])
def test_pulses_are_met_with_events_watched_too(arm, method):
    event = kp.Event("elbow", lambda time, q, qd: q[1] - 0.05)
    fixed, run = (
        kp.simulate(arm, **AT_REST, duration=1.0, torque=PULSE, events=[event], **wish)
        for wish in ({"integrator": "rk4", "dt": 1e-3}, {"integrator": method})
    )
    assert len(run.events) == len(fixed.events) > 0
    assert run.events[0].time == pytest.approx(fixed.events[0].time, abs=1e-6)
    assert run.q[-1] == pytest.approx(fixed.q[-1], abs=1e-7)


def test_a_table_is_met_wherever_the_run_begins_and_is_cut(arm, tmp_path):
    times, values = np.array(PULSE[0]) + 7.0, np.array(PULSE[1])
    early = kp.simulate(arm, **AT_REST, duration=1.0, torque=PULSE)
    late = kp.simulate(arm, **AT_REST, duration=1.0, torque=(times, values), time=7.0)
    assert late.q[-1] == pytest.approx(early.q[-1], abs=1e-8)
    behind = kp.simulate(arm, **AT_REST, duration=0.4, torque=(np.array(PULSE[0]) - 0.6, values))
    assert not behind.q.any()


@pytest.mark.parametrize("method", [*ADAPTIVE[:1], *LIBRARIES])
def test_a_bound_on_the_step_finds_short_pulses_of_a_function(arm, method):
    def bump(time, q, qd):
        return np.array([40.0 * np.exp(-(((time - 0.61) / 0.01) ** 2)), 0.0 * time])

    fixed = kp.simulate(arm, **AT_REST, duration=1.0, torque=bump, integrator="rk4", dt=5e-4)
    run = kp.simulate(arm, **AT_REST, duration=1.0, torque=bump, integrator=method, max_step=0.01)
    assert np.abs(fixed.q[-1]).min() > 0.03
    assert run.q[-1] == pytest.approx(fixed.q[-1], abs=1e-6)
    assert run.steps >= 100


# jumps of efforts that are held


class Sampled:
    """Springs and dampers by hand, ten times a second."""

    sample_time = 0.1

    def __init__(self, size: int, gain: float) -> None:
        self.size, self.gain = size, gain

    def __call__(self, time, q, qd):
        tau = np.zeros(self.size)
        tau[0] = -self.gain * (4.0 * q[0] + 0.5 * qd[0])
        return tau


@pytest.mark.parametrize(
    ("name", "gain"), [("double-pendulum", 1.0), ("four-bar", 0.01), ("rolling-disk", 1.0)]
)
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_generalised_alpha_keeps_its_order_where_efforts_jump(name, gain, rho):
    mechanism = kp.example(name)
    q = mechanism.start()
    qd = (
        mechanism.velocities(q, guess=np.linspace(0.1, 0.3, mechanism.nv))
        if mechanism.closure
        else [0.1, 0.3]
    )
    wish = {"duration": 0.6, "torque": Sampled(mechanism.nv, gain), "output": 0.6}
    exact = kp.simulate(mechanism, q, qd, rtol=1e-12, atol=1e-12, **wish)
    errors: list[float] = []
    for dt in (4e-3, 2e-3, 1e-3):
        run = kp.simulate(mechanism, q, qd, integrator="generalised-alpha", dt=dt, rho_inf=rho, **wish)
        errors.append(np.abs(np.append(run.q[-1] - exact.q[-1], run.qd[-1] - exact.qd[-1])).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders.min() > 1.8, errors


# Taylor series


@pytest.mark.parametrize("rtol", [None, 1e-15, 1e-13, 1e-11, 1e-9])
def test_a_series_in_the_fourth_power_of_time_is_not_followed_too_far(rtol):
    arm = kp.example("planar-3r")
    ours = kp.simulate(arm, np.zeros(3), np.zeros(3), duration=1.0, rtol=1e-13, atol=1e-13)
    run = kp.simulate(arm, np.zeros(3), np.zeros(3), duration=1.0, integrator="taylor", rtol=rtol)
    assert run.status.ok
    assert run.steps > 10
    assert np.abs(run.q - ours.q).max() < max(rtol or 0.0, 1e-11)


def test_the_reach_of_a_series_is_that_of_its_radius():
    orders = np.arange(21)
    geometric = 0.5**orders  # of 1 / (1 − t/2): radius 2
    sparse = np.where(orders % 4 == 0, geometric, 0.0)
    for series in (geometric, sparse):
        assert taylor.reach(series[None]) == pytest.approx(2.0 / np.e**2)
    assert taylor.reach(np.where(orders < 2, 1.0, 0.0)[None]) == np.inf  # uniform motion
    assert taylor.reach(np.where(orders < 3, 1.0, 0.0)[None]) == pytest.approx(1.0 / np.e**2)


def test_taylor_series_give_the_last_digits_unless_told_otherwise():
    arm = kp.example("double-pendulum")
    ours = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, rtol=1e-14, atol=1e-14)
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, integrator="taylor")
    assert np.abs(run.q - ours.q).max() < 1e-12


# friction, and torques that are no numbers


def rubbing() -> kp.Mechanism:
    return kp.build(
        kp.Builder("rubbing")
        .link("a", mass=1.0, com=[0.5, 0, 0], inertia=[0.01, 0.1, 0.1])
        .link("b", mass=0.5, com=[0.5, 0, 0], inertia=[0.01, 0.05, 0.05])
        .joint("x", "revolute", "ground", "a", axis="y", friction=0.2)
        .joint("y", "revolute", "a", "b", axis="y", xyz=[1, 0, 0], friction=0.2)
    )


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_friction_takes_hold_of_a_motion_from_rest_in_silence(method, capfd):
    ours, theirs = (
        kp.simulate(rubbing(), [0.0, 0.0], [0.0, 0.0], duration=0.5, integrator=x) for x in ("dop853", method)
    )
    assert theirs.status.ok
    assert np.abs(theirs.q - ours.q).max() < 1e-6
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", [*ADAPTIVE, "taylor", "rk4", "generalised-alpha"])
def test_a_torque_that_is_no_number_is_named_with_its_time(arm, method, capfd):
    def root(time, q, qd):
        return np.array([np.sqrt(0.4375 - time), 0.0 * time])

    run = failed(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, torque=root, integrator=method)
    assert run.status.name == "refused"
    assert run.status.time == pytest.approx(0.4375, abs=1e-3)
    assert run.status.message.endswith("s: torque is nan for 'shoulder' at t = 0.4375 s")
    assert run.time[-1] >= 0.436
    assert np.isfinite(run.q).all()
    assert capfd.readouterr() == ("", "")


def test_a_wrench_that_is_no_number_is_named(arm):
    def root(time, q, qd):
        return np.array([0.0, 0.0, 0.0, np.sqrt(0.25 - q[0]) + 0.0 * time, 0.0, 0.0])

    run = failed(arm, [0.2, 0.0], [1.0, 0.0], duration=1.0, external={"lower": root}, integrator="rk4")
    assert "external['lower'] is nan for 'fx' at t = 0.0" in run.status.message


def test_a_state_that_makes_a_torque_no_number_is_found_too(arm):
    run = failed(
        arm,
        [0.2, 0.0],
        [1.0, 0.0],
        duration=1.0,
        torque=lambda time, q, qd: np.sqrt(0.25 - q),
        integrator="rk4",
    )
    assert "torque is nan for 'shoulder' at t = 0.0" in run.status.message


def test_what_a_torque_prints_is_printed(arm, capfd):
    class Talking:
        def __call__(self, time, q, qd):
            print("asked")
            return -q if time < 0.05 else np.full(2, np.nan)

    failed(arm, [0.3, 0.2], [0.0, 0.0], duration=0.1, torque=Talking(), integrator="cvode")
    caught = capfd.readouterr().out
    assert caught
    assert set(caught.split()) == {"asked"}


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"max_step": 0.0}, "max_step is 0.0; it must be a number above zero"),
        ({"max_step": 0.1, "integrator": "rk4"}, "rk4 by fixed steps takes dt=, no max_step="),
        ({"max_step": 0.1, "dt": 0.1}, "dop853 by fixed steps takes dt=, no max_step="),
    ],
)
def test_bounds_that_cannot_be(arm, wish, message):
    with pytest.raises(kp.InputError, match=message):
        kp.simulate(arm, **AT_REST, duration=1.0, **wish)
