"""Closed and rolling mechanisms for the tests: consistent states of the bundled ones, a plain solve, random ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

import kinpair as kp
import zoo
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.stacked import residual, rows
from kinpair.constraints.solvers.rank_revealing import null_space
from kinpair.description.constraint_parts import Distance, Loop
from kinpair.description.parts import Description, Origin

CLOSED = np.arccos(-0.65)
STARTS: dict[str, list[float] | None] = {  # where their files start them; None: the neutral coordinates
    "four-bar": [0, CLOSED, CLOSED],
    "four-bar-3d": [0, CLOSED, CLOSED],
    "slider-crank": [np.pi / 2, -np.pi / 2 - np.arctan(5 / 12), -0.06],
    "five-bar": [np.pi / 2, -np.arctan(5 / 12), np.pi / 2, np.arctan(5 / 12)],
    "bennett": [np.pi / 2, 2 * np.pi / 3, -np.pi / 2],
    "three-rrr": [0, 0, 0, *[np.arctan(4 / 3), -2 * np.arctan(4 / 3)] * 3],
    "stewart": None,
    "delta": None,
    "gripper": [0.5, -0.5, 0.5, -0.5, 0.5, -0.5],
    "space-robot": [np.pi / 36, -np.pi / 6, -np.pi / 6],
    "omni-robot": [1, 1, 1, 0.001, 0.001, np.pi / 6],
    "diff-drive": None,
    "rolling-disk": None,
    "bicycle": None,
}


def start(name: str) -> np.ndarray:
    """The coordinates at which an example starts."""
    q = STARTS[name]
    return kp.example(name).neutral() if q is None else np.array(q, dtype=float)


def gap(m: kp.Mechanism, q: np.ndarray) -> np.ndarray:
    """φ of every holonomic row."""
    return residual(m.model, constraints_of(m.model), q, 0.0)


def constraints(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, ψ and b of every row."""
    result = rows(m.model, constraints_of(m.model), q, qd, 0.0)
    return tuple(np.array(x, dtype=float) for x in result)  # type: ignore[return-value]


def motion(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ of H q̈ + h = τ + Aᵀλ, A q̈ = b, the shortest λ where rows are redundant."""
    A, _, b = constraints(m, q, qd)
    H, h = m.reference.mass_matrix(q), m.reference.bias_forces(q, qd)
    free, W = np.linalg.solve(H, tau - h), np.linalg.solve(H, A.T)
    lam = np.linalg.pinv(A @ W, rcond=1e-12, hermitian=True) @ (b - A @ free)
    return free + W @ lam, lam


SOUND = 0.05  # smallest singular value of rows of length one: random loops are well-conditioned
MOVING = tuple(kind for kind in zoo.KINDS if kind != "fixed")
PAIRS_OF_LOOPS = ("spherical", "universal", "revolute", "distance")


def random_closed(seed: int) -> tuple[kp.Mechanism, np.ndarray]:
    """A random tree of four to seven joints with one or two loops that close at the coordinates q, and q.

    Loops are drawn until their rows are independent by `SOUND`. The actuated joints are those that pivoting of the null
    space of the rows chooses: half of the joints of one degree have an actuator, the others `actuated = true`.
    """
    rng = np.random.default_rng([24, seed])
    tree = zoo.tree(seed, int(rng.integers(4, 8)), MOVING, reach=2)
    q = zoo.motion(tree, seed).q
    parts = tree.model.description
    for k in range(int(rng.integers(1, 3))):
        parts = _with_loop(parts, tree, q, rng, f"loop {k}")
    assert parts.constraints
    m = kp.build(parts).reference
    Z = null_space(m.constraint_matrix(q))
    _, _, pivots = scipy.linalg.qr(Z.T, pivoting=True, mode="economic")
    driven = {m.v_names[k].partition(".")[0] for k in pivots[: Z.shape[1]]}
    motors = {x.name for x in parts.joints if x.name in driven and x.kind in zoo.ONE_DEGREE[:2]}
    motors = {name for name in sorted(motors) if rng.random() < 0.5}
    joints = tuple(replace(x, actuated=True if x.name in driven - motors else None) for x in parts.joints)
    m = kp.build(replace(parts, joints=joints))
    return m.with_actuators({name: {"kind": "effort"} for name in sorted(motors)}).reference, q


def smallest(A: np.ndarray) -> float:
    """Smallest singular value."""
    return float(np.linalg.svd(A, compute_uv=False)[-1])


def _with_loop(
    parts: Description, tree: kp.Mechanism, q: np.ndarray, rng: np.random.Generator, name: str
) -> Description:
    """The description with one more loop that closes at q; as it is, if no loop of a hundred is sound."""
    names = ["ground", *(x.name for x in parts.links)]
    for _ in range(100):
        parent, child = rng.choice(names, 2, replace=False).tolist()
        kind, mark = str(rng.choice(PAIRS_OF_LOOPS)), rng.normal(scale=0.3, size=3)
        P, C = (tree.pose(q, x) if x != "ground" else (np.eye(3), np.zeros(3)) for x in (parent, child))
        place, turn = P[0].T @ (C[0] @ mark + C[1] - P[1]), P[0].T @ C[0]
        if kind == "distance":
            aside = zoo.three(rng, 0.4)
            seat = Origin(tuple((place + aside).tolist()))
            part = Distance(
                name, parent, child, float(np.linalg.norm(aside)), seat, Origin(tuple(mark.tolist()))
            )
        else:
            seat = Origin(tuple(place.tolist()), tuple(turn.ravel().tolist()))
            part = Loop(name, kind, parent, child, seat, Origin(tuple(mark.tolist())))
        more = replace(parts, constraints=(*parts.constraints, part))
        A = kp.build(more).reference.constraint_matrix(q)
        sizes = np.linalg.norm(A, axis=1)
        if len(A) < tree.nv and (sizes > SOUND).all() and smallest(A / sizes[:, None]) > SOUND:
            return more
    return parts
