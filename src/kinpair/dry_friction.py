"""Dry friction of constant level in floats: what it does at rest, and what each joint has of it.

Compiled accelerations have friction by the sign of each rate, and none where a rate is zero. A state with such a rate
is solved again here, see `nonsmooth/stick.py`.

Derivatives are those of the mode in force: rates h that stick go on sticking, by efforts that change with the state.
With ∂q̈ the derivatives without these efforts, and f_τ those by efforts,

    ∂q̈ ← ∂q̈ − f_τh f_τhh⁺ ∂q̈_h                          so that ∂q̈_h = 0                           (FD3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.forces.element import Instant
from kinpair.forces.elements import elements_of
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.nonsmooth.stick import SLIDES, AtRest, Levels, at_rest

Terms: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # M, F, A, b
RANK = 1e-10  # of the answers of held rates to efforts: less is rounding, where constraints join them


def held_slopes(by: Sequence[np.ndarray], rates: np.ndarray) -> list[np.ndarray]:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ of one state while `rates` stick, from those while nothing holds them.    (FD3)"""
    if not len(rates):
        return list(by)
    by_tau = by[2]
    answer = by_tau[:, rates] @ np.linalg.pinv(by_tau[np.ix_(rates, rates)], rcond=RANK)
    found = [x - answer @ x[rates] for x in by]  # (FD3)
    for x in found:
        x[rates] = 0.0
    found[2][:, rates] = 0.0
    return found


def each_state(
    where: np.ndarray, arguments: Sequence[np.ndarray]
) -> Iterator[tuple[tuple[int, ...], tuple[np.ndarray, ...]]]:
    """Places and arguments of the states of `where` (…,) whose arguments are numbers."""
    for k in np.ndindex(where.shape):
        own = tuple(x[k] if x.ndim > 1 else x for x in arguments)
        if where[k] and all(np.isfinite(x).all() for x in own):
            yield k, own


class JointFriction(NamedTuple):
    """What friction does to a rate: its effort [N m], [N]; the level that it has reached or may reach; whether it
    sticks; and the load that the level comes from, NaN where the level is given."""

    effort: float
    level: float
    sticks: bool
    load: float = np.nan


class DryStates:
    """Solves for a model whose joints have dry friction of constant level."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._elements = [x for x in elements_of(model) if x.sticks and not x.from_load]

    @cached_property
    def rates(self) -> np.ndarray:
        """Numbers of the rates with dry friction."""
        return np.array(sorted({k for x in self._elements for k in x.sticks}), dtype=int)

    def needed(self, qd: np.ndarray) -> np.ndarray:
        """In which states (…,) a rate with dry friction is zero."""
        return np.asarray((qd[..., self.rates] == 0.0).any(-1))

    def levels(self, q: np.ndarray, qd: np.ndarray) -> Levels:
        """Of each of the rates at a state."""
        at, place = Instant(self.model, State(q, qd)), {int(k): n for n, k in enumerate(self.rates)}
        bounds = np.zeros((4, len(self.rates)))
        for x in self._elements:
            for n, pairs in enumerate((x.holds(at), x.slides(at))):
                for k, pair in pairs.items():
                    bounds[2 * n : 2 * n + 2, place[k]] += np.array(pair, dtype=float)
        return Levels(*bounds)

    def forward(
        self, state: tuple[np.ndarray, ...], qdd: np.ndarray, where: np.ndarray, terms: Callable[..., Terms]
    ) -> np.ndarray:
        """q̈ with the states of `where` solved again; `terms` of one state: M, F, A and b."""
        solved = np.array(qdd, dtype=float)
        for k, own in each_state(where, state):
            solved[k] = self.one(own, terms(k, *own))[1].qdd
        return solved

    def sticking(self, state: tuple[np.ndarray, ...], terms: Terms) -> np.ndarray:
        """Numbers of the rates that stick in one state."""
        resting, found = self.one(state, terms)
        levels = self.levels(*state[:2])
        rough = levels.rest_hi[resting] > levels.rest_lo[resting]
        return self.rates[resting[rough & (found.phase != SLIDES)]]

    def one(self, state: tuple[np.ndarray, ...], terms: Terms) -> tuple[np.ndarray, AtRest]:
        """Places of the rates that are at rest, and what happens to them."""
        q, qd = state[:2]
        resting = np.flatnonzero(qd[self.rates] == 0.0)
        own = Levels(*(x[resting] for x in self.levels(q, qd)))
        return resting, at_rest(*terms, self.rates[resting], own, np.zeros(len(resting)))

    def held_slopes(
        self, state: tuple[np.ndarray, ...], by: Sequence[np.ndarray], terms: Callable[..., Terms]
    ) -> list[np.ndarray]:
        """Derivatives (…, nv, nv) of accelerations without what sticks: those of the mode in force, see (FD3)."""
        slopes = [np.array(x) for x in by]
        rests = np.broadcast_to(self.needed(state[1]), slopes[0].shape[:-2])
        for k, own in each_state(rests, state):
            held = held_slopes([x[k] for x in slopes], self.sticking(own, terms(k, *own)))
            for whole, part in zip(slopes, held, strict=True):
                whole[k] = part
        return slopes

    def by_rate(self, state: tuple[np.ndarray, ...], terms: Terms) -> dict[str, JointFriction]:
        """What friction does at one state, by name of the rate; viscous parts of its laws are in the effort."""
        q, qd = state[:2]
        at = Instant(self.model, State(q, qd))
        efforts = dict.fromkeys(self.rates.tolist(), 0.0)
        for x in self._elements:
            for k, effort in x.efforts(at).items():
                efforts[k] += float(effort)
        levels = self.levels(q, qd)
        moving = {
            n: JointFriction(efforts[int(k)], abs(efforts[int(k)]), False)
            for n, k in enumerate(self.rates)
            if qd[k]
        }
        resting, found = self.one(state, terms)
        still: dict[int, JointFriction] = {}
        for n, effort, acceleration, phase in zip(
            resting, found.effort, found.acceleration, found.phase, strict=True
        ):
            bounds = (levels.rest_lo, levels.rest_hi) if phase else (levels.slide_lo, levels.slide_hi)
            against = effort < 0.0 or (effort == 0.0 and acceleration >= 0.0)
            level = -bounds[0][n] if against else bounds[1][n]
            still[int(n)] = JointFriction(float(effort), float(level), bool(phase))
        every = {**moving, **still}
        return {self.model.v_names[int(self.rates[n])]: every[n] for n in range(len(self.rates))}
