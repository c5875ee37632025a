"""Derivatives of the dynamics: compiled, by complex step, by differences, and those of Pinocchio."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest

import kinpair as kp
import zoo
from families import family
from kinpair import conventions
from kinpair.formulations import kinematics
from robots import urdf_files

COMPLEX_STEP = 1e-10
ENGINE = 1e-8
EPS = np.finfo(float).eps
STEP = 1e-5  # of central differences: h² beside eps/h leaves some 1e-10 of the size of the third derivative
DIFFERENCE = 1e-6
LOADS = np.array([0.4, -1.0, 2.0, 3.0, -2.0, 1.0])


def compiled(mechanism: kp.Mechanism) -> kp.Mechanism:
    return kp.Mechanism(mechanism.model)


TREES = [
    *(compiled(zoo.tree(seed, 3)) for seed in range(3)),
    compiled(zoo.tree(5, 4, floating=True)),
    *(compiled(zoo.tree(20 + k, 2, kinds=(kind,), reach=1)) for k, kind in enumerate(zoo.KINDS[:-1])),
]
EXAMPLES = [kp.example(name) for name in ("double-pendulum", "scara", "stanford-arm", "floating-arm")]


def condition(m: kp.Mechanism, q: np.ndarray) -> float:
    return float(np.linalg.cond(m.reference.mass_matrix(q)))


def same(found, expected, bound):
    for a, b in zip(found, expected, strict=True):
        assert zoo.relative_error(a, b) <= bound


def test_every_kind_of_pair_takes_part():
    kinds = {body.pair.kind for m in TREES for body in m.model.body[1:]}
    assert kinds == set(zoo.KINDS) - {"fixed"}


@pytest.mark.parametrize("m", [*TREES, *EXAMPLES], ids=lambda m: m.name)
def test_compiled_derivatives_are_those_of_complex_steps(m):
    """The compiler differentiates the recorded equations; the reference steps into the complex plane."""
    s = zoo.motion(m, 3)
    result = m.inverse_dynamics_derivatives(s.q, s.qd, s.qdd)
    same(result, m.reference.inverse_dynamics_derivatives(s.q, s.qd, s.qdd), COMPLEX_STEP)
    bound = max(COMPLEX_STEP, 100 * EPS * condition(m, s.q))
    result = m.forward_dynamics_derivatives(s.q, s.qd, s.qdd)
    same(result, m.reference.forward_dynamics_derivatives(s.q, s.qd, s.qdd), bound)


@pytest.mark.parametrize("m", EXAMPLES, ids=lambda m: m.name)
def test_wrenches_and_loads_of_the_joints_take_part(m):
    s = zoo.motion(m, 4)
    frame = m.frames[-1]
    how = {"external": {frame: LOADS}, "passive": False}
    result = m.inverse_dynamics_derivatives(s.q, s.qd, s.qdd, **how)
    same(result, m.reference.inverse_dynamics_derivatives(s.q, s.qd, s.qdd, **how), COMPLEX_STEP)


def along_rates(f, m, q):
    """∂f/∂q (…, nv) by central differences in the directions of the rates."""
    steps = [(kinematics.moved(m.model, q, h), kinematics.moved(m.model, q, -h)) for h in STEP * np.eye(m.nv)]
    return np.array([(f(ahead) - f(behind)) / (2 * STEP) for ahead, behind in steps]).T


def along(f, x):
    """∂f/∂x by central differences."""
    return np.array([(f(x + h) - f(x - h)) / (2 * STEP) for h in STEP * np.eye(len(x))]).T


@pytest.mark.parametrize("m", [*TREES[:4], *EXAMPLES], ids=lambda m: m.name)
def test_derivatives_are_the_limit_of_differences(m):
    s = zoo.motion(m, 5)
    q, qd, qdd = s.q, s.qd, s.qdd
    by = m.inverse_dynamics_derivatives(q, qd, qdd)
    inverse = m.reference.inverse_dynamics
    assert zoo.relative_error(along_rates(lambda x: inverse(x, qd, qdd), m, q), by.q) < DIFFERENCE
    assert zoo.relative_error(along(lambda x: inverse(q, x, qdd), qd), by.qd) < DIFFERENCE
    tau = inverse(q, qd, qdd)
    by = m.forward_dynamics_derivatives(q, qd, tau)
    forward = m.reference.forward_dynamics
    bound = DIFFERENCE + 10 * EPS * condition(m, q) / STEP  # rounding of q̈, divided by the step
    assert zoo.relative_error(along_rates(lambda x: forward(x, qd, tau), m, q), by.q) < bound
    assert zoo.relative_error(along(lambda x: forward(q, x, tau), qd), by.qd) < bound
    assert zoo.relative_error(along(lambda x: forward(q, qd, x), tau), by.tau) < bound


@pytest.mark.parametrize("m", EXAMPLES, ids=lambda m: m.name)
def test_effort_derivative_of_the_acceleration_is_the_inverse_of_the_mass_matrix(m):
    s = zoo.motions(m, 5)
    by = m.forward_dynamics_derivatives(s.q, s.qd, s.qdd)
    for H, inverse in zip(m.mass_matrix(s.q), by.tau, strict=True):
        assert zoo.relative_error(inverse @ H, np.eye(m.nv)) <= 100 * EPS * np.linalg.cond(H)


@dataclass(frozen=True, eq=False)
class Both:
    """One robot in both engines at one random state, in Pinocchio's coordinates too."""

    ours: kp.Mechanism
    theirs: pin.Model
    motion: zoo.Motion
    q: np.ndarray
    v: np.ndarray  # kinpair's rates in Pinocchio's order

    def ordered(self, A: np.ndarray) -> np.ndarray:
        return A[np.ix_(self.v, self.v)]


