"""Reactions beside those of Pinocchio and MuJoCo, of all formulations, and of statics by hand."""

from __future__ import annotations

import warnings
from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import closed
import engines
import kinpair as kp
import zoo
from families import family
from kinpair.constraints.rows.build import is_constrained
from kinpair.evaluation.quantities.request import METHODS
from kinpair.formulations import kinematics
from kinpair.spatial.rotation import cross
from robots import urdf_files

TOLERANCE = 1e-9
ROBOTS = {"ur/ur5_robot": False, "xarm/xarm7": False, "solo/solo12": True}
TREES = [
    name
    for name in kp.examples()
    if name in ("kr5", "stanford-arm", "scara", "floating-arm", "two-handed-arm")
]
LOOPS = ["four-bar", "four-bar-3d", "slider-crank", "bennett", "delta", "gripper", "stewart"]


@cache
def robot(name: str, engine: str):
    text = engines.bare_urdf(urdf_files()[name])
    theirs = getattr(engines, engine).read(text, ROBOTS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.load(urdf_files()[name], base="free" if ROBOTS[name] else "fixed", constraints=False)
    return ours.reference, theirs


@pytest.mark.parametrize("name", ROBOTS)
def test_reactions_are_those_of_pinocchio(name):
    """On the child, in axes of the joint frame on the child, linear half first there."""
    ours, theirs = robot(name, "Pinocchio")
    m = zoo.motion(ours, 4)
    found = ours.reactions(m.q, m.qd, m.qdd, axes="child", passive=False)
    s = theirs.convention(ours).state(m.q, m.qd, m.qdd)
    data = theirs.model.createData()
    pin.rnea(theirs.model, data, s.q, s.v, s.a)
    compared = 0
    for joint, w in found.items():
        if theirs.model.existJointName(joint):
            f = data.f[theirs.model.getJointId(joint)]
            assert zoo.relative_error(w, np.concatenate([f.angular, f.linear])) <= TOLERANCE, joint
            compared += 1
    assert compared >= 6


@pytest.mark.parametrize("name", ROBOTS)
def test_reactions_are_those_of_mujoco(name):
    """Of every link, welded ones too: cfrc_int is about the mass centre of the whole tree, in world axes."""
    ours, theirs = robot(name, "Mujoco")
    m = zoo.motion(ours, 5)
    found = ours.reactions(m.q, m.qd, m.qdd, axes="world", passive=False)
    s = theirs.convention(ours).state(m.q, m.qd, m.qdd)
    data = theirs._at(s.q, s.v, s.a)
    mujoco.mj_rnePostConstraint(theirs.model, data)
    children = {joint.name: joint for joint in ours.model.description.joints}
    compared = 0
    for name, w in found.items():
        joint = children[name]
        body = mujoco.mj_name2id(theirs.model, mujoco.mjtObj.mjOBJ_BODY, joint.child)
        if body <= 0:
            continue
        place = ours.pose(m.q, joint.child)
        origin = place.position + place.rotation @ joint.child_origin.pose().inverse().a
        wrench = data.cfrc_int[body]
        moment = wrench[:3] + np.cross(data.subtree_com[theirs.model.body_rootid[body]] - origin, wrench[3:])
        assert zoo.relative_error(w, np.concatenate([moment, wrench[3:]])) <= TOLERANCE, name
        compared += 1
    assert compared >= 6


@pytest.mark.parametrize(
    "name", family([*TREES, *LOOPS], ["kr5", "floating-arm", "four-bar", "gripper"], reason="more mechanisms")
)
def test_all_formulations_give_the_same_reactions(name):
    m = kp.example(name)
    rng = np.random.default_rng(7)
    s = zoo.motion(m, 3)
    q, qd, qdd = s.q, s.qd, s.qdd
    if is_constrained(m.model.description):
        q = m.assemble(closed.start(name))
        qd = m.velocities(q, guess=rng.uniform(-1, 1, m.nv))
        qdd = m.accelerations(q, qd, guess=rng.uniform(-1, 1, m.nv))
    expected = m.reactions(q, qd, qdd)
    for method in METHODS["reactions"]:
        found = m.reactions(q, qd, qdd, method=method)
        assert list(found) == list(expected)
        assert all(zoo.relative_error(found[x], w) <= TOLERANCE for x, w in expected.items()), method


@pytest.mark.parametrize("seed", range(10))
def test_reactions_are_the_rate_of_momentum_of_all_beyond(seed):
    """And of their weight, about the joint point; by complex steps along the motion."""
    m = zoo.tree(900 + seed, 6, reach=2, floating=seed % 2 == 1)
    s, model = zoo.motion(m, seed), m.model
    found = m.reactions(s.q, s.qd, s.qdd, axes="world")
    step, rates = 1e-200, kinematics.dq_dt(model, s.q, s.qd)
    ahead = momenta(m, s.q + 1j * step * rates, s.qd + 1j * step * s.qdd)
    here = momenta(m, s.q, s.qd)
    for i in model.moving:
        beyond = [k for k in model.moving if i in model.path_to_ground(k)]
        change = sum(np.imag(ahead[k].momentum) / step for k in beyond)
        weights = sum(weight(model, here[k].centre, k) for k in beyond)
        at_origin = change - weights
        point = here[i].origin
        moment = at_origin[:3] - np.cross(point, at_origin[3:])
        expected = np.concatenate([moment, at_origin[3:]])
        assert zoo.relative_error(found[model.joint_names[i]], expected) <= 1e-11


class Body:
    """Momentum [angular about the world's origin; linear] of one body, its mass centre and joint point."""

    def __init__(self, body, state):
        at, omega, v = state
        linear = at.R @ (body.m * (v + cross(omega, body.d)))
        self.centre, self.origin = at.R @ body.d + at.a, at.a
        self.momentum = np.concatenate([at.R @ (body.I @ omega) + cross(self.centre, linear), linear])


def momenta(m, q, qd):
    states = kinematics.states(m.model, q, qd)
    return {i: Body(m.model.body[i], states[i]) for i in m.model.moving}


def weight(model, centre, k):
    f = model.body[k].m * model.gravity
    return np.concatenate([np.cross(centre, f), f])


# Axes, bearings, motors.


def test_axes_are_turned_into_each_other():
    m = zoo.tree(41, 6)
    s = zoo.motion(m, 2)
    joint, child, world = (m.reactions(s.q, s.qd, s.qdd, axes=axes) for axes in ("joint", "child", "world"))
    for part in m.model.description.joints:
        on_parent, on_child = (
            (place.rotation if place else np.eye(3)) @ turn
            for place, turn in (
                (m.pose(s.q, part.parent) if part.parent in m.frames else None, part.origin.pose().R),
                (m.pose(s.q, part.child), part.child_origin.pose().R.T),
            )
        )
        for half in (slice(0, 3), slice(3, 6)):
            assert np.allclose(world[part.name][half], on_parent @ joint[part.name][half], atol=1e-12)
            assert np.allclose(world[part.name][half], on_child @ child[part.name][half], atol=1e-12)


def test_axes_of_loops():
    m = kp.example("four-bar")
    q = m.assemble(closed.start("four-bar"))
    qd = m.velocities(q, {"crank": 3.0})
    qdd = m.accelerations(q, qd, {"crank": 1.0})
    in_joint, in_world = (m.reactions(q, qd, qdd, axes=axes)["pin"] for axes in ("joint", "world"))
    forces = m.constraint_forces(q, qd, m.inverse_dynamics(q, qd, qdd))
    assert np.allclose(in_world, forces.wrenches["pin"], atol=1e-9)
    assert np.linalg.norm(in_joint) == pytest.approx(np.linalg.norm(in_world))


def test_a_bearing_feels_its_load_along_and_across_its_axis():
    """A tilted shaft that carries a mass beside its axis."""
    tilt, mass, arm = 0.3, 2.0, 0.4
    b = kp.Builder("shaft").link("disk", mass=mass, com=(arm, 0, 0.1), inertia=(0.1, 0.1, 0.2))
    b.joint("hinge", "revolute", "ground", "disk", axis=(np.sin(tilt), 0, np.cos(tilt)))
    m = kp.build(b).reference
    found = m.bearing_loads([0.0], [0.0], [0.0])["hinge"]
    e, weight = np.array([np.sin(tilt), 0, np.cos(tilt)]), np.array([0, 0, mass * 9.81])
    moment = np.cross([arm, 0, 0.1], weight)
    assert found.axial_force == pytest.approx(weight @ e)
    assert found.radial_force == pytest.approx(np.linalg.norm(np.cross(e, weight)))
    assert found.axial_moment == pytest.approx(moment @ e)
    assert found.bending_moment == pytest.approx(np.linalg.norm(np.cross(e, moment)))
    batch = m.bearing_loads(np.zeros((3, 1)), [0.0], [0.0])["hinge"]
    assert batch.axial_force.shape == (3,)
    assert "ball" not in kp.example("four-bar").bearing_loads([0.0, 2.2783889, 2.2783889], [0] * 3, [0] * 3)


def test_the_motor_turns_its_rotor_and_the_gear():
    """τ/N at the motor; N J q̈ of it turns the rotor, the rest is pᵀw/N."""
    N, J = 50.0, 3e-4
    b = kp.Builder("arm").link("arm", mass=2.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.2))
    b.joint("hinge", "revolute", "ground", "arm", axis="y", rotor_inertia=J, gear_ratio=N)
    m = kp.build(b).reference
    found = m.motor_loads([0.4], [2.0], [3.0])["hinge"]
    tau = m.inverse_dynamics([0.4], [2.0], [3.0])[0]
    w = m.reactions([0.4], [2.0], [3.0])["hinge"]
    assert found.torque == pytest.approx(tau / N)
    assert found.gear_torque == pytest.approx(w[1] / N)
    assert found.torque - found.gear_torque == pytest.approx(N * J * 3.0)
    assert found.speed == pytest.approx(2.0 * N)


