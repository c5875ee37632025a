"""Efforts as a linear function of inertia, damping and friction."""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.evaluation.quantities.request import Request
from kinpair.formulations import regressor as regressors
from kinpair.friction.laws import regressor as friction_regressor
from kinpair.model.model import Model
from kinpair.model.slip import signs


def regressor(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector) -> Matrix:
    """Y of τ = Y π."""
    Y = regressors.regressor(model, q, qd, qdd)
    further = friction_regressor.matrix(model, qd, signs(qd, qdd)) if model.nv else np.zeros((0, 0))
    return np.concatenate([Y, further], axis=1) if further.shape[1] else Y


def regressor_parameters(model: Model) -> np.ndarray:
    """Parameters π of the regressor."""
    return np.concatenate([regressors.parameters(model), friction_regressor.values(model)])


def regressor_names(model: Model) -> tuple[str, ...]:
    """Names of the entries of π."""
    return (*regressors.parameter_names(model), *friction_regressor.names(model))
