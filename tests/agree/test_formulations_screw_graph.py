"""Screws, Roberson–Wittenburg and Zhao–Gu against Newton–Euler, and screws against their own matrices in full.

Relative error ≤ 1e-9; forward dynamics 100·eps·cond(H) where that is larger.
"""

from __future__ import annotations

import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from benchmarks import operations
from benchmarks.chains import dh_chain

import kinpair as kp
import zoo
from kinpair.algebra.arrays import columns
from kinpair.formulations import (
    composite,
    kinematics,
    roberson_wittenburg,
    screw,
    screw_block,
    screw_bodies,
    zhao_gu,
)
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.screw_algebra import force_moved
from kinpair.model.model import Model
from kinpair.model.recursion import rates
from kinpair.pairs.spherical import Spherical
from opaque import hide, reveal
from robots import urdf_files

TOLERANCE = 1e-9
EPS = np.finfo(float).eps
METHODS = {"screw": screw, "roberson-wittenburg": roberson_wittenburg, "zhao-gu": zhao_gu}
TREES = [
    *zoo.random_trees(seed=7, sizes=(1, 3, 7, 15, 40)),
    *zoo.random_trees(seed=8, sizes=(1, 7, 15), floating=True),
]
ROBOTS = {
    "ur/ur5_robot": "fixed",
    "xarm/xarm7": "fixed",
    "allegro_hand/allegro_left_hand": "fixed",
    "solo/solo12": "free",
    "g1/g1_29dof_rev_1_0": "free",
}
EMPTY = 370  # operations that take as long to compile as a kernel without any
WRENCH = np.array([0.3, -1.0, 2.0, 5.0, -4.0, 1.0])


@cache
def robot(name: str) -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf_files()[name], base=ROBOTS[name], constraints=False).reference


@pytest.fixture(params=[*TREES, *ROBOTS], ids=lambda m: getattr(m, "name", m))
def mechanism(request) -> kp.Mechanism:
    return robot(request.param) if isinstance(request.param, str) else request.param


@pytest.fixture(params=METHODS)
def method(request) -> str:
    return request.param


def wrenches(mechanism: kp.Mechanism) -> list[np.ndarray]:
    """One on every body."""
    rng = np.random.default_rng(len(mechanism.name))
    return [np.zeros(6), *rng.normal(size=(len(mechanism.model.moving), 6))]


def bound(mechanism: kp.Mechanism, q: np.ndarray) -> float:
    return max(TOLERANCE, 100 * EPS * np.linalg.cond(mechanism.mass_matrix(q)))


def test_every_kind_of_pair_takes_part():
    kinds = {body.pair.kind for m in TREES for body in m.model.body[1:]}
    assert kinds == set(zoo.KINDS) - {"fixed"}


def test_efforts_accelerations_and_inertia(mechanism, method):
    s = zoo.motion(mechanism, seed=3)
    external = {mechanism.frames[-1]: WRENCH}
    tau = mechanism.inverse_dynamics(s.q, s.qd, s.qdd, external=external)
    result = mechanism.inverse_dynamics(s.q, s.qd, s.qdd, external=external, method=method)
    assert zoo.relative_error(result, tau) <= TOLERANCE
    result = mechanism.forward_dynamics(s.q, s.qd, tau, external=external, method=method)
    assert zoo.relative_error(result, s.qdd) <= bound(mechanism, s.q)
    for quantity, state in (("mass_matrix", (s.q,)), ("bias_forces", (s.q, s.qd))):
        f = getattr(mechanism, quantity)
        assert zoo.relative_error(f(*state, method=method), f(*state)) <= TOLERANCE


def test_reactions(mechanism, method):
    s = zoo.motion(mechanism, seed=4)
    external = {mechanism.frames[-1]: WRENCH}
    expected = mechanism.reactions(s.q, s.qd, s.qdd, external=external)
    result = mechanism.reactions(s.q, s.qd, s.qdd, external=external, method=method)
    assert list(result) == list(expected)
    for joint, w in expected.items():
        assert zoo.relative_error(result[joint], w) <= TOLERANCE


def test_welds_kept_as_joints(method):
    merged = zoo.tree(11, 8, kinds=(*zoo.ONE_DEGREE, "fixed"))
    kept = kp.build(merged.model.description, merge_fixed=False).reference
    assert "fixed" in {body.pair.kind for body in kept.model.body[1:]}
    s = zoo.motion(kept)
    tau = merged.inverse_dynamics(s.q, s.qd, s.qdd)
    assert zoo.relative_error(kept.inverse_dynamics(s.q, s.qd, s.qdd, method=method), tau) <= TOLERANCE
    result = kept.forward_dynamics(s.q, s.qd, tau, method=method)
    assert zoo.relative_error(result, s.qdd) <= bound(merged, s.q)


