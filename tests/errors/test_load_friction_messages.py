"""What is said of friction from load that has no meaning, or no solution, word for word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.friction.phases.classes import Classified
from load_friction_family import CLOSED, mechanism

BEARING = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.02, "length": 0.1}
GUIDE = {"law": "guide", "mu": 0.1, "length": 0.3, "width": 0.2}
THREAD = {"law": "thread", "mu": 0.1, "radius": 0.01}


def described(friction, kind: str) -> kp.Builder:
    pitch = {"pitch": 0.01} if kind == "helical" else {}
    return (
        kp.Builder("m")
        .link("a", mass=1.0, inertia=[1, 1, 1])
        .joint("x", kind, "ground", "a", friction=friction, **pitch)
    )


@pytest.mark.parametrize(
    ("kind", "friction", "message"),
    [
        (
            "revolute",
            {**BEARING, "mu": -0.1},
            "joint 'x': friction: mu is -0.1; friction resists motion, so give zero or more",
        ),
        (
            "revolute",
            {**BEARING, "radius": -0.02},
            "joint 'x': friction: radius is -0.02; give a number above zero (at which parts slide on each other, m)",
        ),
        (
            "spherical",
            {"law": "bearing", "mu": [0.1, 0.2], "radius": 0.02},
            "joint 'x': friction: mu has 2 numbers; law 'bearing' takes one",
        ),
        (
            "revolute",
            {**BEARING, "length": 0},
            "joint 'x': friction: length is 0; a moment needs a distance to be carried over; give a number above zero "
            "(between the supports, m)",
        ),
        (
            "revolute",
            {key: x for key, x in BEARING.items() if key != "radius"},
            "joint 'x': friction: radius is missing; law 'bearing' of a revolute joint needs it "
            "(at which parts slide on each other, m)",
        ),
        (
            "revolute",
            {key: x for key, x in BEARING.items() if key != "thrust_radius"},
            "joint 'x': friction: thrust_radius is missing; law 'bearing' of a revolute joint needs it "
            "(of the collar that takes the force along the axis, m; 0 for one without friction)",
        ),
        (
            "cylindrical",
            BEARING,
            "joint 'x': friction: law 'bearing' of a cylindrical joint takes no thrust_radius; it takes radius, length",
        ),
        (
            "revolute",
            GUIDE,
            "joint 'x': friction: law 'guide' belongs to prismatic joints, and this one is revolute; "
            "laws from load for it: 'bearing', 'gear', 'servo'",
        ),
        (
            "planar",
            THREAD,
            "joint 'x': friction: law 'thread' belongs to helical joints, and this one is planar",
        ),
        (
            "prismatic",
            {**GUIDE, "mu_static": 0.05},
            "joint 'x': friction: mu_static 0.05 is below mu 0.1: leaving rest takes at least as much as sliding; "
            "give 0.1 or more, or leave mu_static out",
        ),
        (
            "prismatic",
            {**GUIDE, "stribeck_speed": 0.1},
            "joint 'x': friction: mu_static is missing; stribeck_speed needs it too "
            "(friction per load that must be overcome from rest)",
        ),
        (
            "revolute",
            {"law": "gear"},
            "joint 'x': friction: mu or efficiency is missing; law 'gear' needs one of them "
            "(friction per load while sliding; of a gear where the motor drives)",
        ),
        (
            "revolute",
            {"law": "gear", "efficiency_back": 0.5},
            "joint 'x': friction: efficiency is missing; efficiency_back needs it (of a gear where the motor drives)",
        ),
        (
            "revolute",
            {"law": "gear", "efficiency": 0.8, "mu": 0.1},
            "joint 'x': friction: efficiency and mu do not go together; give efficiencies, or mu with what belongs to "
            "it",
        ),
        (
            "revolute",
            {"law": "gear", "efficiency": 0.0},
            "joint 'x': friction: efficiency is 0; give a number above 0, up to 1 (of a gear where the motor drives)",
        ),
        (
            "revolute",
            {"law": "gear", "efficiency": 0.8, "efficiency_back": 1.2},
            "joint 'x': friction: efficiency_back is 1.2; give 1 or less (of a gear where the load drives; 0 or less: "
            "it locks)",
        ),
        (
            "revolute",
            [BEARING, {"law": "gear", "mu": 0.1}],
            "joint 'x' has 2 laws of friction from load (bearing, gear); a joint takes one",
        ),
    ],
)
def test_laws_without_meaning(kind, friction, message):
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(described(friction, kind))
    assert str(caught.value) == message


def test_a_table_without_a_coefficient():
    with pytest.raises(kp.DescriptionError) as caught:
        described({key: x for key, x in GUIDE.items() if key != "mu"}, "prismatic")
    assert str(caught.value) == (
        "joint 'x', friction: mu is missing; law 'guide' needs it (friction per load while sliding)"
    )


def test_a_parameter_without_meaning():
    m = kp.build(described(GUIDE, "prismatic"))
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(m, [0.0], [1.0], duration=0.1, parameters={"x.friction.mu": -0.2})
    assert str(caught.value) == "m: parameters: x.friction.mu is -0.2; it is zero or above"


Y, RATES, EFFORTS = [0.4, 0.1, -0.7, 0.05], [1.2, -0.3, 2.0, 0.4], [0.5, 35, 0.2, -1]


def jamming(*, geared: bool = False) -> kp.Mechanism:
    """An arm; with two wheels that a gear joins beside it, where asked for."""
    b = kp.Builder("arm").link("body1", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.04, 0.05, 0.03))
    b.link("body2", mass=1.5, com=(0.05, 0.2, 0), inertia=(0.02, 0.03, 0.03))
    law = {"law": "bearing", "mu": 0.3}
    b.joint("joint1", "cylindrical", "ground", "body1", friction={**law, "radius": 0.02, "length": 0.2})
    outer = {**law, "radius": 0.015, "length": 0.15}
    b.joint("joint2", "cylindrical", "body1", "body2", axis="x", xyz=(0.6, 0, 0.1), friction=outer)
    if geared:
        for name in ("wheel", "other"):
            b.link(name, mass=1.0, inertia=(0.1, 0.1, 0.1)).joint(name, "revolute", "ground", name)
        b.gear("teeth", "other", follows="wheel", ratio=2.0)
    return kp.build(b).reference


@pytest.mark.parametrize(("batch", "which"), [(False, ""), (True, " (state 0 of the batch)")])
def test_a_state_without_solution(batch, which):
    q = np.array([Y, Y]) if batch else np.array(Y)
    with pytest.raises(kp.SingularError) as caught:
        jamming().forward_dynamics(q, np.array(RATES), np.array(EFFORTS))
    assert str(caught.value) == (
        f"arm: friction has no solution at joint 'joint1'{which}: from mu = 0.25283867 on, 0.842796 of what is given, "
        "its load grows without bound: the joint jams, or only an impact goes on (Painlevé); lower mu, or give it "
        "longer guidance"
    )


@pytest.mark.parametrize("geared", [False, True])
def test_a_state_without_solution_has_no_derivatives(geared):
    more = [0.0, 0.0] if geared else []
    state = [np.array([*x, *more]) for x in (Y, RATES, EFFORTS)]
    with pytest.raises(kp.SingularError, match="has no solution at joint 'joint1': from mu = "):
        jamming(geared=geared).forward_dynamics_derivatives(*state)


def rod() -> kp.Mechanism:
    b = kp.Builder("rod").link("slider", mass=0.05, inertia=(1e-5, 1e-5, 1e-5))
    b.link("rod", mass=1.0, com=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
    rail = {"law": "guide", "mu": 2.5, "length": 0.2, "width": 0.2}
    b.joint("rail", "prismatic", "ground", "slider", axis="x", friction=rail)
    return kp.build(b.joint("hinge", "revolute", "slider", "rod", axis="y")).reference


def test_a_state_with_several_solutions():
    with pytest.warns(kp.FrictionWarning) as caught:
        rod().forward_dynamics([0.0, -0.812], [0.0, 0.56], [-8.287, 0.0])
    assert [str(x.message) for x in caught] == [
        "rod: friction has 3 solutions, which differ at joint 'rail': from mu = 1.76811 of 'rail' on, 0.707242 of what "
        "is given. Taken is the one in which most joints stick; friction_solutions lists all, and a lower mu leaves one"
    ]


def test_a_run_whose_joints_do_not_settle_at_rest(monkeypatch):
    none = Classified("none", False, ())
    monkeypatch.setattr("kinpair.friction.phases.classes.found_one", lambda system: none)
    m = kp.build(described(GUIDE, "prismatic"))
    run = stopped(m, [0.0], [0.0], duration=0.1, integrator="rk4", dt=0.01)
    assert run.status.name == "jammed"
    assert str(run.status) == (
        "Stopped at t = 0 s: friction has no solution at joint 'x': from mu = 0.0999999046 on, 0.999999 of what is "
        "given, no choice of what sticks and what slides fits; lower mu, or give it longer guidance"
    )


def test_solutions_of_a_mechanism_without_friction_from_load():
    m = kp.example("double-pendulum").reference
    with pytest.raises(kp.InputError) as caught:
        m.friction_solutions([0, 0], [0, 0], [0, 0])
    assert str(caught.value) == (
        "double-pendulum: no joint has friction from load: there is one solution, forward_dynamics"
    )


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (([0, 0], [0, 0], [0, np.nan]), "tau holds NaN or infinity"),
        ((np.zeros((2, 2)), [0, 0], [0, 0]), "q has shape (2, 2); this takes one state"),
    ],
)
def test_solutions_are_those_of_one_state_of_numbers(state, message):
    with pytest.raises(kp.InputError) as caught:
        rod().friction_solutions(*state)
    assert str(caught.value) == f"rod: {message}"


def closed(kind: str, **loop: Any) -> kp.Mechanism:
    b = kp.Builder("loop").link("a", mass=1, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.link("b", mass=1, com=(0.15, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.link("c", mass=1, com=(0.1, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.joint("p", "revolute", "ground", "a", axis="y", friction=BEARING)
    b.joint("q", "revolute", "a", "b", xyz=(0.1, 0, 0), axis="y")
    b.joint("r", "revolute", "ground", "c", xyz=(0.3, 0, 0), axis="y")
    b.loop("s", kind, "c", "b", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0), axis="y", **loop)
    return kp.build(b).reference


@pytest.mark.parametrize("quantity", ["forward_dynamics", "forward_dynamics_derivatives"])
def test_loads_that_no_motion_determines(quantity):
    m = closed("revolute")
    q = m.assemble([0.7, 0.0, 1.2])
    with pytest.raises(kp.SingularError) as caught:
        getattr(m, quantity)(q, m.velocities(q, {"p": 1.0}), np.zeros(3))
    assert str(caught.value) == (
        "loop: friction in joint 'p' depends on its load, which the motion does not determine: redundant constraints "
        "share it. Close a plane linkage by a plane pin (a loop of kind 'pin'), which leaves no row redundant; or give "
        "the parts that share a compliance (p, q, r, s); or give this joint friction of a constant level"
    )
    with pytest.raises(kp.SingularError, match="redundant constraints share it"):
        m.inverse_dynamics(q, m.velocities(q, {"p": 1.0}), np.zeros(3), actuators=["p"])
    with pytest.raises(kp.SingularError, match="redundant constraints share it"):
        kp.simulate(m, q, m.velocities(q, {"p": 1.0}), duration=0.1)
    with pytest.raises(kp.SingularError, match="redundant constraints share it"):
        m.kernel("forward_dynamics")


def test_compliances_that_do_not_say_who_carries_what():
    m = closed("revolute", compliance=[0, 0, 0, 0, 1e-6, 0])
    q = m.assemble([0.7, 0.0, 1.2])
    with pytest.raises(kp.SingularError) as caught:
        m.forward_dynamics(q, m.velocities(q, {"p": 1.0}), np.zeros(3))
    assert str(caught.value) == (
        "loop: friction in joint 'p' depends on its load, which the motion does not determine: redundant constraints "
        "share it. Close a plane linkage by a plane pin (a loop of kind 'pin'), which leaves no row redundant; or give "
        "more parts than those that have one a compliance (p, q, r, s); or give this joint friction of a constant level"
    )


@pytest.mark.parametrize(
    ("compliance", "message"),
    [
        (
            -1e-6,
            "is -1e-06; give six numbers, zero or more: three [rad/(N m)], then three [m/N]; or one for all",
        ),
        (
            [1, 2],
            "is [1, 2]; give six numbers, zero or more: three [rad/(N m)], then three [m/N]; or one for all",
        ),
        (0.0, "is zero: a part that does not yield needs no compliance; leave it out"),
    ],
)
def test_compliances_that_no_part_has(compliance, message):
    b = kp.Builder("b").link("a", mass=1)
    with pytest.raises(kp.DescriptionError) as caught:
        b.joint("p", "revolute", "ground", "a", compliance=compliance)
    assert str(caught.value) == f"joint 'p': compliance {message}"
    with pytest.raises(kp.DescriptionError) as caught:
        b.loop("p", "revolute", "ground", "a", compliance=compliance)
    assert str(caught.value) == f"loop 'p': compliance {message}"


def test_compliances_of_parts_made_by_hand():
    d = kp.Builder("b").link("a", mass=1).joint("p", "revolute", "ground", "a").description()
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(replace(d, joints=(replace(d.joints[0], compliance=(0.0,)),)))
    assert str(caught.value) == (
        "joint 'p': compliance is (0.0,); give six numbers, zero or more and not all zero: three [rad/(N m)], then "
        "three [m/N]; or one for all"
    )


def test_compliance_without_a_loop_is_told():
    b = kp.Builder("b").link("a", mass=1, inertia=(1, 1, 1))
    b.joint("p", "revolute", "ground", "a", compliance=1e-6)
    with pytest.warns(kp.DescriptionWarning) as caught:
        kp.build(b)
    assert str(caught[0].message).endswith(
        "compliance of 'p' has no effect: it shares loads out that redundant constraints leave open, and there is no "
        "loop"
    )


def test_six_compliances_of_a_joint_are_not_split():
    b = kp.Builder("b").link("a", mass=1, inertia=(1, 1, 1))
    b.joint("p", "universal", "ground", "a", compliance=[1, 2, 3, 4, 5, 6])
    m = kp.build(b.loop("r", "spherical", "ground", "a"))
    with pytest.raises(kp.DescriptionError) as caught:
        m.split()
    assert str(caught.value) == (
        "joint 'p': a compliance of six numbers cannot be split; give one for all, or write the hinges yourself"
    )


def test_derivatives_of_efforts_need_to_know_who_drives():
    m = closed("spherical")
    state = np.zeros(m.nq), np.zeros(m.nv), np.zeros(m.nv)
    with pytest.raises(kp.InputError) as caught:
        m.inverse_dynamics_derivatives(*state, actuators="all")
    assert str(caught.value) == (
        "loop: friction from load under constraints depends on which joints drive it; name them, as in "
        "inverse_dynamics_derivatives(q, qd, qdd, actuators=[...])"
    )


def test_reduced_equations_are_those_of_joints_that_slide():
    m = mechanism("four-bar", 0).reference
    q, tau = m.assemble(CLOSED["four-bar"].guess), np.array([0.3, 0.0, 0.0, 0.0])
    moving = m.velocities(q, {"a": 1.0})
    E, f = m.reduced_equations(q, moving, tau)
    assert E @ m.forward_dynamics(q, moving, tau) == pytest.approx(f, abs=1e-12)
    with pytest.raises(kp.SingularError) as caught:
        m.reduced_equations(q, np.zeros(4), tau)
    assert str(caught.value) == (
        "four-bar: reduced equations with friction from load (joint 'a') are those of joints that slide; here one is "
        "at rest, or jams: give rates, or leave friction out with passive=False"
    )


def test_actuators_that_cannot_make_every_motion_have_no_derivatives():
    b = kp.Builder("pair of wheels")
    for name in ("wheel", "other", "third"):
        b.link(name, mass=1.0, inertia=(0.1, 0.1, 0.1)).joint(name, "revolute", "ground", name)
    m = kp.build(b.gear("teeth", "other", follows="wheel", ratio=2.0)).reference
    with pytest.raises(kp.SingularError) as caught:
        m.inverse_dynamics_derivatives(np.zeros(3), np.zeros(3), np.zeros(3), actuators=["wheel"])
    assert str(caught.value) == (
        "pair of wheels: no derivatives of the efforts of 'wheel': they cannot make every motion that the constraints "
        "allow here; add an actuator, or move it a little"
    )


def test_rates_that_rub_as_one_and_by_themselves():
    sleeve = {"law": "bearing", "mu": 0.1, "radius": 0.02, "length": 0.1}
    b = kp.Builder("two laws").link("collar", mass=1.0, inertia=(1.0, 1.0, 1.0))
    b.joint(
        "rod",
        "cylindrical",
        "ground",
        "collar",
        axis="x",
        friction=[sleeve, {"law": "coulomb", "level": 1.0}],
    )
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(kp.build(b), [0, 0], [0, 0], duration=0.1)
    assert str(caught.value) == (
        "two laws: joint 'rod' has friction from load, by which its rates slide and stick together, and "
        "friction of a constant level on single rates: in a run both do not hold it together; leave one of them out"
    )


@pytest.mark.parametrize(("integrator", "options"), [("generalised-alpha", {"dt": 1e-3}), ("ida", {})])
def test_integrators_that_do_not_see_it(integrator, options):
    m = closed("spherical", compliance=1e-6)
    q = m.assemble([0.7, 0.0, 1.2])
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(m, q, m.velocities(q, {"p": 1.0}), duration=0.1, integrator=integrator, **options)
    assert str(caught.value) == (
        f"loop: integrator {integrator!r} does not take friction from load; 'dop853', 'rk4' and 'cvode' do, "
        "passive=False (--no-passive) leaves friction out"
    )


def test_an_efficiency_as_a_parameter():
    m = kp.build(described({"law": "gear", "efficiency": 0.8}, "revolute"))
    with pytest.raises(kp.InputError) as caught:
        kp.simulate(m, [0.0], [1.0], duration=0.1, parameters={"x.friction.efficiency": 1.5})
    assert str(caught.value) == (
        f"{m.model.name}: parameters: x.friction.efficiency is 1.5; give 1 or less (of a gear where the motor drives)"
    )
