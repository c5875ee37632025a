"""Piles of bodies of all shapes fall and collide: energy falls, and bodies do not pass through each other."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from families import family

G, DT = 9.81, 1e-3


def shape(rng: np.random.Generator, kind: str, s: float) -> tuple[dict[str, object], np.ndarray, float]:
    """Keyword of a geom, semi-axes of an ellipsoid of about its inertia, and a radius that holds it."""
    if kind == "sphere":
        return {kind: s}, np.full(3, s), s
    if kind == "capsule":
        return {kind: [0.5 * s, 1.5 * s]}, s * np.array([0.5, 0.5, 1.2]), 1.3 * s
    if kind == "cylinder":
        return {kind: [0.6 * s, 1.2 * s]}, s * np.array([0.6, 0.6, 0.8]), s
    if kind == "hull":
        points = rng.normal(size=(12, 3))
        return {kind: s * points / np.linalg.norm(points, axis=1)[:, None]}, np.full(3, 0.8 * s), s
    size = s * rng.uniform(0.5, 1.2, 3)
    if kind == "box":
        return {kind: 2 * size}, 1.3 * size, float(np.linalg.norm(size))
    return {kind: size}, size, float(size.max())


def pile(seed: int, bodies: int = 6) -> kp.Mechanism:
    """Bodies of random shapes and masses above each other."""
    rng = np.random.default_rng(seed)
    b = kp.Builder(f"pile {seed}", max_contacts=40 * bodies)
    b.contact(
        "floor", "ground", plane=True, mu=rng.choice([0, 0.3, 0.5, 1.0]), restitution=rng.choice([0, 0.5])
    )
    top = 0.1
    for i in range(bodies):
        kind = str(rng.choice(["sphere", "capsule", "box", "cylinder", "ellipsoid", "hull"]))
        mass, q = 10 ** rng.uniform(-1, 1), rng.normal(size=4)
        geom, axes, reach = shape(rng, kind, rng.uniform(0.03, 0.1))
        b.link(f"body {i}", mass=mass, inertia=mass / 5 * ((axes**2).sum() - axes**2))
        start = [*rng.uniform(-0.08, 0.08, 2), top + reach, *(q / np.linalg.norm(q))]
        b.joint(f"free {i}", "free", "ground", f"body {i}", start=start)
        b.contact(f"geom {i}", f"body {i}", mu=float(rng.choice([0, 0.3, 0.6, 1])), **geom)
        top += 2 * reach + 0.01
    return kp.build(b)


@pytest.mark.parametrize("seed", family(range(40), ("16", "19"), "further piles"))
def test_a_pile_never_gains_energy(seed):
    m, rng = pile(seed), np.random.default_rng(seed)
    result = kp.simulate(m, m.start(), 0.5 * rng.normal(size=m.nv), duration=1.0, dt=DT, output=0.01)
    assert result.status.ok, result.status
    E = result.energy.kinetic + result.energy.potential
    speed = np.abs(result.qd).max()
    weight = G * sum(np.diag(m.mass_matrix(m.start()))[3::6])
    assert (np.diff(E) <= weight * DT * speed).all()  # what positions of a step do not resolve
    assert E[-1] < E[0]
