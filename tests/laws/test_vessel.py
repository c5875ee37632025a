"""Laws of vessel transfer: nothing excites the aligned point, modes are those of pressures, waves of the mechanism."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import dblquad, quad, solve_ivp
from scipy.special import jnp_zeros, jv

import kinpair as kp
from kinpair.motion.vessel import shaped

G, R, H = 9.81, 0.05, 0.10
ASIDE = np.array([0.0, 1.0, 0.0])
TANK = kp.motion.Tank(radius=R, fill=H, height=0.13)


@cache
def arm() -> kp.Mechanism:
    return kp.example("vessel-arm")


@cache
def carried(way: str, height: float | None = None, model: str = "pendulum") -> kp.motion.Transfer:
    """1 m in 2 s, septic."""
    pose = arm().pose(arm().start(), "vessel")
    path = kp.motion.line(pose, kp.FramePose(pose.rotation, pose.position + ASIDE), 2.0)
    return kp.motion.vessel(
        arm(), path, frame="vessel", tank=TANK, way=way, settle=1.0, height=height, model=model
    )


def test_the_apparent_vertical_has_the_digits_computed_elsewhere():
    n, omega = kp.motion.apparent_vertical((1.0, 0.5, -0.3), (2.0, -1.0, 0.4))
    assert n == pytest.approx([0.104433245959, 0.052216622979, 0.993160169068], abs=1e-12)
    assert omega == pytest.approx([0.105900200785, 0.203075359281, -0.021812605723], abs=1e-12)
    move = kp.motion.cycloid(0.0, 1.0, 2.0).at(np.linspace(0.0, 2.0, 4001))
    a = np.stack([move.qdd, 0 * move.qdd, 0 * move.qdd], axis=1)
    assert a.max() == pytest.approx(1.570796327, abs=1e-9)
    tilts = np.degrees(np.arccos(kp.motion.apparent_vertical(a, 0 * a).axis[:, 2]))
    assert tilts.max() == pytest.approx(9.09708958809, abs=1e-8)


def test_frequencies_are_those_of_the_closed_form():
    xi = jnp_zeros(1, 2)
    assert TANK.frequencies() == pytest.approx(np.sqrt(G * xi / R * np.tanh(xi * H / R)), rel=1e-9)
    assert TANK.frequencies(2 * G) == pytest.approx(np.sqrt(2) * TANK.frequencies(), rel=1e-12)


@pytest.mark.parametrize("mode", [0, 1])
def test_force_and_moment_of_a_mode_are_those_of_its_pressure(mode):
    """p = ρ g η J₁(ξr/R)/J₁(ξ) cosh(ξz/R)/cosh(ξh/R) cos θ on wall and bottom, against a mass on a spring.

    The force is m_n ω² x; the moment about the bottom is that of this force at z_n and of the weight m_n g at x.
    """
    xi = jnp_zeros(1, 2)[mode]
    x = 1e-3
    eta = TANK.waves[mode] * x

    def pressure(r, z):
        shape = jv(1, xi * r / R) / jv(1, xi) * np.cosh(xi * z / R) / np.cosh(xi * H / R)
        return TANK.density * G * eta * shape

    force = np.pi * R * quad(lambda z: pressure(R, z), 0, H)[0]
    moment = np.pi * R * quad(lambda z: z * pressure(R, z), 0, H)[0]
    moment += np.pi * quad(lambda r: r * r * pressure(r, 0.0), 0, R)[0]
    mass, omega = TANK.masses[mode], TANK.frequencies()[mode]
    assert force == pytest.approx(mass * omega**2 * x, rel=1e-9)
    assert moment == pytest.approx(force * TANK.heights[mode] + mass * G * x, rel=1e-9)


def test_the_first_mass_is_the_momentum_that_its_flow_carries():
    """A unit lateral acceleration of the tank excites J₁(ξr/R) cos θ by the part that x = r cos θ has in it."""
    xi = jnp_zeros(1, 1)[0]
    own = dblquad(lambda t, r: jv(1, xi * r / R) ** 2 * np.cos(t) ** 2 * r, 0, R, 0, 2 * np.pi)[0]
    part = dblquad(lambda t, r: jv(1, xi * r / R) * r * np.cos(t) ** 2 * r, 0, R, 0, 2 * np.pi)[0] / own
    # η̈ + ω² η = −(ξ T/R) part a at the wall, and η = waves · x with ẍ + ω² x = −a
    assert TANK.waves[0] == pytest.approx(part * jv(1, xi) * xi / R * np.tanh(xi * H / R), rel=1e-9)


def test_nothing_excites_the_mode_whose_mass_is_aligned():
    x = carried("aligned")
    assert np.abs(x.waves.excitation[:, 0]).max() < 1e-9
    assert x.peak < 1e-12
    assert x.peak < carried("upright").peak / 10
    assert carried("upright").peak > 5e-3
    assert not x.spills


def test_the_joints_of_the_arm_do_it():
    """The force across the axis on the first mass, by the inverse dynamics of the arm with its motion sampled."""
    x = kp.motion.nominal(arm(), carried("aligned").motion)
    names = arm().v_names
    across = x.effort[:, [names.index("wave1-x"), names.index("wave1-y")]] / TANK.masses[0]
    assert np.abs(across).max() < 1e-8
    upright = kp.motion.nominal(arm(), carried("upright").motion)
    assert np.abs(upright.effort[:, names.index("wave1-y")]).max() / TANK.masses[0] > 1.8
    assert x.feasibility.feasible


def test_aligned_at_the_pivot_of_the_pendulum_the_gain_is_six_to_eight():
    pivot = float(TANK.heights[0] + G / TANK.frequencies()[0] ** 2)
    gain = carried("upright").peak / carried("aligned", pivot).peak
    assert 6.0 < gain < 8.1


def test_a_shaped_law_leaves_no_wave_of_the_first_mode_behind():
    after = carried("shaped").waves.time > 2.0
    assert after.sum() > 100
    assert np.abs(carried("shaped", None, "springs").waves.displacement[after, 0]).max() < 1e-8
    assert np.abs(carried("upright").waves.displacement[after, 0]).max() > 1e-4


@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_shaped_laws_leave_an_oscillator_at_rest(damping):
    omega, law = 7.0, kp.motion.polynomial(0.0, 1.0, 1.5)
    fast = shaped(law, omega, damping)
    assert fast.duration == law.duration
    assert float(fast.at(1.5).q) == pytest.approx(1.0, abs=1e-12)

    def rate(t, y):
        return [y[1], -2 * damping * omega * y[1] - omega**2 * y[0] - float(fast.at(t).qdd)]

    y = solve_ivp(rate, (0, 1.5), [0, 0], rtol=1e-9, atol=1e-11, method="DOP853", max_step=0.05).y[:, -1]
    assert np.abs(y).max() < 1e-7


@pytest.mark.parametrize("way", ["aligned", "upright"])
def test_waves_are_those_of_the_masses_in_the_mechanism(way):
    """A second road: H_ww c̈ = −τ_w of the bundled arm, whose waves are masses on springs; the rest moves as carried."""
    m, x = arm(), carried(way, TANK.heights[0] + 0.02, "springs")
    w = slice(6, 10)

    def rate(t, y):
        s = x.motion.at(t)
        q, qd, qdd = (part.copy() for part in s[:3])
        q[w], qd[w], qdd[w] = y[:4], y[4:], 0.0
        pull = m.inverse_dynamics(q, qd, qdd)[w]
        return np.concatenate([y[4:], -np.linalg.solve(m.mass_matrix(q)[w, w], pull)])

    time = 0.9
    found = solve_ivp(rate, (0, time), np.zeros(8), rtol=1e-7, atol=1e-10, max_step=0.02).y[:4, -1]
    k = np.searchsorted(x.waves.time, time)
    near = slice(k - 1, k + 1)
    every = x.waves.displacement.reshape(-1, 4)[near]
    own = [np.interp(time, x.waves.time[near], column) for column in every.T]
    assert np.abs(found).max() > 5e-5
    assert found == pytest.approx(own, abs=2e-7)


def test_it_is_drawn_and_told(tmp_path):
    carried("aligned").plot(tmp_path / "waves.png")
    assert str(carried("upright")).startswith("upright: tilt up to 0°, first mode up to 5.787 mm")
    low = kp.motion.Tank(radius=R, fill=H, height=0.105)
    pose = arm().pose(arm().start(), "vessel")
    path = kp.motion.line(pose, kp.FramePose(pose.rotation, pose.position + ASIDE), 2.0)
    assert kp.motion.vessel(arm(), path, frame="vessel", tank=low, way="upright").spills
