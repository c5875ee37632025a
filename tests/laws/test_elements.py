"""Laws that every element obeys, whatever it is: power, store and loss; forces in pairs; ropes that only pull."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinpair as kp
import zoo
from kinpair.algebra.jet import rate
from kinpair.description.parts import Spring
from kinpair.forces.element import Instant
from kinpair.forces.elements import efforts_of, elements_of, losses, stored_energy
from kinpair.forces.springs import LimitSpring, PointSpring
from kinpair.formulations import kinematics
from kinpair.model.build import build
from kinpair.model.state import State

SEEDS = range(6)


def sprung(seed: int) -> kp.Mechanism:
    """A random tree with springs, ropes, dampers and a law between its links, and friction in its joints."""
    rng = np.random.default_rng(seed)
    plain = zoo.tree(seed, 6).model.description
    names = ["ground", *(link.name for link in plain.links), "tip 0"]
    laws = (
        {"stiffness": 30.0, "damping": 2.0, "rest_length": 0.8, "preload": -3.0},
        {"stiffness": 50.0, "damping": 4.0, "rest_length": 1.0, "tension_only": True},
        {"stiffness": 20.0, "damping": 1.0, "rest_length": 1.4, "preload": 9.0, "tension_only": True},
        {"damping": 3.0, "rest_length": 0.9, "tension_only": True},
        {"damping": 5.0},
        {"law": lambda x, v: 4.0 * x**3 + np.tanh(v), "energy": lambda x: x**4},
        {"law": lambda x, v: 2.0 * x},
    )
    springs = []
    for k, law in enumerate(laws):
        parent, child = rng.choice(names, 2, replace=False)
        springs.append(Spring(f"s{k}", str(parent), str(child), zoo.three(rng), zoo.three(rng), **law))
    joints = tuple(
        replace(
            joint,
            damping=(float(rng.uniform(0.1, 1)),),
            friction=(float(rng.uniform(0.1, 1)),),
            **({"stiffness": (3.0,), "rest": (0.2,)} if joint.kind in zoo.ONE_DEGREE else {}),
        )
        for joint in plain.joints
    )
    model = build(replace(plain, joints=joints, springs=tuple(springs)))
    k = next((k for k, name in enumerate(model.v_names) if name in model.q_names), None)
    if k is not None:
        q = model.q_names.index(model.v_names[k])
        ends = [LimitSpring(f"end {s}", (0, 1), k, q, s, -0.1 * s, 70.0, 3.0) for s in (1.0, -1.0)]
        model = replace(model, added=tuple(ends))
    return kp.Mechanism(model, compiled=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_power_is_what_leaves_the_store_and_is_not_lost(seed):
    """(EL1), element by element, along a random motion."""
    m = sprung(seed)
    s = zoo.motion(m, seed)
    at = Instant(m.model, State(s.q, s.qd))
    for x in elements_of(m.model):
        power = sum(effort * s.qd[k] for k, effort in x.efforts(at).items())
        for i, w in x.wrenches(at).items():
            power = power + w[:3] @ at.bodies[i].omega + w[3:] @ at.bodies[i].v
        lost = sum(x.losses(at).values())
        dq = kinematics.dq_dt(m.model, s.q, s.qd)
        change = rate(lambda q, x=x: x.energy(Instant(m.model, State(q, s.qd))), (s.q,), (dq,))
        size = max(1.0, abs(power), abs(change), abs(lost))
        assert power == pytest.approx(-change - lost, abs=1e-12 * size), x.name


@pytest.mark.parametrize("seed", SEEDS)
def test_efforts_of_all_elements_are_what_inverse_dynamics_misses_without_them(seed):
    m = sprung(seed)
    s = zoo.motion(m, seed)
    expected = m.inverse_dynamics(s.q, s.qd, s.qdd, passive=False) - m.inverse_dynamics(s.q, s.qd, s.qdd)
    described = replace(m.model, added=())
    assert zoo.relative_error(efforts_of(described, State(s.q, s.qd)), expected) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_but_a_law_gives_energy_for_ever(seed):
    m = sprung(seed)
    for k in range(20):
        s = zoo.motion(m, 100 * seed + k)
        result = losses(m.model, State(s.q, s.qd))
        assert {name for name, power in result.items() if power < 0.0} <= {"s5", "s6"}


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_between_points_are_opposite_and_in_one_line(seed):
    """As wrenches at the world's origin the two sum to zero: no force and no moment about any point."""
    m = sprung(seed)
    s = zoo.motion(m, seed)
    at = Instant(m.model, State(s.q, s.qd))
    for x in elements_of(m.model):
        if not isinstance(x, PointSpring) or 0 in x.bodies or len(x.bodies) < 2:
            continue
        total = np.zeros(6)
        for i, w in x.wrenches(at).items():
            pose = at.bodies[i].pose
            f = pose.R @ w[3:]
            total += np.concatenate([pose.R @ w[:3] + np.cross(pose.a, f), f])
        assert np.abs(total).max() < 1e-12 * max(1.0, abs(x.tension(at)))


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_are_the_states_one_by_one(seed):
    from kinpair.algebra.arrays import columns, rows

    m = sprung(seed)
    s = zoo.motions(m, 7, seed)
    states = State(columns(s.q), columns(s.qd))
    tau = rows(efforts_of(m.model, states), 7)
    V, P = stored_energy(m.model, states), sum(losses(m.model, states).values())
    for k in range(7):
        one = State(s.q[k], s.qd[k])
        assert zoo.relative_error(tau[k], efforts_of(m.model, one)) < 1e-13
        assert V[k] == pytest.approx(stored_energy(m.model, one), rel=1e-13)
        assert P[k] == pytest.approx(sum(losses(m.model, one).values()), rel=1e-12, abs=1e-12)


