"""Popov–Vukobratović, Gibbs–Appell and Kane beside Newton–Euler.

Relative error ≤ 1e-9, forward dynamics 100·eps·cond(H) where that is larger; compiled code as in `test_kernels.py`.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import kinpair as kp
import zoo
from robots import urdf

METHODS = ["popov", "appell", "kane"]
TOLERANCE = 1e-9
COMPILED = 1e-12
PRINTED = 1e-11
EPS = np.finfo(float).eps
TREES = [
    *zoo.random_trees(seed=17, sizes=(1, 6, 25)),
    *zoo.random_trees(seed=18, sizes=(1, 6, 25), floating=True),
    *zoo.random_trees(seed=19, sizes=(20,), kinds=zoo.ONE_DEGREE, reach=1),
]
ROBOTS = [
    ("ur5_robot", "fixed"),
    ("g1_29dof_rev_1_0", "fixed"),
    ("anymal", "free"),
    ("allegro_left_hand", "free"),
]
KERNELS = ["scara", "floating-arm"]


@cache
def robot(name: str, base: str) -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf(name), base=base, constraints=False).reference


MECHANISMS = {m.name: (lambda m=m: m) for m in TREES} | {
    f"{name}, {base}": (lambda name=name, base=base: robot(name, base)) for name, base in ROBOTS
}


@pytest.fixture(params=MECHANISMS)
def mechanism(request):
    return MECHANISMS[request.param]()


@pytest.fixture
def motion(mechanism):
    return zoo.motion(mechanism, seed=4)


@pytest.fixture
def loads(mechanism):
    """A wrench on two frames, the first and the last one."""
    rng = np.random.default_rng(6)
    return {name: rng.normal(size=6) for name in (mechanism.frames[0], mechanism.frames[-1])}


def test_every_kind_of_pair_takes_part():
    assert {body.pair.kind for m in TREES for body in m.model.body[1:]} == set(zoo.KINDS) - {"fixed"}


@pytest.mark.parametrize("method", METHODS)
def test_inverse_dynamics(mechanism, motion, loads, method):
    state = motion.q, motion.qd, motion.qdd
    expected = mechanism.inverse_dynamics(*state, external=loads)
    assert (
        zoo.relative_error(mechanism.inverse_dynamics(*state, external=loads, method=method), expected)
        < TOLERANCE
    )


@pytest.mark.parametrize("method", METHODS)
def test_mass_matrix_and_bias_forces(mechanism, motion, loads, method):
    H, h = mechanism.mass_matrix(motion.q), mechanism.bias_forces(motion.q, motion.qd, external=loads)
    result = mechanism.mass_matrix(motion.q, method=method)
    assert zoo.relative_error(result, H) < TOLERANCE
    assert np.abs(result - result.T).max() <= 100 * EPS * np.abs(H).max()
    by_method = mechanism.bias_forces(motion.q, motion.qd, external=loads, method=method)
    assert zoo.relative_error(by_method, h) < TOLERANCE


@pytest.mark.parametrize("method", METHODS)
def test_forward_dynamics(mechanism, motion, loads, method):
    tau = 10.0 * motion.qdd
    expected = mechanism.forward_dynamics(motion.q, motion.qd, tau, external=loads)
    result = mechanism.forward_dynamics(motion.q, motion.qd, tau, external=loads, method=method)
    bound = max(TOLERANCE, 100 * EPS * np.linalg.cond(mechanism.mass_matrix(motion.q)))
    assert zoo.relative_error(result, expected) < bound


def test_reactions(mechanism, motion, loads):
    state = motion.q, motion.qd, motion.qdd
    expected = mechanism.reactions(*state, external=loads)
    result = mechanism.reactions(*state, external=loads, method="popov")
    assert list(result) == list(expected)
    for joint, w in expected.items():
        assert zoo.relative_error(result[joint], w) < TOLERANCE


@pytest.mark.parametrize("method", METHODS)
def test_batch_gives_what_single_states_give(method):
    tree = zoo.tree(18006, 6, floating=True)
    s = zoo.motions(tree, 3)
    tau = tree.inverse_dynamics(s.q, s.qd, s.qdd, method=method)
    qdd = tree.forward_dynamics(s.q, s.qd, tau, method=method)
    for k in range(3):
        one = tree.inverse_dynamics(s.q[k], s.qd[k], s.qdd[k], method=method)
        assert zoo.relative_error(tau[k], one) < 1e-13
        assert zoo.relative_error(qdd[k], s.qdd[k]) < 100 * EPS * np.linalg.cond(tree.mass_matrix(s.q[k]))


@pytest.mark.parametrize("method", METHODS)
def test_kept_welds_change_nothing(method):
    from kinpair.mechanism import Mechanism
    from kinpair.model.build import build

    merged = zoo.tree(5, 9, kinds=("fixed", "revolute", "spherical"))
    kept = Mechanism(build(merged.model.description, merge_fixed=False), compiled=False)
    s = zoo.motion(merged, 1)
    tau = merged.inverse_dynamics(s.q, s.qd, s.qdd)
    assert zoo.relative_error(kept.inverse_dynamics(s.q, s.qd, s.qdd, method=method), tau) < 1e-12
    assert zoo.relative_error(kept.mass_matrix(s.q, method=method), merged.mass_matrix(s.q)) < 1e-12


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", KERNELS)
def test_compiled_code_gives_what_the_reference_gives(name, method, quantity):
    m = kp.example(name)
    s = zoo.motions(m, 11)
    options = {
        "inverse_dynamics": (s.q, s.qd, s.qdd),
        "forward_dynamics": (s.q, s.qd, 10.0 * s.qdd),
        "mass_matrix": (s.q,),
    }[quantity]
    bound = COMPILED
    if quantity == "forward_dynamics":
        bound = max(bound, 100 * EPS * max(np.linalg.cond(H) for H in m.reference.mass_matrix(s.q)))
    expected = getattr(m.reference, quantity)(*options, method=method)
    assert zoo.relative_error(getattr(m, quantity)(*options, method=method), expected) < bound
    one = getattr(m, quantity)(*(x[3] for x in options), method=method)
    assert zoo.relative_error(one, expected[3]) < bound


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", KERNELS)
def test_compiled_code_with_wrenches_on_two_links(name, method):
    m = kp.example(name)
    s, rng = zoo.motions(m, 5), np.random.default_rng(7)
    loads = {frame: rng.normal(size=(5, 6)) for frame in (m.frames[1], m.frames[-1])}
    result, expected = (
        x.inverse_dynamics(s.q, s.qd, s.qdd, external=loads, method=method) for x in (m, m.reference)
    )
    assert zoo.relative_error(result, expected) < COMPILED


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_reactions(name):
    m = kp.example(name)
    s = zoo.motions(m, 5)
    result, expected = (x.reactions(s.q, s.qd, s.qdd, method="popov") for x in (m, m.reference))
    for joint, w in expected.items():
        assert zoo.relative_error(result[joint], w) < COMPILED


@pytest.mark.parametrize("method", METHODS)
def test_planar_arm(method):
    """E1: H, h and accelerations, to the digits printed."""
    arm = kp.example("planar-3r").reference
    q, qd = np.array([0.3, -0.4, 0.5]), np.array([1, -2, 0.5])
    H = (
        (0.213184102627, 0.090793774116, 0.021930597372),
        (0.090793774116, 0.046403445605, 0.012080056136),
        (0.021930597372, 0.012080056136, 0.00484),
    )
    convective = np.array((0.003707708639, -0.010648391492, 0.004943611518))
    gravity = np.array((4.189276456383, 1.518298933261, 0.298175075589))
    assert np.abs(arm.mass_matrix(q, method=method) - H).max() < PRINTED
    assert arm.bias_forces(q, qd, method=method) == pytest.approx(convective + gravity, abs=PRINTED, rel=0)
    qdd = (-3.219534893217, -66.732075425882, 139.176622634376)
    result = arm.forward_dynamics(q, qd, [0.5, -0.2, 0.1], method=method)
    assert result == pytest.approx(qdd, abs=PRINTED, rel=0)


@pytest.mark.parametrize("method", METHODS)
def test_three_cylinders(method):
    """E8: the torque of Vukobratović's chapter 1, which Gibbs–Appell gives too."""
    chain = kp.example("three-cylinders").reference
    result = chain.inverse_dynamics((0.3, 0.5, -0.4), (0.7, -0.2, 1.1), (0.5, 0.4, -0.6), method=method)
    torque = (1.170376640127, 8.651899317240, 1.486968429764)
    assert result == pytest.approx(torque, abs=PRINTED, rel=0)
