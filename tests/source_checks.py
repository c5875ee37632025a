"""Second methods for the map of the sources: kinematics by differences along a motion, and matrices in common axes.

Nothing here calls the formulation that it checks. Positions of the bodies come from their poses; all else follows by
differentiating along q(t) = q + q̇ t + ½ q̈ t². The stencil has seven points: its error is h⁶/140 of the seventh
derivative, about 1e-13, and rounding adds 1e-16/h.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import numpy as np

from kinpair.formulations.kinematics import poses
from kinpair.spatial.rotation import skew

STEP = 4e-3
STENCIL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}


class Check:
    """A mechanism of plain coordinates at one state of a motion."""

    def __init__(self, m, q, qd, qdd):
        self.m, self.model = m.reference, m.model
        self.q, self.qd, self.qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
        self.bodies = range(1, len(m.model.parent))

    def state(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        return self.q + self.qd * time + 0.5 * self.qdd * time**2, self.qd + self.qdd * time

    def rate(self, f: Callable[..., np.ndarray]) -> np.ndarray:
        """d/dt of f(q) or f(q, q̇)."""
        arguments = 2 if "qd" in signature(f).parameters and f.__name__ == "<lambda>" else 1
        return sum((c / STEP) * np.asarray(f(*self.state(k * STEP)[:arguments])) for k, c in STENCIL.items())

    def R(self, i: int, q=None) -> np.ndarray:
        return np.asarray(poses(self.model, self.q if q is None else q)[i].R, dtype=float)

    def C(self, i: int, q=None) -> np.ndarray:
        """Mass centre of body i, world axes."""
        place = poses(self.model, self.q if q is None else q)[i]
        return place.a + place.R @ self.model.body[i].d

    def omega(self, i: int, q=None, qd=None) -> np.ndarray:
        """Angular velocity from the change of the axes, world axes."""
        here = Check(self.m, self.q if q is None else q, self.qd if qd is None else qd, np.zeros(len(self.q)))
        W = here.rate(lambda x: here.R(i, x)) @ here.R(i).T
        return np.array([W[2, 1], W[0, 2], W[1, 0]])

    def v(self, i: int, q=None, qd=None) -> np.ndarray:
        """Velocity of the mass centre, world axes."""
        here = Check(self.m, self.q if q is None else q, self.qd if qd is None else qd, np.zeros(len(self.q)))
        return here.rate(lambda x: here.C(i, x))

    def inertia(self, i: int, q=None) -> np.ndarray:
        R = self.R(i, q)
        return R @ self.model.body[i].I @ R.T

    def t(self, i: int) -> np.ndarray:
        """[ω; v_C] in axes of the body."""
        return np.concatenate([self.R(i).T @ self.omega(i), self.R(i).T @ self.v(i)])

    def newton_euler(self, i: int) -> np.ndarray:
        """Rates of the momenta about the mass centre, less the weight, in axes of the body: [n; f]."""
        R, body = self.R(i), self.model.body[i]
        n = self.rate(lambda q, qd: self.inertia(i, q) @ self.omega(i, q, qd))
        f = body.m * (self.rate(lambda q, qd: self.v(i, q, qd)) - self.model.gravity)
        return np.concatenate([R.T @ n, R.T @ f])

    def B(self, i: int, j: int, q=None) -> np.ndarray:
        """[[1, 0], [[c_ij], 1]] in common axes, c_ij = C_j − C_i."""
        one = np.eye(3)
        return np.block([[one, np.zeros((3, 3))], [skew(self.C(j, q) - self.C(i, q)), one]])

    def B_body(self, i: int, j: int) -> np.ndarray:
        """The same from axes of j to axes of i."""
        return np.kron(np.eye(2), self.R(i).T) @ self.B(i, j) @ np.kron(np.eye(2), self.R(j))

    def p(self, i: int, q=None) -> np.ndarray:
        """Motion of a chain's joint i at C_i in common axes, from the Jacobian of its body."""
        q = self.q if q is None else q
        return self.N(q)[6 * i - 6 : 6 * i, i - 1 : i]

    def N(self, q=None) -> np.ndarray:
        """Common axes; columns are velocities of the mass centres for unit rates, by the frames' Jacobians."""
        q = self.q if q is None else q
        rows = []
        for i in self.bodies:
            J = self.m.jacobian(q, self.model.names[i])  # [ω; v] of the frame, world axes
            arm = skew(self.C(i, q) - self.m.pose(q, self.model.names[i]).position)
            rows += [J[:3], J[3:] - arm @ J[:3]]
        return np.concatenate(rows)

    def N_l(self, q=None) -> np.ndarray:
        n = len(self.bodies)
        blocks = [[self.B(i, j, q) if j <= i else np.zeros((6, 6)) for j in self.bodies] for i in self.bodies]
        return np.block(blocks).reshape(6 * n, 6 * n)

    def diagonal(self, blocks) -> np.ndarray:
        blocks = list(blocks)
        rows, columns = blocks[0].shape
        D = np.zeros((rows * len(blocks), columns * len(blocks)))
        for k, block in enumerate(blocks):
            D[rows * k : rows * (k + 1), columns * k : columns * (k + 1)] = block
        return D

    def N_d(self, q=None) -> np.ndarray:
        return self.diagonal(self.p(i, q) for i in self.bodies)

    def M(self) -> np.ndarray:
        """diag(I_i, m_i 1), common axes."""
        return self.diagonal(
            self.diagonal([self.inertia(i), self.model.body[i].m * np.eye(3)]) for i in self.bodies
        )

    def Md(self) -> np.ndarray:
        """diag([ω_i] I_i, 0), common axes."""
        return self.diagonal(
            self.diagonal([skew(self.omega(i)) @ self.inertia(i), np.zeros((3, 3))]) for i in self.bodies
        )

    def convective(self) -> np.ndarray:
        """Nᵀ(M Ṅ + Ṁ N) with Ṅ by differences."""
        N = self.N()
        return N.T @ (self.M() @ self.rate(self.N) + self.Md() @ N)

    def to_world(self, i: int, X: np.ndarray) -> np.ndarray:
        """A (6, 6) block of one body in common axes."""
        T = np.kron(np.eye(2), self.R(i))
        return T @ X @ T.T


def slope(f: Callable[[float], np.ndarray]) -> np.ndarray:
    """f′(0)."""
    return sum((c / STEP) * np.asarray(f(k * STEP)) for k, c in STENCIL.items())


def gradient(f: Callable[[np.ndarray], float], x: np.ndarray) -> np.ndarray:
    return np.array([slope(lambda h, e=e: f(x + h * e)) for e in np.eye(len(x))])


def lagrange_terms(T, Q, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and F of Lagrange's equation from the energy alone, by differences."""

    def momentum(q, qd):
        return gradient(lambda x: T(q, x, 0.0), qd)

    M = np.array([slope(lambda h, e=e: momentum(q, qd + h * e)) for e in np.eye(len(q))]).T
    along = slope(lambda h: momentum(q + h * qd, qd))
    return M, gradient(lambda x: T(x, qd, 0.0), q) - along + np.asarray(Q(q, qd, 0.0))


def off(one, other) -> float:
    """Largest difference as a part of the largest entry, or of one where all are smaller than that."""
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
