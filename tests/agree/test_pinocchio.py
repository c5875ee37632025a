"""Every robot of example-robot-data that Pinocchio loads, fixed and floating: the same numbers.

Relative error: max|Δ| / max(1, max|reference|) ≤ 1e-9; forward dynamics 100·eps·cond(H) where that is larger.
Nothing is snapped, and friction and damping are left out, as Pinocchio leaves them out.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest

import kinpair as kp
import zoo
from robots import urdf_files

TOLERANCE = 1e-9
EPS = np.finfo(float).eps
# not loaded by Pinocchio, and why
REFUSED = {"ur/ur3": "the file holds an empty <robot> without name or links"}
ROBOTS = [name for name in urdf_files() if name not in REFUSED]
# moved links without any inertia: H is singular, and kinpair names the joint
WEIGHTLESS = {"romeo/romeo", "romeo/romeo_laas_small"}


@dataclass(frozen=True, eq=False)
class Both:
    """One robot in both engines at one random state; `v` lists kinpair's rates in Pinocchio's order."""

    ours: kp.Mechanism
    theirs: pin.Model
    data: pin.Data
    motion: zoo.Motion
    q: np.ndarray
    v: np.ndarray


def pinocchio_model(path, base):
    root = () if base == "fixed" else (pin.JointModelFreeFlyer(),)
    return pin.buildModelFromUrdf(str(path), *root)


def pinocchio_q(joint_nq: int, q: np.ndarray) -> np.ndarray:
    """Pinocchio's coordinates of one joint: an unbounded angle is (cos, sin) there."""
    return np.array([np.cos(q[0]), np.sin(q[0])]) if joint_nq == 2 else q


@pytest.fixture(
    scope="module", params=[(r, b) for r in ROBOTS for b in ("fixed", "free")], ids=lambda p: f"{p[0]}-{p[1]}"
)
def both(request) -> Both:
    robot, base = request.param
    path = urdf_files()[robot]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.load(path, base=base, constraints=False).reference
    theirs = pinocchio_model(path, base)
    motion = zoo.motion(ours, seed=len(robot))
    q, v = np.zeros(theirs.nq), np.zeros(theirs.nv, dtype=int)
    model = ours.model
    for i in model.moving:
        free = model.body[i].pair.kind == "free"
        k = theirs.getJointId("root_joint" if free else model.joint_names[i])
        start_q, start_v = theirs.idx_qs[k], theirs.idx_vs[k]
        coordinates = pinocchio_q(theirs.nqs[k], motion.q[model.q_span[i]])
        q[start_q : start_q + theirs.nqs[k]] = coordinates
        order = [3, 4, 5, 0, 1, 2] if free else [0]  # Pinocchio: linear before angular
        v[start_v : start_v + theirs.nvs[k]] = model.v_span[i].start + np.array(order)
    return Both(ours, theirs, theirs.createData(), motion, q, v)


def symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def mass_matrix(both: Both) -> np.ndarray:
    return symmetric(pin.crba(both.theirs, both.data, both.q))


@pytest.mark.parametrize("robot", sorted(REFUSED))
def test_refused_by_both(robot):
    with pytest.raises(ValueError, match="does not contain a valid URDF"):
        pinocchio_model(urdf_files()[robot], "fixed")
    with pytest.raises(kp.DescriptionError, match="has no link, so there is no mechanism"):
        kp.load(urdf_files()[robot])


def test_there_are_more_than_sixty():
    assert len(ROBOTS) > 60


def test_same_number_of_degrees(both):
    assert both.ours.nv == both.theirs.nv


def test_mass_matrix(both):
    H = both.ours.mass_matrix(both.motion.q)[np.ix_(both.v, both.v)]
    assert zoo.relative_error(H, mass_matrix(both)) <= TOLERANCE


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
def test_bias_forces(both, method):
    h = both.ours.bias_forces(both.motion.q, both.motion.qd, passive=False, method=method)
    theirs = pin.nonLinearEffects(both.theirs, both.data, both.q, both.motion.qd[both.v])
    assert zoo.relative_error(h[both.v], theirs) <= TOLERANCE


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
def test_inverse_dynamics(both, method):
    m = both.motion
    tau = both.ours.inverse_dynamics(m.q, m.qd, m.qdd, passive=False, method=method)
    theirs = pin.rnea(both.theirs, both.data, both.q, m.qd[both.v], m.qdd[both.v])
    assert zoo.relative_error(tau[both.v], theirs) <= TOLERANCE


def test_forward_dynamics(both, request):
    m = both.motion
    tau = both.ours.inverse_dynamics(m.q, m.qd, m.qdd, passive=False)
    if any(name in request.node.name for name in (f"[{w}-" for w in WEIGHTLESS)):
        with pytest.raises(kp.SingularError, match="forward dynamics is singular at joint"):
            both.ours.forward_dynamics(m.q, m.qd, tau, passive=False)
        assert np.linalg.eigvalsh(mass_matrix(both)).min() < 1e-15
        return
    qdd = both.ours.forward_dynamics(m.q, m.qd, tau, passive=False)
    theirs = pin.aba(both.theirs, both.data, both.q, m.qd[both.v], tau[both.v])
    constraint = np.linalg.cond(mass_matrix(both)) if both.theirs.nv else 1.0
    assert zoo.relative_error(qdd[both.v], theirs) <= max(TOLERANCE, 100 * EPS * constraint)


def frames_of(both: Both) -> list[str]:
    """Links spread over the robot."""
    links = [f.name for f in both.theirs.frames if f.type == pin.FrameType.BODY and f.name != "universe"]
    return links[:: max(1, len(links) // 6)] + links[-1:]


def test_jacobians_their_rates_and_poses(both):
    m = both.motion
    qd = m.qd[both.v]
    pin.framesForwardKinematics(both.theirs, both.data, both.q)
    if both.theirs.nv:  # Pinocchio 4.1 crashes on the Jacobian of a robot that does not move
        pin.computeJointJacobiansTimeVariation(both.theirs, both.data, both.q, qd)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for name in frames_of(both):
        k = both.theirs.getFrameId(name, pin.FrameType.BODY)
        pose = both.ours.pose(m.q, name)
        assert zoo.relative_error(pose.rotation, both.data.oMf[k].rotation) <= TOLERANCE
        assert zoo.relative_error(pose.position, both.data.oMf[k].translation) <= TOLERANCE
        ours = both.ours.jacobian(m.q, name)[:, both.v]
        assert ours.shape == (6, both.theirs.nv)
        if not both.theirs.nv:
            continue
        J = pin.getFrameJacobian(both.theirs, both.data, k, world)
        Jd = pin.getFrameJacobianTimeVariation(both.theirs, both.data, k, world)
        assert zoo.relative_error(ours, J[[3, 4, 5, 0, 1, 2]]) <= TOLERANCE
        rate = both.ours.jacobian_rate(m.q, m.qd, name)[:, both.v]
        assert zoo.relative_error(rate, Jd[[3, 4, 5, 0, 1, 2]]) <= TOLERANCE


def test_centre_of_mass_and_energy(both):
    m = both.motion
    if both.ours.mass:
        centre = pin.centerOfMass(both.theirs, both.data, both.q)
        assert zoo.relative_error(both.ours.centre_of_mass(m.q), centre) <= TOLERANCE
    kinetic = pin.computeKineticEnergy(both.theirs, both.data, both.q, m.qd[both.v])
    potential = pin.computePotentialEnergy(both.theirs, both.data, both.q)
    assert (
        zoo.relative_error(np.array(both.ours.energy(m.q, m.qd)), np.array([kinetic, potential])) <= TOLERANCE
    )
