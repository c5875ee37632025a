"""Limits of a mechanism as rows for the pace along a path.

The efforts are those of the exact inverse dynamics. Along a path they are, with (MO12),

    τ = A y′/2 + B y + C + D √y                                                                      (MO16)

A: what P′ as an acceleration takes; B: what P′ as a rate takes and P″ as an acceleration; C: gravity, springs and dry
friction; D: dampers. C and D are taken from two places of √y; where friction is no straight line, near the solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.motion.limits import RateLimits
from kinpair.motion.pace import Limits
from kinpair.motion.trajectory import Motion

AGREED = 1e-9  # efforts of friction, as parts of the limits
ASIDE = 1e-6  # rates at the ends, where P′ is zero, as parts of those beside them: friction has its sign there too
STEP = 1e-4  # of √y, over which efforts of dampers are taken as straight


class Table(NamedTuple):
    """Rows, and of each the rate and the quantity that it limits."""

    limits: Limits
    names: tuple[tuple[int, str], ...]


class _Part(NamedTuple):
    """Rows of one side: (n, 3) and (n,) each."""

    rate: int
    quantity: str
    k: np.ndarray
    constant: np.ndarray
    root: np.ndarray
    inverse: np.ndarray


class _Terms(NamedTuple):
    """A, B and C of (MO16) without passive elements, (n, nv) each."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray


def first_pace(limits: Limits) -> float:
    """A y, the same all along, that most rows allow."""
    steep = np.abs(limits.k[..., 0])
    bound = np.where(limits.inverse > 0.0, (steep / np.maximum(limits.inverse, 1e-300)) ** (2 / 3), steep)
    return 0.5 / float(bound.max())


@final
class Rows:
    """The rows of all limits at places of a path, from one side or from both."""

    def __init__(
        self,
        m: Mechanism,
        sides: Sequence[Motion],
        rates: RateLimits,
        effort: np.ndarray,
        options: Mapping[str, Any],
    ) -> None:
        self.m, self.sides, self.effort, self.options = m, sides, effort, options
        self.some = np.flatnonzero(np.isfinite(effort)).tolist()
        self.terms = [self._terms(P) for P in sides] if self.some else []
        self.of_rates = [part for P in sides for part in _rate_parts(P, rates)]

    def rows(self, root: np.ndarray) -> Table:
        """Rows, those of dampers and friction straight in √y near the given roots (n,)."""
        parts = [*self.of_rates, *self._effort_parts(root)]
        columns = ([getattr(x, name) for x in parts] for name in Limits._fields)
        return Table(
            Limits(*(np.stack(x, axis=1) for x in columns)), tuple((x.rate, x.quantity) for x in parts)
        )

    def agree(self, old: np.ndarray, new: np.ndarray) -> bool:
        """True if efforts of dampers and friction at new roots are those of the straight lines at old ones."""
        for P in self.sides if self.some else ():
            line = self._passive(P, old) + self._slope(P, old) * (new - old)[:, None]
            off = np.abs(self._passive(P, new) - line)[:, self.some] / self.effort[self.some]
            if off.max(initial=0.0) > AGREED:
                return False
        return True

    def at_rest(self) -> np.ndarray:
        """Efforts (n, nv) that hold the mechanism along the path."""
        P = self.sides[0]
        return self._tau(P.q, 0.0 * P.qd, 0.0 * P.qd, self.options["passive"])

    def _terms(self, P: Motion) -> _Terms:
        still = np.zeros_like(P.qd)
        C = self._tau(P.q, still, still, False)
        return _Terms(self._tau(P.q, still, P.qd, False) - C, self._tau(P.q, P.qd, P.qdd, False) - C, C)

    def _effort_parts(self, root: np.ndarray) -> list[_Part]:
        parts: list[_Part] = []
        none = np.zeros(len(root))
        for P, (A, B, C) in zip(self.sides, self.terms, strict=False):
            D = self._slope(P, root)
            constant = C + self._passive(P, root) - D * root[:, None]
            for j in self.some:
                k = np.stack([B[:, j], A[:, j] / 2, none], axis=1)  # (MO16)
                for s in (1.0 / self.effort[j], -1.0 / self.effort[j]):
                    parts.append(_Part(j, "effort", s * k, s * constant[:, j] - 1.0, s * D[:, j], none))
        return parts

    def _slope(self, P: Motion, root: np.ndarray) -> np.ndarray:
        ahead = root * (1.0 + STEP)
        return (self._passive(P, ahead) - self._passive(P, root)) / (ahead - root)[:, None]

    def _passive(self, P: Motion, root: np.ndarray) -> np.ndarray:
        """Efforts that springs, dampers and friction take at rates P′ √y."""
        if not self.options["passive"]:
            return np.zeros_like(P.qd)
        along, bend = P.qd.copy(), P.qdd.copy()
        for end, beside in ((0, 1), (-1, -2)):
            if not along[end].any():
                along[end], bend[end] = ASIDE * along[beside], 0.0
        qd, qdd = along * root[:, None], bend * root[:, None] ** 2
        return self._tau(P.q, qd, qdd, True) - self._tau(P.q, qd, qdd, False)

    def _tau(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, passive: bool) -> np.ndarray:
        actuators = self.options["actuators"]
        if self.m.closure is None and actuators is None:
            return self.m.inverse_dynamics(q, qd, qdd, passive=passive)
        return self.m.inverse_dynamics(q, qd, qdd, passive=passive, actuators=actuators)


def _rate_parts(P: Motion, limits: RateLimits) -> list[_Part]:
    """(MO12) within limits of rates, accelerations and jerk."""
    parts: list[_Part] = []
    none = np.zeros(len(P.q))
    for j in range(P.qd.shape[1]):
        first, second, third = P.qd[:, j], P.qdd[:, j], P.jerk[:, j]
        rate, acceleration, jerk = (float(x[j]) for x in limits)
        if np.isfinite(rate):
            k = np.stack([(first / rate) ** 2, none, none], axis=1)  # (MO12)
            parts.append(_Part(j, "rate", k, none - 1.0, none, none))
        for sign in (1.0, -1.0):
            if np.isfinite(acceleration):
                k = np.stack([second, first / 2, none], axis=1) * sign / acceleration
                parts.append(_Part(j, "acceleration", k, none - 1.0, none, none))
            if np.isfinite(jerk):
                k = np.stack([third, 1.5 * second, 0.5 * first], axis=1) * sign / jerk
                parts.append(_Part(j, "jerk", k, none, none, none + 1.0))
    return parts
