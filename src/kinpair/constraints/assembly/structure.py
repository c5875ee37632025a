"""What the equations depend on, whatever the state: the conditions of Voronets' and Chaplygin's equations.

Judged in a few states drawn at random about a given one: a dependence that is there shows in almost every state.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers import rank_revealing
from kinpair.errors import InputError, listed

ABOUT = 0.7  # [rad] or [m]: how far away from the given state
NARROW = 1e-3
TRIED = 3
MOMENTS = (0.0, 0.37, 1.91)  # [s]
ROUNDING = 1e-9
State = tuple[np.ndarray, np.ndarray]


class Structure:
    """Dependences of the mass, forces and rows of a closure; found once."""

    def __init__(self, rows: ConstraintRows) -> None:
        self.rows, self.model = rows, rows.model
        self._generic: list[State] = []

    def applies(self, solver: str, q: np.ndarray, time: float) -> bool:
        """Are the conditions of Voronets' or Chaplygin's equations met?"""
        if self.model.q_names != self.model.v_names:
            return False
        try:
            rank = max((len(independent_rows(A)) for A in self._matrices(q, time)), default=0)
            self.dependent(solver, q, time, rank)
        except InputError:
            return False
        return True

    def dependent(self, solver: str, q: np.ndarray, time: float, rank: int) -> list[int]:
        """Rates that may be dependent, refused where there are not as many as the rank of the rows."""
        self._draw(q)
        if self.model.q_names != self.model.v_names or not self._steady:
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs rates that are dq/dt and constraints A(q) q̇ = 0 without "
                "time; 'maggi' and the others take any"
            )
        if solver == "voronets":
            return list(range(self.model.nv))
        largest = max((self._rank_of(A) for A in self._matrices(q, time)), default=0)
        if largest < rank:
            unseen = f", of {listed([self.model.v_names[k] for k in self._unfelt])}" if self._unfelt else ""
            raise InputError(
                f"{self.model.name}: solver {solver!r} needs {rank} dependent coordinates on which neither mass, "
                f"forces nor constraints depend; there are {largest}{unseen}; 'voronets' or 'maggi' will do"
            )
        return self._unfelt

    def _draw(self, q: np.ndarray) -> None:
        """The states to judge by, about the first one asked for; nearer to it where functions have no value."""
        rng, spread = np.random.default_rng(self.model.nv), ABOUT
        while not self._generic:
            steps = spread * rng.uniform(-1.0, 1.0, (TRIED, len(q)))
            states = [(q + step, rng.uniform(-1.0, 1.0, self.model.nv)) for step in steps]
            if spread < NARROW or all(self._defined(*state) for state in states):
                self._generic = states
            spread *= 0.5

    def _defined(self, q: np.ndarray, qd: np.ndarray) -> bool:
        """Has everything a value there?"""
        every = self.rows.terms((q, qd, np.zeros(self.model.nv)), 0.0, {}, {})
        return all(np.isfinite(x).all() for x in every)

    def _matrices(self, q: np.ndarray, time: float) -> Iterator[np.ndarray]:
        """A in the states."""
        self._draw(q)
        yield from (self.rows.matrix(x, time) for x, _ in self._generic)

    def _rank_of(self, A: np.ndarray) -> int:
        """Rank of the columns of what nothing depends on."""
        own = A[:, self._unfelt] / rank_revealing.lengths(A)[:, None]
        return len(pivot_order(own, rank_revealing.RANK)[0]) if np.isfinite(own).all() else 0

    @cached_property
    def _steady(self) -> bool:
        """Are the rows A(q) q̇ = 0, at any time?"""
        for q, qd in self._generic:
            A = self.rows.matrix(q, 0.0)
            for time in MOMENTS:
                there, psi, _ = self.rows.rows(q, qd, time)
                if not (_same(there, A) and _same(psi, A @ qd)):
                    return False
        return True

    @cached_property
    def _unfelt(self) -> list[int]:
        """Coordinates on which neither mass, forces nor rows depend."""
        return [k for k in range(self.model.nv) if not self._felt(k)]

    def _felt(self, k: int) -> bool:
        """Do mass, forces or rows change with coordinate k alone?"""
        still = np.zeros(self.model.nv)
        for (q, qd), (other, _) in zip(self._generic, self._generic[1:], strict=False):
            moved = q.copy()
            moved[k] = other[k]
            here, there = (self.rows.terms((x, qd, still), 0.0, {}, {}) for x in (q, moved))
            if not all(_same(a, b) for a, b in zip(here, there, strict=True)):
                return True
        return False


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to rounding; what has no value is not."""
    return bool(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING * (1.0 + np.abs(a).max(initial=0.0))))
