"""Functions to trace: one for each operation, and a chain of bodies as a realistic load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.algebra.choice import less, maximum, minimum, sign, where
from kinpair.spatial.rotation import about_z, clean, cross, from_rpy

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "const": lambda x, y: array([x[0], 2.5]),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x, y: -x,
    "sqrt": lambda x, y: np.sqrt(np.abs(x)),
    "sin": lambda x, y: np.sin(x),
    "cos": lambda x, y: np.cos(x),
    "tan": lambda x, y: np.tan(x),
    "arcsin": lambda x, y: np.arcsin(np.tanh(x)),
    "arccos": lambda x, y: np.arccos(np.tanh(x)),
    "arctan": lambda x, y: np.arctan(x),
    "atan2": lambda x, y: np.arctan2(x, y),
    "exp": lambda x, y: np.exp(x),
    "log": lambda x, y: np.log(np.abs(x)),
    "tanh": lambda x, y: np.tanh(x),
    "sinh": lambda x, y: np.sinh(x),
    "cosh": lambda x, y: np.cosh(x),
    "hypot": lambda x, y: np.hypot(x, y),
    "abs": lambda x, y: np.abs(x),
    "sign": lambda x, y: sign(x) * y,
    "floor": lambda x, y: np.floor(3.0 * x),
    "ceil": lambda x, y: np.ceil(3.0 * x),
    "min": lambda x, y: minimum(x, y),
    "max": lambda x, y: maximum(x, y),
    "lt": lambda x, y: where(less(x, y), x, 3.0 * y),
    "le": lambda x, y: array([where(a <= b, a, -b) for a, b in zip(x, y, strict=True)]),
    "eq": lambda x, y: array([where(a == b, 1.0, a) for a, b in zip(x, y, strict=True)]),
    "and": lambda x, y: array([where((x[0] < 0.0) & (y[0] < 0.0), x[0], y[1])]),
    "or": lambda x, y: array([where((x[0] < 0.0) | (y[0] < 0.0), x[0], y[1])]),
    "not": lambda x, y: (
        array([where((x[0] < 0.0) & np.logical_not(y[0] < 0.0), x[0], y[1])])
        if isinstance(x[0], float)
        else array([where((x[0] < 0.0) & ~(y[0] < 0.0), x[0], y[1])])
    ),
    "power": lambda x, y: x**3 + y**-2 + np.abs(x) ** 1.5,
    "matmul": lambda x, y: np.outer(x, y) @ x,
}


def links(n: int, seed: int = 1) -> list[tuple[Any, ...]]:
    """Rotation, offset, mass, mass centre and inertia of n random bodies in a row."""
    random = np.random.default_rng(seed)
    built: list[tuple[Any, ...]] = []
    for _ in range(n):
        R = clean(from_rpy(*(random.integers(0, 4, 3) * np.pi / 2)))
        A = random.normal(size=(3, 3))
        a = random.normal(size=3) * (random.random(3) < 0.5)
        built.append((R, a, random.uniform(1, 5), random.normal(size=3) * 0.1, A @ A.T * 0.1))
    return built


def chain(bodies: list[tuple[Any, ...]]) -> Callable[..., Any]:
    """The joint torques of a chain of hinges: recursion outward, then inward."""

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        z, omega, alpha, a = np.array([0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 9.81])
        kept: list[tuple[Any, ...]] = []
        for i, (R, p, m, d, I) in enumerate(bodies):
            T = (R @ about_z(q[i])).T
            a = T @ (a + cross(alpha, p) + cross(omega, cross(omega, p)))
            omega = T @ omega
            alpha = T @ alpha + z * qdd[i] + cross(omega, z * qd[i])
            omega = omega + z * qd[i]
            f = m * (a + cross(alpha, d) + cross(omega, cross(omega, d)))
            kept.append((T.T, p, f, I @ alpha + cross(omega, I @ omega) + cross(d, f)))
        F, N, tau = np.zeros(3), np.zeros(3), []
        for R, p, f, n in reversed(kept):
            F, N = F + f, N + n
            tau.insert(0, N[2])
            F = R @ F
            N = R @ N + cross(p, F)
        return array(tau)

    return torques


def three(n: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the arguments of `chain`."""
    return {"q": (n,), "qd": (n,), "qdd": (n,)}
