"""Levels of friction that differ by direction, next to friction from load in the same joint and in another one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp

MASS, MU, LEVEL, BACK, STATIC, G = 2.0, 0.1, 3.0, 1.0, 3.5, 9.81
RAIL = {"law": "guide", "mu": MU, "length": 0.4, "width": 0.2}
UNEVEN = {"law": "coulomb", "level": LEVEL, "level_negative": BACK, "level_static": STATIC}


@cache
def sledge() -> kp.Mechanism:
    """A sledge on a rail whose carriage also has a brake that grips more forward; the weight is in the middle."""
    b = kp.Builder("sledge").link("sledge", mass=MASS, inertia=(0.1, 0.1, 0.1))
    return kp.build(b.joint("x", "prismatic", "ground", "sledge", axis="x", friction=[RAIL, UNEVEN]))


def friction(forward: bool, static: bool) -> float:
    """In closed form: μ m g and the level of the direction; the surplus at rest is the same in both."""
    return MU * MASS * G + (LEVEL if forward else BACK) + (STATIC - LEVEL if static else 0.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("part", [0.3, 0.999, 1.001, 1.5])
def test_a_sledge_leaves_rest_at_the_level_of_the_direction(sign, part):
    push = sign * part * friction(sign > 0, static=True)
    left = 0.0 if part < 1.0 else push - sign * friction(sign > 0, static=False)
    assert sledge().forward_dynamics([0.0], [0.0], [push]) == pytest.approx([left / MASS], abs=1e-12)
    own = sledge().friction([0.0], [0.0], [push])["x"]
    assert own.sticks == (part < 1.0)


@pytest.mark.parametrize("rate", [0.7, -0.7])
def test_a_sledge_that_slides_is_slowed_by_the_level_of_the_direction(rate):
    expected = -np.sign(rate) * friction(rate > 0, static=False) / MASS
    assert sledge().forward_dynamics([0.0], [rate], [0.0]) == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_a_run_breaks_away_and_stops_by_the_levels_of_the_direction(sign, integrator):
    """Pushed by a ramp, it leaves rest where the ramp meets the level; with a start, it stops at v²/(2a)."""
    options = {"dt": 1e-4} if integrator == "rk4" else {}
    rate = 10.0
    run = kp.simulate(
        sledge(), [0.0], [0.0], duration=1.0, torque=lambda t, q, qd: np.array([sign * rate * t]),
        integrator=integrator, **options,
    )  # fmt: skip
    (start,) = [x.time for x in run.events]
    assert start == pytest.approx(friction(sign > 0, static=True) / rate, abs=1e-8)
    stop = kp.simulate(sledge(), [0.0], [sign], duration=1.5, integrator=integrator, **options)
    assert stop.qd[-1] == 0.0
    assert stop.q[-1][0] == pytest.approx(sign * 0.5 * MASS / friction(sign > 0, static=False), abs=1e-8)


@cache
def pair() -> kp.Mechanism:
    """Two sledges, one on the other: load in the lower rail, an uneven level in the upper one."""
    b = kp.Builder("pair").link("lower", mass=3.0, inertia=(0.1, 0.1, 0.1))
    b.link("upper", mass=MASS, inertia=(0.1, 0.1, 0.1))
    b.joint("x", "prismatic", "ground", "lower", axis="x", friction=RAIL)
    return kp.build(b.joint("y", "prismatic", "lower", "upper", axis="x", friction=UNEVEN))


@pytest.mark.parametrize("rates", [(0.4, 0.0), (0.0, -0.3), (0.0, 0.0), (0.5, -0.2)])
@pytest.mark.parametrize("push", [(9.0, -1.6), (-9.0, 0.4), (7.0, 5.0)])
def test_derivatives_are_those_of_differences(rates, push):
    m, state = pair(), (np.zeros(2), np.array(rates), np.array(push))
    by_tau = m.forward_dynamics_derivatives(*state)[2]
    step = 1e-4  # accelerations are affine in efforts while nothing switches
    for k in range(2):
        ends = [m.forward_dynamics(*state[:2], state[2] + s * step * np.eye(2)[k]) for s in (1.0, -1.0)]
        assert by_tau[:, k] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-9)


def test_the_upper_sledge_holds_by_the_level_of_its_direction():
    """The lower one is pushed and slides; the upper one sticks up to |m a| of the direction."""
    weight = MU * 5.0 * G
    for a, forward in ((1.0, False), (-1.4, True)):  # the upper one lags behind: backward for a > 0
        bound = (LEVEL if forward else BACK) + STATIC - LEVEL
        push = np.array([5.0 * a + np.sign(a) * weight, 0.0])
        qdd = pair().forward_dynamics(np.zeros(2), np.zeros(2), push)
        assert (qdd[1] == 0.0) == (MASS * abs(a) < bound)
