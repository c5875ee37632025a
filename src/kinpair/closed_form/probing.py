"""Sums in a program that are constant though nothing in them says so, found by trying.

Every node is worked out at several complex points at once. A sum that is the same number at all of them, to rounding
beside what is added, is that number, since the nodes are analytic functions. A root has either sign, by chance at each
point, so that √x² is not taken for x. What is chosen by a comparison is not tried, nor anything that is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinpair.compiler.graph import Expr
from kinpair.compiler.program import Program

POINTS = 24
SIZES = (-0.5, 0.5)  # powers of ten
ROUNDING = 1e-13  # beside what is added
ANALYTIC: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
}


def constant_sums(program: Program) -> dict[int, float]:
    """Numbers of the sums that are constant, by node."""
    rng = np.random.default_rng(1)
    value: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for x in program.nodes:
            value[x.id] = _value(x, [value[y.id] for y in x.args], rng)
        sums = [x for x in program.nodes if x.op in ("add", "sub")]
        if not sums:
            return {}
        first, second = (np.abs([value[x.args[k].id] for x in sums]) for k in range(2))
        values = np.array([value[x.id] for x in sums])
        mean, error = values.mean(1).real, ROUNDING * (first + second)
        constant = np.all(np.abs(values - mean[:, None]) <= error, axis=1)
        zero = np.abs(mean) <= error.min(1)
    return {x.id: 0.0 if zero[k] else float(mean[k]) for k, x in enumerate(sums) if constant[k]}


def _value(x: Expr, known: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    if x.op == "const":
        return np.full(POINTS, complex(x.value))
    if x.op == "symbol":
        return 10.0 ** rng.uniform(*SIZES, POINTS) * np.exp(2j * np.pi * rng.uniform(size=POINTS))
    if x.op == "sqrt" and np.abs(known[0] - known[0][0]).max() > ROUNDING * np.abs(known[0][0]):
        return np.sqrt(known[0]) * rng.choice([-1.0, 1.0], POINTS)
    function = ANALYTIC.get(x.op)
    return np.full(POINTS, np.nan, dtype=complex) if function is None else function(*known)
