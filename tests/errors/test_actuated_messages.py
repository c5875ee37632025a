"""Closed mechanisms that do not specify their actuated joints: every message, word for word."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main

HEAD = "no joint of this closed mechanism has an actuator or actuated = true; add them to the description, or choose: "


@cache
def unspecified(name: str) -> kp.Mechanism:
    """A bundled mechanism without what its file says about actuated joints."""
    parts = kp.example(name).model.description
    return kp.build(replace(parts, joints=tuple(replace(x, actuated=None) for x in parts.joints)))


CALLS = {
    "inverse_dynamics(q, qd, qdd, actuators={})": lambda m, *state: m.inverse_dynamics(*state),
    "inverse_dynamics_derivatives(q, qd, qdd, actuators={})": lambda m, *state: (
        m.inverse_dynamics_derivatives(*state)
    ),
    "regressor(q, qd, qdd, actuators={})": lambda m, *state: m.regressor(*state),
    "reactions(q, qd, qdd, actuators={})": lambda m, *state: m.reactions(*state),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_mechanism_without_actuated_joints_lists_choices(call):
    m = unspecified("five-bar")
    with pytest.raises(kp.ActuatorsError) as caught:
        CALLS[call](m, m.start(), np.zeros(4), m.accelerations(m.start(), np.zeros(4), {"left-crank": 1.0}))
    cranks, rods = call.format('["left-crank", "right-crank"]'), call.format('["left-rod", "right-rod"]')
    every = call.format('"all"')
    assert str(caught.value) == f"five-bar: {HEAD}{cranks} or {rods}; {every} acts on every joint"
    assert caught.value.parts["choices"] == (("left-crank", "right-crank"), ("left-rod", "right-rod"))


@pytest.mark.parametrize("plan", [kp.motion.nominal, kp.motion.inputs])
def test_motions_of_a_closed_mechanism_list_choices(plan):
    m = unspecified("slider-crank")
    with pytest.raises(kp.ActuatorsError) as caught:
        plan(m, kp.motion.cycloid(m.start(), m.start(), 1.0))
    call = "kp.motion.nominal(m, motion, actuators={})"
    crank, piston, rod = (call.format(f'["{name}"]') for name in ("crank", "piston", "rod"))
    every = call.format('"all"')
    assert str(caught.value) == f"slider-crank: {HEAD}{crank}, {piston} or {rod}; {every} acts on every joint"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "linkage.toml"
    kp.write_toml(unspecified("slider-crank").model.description, path)
    return str(path)


CHOICES = "--actuators crank, --actuators piston or --actuators rod"
OPTIONS = f"slider-crank: {HEAD}{CHOICES}; --actuators all acts on every joint"


def test_the_command_nominal_lists_options(file, capsys):
    assert main(["nominal", file, "--to", "crank=1"]) == 2
    assert capsys.readouterr().err == f"kinpair: {OPTIONS}\n"
    assert main(["nominal", file, "--to", "crank=1", "--actuators", "all"]) == 0


def test_the_command_dynamics_lists_options_in_the_place_of_efforts(file, capsys):
    assert main(["dynamics", file]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(f"none: {OPTIONS}") == 2  # efforts and reactions
    assert "Forward dynamics" in shown
    assert main(["dynamics", file, "--actuators", "crank"]) == 0
    assert "the least efforts of crank" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["four-bar", "delta", "stewart", "three-rrr", "diff-drive", "bicycle", "gripper"]
)
def test_every_choice_makes_every_motion(name):
    m = unspecified(name).reference
    q = m.assemble(m.start() + 0.03 * np.random.default_rng(3).normal(size=m.nq))
    qd = m.velocities(q, guess=np.sin(np.arange(m.nv)))
    qdd = m.accelerations(q, qd, guess=np.cos(np.arange(m.nv)))
    with pytest.raises(kp.ActuatorsError) as caught:
        m.actuated(q)
    choices = caught.value.parts["choices"]
    assert 1 <= len(choices) <= 3
    for choice in choices:
        tau = m.inverse_dynamics(q, qd, qdd, actuators=choice)
        assert np.abs(m.forward_dynamics(q, qd, tau) - qdd).max() < 1e-8 * (1.0 + np.abs(qdd).max())
        assert np.count_nonzero(tau) <= m.mobility(q).freedom