# Redundant closures.


def test_a_plane_linkage_with_a_ball_pin_has_only_its_z_rows_undetermined():
    m = kp.example("four-bar")
    q = m.assemble(closed.start("four-bar"))
    qd = m.velocities(q, {"crank": 2.0})
    qdd = m.forward_dynamics(q, qd, [0.5, 0, 0])
    assert m.constraint_forces(q, qd, [0.5, 0, 0]).undetermined == ("pin.z",)
    found = m.reactions(q, qd, qdd, tau=np.array([0.5, 0, 0]))
    assert not found.unique
    assert found.undetermined["pin"].tolist() == [False] * 5 + [True]
    for hinge in ("crank", "output", "coupler"):  # a hinge holds what the pin carries across the plane
        assert found.undetermined[hinge][2:5].tolist() == [False] * 3
        assert found.undetermined[hinge][5]
    batch = m.reactions(np.stack([q, q]), qd, qdd)
    assert batch.undetermined["pin"].shape == (2, 6)
    assert kp.example("stewart").reactions(*resting("stewart")).unique


def resting(name: str):
    m = kp.example(name)
    return m.assemble(closed.start(name)), np.zeros(m.nv), np.zeros(m.nv)


def door() -> kp.Mechanism:
    """Hinged at the bottom, with a ball on the same axis at height 2: the ball's three rows say nothing new."""
    b = kp.Builder("door").link("door", mass=10.0, com=(0.4, 0, 1.0), inertia=(1, 1, 1))
    b.joint("hinge", "revolute", "ground", "door", axis="z")
    b.loop("ball", "spherical", "ground", "door", xyz=(0, 0, 2.0), child_xyz=(0, 0, 2.0))
    return kp.build(b)


