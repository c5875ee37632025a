"""Transmission of linkages beside their formulas: Freudenstein's for a four-bar, Pythagoras' for a slider-crank."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from closed import start

CLOSE = 1e-10
GROUND, CRANK, COUPLER, OUTPUT = 0.15, 0.05, 0.1, 0.13  # of the bundled four-bar
R, L = 0.05, 0.13  # of the bundled slider-crank


def four_bar(ground: float, crank: float, coupler: float, output: float) -> kp.Mechanism:
    """Two cranks on the ground, the coupler on the tip of the second; axes z."""
    b = kp.Builder("bars")
    for name, length in (("crank", crank), ("output", output), ("coupler", coupler)):
        b.link(name, mass=length, com=[length / 2, 0, 0], inertia=[1e-4, 1e-4, 1e-4])
    b.joint("crank", "revolute", "ground", "crank", axis="z")
    b.joint("output", "revolute", "ground", "output", xyz=[ground, 0, 0], axis="z")
    b.joint("coupler", "revolute", "output", "coupler", xyz=[output, 0, 0], axis="z")
    tips = {"xyz": [crank, 0, 0], "child_xyz": [coupler, 0, 0]}
    return kp.build(b.loop("pin", "spherical", "crank", "coupler", **tips))


def freudenstein(phi, side, ground=GROUND, crank=CRANK, coupler=COUPLER, output=OUTPUT):
    """ψ and dψ/dφ of P cos ψ + Q sin ψ + R = 0, the square of the coupler's length; `side` is ±1."""
    a, b, c, d = crank, output, coupler, ground
    P, Q = 2 * d * b - 2 * a * b * np.cos(phi), -2 * a * b * np.sin(phi)
    R = a**2 + b**2 + d**2 - c**2 - 2 * a * d * np.cos(phi)
    psi = np.arctan2(Q, P) + side * np.arccos(-R / np.hypot(P, Q))
    by_phi = 2 * a * b * np.sin(phi) * np.cos(psi) - 2 * a * b * np.cos(phi) * np.sin(psi)
    by_phi = by_phi + 2 * a * d * np.sin(phi)
    return psi, -by_phi / (Q * np.cos(psi) - P * np.sin(psi))


@pytest.fixture(scope="module")
def crank_rocker() -> kp.Transmission:
    return kp.transmission(kp.example("four-bar"), "crank", "output", q=start("four-bar"))


def test_crank_rocker_is_that_of_freudenstein(crank_rocker):
    x = crank_rocker
    psi, ratio = freudenstein(x.input, side=1)
    assert zoo.relative_error(x.output, psi) < CLOSE
    assert zoo.relative_error(x.velocity_ratio, ratio) < CLOSE
    assert x.velocity_ratio * x.force_ratio == pytest.approx(1.0, abs=1e-12)


def test_crank_turns_right_round(crank_rocker):
    assert crank_rocker.full_turn
    assert crank_rocker.range == pytest.approx((-np.pi, np.pi), abs=CLOSE)
    assert crank_rocker.q[0] == pytest.approx(crank_rocker.q[-1] - [2 * np.pi, 0, 0], abs=CLOSE)
    assert len(crank_rocker.input) == 181


def test_rocker_stands_where_crank_and_coupler_are_in_line(crank_rocker):
    def place(length):  # angles of the output and of the line from the crank's hinge to the output's tip
        psi = np.arccos((length**2 - GROUND**2 - OUTPUT**2) / (2 * GROUND * OUTPUT))
        return psi, np.arctan2(OUTPUT * np.sin(psi), GROUND + OUTPUT * np.cos(psi))

    (folded, back), (stretched, line) = place(COUPLER - CRANK), place(COUPLER + CRANK)
    first, second = crank_rocker.dead_points
    assert (first.standing, second.standing) == ("output", "output")
    assert (first.input, first.output) == pytest.approx((back - np.pi, folded), abs=CLOSE)
    assert (second.input, second.output) == pytest.approx((line, stretched), abs=CLOSE)
    assert freudenstein(second.input, 1)[1] == pytest.approx(0.0, abs=1e-9)


def test_rocker_as_input_ends_at_its_dead_points(crank_rocker):
    """The other way round: between the dead points of the rocker, where its ratio is without bound."""
    m = kp.example("four-bar")
    x = kp.transmission(m, "output", "crank", q=m.assemble([0.3, 2.2, 2.2], fixed=["crank"]), samples=50)
    ends = [point.output for point in reversed(crank_rocker.dead_points)]
    assert x.range == pytest.approx(ends, abs=CLOSE)
    assert not x.full_turn
    assert [point.standing for point in x.dead_points] == ["output", "output"]
    assert np.isinf(x.velocity_ratio[[0, -1]]).all()
    assert (x.force_ratio[[0, -1]] == 0).all()
    assert np.isfinite(x.velocity_ratio[1:-1]).all()
    psi, ratio = freudenstein(x.output[1:-1], side=1)
    assert zoo.relative_error(x.input[1:-1], psi) < CLOSE
    assert zoo.relative_error(x.force_ratio[1:-1], ratio) < 1e-9


