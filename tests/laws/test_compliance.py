"""Compliances share out what redundant constraints carry against each other, and friction from load follows.

By hand: supports in a row, in the inverse ratio of their compliances. By a second road: the same door on springs, whose
loads tend to these as the springs stiffen. Friction in a four-bar with hinges all round is that of the one closed by a
sleeve and no redundant row, where nothing pushes across its plane.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints import quantities as constrained
from kinpair.model.state import State

BEARING = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.03, "length": 0.1}
BALL = {"law": "bearing", "mu": 0.1, "radius": 0.02}
MASS, ARM, GRAVITY = 12.0, 0.4, 9.81
HEIGHTS = (0.0, 0.7, 2.0)
WEIGHT = MASS * GRAVITY
STILL = np.zeros(1)


def door(*compliance: Any, kind: str = "revolute", **friction: Any) -> kp.Mechanism:
    """On two hinges one above the other; one rubs."""
    b = kp.Builder("door").link("door", mass=MASS, com=(ARM, 0, 1.0), inertia=(4.2, 4.9, 0.7))
    first, second = [{} if x is None else {"compliance": x} for x in compliance]
    b.joint("lower", kind, "ground", "door", axis="z", friction=friction or None, **first)
    b.loop("upper", kind, "ground", "door", xyz=(0, 0, 2), child_xyz=(0, 0, 2), axis="z", **second)
    return kp.build(b)


@pytest.mark.parametrize(("lower", "upper"), [(1e-6, 1e-6), (1e-6, 3e-6), (5e-3, 1e-3)])
def test_two_hinges_carry_the_weight_in_the_inverse_ratio_of_their_compliances(lower, upper):
    m = door(lower, upper).reference
    w = m.reactions(STILL, STILL, STILL)
    assert w.unique
    np.testing.assert_allclose(w["lower"][5], WEIGHT * upper / (lower + upper), rtol=1e-12)
    np.testing.assert_allclose(w["upper"][5], WEIGHT * lower / (lower + upper), rtol=1e-12)
    forces = m.constraint_forces(STILL, STILL, STILL)
    assert forces.unique
    np.testing.assert_allclose(forces.multipliers["upper.z"], w["upper"][5], rtol=1e-12)


def beam(compliance: tuple[float, ...]) -> kp.Mechanism:
    """A door that hangs on balls one above the other."""
    b = kp.Builder("beam").link("door", mass=MASS, com=(ARM, 0, 1.0), inertia=(4.2, 4.9, 0.7))
    b.joint("ball 0", "spherical", "ground", "door", compliance=[0, 0, 0, *[compliance[0]] * 3])
    for k, (height, c) in enumerate(zip(HEIGHTS[1:], compliance[1:], strict=True), start=1):
        at = (0, 0, height)
        b.loop(
            f"ball {k}", "spherical", "ground", "door", xyz=at, child_xyz=at, compliance=[0, 0, 0, c, c, c]
        )
    return kp.build(b)


@pytest.mark.parametrize("compliance", [(1.0, 1.0, 1.0), (1e-6, 2e-6, 5e-7)])
def test_three_supports_carry_a_moment_as_a_rigid_beam_on_springs(compliance):
    m = beam(compliance).reference
    q, still = m.neutral(), np.zeros(3)
    w = m.reactions(q, still, still)
    assert w.unique
    k, z = 1.0 / np.array(compliance), np.array(HEIGHTS)
    middle = k @ z / k.sum()
    across = -WEIGHT * ARM * k * (z - middle) / (k @ (z - middle) ** 2)
    found = np.array([w[f"ball {n}"] for n in range(3)])
    np.testing.assert_allclose(found[:, 3], across, rtol=1e-11)
    np.testing.assert_allclose(found[:, 5], WEIGHT * k / k.sum(), rtol=1e-11)


def test_only_the_ratios_of_compliances_count():
    rubs = [door(c, 3 * c, **BEARING).reference for c in (1e-9, 1.0)]
    one, other = (m.forward_dynamics(STILL, [1.0], STILL) for m in rubs)
    np.testing.assert_allclose(one, other, rtol=1e-13)


def test_a_loaded_hinge_runs_down_by_its_share_of_the_weight():
    lower, upper, rate, mu = 1e-6, 4e-6, 2.0, 0.1
    b = kp.Builder("spindle").link("disk", mass=MASS, com=(0, 0, 1.0), inertia=(1, 1, 0.7))
    b.joint("lower", "revolute", "ground", "disk", axis="z", friction=BEARING, compliance=lower)
    b.loop("upper", "revolute", "ground", "disk", xyz=(0, 0, 2), child_xyz=(0, 0, 2), compliance=upper)
    m = kp.build(b)
    slows = mu * BEARING["thrust_radius"] * WEIGHT * upper / (lower + upper) / 0.7
    np.testing.assert_allclose(m.forward_dynamics(STILL, [rate], STILL), [-slows], rtol=1e-12)
    np.testing.assert_allclose(
        m.inverse_dynamics(STILL, [rate], [-slows], actuators=["lower"]), [0.0], atol=1e-12
    )
    assert m.friction(STILL, [0.0], STILL)["lower"].sticks
    run = kp.simulate(m, [0.0], [rate], duration=6.0, integrator="rk4", dt=0.05)
    assert [event.name for event in run.events] == ["lower sticks"]
    np.testing.assert_allclose(run.events[0].time, rate / slows, rtol=1e-9)
    np.testing.assert_allclose(run.q[-1], [0.5 * rate**2 / slows], rtol=1e-9)
    np.testing.assert_allclose(run.reactions["upper"][:, 5], WEIGHT * lower / (lower + upper), rtol=1e-12)


# The same on springs.

LOWER, UPPER, MIDDLE = (4e-4, 3e-4, 0, 1e-3, 2e-3, 1.5e-3), 2e-3, 7e-4  # times 1/k


def sprung(k: float) -> kp.Mechanism:
    """A door whose lower hinge stands on springs along and about the axes, and which two more springs hold."""
    b = kp.Builder("sprung")
    for name in ("sx", "sy", "sz", "rx", "ry"):
        b.link(name)
    b.link("door", mass=MASS, com=(ARM, 0.05, 1.0), inertia=(4.2, 4.9, 0.7))
    rows = zip(("sx", "sy", "sz", "rx", "ry"), "xyzxy", (3, 4, 5, 0, 1), strict=True)
    last = "ground"
    for name, axis, n in rows:
        kind = "prismatic" if n > 2 else "revolute"
        b.joint(f"j{name}", kind, last, name, axis=axis, stiffness=k / LOWER[n], rest=0.0)
        last = name
    b.joint("hinge", "revolute", last, "door", axis="z", friction=BEARING)
    for name, z, c in (("upper", 2.0, UPPER), ("middle", 0.7, MIDDLE)):
        own = {"xyz": (0, 0, z), "child_xyz": (0, 0, z), "stiffness": k / c, "rest_length": 0.0}
        b.spring(name, "ground", "door", **own)
    return kp.build(b).reference


@cache
def rigid() -> kp.Mechanism:
    b = kp.Builder("rigid").link("door", mass=MASS, com=(ARM, 0.05, 1.0), inertia=(4.2, 4.9, 0.7))
    b.joint("hinge", "revolute", "ground", "door", axis="z", friction=BEARING, compliance=LOWER)
    for name, z, c in (("upper", 2.0, UPPER), ("middle", 0.7, MIDDLE)):
        at = (0, 0, z)
        own = [0, 0, 0, c, c, c]
        b.loop(name, "spherical", "ground", "door", xyz=at, child_xyz=at, compliance=own)
    return kp.build(b).reference


def on_springs(k: float, turned: float, rate: float, effort: float) -> tuple[float, float]:
    """Acceleration and load of the hinge where the springs have settled: their accelerations are zero."""
    m = sprung(k)
    qd, tau = np.array([0, 0, 0, 0, 0, rate]), np.array([0, 0, 0, 0, 0, effort])

    def moved(x: np.ndarray) -> np.ndarray:
        return np.asarray(m.forward_dynamics(np.array([*x, turned]), qd, tau))

    x = 1e-3 * np.ones(5) / k  # springs of length zero have no direction
    for _ in range(4):
        steps = 1e-2 / k * np.eye(5)
        J = np.array([(moved(x + h) - moved(x - h))[:5] / (2e-2 / k) for h in steps]).T
        x = x - np.linalg.solve(J, moved(x)[:5])
    q = np.array([*x, turned])
    return float(moved(x)[5]), m.friction(q, qd, tau)["hinge"].load


def test_springs_that_stiffen_tend_to_the_shares_of_rigid_supports():
    turned, rate, effort = 0.4, 2.0, 1.5
    m = rigid()
    q, qd, tau = np.array([turned]), np.array([rate]), np.array([effort])
    exact = np.array([m.forward_dynamics(q, qd, tau)[0], m.friction(q, qd, tau)["hinge"].load])
    off = [np.abs(on_springs(k, turned, rate, effort) - exact) / np.abs(exact) for k in (1e3, 1e4)]
    np.testing.assert_allclose(off[0] / off[1], 10.0, rtol=0.05)  # first order in 1/k
    assert (off[1] < 1e-4).all()


# Four hinges in a plane.


def four_bar(kind: str, compliance: float | None) -> kp.Mechanism:
    own: dict[str, Any] = {} if compliance is None else {"compliance": compliance}
    b = kp.Builder("loop").link("a", mass=1, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.link("b", mass=1, com=(0.15, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.link("c", mass=1, com=(0.1, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.joint("p", "revolute", "ground", "a", axis="y", friction=BEARING, **own)
    b.joint("q", "revolute", "a", "b", xyz=(0.1, 0, 0), axis="y", friction=BEARING, **own)
    b.joint("r", "revolute", "ground", "c", xyz=(0.3, 0, 0), axis="y", friction=BEARING, **own)
    places = {"xyz": (0.2, 0, 0), "child_xyz": (0.3, 0, 0)}
    if kind == "plane":  # a point of b on an axis of c: two rows, and none too many
        return kp.build(b.surface("s", "b", parent="c", formulas=["x", "z"], **places))
    return kp.build(b.loop("s", kind, "c", "b", axis="y", **places, **own))


@cache
def hinged() -> kp.Mechanism:
    return four_bar("revolute", 1e-6)


def states(m: kp.Mechanism, count: int = 4) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    rng, found = np.random.default_rng(5), []
    for turned in np.linspace(0.3, 5.5, count):
        q = m.assemble([turned, -0.3, 1.2])
        found.append((q, m.velocities(q, {"p": rng.uniform(1, 5)}), rng.uniform(-1, 1, 3)))
    return found


def test_hinges_all_round_rub_like_a_loop_without_redundant_rows():
    m, plane = hinged(), four_bar("plane", None).reference
    assert len(m.mobility(m.start()).redundant) == 3
    for q, qd, tau in states(m):
        exact = plane.forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(m.forward_dynamics(q, qd, tau), exact, rtol=1e-9, atol=1e-9)


def pushed() -> dict[str, Any]:
    return {"external": {"b": np.array([0.3, 0, 0.2, 0, 8.0, 0])}}  # across the plane


def test_compiled_code_the_reference_and_both_roads_to_the_forces_agree():
    m = hinged()
    q, qd, tau = (np.array(x) for x in zip(*states(m), strict=True))
    load = {"external": {"b": np.tile([0.3, 0, 0.2, 0, 8.0, 0], (len(q), 1))}}
    qdd = m.forward_dynamics(q, qd, tau, **load)
    w, forces = m.reactions(q, qd, qdd, tau=tau, **load), m.constraint_forces(q, qd, tau, **load)
    assert w.unique
    assert forces.unique
    for k in range(len(q)):
        one = pushed()
        exact = m.reference.forward_dynamics(q[k], qd[k], tau[k], **one)
        np.testing.assert_allclose(qdd[k], exact, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(forces.qdd[k], exact, rtol=1e-9, atol=1e-9)
        own = m.reactions(q[k], qd[k], exact, tau=tau[k], axes="world", **one)["s"]
        np.testing.assert_allclose(forces.wrenches["s"][k], own, rtol=1e-8, atol=1e-8)
        rubs = m.friction(q[k], qd[k], tau[k], **one)
        assert rubs["p"].load > 10.0  # N: what is shared loads the bearings
        np.testing.assert_allclose(w["p"][k][1], tau[k][0] + rubs["p"].effort, rtol=1e-8)
        back = m.inverse_dynamics(q[k], qd[k], exact, actuators=("p",), **one)
        again = m.forward_dynamics(q[k], qd[k], back, **one)
        np.testing.assert_allclose(again, exact, rtol=1e-8, atol=1e-8)


def test_the_energy_of_the_shares_is_least_among_loads_that_balance():
    m = hinged()
    rng = np.random.default_rng(3)
    for q, qd, tau in states(m, 2):
        qdd = m.forward_dynamics(q, qd, tau, **pushed())
        w = np.array(list(m.reactions(q, qd, qdd, tau=tau, **pushed()).values()))
        other = stresses(m, q)
        for z in rng.normal(size=(4, other.shape[1])):
            more = w + (other @ z).reshape(w.shape)
            off = (
                np.delete(more, [1], axis=1),
                np.delete(w, [1], axis=1),
            )  # the hinge yields to no moment about itself
            assert (off[0] ** 2).sum() > (off[1] ** 2).sum()


def stresses(m: kp.Mechanism, q: np.ndarray) -> np.ndarray:
    """Loads that other compliances would put on joints and loop beyond these: all of them balance (…, any)."""
    still = np.zeros(3)
    load = {"actuators": ["p"], **pushed()}
    own = m.reactions(q, still, still, **load)
    others = [m.reactions(q, still, still, compliance={name: 1e-3}, **load) for name in own]
    return np.array([np.concatenate([x[name] - own[name] for name in own]) for x in others]).T


def test_compliance_leaves_a_motion_without_friction_as_it_is():
    m = hinged()
    free = four_bar("revolute", None)
    for q, qd, tau in states(m):
        one = m.forward_dynamics(q, qd, tau, passive=False)
        np.testing.assert_array_equal(one, free.forward_dynamics(q, qd, tau, passive=False))


def test_events_see_the_shared_forces_and_energy_closes():
    m, rate = door(1e-6, 3e-6, **BEARING), np.array([3.0])
    fast, slow = (
        m.constraint_forces(STILL, x, STILL).multipliers["upper.x"] for x in (rate, np.array([2.0]))
    )
    half = 0.5 * (fast + slow)
    passes = kp.Event("passes", lambda time, q, qd, forces: forces["upper.x"] - half)
    run = kp.simulate(m, [0.0], rate, duration=2.0, events=[passes])
    event = next(x for x in run.events if x.name == "passes")
    found = m.constraint_forces(event.q, event.qd, STILL).multipliers["upper.x"]
    np.testing.assert_allclose(found, half, rtol=1e-8)
    stored = run.energy.kinetic + run.energy.potential
    np.testing.assert_allclose(stored + run.loss, stored[0], rtol=1e-8)


def test_derivatives_see_the_shares():
    m = hinged().reference
    q, qd, tau = states(m, 1)[0]
    found = m.forward_dynamics_derivatives(q, qd, tau, **pushed())
    h = 1e-6
    columns = [
        (
            m.forward_dynamics(q, qd + h * e, tau, **pushed())
            - m.forward_dynamics(q, qd - h * e, tau, **pushed())
        )
        / (2 * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(found.qd, np.array(columns).T, rtol=1e-6, atol=1e-6)


# Rows of which it depends on the position which are redundant.


@cache
def bennett() -> kp.Mechanism:
    d = kp.example("bennett").model.description
    own = {"compliance": (1e-6,)}
    law = {"law": "bearing", "mu": 0.1, "radius": 0.01, "thrust_radius": 0.01, "length": 0.05}
    b = kp.Builder("law").link("x").joint("j", "revolute", "ground", "x", friction=law).description()
    joints = tuple(replace(x, friction=b.joints[0].friction, **own) for x in d.joints)
    loops = tuple(replace(x, **own) for x in d.constraints)
    return kp.build(replace(d, joints=joints, constraints=loops)).reference


def test_rows_of_any_rank_share_loads_like_chosen_ones():
    """Runs keep all rows of such a linkage, each with a slack of its own; states choose independent ones."""
    m = bennett()
    q = m.start()
    qd, tau = m.velocities(q, {"q1": 2.0}), np.array([0.1, 0, 0])
    exact = m.forward_dynamics(q, qd, tau)
    assert np.abs(exact - m.forward_dynamics(q, qd, tau, passive=False)).max() > 1.0
    closure, state = m.closure, State(q, qd, tau=tau, time=0.0)
    every = tuple(range(len(closure.row_names)))
    request = replace(closure.requests.checked(q, 0.0, "multipliers", {}), kept=every)
    found = constrained.solve(m.model, request, state, {}, mu=[1e-4] * len(every))
    np.testing.assert_allclose(found.qdd, exact, rtol=1e-8)
