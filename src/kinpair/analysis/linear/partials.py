"""Derivatives of the accelerations at a state, and what is rounding in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.analysis.linear.point import Point
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.mechanism import Mechanism
from kinpair.system import System

ROUNDING = 1e4 * np.finfo(float).eps  # of the terms that an entry is the sum of


@dataclass(frozen=True, slots=True, eq=False)
class Partials:
    """q̈ (..., nv), ∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ (..., nv, nv), and below which size (..., nv) entries of the first two are
    rounding: a part of the accelerations that the forces, one by one, would give."""

    qdd: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    rounding: np.ndarray


def partials(m: Mechanism | System, at: Point, passive: bool) -> Partials:
    """With constraints in force, if there are any."""
    state = (at.q, at.qd, at.tau)
    if m.closure is None and isinstance(m, Mechanism):
        qdd = m.forward_dynamics(*state, passive=passive)
        by = m.forward_dynamics_derivatives(*state, passive=passive)
        M, response = m.mass_matrix(at.q), np.abs(by.tau)
        force = np.abs(at.tau)
    else:
        assert m.closure is not None
        options = {"passive": passive} if isinstance(m, Mechanism) else {}
        qdd = m.closure.dynamics.forward(state, at.time, DEFAULT_SOLVER, options, {}, None, 1)
        by = m.closure.derivatives.derivatives(state, at.time, options, {}, 1)
        M, F, *_ = m.closure.terms(state, at.time, options, {})
        response, force = _response(M, by[2]), 2.0 * np.abs(F)  # constraints push back as much
    whole = np.abs(M @ by[0]).max(-1, initial=0.0) + np.abs(M @ by[1]).max(-1, initial=0.0) + force
    whole = whole + (np.abs(M) @ np.abs(qdd)[..., None])[..., 0]
    size = (response @ whole[..., None])[..., 0] + (at.qd * at.qd).max(-1, initial=0.0)[..., None]
    return Partials(qdd, *by, ROUNDING * size)


def _response(M: np.ndarray, constrained: np.ndarray) -> np.ndarray:
    """|M⁻¹|; where there is none, what the constraints leave of it."""
    try:
        return np.abs(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return np.abs(constrained)


def cleaned(A: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """A with zeros where its entries are rounding (..., rows, columns)."""
    return np.where(np.abs(A) <= rounding, 0.0, A)
