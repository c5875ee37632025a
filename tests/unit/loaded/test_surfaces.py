"""Laws of surfaces against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.friction.surfaces.bearing import Ball, Guide, Journal, Pin, Sleeve, supports
from kinpair.friction.surfaces.gear import Servo, ServoData, Teeth
from kinpair.friction.surfaces.level import Level
from kinpair.friction.surfaces.surface import Carried, Grip
from kinpair.friction.surfaces.thread import Thread
from kinpair.pairs import PAIRS

GRIP = Grip(0.1, 0.1)
AT = Carried(np.zeros(2), np.zeros(2), np.zeros(1), np.zeros(1))


def load(surface, n=(0, 0, 0), f=(0, 0, 0), q=(0.0, 0.0), force=(0.0,)):
    w = np.array([*n, *f], dtype=float)
    return surface.load(surface.forms(w, np.array(q)), np.array(force), AT)


def test_a_journal_carries_force_moment_and_thrust():
    journal = Journal("a", 1, GRIP, 0.02, 0.03, 0.2, 5.0)
    assert load(journal) == pytest.approx(5.0, abs=1e-14)
    assert load(journal, f=(3, 4, 0)) == pytest.approx(5 + 5.0)
    assert load(journal, n=(0.6, 0.8, 0)) == pytest.approx(5 + 2 * 1.0 / 0.2)
    assert load(journal, f=(0, 0, -2)) == pytest.approx(5 + 2 * 0.03 / 0.02)


def test_support_forces_balance_force_and_moment():
    """At ±b/2 along the axis."""
    rng = np.random.default_rng(5)
    n, f = rng.normal(size=3), rng.normal(size=3)
    forms = Sleeve("a", 1, GRIP, 0.02, 0.2, 0.0).forms(np.concatenate([n, f]), np.zeros(2))
    a, b, c, d = supports(forms)
    plus, minus = np.array([a, b, 0]) / 2, np.array([c, d, 0]) / 2
    assert (plus + minus)[:2] == pytest.approx(f[:2])
    moment = np.cross([0, 0, 0.1], plus) + np.cross([0, 0, -0.1], minus)
    assert moment[:2] == pytest.approx(n[:2])


def test_a_ball_carries_the_force():
    assert load(Ball("a", 1, GRIP, 0.02, 1.0), f=(2, 3, 6)) == pytest.approx(8.0)


@pytest.mark.parametrize("number", [0, 1])
def test_a_pin_is_a_journal_about_its_axis(number):
    """Turned so that the axis of the pin is z."""
    rng = np.random.default_rng(number)
    q, w = rng.normal(size=2), rng.normal(size=6)
    axis = PAIRS["universal"]().p(q)[:3, number]
    across = np.linalg.svd(axis[None, :])[2][1:]
    R = np.array([across[0], np.cross(axis, across[0]), axis])
    pin = Pin("a", 1, GRIP, 0.02, 0.03, 0.1, 0.0, number)
    journal = Journal("a", 1, GRIP, 0.02, 0.03, 0.1, 0.0)
    assert load(pin, w[:3], w[3:], q) == pytest.approx(load(journal, R @ w[:3], R @ w[3:]), rel=1e-12)


def test_a_guide_has_edge_pressure():
    guide = Guide("a", 1, GRIP, 0.3, 0.2, 1.0)
    assert load(guide, f=(0, 7, 0)) == pytest.approx(8.0)
    assert load(guide, n=(0, 3, 0)) == pytest.approx(1 + 2 * 3 / 0.3)
    assert load(guide, n=(0, 0, -3)) == pytest.approx(1 + 2 * 3 / 0.2)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_thread_takes_the_torque_of_the_inclined_plane(way):
    """Under the load W along the axis, without acceleration: pᵀw = h W = torque + friction."""
    W, r, h, mu = 250.0, 0.01, 0.002, 0.15
    thread = Thread("a", 1, Grip(mu, mu), r, h, 0.0)
    N = 300.0
    for _ in range(60):
        N = load(thread, f=(0, 0, W), force=(-way * mu * N,))
    friction = -way * mu * N * thread.helix
    lead, rho = np.arctan(h / r), np.arctan(mu)
    assert h * W - friction == pytest.approx(W * r * np.tan(lead + way * rho), rel=1e-12)
    assert not thread.locks
    assert Thread("a", 1, Grip(0.2, 0.2), r, h, 0.0).locks


def test_teeth_and_servo():
    z = np.array([0, 0, 1, 0, 0, 0.0])
    at = Carried(np.zeros(1), np.array([0.7]), np.array([1.5]), np.array([0.25]))
    w = np.array([0, 0, -2.0, 0, 0, 0])
    teeth = Teeth("a", 1, GRIP, z, 0.5)
    assert teeth.load(teeth.forms(w, np.zeros(1)), np.zeros(1), at) == pytest.approx(2.25 + 0.5)
    x = ServoData(1.02325264e-5, 0.121954096, 0.198005537, 0.02221553, 0.198599702, 0.087103283,
                  0.00999993, 7.327e-05, 1.746325174, 1.142827788)  # fmt: skip
    servo, tau_e, tau_m = Servo("a", 1, Grip(1.0, 1.0), z, x), 2.25, 1.5
    fading = np.exp(-((0.7 / x.v_s) ** x.alpha))
    level = x.f_b + abs(x.l_e * tau_e - x.l_m * tau_m)
    level += fading * (x.f_s + abs(x.l_es * tau_e - x.l_ms * tau_m))
    assert servo.load(servo.forms(w, np.zeros(1)), np.zeros(1), at) == pytest.approx(level, rel=1e-14)
    opposed = at._replace(motor=np.array([-1.5]))
    level = x.f_b + abs(x.l_e * tau_e + x.l_m * tau_m)
    level += fading * (x.f_s + abs(x.l_es * tau_e + x.l_ms * tau_m) + x.q_m * tau_m**2)
    assert servo.load(servo.forms(w, np.zeros(1)), np.zeros(1), opposed) == pytest.approx(level, rel=1e-14)


def test_stribeck_falls_from_static_to_kinetic():
    grip = Grip(0.1, 0.3, 0.01, 2.0, falls=True)
    assert grip.coefficient(0.0) == pytest.approx(0.3)
    assert grip.coefficient(0.01) == pytest.approx(0.1 + 0.2 / np.e)
    assert grip.coefficient(1.0) == pytest.approx(0.1)


ALONG = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
EVERY = [
    Journal("a", 1, GRIP, 0.02, 0.03, 0.2, 5.0),
    Sleeve("a", 1, GRIP, 0.02, 0.2, 1.0),
    Ball("a", 1, GRIP, 0.02, 1.0),
    Pin("a", 1, GRIP, 0.02, 0.03, 0.1, 2.0, 1),
    Guide("a", 1, GRIP, 0.3, 0.2, 1.0),
    Thread("a", 1, GRIP, 0.02, 0.003, 0.5),
    Teeth("a", 1, GRIP, ALONG, 0.2),
    Teeth("a", 1, Grip(1.0, 1.0), ALONG, 0.0, 0.5, 0.2),
    Servo(
        "a",
        1,
        Grip(1.0, 1.0),
        ALONG,
        ServoData(0.1, 0.2, 0.05, 0.07, 0.02, 0.03, 0.4, 0.1, 0.3, 1.3, ((0.2, 1.0),)),
    ),
    Level("a", 1, Grip(1.0, 1.0), 0.7, 0.4, 0.1, 0, 1),
]


@pytest.mark.parametrize("surface", EVERY, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("seed", range(4))
def test_parts_of_a_load_add_up_to_it(surface, seed):
    """`load` is the law as it is traced, `parts` the same for the solver; forward and backward."""
    rng = np.random.default_rng(seed)
    q, qd, motor, beside = rng.normal(size=(4, 2))
    c = np.array(surface.forms(rng.normal(size=6), q), dtype=float)
    f = rng.normal(size=len(surface.sliding()))
    for end, toward in enumerate((1.0, -1.0)):
        at = Carried(q, qd, motor, beside, toward=toward)
        total = surface.constant(at)[end]
        for part in surface.parts(at):
            y = part.C @ c + part.d + (0.0 if part.E is None else part.E @ f)
            value = {
                "norm": np.linalg.norm(y),
                "linear": y[0],
                "square": np.clip(y[0], 0.0, part.limit) ** 2,
                "jump": float(y[0] > part.limit),
            }[part.shape]
            total += part.weights[end] * value
        assert total == pytest.approx(float(surface.load(list(c), f, at)), rel=1e-12)