def test_far_from_the_origin_no_digits_are_lost(method):
    """H does not know where the base floats; 10 km away nothing changes but the rounding of the position itself."""
    mechanism = TREES[6]
    s = zoo.motion(mechanism)
    far = s.q.copy()
    far[mechanism.model.q_span[1].start] += 1e4
    near = mechanism.mass_matrix(s.q)
    assert zoo.relative_error(mechanism.mass_matrix(far, method=method), near) < 1e-13
    tau = mechanism.inverse_dynamics(s.q, s.qd, s.qdd)
    result = mechanism.inverse_dynamics(far, s.qd, s.qdd, method=method)
    assert zoo.relative_error(result, tau) < 1e-12


def test_batches(method):
    mechanism = TREES[2]
    S = zoo.motions(mechanism, 4)
    tau = mechanism.inverse_dynamics(S.q, S.qd, S.qdd, method=method)
    qdd = mechanism.forward_dynamics(S.q, S.qd, tau, method=method)
    H = mechanism.mass_matrix(S.q, method=method)
    for k in range(4):
        one = mechanism.inverse_dynamics(S.q[k], S.qd[k], S.qdd[k], method=method)
        assert zoo.relative_error(tau[k], one) < 1e-13
        assert zoo.relative_error(qdd[k], S.qdd[k]) <= bound(mechanism, S.q[k])
        assert zoo.relative_error(H[k], mechanism.mass_matrix(S.q[k], method=method)) < 1e-13


@pytest.mark.parametrize("name", ["stanford-arm", "floating-arm"])
def test_compiled_is_the_reference(name, method):
    m = kp.example(name)
    s = zoo.motions(m, 5)
    calls = {
        "inverse_dynamics": (s.q, s.qd, s.qdd),
        "forward_dynamics": (s.q, s.qd, s.qdd),
        "mass_matrix": (s.q,),
        "bias_forces": (s.q, s.qd),
    }
    for quantity, state in calls.items():
        expected = getattr(m.reference, quantity)(*state, method=method)
        allowed = max(1e-12, 100 * EPS * max(np.linalg.cond(m.reference.mass_matrix(q)) for q in s.q))
        assert zoo.relative_error(getattr(m, quantity)(*state, method=method), expected) <= allowed
        one = getattr(m, quantity)(*(x[0] for x in state), method=method)
        assert zoo.relative_error(one, expected[0]) <= allowed
    fixed = m.reactions(s.q, s.qd, s.qdd, method=method)
    for joint, w in m.reference.reactions(s.q, s.qd, s.qdd, method=method).items():
        assert zoo.relative_error(fixed[joint], w) < 1e-12


def test_planar_arm_to_the_printed_digits(method):
    """E1: H, and h = C q̇ + gravity."""
    arm = kp.example("planar-3r").reference
    q, qd = np.array([0.3, -0.4, 0.5]), np.array([1, -2, 0.5])
    H = (
        (0.213184102627, 0.090793774116, 0.021930597372),
        (0.090793774116, 0.046403445605, 0.012080056136),
        (0.021930597372, 0.012080056136, 0.00484),
    )
    convective = np.array((0.003707708639, -0.010648391492, 0.004943611518))
    gravity = np.array((4.189276456383, 1.518298933261, 0.298175075589))
    assert np.abs(arm.mass_matrix(q, method=method) - H).max() < 1e-11
    assert np.abs(arm.gravity_forces(q, method=method) - gravity).max() < 1e-11
    assert np.abs(arm.bias_forces(q, qd, method=method) - convective - gravity).max() < 2e-11


