"""Systems given by their energy and forces, as far as a simulation must know that they have no bodies."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Motion
from kinpair.model.model import Model

SINGULAR = 1e-12  # a mass matrix whose smallest singular value is below this part of the largest


def model_to_move(model: Model, q: np.ndarray, qd: np.ndarray, time: float) -> Model:
    """The model itself, or, where the mass matrix of a system is singular, one with an auxiliary mass."""
    if model.terms is None:
        return model
    sizes = np.linalg.svd(np.asarray(model.terms(q, qd, time)[0], dtype=float), compute_uv=False)
    return with_auxiliary_mass(model) if sizes[-1] <= SINGULAR * sizes[0] else model


@lru_cache(maxsize=64)
def with_auxiliary_mass(model: Model) -> Model:
    """The same motion from M + AᵀA and F + Aᵀb, since A q̈ = b (Udwadia & Schutte 2010)."""
    terms = model.terms
    assert terms is not None

    def auxiliary(q: Vector, qd: Vector, time: Any) -> tuple[Matrix, Vector]:
        M, F = terms(q, qd, time)
        found = all_rows.rows_at(constraints_of(model), Motion(model, q, time, qd))
        return M + found.A.T @ found.A, F + found.A.T @ found.b

    return replace(model, terms=auxiliary)
