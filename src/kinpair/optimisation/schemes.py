"""Discretisations of an interval: collocation, and integration.

Collocation schemes as data.

    X_j = x_k + h Σ_l a_jl f(X_l),   X at the places c_j of an interval of length h                     (OP5)

Lobatto IIIA has both ends of the interval among its places (trapezoidal rule with two, Hermite–Simpson with three),
Radau IIA its right end. Multiple shooting has the nodes alone. Orders at the nodes: 2, 4 and 3, 5.

Direct multiple shooting: each interval is integrated by Runge–Kutta steps, as one recorded function.

    (Φ, ∫ℓ) = RK4ᵐ(x_k, u_k, u_{k+1}),   x_{k+1} = Φ_k                                                  (OP12)

The inputs are linear from node to node. The steps are part of the recording, so the derivatives of an interval are
exactly those of the integrated motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.optimisation.equations import Equations, Point, called
from kinpair.optimisation.nonlinear_program import Pointwise
from kinpair.simulation.methods.tableaux import RK4


@final
@dataclass(frozen=True, eq=False)
class Scheme:
    """Places c (s,) and weights a (s, s); the last row of a integrates over the interval.    (OP5)"""

    name: str
    c: np.ndarray
    order: int
    shoots: bool = False  # intervals are integrated, see shooting.py

    @property
    def shares(self) -> bool:
        """True if the left end of an interval is a place: neighbours share it."""
        return self.c[0] == 0.0

    @property
    def powers(self) -> np.ndarray:
        """Coefficients (s, s) of Lagrange's polynomials: column l is that of place l, the lowest power first."""
        return np.linalg.inv(np.vander(self.c, increasing=True))

    @property
    def a(self) -> np.ndarray:
        """Integrals of Lagrange's polynomials from 0 to c_j (s, s)."""
        s = len(self.c)
        return (self.c[:, None] ** np.arange(1, s + 1) / np.arange(1, s + 1)) @ self.powers


_ROOT = 6.0**0.5
SCHEMES = {
    x.name: x
    for x in (
        Scheme("trapezoidal", np.array([0.0, 1.0]), 2),
        Scheme("hermite-simpson", np.array([0.0, 0.5, 1.0]), 4),
        Scheme("radau-3", np.array([1 / 3, 1.0]), 3),
        Scheme("shooting", np.array([0.0, 1.0]), 4, shoots=True),
        Scheme("radau-5", np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0]), 5),
    )
}


def scheme(name: str) -> Scheme:
    """The scheme of a name."""
    if name not in SCHEMES:
        raise InputError(
            f"optimise: method {name!r} is not known; {nearest(name, [*SCHEMES])}Methods: {listed(SCHEMES)}",
            method=name,
        )
    return SCHEMES[name]


STEPS = 4  # of an interval


def explicit(eq: Equations) -> Equations:
    """Equations without algebraic variables; InputError where there are none."""
    if eq.explicit is None:
        raise InputError(
            f"optimise: method 'shooting' needs accelerations as functions of the state, which {eq.name} has not under "
            "constraints or for the cost 'jerk'; use method='radau-5'",
            method="shooting",
        )
    parts = {name: place for name, place in eq.parts.items() if place[0] != "algebraic"}
    limits = {name: value for name, value in eq.limits.items() if name in parts}
    return replace(
        eq, algebraic=(), parts=parts, limits=limits, rates=eq.explicit, residual=lambda point: np.zeros(0)
    )


def interval(phase: Any, parameters: tuple[str, ...]) -> Pointwise:
    """States at the end of an interval, and the integral of the running cost over it, as one function.    (OP12)

    Variables: parameters, duration, states at the start, inputs at both ends; data: start and length in fractions.
    """
    eq, count = phase.equations, len(parameters)
    nx, nu = eq.nx, len(eq.inputs)

    def values(v: Any, d: Any) -> Any:
        named, T = dict(zip(parameters, v[:count], strict=True)), v[count]
        x, first, last = (
            v[count + 1 + a : count + 1 + b] for a, b in ((0, nx), (nx, nx + nu), (nx + nu, nx + 2 * nu))
        )
        h = T * d[1] / STEPS

        def slopes(y: Any, part: float) -> Any:
            groups = {"states": y[:nx], "algebraic": np.zeros(0), "inputs": first + part * (last - first)}
            point = Point(eq, groups, T * (d[0] + part * d[1]), T, named)
            cost = sum((w * called(f, point) for f, w in phase.running), 0.0)
            return np.array([*eq.rates(point), cost], dtype=object)

        y = np.array([*x, 0.0], dtype=object)
        for step in range(STEPS):
            k: list[Any] = []
            for c, a in zip(RK4.c, RK4.a, strict=True):
                inner = y + h * sum((b * s for b, s in zip(a, k, strict=True) if b), 0.0 * y)
                k.append(slopes(inner, (step + c) / STEPS))
            y = y + h * sum(b * s for b, s in zip(RK4.b, k, strict=True))  # (OP12)
        return y

    return Pointwise(values, count + 1 + nx + 2 * nu, 2, f"{eq.name}: interval")
