"""Groups of rows whose multipliers are in sets, and the solution.

    c = D x + g,   D = J G Jᵀ                                                                         (NS1)
    interval: lo ≤ x ≤ hi,   disc: ‖x_t‖ ≤ R;   −c in the normal cone of the set at x                  (NS2)

R = L + μ N with N the multiplier of a normal or a load ‖A x + b‖. D may be singular and nonsymmetric. The normal cone
of a disc is that with R held, so a sliding contact is not lifted.

Derivation, no line of code: (NS1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.errors import InputError
from kinpair.nonsmooth.chain import PLAN, SMALL, VECTORS, solve_scaled
from kinpair.nonsmooth.residual import BOX, DISC, NONE, SLIDES, WIDTH

TOLERANCE = 1e-12  # of |F|∞ of the scaled problem
NO_RESPONSE = 1e-14  # D_jj below this part of the largest is zero
NO_LOAD = np.zeros((0, 0))


@dataclass(frozen=True, slots=True)
class Interval:
    """One row with lo ≤ x ≤ hi: a limit, a contact normal, a level."""

    row: int
    lo: float = 0.0
    hi: float = np.inf
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Disc:
    """One to three rows with ‖x_t‖ ≤ level + mu · (multiplier of the row `normal`, or ‖A x + b‖).

    `direction`: unit vector of the sliding velocity of a group that slides; its multiplier is −R direction.
    """

    rows: tuple[int, ...]
    level: float = 0.0
    mu: float = 0.0
    normal: int | None = None
    A: np.ndarray | None = None
    b: np.ndarray | None = None
    direction: tuple[float, ...] | None = None
    name: str = ""


Group = Interval | Disc


class Solution(NamedTuple):
    """x (n,), c = D x + g (n,), the largest |F| of the scaled problem, and whether that is rounding."""

    x: np.ndarray
    c: np.ndarray
    residual: float
    met: bool


def intervals(lo: np.ndarray, hi: np.ndarray, names: Sequence[str] = ()) -> list[Group]:
    """One interval for each row."""
    own = names or [""] * len(lo)
    return [Interval(k, float(a), float(b), own[k]) for k, (a, b) in enumerate(zip(lo, hi, strict=True))]


def solve(D: np.ndarray, g: np.ndarray, groups: Sequence[Group], start: np.ndarray | None = None) -> Solution:
    """x of (NS2); `start` is an x nearby, such as that of the step before."""
    check(D, g, groups)
    if not len(g):
        return Solution(np.zeros(0), np.zeros(0), 0.0, True)
    scaled = Scaled(D, g, groups)
    first = np.zeros(len(g)) if start is None else scaled.T * start / scaled.gamma
    x, residual, met = scaled.solved(first)
    y = x * scaled.gamma / scaled.T
    z = x - (scaled.D @ x + scaled.g)
    for group in groups:
        if isinstance(group, Interval):
            low, high = scaled.bounds[group.row]
            k, value = group.row, z[group.row]
            y[k] = (
                group.lo if value <= low else group.hi if value >= high else np.clip(y[k], group.lo, group.hi)
            )
    return Solution(y, D @ y + g, residual, met)


class Scaled:
    """A problem with a unit diagonal and |g| ≤ 1.

    T_j = √D_jj, of a disc √λmax(D_tt);   γ = |T⁻¹ g|∞
    D ← T⁻¹ D T⁻¹,  g ← T⁻¹ g/γ,  x ← T x/γ,  bounds, levels as x,  μ ← μ T_t/T_n,  A ← A T⁻¹, b ← b/γ  (NS3)
    """

    def __init__(self, D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> None:
        self.T = _scales(D, groups)
        self.gamma = float(np.abs(g / self.T).max()) or 1.0
        self.D = np.ascontiguousarray(D / np.outer(self.T, self.T))
        self.g = g / self.T / self.gamma
        n, m = len(g), len(groups)
        self.table = np.zeros(WIDTH * m, dtype=np.int64)
        self.radii, self.bounds = np.zeros((m, 2)), np.zeros((n, 2))
        loads = [x for x in groups if isinstance(x, Disc) and x.A is not None]
        count = sum(len(x.A) for x in loads if x.A is not None)
        self.A, self.b = np.zeros((count, n)), np.zeros(count)
        filled = 0
        for k, group in enumerate(groups):
            if isinstance(group, Interval):
                self.table[WIDTH * k : WIDTH * (k + 1)] = BOX, group.row, 1, NONE, 0, 0
                self.bounds[group.row] = np.array([group.lo, group.hi]) * self.T[group.row] / self.gamma
            else:
                filled = self._disc(k, group, filled)

    def _disc(self, k: int, group: Disc, filled: int) -> int:
        """Numbers of a disc; rows of loads filled so far."""
        first, T = group.rows[0], self.T[group.rows[0]]
        loads = 0
        mu = group.mu * T
        if group.normal is not None:
            mu /= self.T[group.normal]
        if group.A is not None:
            loads = len(group.A)
            self.A[filled : filled + loads] = group.A / self.T
            self.b[filled : filled + loads] = 0.0 if group.b is None else group.b / self.gamma
        kind = DISC if group.direction is None else SLIDES
        if group.direction is not None:
            self.bounds[list(group.rows), 0] = group.direction
        normal = NONE if group.normal is None else group.normal
        self.table[WIDTH * k : WIDTH * (k + 1)] = kind, first, len(group.rows), normal, filled, loads
        self.radii[k] = group.level * T / self.gamma, mu
        return filled + loads

    def solved(self, x: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """x of the scaled problem from a start, |F|∞, and whether that is rounding."""
        n = len(x)
        x = np.array(x)
        residual, _, met = _code()(
            self.D,
            self.g,
            self.table,
            self.radii,
            self.bounds,
            self.A,
            self.b,
            x,
            np.zeros((VECTORS, n)),
            np.zeros((SMALL, 4)),
            np.zeros((n, n)),
            np.zeros(n * n + n),
            np.zeros(2 * n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            np.zeros((n, n)),
            np.zeros(n),
            np.array(PLAN),
            TOLERANCE,
        )
        return x, residual, met


@cache
def _code() -> LoopFunction:
    """The chain as machine code."""
    return compiled(solve_scaled, store=Store())


def _scales(D: np.ndarray, groups: Sequence[Group]) -> np.ndarray:
    """T: √D_jj of a row, one value for a disc; of a row that does not respond, that of the largest."""
    size = np.abs(np.diag(D)).astype(float)
    for group in groups:
        if isinstance(group, Disc) and len(group.rows) > 1:
            rows = list(group.rows)
            own = D[np.ix_(rows, rows)]
            size[rows] = np.linalg.eigvalsh(0.5 * (own + own.T)).max()
    largest = size.max(initial=0.0)
    return np.sqrt(np.where(size > NO_RESPONSE * largest, size, largest or 1.0))


def check(D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> None:
    """Reject numbers that are not finite, empty sets, and a row that moves against its force."""
    finite = np.isfinite(D).all(1) & np.isfinite(g)
    negative = np.diag(D) < -NO_RESPONSE * np.abs(D).max(initial=0.0)
    for group in groups:
        rows = [group.row] if isinstance(group, Interval) else list(group.rows)
        wrong = {
            "its response or its rate is not a number": not finite[rows].all(),
            "its response to its own force is negative": bool(negative[rows].any()),
        }
        if isinstance(group, Interval):
            wrong["its lower bound is above its upper one"] = not group.lo <= group.hi
        else:
            wrong["its level or its coefficient of friction is negative"] = (
                not min(group.level, group.mu) >= 0.0
            )
        for reason, holds in wrong.items():
            if holds:
                name = repr(group.name) if group.name else str(rows[0])
                raise InputError(f"bounded row {name}: {reason}", row=name)