@pytest.mark.parametrize("name", ["stanford-arm", "kr5", "scara"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_formulas_of_arms_stay_short(name, quantity, method):
    """Compile time is linear in the operations and starts at that of some 370: at most five times the default's."""
    arm = kp.example(name)
    ours, default = (arm.kernel(quantity, method=x).count["total"] for x in (method, None))
    assert EMPTY + ours <= 5 * (EMPTY + default)


# Symbols.


def _block(model, q, qd, tau):
    w = no_wrenches(model)
    joints = screw_block.tree_joints(model, q, qd)
    return screw_block.block_system(model, q, qd, w, joints, screw_block.tree_drives(model, q, qd, tau))


SYMBOLIC = {
    "inverse": lambda way, m, *s: way.inverse_dynamics(m, *s, no_wrenches(m)),
    "forward": lambda way, m, *s: way.forward_dynamics(m, *s, no_wrenches(m)),
    "mass matrix": lambda way, m, q, *_: way.mass_matrix(m, q),
    "reactions": lambda way, m, *s: way.reactions(m, *s, no_wrenches(m))[1:],
    "multipliers": lambda way, m, *s: screw_block.block_solve(m, *s, no_wrenches(m)).eta[1:],
    "block system": lambda way, m, *s: _block(m, *s),
    "joint vectors": lambda way, m, q, *_: list(
        roberson_wittenburg.carried_vectors(m, q, roberson_wittenburg.arcs_of(m)).values()
    ),
}


def _flat(x):
    parts = x if isinstance(x, (tuple, list)) else [x]
    return np.concatenate([reveal(part).reshape(-1) for part in parts])


@pytest.mark.parametrize("equation", SYMBOLIC)
def test_symbols_give_what_floats_give(equation, method):
    """On numbers that cannot be looked at."""
    for m in (TREES[2], TREES[6]):
        s = zoo.motion(m, 3)
        state = (s.q, s.qd, s.qdd)
        plain = SYMBOLIC[equation](METHODS[method], m.model, *state)
        recorded = SYMBOLIC[equation](METHODS[method], m.model, *(hide(x) for x in state))
        assert zoo.relative_error(_flat(recorded), _flat(plain)) < 1e-11


def test_constants_kept_as_symbols(method):
    arm = kp.example("stanford-arm")
    model, s = arm.model, zoo.motion(arm)
    link, joint = model.names[3], model.joint_names[4]
    names = (f"{link}.mass", f"{link}.com.x", f"{link}.inertia.xy", f"{joint}.z")
    values = (3.0, 0.1, 0.02, 0.3)
    expected = arm.kernel("inverse_dynamics", parameters=names)(s.q, s.qd, s.qdd, *values)
    result = arm.kernel("inverse_dynamics", method=method, parameters=names)(s.q, s.qd, s.qdd, *values)
    assert zoo.relative_error(result, expected) <= 1e-12


# Work.


@pytest.mark.parametrize(
    ("tally", "formulation"),
    [
        (operations.inverse, screw),
        (operations.forward, screw),
        (operations.inverse, roberson_wittenburg),
    ],
    ids=["inverse, screw", "forward, screw", "inverse, roberson-wittenburg"],
)
def test_operations_are_linear_in_the_number_of_bodies(tally, formulation):
    sizes = (5, 10, 20)
    counts = [tally(dh_chain(n).model, formulation) for n in sizes]
    for operation in ("mul", "add", "div", "sin", "cos"):
        x = [count[operation] for count in counts]
        assert (x[1] - x[0]) * 2 == x[2] - x[1], (operation, x)


# The block system.


@pytest.fixture(params=TREES[:4] + TREES[5:], ids=lambda m: m.name)
def tree(request) -> kp.Mechanism:
    return request.param


def test_elimination_solves_the_block_system(tree):
    """A and η of all bodies by LAPACK on the whole matrix, with rotors and loads on every body."""
    s, w, model = zoo.motion(tree, seed=5), wrenches(tree), tree.model
    tau = 10.0 * s.qdd
    joints = screw_block.tree_joints(model, s.q, s.qd)
    drives = screw_block.tree_drives(model, s.q, s.qd, tau)
    K, right = screw_block.block_system(model, s.q, s.qd, w, joints, drives)
    assert np.abs(K - K.T).max() <= 8 * EPS * np.abs(K).max()
    x = np.linalg.solve(K, right)
    result = screw_block.block_solve(model, s.q, s.qd, tau, w)
    allowed = bound(tree, s.q)
    n = 6 * len(model.moving)
    assert zoo.relative_error(np.concatenate(result.A[1:]), x[:n]) <= allowed
    assert zoo.relative_error(np.concatenate(result.eta[1:]), x[n:]) <= allowed
    other = composite.forward_dynamics(model, s.q, s.qd, tau, w)
    assert zoo.relative_error(result.solution.qdd, other.qdd) <= allowed
    assert (result.solution.pivots > 0).all()
    assert (result.solution.pivots <= result.solution.scales * (1 + 1e-9)).all()


def test_multipliers_of_driven_joints_are_the_efforts(tree):
    s, w, model = zoo.motion(tree, seed=6), no_wrenches(tree.model), tree.model
    joints = screw_block.tree_joints(model, s.q, s.qd)
    drives = screw_block.tree_drives(model, s.q, s.qd, np.zeros(tree.nv))
    qdd, tau = rates(model, s.qdd), rates(model, tree.inverse_dynamics(s.q, s.qd, s.qdd))
    rows = screw_block.driven(drives, qdd[1:])
    x = np.linalg.solve(*screw_block.block_system(model, s.q, s.qd, w, [*joints, *rows]))
    handed = np.concatenate([tau[j] - model.body[j].rotor * qdd[j] for j in model.moving])
    assert zoo.relative_error(x[len(x) - tree.nv :], handed) <= TOLERANCE


def test_wrench_of_a_joint_is_what_it_holds_and_what_it_drives(tree):
    """W = C η + D (τ − rotor q̈) by two roads: elimination, and the sums of the inverse dynamics."""
    s, w, model = zoo.motion(tree, seed=7), wrenches(tree), tree.model
    tau = 10.0 * s.qdd
    result = screw_block.block_solve(model, s.q, s.qd, tau, w)
    W, _, where = screw.wrenches(model, s.q, s.qd, result.solution.qdd, w)
    in_world = kinematics.poses(model, s.q)
    joints = screw_block.tree_joints(model, s.q, s.qd)
    drives = screw_block.tree_drives(model, s.q, s.qd, tau)
    qdd = rates(model, result.solution.qdd)
    for j, joint, drive in zip(model.moving, joints, drives, strict=True):
        handed = drive.effort - drive.rotor * qdd[j]
        both = joint.C @ result.eta[j] + drive.D @ handed
        moved = force_moved(np.eye(3), in_world[j].a - where[j].a, W[j])
        assert zoo.relative_error(both, moved) <= bound(tree, s.q)


def test_links_without_mass_do_no_harm():
    """A cross-shaped wrist of two hinges: the cross weighs nothing, so its own inertia has no inverse."""
    builder = kp.Builder("wrist").link("cross")
    builder.link("hand", mass=1.0, com=[0.1, 0, 0], inertia=[0.01, 0.02, 0.02])
    builder.joint("a", "revolute", "ground", "cross", axis="x")
    builder.joint("b", "revolute", "cross", "hand", axis="y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        wrist = kp.build(builder).reference
    s = zoo.motion(wrist)
    tau = wrist.inverse_dynamics(s.q, s.qd, s.qdd)
    for method in METHODS:
        assert zoo.relative_error(wrist.forward_dynamics(s.q, s.qd, tau, method=method), s.qdd) < 1e-12


def farthest(model: Model) -> tuple[int, int]:
    """The two bodies with most joints between them."""
    path = {i: set(model.path_to_ground(i)) for i in model.moving}
    return max(combinations(model.moving, 2), key=lambda pair: len(path[pair[0]] ^ path[pair[1]]))


@pytest.mark.parametrize("seed", range(3))
def test_a_ball_joint_between_two_tips(seed):
    """A joint beyond the tree as columns of C; the other road is H q̈ + h = τ + Gᵀ λ in the rates.

    Six joints lie between the two bodies: fewer than three could not move as the three rows say, and the
    system would be singular.
    """
    mechanism = zoo.tree(seed, 9, kinds=zoo.ONE_DEGREE, floating=True)
    model, s, w = mechanism.model, zoo.motion(mechanism, seed), no_wrenches(mechanism.model)
    where = kinematics.poses(model, s.q)
    moving = screw_bodies.motions(model, s.q, s.qd, where)
    i, j = farthest(model)
    extra = screw_block.holding(Spherical(), np.array([0, 0, 0, 1]), np.zeros(3), where[i], moving[i].V, i, j)
    joints = [*screw_block.tree_joints(model, s.q, s.qd), extra]
    drives = screw_block.tree_drives(model, s.q, s.qd, s.qdd)
    x = np.linalg.solve(*screw_block.block_system(model, s.q, s.qd, w, joints, drives))

    def between(f, *state):
        return f(model, *state, j) - f(model, *state, i)

    G = extra.C.T @ between(screw_bodies.jacobian, s.q)
    Gd = extra.Cd.T @ between(screw_bodies.jacobian, s.q)
    Gd = Gd + extra.C.T @ between(screw_bodies.jacobian_rate, s.q, s.qd)
    H, h = mechanism.mass_matrix(s.q), mechanism.bias_forces(s.q, s.qd)
    KKT = np.block([[H, -G.T], [G, np.zeros((3, 3))]])
    y = np.linalg.solve(KKT, np.concatenate([s.qdd - h, -Gd @ s.qd]))
    allowed = max(TOLERANCE, 100 * EPS * np.linalg.cond(KKT))
    assert zoo.relative_error(x[-3:], y[-3:]) <= allowed
    J, Jd = screw_bodies.jacobian(model, s.q, j), screw_bodies.jacobian_rate(model, s.q, s.qd, j)
    A_j = J @ y[:-3] + Jd @ s.qd
    assert zoo.relative_error(x[6 * j - 6 : 6 * j], A_j) <= allowed


def test_multipliers_of_a_batch_are_those_of_its_states():
    mechanism = TREES[1]
    model, S = mechanism.model, zoo.motions(mechanism, 3)
    q, qd, tau = columns(S.q), columns(S.qd), columns(S.qdd)
    w = no_wrenches(model)
    many = screw_block.block_solve(model, q, qd, tau, w)
    for k in range(3):
        one = screw_block.block_solve(model, S.q[k], S.qd[k], S.qdd[k], w)
        for j in model.moving:
            row = np.array([np.broadcast_to(x, 3)[k] for x in many.eta[j]])
            assert zoo.relative_error(row, one.eta[j]) < 1e-11
