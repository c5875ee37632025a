"""Friction from load at random states of arms and loops: solved, or without solution and confirmed by other means."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from families import family
from load_friction_family import ARMS, law, rubbing

SOLVED = 1e-10


@cache
def arm(name: str) -> kp.Mechanism:
    return rubbing(kp.example(name).model.description, 7, short=0.1)


def states(m: kp.Mechanism, count: int, seed: int, still: float):
    """q, q̇ of which a part is zero, and τ."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, (count, m.nq))
    qd = rng.normal(size=(count, m.nv)) * (rng.random((count, m.nv)) >= still)
    hold = m.gravity_forces(q)
    tau = hold * rng.uniform(0.0, 2.0, hold.shape) + rng.normal(size=hold.shape)
    return q, qd, tau


def classified(m: kp.Mechanism, q, qd, tau) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and whether each state is solved; the others have no solution."""
    qdd, solved = np.full(qd.shape, np.nan), np.zeros(len(q), dtype=bool)
    try:
        return m.forward_dynamics(q, qd, tau), np.ones(len(q), dtype=bool)
    except kp.SingularError:
        pass
    for k in range(len(q)):
        try:
            qdd[k], solved[k] = m.forward_dynamics(q[k], qd[k], tau[k]), True
        except kp.SingularError as problem:
            if "friction has no solution" not in str(problem):
                raise
    return qdd, solved


MORE = "more states of the same arms"
SEEDS = [f"{name} {k}" for k in range(10) for name in ARMS]
USUAL = [
    "stanford-arm 0",
    "scara 0",
]  # with a guide; `test_load_friction_classes` has some states of every arm


@pytest.mark.parametrize("case", family(SEEDS, USUAL, MORE))
def test_sliding_states_are_solved(case):
    """Efforts by inverse dynamics of the accelerations found are those given: each state is solved to 1e-10."""
    name, seed = case.split()
    m = arm(name)
    q, qd, tau = states(m, 2000, int(seed), still=0.0)
    qdd, solved = classified(m, q, qd, tau)
    assert solved.mean() > 0.9
    again = m.inverse_dynamics(q[solved], qd[solved], qdd[solved])
    size = 1.0 + np.abs(tau[solved]).max(1) + np.abs(qdd[solved]).max(1)
    assert (np.abs(again - tau[solved]).max(1) / size).max() < SOLVED


def obeys(m: kp.Mechanism, q, qd, tau, qdd) -> float:
    """How far a state of a tree is from the laws of friction, by reactions alone.

    The reactions of the motion give the load of every surface; what the motion asks for beyond τ is what friction must
    be: at most μ N where it sticks, μ N against the motion where it slides.
    """
    needed = m.inverse_dynamics(q, qd, qdd, passive=False) - tau
    states = m._friction.loaded
    worst = 0.0
    reactions = m.reactions(q, qd, qdd, axes="child")
    for x, G in zip(states.surfaces, states.G, strict=True):
        i = x.body
        turn = m.model.R_joint[i]
        w = reactions[m.model.joint_names[i]]
        child = np.concatenate([turn @ w[:3], turn @ w[3:]])
        own = states._joints(q, qd, tau, np.zeros(m.nv))[states.surfaces.index(x)]
        v = m.model.v_span[i].start + x.rate
        arm_of = float(np.abs(G).max())
        force = needed[v] / arm_of
        N = float(x.load(x.forms(child, own.q), np.array([force]), own))
        speed, rate = abs(qd[v]) * arm_of, qd[v] if qd[v] else qdd[v]
        mu = float(x.grip.coefficient(speed))
        off = max(abs(force) - mu * N, 0.0) if rate == 0.0 else abs(force + mu * N * np.sign(rate))
        worst = max(worst, off / (1.0 + N))
    return worst


@pytest.mark.parametrize("case", family(SEEDS, USUAL, MORE))
def test_states_of_rest_and_motion_obey_the_laws_of_friction(case):
    """Sticking, sliding and mixed, by another road: the reactions of the motion that was found."""
    name, seed = case.split()
    m = arm(name)
    q, qd, tau = states(m, 60, 100 + int(seed), still=0.4)
    qdd, solved = classified(m, q, qd, tau)
    assert solved.all()
    assert max(obeys(m, *one) for one in zip(q, qd, tau, qdd, strict=True)) < 1e-9


@cache
def loop(tilt: float) -> kp.Mechanism:
    """A spatial four-bar: hinge, universal joint, hinge, closed by a ball: no row is redundant."""
    rng = np.random.default_rng(int(10 * abs(tilt)))
    b = kp.Builder(f"loop {tilt}")
    b.link("crank", mass=1.0, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    b.link("coupler", mass=2.0, com=(0.15, 0, 0.02), inertia=(1e-3, 1e-2, 1e-2))
    b.link("rocker", mass=1.5, com=(0.1, 0, 0), inertia=(1e-3, 5e-3, 5e-3))
    b.joint("a", "revolute", "ground", "crank", axis="y", friction=law("revolute", rng))
    universal = law("universal", rng)
    b.joint("b", "universal", "crank", "coupler", xyz=(0.1, 0, 0), axis="y", axis2="z", friction=universal)
    rocker = {"axis": (tilt, 1, 0), "friction": law("revolute", rng)}
    b.joint("c", "revolute", "ground", "rocker", xyz=(0.3, 0, 0), **rocker)
    b.loop("d", "spherical", "rocker", "coupler", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0))
    return kp.build(b)


@pytest.mark.parametrize("tilt", family([0.2, 0.4, -0.3], ["0.4"], "loops of other shapes"))
def test_loops_slide_as_inverse_dynamics_says(tilt):
    """Forward and inverse dynamics with friction that the multipliers load; reactions agree with both."""
    m, rng = loop(tilt), np.random.default_rng(3)
    count = 40
    q = np.array([m.assemble([x, 0, 0, 1.2]) for x in rng.uniform(-0.2, 1.0, count)])
    qd = np.array([m.velocities(x, {"a": float(v)}) for x, v in zip(q, rng.normal(size=count), strict=True)])
    tau = np.zeros((count, m.nv))
    tau[:, 0] = rng.normal(size=count)
    qdd = m.forward_dynamics(q, qd, tau)
    again = m.inverse_dynamics(q, qd, qdd, actuators=["a"])
    assert np.abs(again - tau).max() < 1e-9 * (1.0 + np.abs(qdd).max())
    assert m.reference.forward_dynamics(q[:5], qd[:5], tau[:5]) == pytest.approx(qdd[:5], rel=1e-9, abs=1e-9)
    smooth = m.forward_dynamics(q, qd, tau, passive=False)
    speed = qd[:, 0] * (qdd[:, 0] - smooth[:, 0])
    assert (speed <= 1e-9).all()


def test_friction_from_load_never_adds_energy():
    for name in ("kr5", "scara", "stanford-arm"):
        m = arm(name)
        q, qd, tau = states(m, 40, 300, still=0.2)
        qdd = classified(m, q, qd, tau)[0]
        power = (m.inverse_dynamics(q, qd, qdd, passive=False) - tau) * qd
        assert power.sum(1).max() < 1e-9 * (1.0 + np.abs(power).max())
