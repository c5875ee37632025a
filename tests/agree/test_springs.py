"""Springs between points beside the same springs by other roads, in every quantity."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.description.warning_list import WarningList
from kinpair.formulations.limits import refusal

K, C, REST = 120.0, 7.0, 0.6
A, B = np.array([0.4, 0.0, 0.3]), np.array([0.1, 0.0, -0.5])  # in the ground; in the second link


def arm() -> kp.Builder:
    """Two links in the plane x, z."""
    b = kp.Builder("arm")
    b.link("upper", mass=1.5, com=[0, 0, -0.4], inertia=[0.1, 0.12, 0.02])
    b.link("lower", mass=0.8, com=[0.05, 0, -0.3], inertia=[0.05, 0.06, 0.01])
    b.joint("shoulder", "revolute", "ground", "upper", axis="y", damping=0.2)
    return b.joint("elbow", "revolute", "upper", "lower", axis="y", xyz=[0, 0, -0.8])


def with_spring(**keys) -> kp.Mechanism:
    options = {"stiffness": K, "damping": C, "rest_length": REST, **keys}
    return kp.build(arm().spring("s", "ground", "lower", xyz=A, child_xyz=B, **options))


def with_leg() -> kp.Mechanism:
    """The same by a massless leg: it turns about A, slides along its own x axis, and ends in B."""
    b = arm().link("barrel").link("rod")
    b.joint("turn", "revolute", "ground", "barrel", axis="y", xyz=A)
    b.joint("stroke", "prismatic", "barrel", "rod", axis="x", stiffness=K, damping=C, rest=REST)
    b.loop("end", "revolute", "rod", "lower", axis="y", child_xyz=B)
    return kp.build(b)


@pytest.mark.parametrize("seed", range(5))
def test_a_spring_and_damper_is_a_massless_leg(seed):
    """A leg in one line with its joint spring does the same; the leg's rates follow from the arm's."""
    rng = np.random.default_rng(seed)
    m, leg = with_spring(), with_leg()
    q, qd, tau = rng.uniform(-1, 1, 2), rng.uniform(-3, 3, 2), rng.uniform(-5, 5, 2)
    lower = m.pose(q, "lower")
    d = lower.rotation @ B + lower.position - A
    J = m.jacobian(q, "lower")
    v = J[3:] @ qd + np.cross(J[:3] @ qd, lower.rotation @ B)
    length, phi = np.hypot(d[0], d[2]), np.arctan2(-d[2], d[0])
    n, across = np.array([np.cos(phi), 0, -np.sin(phi)]), np.array([-np.sin(phi), 0, -np.cos(phi)])
    whole = np.array([*q, phi, length]), np.array([*qd, v @ across / length, v @ n])
    qdd = m.forward_dynamics(q, qd, tau)
    assert zoo.relative_error(leg.forward_dynamics(*whole, [*tau, 0.0, 0.0])[:2], qdd) < 1e-12
    assert leg.energy(*whole).potential == pytest.approx(m.energy(q, qd).potential, rel=1e-12)


def test_a_spring_along_a_slide_is_a_spring_in_the_joint():
    """Where the line between the points is the axis of a slide the two are one thing."""
    plain = kp.Builder("slide").link("a", mass=2.0)
    in_joint = kp.Builder("slide").link("a", mass=2.0)
    plain.joint("x", "prismatic", "ground", "a", axis="z")
    plain.spring("s", "ground", "a", xyz=[0, 0, -3], stiffness=K, damping=C, rest_length=REST)
    in_joint.joint("x", "prismatic", "ground", "a", axis="z", stiffness=K, damping=C, rest=REST - 3)
    one, other = kp.build(plain), kp.build(in_joint)
    state = [0.3], [-0.7], [1.1]
    assert one.forward_dynamics(*state) == pytest.approx(other.forward_dynamics(*state), rel=1e-13)
    assert one.bias_forces(*state[:2]) == pytest.approx(other.bias_forces(*state[:2]), rel=1e-13)


def branched() -> kp.Mechanism:
    """Ball and free joints, and springs between branches, to a frame and to the ground."""
    plain = zoo.tree(31, 5, kinds=("revolute", "prismatic", "spherical"), floating=True).model.description
    b = kp.Builder("springs")
    b.spring("one", "link 2", "link 4", xyz=[0.1, 0.2, 0.3], stiffness=40.0, damping=3.0, rest_length=0.5)
    b.spring("two", "tip 0", "ground", child_xyz=[1, 1, 1], stiffness=20.0, rest_length=2.0, preload=4.0)
    b.spring("rope", "link 5", "link 1", stiffness=70.0, damping=2.0, rest_length=0.1, tension_only=True)
    return kp.build(replace(plain, springs=b.description().springs))


@pytest.fixture(scope="module")
def tree() -> kp.Mechanism:
    return branched()


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias_forces"])
def test_formulations_agree(tree, quantity):
    s = zoo.motion(tree, 3)
    state = (s.q, s.qd) if quantity == "bias_forces" else (s.q, s.qd, s.qdd)
    able = [x for x in tree.methods[quantity] if not refusal(tree.model, quantity, x)]
    assert len(able) >= 5
    results = {x: getattr(tree.reference, quantity)(*state, method=x) for x in able}
    for method, value in results.items():
        assert zoo.relative_error(value, results[able[0]]) < 1e-9, method


def test_reactions_agree_and_know_the_springs(tree):
    s = zoo.motion(tree, 4)
    every = {x: tree.reference.reactions(s.q, s.qd, s.qdd, method=x) for x in ("newton-euler", "denoc")}
    for joint, w in tree.reactions(s.q, s.qd, s.qdd).items():
        for result in every.values():
            assert zoo.relative_error(result[joint], w) < 1e-10
    without = tree.reactions(s.q, s.qd, s.qdd, passive=False)
    assert max(np.abs(without[x] - w).max() for x, w in every["denoc"].items()) > 1.0


def test_machine_code_batches_and_reference_agree(tree):
    s = zoo.motions(tree, 9, 5)
    for quantity, state in (
        ("inverse_dynamics", (s.q, s.qd, s.qdd)),
        ("forward_dynamics", (s.q, s.qd, s.qdd)),
        ("bias_forces", (s.q, s.qd)),
    ):
        batch = getattr(tree, quantity)(*state)
        assert zoo.relative_error(batch, getattr(tree.reference, quantity)(*state)) < 1e-10
        one = getattr(tree, quantity)(*(x[4] for x in state))
        assert zoo.relative_error(batch[4], one) < 1e-12
    assert tree.energy(s.q, s.qd).potential == pytest.approx(tree.reference.energy(s.q, s.qd).potential)


def test_derivatives_by_two_roads():
    """Of a free body with a rope to the ground and a spring to another one."""
    plain = zoo.tree(31, 2, kinds=("revolute",), floating=True).model.description
    b = kp.Builder("springs")
    b.spring("one", "link 2", "ground", xyz=[0.1, 0.2, 0.3], stiffness=40.0, damping=3.0, rest_length=0.5)
    b.spring("rope", "tip 0", "link 2", stiffness=70.0, damping=2.0, rest_length=0.1, tension_only=True)
    m = kp.build(replace(plain, springs=b.description().springs))
    s = zoo.motion(m, 6)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        compiled, complex_step = (getattr(x, name)(s.q, s.qd, s.qdd) for x in (m, m.reference))
        for result, expected in zip(compiled, complex_step, strict=True):
            assert zoo.relative_error(result, expected) < 1e-10


def test_gravity_forces_have_no_springs_and_passive_leaves_them_out(tree):
    s = zoo.motion(tree, 7)
    bare = kp.build(replace(tree.model.description, springs=()))
    assert tree.gravity_forces(s.q) == pytest.approx(bare.gravity_forces(s.q), rel=1e-12)
    without = tree.inverse_dynamics(s.q, s.qd, s.qdd, passive=False)
    assert without == pytest.approx(bare.inverse_dynamics(s.q, s.qd, s.qdd), rel=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart"])
def test_closed_mechanisms_by_every_solver_and_as_applied_forces(name):
    """A spring does what the same two forces, applied from outside, do."""
    plain = kp.example(name).reference
    link = plain.model.names[1]
    other = plain.model.names[-1]
    spring = kp.Builder("s").spring("s", "ground", link, xyz=[0.7, 0.3, 0.5], stiffness=90, rest_length=0.2)
    spring.spring("t", link, other, child_xyz=[0.2, 0.1, 0], stiffness=40, damping=3, rest_length=0.4)
    m = kp.build(replace(plain.model.description, springs=spring.description().springs)).reference
    q = m.start()
    rng = np.random.default_rng(1)
    qd, tau = m.velocities(q, guess=rng.normal(size=m.nv)), rng.normal(size=m.nv)
    external = _as_forces(plain, m.model.description.springs, q, qd)
    expected = plain.forward_dynamics(q, qd, tau, external=external)
    # rounding grows with the condition of A M⁻¹ Aᵀ, which for the embeddings is entered twice
    for solver in m.solvers:
        if solver in ("voronets", "chaplygin"):
            continue
        assert zoo.relative_error(m.forward_dynamics(q, qd, tau, solver=solver), expected) < 1e-8, solver
    qdd = m.forward_dynamics(q, qd, tau)
    with_forces = plain.reactions(q, qd, qdd, tau=tau, external=external)
    for joint, w in m.reactions(q, qd, qdd, tau=tau).items():
        assert zoo.relative_error(w, with_forces[joint]) < 1e-8


@pytest.mark.parametrize("rope", [False, True])
def test_derivatives_of_a_closed_mechanism_by_two_roads(rope):
    plain = kp.example("four-bar")
    spring = kp.Builder("s").spring(
        "s",
        "ground",
        "coupler",
        xyz=[0.7, 0.3, 0.5],
        stiffness=90,
        damping=4,
        rest_length=0.2,
        tension_only=rope,
    )
    m = kp.build(replace(plain.model.description, springs=spring.description().springs))
    q = m.start()
    qd, tau = m.velocities(q, {"crank": 1.3}), np.array([0.3, 0.2, 0.1])
    compiled, jets = (x.forward_dynamics_derivatives(q, qd, tau) for x in (m, m.reference))
    for result, expected in zip(compiled, jets, strict=True):
        assert zoo.relative_error(result, expected) < 1e-9


def _as_forces(m, springs, q, qd) -> dict[str, np.ndarray]:
    """Wrenches at the origins of the links, world axes, by plain vectors."""
    results: dict[str, np.ndarray] = {}
    for s in springs:
        ends = []
        for name, point in ((s.parent, s.xyz), (s.child, s.child_xyz)):
            R, a = m.pose(q, name)
            r = R @ np.array(point)
            t = m.jacobian(q, name) @ qd
            ends.append((name, r, a + r, t[3:] + np.cross(t[:3], r)))
        (parent, r_A, x_A, v_A), (child, r_B, x_B, v_B) = ends
        d = x_B - x_A
        n = d / np.linalg.norm(d)
        F = s.stiffness * (np.linalg.norm(d) - s.rest_length) + s.damping * (n @ (v_B - v_A)) + s.preload
        for name, r, f in ((parent, r_A, F * n), (child, r_B, -F * n)):
            results[name] = results.get(name, 0.0) + np.concatenate([np.cross(r, f), f])
    return {name: w for name, w in results.items() if name != "ground"}


def test_other_forms_of_the_mechanism_keep_the_springs(tree):
    s = zoo.motion(tree, 8)
    expected = tree.inverse_dynamics(s.q, s.qd, s.qdd)
    again = pickle.loads(pickle.dumps(tree))
    description = parse_toml(to_toml(tree.model.description), source="x.toml", warnings=WarningList())
    written = kp.build(replace(description, warnings=()))  # its quaternions are not of unit length
    welded = kp.build(tree.model.description, merge_fixed=False)
    for other in (again, written, welded, tree.without_constraints()):
        assert other.inverse_dynamics(s.q, s.qd, s.qdd) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert written.model.description.springs == tree.model.description.springs
    split, maps = tree.split()
    tau = split.inverse_dynamics(*maps.to_split(s.q, s.qd, s.qdd))
    expected = maps.efforts_to_split(maps.to_split(s.q, s.qd, s.qdd)[0], expected)
    assert zoo.relative_error(tau, expected) < 1e-9


def test_numbers_of_springs_are_parameters():
    values = {"s.stiffness": 55.0, "s.damping": 2.0, "s.rest_length": 0.9, "s.preload": 3.0}
    keys = {name.removeprefix("s."): x for name, x in values.items()}
    m, other = with_spring(), with_spring(**keys)
    options = {"duration": 1.0, "integrator": "rk4", "dt": 1e-2}
    result = kp.simulate(m, [0.4, -0.3], [0, 0], parameters=values, **options)
    expected = kp.simulate(other, [0.4, -0.3], [0, 0], **options)
    assert result.q == pytest.approx(expected.q, rel=1e-12, abs=1e-12)
    assert result.loss == pytest.approx(expected.loss, rel=1e-12, abs=1e-12)
    kernel = m.kernel("inverse_dynamics", parameters=tuple(values))
    state = [np.array(x) for x in ([0.4, -0.3], [1.0, 2.0], [0.5, 0.6])]
    tau = kernel(*state, *values.values())
    assert tau == pytest.approx(other.inverse_dynamics(*state), rel=1e-12)


def test_a_damping_that_is_zero_may_be_a_parameter():
    m = with_spring(damping=0.0)
    options = {"duration": 1.0, "integrator": "rk4", "dt": 1e-2}
    run = kp.simulate(m, [0.4, -0.3], [0, 0], parameters={"s.damping": np.array([0.0, 4.0])}, **options)
    other = kp.simulate(with_spring(damping=4.0), [0.4, -0.3], [0, 0], **options)
    assert run.loss[1] == pytest.approx(other.loss, rel=1e-12, abs=1e-12)
    assert run.q[1] == pytest.approx(other.q, rel=1e-12, abs=1e-12)


def test_exported_casadi_code_has_the_springs():
    casadi = pytest.importorskip("casadi")
    m = with_spring(tension_only=True)
    state = [np.array(x) for x in ([0.4, -0.3], [1.0, 2.0], [0.5, 0.6])]
    f = m.kernel("inverse_dynamics").casadi()
    assert isinstance(f, casadi.Function)
    assert f(*state).full().ravel() == pytest.approx(m.inverse_dynamics(*state), rel=1e-12)
