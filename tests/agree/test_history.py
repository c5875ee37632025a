"""The mechanisms of examples/30_history.py: every formulation agrees on them."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations.catalogue import FORMULATIONS

HISTORY = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "30_history.py"))
EXACT = 1e-9


def near(found, expected) -> None:
    assert np.abs(found - expected).max() <= EXACT * max(1.0, np.abs(expected).max())


def reference(name: str, **options) -> kp.Mechanism:
    return HISTORY[name](**options).reference


TREES = {
    "kahn": reference("kahn_arm"),
    "polar": reference("polar_arm", gripper=False),
    "polar with gripper": reference("polar_arm", gripper=True),
    "satellite of one-degree joints": reference("satellite").split()[0].reference,
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", TREES)
def test_every_formulation_agrees(name, seed):
    m = TREES[name]
    s = zoo.motion(m, seed=seed)
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd)
    for method in FORMULATIONS:
        near(m.inverse_dynamics(s.q, s.qd, s.qdd, method=method, force=True), tau)
        near(m.forward_dynamics(s.q, s.qd, tau, method=method, force=True), s.qdd)
    euler = kp.formulation("popov/euler")
    near(euler.inverse_dynamics(m, s.q, s.qd, s.qdd), tau)
    near(HISTORY["koronev"](m, s.q, s.qd, s.qdd), tau)


def test_a_satellite_is_the_same_with_massless_bodies_between():
    whole = reference("satellite")
    split, maps = whole.split()
    s = zoo.motion(whole, seed=3)
    tau = whole.inverse_dynamics(s.q, s.qd, s.qdd)
    state = maps.to_split(s.q, s.qd, s.qdd)
    near(split.reference.inverse_dynamics(*state), maps.efforts_to_split(state[0], tau))
    assert sum(body.m == 0.0 for body in split.model.body[1:]) == 6


@pytest.mark.parametrize("time", [0.0, 0.7])
def test_uicker_and_the_others_agree_on_a_closed_chain_with_springs_friction_and_a_field(time):
    m = reference("four_bar")
    q = m.assemble([np.pi / 3, 2.0, 2.0], fixed=["crank"])
    qd, tau = m.velocities(q, {"crank": 4.0}), np.array([0.3, 0.0, 0.0])
    acting = {"external": HISTORY["field"](m, q, time), "time": time}
    qdd = m.forward_dynamics(q, qd, tau, method="uicker", **acting)
    for method in FORMULATIONS:
        near(m.forward_dynamics(q, qd, tau, method=method, **acting), qdd)
    still = m.forward_dynamics(q, qd, tau, method="uicker")
    assert np.abs(qdd - still).max() > 0.1  # the field acts
    free = m.forward_dynamics(q, qd, tau, method="uicker", passive=False, **acting)
    assert np.abs(qdd - free).max() > 0.1  # springs and friction act


def test_field_does_the_work_of_a_change_of_gravity():
    m = reference("four_bar")
    q = m.assemble([np.pi / 3, 2.0, 2.0], fixed=["crank"])
    qd, time = m.velocities(q, {"crank": 4.0}), 0.7
    power = sum(w @ m.twists(q, qd)[link] for link, w in HISTORY["field"](m, q, time).items())
    extra = np.array([0.4 * np.sin(3 * time), 0.2 * np.cos(5 * time), 0.0])
    near(np.array([power]), np.array([m.momentum(q, qd)[3:] @ extra]))


@pytest.mark.parametrize("gripper", [False, True])
def test_energies_of_the_polar_arm(gripper):
    m = reference("polar_arm", gripper=gripper)
    printed = kp.equations(m, form="terms" if gripper else "closed")
    s = zoo.motion(m, seed=1)
    energy = m.energy(s.q, s.qd)
    assert printed.kinetic_energy.evaluate(s.q, s.qd) == pytest.approx(energy.kinetic, rel=1e-12)
    assert printed.potential_energy.evaluate(s.q, s.qd) == pytest.approx(energy.potential, rel=1e-12)


@pytest.mark.parametrize("name", ["kahn", "polar with gripper"])
def test_equations_reduced_step_by_step_give_the_accelerations(name):
    m = TREES[name]
    s = zoo.motion(m, seed=4)
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd)
    found, counts = HISTORY["ossenberg_franzes"](m, s.q, s.qd, tau)
    rates = m.twist_rates(s.q, s.qd, s.qdd)
    for k, link in enumerate(m.model.names[1:]):
        near(found[6 * k + 3 : 6 * k + 6], rates[link][:3])
    n = len(m.model.moving)
    assert counts == [
        11 * k for k in reversed(range(n))
    ]  # six accelerations and five multipliers in each step
