"""Dry friction of constant level in floats: what it does at rest, and what each joint has of it.

Compiled accelerations have friction by the sign of each rate, and none where a rate is zero. A state with such a rate
is solved again here, see `constraints/solve/stick.py`.

Derivatives are those of the mode in force: rates h that stick go on sticking, by efforts that change with the state.
With ∂q̈ the derivatives without these efforts, and f_τ those by efforts,

    ∂q̈ ← ∂q̈ − f_τh f_τhh⁺ ∂q̈_h                          so that ∂q̈_h = 0                           (FD3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.constraints.solve.stick import SLIDES, AtRest, Levels, at_rest
from kinpair.errors import InputError
from kinpair.forces.element import Element, Instant
from kinpair.forces.elements import acting, elements_of
from kinpair.model.model import Model
from kinpair.model.state import NOTHING, State

Terms: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # M, F, A, b
AT_START = (NOTHING, np.zeros(1), NOTHING)  # efforts, time and inputs, where a state has none
RANK = 1e-10  # of the answers of held rates to efforts: less is rounding, where constraints join them


def held_slopes(by: Sequence[np.ndarray], rates: np.ndarray) -> list[np.ndarray]:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ of one state while `rates` stick, from those while nothing holds them.    (FD3)"""
    if not len(rates):
        return list(by)
    by_tau = by[2]
    answer = by_tau[:, rates] @ np.linalg.pinv(by_tau[rates][:, rates], rcond=RANK)
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
    """Friction of a rate: its effort [N m], [N]; the level that it has reached or may reach; whether it
    sticks; and the load that the level comes from, NaN where the level is given."""

    effort: float
    level: float
    sticks: bool
    load: float = np.nan


class DryStates:
    """Solves for a model whose joints have dry friction of a level that no load makes.

    A state is (q, qd, tau), with the time (1,) and the inputs u (nu,) behind these where levels depend on them.
    `driven`: friction that an input operates acts as well.
    """

    def __init__(self, model: Model, *, driven: bool = False, passive: bool = True) -> None:
        self.model, self._passive = model, passive
        every = elements_of(model, passive=passive, driven=driven)
        self._elements = [x for x in every if x.sticks and not x.from_load]

    @cached_property
    def rates(self) -> np.ndarray:
        """Numbers of the rates with dry friction."""
        return np.array(sorted({k for x in self._elements for k in x.sticks}), dtype=int)

    def needed(self, qd: np.ndarray) -> np.ndarray:
        """Flags of the states (…,) in which a rate with dry friction is zero."""
        return np.asarray((qd[..., self.rates] == 0.0).any(-1))

    def _acting(self, state: tuple[np.ndarray, ...]) -> Iterator[tuple[Element, Instant]]:
        """The elements with the state as each sees it."""
        q, qd, _, time, u = (*state, *AT_START[len(state) - 2 :])
        every = acting(self.model, State(q, qd, u=u, time=time[0]), passive=self._passive)
        return ((x.element, at) for x, at in every if x.element.sticks and not x.element.from_load)

    def levels(self, *state: np.ndarray) -> Levels:
        """Levels of each of the rates at a state; InputError where one is below zero."""
        place = {int(k): n for n, k in enumerate(self.rates)}
        bounds = np.zeros((4, len(self.rates)))
        for x, at in self._acting(state):
            for n, pairs in enumerate((x.holds(at), x.slides(at))):
                for k, pair in pairs.items():
                    bounds[2 * n : 2 * n + 2, place[k]] += np.array(pair, dtype=float)
                    if np.isnan(bounds[:, place[k]]).any():
                        raise InputError(
                            f"{self.model.name}: {x.name} has a level below zero at t = {float(at.state.time):.9g} s; "
                            "friction resists motion, so its level is zero or above",
                            element=x.name,
                        )
        return Levels(*bounds)

    def check(self, *states: np.ndarray) -> None:
        """Refuse states (…, n) with a level below zero."""
        for _, own in each_state(
            np.ones(np.broadcast_shapes(*(x.shape[:-1] for x in states)), dtype=bool), states
        ):
            self.levels(*own)

    def forward(
        self, state: tuple[np.ndarray, ...], qdd: np.ndarray, where: np.ndarray, terms: Callable[..., Terms]
    ) -> np.ndarray:
        """q̈ with the states of `where` solved again; `terms` of one state: M, F, A and b."""
        solved = np.array(qdd, dtype=float)
        for k, own in each_state(where, state):
            solved[k] = self.one(own, terms(k, *own[:3]))[1].qdd
        return solved

    def sticking(self, state: tuple[np.ndarray, ...], terms: Terms) -> np.ndarray:
        """Numbers of the rates that stick in one state."""
        resting, found = self.one(state, terms)
        levels = self.levels(*state)
        rough = levels.rest_hi[resting] > levels.rest_lo[resting]
        return self.rates[resting[rough & (found.phase != SLIDES)]]

    def one(self, state: tuple[np.ndarray, ...], terms: Terms) -> tuple[np.ndarray, AtRest]:
        """Places of the rates that are at rest, and what happens to them."""
        resting = np.flatnonzero(state[1][self.rates] == 0.0)
        own = Levels(*(x[resting] for x in self.levels(*state)))
        return resting, at_rest(*terms, self.rates[resting], own, np.zeros(len(resting)))

    def held_slopes(
        self, state: tuple[np.ndarray, ...], by: Sequence[np.ndarray], terms: Callable[..., Terms]
    ) -> list[np.ndarray]:
        """Derivatives (…, nv, nv) of accelerations without what sticks: those of the mode in force, see (FD3)."""
        slopes = [np.array(x) for x in by]
        rests = np.broadcast_to(self.needed(state[1]), slopes[0].shape[:-2])
        for k, own in each_state(rests, state):
            held = held_slopes([x[k] for x in slopes], self.sticking(own, terms(k, *own[:3])))
            for whole, part in zip(slopes, held, strict=True):
                whole[k] = part
        return slopes

    def by_rate(self, state: tuple[np.ndarray, ...], terms: Terms) -> dict[str, JointFriction]:
        """Friction at one state, by name of the rate; viscous parts of its laws are in the effort."""
        qd, efforts = state[1], dict.fromkeys(self.rates.tolist(), 0.0)
        for x, at in self._acting(state):
            for k, effort in x.efforts(at).items():
                efforts[k] += float(effort)
        levels = self.levels(*state)
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
