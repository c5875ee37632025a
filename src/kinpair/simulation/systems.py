"""Which model a simulation moves: one whose mass matrix has no inverse is held up by its constraints."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.soundness import lost_joint
from kinpair.forces.element import Element
from kinpair.model.model import Model

SINGULAR = 1e-12  # a mass matrix whose smallest singular value is below this part of the largest


def model_to_move(model: Model, q: np.ndarray, qd: np.ndarray, time: float) -> Model:
    """The model itself, or, where its mass matrix is singular at the start, the same held up by its constraints."""
    return singular_mass(model) if has_lost_mass(model, q, qd, time) else model


def has_lost_mass(model: Model, q: np.ndarray, qd: np.ndarray, time: float) -> bool:
    """Has M no inverse, where constraints may make up for it?"""
    if model.terms is None:
        return is_constrained(model.description) and lost_joint(model, q) is not None
    sizes = np.linalg.svd(np.asarray(model.terms(q, qd, time)[0], dtype=float), compute_uv=False)
    return bool(sizes[-1] <= SINGULAR * sizes[0])


@lru_cache(maxsize=64)
def singular_mass(model: Model) -> Model:
    """The same motion from M + AᵀA and F + Aᵀb, see `constrained.free_terms`."""
    return replace(model, singular_mass=True)


@lru_cache(maxsize=64)
def with_elements(model: Model, added: tuple[Element, ...]) -> Model:
    """The same with elements that a run adds; the same model for the same elements, so that code for it is found."""
    return replace(model, added=added) if added != model.added else model
