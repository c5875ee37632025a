"""Inverse dynamics of closed mechanisms acts on the actuated joints, and on no other."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import closed
import kinpair as kp
import zoo
from families import family

USUAL = {"stewart", "delta", "four-bar", "diff-drive", "gripper"}
BUNDLED = [x for x in kp.examples(systems=False) if getattr(kp.example(x), "closure", None) is not None]
FEW = {str(seed) for seed in range(10)}
ALIKE = "closed mechanisms whose joints and constraints are those of others"


@cache
def random_closed(seed: int) -> tuple[kp.Mechanism, np.ndarray]:
    return closed.random_closed(seed)


def check_actuated_joints_make_the_motion(m: kp.Mechanism, q: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    qd = m.velocities(q, guess=rng.normal(size=m.nv))
    qdd = m.accelerations(q, qd, guess=rng.normal(size=m.nv))
    tau = m.inverse_dynamics(q, qd, qdd)
    others = [k for k, name in enumerate(m.v_names) if name not in m.actuated()]
    assert (tau[others] == 0.0).all()
    assert zoo.relative_error(m.forward_dynamics(q, qd, tau), qdd) < 1e-9


@pytest.mark.parametrize("name", family(BUNDLED, USUAL, ALIKE))
def test_efforts_on_the_actuated_joints_of_an_example_make_its_motion(name):
    m = kp.example(name)
    for seed in range(3):
        near = m.start() + 0.05 * np.random.default_rng(seed).normal(size=m.nq)
        check_actuated_joints_make_the_motion(m, m.assemble(near), seed)


@pytest.mark.parametrize("seed", family(range(200), FEW, ALIKE))
def test_efforts_on_the_actuated_joints_of_a_random_mechanism_make_its_motion(seed):
    m, q = random_closed(seed)
    check_actuated_joints_make_the_motion(m, q, seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_regressor_of_the_actuated_joints_gives_their_efforts(seed):
    m, q = random_closed(seed)
    rng = np.random.default_rng(seed)
    qd = m.velocities(q, guess=rng.normal(size=m.nv))
    qdd = m.accelerations(q, qd, guess=rng.normal(size=m.nv))
    Y, parameters = m.regressor(q, qd, qdd), m.regressor_parameters()
    assert zoo.relative_error(Y @ parameters, m.inverse_dynamics(q, qd, qdd)) < 1e-10
    twice = m.regressor(np.array([q, q]), np.array([qd, qd]), np.array([qdd, qdd]))
    assert all(zoo.relative_error(one, Y) < 1e-12 for one in twice)
    tree = m.without_constraints()
    assert (m.regressor(q, qd, qdd, actuators="all") == tree.regressor(q, qd, qdd)).all()


@pytest.mark.parametrize("name", family(["stewart", "five-bar"], ["five-bar"], ALIKE))
def test_derivatives_of_the_actuated_joints_are_differences_of_their_efforts(name):
    """Along accelerations that keep the constraints, where the efforts are linear."""
    m = kp.example(name).reference
    q = m.start()
    qd = m.velocities(q, guess=np.sin(np.arange(m.nv)))
    qdd = m.accelerations(q, qd, guess=np.cos(np.arange(m.nv)))
    change = m.velocities(q, guess=np.cos(2.0 * np.arange(m.nv)))  # A q̇ = 0: the constraints allow it
    slopes = m.inverse_dynamics_derivatives(q, qd, qdd)
    difference = m.inverse_dynamics(q, qd, qdd + change) - m.inverse_dynamics(q, qd, qdd)
    assert zoo.relative_error(slopes.qdd @ change, difference) < 1e-9
    named = m.inverse_dynamics_derivatives(q, qd, qdd, actuators=m.actuated())
    assert all((x == y).all() for x, y in zip(slopes, named, strict=True))


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_all_actuators_are_the_tree_for_derivatives_and_least_efforts_for_inverse_dynamics(name):
    m = kp.example(name).reference
    tree = m.without_constraints()
    q, still = m.start(), np.zeros(m.nv)
    qdd = m.accelerations(q, still, guess=np.ones(m.nv))
    of_tree = tree.inverse_dynamics_derivatives(q, still, qdd)
    own = m.inverse_dynamics_derivatives(q, still, qdd, actuators="all")
    assert all((x == y).all() for x, y in zip(own, of_tree, strict=True))
    every = m.inverse_dynamics(q, still, qdd, actuators="all")
    assert zoo.relative_error(every, m.inverse_dynamics(q, still, qdd, actuators=m.joint_names)) == 0.0
    assert np.linalg.norm(every) < np.linalg.norm(m.inverse_dynamics(q, still, qdd))


def test_a_stewart_platform_at_rest_hangs_on_its_legs():
    """Six legs in equal positions carry equal loads; when all extend, their work is what the weights gain."""
    m = kp.example("stewart").reference
    q, still = m.start(), np.zeros(m.nv)
    tau = m.inverse_dynamics(q, still, still)
    legs = [m.v_names.index(f"slide{k}") for k in range(1, 7)]
    assert tau[legs] == pytest.approx(np.full(6, tau[legs[0]]), rel=1e-9)
    rate = m.velocities(q, {f"slide{k}": 1.0 for k in range(1, 7)})
    step = 1e-5
    lifted = [m.assemble(q + m.dq_dt(q, sign * step * rate)) for sign in (-1.0, 1.0)]
    down, up = (m.energy(x, still).potential for x in lifted)
    assert tau @ rate == pytest.approx((up - down) / (2.0 * step), rel=1e-6)


@pytest.mark.parametrize("floating", [False, True])
def test_a_tree_has_an_effort_on_every_rate_whatever_is_actuated(floating):
    tree = zoo.tree(5, 6, floating=floating)
    x = zoo.motion(tree, 5)
    parts = tree.model.description
    plain = tree.inverse_dynamics(x.q, x.qd, x.qdd)
    for actuated in (True, False):
        joints = tuple(replace(j, actuated=actuated if k else None) for k, j in enumerate(parts.joints))
        m = kp.build(replace(parts, joints=joints)).reference
        assert (m.inverse_dynamics(x.q, x.qd, x.qdd) == plain).all()
        assert (m.inverse_dynamics(x.q, x.qd, x.qdd, actuators="all") == plain).all()
        assert m.actuated() == m.v_names


def test_couplings_and_drives_leave_a_mechanism_a_tree():
    b = kp.Builder("geared")
    for name in "abc":
        b.link(name, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("x", "revolute", "ground", "a", axis="z")
    b.joint("y", "revolute", "a", "b", axis="z").joint("z", "revolute", "b", "c", axis="z")
    m = kp.build(b.gear("gears", "z", "x", -2.0).drive("motor", "y", "t")).reference
    assert m.actuated() == ("x", "y")
    qdd = m.accelerations(m.start(), m.velocities(m.start(), {"x": 1.0}), {"x": 0.5})
    tau = m.inverse_dynamics(m.start(), m.velocities(m.start(), {"x": 1.0}), qdd)
    assert tau[1:] == pytest.approx([0.0, 0.0], abs=1e-12)  # the drive gives its own effort, z follows


def test_reactions_are_those_under_the_efforts_of_the_actuated_joints():
    m = kp.example("five-bar").reference
    q = m.start()
    qd = m.velocities(q, {"left-crank": 1.0, "right-crank": -0.4})
    qdd = m.accelerations(q, qd, {"left-crank": 2.0, "right-crank": 1.0})
    by_default = m.reactions(q, qd, qdd)
    given = m.reactions(q, qd, qdd, tau=m.inverse_dynamics(q, qd, qdd))
    assert all((w == given[name]).all() for name, w in by_default.items())
    every = m.reactions(q, qd, qdd, actuators="all")
    assert max(np.abs(w - every[name]).max() for name, w in by_default.items()) > 0.1


@pytest.mark.parametrize("actuators", [None, "all", ("left-crank", "right-rod")])
def test_repeated_calls_go_to_machine_code_of_the_same_actuators(actuators):
    m, plain = kp.example("five-bar"), kp.example("five-bar").reference
    q = m.start()
    qd = m.velocities(q, {"left-crank": 1.0, "right-crank": 0.3})
    qdd = m.accelerations(q, qd, {"left-crank": 1.0, "right-crank": -2.0})
    state, how = (q, qd, qdd), {} if actuators is None else {"actuators": actuators}
    for _ in range(3):
        assert m.inverse_dynamics(*state, **how) == pytest.approx(
            plain.inverse_dynamics(*state, **how), abs=1e-12
        )
        assert m.regressor(*state, **how) == pytest.approx(plain.regressor(*state, **how), abs=1e-12)
        own, reference = (x.inverse_dynamics_derivatives(*state, **how) for x in (m, plain))
        assert all(x == pytest.approx(y, abs=1e-10) for x, y in zip(own, reference, strict=True))
