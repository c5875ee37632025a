"""Joints that are at rest because nothing pulls at them stay at rest: rounding is not motion."""

from __future__ import annotations

import pytest

import kinpair as kp

G = 9.81


def sledges() -> kp.Mechanism:
    """A sledge on the floor (mu 0.1) and one on top of it (mu 0.3), both in guides."""
    b = kp.Builder("sledges", gravity=(0, 0, -G))
    for name, parent, mass, mu in (("lower", "ground", 3.0, 0.1), ("upper", "lower", 2.0, 0.3)):
        b = b.link(name, mass=mass, inertia=(0.06, 0.05, 0.1))
        friction = {"law": "guide", "mu": mu, "length": 0.3, "width": 0.4}
        b = b.joint(name, "prismatic", parent, name, axis="x", friction=friction)
    return kp.build(b)


def rotors() -> kp.Mechanism:
    """A shaft that turns freely, and a rotor on it in a bearing that carries its weight."""
    b = kp.Builder("rotors", gravity=(0, -G, 0))
    b = b.link("shaft", mass=3.0, inertia=(0.1, 0.1, 0.2))
    b = b.link("rotor", mass=2.0, inertia=(0.2, 0.2, 0.3))
    b = b.joint("shaft", "revolute", "ground", "shaft", axis="z")
    friction = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.0, "length": 0.2}
    b = b.joint("rotor", "revolute", "shaft", "rotor", axis="z", friction=friction)
    return kp.build(b)


SETTINGS = [{"integrator": "dop853"}, {"integrator": "dopri5"}, {"integrator": "rk4", "dt": 1e-3}]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda x: x["integrator"])
def test_a_sledge_on_a_sledge_that_slows_down_stays_in_its_place(settings):
    """v − μ g t: it stops after 1/(0.1 g) s and 1/(0.2 g) m, and carries the upper one along."""
    run = kp.simulate(sledges(), [0, 0], [1, 0], duration=2.0, **settings)
    assert run.status.name == "done"
    assert [(x.name, x.time) for x in run.events] == [
        ("lower sticks", pytest.approx(1 / (0.1 * G), abs=1e-7))
    ]
    assert run.q[-1] == pytest.approx([1 / (0.2 * G), 0.0], abs=1e-7)
    assert run.qd[-1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda x: x["integrator"])
def test_a_balanced_rotor_turns_with_its_shaft(settings):
    run = kp.simulate(rotors(), [0, 0], [3, 0], duration=1.0, **settings)
    assert run.status.name == "done"
    assert not run.events
    assert run.q[-1] == pytest.approx([3.0, 0.0], abs=1e-9)
    assert run.qd[-1] == pytest.approx([3.0, 0.0], abs=1e-9)
