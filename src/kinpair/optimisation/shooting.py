"""Direct multiple shooting: each interval is integrated by Runge–Kutta steps, as one recorded function.

    (Φ, ∫ℓ) = RK4ᵐ(x_k, u_k, u_{k+1}),   x_{k+1} = Φ_k                                                  (OP12)

The inputs are linear from node to node. The steps are part of the recording, so the derivatives of an interval are
exactly those of the integrated motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.errors import InputError
from kinpair.optimisation.equations import Equations, Point, called
from kinpair.optimisation.pointwise import Pointwise
from kinpair.simulation.methods.tableaux import RK4

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
