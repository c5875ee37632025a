"""Motions that excite all parameters of a mechanism: Fourier series with rest at both ends, optimised under limits.

    q(t) = q₀ + Σ_k a_k cos kωt + b_k sin kωt,   Σ k b_k = 0,  Σ k² a_k = 0                                   (EX1)
    first  min −log det SᵀS,   then  min log κ(W) + log κ(S)                                                  (EX2)

W has the base columns along the motion, S the same with length one.

Entries of the regressor are linear in q̈, quadratic in q̇, and in each angle trigonometric polynomials of degree two. So
their slopes are exact combinations of values, with o(h) the odd part [Y(q + h) − Y(q − h)]/2:

    ∂Y/∂q = (1 − √2) o(π/2) + 2 o(π/4)   of an angle,   o(1) of a slide;   ∂Y/∂q̇ = o(1);   ∂Y/∂q̈ = Y(q̈ + 1) − Y    (EX3)

Limits of coordinates, rates and accelerations are linear in the coefficients; amplitudes are scaled to meet them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kinpair.constraints.solvers.rank_revealing import independent_columns
from kinpair.errors import InputError, expect, listed
from kinpair.mechanism import Mechanism
from kinpair.motion.joints import fourier
from kinpair.motion.laws import Harmonics
from kinpair.motion.limits import limit_of
from kinpair.motion.trajectory import Motion, positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Measure: TypeAlias = Callable[[np.ndarray], tuple[float, np.ndarray]]
TEN = 10  # inertial parameters of a body
POINTS = 6  # samples per harmonic
WIDE = np.pi  # [rad] or [m]: range of a joint without limits
ROUNDS = 15, 25  # iterations of both stages
SEED = 0
SQRT2 = float(np.sqrt(2.0))
STATES = 200  # random states by which base columns are found
NEAR = 20.0  # exponent of the norm that stands for the largest value


@dataclass(frozen=True, slots=True, eq=False)
class Excitation:
    """A motion, and how well it excites: condition of the base columns, scaled to length one and as they are.

    effort (nv,): largest efforts with the parameters of the description.
    """

    motion: Harmonics
    condition: float
    raw_condition: float
    effort: np.ndarray

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.motion.duration

    def at(self, time: Any) -> Motion:
        """Coordinates, rates, accelerations and jerk at a time [s].

        Units: [rad] or [m], by [s].
        """
        return self.motion.at(time)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the motion; write the figure to a file."""
        return self.motion.plot(path)


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """Samples of (EX1) as linear functions of x (free coefficients of all joints), and the base columns."""

    m: Mechanism
    basis: tuple[np.ndarray, np.ndarray, np.ndarray]  # q, q̇, q̈ of one joint (samples, coefficients)
    middle: np.ndarray
    bounds: tuple[np.ndarray, np.ndarray, np.ndarray]  # largest |q − q₀|, |q̇|, |q̈| of each joint
    columns: np.ndarray
    angles: np.ndarray

    def coefficients(self, x: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Coefficients (coefficients, joints) scaled to the limits, and the map from slopes by them to slopes by x.

        The scale of a joint is 1/‖u‖, u all samples by their limits, in a norm near the largest value.
        """
        X = x.reshape(-1, self.m.nv)
        U = np.concatenate([B @ X / bound for B, bound in zip(self.basis, self.bounds, strict=True)])
        top = np.abs(U).max(0)
        share = (np.abs(U) / top) ** NEAR
        size = top * share.sum(0) ** (1.0 / NEAR)
        slope = np.sign(U) * (np.abs(U) / top) ** (NEAR - 1.0) / share.sum(0) ** (1.0 - 1.0 / NEAR)
        parts = np.split(slope, 3)
        by_x = sum(
            (B.T @ (part / bound) for B, part, bound in zip(self.basis, parts, self.bounds, strict=True)),
            np.zeros_like(X),
        )

        def back(g: np.ndarray) -> np.ndarray:
            return (g / size - by_x * (g * X).sum(0) / size**2).ravel()

        return X / size, back

    def motion(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, q̇, q̈ (samples, nv) of coefficients."""
        Q, V, A = self.basis
        return self.middle + Q @ c, V @ c, A @ c

    def rows(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Base columns (states, nv, base)."""
        return self.m.regressor(q, qd, qdd)[:, :, self.columns]

    def slopes(self, c: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Slopes (coefficients, joints) of Σ G·Y by the coefficients, G (samples, nv, base).    (EX3)"""
        q, qd, qdd = self.motion(c)
        n, k = self.m.nv, len(q)
        zero = np.zeros((n, 1, n))
        unit = np.eye(n)[:, None, :]
        far = np.where(self.angles, np.pi / 2, 1.0)[:, None, None] * unit
        near = np.where(self.angles, np.pi / 4, 1.0)[:, None, None] * unit
        moves = [(far, zero, zero), (-far, zero, zero), (near, zero, zero), (-near, zero, zero)]
        moves += [(zero, unit, zero), (zero, -unit, zero), (zero, zero, unit)]
        states = [
            np.concatenate([(x + move[i]).reshape(-1, n) for move in moves])
            for i, x in enumerate((q, qd, qdd))
        ]
        Y = self.rows(*states).reshape(len(moves), n, k, n, -1)
        s = np.einsum("fjkrb,krb->fjk", Y, G)
        here = np.einsum("krb,krb->k", self.rows(q, qd, qdd), G)
        odd = [0.5 * (s[0] - s[1]), 0.5 * (s[2] - s[3]), 0.5 * (s[4] - s[5])]
        by_q = np.where(self.angles[:, None], (1.0 - SQRT2) * odd[0] + 2.0 * odd[1], odd[0])
        Q, V, A = self.basis
        return Q.T @ by_q.T + V.T @ odd[2].T + A.T @ (s[6] - here).T

    def value(self, x: np.ndarray, measure: Measure) -> tuple[float, np.ndarray]:
        """A measure of the base columns and its slopes by x.    (EX2)"""
        c, back = self.coefficients(x)
        Y = self.rows(*self.motion(c))
        cost, G = measure(Y.reshape(-1, Y.shape[2]))
        return cost, back(self.slopes(c, G.reshape(Y.shape)))


def _scaled(W: np.ndarray, measure: Measure) -> tuple[float, np.ndarray]:
    """A measure of W with columns of length one, and its slopes by W."""
    size = np.linalg.norm(W, axis=0)
    cost, G = measure(W / size)
    return cost, (G - W / size * (W / size * G).sum(0)) / size


def log_determinant(W: np.ndarray) -> tuple[float, np.ndarray]:
    """−log det WᵀW of columns of length one, and its slopes by W.    (EX2)"""

    def measure(S: np.ndarray) -> tuple[float, np.ndarray]:
        N = S.T @ S
        return -float(np.linalg.slogdet(N)[1]), -2.0 * np.linalg.solve(N, S.T).T

    return _scaled(W, measure)


def log_conditions(W: np.ndarray) -> tuple[float, np.ndarray]:
    """log κ(W) + log κ(W with columns of length one), and its slopes by W.    (EX2)"""

    def measure(S: np.ndarray) -> tuple[float, np.ndarray]:
        U, s, Vt = np.linalg.svd(S, full_matrices=False)
        slope = np.outer(U[:, 0], Vt[0]) / s[0] - np.outer(U[:, -1], Vt[-1]) / s[-1]
        return float(np.log(s[0] / s[-1])), slope

    (raw, by_raw), (scaled, by_scaled) = measure(W), _scaled(W, measure)
    return raw + scaled, by_raw + by_scaled


def excitation(
    m: Mechanism,
    duration: float,
    harmonics: int = 5,
    *,
    rates: Any = None,
    accelerations: Any = None,
    margin: float = 0.9,
    seed: int = SEED,
) -> Excitation:
    """Find a motion that makes the base inertial parameters of an open mechanism well identifiable.

    duration: of one period [s]. rates, accelerations: limits instead of those of the file; without limits of the
    accelerations they follow from rates and the highest harmonic. margin: part of all limits that is used.

    Units: [rad] or [m], [s].
    """
    expect("excitation", m, Mechanism)
    positive("excitation", duration=duration)
    if m.closure is not None or m.nq != m.nv:
        raise InputError(
            f"{m.name}: excitation takes open mechanisms whose joints have one degree of freedom each"
        )
    if harmonics < 3:
        raise InputError(f"excitation: harmonics is {harmonics!r}; rest at both ends needs 3 or more")
    problem, free = _problem(m, duration, harmonics, rates, accelerations, margin)
    x = np.random.default_rng(seed).normal(size=problem.basis[0].shape[1] * m.nv)
    for measure, rounds in zip((log_determinant, log_conditions), ROUNDS, strict=True):
        x = _minimised(problem, x, measure, rounds)
    return _result(problem, free, x, duration, harmonics, margin)


def _minimised(problem: _Problem, x: np.ndarray, measure: Any, rounds: int) -> np.ndarray:
    from scipy.optimize import minimize

    options = {"maxiter": rounds, "maxcor": 20}
    return minimize(problem.value, x, args=(measure,), jac=True, method="L-BFGS-B", options=options).x


def _problem(
    m: Mechanism, duration: float, harmonics: int, rates: Any, accelerations: Any, margin: float
) -> tuple[_Problem, np.ndarray]:
    k = np.arange(1, harmonics + 1)
    omega = 2 * np.pi * k / duration
    rest = np.zeros((2, 2 * harmonics))
    rest[0, harmonics:], rest[1, :harmonics] = k, k**2
    null = np.linalg.svd(rest)[2][2:]  # (EX1)
    time = np.arange(POINTS * harmonics) * duration / (POINTS * harmonics)
    c, s = np.cos(np.outer(time, omega)), np.sin(np.outer(time, omega))
    basis = tuple(
        np.concatenate(x, axis=1) @ null.T
        for x in ([c, s], [-omega * s, omega * c], [-(omega**2) * c, -(omega**2) * s])
    )
    low, high = m.model.joints.lower, m.model.joints.upper
    start = m.start()
    low, high = np.where(np.isfinite(low), low, start - WIDE), np.where(np.isfinite(high), high, start + WIDE)
    speed = limit_of("excitation", "velocity", rates, m.nv, m)
    speed = np.where(np.isfinite(speed), speed, 0.5 * (high - low) * omega[-1])
    most = limit_of("excitation", "acceleration", accelerations, m.nv, m)
    most = np.where(np.isfinite(most), most, speed * omega[-1])
    bounds = margin * 0.5 * (high - low), margin * speed, margin * most
    if min(x.min() for x in bounds) <= 0.0:
        still_joints = [name for name, x in zip(m.q_names, np.min(bounds, axis=0), strict=True) if x <= 0]
        raise InputError(f"excitation: no range to move in for {listed(still_joints)}")
    angles = np.array([m.model.body[i].pair.kind != "prismatic" for i in m.model.moving])
    order = np.array([m.model.v_span[i].start for i in m.model.moving])
    columns = _base_columns(m)
    return _Problem(m, basis, 0.5 * (low + high), bounds, columns, angles[np.argsort(order)]), null  # type: ignore[arg-type]


def _base_columns(m: Mechanism) -> np.ndarray:
    q, qd, qdd = np.random.default_rng(SEED).normal(size=(3, STATES, m.nv))
    Y = m.regressor(q, qd, qdd)[:, :, : TEN * len(list(m.model.moving))]
    return independent_columns(Y.reshape(-1, Y.shape[2]))


def _result(
    problem: _Problem, null: np.ndarray, x: np.ndarray, duration: float, harmonics: int, margin: float
) -> Excitation:
    m = problem.m
    c, _ = problem.coefficients(x)
    path = _path(problem, null, c, duration, harmonics)
    time = np.linspace(0.0, duration, 40 * harmonics)
    limits = m.model.joints.effort * margin
    factor = 1.0
    for _ in range(20):  # efforts are no linear function: amplitudes shrink until they fit
        q, qd, qdd, _ = path.at(time)
        effort = np.abs(m.inverse_dynamics(q, qd, qdd)).max(0)
        weight = np.abs(m.gravity_forces(q)).max(0)
        if (effort <= limits).all() or (weight > limits).any():
            break
        factor *= 0.9
        path = _path(problem, null, factor * c, duration, harmonics)
    q, qd, qdd, _ = path.at(time)
    W = problem.rows(q, qd, qdd).reshape(-1, len(problem.columns))
    effort = np.abs(m.inverse_dynamics(q, qd, qdd)).max(0)
    scaled = W / np.linalg.norm(W, axis=0)
    return Excitation(path, float(np.linalg.cond(scaled)), float(np.linalg.cond(W)), effort)


def _path(problem: _Problem, null: np.ndarray, c: np.ndarray, duration: float, harmonics: int) -> Harmonics:
    both = null.T @ c
    path = fourier(problem.middle, both[:harmonics], both[harmonics:], duration)
    assert isinstance(path, Harmonics)
    return path
