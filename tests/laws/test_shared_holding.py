"""Joints at rest and a limit that hold a mechanism together: nothing happens while they pass a load to each other, and
the mechanism moves when the sum of what they can hold is reached."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

SETTINGS = [{}, {"integrator": "rk4", "dt": 1e-3}]


def shafts(levels: list[object]) -> kp.Mechanism:
    """Equal shafts, geared one to one, each with dry friction."""
    b = kp.Builder("shafts", gravity=(0, 0, 0))
    for k, level in enumerate(levels):
        b.link(f"l{k}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        b.joint(f"j{k}", "revolute", "ground", f"l{k}", friction=level)
        if k:
            b.gear(f"g{k}", f"j{k}", f"j{k - 1}", 1.0)
    return kp.build(b)


@pytest.mark.parametrize("settings", SETTINGS, ids=["dop853", "rk4"])
@pytest.mark.parametrize(
    "levels",
    [
        [1.0, 1.0],
        [1.0] * 12,
        np.linspace(0.1, 3.0, 8).tolist(),
        [{"law": "coulomb", "level": 1.0, "level_static": 1.5}] * 6,
    ],
    ids=["two", "twelve", "unequal", "static"],
)
def test_geared_shafts_turn_when_the_torque_is_the_sum_of_the_levels(levels, settings):
    m = shafts(levels)
    most = sum(x["level_static"] if isinstance(x, dict) else x for x in levels)

    def ramp(t, q, qd):
        return np.array([2.0 * most * t, *np.zeros(m.nv - 1)])

    run = kp.simulate(m, np.zeros(m.nq), np.zeros(m.nv), duration=0.7, torque=ramp, **settings)
    assert run.status.name == "done"
    assert [x.name for x in run.events[-m.nv :]] == [f"{name} slides" for name in m.v_names]
    assert [x.time for x in run.events] == pytest.approx([0.5] * len(run.events), abs=1e-9)
    sliding = sum(x["level"] if isinstance(x, dict) else x for x in levels)
    s = run.time[-1] - 0.5
    speed = (most * s * s + (most - sliding) * s) / (0.1 * len(levels))
    assert run.qd[-1] == pytest.approx(np.full(m.nv, speed), rel=1e-6)


@pytest.mark.parametrize("settings", SETTINGS, ids=["dop853", "rk4"])
def test_joints_take_over_from_a_limit_that_would_have_to_pull(settings):
    """The force 2 t − 3 pushes a slider on its limit, then pulls it off against 1 N of six others: x = (t − 2)³/6.

    It comes to the limit at 1 m/s, so that friction first holds against the force."""
    b = kp.Builder("sliders", gravity=(0, 0, 0)).link("A", mass=1.0)
    b.joint("a", "prismatic", "ground", "A", axis="x", lower=0.0)
    for k in range(6):
        b.link(f"B{k}", mass=1.0 / 6.0)
        b.joint(f"b{k}", "prismatic", "ground", f"B{k}", axis="x", friction=1.0 / 6.0)
        b.gear(f"rack {k}", f"b{k}", "a", 1.0)
    m = kp.build(b)

    def pull(t, q, qd):
        return np.array([2.0 * t - 3.0, *np.zeros(6)])

    run = kp.simulate(m, [0.1] * 7, [-1.0] * 7, duration=3.0, torque=pull, limits="stop", **settings)
    assert run.status.name == "done"
    sticks, slides = ([f"b{k} {word}" for k in range(6)] for word in ("sticks", "slides"))
    assert [x.name for x in run.events] == ["a at its lower limit", *sticks, *slides]
    assert run.events[-1].time == pytest.approx(2.0, abs=1e-9)
    assert run.q[-1] == pytest.approx(np.full(7, 1.0 / 6.0), abs=1e-7)


@pytest.mark.parametrize("settings", [{}, {"integrator": "dopri5"}, {"integrator": "rk4", "dt": 1e-3}])
def test_a_brake_takes_over_from_a_ratchet_that_turns_freely_backward(settings):
    """Both shafts turn as one: 2 I ω̇ = 0.1 − t + 0.5 t from t = 0.2 on, when −τ = t − 0.1 is the level of the brake."""
    b = kp.Builder("shafts", gravity=(0, 0, 0))
    ratchet = {"law": "coulomb", "level": 0.5, "level_negative": 0.0}
    for name, keys in (("a", {"friction": ratchet}), ("b", {})):
        b.link(f"w{name}", mass=1.0, inertia=[0.4] * 3)
        b.joint(name, "revolute", "ground", f"w{name}", axis="z", **keys)
    m = kp.build(b.brake("brake", "b", "0.5*t").clutch("clutch", joints=["a", "b"], level=5.0))
    run = kp.simulate(
        m, m.start(), duration=1.0, torque=lambda t, q, qd: np.array([1.0, 0.0, 0.0]) * (0.1 - t), **settings
    )
    since = np.maximum(run.time, 0.2)
    speed = (0.1 * (since - 0.2) - 0.25 * (since**2 - 0.04)) / 0.8
    assert run.status.name == "done"
    assert run.qd[:, 0] == pytest.approx(speed, abs=1e-9)
    assert run.qd[:, 1] == pytest.approx(speed, abs=1e-9)
    assert run.balance.relative < 1e-8


def test_energy_of_shafts_that_rest_is_rounding():
    """Constraints leave rates of 1e-17 in the stages of steps: efforts do no work by them."""
    b = kp.Builder("shafts", gravity=(0, 0, 0))
    for k in range(3):
        b.link(f"w{k}", mass=1.0, inertia=[0.3 + 0.1 * k] * 3)
        b.joint(f"a{k}", "revolute", "ground", f"w{k}", axis="z", **({"friction": 4.0} if k == 0 else {}))
    b.clutch("c0", joints=["a0", "a1"], level=5.0).clutch("c1", joints=["a1", "a2"], level=3.0)
    m = kp.build(b)
    run = kp.simulate(m, m.start(), duration=1.0, torque=[0.7, -1.1, 1.3, 0.0, 0.0])
    assert run.status.name == "done"
    assert np.abs(run.qd).max() < 1e-15
    assert run.balance.relative == 0.0
