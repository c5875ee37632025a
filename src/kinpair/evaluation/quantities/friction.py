"""Friction from load in a state, and the terms of its small system."""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.evaluation.quantities.request import External, Request
from kinpair.forces.elements import Loads, loads_on
from kinpair.friction.loads.dynamics import Levels, standing
from kinpair.friction.loads.dynamics import forward as loaded_motion
from kinpair.friction.loads.tree import Forced
from kinpair.friction.loads.tree import composite as composite_terms
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.model import Model
from kinpair.model.state import State


def rubbing(model: Model, request: Request, state: State, loads: External) -> Vector:
    """Efforts of friction from load (nv,)."""
    acting = loads_on(model, state, loads, passive=request.passive)
    return loaded_motion(model, request.method, state, acting).friction


def levels_from_load(model: Model, request: Request, state: State, loads: External) -> Levels:
    """Friction from load of each rate: that may hold it, and that it begins to slide with."""
    return standing(model, state, loads_on(model, state, loads, passive=request.passive)).levels


def load_terms(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Matrix | Vector, ...]:
    """H and F of H q̈ = F + friction, no rows; forms of all surfaces under load at q̈ = 0 and by rate, see
    `friction/phases/resting.py`; and the efforts next to those of the motors."""
    acting = loads_on(model, State(q, qd, time=model.time), loads, passive=request.passive)
    return terms_under_load(model, State(q, qd, tau=tau, time=model.time), acting)


def terms_under_load(model: Model, state: State, acting: Loads) -> tuple[Matrix | Vector, ...]:
    """Terms under all that acts."""
    forced = Forced(model, state.q, state.qd, state.tau + acting.efforts, acting.wrenches)
    x = composite_terms(forced, surfaces_of(model))
    c, Q = [form for row in x.forms for form in row], [row for rows in x.Q for row in rows]
    rows = np.zeros((0, model.nv)), np.zeros(0)
    forms = (array(c), array(Q)) if c else (np.zeros(0), np.zeros((0, model.nv)))
    return x.H, x.F, *rows, *forms, np.zeros((len(c), 0)), acting.beside
