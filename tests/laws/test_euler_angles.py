"""Euler angles of the links give the efforts and accelerations of every arm, whatever its axes are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
import zoo
from families import family
from kinpair.formulations.euler_angles import SEQUENCES
from kinpair.spatial.rotation import about_x, about_z

ARMS = (
    "planar-3r",
    "kr5",
    "stanford-arm",
    "stanford-arm-saha",
    "scara",
    "cylindrical-arm",
    "redundant-arm",
    "two-handed-arm",
    "vessel-arm",
    "bearing-arm",
    "motor-arm",
    "three-cylinders",
)
VARIANTS = ("popov/euler", "lagrange/links")
EXACT = 1e-9
CASES = family(
    [(arm, states) for arm in ARMS for states in (2, 100)],
    [f"{arm}, 2 states" for arm in ARMS],
    "the same law in a hundred states",
    lambda case: f"{case[0]}, {case[1]} states",
)


@cache
def arm(name: str) -> kp.Mechanism:
    return kp.example(name).reference


def near(found, expected) -> None:
    """Relative error as everywhere: max|Δ| / max(1, max|reference|)."""
    assert np.abs(found - expected).max() <= EXACT * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_efforts_and_accelerations_of_every_arm(case, variant):
    name, states = case
    m, euler, rng = arm(name), kp.formulation(variant), np.random.default_rng(28)
    for _ in range(states):
        q, qd, qdd = rng.uniform(-2, 2, m.nq), rng.normal(size=m.nv), rng.normal(size=m.nv)
        tau = m.inverse_dynamics(q, qd, qdd, passive=False)
        near(euler.inverse_dynamics(m, q, qd, qdd), tau)
        near(euler.forward_dynamics(m, q, qd, tau), m.forward_dynamics(q, qd, tau, passive=False))


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_every_sequence_and_offset_gives_the_same_efforts(sequence):
    m, turn = arm("stanford-arm"), about_z(0.7) @ about_x(1.1)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, m.nq), rng.normal(size=m.nv), rng.normal(size=m.nv)
    tau = m.inverse_dynamics(q, qd, qdd, passive=False)
    for variant in VARIANTS:
        near(kp.formulation(variant).inverse_dynamics(m, q, qd, qdd, sequence=sequence, offset=turn), tau)


@pytest.mark.parametrize("sequence", ["auto", "zxz", "xyz"])
def test_ball_joints_in_every_sequence(sequence):
    m = zoo.tree(3, 3, kinds=("spherical",))
    s = zoo.motion(m, seed=3)
    balls = kp.formulation("lagrange/euler")
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd, passive=False)
    near(balls.inverse_dynamics(m, s.q, s.qd, s.qdd, sequence=sequence), tau)
    near(balls.forward_dynamics(m, s.q, s.qd, tau, sequence=sequence), s.qdd)
    x = balls.arrays(m, s.q, s.qd, s.qdd, sequence=sequence)
    near(x.tau, tau)


def test_cylinders_move_as_their_efforts_say():
    m, cylinders = arm("three-cylinders"), kp.formulation("lagrange/cylinders")
    q, qd, tau = np.array([0.3, -0.4, 0.5]), np.array([1.0, 0.2, -0.5]), np.array([1.0, 2.0, -1.0])
    qdd = m.forward_dynamics(q, qd, tau, passive=False)
    near(cylinders.forward_dynamics(m, q, qd, tau), qdd)
    near(cylinders.inverse_dynamics(m, q, qd, qdd), tau)


def test_auto_selects_by_link_and_takes_the_first_of_equal_ones():
    m = arm("planar-3r")
    x = kp.formulation("popov/euler").arrays(m, [0.1, 0.2, 0.3], [0, 0, 0])
    assert x.axes.tolist() == [[3, 1, 3]] * 3  # the book's, with a quarter turn of the body axes
    assert np.abs(x.det_Pi) == pytest.approx(np.ones(3), abs=1e-15)
    x = kp.formulation("popov/euler").arrays(m, [0.1, 0.2, 0.3], [0, 0, 0], sequence={"link2": "xyz"})
    assert x.axes.tolist() == [[3, 1, 3], [1, 2, 3], [3, 1, 3]]


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_compiled_functions_keep_their_choice_and_check_it(quantity):
    m = kp.example("planar-3r")
    q, qd, x = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.0, -0.2])
    f = kp.formulation("popov/euler").compile(m, q, quantity)
    near(f(q, qd, x), getattr(m, quantity)(q, qd, x, passive=False))
    batch = np.array([q, -q, 2 * q])
    near(f(batch, qd, x), getattr(m, quantity)(batch, qd, x, passive=False))
    assert set(f.sequences.values()) == {"zxz"}


def tilted(angle: float) -> np.ndarray:
    return np.array([np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)])


def test_a_compiled_function_rejects_states_its_angles_do_not_have():
    parts = kp.Builder("ball").link("bob", mass=1.0, com=[0.1, 0, 0.2], inertia=[1, 1, 1])
    m = kp.build(parts.joint("socket", "spherical", "ground", "bob"))
    f = kp.formulation("popov/euler").compile(m, tilted(1.0), sequence="zxz")
    qd, qdd = np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.0, -1.0])
    near(f(tilted(0.4), qd, qdd), m.inverse_dynamics(tilted(0.4), qd, qdd))
    with pytest.warns(
        kp.AccuracyWarning, match="ball: .det Π. = 1.0e-03 is small for the Euler angles of 'bob'"
    ) as one:
        f(np.array([tilted(1e-3), tilted(2e-3)]), qd, qdd)
    assert len(one) == 1
    with pytest.raises(kp.SingularError, match="of link 'bob' in the sequence 'zxz': at ϑ = 0 rad"):
        f(np.array([tilted(1.0), tilted(0.0)]), qd, qdd)
