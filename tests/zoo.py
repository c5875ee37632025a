"""Mechanisms and motions for the tests: seeded, so that every run sees the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.description.parts import GROUND, Description, Frame, Joint, Link, Origin
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.pairs import PAIRS

KINDS = tuple(PAIRS)
ONE_DEGREE = ("revolute", "prismatic", "helical")


def three(rng: np.random.Generator, scale: float = 1.0) -> tuple[float, float, float]:
    x = scale * rng.normal(size=3)
    return (float(x[0]), float(x[1]), float(x[2]))


def origin(rng: np.random.Generator) -> Origin:
    return Origin(three(rng, 0.4), tuple(rng.normal(size=4).tolist()))


def link(rng: np.random.Generator, name: str) -> Link:
    """A cloud of ten points: a body that can exist, of full inertia."""
    points = rng.normal(size=(10, 3)) * rng.uniform(0.05, 0.3, size=3)
    m = float(rng.uniform(0.2, 3.0))
    around = points - points.mean(0)
    S = m / 10 * around.T @ around
    I = np.trace(S) * np.eye(3) - S
    return Link(name, m, three(rng, 0.2), (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))


def joint(rng: np.random.Generator, name: str, kind: str, parent: str, child: str) -> Joint:
    axis = three(rng)
    across = tuple(np.cross(axis, three(rng)).tolist())
    return Joint(
        name,
        kind,
        parent,
        child,
        origin(rng),
        origin(rng),
        axis,
        across if kind == "universal" else None,
        pitch=float(rng.normal(scale=0.1)) if kind == "helical" else 0.0,
        rotor_inertia=float(rng.uniform(0, 1e-3)) if kind in ONE_DEGREE else 0.0,
        gear_ratio=float(rng.uniform(1, 20)),
    )


def tree(
    seed: int, n: int, kinds: tuple[str, ...] = KINDS, reach: int = 3, floating: bool = False
) -> Mechanism:
    """A random tree of n joints; a body hangs on one of the `reach` bodies before it (1: a chain)."""
    rng = np.random.default_rng(seed)
    names = [GROUND, *(f"link {k}" for k in range(1, n + 1))]
    joints: list[Joint] = []
    for k in range(1, n + 1):
        parent = names[max(0, k - 1 - int(rng.integers(reach)))] if not floating or k > 1 else GROUND
        if floating and k > 1 and parent == GROUND:
            parent = names[1]
        kind = "free" if floating and k == 1 else str(rng.choice(kinds))
        joints.append(joint(rng, f"joint {k}", kind, parent, names[k]))
    rng.shuffle(joints)  # type: ignore[arg-type]
    links = tuple(link(rng, name) for name in names[1:])
    frames = tuple(Frame(f"tip {k}", str(rng.choice(names[1:])), origin(rng)) for k in range(2))
    name = f"{'floating ' if floating else ''}tree of {n}, seed {seed}"
    return Mechanism(build(Description(name, links, tuple(joints), frames)), compiled=False)


def random_trees(
    *, seed: int, sizes: tuple[int, ...] = (1, 3, 7, 15, 40), **options: object
) -> list[Mechanism]:
    return [tree(seed * 1000 + n, n, **options) for n in sizes]  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Motion:
    """A state and an acceleration."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


def motion(mechanism: Mechanism, seed: int = 0) -> Motion:
    """Random coordinates (unit quaternions), rates and accelerations."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, size=mechanism.nq)
    for i in mechanism.model.moving:
        pair = mechanism.model.body[i].pair
        if pair.nq > pair.nv:
            span = mechanism.model.q_span[i]
            quaternion = q[span][-4:]
            q[span.stop - 4 : span.stop] = quaternion / np.linalg.norm(quaternion)
    return Motion(q, rng.normal(size=mechanism.nv), rng.normal(size=mechanism.nv))


def motions(mechanism: Mechanism, batch: int, seed: int = 0) -> Motion:
    """The same, a row each."""
    every = [motion(mechanism, seed + k) for k in range(batch)]
    return Motion(*(np.array([getattr(m, x) for m in every]) for x in ("q", "qd", "qdd")))


def relative_error(found: np.ndarray, reference: np.ndarray) -> float:
    """max|Δ| / max(1, max|reference|)."""
    found, reference = np.asarray(found), np.asarray(reference)
    assert found.shape == reference.shape, (found.shape, reference.shape)
    if not found.size:
        return 0.0
    return float(np.abs(found - reference).max() / max(1.0, np.abs(reference).max()))


def without_gravity(mechanism: Mechanism) -> Mechanism:
    """The same mechanism in free fall."""
    return Mechanism(build(mechanism.model.description.with_gravity((0.0, 0.0, 0.0))), compiled=False)
