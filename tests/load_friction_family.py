"""Arms and loops with friction from load in their joints, and random states of them: sliding, at rest, and mixed.

Lengths of bearings and guides go down to a hand's breadth and coefficients up to 0.3, so that some states have no
solution, or several. The arms are held by efforts of up to twice their weight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import kinpair as kp
from kinpair.description.parts import Description, Friction
from kinpair.friction.phases import classes
from kinpair.friction.phases.classes import Classified
from kinpair.friction.phases.resting import Resting

ARMS = ("kr5", "stanford-arm", "planar-3r", "scara", "two-handed-arm")
LOOPS = ("four-bar", "slider-crank", "five-bar")
STILL = {"sliding": 0.0, "mixed": 0.4, "rest": 1.0}  # part of the rates that is zero
SHORT, LONG = 0.06, 0.3  # [m], of bearings and guides


def law(kind: str, rng: np.random.Generator, short: float = SHORT) -> dict[str, Any] | None:
    """Friction for a joint of this kind, if there is a law for it."""
    mu, radius = float(rng.uniform(0.0, 0.3)), float(rng.uniform(0.01, 0.05))
    length = float(rng.uniform(short, LONG))
    bearing = {"law": "bearing", "mu": mu, "radius": radius, "length": length}
    return {
        "revolute": {**bearing, "thrust_radius": radius},
        "universal": {**bearing, "thrust_radius": radius},
        "cylindrical": bearing,
        "prismatic": {"law": "guide", "mu": mu, "length": length, "width": 0.2},
        "spherical": {"law": "bearing", "mu": mu, "radius": radius},
    }.get(kind)


def rubbing(description: Description, seed: int, short: float = SHORT) -> kp.Mechanism:
    """The mechanism with friction from load in every joint that can have it."""
    rng, joints = np.random.default_rng(seed), []
    for joint in description.joints:
        own = law(joint.kind, rng, short)
        numbers = () if own is None else tuple((key, (x,)) for key, x in own.items() if key != "law")
        friction = () if own is None else (Friction(str(own["law"]), numbers),)
        joints.append(replace(joint, friction=friction, damping=(), stiffness=()))
    return kp.build(replace(description, joints=tuple(joints)))


def _crank(name: str, rng: np.random.Generator) -> kp.Builder:
    """A crank and a coupler on it."""
    b = kp.Builder(name)
    b.link("crank", mass=1.0, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    b.link("coupler", mass=2.0, com=(0.15, 0, 0.02), inertia=(1e-3, 1e-2, 1e-2))
    b.joint("a", "revolute", "ground", "crank", axis="y", friction=law("revolute", rng))
    own = {"axis": "y", "axis2": "z", "friction": law("universal", rng)}
    return b.joint("b", "universal", "crank", "coupler", xyz=(0.1, 0, 0), **own)


def _four_bar(rng: np.random.Generator) -> kp.Builder:
    b = _crank("four-bar", rng).link("rocker", mass=1.5, com=(0.1, 0, 0), inertia=(1e-3, 5e-3, 5e-3))
    b.joint(
        "c", "revolute", "ground", "rocker", xyz=(0.3, 0, 0), axis=(0.4, 1, 0), friction=law("revolute", rng)
    )
    return b.loop("d", "spherical", "rocker", "coupler", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0))


def _slider_crank(rng: np.random.Generator) -> kp.Builder:
    b = _crank("slider-crank", rng).link("slider", mass=1.5, com=(0, 0, 0.02), inertia=(1e-3, 2e-3, 2e-3))
    own = {"axis": (1, 0.2, 0.1), "friction": law("prismatic", rng)}
    b.joint("c", "prismatic", "ground", "slider", xyz=(0.3, 0.02, 0), **own)
    return b.loop("d", "spherical", "slider", "coupler", child_xyz=(0.3, 0, 0))


def _five_bar(rng: np.random.Generator) -> kp.Builder:
    b = _crank("five-bar", rng)
    b.link("second crank", mass=1.0, com=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    b.link("second coupler", mass=1.5, com=(0.1, 0, 0), inertia=(1e-3, 5e-3, 5e-3))
    own = {"axis": (0.2, 1, 0), "friction": law("revolute", rng)}
    b.joint("c", "revolute", "ground", "second crank", xyz=(0.3, 0, 0), **own)
    own = {"axis": (0, 1, 0.2), "friction": law("revolute", rng)}
    b.joint("d", "revolute", "second crank", "second coupler", xyz=(0.1, 0, 0), **own)
    return b.loop("e", "spherical", "second coupler", "coupler", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0))


class Closed(NamedTuple):
    """A loop: its description, a guess near which it closes, and the rates that move it."""

    build: Any
    guess: tuple[float, ...]
    drives: tuple[str, ...]


CLOSED = {
    "four-bar": Closed(_four_bar, (0.4, 0, 0, 1.2), ("a",)),
    "slider-crank": Closed(_slider_crank, (0.6, 0, 0, 0.05), ("a",)),
    "five-bar": Closed(_five_bar, (0.6, -0.6, 0, 1.8, 0.6), ("a", "c")),
}


@cache
def mechanism(name: str, seed: int, *, compiled: bool = True) -> kp.Mechanism:
    """With laws of friction of this seed."""
    if name in CLOSED:
        m = kp.build(CLOSED[name].build(np.random.default_rng(seed)))
    else:
        m = rubbing(kp.example(name).model.description, seed)
    return m if compiled else m.reference


def states(
    m: kp.Mechanism, name: str, seed: int, kind: str, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇ of which a part is zero, and τ."""
    rng = np.random.default_rng([seed, *kind.encode()])
    if name in CLOSED:
        return _closed_states(m, CLOSED[name], rng, STILL[kind], count)
    q = rng.uniform(-1.5, 1.5, (count, m.nq))
    qd = rng.normal(size=(count, m.nv)) * (rng.random((count, m.nv)) >= STILL[kind])
    hold = m.gravity_forces(q)
    return q, qd, hold * rng.uniform(0.0, 2.0, hold.shape) + rng.normal(size=hold.shape)


def _closed_states(
    m: kp.Mechanism, loop: Closed, rng: np.random.Generator, still: float, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, qd = np.empty((count, m.nq)), np.empty((count, m.nv))
    rows = [m.v_names.index(name) for name in loop.drives]
    for k in range(count):
        guess = np.array(loop.guess)
        guess[rows] += rng.uniform(-0.3, 0.3, len(rows))
        q[k] = m.assemble(guess)
        moves = rng.normal(size=len(rows)) * (rng.random(len(rows)) >= still)
        qd[k] = m.velocities(q[k], dict(zip(loop.drives, moves.tolist(), strict=True)))
    tau = np.zeros((count, m.nv))
    tau[:, rows] = 3.0 * rng.normal(size=(count, len(rows)))
    return q, qd, tau


class State(NamedTuple):
    """One state, its system for the friction forces, and its class."""

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    system: Resting
    verdict: Classified


def classified(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> list[State]:
    """Every one of the states."""
    found: list[State] = []
    for one in zip(q, qd, tau, strict=True):
        states, request, arguments = m._friction.load_state(one, 0.0, {})
        x = states.resting(request, arguments)
        found.append(State(*one, x, classes.classified(x)))
    return found


def counts(found: list[State]) -> Counter[str]:
    """States by class; those whose only solution is proved are counted apart."""
    return Counter("one, proved" if x.verdict.proved else x.verdict.kind for x in found)
