"""Base parameters: the combinations of parameters that efforts depend on.

    β = θ_b + K θ_d,   A θ = A_b β              θ_b: independent columns, θ_d: those that combine with them    (ID9)

Numerically, from the QR factors of columns on random states, scaled to length one: A = Q R, column k depends on those
before it where |R_kk| is rounding, and K = R_b⁻¹ R_d. Joints that the log does not move are at rest in these states.

Structurally, from the model alone (after Wensing, Niemeyer, Slotine 2024, extended by rotors and offsets): with V the
span of twists that a body can have, gravity among them, φ the motion of its joint, T the transfer to its parent,

    N = {vᵀ M φ + s I_a + c o},  and  O A_φ     what the joint measures of (π, I_a, o)                          (ID10)
    δ ∈ null N:  (δ, −T δ) on body and parent   changes without effect                                          (ID11)

with O the measurements of the parent carried over and closed under A_φ. s and c are the parts that a twist has of the
joint's own rate and of the constant that accompanies gravity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinpair.constraints.rounding import DEPENDENT_COLUMN as DEPENDENT
from kinpair.constraints.solvers.rank_revealing import independent_columns
from kinpair.identification.columns import TEN, Layout, hat, measurement, rate, transfer
from kinpair.mechanism import Mechanism

NOTHING = 1e-9  # coefficients below are rounding
STATES_PER_COLUMN = 4
SEED = 1
NEARBY = 0.4  # [rad] or [m]: random states of closed mechanisms are this near to the log
TWIST = 6


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """Independent and dependent columns, and K (independent, dependent) of (ID9)."""

    names: tuple[str, ...]
    independent: np.ndarray
    dependent: np.ndarray
    K: np.ndarray

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.independent)

    @property
    def matrix(self) -> np.ndarray:
        """β = matrix @ θ (rank, p).    (ID9)"""
        M = np.zeros((self.rank, len(self.names)))
        M[np.arange(self.rank), self.independent] = 1.0
        M[:, self.dependent] = self.K
        return M

    @property
    def alone(self) -> np.ndarray:
        """True of base parameters (rank,) that are one parameter each, without others."""
        return np.asarray((np.abs(self.K) <= NOTHING).all(1))

    @property
    def without_effect(self) -> list[str]:
        """Parameters that no effort depends on."""
        idle = ~(np.abs(self.K) > NOTHING).any(0)
        return [self.names[k] for k in self.dependent[idle]]

    @property
    def combined(self) -> list[str]:
        """Parameters that are identifiable only together with others."""
        mixed = {int(k) for k in self.independent[~self.alone]}
        used = (np.abs(self.K) > NOTHING).any(0)
        return [self.names[k] for k in sorted(mixed | {int(k) for k in self.dependent[used]})]

    def label(self, k: int, lengths: Sequence[float] = ()) -> str:
        """β_k as a sum, such as `upper: Izz + 0.43² forearm: m`."""
        parts = [self.names[self.independent[k]]]
        for c, name in zip(self.K[k], (self.names[j] for j in self.dependent), strict=True):
            if abs(c) > NOTHING:
                number = _number(abs(c), lengths)
                parts.append(f"{'−' if c < 0 else '+'} {number}{' ' if number else ''}{name}")
        return " ".join(parts)

    def labels(self, lengths: Sequence[float] = ()) -> list[str]:
        """Sums of all base parameters."""
        return [self.label(k, lengths) for k in range(self.rank)]


def _number(c: float, lengths: Sequence[float]) -> str:
    if abs(c - 1.0) < 1e-9:
        return ""
    root = float(np.sqrt(c))
    for x in lengths:
        if abs(root - x) < 1e-8 * max(1.0, x):
            return f"{x:.6g}²"
    return f"{c:.6g}"


def lengths_of(m: Mechanism) -> list[float]:
    """Distances [m] between joints that appear in the description, for labels."""
    found = {round(abs(x), 12) for joint in m.model.description.joints for x in joint.origin.xyz}
    return sorted(x for x in found if x > 1e-6 and abs(x - 1.0) > 1e-9)


def reduced(names: Sequence[str], A: np.ndarray) -> Base:
    """Base of the columns of A (k, p): each column is kept that does not depend on those before it.    (ID9)"""
    from scipy.linalg import solve_triangular

    scale = np.linalg.norm(A, axis=0)
    scaled = A / np.where(scale > 0, scale, 1.0)
    independent = independent_columns(A)
    dependent = np.setdiff1d(np.arange(A.shape[1]), independent)
    q, r = np.linalg.qr(scaled[:, independent])
    K = solve_triangular(r, q.T @ scaled[:, dependent])
    K = K * scale[dependent] / scale[independent][:, None]
    size = np.abs(K).max(initial=1.0)
    return Base(tuple(names), independent, dependent, np.where(np.abs(K) > 1e-9 * size, K, 0.0))


def numerical(layout: Layout, still: Sequence[int] = (), at: np.ndarray | None = None) -> Base:
    """Base of the columns of a layout on random states; coordinates `still` are at rest where `at` (nq,) has them."""
    m, rng = layout.m, np.random.default_rng(SEED)
    p = len(layout.parameters)
    n = max(30, STATES_PER_COLUMN * p // len(layout.rows))
    q, qd, qdd = random_motion(m, n, rng, still if m.nq == m.nv else (), m.start() if at is None else at)
    loaded = layout.payload is not None
    parts = [layout.inertial(q, qd, qdd, loaded)]
    T = rng.normal(size=(n, len(layout.rows)))
    A = np.concatenate([*parts, layout.further(qd, qdd, T)], axis=2)
    if loaded:  # a run without the payload, too
        half = A.copy()
        half[: n // 2, :, layout.of_group("payload")] = 0.0
        A = half
    return reduced(layout.names, A.reshape(-1, p))


def random_motion(
    m: Mechanism, n: int, rng: np.random.Generator, still: Sequence[int], at: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, q̇, q̈ of n states near `at` (nq,) that satisfy the constraints; rates `still` are zero."""
    from kinpair.formulations.kinematics import moved, normalised

    qd, qdd = rng.normal(size=(2, n, m.nv))
    spread = rng.uniform(-1.0, 1.0, (n, m.nv)) * (np.pi if m.closure is None else NEARBY)
    for x in (qd, qdd, spread):
        x[:, list(still)] = 0.0
    q = np.array([np.asarray(normalised(m.model, moved(m.model, at, x)), dtype=float) for x in spread])
    if m.closure is None:
        return q, qd, qdd
    rest = [m.v_names[k] for k in still]
    q = m.assemble(q, fixed=rest)
    qd = m.velocities(q, dict.fromkeys(rest, 0.0), guess=qd)
    return q, qd, m.accelerations(q, qd, dict.fromkeys(rest, 0.0), guess=qdd)


