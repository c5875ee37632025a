"""Stops of a point over a plane with Coulomb friction: closed forms of sliding, rest and impacts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinpair as kp

GRAVITY, HEIGHT, SPEED, MU = 9.81, 0.2, 2.0, 0.3
CARRIAGE, PUCK = 0.4, 1.0  # [kg]: only the puck falls, both slide
EXPLICIT = {"dop853": {}, "dopri5": {}, "rk4": {"dt": 1e-3}}


def carried(**stop: object) -> kp.Builder:
    b = kp.Builder("puck").link("carriage", mass=CARRIAGE).link("puck", mass=PUCK)
    b.joint("x", "prismatic", "ground", "carriage", axis="x")
    b.joint("z", "prismatic", "carriage", "puck", axis="z", start=HEIGHT)
    return b.stop("floor", **{"links": ["ground", "puck"], "lower": 0.0, "mu": MU, **stop})


def landing(e: float = 0.0) -> tuple[float, float, float]:
    """Time of the impact, rate of x behind it by Coulomb's impulse μ (1 + e) m v, and deceleration of sliding."""
    time = np.sqrt(2.0 * HEIGHT / GRAVITY)
    mass = CARRIAGE + PUCK
    return time, SPEED - MU * (1.0 + e) * PUCK * GRAVITY * time / mass, MU * PUCK * GRAVITY / mass


@pytest.mark.parametrize("integrator", EXPLICIT)
def test_a_point_lands_with_coulombs_impulse_slides_and_sticks(integrator):
    run = kp.simulate(
        kp.build(carried()),
        [0.0, HEIGHT],
        [SPEED, 0.0],
        duration=1.5,
        integrator=integrator,
        **EXPLICIT[integrator],
    )
    time, rate, slowing = landing()
    lands, sticks = run.events
    assert (lands.name, sticks.name) == (
        "floor point on floor lower lands",
        "floor point on floor lower sticks",
    )
    assert lands.time == pytest.approx(time, abs=1e-12)
    assert lands.qd == pytest.approx([rate, 0.0], abs=1e-12)
    assert sticks.time == pytest.approx(time + rate / slowing, abs=1e-9)
    assert run.q[-1] == pytest.approx([SPEED * time + rate**2 / (2.0 * slowing), 0.0], abs=1e-11)


def test_an_impact_with_restitution_has_the_impulse_of_both_phases():
    m = kp.build(carried(restitution=0.5))
    run = kp.simulate(m, [0.0, HEIGHT], [SPEED, 0.0], duration=0.3, integrator="dop853")
    time, rate, _ = landing(0.5)
    assert run.events[0].qd == pytest.approx([rate, 0.5 * GRAVITY * time], abs=1e-12)


def test_time_steps_reach_the_same_place_to_first_order():
    time, rate, slowing = landing()
    expected = SPEED * time + rate**2 / (2.0 * slowing)
    m = kp.build(carried())
    errors = []
    for dt in (2e-3, 5e-4):
        run = kp.simulate(m, [0.0, HEIGHT], [SPEED, 0.0], duration=1.5, integrator="time-stepping", dt=dt)
        errors.append(abs(run.q[-1, 0] - expected))
        assert abs(run.q[-1, 1]) < 1e-12
    assert errors[0] < 1e-4
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize(("mu", "rests"), [(0.58, True), (0.57, False)])
def test_a_point_on_a_slope_rests_below_the_angle_of_friction(mu, rests):
    """tan 30° = 0.577; on the slope the distance is ½ (sin 30° − μ cos 30°) g t²."""
    slope = np.array([-0.5, 0.0, np.sqrt(0.75)])
    b = kp.Builder("block").link("carriage").link("block", mass=2.0)
    b.joint("x", "prismatic", "ground", "carriage", axis="x").joint(
        "z", "prismatic", "carriage", "block", axis="z"
    )
    m = kp.build(b.stop("slope", links=["ground", "block"], axis=slope.tolist(), lower=0.0, mu=mu))
    run = kp.simulate(m, [0.0, 0.0], [0.0, 0.0], duration=0.5, integrator="dop853")
    along = 0.0 if rests else 0.5 * (0.5 - mu * np.sqrt(0.75)) * GRAVITY * 0.25
    assert run.q[-1] == pytest.approx([-along * np.sqrt(0.75), -along * 0.5], abs=1e-9)


def test_an_upper_limit_is_a_ceiling():
    """The same motion upside down."""
    up = carried(lower=None, upper=2.0 * HEIGHT)
    m = kp.build(up)
    flipped = kp.simulate(
        m, [0.0, HEIGHT], [SPEED, 0.0], duration=1.0, integrator="dop853", torque=[0.0, 2.0 * PUCK * GRAVITY]
    )
    run = kp.simulate(kp.build(carried()), [0.0, HEIGHT], [SPEED, 0.0], duration=1.0, integrator="dop853")
    assert flipped.q[-1, 0] == pytest.approx(run.q[-1, 0], abs=1e-11)
    assert flipped.q[-1, 1] == pytest.approx(2.0 * HEIGHT, abs=1e-11)
    assert flipped.events[0].name == "floor point on floor upper lands"


def test_a_file_says_what_the_builder_says(tmp_path: Path):
    text = """
    name = "puck"
    [[link]]
    name = "carriage"
    mass = 0.4
    [[link]]
    name = "puck"
    mass = 1.0
    [[joint]]
    name = "x"
    kind = "prismatic"
    parent = "ground"
    child = "carriage"
    axis = "x"
    [[joint]]
    name = "z"
    kind = "prismatic"
    parent = "carriage"
    child = "puck"
    axis = "z"
    start = 0.2
    [[stop]]
    name = "floor"
    between = ["ground", "puck"]
    lower = 0.0
    mu = 0.3
    """
    (tmp_path / "puck.toml").write_text(text, "utf-8")
    read, made = kp.load(tmp_path / "puck.toml"), kp.build(carried())
    for part in ("geoms", "pairs"):
        ours = getattr(read.model.description.contacts, part)
        assert ours == getattr(made.model.description.contacts, part)
    m, written = kp.load(tmp_path / "puck.toml"), tmp_path / "again.toml"
    kp.write(m, written)
    assert kp.load(written).model.description.contacts.geoms == made.model.description.contacts.geoms


def test_dry_friction_of_a_joint_acts_next_to_a_stop_with_friction():
    """By impulses to first order, by events exactly."""
    b = carried()
    description = b.description()
    from dataclasses import replace

    joints = tuple(replace(x, friction=(1.0,)) if x.name == "x" else x for x in description.joints)
    m = kp.build(replace(description, joints=joints))
    run = kp.simulate(m, [0.0, 0.0], [SPEED, 0.0], duration=1.0, integrator="time-stepping", dt=1e-4)
    slowing = (MU * PUCK * GRAVITY + 1.0) / (CARRIAGE + PUCK)
    assert run.q[-1, 0] == pytest.approx(SPEED**2 / (2.0 * slowing), abs=1e-4)
    exact = kp.simulate(m, [0.0, 0.0], [SPEED, 0.0], duration=1.0, integrator="dop853")
    assert exact.q[-1, 0] == pytest.approx(SPEED**2 / (2.0 * slowing), abs=1e-9)
