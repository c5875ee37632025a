"""Friction of a level in floats, as surfaces whose load does not change, and what friction does to a rate.

Derivatives are those of the mode in force: rates h that stick go on sticking, by efforts that change with the state.
With ∂q̈ the derivatives without these efforts, and f_τ those by efforts,

    ∂q̈ ← ∂q̈ − f_τh f_τhh⁺ ∂q̈_h                          so that ∂q̈_h = 0                           (FD3)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kinpair.errors import InputError
from kinpair.forces.elements import acting, elements_of
from kinpair.friction.rounding import HELD_RANK
from kinpair.friction.surfaces.level import Level
from kinpair.friction.surfaces.surface import Grip
from kinpair.model.model import Model
from kinpair.model.state import NOTHING, State

UNIT = Grip(1.0, 1.0)  # the load of a level is the level itself


def held_slopes(by: Sequence[np.ndarray], rates: np.ndarray) -> list[np.ndarray]:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ of one state while `rates` stick, from those while nothing holds them.    (FD3)"""
    if not len(rates):
        return list(by)
    by_tau = by[2]
    response = by_tau[:, rates] @ np.linalg.pinv(by_tau[rates][:, rates], rcond=HELD_RANK)
    slopes = [x - response @ x[rates] for x in by]  # (FD3)
    for x in slopes:
        x[rates] = 0.0
    slopes[2][:, rates] = 0.0
    return slopes


def each_state(
    where: np.ndarray, arguments: Sequence[np.ndarray]
) -> Iterator[tuple[tuple[int, ...], tuple[np.ndarray, ...]]]:
    """Places and arguments of the states of `where` (…,) whose arguments are numbers."""
    for k in np.ndindex(where.shape):
        own = tuple(x[k] if x.ndim > 1 else x for x in arguments)
        if where[k] and all(np.isfinite(x).all() for x in own):
            yield k, own


class JointFriction(NamedTuple):
    """Friction of a rate: its effort [N m], [N]; the level that it has reached or may reach; whether it
    sticks; and the load that the level comes from, NaN where the level is given."""

    effort: float
    level: float
    sticks: bool
    load: float = np.nan


def level_surfaces(
    model: Model, time: float, u: np.ndarray | None = None, *, passive: bool = True
) -> list[Level]:
    """Return the friction of a level on each rate at a time [s]; levels that inputs operate act where u (nu,) is given.

    InputError where a level is below zero.
    """
    every = elements_of(model, passive=passive, driven=u is not None)
    rates = sorted({k for x in every if not x.from_load for k in x.sticks})
    if not rates:
        return []
    place = {k: n for n, k in enumerate(rates)}
    bounds, still = np.zeros((len(rates), 4)), np.zeros(model.nv)
    state = State(model.neutral(), still, u=NOTHING if u is None else u, time=time)
    for owner, at in acting(model, state, passive=passive):
        x = owner.element
        if x.from_load:
            continue
        for n, pairs in enumerate((x.holds(at), x.slides(at))):
            for k, pair in pairs.items():
                bounds[place[k], 2 * n : 2 * n + 2] += np.array(pair, dtype=float)
                if np.isnan(bounds[place[k]]).any():
                    raise InputError(
                        f"{model.name}: {x.name} has a level below zero at t = {float(time):.9g} s; "
                        "friction resists motion, so its level is zero or above",
                        element=x.name,
                    )
    body = {v: i for i in model.moving for v in range(model.nv)[model.v_span[i]]}
    surfaces = list[Level]()
    for v, (lo, _, slide_lo, slide_hi) in zip(rates, bounds.tolist(), strict=True):
        span, name = model.v_span[body[v]], f"{model.v_names[v]}.friction"
        number, count = v - span.start, span.stop - span.start
        surfaces.append(Level(name, body[v], UNIT, -slide_lo, slide_hi, slide_lo - lo, number, count))
    return surfaces


def level_efforts(model: Model, state: State) -> np.ndarray:
    """Compute the efforts (nv,) of laws of a level on rates that move, their viscous parts included."""
    efforts = np.zeros(model.nv)
    for owner, at in acting(model, state):
        if owner.element.sticks and not owner.element.from_load:
            for k, effort in owner.element.efforts(at).items():
                efforts[k] += float(effort)
    return efforts
