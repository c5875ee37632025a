"""A rod hinged to a slider in a rail: with much friction it may stay at rest, or begin to slide (Painlevé)."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import kinpair as kp
from kinpair.friction.loads import contraction, tree
from kinpair.friction.phases import classes
from kinpair.friction.phases.resting import sliding_system
from kinpair.friction.surfaces.table import surfaces_of
from load_friction_family import mechanism, states

MU = 2.5
Q, QD, TAU = np.array([0.0, -0.812]), np.array([0.0, 0.56]), np.array([-8.287, 0.0])


@cache
def rod(mu: float = MU) -> kp.Mechanism:
    b = kp.Builder("rod").link("slider", mass=0.05, inertia=(1e-5, 1e-5, 1e-5))
    b.link("rod", mass=1.0, com=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
    rail = {"law": "guide", "mu": mu, "length": 0.2, "width": 0.2}
    b.joint("rail", "prismatic", "ground", "slider", axis="x", friction=rail)
    b.joint("hinge", "revolute", "slider", "rod", axis="y")
    return kp.build(b).reference


def test_all_solutions_are_listed_and_each_obeys_coulomb():
    """By another road: the reaction of each motion, and what it asks for beyond the efforts."""
    found = rod().friction_solutions(Q, QD, TAU)
    assert found.kind == "several"
    assert not found.proved
    assert found.joints == ("rail",)
    assert found.sticks == (("rail",), (), ())
    for qdd, sticks in zip(found.accelerations, found.sticks, strict=True):
        needed = (rod().inverse_dynamics(Q, QD, qdd, passive=False) - TAU)[0]
        w = rod().reactions(Q, QD, qdd)["rail"]
        N = abs(w[5])  # the hinge is at the middle of the guide: it carries a force alone
        if sticks:
            assert qdd[0] == pytest.approx(0.0, abs=1e-12)
            assert abs(needed) <= MU * N
        else:
            assert needed == pytest.approx(-MU * N * np.sign(qdd[0]), rel=1e-9)


def test_forward_dynamics_says_that_it_chose():
    with pytest.warns(kp.FrictionWarning, match="friction has 3 solutions, which differ at joint 'rail'"):
        qdd = rod().forward_dynamics(Q, QD, TAU)
    assert qdd == pytest.approx(rod().friction_solutions(Q, QD, TAU).accelerations[0], rel=1e-12)
    with pytest.warns(kp.FrictionWarning, match=r"\(state 0 of the batch\) \(3 such states\)"):
        batch = rod().forward_dynamics(Q, np.array([[-1.0, 0.56], QD, QD]), TAU)
    assert batch[1:] == pytest.approx(np.array([qdd, qdd]), rel=1e-12)


def test_there_is_one_solution_below_the_coefficient_that_is_named():
    part = rod().friction_solutions(Q, QD, TAU).part
    below, above = (rod(MU * part * (1 + way)).friction_solutions(Q, QD, TAU) for way in (-1e-5, 1e-5))
    assert (below.kind, above.kind) == ("one", "several")
    assert np.isnan(below.part)


def test_little_friction_leaves_one_solution_and_proves_it():
    found = rod(0.1).friction_solutions(Q, QD, TAU)
    assert (found.kind, found.proved) == ("one", True)
    assert found.accelerations[0] == pytest.approx(rod(0.1).forward_dynamics(Q, QD, TAU), rel=1e-12)


def test_a_loop_at_rest_shares_what_holds_it():
    """One motion, none; by forces that the three hinges of a loop share out in many ways."""
    law = {"law": "bearing", "mu": 0.3, "radius": 0.05, "thrust_radius": 0.0, "length": 0.1}
    b = kp.Builder("loop")
    for name, mass in (("a", 1.0), ("b", 2.0), ("c", 1.5)):
        b.link(name, mass=mass, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.joint("p", "revolute", "ground", "a", axis="y", friction=law)
    b.joint("q", "universal", "a", "b", xyz=(0.1, 0, 0), axis="y", axis2="z")
    b.joint("r", "revolute", "ground", "c", xyz=(0.3, 0, 0), axis="y", friction=law)
    b.loop("s", "spherical", "c", "b", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0))
    m = kp.build(b).reference
    q = m.assemble([0.7, 0.0, 0.0, 1.2])
    still = np.zeros(4)
    hold = m.inverse_dynamics(q, still, still, passive=False, actuators=["p"])
    found = m.friction_solutions(q, still, 0.9 * hold)
    assert found.kind == "shared"
    assert np.abs(found.accelerations).max() < 1e-9
    assert set(found.joints) == {"p", "r"}
    assert m.forward_dynamics(q, still, 0.9 * hold) == pytest.approx(still, abs=1e-12)
    assert set(m.friction(q, still, 0.9 * hold)) == {"p", "r"}


def test_a_joint_near_a_dead_centre_rubs_while_it_slides():
    """It hardly moves, and no force on it moves the rest; its friction is not zero for that."""
    m = mechanism("four-bar", 2, compiled=False)
    q = m.assemble([0.4873631638822121, -5.939785162466198e-06, 0.20418566524676002, 1.4525697698601523])
    qd, tau = m.velocities(q, {"a": -0.7933243409745203}), np.array([0.8627018844683539, 0, 0, 0])
    found = m.friction_solutions(q, qd, tau)
    assert (found.kind, found.proved) == ("one", True)
    assert found.accelerations[0] == pytest.approx(m.forward_dynamics(q, qd, tau), rel=1e-9, abs=1e-9)


# While every surface slides.


@pytest.mark.parametrize("name", ["stanford-arm", "five-bar"])
def test_compiled_code_and_floats_prove_the_same_states_to_have_one_solution(name):
    m = mechanism(name, 0, compiled=False)
    verdicts = []
    for one in zip(*states(m, name, 0, "sliding", 12), strict=True):
        loads, request, arguments = m._friction.load_state(one, 0.0, {})
        x, joints = loads.terms(request, arguments)
        slips, _ = loads._now(one[1])
        D = np.array([G.T @ (slip.mu * slip.u) for G, slip in zip(loads.G, slips, strict=True)])
        system = sliding_system(x, loads.surfaces, slips, joints, D)
        verdicts.append(bool(contraction.proved(system)))
        assert verdicts[-1] == classes.is_unique(loads.resting(request, arguments))
    assert (name == "five-bar") == all(verdicts)  # the guide of the other is short


def test_forward_dynamics_says_that_it_chose_while_all_joints_slide():
    m = mechanism("stanford-arm", 0, compiled=False)
    q, qd, tau = (x[8] for x in states(m, "stanford-arm", 0, "sliding", 150))
    every = m.friction_solutions(q, qd, tau)
    assert every.kind == "several"
    begins = r": from mu = 0\.126171 of 'joint1' on, 0\.660275 of what is given\. Taken is the one that continues from "
    with pytest.warns(kp.FrictionWarning, match=begins):
        qdd = m.forward_dynamics(q, qd, tau)
    assert min(np.abs(every.accelerations - qdd).max(1)) <= 1e-9 * np.abs(qdd).max()
    with pytest.warns(kp.FrictionWarning, match=begins):
        m.forward_dynamics(q, qd, tau)


def test_an_arm_with_bearings_alone_is_not_asked():
    assert not contraction.needs_proof(surfaces_of(kp.example("bearing-arm").model))
    assert contraction.needs_proof(surfaces_of(kp.example("cylindrical-arm").model))


def test_derivatives_warn_once_of_several_motions():
    m = mechanism("stanford-arm", 0, compiled=False)
    q, qd, tau = (x[8] for x in states(m, "stanford-arm", 0, "sliding", 150))
    with pytest.warns(kp.FrictionWarning) as told:
        m.forward_dynamics_derivatives(q, qd, tau)
    assert len(told) == 1


def test_the_sign_of_a_determinant_does_not_underflow():
    """Of 90 rates with inertia 1e-4: the product of the pivots is no float."""
    n = 90
    x = tree.Equations(1e-4 * np.eye(n), None, np.zeros(n), [np.eye(n)[0]], [[0.0]], [[np.zeros(n)]])
    bare = SimpleNamespace(slopes=lambda *_: [0.0], feels_force=False)
    own = SimpleNamespace(surfaces=[bare], slips=[SimpleNamespace(force=lambda N: N)], joints=[None])
    assert tree._slopes(x, own, [[0.0]], np.ones(1)).orientation == 1.0