def slide(**spring) -> tuple[kp.Mechanism, PointSpring]:
    b = kp.Builder("slide", gravity=(0, 0, 0)).link("a", mass=1.0)
    b.joint("x", "prismatic", "ground", "a", axis="x").spring("s", "ground", "a", **spring)
    m = kp.build(b).reference
    (result,) = elements_of(m.model)
    return m, result


def instant(m: kp.Mechanism, x: float, v: float) -> Instant:
    return Instant(m.model, State(np.array([x]), np.array([v])))


positive, above_zero = st.floats(0.0, 1e3), st.floats(1e-3, 1e3)
LENGTH, RATE = st.floats(1e-3, 5.0), st.floats(-20.0, 20.0)


@settings(max_examples=200, derandomize=True)
@given(positive, above_zero, positive, positive, LENGTH, RATE)
def test_a_rope_never_pushes_and_never_gives_what_it_has_not_got(k, c, rest, preload, x, v):
    m, rope = slide(stiffness=k, damping=c, rest_length=rest, preload=preload, tension_only=True)
    at = instant(m, x, v)
    F, elastic = float(rope.tension(at)), k * (x - rest) + preload
    (lost,) = rope.losses(at).values()
    assert F >= 0.0
    assert lost >= 0.0
    rounding = 1e-12 * (1.0 + k * (x + rest) + preload + abs(c * v))
    if x < rest - 1e-12 and elastic < -rounding:
        assert F == 0.0
        assert lost == 0.0
    elif (x > rest + 1e-12 or elastic > rounding) and elastic + c * v > 0.0:
        assert abs(F - (elastic + c * v)) < rounding


@settings(max_examples=100, derandomize=True)
@given(above_zero, positive, st.floats(0, 10), st.floats(-1e3, 1e3), LENGTH, RATE)
def test_a_spring_and_damper_has_the_force_that_was_written(k, c, rest, preload, x, v):
    m, spring = slide(stiffness=k, damping=c, rest_length=rest, preload=preload)
    F = k * (x - rest) + c * v + preload
    scale = k * (x + rest) + abs(c * v) + abs(preload) + 1.0
    assert float(spring.tension(instant(m, x, v))) == pytest.approx(F, abs=1e-12 * scale)
    assert m.inverse_dynamics([x], [v], [0.0])[0] == pytest.approx(F, abs=1e-12 * scale)


@pytest.mark.parametrize("rope", [False, True])
def test_points_that_meet_make_no_force_and_no_nan(rope):
    m, _ = slide(stiffness=100.0, damping=5.0, rest_length=0.5, preload=3.0, tension_only=rope)
    for mechanism in (m, kp.Mechanism(m.model)):
        assert mechanism.inverse_dynamics([0.0], [1.0], [0.0]) == pytest.approx([0.0])
        for result in mechanism.inverse_dynamics_derivatives([0.0], [1.0], [0.0]):
            assert np.isfinite(result).all()


def test_the_sign_of_a_switch_says_whether_a_rope_is_taut():
    m, rope = slide(stiffness=100.0, damping=5.0, rest_length=0.5, tension_only=True)
    for x, v in ((0.4, 3.0), (0.6, 0.0), (0.6, -3.0)):
        taut, pulls = rope.switches(instant(m, x, v)).values()
        assert (taut > 0.0) == (x > 0.5)
        assert (min(taut, pulls) > 0.0) == (float(rope.tension(instant(m, x, v))) > 0.0)
