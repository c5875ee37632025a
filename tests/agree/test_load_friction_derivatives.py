"""Derivatives with friction from load: those of the compiled equations against differences, in loops, rolling and at
rest."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.parts import Friction
from kinpair.formulations import kinematics
from load_friction_family import CLOSED, mechanism, states

BEARING = {"law": "bearing", "mu": 0.1, "radius": 0.01, "length": 0.05, "thrust_radius": 0.012}
STEP = 1e-4  # differences of fourth order: truncation some 1e-11, rounding some 1e-10 of the accelerations


def rubbed(name: str, joints: tuple[str, ...]) -> kp.Mechanism:
    """A bundled mechanism with bearings in some joints."""
    description = kp.example(name).model.description
    law = (Friction("bearing", tuple((key, (x,)) for key, x in BEARING.items() if key != "law")),)
    every = [replace(x, friction=law) if x.name in joints else x for x in description.joints]
    return kp.build(replace(description, joints=tuple(every)))


def mixed() -> kp.Mechanism:
    """A slider-crank with a gear, a falling coefficient, a constant level, springs and dampers."""
    b = kp.Builder("mixed")
    b.link("crank", mass=1.0, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    b.link("coupler", mass=2.0, com=(0.15, 0, 0.02), inertia=(1e-3, 1e-2, 1e-2))
    b.link("slider", mass=1.5, com=(0.01, 0.03, 0.02), inertia=(1e-3, 2e-3, 2e-3))
    b.joint("a", "revolute", "ground", "crank", axis="y", stiffness=3.0, damping=0.2, rotor_inertia=1e-3,
            friction=[{"law": "gear", "mu": 0.08}, {"law": "coulomb", "level": 0.1}])  # fmt: skip
    b.joint("b", "universal", "crank", "coupler", xyz=(0.1, 0, 0), axis="y", axis2="z", friction=0.05)
    guide = {
        "law": "guide",
        "mu": 0.1,
        "mu_static": 0.2,
        "viscous": 0.4,
        "stribeck_speed": 0.3,
        "exponent": 2.0,
    }
    b.joint("c", "prismatic", "ground", "slider", xyz=(0.3, 0.02, 0), axis=(1, 0.2, 0.1), damping=0.7,
            friction={**guide, "length": 0.3, "width": 0.2})  # fmt: skip
    return kp.build(b.loop("d", "spherical", "slider", "coupler", child_xyz=(0.3, 0, 0)))


@cache
def case(name: str) -> tuple[kp.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A mechanism, and three states in which all of its joints slide."""
    rng = np.random.default_rng(5)
    if name in CLOSED:
        m = mechanism(name, 0, compiled=False)
        return m, *states(m, name, 5, "sliding", 3)
    if name == "rolling":
        m = rubbed("diff-drive", ("fork", "caster"))
        q, drives = rng.normal(size=(3, 7)), ("left-wheel", "right-wheel")
    elif name == "stewart":
        m = rubbed(name, tuple(f"leg{k}" for k in range(1, 7)))
        q, drives = np.tile(m.assemble(m.closure.assembly.start()), (3, 1)), m.v_names[:6]
    else:
        m, drives = mixed(), ("a",)
        q = np.array([m.assemble([angle, 0, 0, 0.05]) for angle in (0.4, 0.7, 0.9)])
    rates = [m.velocities(x, dict(zip(drives, rng.normal(size=len(drives)), strict=True))) for x in q]
    return m, q, np.array(rates), rng.normal(size=(3, m.nv))


def differences(
    m: kp.Mechanism, *state: np.ndarray, only: int | None = None, columns: list[int] | None = None
) -> list[np.ndarray]:
    """∂q̈/∂q along the rates, ∂q̈/∂q̇ and ∂q̈/∂τ, or some columns of one of them."""

    def ahead(n: int, step: np.ndarray) -> np.ndarray:
        x = list(state)
        x[n] = kinematics.moved(m.model, x[n], step) if n == 0 else x[n] + step
        return m.forward_dynamics(*x)

    def column(n: int, unit: np.ndarray) -> np.ndarray:
        one, two = (ahead(n, k * STEP * unit) - ahead(n, -k * STEP * unit) for k in (1, 2))
        return (8.0 * one - two) / (12.0 * STEP)

    every, units = range(3) if only is None else (only,), np.eye(m.nv)[columns or slice(None)]
    return [np.stack([column(n, unit) for unit in units], axis=1) for n in every]


