"""τ = Y π: the efforts are linear in the inertial parameters, rotor inertias, damping and friction."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import kinpair as kp
import zoo
from kinpair.model.build import build
from robots import urdf

TOLERANCE = 1e-12
ENGINE = 1e-9


def with_losses(mechanism: kp.Mechanism, seed: int) -> kp.Mechanism:
    """The same with damping and dry friction in every joint."""
    rng = np.random.default_rng(seed)
    description = mechanism.model.description
    losses = {"damping": (float(rng.uniform(0.1, 1.0)),), "friction": (float(rng.uniform(0.1, 1.0)),)}
    joints = tuple(j if j.kind == "fixed" else replace(j, **losses) for j in description.joints)
    return kp.Mechanism(build(replace(description, joints=joints)), compiled=False)


TREES = [
    with_losses(tree, k)
    for k, tree in enumerate([*zoo.random_trees(seed=31), *zoo.random_trees(seed=32, floating=True)])
]


@pytest.fixture(params=TREES, ids=lambda m: m.name)
def mechanism(request):
    return request.param


def test_every_kind_of_pair_and_every_loss_takes_part():
    assert {body.pair.kind for m in TREES for body in m.model.body[1:]} == set(zoo.KINDS) - {"fixed"}
    assert all((m.model.joints.damping > 0).all() and (m.model.joints.friction > 0).all() for m in TREES)
    assert any(m.model.body[i].rotor.any() for m in TREES for i in m.model.moving)


def test_efforts_are_the_regressor_times_the_parameters(mechanism):
    s = zoo.motion(mechanism, 6)
    Y, pi = mechanism.regressor(s.q, s.qd, s.qdd), mechanism.regressor_parameters()
    assert Y.shape == (mechanism.nv, len(pi))
    assert len(mechanism.regressor_names) == len(set(mechanism.regressor_names)) == len(pi)
    assert zoo.relative_error(Y @ pi, mechanism.inverse_dynamics(s.q, s.qd, s.qdd)) < TOLERANCE


def test_without_losses_their_columns_take_no_part(mechanism):
    s = zoo.motion(mechanism, 7)
    Y, pi = mechanism.regressor(s.q, s.qd, s.qdd), mechanism.regressor_parameters()
    kept = len(pi) - 2 * mechanism.nv
    tau = mechanism.inverse_dynamics(s.q, s.qd, s.qdd, passive=False)
    assert zoo.relative_error(Y[:, :kept] @ pi[:kept], tau) < TOLERANCE


def heavier(mechanism: kp.Mechanism) -> kp.Mechanism:
    """Other masses, mass centres and inertias; the same joints."""
    rng = np.random.default_rng(9)
    description = mechanism.model.description
    links = tuple(replace(zoo.link(rng, link.name), shapes=link.shapes) for link in description.links)
    return kp.Mechanism(build(replace(description, links=links)), compiled=False)


def test_the_regressor_knows_nothing_of_the_parameters(mechanism):
    other = heavier(mechanism)
    s = zoo.motion(mechanism, 8)
    Y = mechanism.regressor(s.q, s.qd, s.qdd)
    assert zoo.relative_error(other.regressor(s.q, s.qd, s.qdd), Y) < TOLERANCE
    change = other.inverse_dynamics(s.q, s.qd, s.qdd) - mechanism.inverse_dynamics(s.q, s.qd, s.qdd)
    assert (
        zoo.relative_error(Y @ (other.regressor_parameters() - mechanism.regressor_parameters()), change)
        < TOLERANCE
    )


def test_springs_are_left_out():
    b = kp.Builder("sprung").link("a", mass=1.0, com=(0.1, 0.0, 0.0))
    b.joint("slide", "prismatic", "ground", "a", stiffness=30.0, rest=0.1, friction=2.0, damping=0.5)
    m = kp.build(b).reference
    state = ([0.4], [0.7], [-0.2])
    spring = 30.0 * (0.4 - 0.1)
    assert m.regressor(*state) @ m.regressor_parameters() + spring == pytest.approx(
        m.inverse_dynamics(*state)
    )


def test_compiled_regressors_give_the_same():
    for name in ("scara", "floating-arm"):
        m = kp.example(name)
        s = zoo.motions(m, 3)
        Y = m.regressor(s.q, s.qd, s.qdd)
        assert zoo.relative_error(Y, m.reference.regressor(s.q, s.qd, s.qdd)) < TOLERANCE
        tau = m.inverse_dynamics(s.q, s.qd, s.qdd)
        assert zoo.relative_error(Y @ m.regressor_parameters(), tau) < TOLERANCE


# Pinocchio's ten: m, m c, and Ixx Ixy Iyy Ixz Iyz Izz about the origin of the joint, which is that of the link
OURS = ("m", "m cx", "m cy", "m cz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
THEIRS = ("m", "m cx", "m cy", "m cz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("name", ["ur5_robot", "panda", "talos_left_arm", "solo12", "allegro_left_hand"])
def test_inertial_part_is_that_of_pinocchio(name, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.load(urdf(name), base=base, constraints=False).reference
    root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    theirs = pin.buildModelFromUrdf(str(urdf(name)), *root)
    convention = kp.conventions.pinocchio(ours, kp.conventions.pinocchio_layout(theirs))
    s = zoo.motion(ours, 4)
    v = np.rint(convention.efforts(s.q, np.arange(ours.nv, dtype=float))).astype(int)
    Y = ours.regressor(s.q, s.qd, s.qdd)[v]
    state = (convention.q(s.q), s.qd[v], s.qdd[v])
    expected = pin.computeJointTorqueRegressor(theirs, theirs.createData(), *state)
    columns = [OURS.index(name) for name in THEIRS]
    for i in ours.model.moving:
        free = ours.model.body[i].pair.kind == "free"
        k = theirs.getJointId("root_joint" if free else ours.model.joint_names[i]) - 1
        block = Y[:, 10 * (i - 1) : 10 * i][:, columns]
        assert zoo.relative_error(block, expected[:, 10 * k : 10 * (k + 1)]) <= ENGINE
