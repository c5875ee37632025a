"""Loops over the bodies, one formula for all of them, and the reference: the same numbers for every kind of pair."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import robots
import zoo
from kinpair.compiler.kernel import Kernel
from kinpair.description.parts import Friction
from kinpair.evaluation import body_loops
from kinpair.evaluation.kernels import COMPILED, LOOPED, Kernels
from kinpair.evaluation.quantities.request import request_of
from kinpair.formulations import articulated, denoc
from kinpair.mechanism import Mechanism
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods import looped

TREES = [zoo.tree(3, 6), zoo.tree(4, 14), zoo.tree(5, 8, floating=True), zoo.tree(6, 1)]
BUNDLED = [
    name for name in kp.examples() if not body_loops.obstacle(kp.example(name).model, request_of("energy"))
]
ASKED = [
    ("inverse_dynamics", "newton-euler"),
    ("inverse_dynamics", "denoc"),
    ("forward_dynamics", "newton-euler"),
    ("forward_dynamics", "denoc"),
    ("bias_forces", "newton-euler"),
    ("gravity_forces", "newton-euler"),
    ("energy", ""),
    ("centre_of_mass", ""),
    ("momentum", ""),
    ("dq_dt", ""),
]
OF_LINKS = [("pose_rows", ""), ("wrenches", "")]  # where no link is welded to another


def states(mechanism, quantity, batch=5):
    s = zoo.motions(mechanism, batch, 11)
    every = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.qdd}
    return [every[name] for name in COMPILED[quantity].state]


def first(result):
    """Accelerations without the numbers that judge their solve."""
    return result[0] if isinstance(result, tuple) else result


def _request(quantity, method):
    if quantity == "wrenches":
        return replace(request_of("reactions"), quantity="wrenches")
    return request_of(quantity, method=method or None)


def _reference(mechanism, quantity, state):
    """The quantity by floats, in the form of the kernel."""
    if quantity == "energy":
        return np.stack(mechanism.energy(*state), -1)
    if quantity == "pose_rows":
        poses = mechanism.poses(*state).values()
        return np.stack([np.concatenate([x.rotation.reshape(-1, 9), x.position], -1) for x in poses], -2)
    if quantity == "wrenches":
        return np.stack(list(mechanism.reactions(*state).values()), -2)
    return first(getattr(mechanism, quantity)(*state))


def agree(mechanism, quantity, method):
    state = states(mechanism, quantity)
    kernels = Kernels(mechanism.model)
    request = _request(quantity, method)
    loops = kernels.get(request, rolled=True)
    expected = first(kernels.get(request, rolled=False)(*state))
    by_floats = Mechanism(mechanism.model, compiled=False)
    reference = _reference(by_floats, quantity, state)
    H = Mechanism(mechanism.model, compiled=False).mass_matrix(state[0])
    close = max(1e-10, 100 * np.finfo(float).eps * np.linalg.cond(H).max()) if quantity[0] == "f" else 1e-10
    assert zoo.relative_error(first(loops(*state)), expected) < close
    assert zoo.relative_error(expected, reference) < close
    for form in (loops, loops.interpret):
        assert zoo.relative_error(first(form(*(x[0] for x in state))), expected[0]) < close


@pytest.mark.parametrize(("quantity", "method"), ASKED)
@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_loops_give_what_one_formula_and_the_reference_give(mechanism, quantity, method):
    agree(mechanism, quantity, method)


@pytest.mark.parametrize(("quantity", "method"), OF_LINKS)
@pytest.mark.parametrize("mechanism", [TREES[0], TREES[2], TREES[3]], ids=lambda m: m.name)
def test_loops_give_the_rows_of_links(mechanism, quantity, method):
    agree(mechanism, quantity, method)


@pytest.mark.parametrize("name", BUNDLED)
def test_loops_agree_on_bundled_trees(name):
    for quantity, method in (("inverse_dynamics", "newton-euler"), ("forward_dynamics", "newton-euler")):
        agree(kp.example(name), quantity, method)


def test_bundled_trees_are_there():
    assert len(BUNDLED) >= 8


@pytest.mark.parametrize("solve", [articulated.solve, denoc.solve], ids=["articulated", "denoc"])
def test_pivots_are_those_of_the_same_solve(solve):
    mechanism = TREES[2]
    s = zoo.motion(mechanism, 3)
    kernel = Kernel(
        body_loops.rolled(mechanism.model, "solve", ("q", "tau"), lambda q, tau, model: solve(model, q, tau))
    )
    for x, y in zip(kernel(s.q, s.qdd), solve(mechanism.model, s.q, s.qdd), strict=True):
        assert zoo.relative_error(x, y) < 1e-12


def test_a_thousand_links_agree():
    chain = zoo.tree(7, 1000, kinds=zoo.ONE_DEGREE, reach=1)
    mechanism = Mechanism(chain.model)
    s = zoo.motion(chain, 1)
    state = s.q, 0.01 * s.qd, s.qdd
    tau = mechanism.inverse_dynamics(*state)
    assert zoo.relative_error(tau, chain.inverse_dynamics(*state)) < 1e-10
    assert np.abs(tau).max() > 1
    assert mechanism.energy(*state[:2]).kinetic == pytest.approx(chain.energy(*state[:2]).kinetic, rel=1e-12)


def test_forward_and_inverse_dynamics_of_three_thousand_links_are_inverse():
    chain = zoo.tree(7, 3_000, kinds=("revolute",), reach=2)
    mechanism = Mechanism(chain.model)
    s = zoo.motion(chain, 1)
    tau = s.qdd
    qdd = mechanism.forward_dynamics(s.q, 0.01 * s.qd, tau)
    scale = np.abs(mechanism.bias_forces(s.q, 0.01 * s.qd)).max()
    again = mechanism.inverse_dynamics(s.q, 0.01 * s.qd, qdd)
    assert np.abs(again - tau).max() < 1e-6 * max(1.0, scale)


@pytest.mark.parametrize("axes", ["joint", "child", "world"])
def test_reactions_of_a_long_chain_agree_in_all_axes(axes):
    chain = zoo.tree(7, 150, reach=2)
    s = zoo.motion(chain, 1)
    found = Mechanism(chain.model).reactions(s.q, s.qd, s.qdd, axes=axes)
    reference = chain.reactions(s.q, s.qd, s.qdd, axes=axes)
    assert list(found) == list(reference)
    assert zoo.relative_error(np.stack([*found.values()]), np.stack([*reference.values()])) < 1e-10


def test_poses_of_a_long_chain_agree():
    chain = zoo.tree(7, 400, kinds=zoo.ONE_DEGREE, reach=2)
    q = zoo.motion(chain, 1).q
    found, reference = Mechanism(chain.model).poses(q), chain.poses(q)
    assert list(found) == list(reference)
    for name in found:
        for x, y in zip(found[name], reference[name], strict=True):
            assert zoo.relative_error(x, y) < 1e-10


def test_springs_and_dampers_of_joints_act_in_loops():
    builder = kp.Builder("springs")
    parent = "ground"
    for k in range(3):
        builder.link(f"link {k}", mass=1.0 + k, com=(0.2, 0.1, 0.0), inertia=(0.02, 0.03, 0.04))
        builder.joint(
            f"joint {k}",
            "revolute" if k != 1 else "prismatic",
            parent,
            f"link {k}",
            xyz=(0.3, 0.0, 0.1 * k),
            axis=(0.0, k % 2, 1.0),
            stiffness=3.0 * k,
            rest=0.2,
            damping=0.1 * (2 - k),
        )
        parent = f"link {k}"
    mechanism = kp.build(builder)
    for quantity, method in (*ASKED[:5], ASKED[6]):
        agree(mechanism, quantity, method)


def test_code_does_not_grow_with_the_links():
    sizes = []
    for n in (50, 500):
        model = zoo.tree(7, n, kinds=zoo.ONE_DEGREE, reach=2).model
        sizes.append(len(Kernels(model).get(request_of("forward_dynamics"), rolled=True).llvm))
    assert sizes[1] < 1.02 * sizes[0]


def test_planar_chains_have_planar_steps():
    """What is zero for every body of a chain in a plane is no part of the code."""
    counts = {}
    for name, turned in (("planar", (0.0, 0.0, 0.0)), ("spatial", (0.3, 0.2, 0.1))):
        builder = kp.Builder(name)
        parent = "ground"
        for k in range(20):
            builder.link(f"link {k}", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.01, 0.01, 0.01))
            builder.joint(f"joint {k}", "revolute", parent, f"link {k}", xyz=(0.2, 0.0, 0.0), rpy=turned)
            parent = f"link {k}"
        kernel = kp.build(builder).kernel("forward_dynamics", rolled=True)
        counts[name] = kernel.count["total"]
    assert 3 * counts["planar"] < counts["spatial"]


def test_loops_are_chosen_by_operations():
    short, long = zoo.tree(8, 15, kinds=("revolute",)), zoo.tree(8, 60, kinds=("revolute",))
    request = request_of("forward_dynamics")
    assert not Kernels(short.model).is_rolled(request)
    assert Kernels(long.model).is_rolled(request)
    assert not Kernels(long.model).is_rolled(request_of("gravity_forces"))


@pytest.mark.parametrize("name", ["g1_29dof_rev_1_0", "talos_reduced"])
def test_a_formula_that_folds_well_is_taken_where_its_loops_have_more_operations_than_the_limit(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        model = kp.load(robots.urdf(name), constraints=False).model
    request, kernels = request_of("forward_dynamics"), Kernels(model)
    loops, formula = (kernels.get(request, rolled=rolled).count["total"] for rolled in (True, False))
    assert loops > LOOPED
    assert 2 * formula < loops
    assert not kernels.is_rolled(request)
    assert not looped.is_looped(Dynamics(model, driven=False))


def test_what_has_no_loops_is_evaluated_by_the_reference():
    chain = zoo.tree(8, 130, kinds=("revolute",), reach=2)
    mechanism = Mechanism(chain.model)
    s = zoo.motion(chain, 1)
    assert (mechanism.coriolis_matrix(s.q, s.qd) == chain.coriolis_matrix(s.q, s.qd)).all()


@pytest.mark.parametrize("mechanism", [*TREES, kp.example("four-bar")], ids=lambda m: m.name)
def test_mass_operators_are_the_matrix_and_its_inverse(mechanism):
    q = zoo.motion(mechanism, 4).q
    H = mechanism.mass_matrix(q)
    product, solution = mechanism.mass_operator(q), mechanism.mass_operator(q, inverse=True)
    every = np.eye(mechanism.nv)
    assert zoo.relative_error(product @ every, H) < 1e-12
    assert zoo.relative_error(H @ (solution @ every), every) < 1e-14 * np.linalg.cond(H) + 1e-12
    assert zoo.relative_error(product.H @ every, H.T) < 1e-12


def test_mass_operators_of_a_long_chain_are_inverse():
    mechanism = Mechanism(zoo.tree(7, 400, kinds=("revolute",), reach=2).model)
    q, x = zoo.motion(mechanism, 1).q, np.random.default_rng(2).normal(size=mechanism.nv)
    product, solution = mechanism.mass_operator(q), mechanism.mass_operator(q, inverse=True)
    f = product @ x
    assert np.abs(product @ (solution @ f) - f).max() < 1e-10 * np.abs(f).max()


@pytest.mark.parametrize("mechanism", [*TREES, kp.example("four-bar")], ids=lambda m: m.name)
def test_sparse_mass_matrices_are_the_mass_matrix(mechanism):
    q = zoo.motion(mechanism, 4).q
    H = Mechanism(mechanism.model).sparse_mass_matrix(q)
    assert zoo.relative_error(H.toarray(), mechanism.mass_matrix(q)) < 1e-12


def test_mass_matrices_of_long_trees_have_the_entries_of_carriers_alone():
    tree = zoo.tree(7, 200, kinds=("revolute",), reach=40)
    q = zoo.motion(tree, 1).q
    mechanism = Mechanism(tree.model)
    H, expected = mechanism.sparse_mass_matrix(q), tree.mass_matrix(q)
    assert H.nnz == np.count_nonzero(expected)
    assert zoo.relative_error(mechanism.mass_matrix(q), expected) < 1e-12


DIFFERENTIATED = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "gravity_forces": ("q",),
    "momentum": ("q", "qd"),
    "energy": ("q", "qd"),
}


@pytest.mark.parametrize("quantity", DIFFERENTIATED)
@pytest.mark.parametrize("mechanism", [TREES[0], TREES[2]], ids=lambda m: m.name)
def test_derivative_operators_are_differences_of_the_quantity(mechanism, quantity):
    compiled = Mechanism(mechanism.model)
    s, names = zoo.motion(mechanism, 3), DIFFERENTIATED[quantity]
    every = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.qdd}
    state = {name: every[name] for name in names}
    rng = np.random.default_rng(5)
    for by in names:
        operator = compiled.derivative_operator(quantity, by, **state)
        x, y = rng.normal(size=operator.shape[1]), rng.normal(size=operator.shape[0])

        def value(step, by=by, x=x):
            moved = dict(state)
            way = mechanism.dq_dt(s.q, x) if by == "q" else x
            moved[by] = state[by] + step * way
            result = getattr(mechanism, quantity)(*moved.values())
            return np.ravel(result if quantity != "energy" else np.array(result))

        differences = (8 * (value(1e-4) - value(-1e-4)) - (value(2e-4) - value(-2e-4))) / 12e-4
        assert zoo.relative_error(operator @ x, differences) < 1e-7
        assert y @ (operator @ x) == pytest.approx(x @ operator.rmatvec(y), rel=1e-9, abs=1e-9)


def test_derivative_operators_are_the_matrices():
    mechanism = kp.example("stanford-arm")
    s = zoo.motion(mechanism, 3)
    by_matrix = mechanism.inverse_dynamics_derivatives(s.q, s.qd, s.qdd)
    for by, expected in zip(("q", "qd"), by_matrix, strict=False):
        operator = mechanism.derivative_operator("inverse_dynamics", by, q=s.q, qd=s.qd, qdd=s.qdd)
        assert zoo.relative_error(operator @ np.eye(mechanism.nv), expected) < 1e-12
        assert zoo.relative_error(operator.H @ np.eye(mechanism.nv), expected.T) < 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.derivative_operator("mass_matrix", "q", q=m.model.neutral()),
            "no derivative operator of 'mass_matrix'",
        ),
        (lambda m: m.derivative_operator("gravity_forces", "qd", q=m.model.neutral()), "by q, not by 'qd'"),
        (lambda m: m.derivative_operator("gravity_forces", "q"), "is taken at q; given: nothing"),
    ],
)
def test_wrong_derivative_operators_are_explained(call, message):
    with pytest.raises(kp.InputError, match=message):
        call(kp.example("scara"))


def rough(seed: int, size: int) -> Mechanism:
    """A random tree with springs, dampers and friction of a constant level in its joints."""
    description = zoo.tree(seed, size).model.description
    rng = np.random.default_rng(seed)

    def own(joint):
        levels = rng.uniform(0.1, 1.0, 4)
        laws = Friction("coulomb", (("level", (levels[0],)), ("viscous", (levels[1],))))
        several = (levels[2], laws) if rng.random() < 0.5 else (laws,)
        return joint if joint.kind == "fixed" else replace(joint, friction=several, damping=(levels[3],))

    return kp.build(replace(description, joints=tuple(map(own, description.joints))))


@pytest.mark.parametrize(("seed", "size"), [(21, 5), (22, 13)])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias_forces", "energy"])
def test_friction_of_a_constant_level_in_loops(seed, size, quantity):
    agree(rough(seed, size), quantity, "")


def test_friction_at_rest_opposes_the_acceleration_in_loops():
    m = rough(23, 9)
    state = [x[0] for x in states(m, "inverse_dynamics")]
    state[1][::2] = 0.0
    loops, formula = (m.kernel("inverse_dynamics", rolled=rolled) for rolled in (True, False))
    assert zoo.relative_error(loops(*state), formula(*state)) < 1e-10


def test_friction_of_a_thousand_links_is_its_law():
    """Efforts with friction less efforts without: L sign q̇ + c q̇, to rounding of the efforts of the whole chain."""
    n, rng = 1000, np.random.default_rng(5)
    keys = {"friction": [0.3, 0.2], "damping": 0.05}
    m = kp.build(kp.Builder("rope").chain("r", n=n, length=10.0, mass=1.0, joint="universal", **keys))
    q, qd, qdd = (0.1 * rng.normal(size=m.nv) for _ in range(3))
    tau = m.inverse_dynamics(q, qd, qdd)
    law = np.tile([0.3, 0.2], n) * np.sign(qd) + 0.05 * qd
    error = np.abs(tau - m.inverse_dynamics(q, qd, qdd, passive=False) - law).max()
    assert error < 1e-13 * np.abs(tau).max()
    back = m.inverse_dynamics(q, qd, m.forward_dynamics(q, qd, tau))
    assert np.abs(back - tau).max() < 1e-9 * np.abs(tau).max()
