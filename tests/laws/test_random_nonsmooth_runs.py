"""Random trees and loops with every friction law and limits run to the end: from rest, in motion, at exact zeros."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import kinpair as kp
from families import family

SEEDS, USUAL = range(200), ("0", "2", "7", "14", "63", "67", "113")
SLIDES = [
    1.2,
    {"law": "coulomb", "level": 1.0, "level_static": 1.5},
    {"law": "coulomb", "level": 1.0, "level_negative": 2.0},
    {
        "law": "stribeck",
        "level": 1.0,
        "level_static": 1.6,
        "stribeck_speed": 0.1,
        "exponent": 2.0,
        "viscous": 0.1,
    },
    {"law": "guide", "mu": 0.12, "length": 0.5, "width": 0.3},
    {"law": "gear", "mu": 0.1, "preload": 0.2},
]
TURNS = [
    0.3,
    {"law": "coulomb", "level": 0.3, "level_static": 0.5},
    {"law": "coulomb", "level": 0.3, "level_negative": 0.6},
    {
        "law": "stribeck",
        "level": 0.3,
        "level_static": 0.5,
        "stribeck_speed": 0.3,
        "exponent": 2.0,
        "viscous": 0.05,
    },
    {"law": "bearing", "mu": 0.15, "radius": 0.03, "thrust_radius": 0.02, "length": 0.2},
    {"law": "gear", "mu": 0.1, "preload": 0.1},
]
PINS = [
    {},
    {"friction": 0.02},
    {"friction": {"law": "bearing", "mu": 0.1, "radius": 0.01, "thrust_radius": 0.0, "length": 0.02}},
    {"friction": {"law": "coulomb", "level": 0.02, "level_static": 0.03}},
]


def tree(rng: np.random.Generator) -> kp.Mechanism:
    b = kp.Builder("tree")
    for k in range(rng.integers(1, 5)):
        mass = 0.5 + 2.0 * rng.random()
        inertia = (mass * rng.uniform(0.02, 0.03, 3)).tolist()
        b.link(f"l{k}", mass=mass, com=rng.uniform(-0.2, 0.2, 3).tolist(), inertia=inertia)
        kind, laws = [("revolute", TURNS), ("prismatic", SLIDES)][rng.integers(0, 2)]
        keys = {"friction": laws[rng.integers(0, len(laws))]} if rng.random() < 0.8 else {}
        if rng.random() < 0.4:
            keys |= {"lower": -0.3 - 0.3 * rng.random(), "upper": 0.3 + 0.3 * rng.random()}
        parent = f"l{rng.integers(0, k)}" if k else "ground"
        place = {"axis": "xyz"[rng.integers(0, 3)], "xyz": rng.uniform(-0.3, 0.3, 3).tolist()}
        b.joint(f"j{k}", kind, parent, f"l{k}", **place, **keys)
    return kp.build(b)


def loop(rng: np.random.Generator, **limits: float) -> kp.Mechanism:
    """A plane four-bar whose pins all may have friction, also the one that closes it; `limits` of the output."""
    b = kp.Builder("loop", gravity=(0, -9.81, 0))
    crank, coupler = 0.05 + 0.02 * rng.random(), 0.1 + 0.02 * rng.random()
    for name, length in (("crank", crank), ("output", 0.13), ("coupler", coupler)):
        b.link(name, mass=0.5 + rng.random(), com=(length / 2, 0, 0), inertia=[1e-3] * 3)
    chosen = [PINS[k] for k in rng.integers(0, len(PINS), 4)]
    b.joint("crank", "revolute", "ground", "crank", **chosen[0])
    b.joint("output", "revolute", "ground", "output", xyz=[0.15, 0, 0], **chosen[1], **limits)
    b.joint("coupler", "revolute", "output", "coupler", xyz=[0.13, 0, 0], **chosen[2])
    ends = {"xyz": [crank, 0, 0], "child_xyz": [coupler, 0, 0]}
    return kp.build(b.loop("pin", "pin", "crank", "coupler", **ends, **chosen[3]))


PAIRS: dict[str, list[object]] = {
    "revolute": [
        *TURNS,
        {"law": "viscous", "viscous": 0.1},
        {
            "law": "bearing",
            "mu": 0.1,
            "mu_static": 0.16,
            "radius": 0.03,
            "thrust_radius": 0.02,
            "length": 0.2,
            "preload": 2.0,
        },
        {"law": "gear", "efficiency": 0.8, "efficiency_back": 0.6},
        {
            "law": "servo",
            "level": 0.2,
            "level_static": 0.3,
            "stribeck_speed": 0.3,
            "exponent": 1.5,
            "motor_share": 0.1,
            "load_share": 0.1,
            "motor_share_static": 0.1,
            "load_share_static": 0.05,
            "motor_square": 0.02,
            "load_square": 0.03,
            "viscous": 0.1,
        },
        {
            "law": "lugre",
            "level": 0.3,
            "level_static": 0.5,
            "stribeck_speed": 0.1,
            "exponent": 2.0,
            "sigma0": 1e3,
            "sigma1": 10.0,
            "viscous": 0.05,
        },
    ],
    "prismatic": [
        *SLIDES,
        {"law": "viscous", "viscous": 0.5},
        {"law": "guide", "mu": 0.1, "mu_static": 0.15, "length": 0.4, "width": 0.3, "preload": 1.0},
        {"law": "gear", "efficiency": 0.8, "efficiency_back": 0.6},
    ],
    "cylindrical": [
        {"law": "bearing", "mu": 0.12, "radius": 0.02, "length": 0.2},
        {"law": "bearing", "mu": 0.12, "mu_static": 0.2, "radius": 0.02, "length": 0.2},
    ],
    "spherical": [{"law": "bearing", "mu": 0.12, "radius": 0.03}],
    "helical": [
        {"law": "thread", "mu": 0.12, "radius": 0.02},
        {"law": "thread", "mu": 0.3, "mu_static": 0.4, "radius": 0.02},
    ],
}


def any_tree(rng: np.random.Generator) -> kp.Mechanism:
    """A tree of every pair that has a law of friction, with every law."""
    b = kp.Builder("tree")
    for k in range(rng.integers(1, 5)):
        mass = 0.5 + 2.0 * rng.random()
        inertia = (mass * rng.uniform(0.02, 0.03, 3)).tolist()
        b.link(f"l{k}", mass=mass, com=rng.uniform(-0.2, 0.2, 3).tolist(), inertia=inertia)
        kind = rng.choice(list(PAIRS), p=[0.4, 0.3, 0.1, 0.1, 0.1])
        laws = PAIRS[kind]
        keys = {"friction": laws[rng.integers(0, len(laws))]} if rng.random() < 0.85 else {}
        if kind == "helical":
            keys["pitch"] = 0.05
        if rng.random() < 0.4 and kind in ("revolute", "prismatic"):
            keys |= {"lower": -0.3 - 0.3 * rng.random(), "upper": 0.3 + 0.3 * rng.random()}
        if kind != "spherical":
            keys["axis"] = "xyz"[rng.integers(0, 3)]
        parent = f"l{rng.integers(0, k)}" if k else "ground"
        b.joint(f"j{k}", kind, parent, f"l{k}", xyz=rng.uniform(-0.3, 0.3, 3).tolist(), **keys)
    return kp.build(b)


def start(m: kp.Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """At rest at exact zeros, with one rate that moves, or anywhere."""
    kind, q, qd = rng.integers(0, 3), np.zeros(m.nq), np.zeros(m.nv)
    if kind == 1:
        qd[rng.integers(0, m.nv)] = rng.normal()
    if kind == 2:
        q, qd = rng.uniform(-0.25, 0.25, m.nq), rng.normal(size=m.nv)
    return q, qd


def ends_and_balances(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, torque: Callable, limits: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", kp.FrictionWarning
        )  # several solutions are a property of the mechanism
        run = kp.simulate(m, q, qd, duration=1.0, torque=torque, limits=limits)
    assert run.status.name == "done"
    assert run.balance.relative < 1e-8
    loss = np.diff(run.loss)
    assert loss.min() > -1e-9 * (1.0 + np.abs(run.loss).max())


@pytest.mark.parametrize(
    "seed",
    family(SEEDS, [str(k) for k in (0, 1, 2, 3, 51, 89, 101, 151)], "each is one more random mechanism"),
)
def test_a_run_with_friction_and_limits_ends_and_its_energy_balances(seed):
    rng = np.random.default_rng(seed)
    closed = seed % 4 == 3
    m = (loop if closed else tree)(rng)
    q, qd = (m.start(), np.zeros(m.nv)) if closed else start(m, rng)
    efforts = rng.normal(size=m.nv) * rng.choice([0.0, 1.0, 3.0]) * (0.02 if closed else 1.0)
    rate = rng.uniform(1.0, 6.0)
    ends_and_balances(m, q, qd, lambda t, q, qd: efforts * np.sin(rate * t), "stop")


@pytest.mark.parametrize("seed", family(SEEDS, USUAL, "each is one more random mechanism"))
def test_every_pair_and_every_law_runs_to_the_end(seed):
    rng = np.random.default_rng([seed, 1])
    closed = seed % 4 == 3
    m = loop(rng, lower=0.5, upper=2.6) if closed else any_tree(rng)
    q, qd = m.start(), np.zeros(m.nv)
    kind = rng.integers(0, 3)
    if closed and kind:
        qd = m.velocities(q, {"crank": 3.0 * rng.normal()})
    elif kind == 1:
        qd[rng.integers(0, m.nv)] = rng.normal()
    elif kind == 2:
        qd = rng.normal(size=m.nv)
    efforts = rng.normal(size=m.nv) * rng.choice([0.0, 1.0, 3.0]) * (0.02 if closed else 1.0)
    rate, limits = rng.uniform(1.0, 6.0), str(rng.choice(["stop", "bounce"]))
    ends_and_balances(m, q, qd, lambda t, q, qd: efforts * np.sin(rate * t), limits)