def test_range_of_a_linkage_in_which_nothing_turns_round():
    """Shortest and longest bar together exceed the others: the crank ends where coupler and output are in line."""
    bars = {"ground": 0.4, "crank": 0.3, "coupler": 0.25, "output": 0.3}
    m = four_bar(**bars)
    psi_0, _ = freudenstein(0.5, 1, **bars)
    tip = np.array([0.4, 0]) + 0.3 * np.array([np.cos(psi_0), np.sin(psi_0)])
    to_crank = 0.3 * np.array([np.cos(0.5), np.sin(0.5)]) - tip
    q = [0.5, psi_0, np.arctan2(to_crank[1], to_crank[0]) - psi_0]
    x = kp.transmission(m, "crank", "output", q=q, samples=101)
    end = np.arccos((0.3**2 + 0.4**2 - (0.3 + 0.25) ** 2) / (2 * 0.3 * 0.4))
    assert x.range == pytest.approx((-end, end), abs=1e-9)
    assert not x.full_turn
    assert {point.standing for point in x.dead_points if abs(point.input) > end - 1e-6} == {"crank"}
    psi, ratio = freudenstein(x.input[1:-1], 1, **bars)
    assert zoo.relative_error(x.output[1:-1], psi) < CLOSE
    assert zoo.relative_error(x.velocity_ratio[1:-1], ratio) < 1e-9


@pytest.fixture(scope="module")
def engine() -> kp.Transmission:
    return kp.transmission(kp.example("slider-crank"), "crank", "piston", q=start("slider-crank"), samples=73)


def test_slider_crank_is_that_of_pythagoras(engine):
    theta, along = engine.input, np.sqrt(L**2 - (R * np.sin(engine.input)) ** 2)
    ratio = -R * np.sin(theta) * (1 + R * np.cos(theta) / along)
    assert engine.full_turn
    assert zoo.relative_error(engine.output, R * np.cos(theta) + along - R - L) < CLOSE
    assert zoo.relative_error(engine.velocity_ratio, ratio) < CLOSE
    assert engine.units == ("rad", "m")


def test_dead_centres(engine):
    inner, outer = sorted(engine.dead_points, key=lambda x: x.output)
    assert (inner.standing, outer.standing) == ("piston", "piston")
    assert (inner.input, inner.output) == pytest.approx((np.pi, -2 * R), abs=CLOSE)
    assert (outer.input, outer.output) == pytest.approx((0, 0), abs=CLOSE)


def test_a_start_at_a_dead_point_of_the_output_finds_it_once():
    x = kp.transmission(kp.example("slider-crank"), "crank", "piston", samples=5)
    assert [point.input for point in x.dead_points] == pytest.approx([-np.pi, 0], abs=CLOSE)
    assert x.velocity_ratio[[0, 2, 4]] == pytest.approx(0, abs=0)
    assert np.isinf(x.force_ratio[[0, 2, 4]]).all()


def test_force_ratio_is_what_statics_gives(engine):
    """A unit force on the piston is held by the torque −i at the crank."""
    m = zoo.without_gravity(kp.example("slider-crank"))
    pushed = {"piston": [0, 0, 0, 1, 0, 0]}
    for k in (5, 20, 40):
        still = np.zeros(3)
        tau = m.inverse_dynamics(engine.q[k], still, still, actuators=["crank"], external=pushed)
        assert -1.0 / tau[0] == pytest.approx(engine.force_ratio[k], rel=1e-9)


def test_velocity_ratio_is_that_of_the_rates(crank_rocker):
    m = kp.example("four-bar")
    for k in (3, 60, 150):
        rates = m.velocities(crank_rocker.q[k], {"crank": 1.0})
        assert rates[1] == pytest.approx(crank_rocker.velocity_ratio[k], abs=1e-10)


def test_every_position_is_closed(crank_rocker, engine):
    assert np.abs(kp.example("four-bar").constraint_residual(crank_rocker.q)).max() < 1e-14
    assert np.abs(kp.example("slider-crank").constraint_residual(engine.q)).max() < 1e-14


def test_place_of_a_frame_and_a_limit():
    """A finger on a parallelogram moves on a circle, though the loops say more than is needed."""
    x = kp.transmission(
        kp.example("gripper"), "left-driver", "left-tip.x", q=start("gripper"), extent=0.4, samples=9
    )
    assert x.range == pytest.approx((0.1, 0.9), abs=CLOSE)
    assert not x.full_turn
    assert not x.dead_points
    assert x.output == pytest.approx(-0.03 - 0.06 * np.sin(x.input), abs=1e-12)
    assert x.velocity_ratio == pytest.approx(-0.06 * np.cos(x.input), abs=1e-12)


def test_what_is_printed():
    x = kp.transmission(kp.example("gripper"), "left-driver", "left-tip.x", q=start("gripper"), samples=2)
    assert str(x) == (
        "gripper: left-tip.x [m] over left-driver [rad]\n"
        "range -2.64159 to 3.64159, a full turn\n"
        "dead point: left-tip.x stands at left-driver -1.5708, left-tip.x 0.03\n"
        "dead point: left-tip.x stands at left-driver 1.5708, left-tip.x -0.09"
    )


def test_picture(engine, tmp_path):
    file = engine.plot(tmp_path / "engine.svg")
    text = file.read_text("utf-8")
    assert text.startswith("<?xml")
    assert file.stat().st_size > 10_000


def test_an_output_that_never_moves_has_no_dead_points():
    x = kp.transmission(kp.example("gripper"), "left-driver", "left-tip.z", q=start("gripper"), samples=5)
    assert not x.dead_points
    assert (x.velocity_ratio == 0).all()
