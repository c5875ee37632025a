"""Joints that are at rest because nothing pulls at them stay at rest: rounding is not motion."""

from __future__ import annotations

import numpy as np
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


def test_shafts_at_rest_beside_an_open_clutch_stay_at_rest():
    """A clutch that slides pulls at a braked shaft; an open clutch and an idle shaft behind have rounding alone."""
    b = kp.Builder("shafts", gravity=(0, 0, 0))
    for k in range(4):
        b.link(f"w{k}", mass=1.0, inertia=[1.0] * 3).joint(f"a{k}", "revolute", "ground", f"w{k}", axis="z")
    b.brake("held", "a1", 1.6).brake("off", "a3", "0*t")
    b.clutch("c0", joints=["a0", "a1"], level=0.6).clutch("c1", joints=["a1", "a2"], level=1.2)
    m = kp.build(b.clutch("c2", joints=["a2", "a3"], level="0*t"))
    rates = {"a0": 0.0, "a1": 0.0, "a2": -1.2, "a3": 0.0}
    run = kp.simulate(m, m.start(), m.velocities(m.start(), rates), duration=2.0)
    slowed = run.qd[:, m.v_names.index("a2")]
    assert run.status.name == "done"
    assert slowed == pytest.approx(np.minimum(-1.2 + 1.2 * run.time, 0.0), abs=1e-12)
    still = [m.v_names.index(x) for x in ("a0", "a1", "a3", "c0")]
    assert np.abs(run.qd[:, still]).max() < 1e-12


def test_small_forces_next_to_a_preloaded_joint_move_what_they_pull():
    """I ω̇ = η τ for a torque that begins at zero: a level that does not act is no scale of rounding."""
    b = kp.Builder("pair", gravity=(0, 0, 0))
    b.link("slide", mass=2.0, inertia=[0.1] * 3).link("disc", mass=1.0, inertia=[0.5] * 3)
    b.joint(
        "x", "prismatic", "ground", "slide", axis="y", friction={"law": "gear", "mu": 0.2, "preload": 1e3}
    )
    b.joint("w", "revolute", "slide", "disc", axis="y", friction={"law": "gear", "efficiency": 0.8})
    run = kp.simulate(
        kp.build(b),
        [0.0] * 2,
        [0.0] * 2,
        duration=1.0,
        torque=lambda t, q, qd: np.array([0.0, 1.0]) * t + 0.0 * q,
    )
    assert run.status.name == "done"
    assert run.qd[:, 1] == pytest.approx(0.8 * run.time**2 / 2.0 / 0.5, abs=1e-9)


def slider_crank(crank: object, slide: object, pin: object) -> kp.Mechanism:
    """A slider crank in its dead centre, where the slide has no rate."""
    b = kp.Builder("engine", gravity=(0, 0, 0))
    for name, com in (("crank", 0.025), ("rod", 0.075), ("piston", 0.0)):
        b.link(name, mass=0.5, com=(com, 0, 0), inertia=[1e-3] * 3)
    b.joint("crank", "revolute", "ground", "crank", friction=crank)
    b.joint("rod", "revolute", "crank", "rod", xyz=[0.05, 0, 0])
    b.joint("slide", "prismatic", "ground", "piston", axis="x", start=0.2, friction=slide)
    return kp.build(b.loop("pin", "pin", "rod", "piston", xyz=[0.15, 0, 0], friction=pin))


BEARING = {"law": "bearing", "mu": 0.15, "radius": 0.01, "thrust_radius": 0.0, "length": 0.05}


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda x: x["integrator"])
def test_a_crank_leaves_its_dead_centre_whatever_rubs_at_the_slide(settings):
    """There friction of the slide has no effect and presses on no pin: the crank leaves rest at its own level."""
    fading = {"exponent": 2.0, "stribeck_speed": 0.2}
    crank = {"law": "stribeck", "level": 0.02, "level_static": 0.03, "viscous": 0.01, **fading}
    pin = BEARING | {"mu_static": 0.2, "stribeck_speed": 0.02, "exponent": 2.0}
    m = slider_crank(crank, {"law": "coulomb", "level": "0.3*(1 + sin(3*t))"}, pin)
    efforts = dict(zip(m.v_names, [-0.0030, 0.0269, -0.0406, -0.0067], strict=True))
    push = np.array([efforts[x] for x in m.v_names])
    run = kp.simulate(m, m.start(), duration=1.0, torque=lambda t, q, qd: push * np.sin(3.0 * t), **settings)
    assert run.status.name == "done"
    assert run.balance.relative < 1e-8


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda x: x["integrator"])
@pytest.mark.parametrize("crank", [BEARING, 0.01])
def test_a_linkage_without_forces_rests_where_friction_has_stopped_it(crank, settings):
    """Behind the stop every load is rounding, and no motion begins by it."""
    m = slider_crank(crank, 0.0, 0.02)
    q = m.assemble({"crank": 0.7})
    run = kp.simulate(m, q, m.velocities(q, {"crank": 2.0}), duration=1.0, **settings)
    assert run.status.name == "done"
    assert run.qd[-1] == pytest.approx(np.zeros(m.nv), abs=1e-15)
    assert sum("sticks" in x.name for x in run.events) == 2
