"""Motions that repeat themselves over a parameter; where their period doubles.

J Δ(x, T) = −F_p Δp                             along the tangent, then Newton at the new value         (GW8)
det(P_x + 1) = 0                                a multiplier passes −1: the period doubles              (GW9)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from kinpair.compiler.patience import patience
from kinpair.errors import InputError, SingularError
from kinpair.walking import pictures
from kinpair.walking.cycle import FOUND, Cycle, ReturnMap, refined, residual

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ITERATIONS = 12
HALVINGS = 8
NEAR = 1e-12  # of the parameter, where a doubling is found
AWAY = 0.02  # of the size of a state, from a doubling on


@final
@dataclass(frozen=True, eq=False)
class Branch:
    """Cycles over a parameter, in the order in which they were found; `doubling`: the one whose period doubles."""

    cycles: tuple[Cycle, ...]
    doubling: Cycle | None

    @property
    def values(self) -> np.ndarray:
        """Values of the parameter (n,)."""
        return np.array([x.value for x in self.cycles])

    @cached_property
    def multipliers(self) -> np.ndarray:
        """(n, 2 nv), the largest first."""
        return np.array([x.multipliers for x in self.cycles])

    def doubled(self) -> Cycle:
        """The cycle of twice as many steps that begins at the doubling, a little away from it."""
        if self.doubling is None:
            raise InputError(
                "continuation: no doubling of the period was found on this branch; go on to larger values"
            )
        return _doubled(self.doubling, self.cycles[-1].value)

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, others: tuple[Branch, ...] = (), title: str = ""
    ) -> Figure:
        """Times of steps and sizes of the multipliers over the parameter; other branches next to it."""
        return pictures.branches((self, *others), title, path)


def continuation(start: Cycle, end: float, *, points: int = 40, past: bool = True) -> Branch:
    """Cycles from `start` to the value `end` of the parameter, in about so many points.

    Where a multiplier passes −1, the doubling of the period is found to rounding; past=False ends the branch there.

    Units: slope [rad], or the unit of the parameter [SI].
    """
    if not (isinstance(points, int) and points > 1):  # type: ignore[redundant-expr]
        raise InputError(f"continuation: points is {points!r}; give a whole number of 2 or more")
    of, found, doubling = start.of, [start], None
    ds = (end - start.value) / points
    with patience(f"cycles of {of.mechanism.name!r}"):
        while (end - found[-1].value) * np.sign(ds) > 1e-9 * abs(end):
            try:
                following = _next(of, found, ds, end)
            except SingularError:
                break
            found.append(following)
            if doubling is None and _doubles(found[-2]) * _doubles(found[-1]) < 0.0:
                doubling = _crossing(of, found[-2], found[-1])
                if not past:
                    break
    return Branch(tuple(found), doubling)


def _next(of: ReturnMap, found: list[Cycle], ds: float, end: float) -> Cycle:
    """The next cycle along the branch, at a step that Newton's iteration can follow."""
    for halving in range(HALVINGS):
        step = ds * 0.5**halving
        last = found[-1]
        p = last.value + step
        if (p - end) * np.sign(ds) > 0.0:
            p, step = end, end - last.value
        at = residual(of, last.unknowns, last.value)
        tangent = -np.linalg.solve(at.J, at.by_p)  # (GW8) for Δp = 1
        try:
            return refined(of, last.unknowns + step * tangent, p)
        except SingularError:
            continue
    raise SingularError(f"{of.mechanism.name}: the branch ends at {of.parameter} = {found[-1].value:.6g}")


def _doubles(x: Cycle) -> float:
    """Find a doubling.    (GW9)"""
    return float(np.linalg.det(x.jacobian + np.eye(len(x.jacobian))))


def _crossing(of: ReturnMap, below: Cycle, above: Cycle) -> Cycle:
    """Find where (GW9) is zero between two cycles, by regula falsi (Illinois)."""
    a, b, fa, fb = below, above, _doubles(below), _doubles(above)
    middle = a
    for _ in range(60):
        part = fa / (fa - fb)
        p = a.value + part * (b.value - a.value)
        middle = refined(of, a.unknowns + part * (b.unknowns - a.unknowns), p)
        f = _doubles(middle)
        if abs(f) < FOUND or abs(b.value - a.value) < NEAR * abs(p):
            break
        if f * fb < 0.0:
            a, fa = b, fb
        else:
            fa = fa / 2
        b, fb = middle, f
    return middle


def _doubled(at: Cycle, towards: float) -> Cycle:
    """Twice the steps, off the branch along the direction that comes back with the other sign."""
    values, vectors = np.linalg.eig(at.jacobian)
    v = np.real(vectors[:, np.abs(values + 1.0).argmin()])
    v = AWAY * np.abs(at.unknowns[:-1]).max() * v / np.abs(v).max()
    n, parts = at.of.n, at.unknowns.reshape(-1, at.of.n + 1)
    offset = np.append(v, 0.0)
    twice = np.concatenate([parts + offset, parts - offset])
    for part in (0.02, 0.01, 0.05, 0.1, 0.2):
        p = at.value + part * (towards - at.value)
        try:
            found = refined(at.of, twice.ravel(), p)
        except SingularError:
            continue
        halves = found.unknowns.reshape(2, -1, n + 1)
        if np.abs(halves[0] - halves[1]).max() > 1e-6:
            return found
    raise SingularError(f"{at.of.mechanism.name}: no cycle of {2 * len(parts)} steps found near the doubling")