def error(found, expected) -> float:
    return max(
        float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in zip(found, expected, strict=True)
    )


LARGE = pytest.param("stewart", marks=pytest.mark.long("twelve pins and eighteen rows"))


@pytest.mark.parametrize("name", ["four-bar", "mixed", "rolling", LARGE])
def test_accelerations_under_constraints_against_differences(name):
    m, *state = case(name)
    for own in list(zip(*state, strict=True))[: 2 if name == "mixed" else 1]:
        assert error(m.forward_dynamics_derivatives(*own), differences(m, *own)) < 1e-8


def test_a_batch_has_those_of_its_states_sliding_and_at_rest():
    m, *state = case("mixed")
    q, qd, tau = (np.concatenate([x, x[:1]]) for x in state)
    qd[3] = 0.0
    every = m.forward_dynamics_derivatives(q, qd, tau)
    for k, own in enumerate(zip(q, qd, tau, strict=True)):
        assert error(m.forward_dynamics_derivatives(*own), [x[k] for x in every]) < 1e-12


def test_rows_that_fit_one_state_are_not_kept_where_they_depend_on_each_other():
    """Two wheels on an axle say the same along it: which row is left out depends on the heading."""
    m, other = (rubbed("diff-drive", ("fork", "caster")).reference for _ in range(2))
    q = np.array([[0.1, 0.2, heading, 0.1, 0.2, 0.5, 0.7] for heading in (0.0, np.pi / 2)])
    qd = np.array([m.velocities(x, {"left-wheel": 2.0, "right-wheel": 3.1}) for x in q])
    tau = np.array([0, 0, 0, 0.3, -0.2, 0, 0])
    both = m.forward_dynamics(q, qd, tau)
    assert both[1] == pytest.approx(other.forward_dynamics(q[1], qd[1], tau), rel=1e-9, abs=1e-9)
    assert np.isfinite(m.forward_dynamics_derivatives(q[1], qd[1], tau)[0]).all()


def test_the_reference_has_the_same_derivatives():
    """Jets through the balance, and multipliers in floats, against the compiled chain rule."""
    m, *state = case("mixed")
    own = tuple(x[0] for x in state)
    assert error(m.reference.forward_dynamics_derivatives(*own), m.forward_dynamics_derivatives(*own)) < 1e-10


@pytest.mark.parametrize(("actuators", "passive"), [("a", True), ("ac", True), ("ac", False)])
def test_efforts_of_actuators_along_motions_that_obey(actuators, passive):
    """A loop of one freedom: efforts as a function of position, rate and acceleration of its crank; of two actuators
    the least ones."""
    m, actuators = mechanism("four-bar", 0).reference, list(actuators)
    start = np.array([0.1, 0.8, -1.5])

    def motion(x: np.ndarray) -> tuple[np.ndarray, ...]:
        p, d, a = x
        guess = np.array(CLOSED["four-bar"].guess)
        q = m.assemble(guess + np.array([p, 0, 0, 0]), fixed=["a"])
        qd = m.velocities(q, {"a": d})
        return q, qd, m.accelerations(q, qd, {"a": a})

    def whole(x: np.ndarray) -> np.ndarray:
        own = motion(x)
        return np.array([*own, m.inverse_dynamics(*own, actuators=actuators, passive=passive)])

    exact = m.inverse_dynamics_derivatives(*motion(start), actuators=actuators, passive=passive)
    for unit in np.eye(3):
        one, two = (whole(start + k * 1e-3 * unit) - whole(start - k * 1e-3 * unit) for k in (1, 2))
        *along, expected = (8.0 * one - two) / 12e-3
        assert sum(x @ y for x, y in zip(exact, along, strict=True)) == pytest.approx(expected, abs=1e-8)


