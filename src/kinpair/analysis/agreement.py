"""How far the numbers of two formulations are apart, and how far rounding may put them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from kinpair.compiler.program import flatten
from kinpair.constraints.soundness import check_soundness
from kinpair.evaluation.arguments import Arguments, evaluate
from kinpair.formulations import composite, kinematics
from kinpair.model.model import Model
from kinpair.quantities import QUANTITIES, STEP, Request

EPS = float(np.finfo(float).eps)
UNFOLDED = 1000  # operations a body, at most, of a recursion run as it is written, as the yardstick is


def by_floats(model: Model, request: Request, states: Mapping[str, np.ndarray]) -> Any:
    """The quantity of a batch of states without the compiler."""
    quantity = QUANTITIES[request.quantity]
    own = [states[name] for name in quantity.state]
    return evaluate(
        partial(quantity.compute, model, request), Arguments(own, {}, len(own[0])), quantity.loaded
    )


def numbers(model: Model, quantity: str, value: Any, states: Mapping[str, np.ndarray]) -> np.ndarray:
    """What formulations must agree on, a row a state: all numbers of a result, but C q̇ for a matrix C."""
    rows = len(states["q"])
    if quantity == "coriolis_matrix":
        return np.einsum("bij,bj->bi", value, states["qd"])
    if quantity == "forward_dynamics":
        qdd, soundness = value
        check_soundness(model, states["q"], soundness)
        return qdd
    return np.concatenate([np.reshape(x, (rows, -1)) for _, x in flatten(value)[1]], axis=1)


def relative_errors(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """max|Δ| / max(1, max|reference|) of every row (batch,)."""
    return np.abs(values - reference).max(1) / np.maximum(1.0, np.abs(reference).max(1))


def rounding(model: Model, quantity: str, operations: int, q: np.ndarray) -> np.ndarray:
    """What rounding may make of every row (batch,): eps an operation, 100 eps cond(H) if more where H is solved for.

    `operations` are those of the formulation; the yardstick's own are added.
    """
    plain = np.full(len(q), EPS * (operations + UNFOLDED * len(model.moving)))
    if not quantity.startswith("forward_dynamics"):
        return plain
    H = by_floats(model, Request("mass_matrix", "newton-euler"), {"q": q})
    return np.maximum(plain, 100 * EPS * np.linalg.cond(H))


def skewness(model: Model, C: np.ndarray, states: Mapping[str, np.ndarray]) -> float:
    """The worst max|S + Sᵀ| / max(1, max|C|) over a batch, S = Ḣ − 2C: zero to rounding where S is skew."""
    Hd = np.array([_inertia_rate(model, q, qd) for q, qd in zip(states["q"], states["qd"], strict=True)])
    S = Hd - 2 * C
    apart = np.abs(S + S.transpose(0, 2, 1)).max((1, 2))
    return float((apart / np.maximum(1.0, np.abs(C).max((1, 2)))).max())


def _inertia_rate(model: Model, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """dH/dt by a complex step along dq/dt, exact to rounding."""
    moved = q + 1j * STEP * kinematics.dq_dt(model, q, qd)
    return np.imag(composite.mass_matrix(model, moved)) / STEP
