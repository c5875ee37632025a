"""Weights of states and inputs, and intensities of noise: symmetric matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.errors import InputError

OWNERS = {"Q": "states", "R": "inputs", "W": "states", "V": "outputs"}
SEMIDEFINITE = ("Q", "W")
MISSING = {
    "inputs": "give linearise inputs=[...]",
    "outputs": "give linearise outputs=[...]",
}


def weight(model: LinearModel, what: str, given: Any, names: Sequence[str]) -> np.ndarray:
    """A symmetric matrix (n, n) of weights, or (m, n, n): one for each of m states along a motion."""
    n = len(names)
    if not n and OWNERS[what] in MISSING:
        owner = OWNERS[what]
        raise InputError(
            f"{model.name}: {what} is for the {owner} of the linear model, and it has none; {MISSING[owner]}",
            argument=what,
        )
    shapes = ((n, n), (len(model), n, n)) if model.along else ((n, n),)
    if isinstance(given, Mapping):
        diagonal = np.ones(n)
        for name, value in given.items():
            entry = name if name in names else f"tau.{name}"
            diagonal[model.index(OWNERS[what], entry if entry in names else name)] = float(value)
        given = diagonal
    try:
        x = np.asarray(given, dtype=float)
        found = np.diag(np.broadcast_to(x, (n,))) if x.ndim < 2 else x
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    least = np.linalg.eigvalsh(found).min() if found.shape in shapes and np.isfinite(found).all() else np.nan
    if not (least >= 0.0 if what in SEMIDEFINITE else least > 0.0) or not np.allclose(
        found, np.swapaxes(found, -1, -2)
    ):
        expected = "not negative" if what in SEMIDEFINITE else "positive"
        raise InputError(
            f"{model.name}: {what} must be a number, {n} of them, some by name, or a symmetric matrix ({n}, {n}), "
            f"{expected}",
            argument=what,
        )
    return found
