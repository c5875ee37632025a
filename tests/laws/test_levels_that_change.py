"""Dry friction whose level is a function of time or an input: closed forms, by every method that computes them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp

INERTIA, GROWTH, SPEED = 2.0, 3.0, 5.0  # kg m², N m/s, rad/s
STOP = np.sqrt(2.0 * INERTIA * SPEED / GROWTH)  # ω0 = k t²/(2 I)
ANGLE = SPEED * STOP - GROWTH * STOP**3 / (6.0 * INERTIA)
METHODS = {"dop853": {}, "dopri5": {}, "rk4": {"dt": 0.01}, "cvode": {"rtol": 1e-11, "atol": 1e-12}}
WITHIN = 1e-7


@cache
def wheel(level) -> kp.Mechanism:
    level = {"input": level[0], "scale": level[1]} if isinstance(level, tuple) else level
    friction = {"law": "coulomb", "level": level}
    builder = kp.Builder("wheel", gravity=[0, 0, 0]).link("disc", mass=1.0, inertia=[INERTIA] * 3)
    return kp.build(builder.joint("axle", "revolute", "ground", "disc", axis="z", friction=friction))


def rising(time):
    return GROWTH * time


LEVELS = {"formula": f"{GROWTH}*t", "function": rising, "input": ("pedal", GROWTH)}
TIMES = np.linspace(0.0, 4.0, 5)
PEDAL = (TIMES, np.stack([TIMES, np.zeros(5)], axis=-1))  # pressed ever harder; no effort on the axle


def slowed(level: str, **options) -> kp.Result:
    inputs = {"input": PEDAL} if level == "input" else {}
    return kp.simulate(wheel(LEVELS[level]), [0.0], [SPEED], duration=4.0, **inputs, **options)


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("level", LEVELS)
def test_a_wheel_under_a_rising_level_slows_by_the_square_of_time_and_stays_at_rest(level, integrator):
    run = slowed(level, integrator=integrator, **METHODS[integrator])
    speed = np.where(run.time < STOP, SPEED - GROWTH * run.time**2 / (2.0 * INERTIA), 0.0)
    assert run.status.ok
    assert [x.name for x in run.events] == ["axle sticks"]
    assert run.events[0].time == pytest.approx(STOP, abs=WITHIN)
    assert run.qd[:, 0] == pytest.approx(speed, abs=WITHIN)
    assert run.q[-1, 0] == pytest.approx(ANGLE, abs=WITHIN)
    assert np.ptp(run.q[run.time > STOP + WITHIN, 0]) == 0.0
    assert run.friction["axle"].heat[-1] == pytest.approx(0.5 * INERTIA * SPEED**2, abs=1e-6)
    assert run.balance.relative < 1e-6


LOAD, HIGH, FALL, MASS = 6.0, 10.0, 2.0, 3.0  # N, N, N/s, kg
BREAK = (HIGH - LOAD) / FALL


@cache
def block(operated: bool) -> kp.Mechanism:
    level = {"input": "clamp", "scale": HIGH} if operated else f"{HIGH} - {FALL}*t"
    builder = kp.Builder("block", gravity=[0, 0, 0]).link("block", mass=MASS, inertia=[1, 1, 1])
    friction = {"law": "coulomb", "level": level}
    return kp.build(builder.joint("x", "prismatic", "ground", "block", axis="x", friction=friction))


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("operated", [False, True])
def test_a_loaded_block_breaks_away_when_the_level_falls_to_the_load(operated, integrator):
    end = np.array([0.0, 4.0])
    clamp = (end, np.stack([1.0 - FALL / HIGH * end, np.full(2, LOAD)], axis=-1))
    drive = {"input": clamp} if operated else {"torque": [LOAD]}
    run = kp.simulate(
        block(operated), [0.0], [0.0], duration=4.0, integrator=integrator, **drive, **METHODS[integrator]
    )
    since = np.maximum(run.time - BREAK, 0.0)
    assert [x.name for x in run.events] == ["x slides"]
    assert run.events[0].time == pytest.approx(BREAK, abs=WITHIN)
    assert run.qd[:, 0] == pytest.approx(FALL * since**2 / (2.0 * MASS), abs=WITHIN)
    assert run.q[:, 0] == pytest.approx(FALL * since**3 / (6.0 * MASS), abs=WITHIN)


@pytest.mark.parametrize("compiled", [True, False])
def test_single_states_have_the_level_of_their_time(compiled):
    m = wheel(LEVELS["formula"]) if compiled else wheel(LEVELS["formula"]).reference
    time, rate, effort = np.meshgrid([0.0, 0.5, 2.0], [-3.0, 0.0, 2.0], [-4.0, 1.0, 7.0])
    time, rate, effort = time.ravel(), rate.reshape(-1, 1), effort.reshape(-1, 1)
    level = GROWTH * time[:, None]
    sliding = (effort - level * np.sign(rate)) / INERTIA
    resting = np.sign(effort) * np.maximum(np.abs(effort) - level, 0.0) / INERTIA
    expected = np.where(rate == 0.0, resting, sliding)
    q = np.zeros_like(rate)
    one_by_one = [
        m.forward_dynamics(*x, time=t) for *x, t in zip(q, rate, effort, time.tolist(), strict=True)
    ]
    assert m.forward_dynamics(q, rate, effort, time=time) == pytest.approx(expected, abs=1e-14)
    assert np.array(one_by_one) == pytest.approx(expected, abs=1e-14)
    back = m.inverse_dynamics(q, rate, expected, time=time)
    moves = (rate != 0.0) | (expected != 0.0)
    assert back[moves] == pytest.approx(effort[moves], abs=1e-14)
    assert m.bias_forces(q, rate, time=time) == pytest.approx(level * np.sign(rate), abs=1e-14)
    assert m.friction([0.0], [0.0], [1.0], time=2.0)["axle"] == (
        -1.0,
        GROWTH * 2.0,
        True,
        pytest.approx(np.nan, nan_ok=True),
    )


def test_the_regressor_has_the_level_of_its_time():
    m = wheel(LEVELS["formula"])
    Y = m.regressor([0.0], [1.5], [0.4], time=1.2)
    assert Y @ m.regressor_parameters() == pytest.approx(m.inverse_dynamics([0.0], [1.5], [0.4], time=1.2))


def test_state_derivatives_have_the_level_of_the_input():
    m = wheel(LEVELS["input"])
    assert m.u_names == ("pedal", "axle")
    for pedal, effort, rate in [
        (1.0, 2.0, 0.0),
        (1.0, 4.0, 0.0),
        (1.0, -4.0, 0.0),
        (0.5, 2.0, 1.0),
        (0.0, 2.0, 0.0),
    ]:
        level = GROWTH * pedal
        resting = np.sign(effort) * max(abs(effort) - level, 0.0)
        expected = (resting if rate == 0.0 else effort - level * np.sign(rate)) / INERTIA
        assert m.state_derivative([0.0], [rate], u=[pedal, effort]).qdd == pytest.approx(
            [expected], abs=1e-14
        )
    assert m.state_derivative([0.0], [0.0]).qdd == pytest.approx([0.0])
    assert m.forward_dynamics([0.0], [0.0], [2.0]) == pytest.approx([1.0])  # without inputs it does not act


def test_derivatives_are_those_of_the_level_at_their_time():
    friction = {
        "law": "stribeck",
        "level": "1 + t",
        "level_static": "3 + 2*t",
        "stribeck_speed": 0.7,
        "exponent": 2,
    }
    builder = kp.Builder("arm").link("bar", mass=1.0, com=[0.4, 0, 0], inertia=[0.1, 0.1, 0.1])
    m = kp.build(builder.joint("hinge", "revolute", "ground", "bar", axis="y", friction=friction))
    q, qd, tau, time, step = np.array([0.3]), np.array([0.4]), np.array([1.0]), 0.8, 1e-6
    slopes = m.forward_dynamics_derivatives(q, qd, tau, time=time)
    efforts = m.inverse_dynamics_derivatives(q, qd, np.array([0.2]), time=time)
    ahead, behind = (m.forward_dynamics(q, qd + x, tau, time=time) for x in (step, -step))
    up, down = (m.inverse_dynamics(q, qd + x, np.array([0.2]), time=time) for x in (step, -step))
    assert slopes.qd[0] == pytest.approx((ahead - behind) / (2 * step), rel=1e-8)
    assert efforts.qd[0] == pytest.approx((up - down) / (2 * step), rel=1e-8)
    u, F = 0.4 / 0.7, 2.0 + time
    assert efforts.qd[0, 0] == pytest.approx(-F * 2 * u / 0.7 * np.exp(-u * u))
    assert m.forward_dynamics_derivatives(q, np.zeros(1), -tau, time=time).tau == pytest.approx(
        np.zeros((1, 1))
    )


def test_batches_and_steppers_stop_within_a_step():
    """Phases change at the ends of steps: what is left is the way of one step before the stop, a dt²/2."""
    dt, level = 1e-3, GROWTH * STOP
    way = level / INERTIA * dt**2
    m = wheel(LEVELS["formula"])
    run = kp.simulate(m, [[0.0], [1.0]], [[SPEED], [-SPEED]], duration=4.0, integrator="rk4", dt=dt)
    assert run.qd[:, -1] == pytest.approx(np.zeros((2, 1)), abs=0.0)
    assert run.q[:, -1, 0] == pytest.approx([ANGLE, 1.0 - ANGLE], abs=way)
    of_pedal = wheel(LEVELS["input"])
    stepper = kp.stepper(of_pedal, dt=dt, integrator="rk4")
    stepper.reset([0.0], [SPEED])
    for _ in range(4000):
        q, qd = stepper.step([1.0, 0.0])
    constant = INERTIA * SPEED**2 / (2.0 * GROWTH)  # a pedal pressed once: a constant level
    assert qd == pytest.approx([0.0], abs=0.0)
    assert q == pytest.approx([constant], abs=GROWTH / INERTIA * dt**2)


def test_one_pedal_operates_two_brakes_and_parameters_scale_levels():
    friction = [{"law": "coulomb", "level": {"input": "pedal", "scale": x}} for x in (2.0, 3.0)]
    builder = kp.Builder("car", gravity=[0, 0, 0])
    for name, own in zip("ab", friction, strict=True):
        builder.link(f"wheel {name}", mass=1.0, inertia=[1, 1, 1])
        builder.joint(name, "revolute", "ground", f"wheel {name}", axis="z", friction=own)
    m = kp.build(builder)
    assert m.u_names == ("pedal", "a", "b")
    assert m.state_derivative(np.zeros(2), np.ones(2), u=[2.0, 0, 0]).qdd == pytest.approx([-4.0, -6.0])
    run = kp.simulate(
        m, [0, 0], [6.0, 6.0], duration=0.5, input=[2.0, 0, 0], parameters={"b.friction.level": 1.0}
    )
    assert run.qd[-1] == pytest.approx([4.0, 5.0])


def test_files_keep_levels_that_change(tmp_path):
    level = [("formula", {"level": "3*t"}), ("input", {"level": {"input": "pedal", "scale": 3.0}})]
    for word, keys in level:
        builder = kp.Builder("wheel").link("disc", mass=1.0, inertia=[1, 1, 1])
        builder.joint("axle", "revolute", "ground", "disc", friction={"law": "coulomb", **keys})
        path = tmp_path / f"{word}.toml"
        kp.write_toml(builder.description(), path)
        assert kp.load(path).model.description.joints == builder.description().joints


def braked(level) -> kp.Builder:
    builder = kp.Builder("wheel", gravity=[0, 0, 0]).link("disc", mass=1.0, inertia=[INERTIA] * 3)
    builder.joint("axle", "revolute", "ground", "disc", axis="z", friction=0.5)
    return builder.brake("drum", "axle", level)


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_a_brake_adds_to_the_friction_of_its_joint_under_its_own_name(integrator):
    """I ω̇ = −(0.5 + k t) sliding: 0 = ω0 I − 0.5 t − k t²/2 at the stop."""
    run = kp.simulate(
        kp.build(braked(f"{GROWTH}*t")),
        [0.0],
        [SPEED],
        duration=4.0,
        integrator=integrator,
        **METHODS[integrator],
    )
    stop = (-0.5 + np.sqrt(0.25 + 2.0 * GROWTH * INERTIA * SPEED)) / GROWTH
    assert [x.name for x in run.events] == ["axle sticks"]
    assert run.events[0].time == pytest.approx(stop, abs=WITHIN)
    assert run.losses["axle.friction"][-1] == pytest.approx(0.5 * run.q[-1, 0], rel=1e-8)
    heat = run.losses["drum"][-1] + run.losses["axle.friction"][-1]
    assert heat == pytest.approx(0.5 * INERTIA * SPEED**2, rel=1e-8)
    assert run.friction["axle"].heat[-1] == pytest.approx(heat, rel=1e-12)


def test_brakes_are_listed_copied_and_kept_in_files(tmp_path):
    builder = braked({"input": "pedal", "scale": 3.0})
    m = kp.build(builder)
    assert m.u_names == ("pedal", "axle")
    assert {"drum.level", "axle.friction.level"} <= set(m.parameter_names)
    assert "drum   axle   3 input pedal" in str(m)
    path = tmp_path / "wheel.toml"
    kp.write_toml(builder.description(), path)
    assert kp.load(path).model.description == builder.description()
    head = '[[brake]]\nname = "drum"\njoint = "axle"\nlevel = {input = "pedal", scale = 3}\n'
    plain = kp.Builder("wheel", gravity=[0, 0, 0]).link("disc", mass=1.0, inertia=[INERTIA] * 3)
    plain.joint("axle", "revolute", "ground", "disc", axis="z", friction=0.5)
    path.write_text(kp.to_toml(plain.description()) + "\n" + head)
    assert kp.load(path).model.description == builder.description()
    twice = kp.build(builder.copy("disc", 1, xyz=[1, 0, 0]))
    assert {"drum.level", "drum_1.level"} <= set(twice.parameter_names)
    assert twice.u_names == ("pedal", "axle", "axle_1")


def test_a_brake_on_one_rate_of_a_joint():
    builder = kp.Builder("sleeve", gravity=[0, 0, 0]).link("rod", mass=2.0, inertia=[1, 1, 1])
    builder.joint("c", "cylindrical", "ground", "rod", axis="z").brake("clamp", "c.slide", 4.0)
    m = kp.build(builder)
    rates = dict(zip(m.v_names, m.forward_dynamics(np.zeros(2), np.ones(2), np.zeros(2)), strict=True))
    assert rates == pytest.approx({"c.angle": 0.0, "c.slide": -2.0})


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize(
    ("level", "force", "moves"), [(3.0, 4.0, True), (0.0, -4.0, True), (4.0, 3.0, False)]
)
def test_a_force_and_a_level_that_both_begin_at_zero(level, force, moves, integrator):
    """M v̇ = (F − L) t where |F| > L: neither holds the block at t = 0, and what follows is decided just after."""
    friction = {"law": "coulomb", "level": f"{level}*t"}
    builder = kp.Builder("block", gravity=[0, 0, 0]).link("block", mass=MASS, inertia=[1, 1, 1])
    m = kp.build(builder.joint("x", "prismatic", "ground", "block", axis="x", friction=friction))
    run = kp.simulate(
        m,
        [0.0],
        [0.0],
        duration=1.0,
        torque=lambda t, q, qd: force * t + 0.0 * q,
        integrator=integrator,
        **METHODS[integrator],
    )
    pull = np.sign(force) * (abs(force) - level) / MASS if moves else 0.0
    assert run.status.name == "done"
    assert run.q[:, 0] == pytest.approx(pull * run.time**3 / 6.0, abs=WITHIN)
    assert run.qd[:, 0] == pytest.approx(pull * run.time**2 / 2.0, abs=WITHIN)


def test_accelerations_of_a_run_have_the_level_of_their_time():
    run = kp.simulate(wheel(LEVELS["formula"]), [0.0], [SPEED], duration=0.5 * STOP)
    assert run.qdd[:, 0] == pytest.approx(-GROWTH * run.time / INERTIA, abs=1e-12)