def test_linear_models_of_loops():
    """On the rate that stays independent, against differences along motions that obey."""
    m = mechanism("four-bar", 0).reference
    q = m.assemble(CLOSED["four-bar"].guess)
    qd, tau = m.velocities(q, {"a": 1.0}), np.array([0.5, 0.0, 0.0, 0.0])
    linear = kp.linearise(m, q, qd, u=tau, independent=["a"])

    def acceleration(x: float, v: float, u: float) -> float:
        there = m.assemble(q + np.array([x, 0, 0, 0]), fixed=["a"])
        rates = m.velocities(there, {"a": qd[0] + v})
        return m.forward_dynamics(there, rates, tau + np.array([u, 0, 0, 0]))[0]

    def slope(f) -> float:
        one, two = (f(k * 1e-3) - f(-k * 1e-3) for k in (1, 2))
        return (8.0 * one - two) / 12e-3

    expected = (
        slope(lambda s: acceleration(s, 0, 0)),
        slope(lambda s: acceleration(0, s, 0)),
        slope(lambda s: acceleration(0, 0, s)),
    )
    found = (*linear.A[1], linear.B[1, 0])
    assert found == pytest.approx(expected, rel=1e-8)


def check_held(m: kp.Mechanism, stuck: list[int], *state: np.ndarray) -> None:
    """The derivatives by efforts, and by rates that are not zero, are those of accelerations while the same joints
    stick."""
    exact, qdd = m.forward_dynamics_derivatives(*state), m.forward_dynamics(*state)
    assert np.flatnonzero(qdd == 0.0).tolist() == stuck
    assert all((x[stuck] == 0.0).all() for x in exact)
    moving = np.flatnonzero(state[1]).tolist()[:2]
    for n, columns in ((1, moving), (2, [0, m.nv - 1])):
        if columns:
            (expected,) = differences(m, *state, only=n, columns=columns)
            assert error((exact[n][:, columns],), (expected,)) < 1e-8


def test_joints_of_a_tree_that_stick_stay_so():
    """Of an arm one joint is held by its bearing, one leaves rest, one slides."""
    m = mechanism("planar-3r", 0, compiled=False)
    q, qd = np.array([0.3, 0.4, -0.2]), np.array([0.5, 0.0, 0.0])
    tau = m.inverse_dynamics(q, qd, np.array([0.0, 0.0, 3.0]))
    check_held(m, [1], q, qd, tau)
    assert error(m.forward_dynamics_derivatives(q, qd, tau)[:1], differences(m, q, qd, tau, only=0)) < 1e-8


def test_joints_of_a_loop_that_stick_stay_so():
    """Of a linkage with two cranks one is held by its bearing while the other one moves."""
    m = two_cranks()
    q = m.assemble(CLOSED["five-bar"].guess)
    qd = m.velocities(q, {"a": 0.0, "c": 0.5})
    qdd = m.accelerations(q, qd, {"a": 0.0, "c": 2.0})
    check_held(m, [0], q, qd, m.inverse_dynamics(q, qd, qdd, actuators=["a", "c"]))


def two_cranks() -> kp.Mechanism:
    """The five-bar with bearings on its cranks only."""
    description = mechanism("five-bar", 0).model.description
    law = (Friction("bearing", tuple((key, (x,)) for key, x in BEARING.items() if key != "law")),)
    own = [replace(x, friction=law if x.name in "ac" else ()) for x in description.joints]
    return kp.build(replace(description, joints=tuple(own))).reference


def test_constant_friction_that_sticks_in_a_loop():
    """A four-bar held by a constant level, and the same one as it leaves rest."""
    description = kp.example("four-bar").model.description
    first, *others = description.joints
    rough = replace(first, friction=(Friction("coulomb", (("level", (5.0,)),)),))
    m = kp.build(replace(description, joints=(rough, *others))).reference
    start = m.closure.assembly.start()
    q, still = m.assemble(start + np.eye(m.nq)[0], fixed=[first.name]), np.zeros(m.nv)
    assert error(m.forward_dynamics_derivatives(q, still, still), np.zeros((3, m.nv, m.nv))) < 1e-10
    check_held(m, [], q, still, np.array([9.0, *np.zeros(m.nv - 1)]))