def test_compliance_shares_out_what_redundant_joints_carry():
    """A beam with one redundant support: the moment taken by the ball's horizontal force X on its lever h."""
    m, zero = door(), np.zeros(1)
    W, a, h = 10.0 * 9.81, 0.4, 2.0
    plain = m.reactions(zero, zero, zero)
    assert not plain.unique
    c_hinge, c_turn, c_ball = 2e-6, 5e-6, 3e-6
    compliance = {"hinge": [c_turn] * 3 + [c_hinge] * 3, "ball": [0, 0, 0, c_ball, c_ball, c_ball]}
    found = m.reactions(zero, zero, zero, compliance=compliance)
    assert found.unique
    X = c_turn * h * W * a / (c_turn * h * h + c_hinge + c_ball)
    assert found["ball"][3] == pytest.approx(-X, rel=1e-9)
    assert found["hinge"][3] == pytest.approx(X, rel=1e-9)
    assert found["ball"][5] == pytest.approx(W * c_hinge / (c_hinge + c_ball), rel=1e-9)
    assert found["hinge"][1] == pytest.approx(-W * a + X * h, rel=1e-9)
    turned = m.reactions(zero + 0.3, zero, zero, compliance=compliance, axes="child")
    assert turned["ball"][3] == pytest.approx(-X, rel=1e-9)
    vertical = m.reactions(zero, zero, zero, compliance={"hinge": [0] * 5 + [1e-6]})
    assert vertical.undetermined["ball"].tolist() == [False] * 3 + [True, True, False]
    assert vertical["hinge"][5] == pytest.approx(0.0, abs=1e-9)