ROBOTS = [
    ("ur/ur5_robot", "fixed"),
    ("panda/panda", "fixed"),
    ("talos_data/talos_left_arm", "fixed"),
    ("allegro_hand/allegro_left_hand", "fixed"),
    ("double_pendulum/double_pendulum_continuous", "fixed"),
    ("iris/iris", "free"),
    ("finger_edu/finger_edu", "free"),
    ("bolt/bolt", "free"),
    ("solo/solo12", "free"),
]


USUAL = {
    "ur/ur5_robot-fixed",
    "allegro_hand/allegro_left_hand-fixed",
    "iris/iris-free",
    "finger_edu/finger_edu-free",
}


@pytest.fixture(
    scope="module",
    params=family(
        ROBOTS, USUAL | {"double_pendulum/double_pendulum_continuous-fixed"}, "more robots", "-".join
    ),
    ids="-".join,
)
def both(request) -> Both:
    robot, base = request.param
    path = urdf_files()[robot]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.load(path, base=base, constraints=False)
    root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    theirs = pin.buildModelFromUrdf(str(path), *root)
    motion = zoo.motion(ours, seed=7)
    convention = conventions.pinocchio(ours, conventions.pinocchio_layout(theirs))
    order = convention.efforts(motion.q, np.arange(ours.nv, dtype=float))  # efforts are only reordered
    return Both(ours, theirs, motion, convention.q(motion.q), np.rint(order).astype(int))


def test_inverse_dynamics_derivatives_of_pinocchio(both):
    m = both.motion
    data = both.theirs.createData()
    pin.computeRNEADerivatives(both.theirs, data, both.q, m.qd[both.v], m.qdd[both.v])
    result = both.ours.inverse_dynamics_derivatives(m.q, m.qd, m.qdd, passive=False)
    assert zoo.relative_error(both.ordered(result.q), data.dtau_dq) <= ENGINE
    assert zoo.relative_error(both.ordered(result.qd), data.dtau_dv) <= ENGINE


def test_forward_dynamics_derivatives_of_pinocchio(both):
    m = both.motion
    data = both.theirs.createData()
    tau = both.ours.inverse_dynamics(m.q, m.qd, m.qdd, passive=False)
    pin.computeABADerivatives(both.theirs, data, both.q, m.qd[both.v], tau[both.v])
    result = both.ours.forward_dynamics_derivatives(m.q, m.qd, tau, passive=False)
    bound = max(ENGINE, 100 * EPS * condition(both.ours, m.q))
    assert zoo.relative_error(both.ordered(result.q), data.ddq_dq) <= bound
    assert zoo.relative_error(both.ordered(result.qd), data.ddq_dv) <= bound
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    assert zoo.relative_error(both.ordered(result.tau), inverse) <= bound


def test_a_batch_shares_its_rows_among_threads_and_writes_into_out():
    m = EXAMPLES[1]
    s = zoo.motions(m, 21)
    once = m.inverse_dynamics_derivatives(s.q, s.qd, s.qdd)
    out = tuple(np.full((21, m.nv, m.nv), np.nan) for _ in range(2))
    shared = m.inverse_dynamics_derivatives(s.q, s.qd, s.qdd, out=out, threads=2)
    for a, b, c in zip(once, shared, out, strict=True):
        assert (a == b).all()
        assert np.shares_memory(b, c)
    k = m.inverse_dynamics_derivatives(s.q[4], s.qd[4], s.qdd[4])
    same(k, (once.q[4], once.qd[4]), 1e-12)