def structural(m: Mechanism, *, rotors: bool = False, offsets: bool = False) -> Base:
    """Base of the inertial parameters of an open tree, of rotor inertias and of offsets, from the model alone.

    The parameters are ordered as those of a Layout with these groups: bodies, rotors, offsets.    (ID10), (ID11)
    """
    model = m.model
    bodies = list(model.moving)
    n, nv = len(bodies), m.nv
    extra = rotors + offsets
    spaces = _measured(m, rotors, offsets)
    null: list[np.ndarray] = []
    for b, i in enumerate(bodies):
        own = np.arange(model.v_span[i].start, model.v_span[i].stop)
        parent = model.parent[i]
        for x in _null(spaces[b]).T:
            whole = np.zeros(TEN * n + extra * nv)
            whole[TEN * b : TEN * (b + 1)] = x[:TEN]
            if parent:
                p = bodies.index(parent)
                whole[TEN * p : TEN * (p + 1)] -= _to_parent(m, i) @ x[:TEN]  # (ID11)
            for e in range(extra):
                whole[TEN * n + e * nv + own] = x[TEN + e * len(own) : TEN + (e + 1) * len(own)]
            null.append(whole)
    names = [f"{model.names[i]}: {x}" for i in bodies for x in _inertial_names()]
    names += [f"{x}: rotor inertia" for x in m.v_names] * rotors + [
        f"{x}: offset" for x in m.v_names
    ] * offsets
    return _from_null(names, np.array(null).reshape(-1, len(names)))


def _inertial_names() -> tuple[str, ...]:
    from kinpair.formulations.regressor import INERTIAL

    return INERTIAL


def _from_null(names: Sequence[str], null: np.ndarray) -> Base:
    """Base with null space of these rows: dependent columns are the last ones that can be eliminated."""
    N = null[:, ::-1].copy()
    pivots: list[int] = []
    row = 0
    for k in range(N.shape[1]):
        if row == len(N):
            break
        best = row + int(np.argmax(np.abs(N[row:, k])))
        if abs(N[best, k]) < DEPENDENT:
            continue
        N[[row, best]] = N[[best, row]]
        N[row] /= N[row, k]
        others = np.arange(len(N)) != row
        N[others] -= np.outer(N[others, k], N[row])
        pivots.append(k)
        row += 1
    p = N.shape[1]
    dependent = np.array([p - 1 - k for k in pivots][::-1], dtype=int)
    independent = np.setdiff1d(np.arange(p), dependent)
    free = N[: len(pivots)][::-1, ::-1][:, independent]  # θ_d = −free θ_b along the null space
    K = -free.T
    return Base(tuple(names), independent, dependent, np.where(np.abs(K) > NOTHING, K, 0.0))


def _measured(m: Mechanism, rotors: bool, offsets: bool) -> list[np.ndarray]:
    """Rows over (π, I_a, o) of each body that its joint measures.    (ID10)"""
    model = m.model
    ground = np.concatenate([np.zeros(3), -np.asarray(model.gravity, dtype=float), [1.0]])  # twist, and one
    V: dict[int, np.ndarray] = {0: ground[None]}
    C: dict[int, np.ndarray] = {0: np.zeros((0, TEN))}
    found: list[np.ndarray] = []
    for i in model.moving:
        parent = model.parent[i]
        phi = _joint_motion(m, i)
        moved = np.concatenate(
            [V[parent][:, :TWIST] @ _twist_from_parent(m, i).T, V[parent][:, TWIST:]], axis=1
        )
        moved = _closed_under(moved, [_adjoint(x) for x in phi])
        own = np.concatenate([phi, np.zeros((len(phi), 1))], axis=1)
        V[i] = np.concatenate([moved, own])
        k = len(phi)
        rows = [
            np.concatenate([measurement(v[:TWIST], x), *([s * e] * rotors), *([v[TWIST] * e] * offsets)])
            for x, e in zip(phi, np.eye(k), strict=True)
            for v, s in zip(V[i], [*np.zeros(len(moved)), *e], strict=True)
        ]
        carried = C[parent] @ _to_parent(m, i)
        O = _closed_rows(carried, [rate(x) for x in phi])
        pad = np.zeros((len(O) * k, k * (rotors + offsets)))
        rates = np.concatenate([O @ rate(x) for x in phi]) if len(O) else np.zeros((0, TEN))
        found.append(_row_space(np.concatenate([np.array(rows), np.concatenate([rates, pad], axis=1)])))
        C[i] = _row_space(np.concatenate([carried, found[-1][:, :TEN]]))
    return found


def _row_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal rows that span the rows of A."""
    if not len(A):
        return A
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    return Vt[s > 1e-9 * max(float(s[0]), 1e-300)] if s[0] > 1e-12 else Vt[:0]


def _null(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns that A maps to zero."""
    _, s, Vt = np.linalg.svd(A, full_matrices=True)
    return Vt[int((s > 1e-9).sum()) :].T


def _closed_under(rows: np.ndarray, maps: Sequence[np.ndarray]) -> np.ndarray:
    """Span of twists (k, 7) closed under maps of their first six entries; the constant stays with the given rows."""
    span, new = rows, rows
    while len(new):
        images = [np.concatenate([new[:, :TWIST] @ A.T, np.zeros((len(new), 1))], axis=1) for A in maps]
        joined = _row_space(np.concatenate([span, *images]))
        if len(joined) == len(_row_space(span)):
            return joined
        span = new = joined
    return span


def _closed_rows(rows: np.ndarray, maps: Sequence[np.ndarray]) -> np.ndarray:
    span = _row_space(rows)
    while True:
        joined = _row_space(np.concatenate([span, *(span @ A for A in maps)]))
        if len(joined) == len(span):
            return span
        span = joined


def _adjoint(twist: np.ndarray) -> np.ndarray:
    """Matrix (6, 6) of the rate −φ × v of a constant twist v seen from a frame that moves with φ."""
    W, v = hat(twist)[:3, :3], twist[3:]
    U = hat(np.concatenate([v, np.zeros(3)]))[:3, :3]
    return -np.block([[W, np.zeros((3, 3))], [U, W]])


def _pose(m: Mechanism, i: int) -> np.ndarray:
    """Homogeneous pose (4, 4) of the link of body i at the start; the identity for the ground."""
    T = np.eye(4)
    if i:
        pose = m.pose(m.start(), m.model.names[i])
        T[:3, :3], T[:3, 3] = pose.rotation, pose.position
    return T


def _relative(m: Mechanism, i: int) -> np.ndarray:
    return np.linalg.inv(_pose(m, m.model.parent[i])) @ _pose(m, i)


def _to_parent(m: Mechanism, i: int) -> np.ndarray:
    """Transfer (10, 10) of parameters to the parent's link frame; to the ground for a body on it."""
    return transfer(_relative(m, i))


def _twist_from_parent(m: Mechanism, i: int) -> np.ndarray:
    """Matrix (6, 6): twist of the parent's link as that of this link's frame, the joint at rest."""
    T = _relative(m, i)
    R, a = T[:3, :3], T[:3, 3]
    A = hat(np.concatenate([a, np.zeros(3)]))[:3, :3]
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ A, R.T]])


def _joint_motion(m: Mechanism, i: int) -> np.ndarray:
    """Twists (k, 6) of the joint's rates, in the frame of the link."""
    R = _pose(m, i)[:3, :3]
    J = m.jacobian(m.start(), m.model.names[i])[:, m.model.v_span[i]]
    return np.concatenate([R.T @ J[:3], R.T @ J[3:]]).T
