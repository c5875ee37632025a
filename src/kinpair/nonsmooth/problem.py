"""Groups of rows whose multipliers are in sets, and the solution.

    c = D x + g,   D = J G Jᵀ                                                                         (NS1)
    interval: lo − R₋ ≤ x ≤ hi + R₊,   disc: ‖x_t‖ ≤ R;   −c in the normal cone of the set at x        (NS2)

R = L + μ N with N the multiplier of a normal or a load, a sum of parts. D may be singular and nonsymmetric. The normal
cone is that with R fixed, so a sliding contact is not lifted.

A load that jumps where y = a·x + b passes a limit has any value between both sides there. It is linear in one more
unknown θ, which is a row of its own:

    0 ≤ θ ≤ 1,   c_θ = limit − y:    θ = 0 below the limit, 1 above it, between at the limit             (NS11)

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
from kinpair.nonsmooth.newton import Memory
from kinpair.nonsmooth.residual import (
    BOX,
    DISC,
    LINEAR,
    LOAD,
    LOADS,
    NONE,
    NORM,
    PART,
    SLIDES,
    SQUARE,
    WIDTH,
    Scaled,
)

TOLERANCE = 1e-12  # of |F|∞ of the scaled problem
NO_RESPONSE = 1e-14  # D_jj below this part of the largest is zero


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One part of a load: ‖y‖ with y = A x + b; with `shape` LINEAR y itself; SQUARE the square of y in [0, limit].

    A (m, n), b (m,); it counts `weights` times at the lower and at the upper end of an interval; a disc has the first.
    """

    A: np.ndarray
    b: np.ndarray
    weights: tuple[float, float] = (1.0, 1.0)
    shape: int = NORM
    limit: float = np.inf

    def value(self, x: np.ndarray) -> float:
        """Return the part, without its weights, at x (n,)."""
        y = self.A @ x + self.b
        if self.shape == NORM:
            return float(np.linalg.norm(y))
        return float(y[0] if self.shape == LINEAR else np.clip(y[0], 0.0, self.limit) ** 2)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """One row with lo − Σ parts ≤ x ≤ hi + Σ parts: a limit, a contact normal, a level, a surface under load."""

    row: int
    lo: float = 0.0
    hi: float = np.inf
    name: str = ""
    load: tuple[Part, ...] = ()
    jump: bool = False  # is it θ of (NS11), which has no unit?

    @property
    def rows(self) -> tuple[int, ...]:
        """The one row."""
        return (self.row,)


@dataclass(frozen=True, slots=True, eq=False)
class Disc:
    """One to three rows with ‖x_t‖ ≤ level + mu · (multiplier of the row `normal`, or load).

    `direction`: unit vector of the sliding velocity of a group that slides; its multiplier is −R direction.
    """

    rows: tuple[int, ...]
    level: float = 0.0
    mu: float = 0.0
    normal: int | None = None
    load: tuple[Part, ...] = ()
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
    """Return one interval for each row."""
    own = names or [""] * len(lo)
    return [Interval(k, float(a), float(b), own[k]) for k, (a, b) in enumerate(zip(lo, hi, strict=True))]


def solve(D: np.ndarray, g: np.ndarray, groups: Sequence[Group], start: np.ndarray | None = None) -> Solution:
    """Solve (NS2) for x; `start` is an x nearby, such as that of the step before."""
    check(D, g, groups)
    if not len(g):
        return Solution(np.zeros(0), np.zeros(0), 0.0, True)
    scaling = Scaling(D, g, groups)
    p, size = scaling.problem, scaling.gamma / scaling.T
    x, residual, _, met = solved(p, np.zeros(len(g)) if start is None else start / size)
    y, z = x * size, x - (p.D @ x + p.g)
    for group in groups:
        if not isinstance(group, Disc) and not group.load:
            k, (low, high) = group.row, p.bounds[group.row]
            inside = min(max(y[k], group.lo), group.hi)
            y[k] = group.lo if z[k] <= low else group.hi if z[k] >= high else inside
    return Solution(y, D @ y + g, residual, met)


def solved(p: Scaled, start: np.ndarray) -> tuple[np.ndarray, float, int, bool]:
    """Solve the scaled problem from a start; return x, |F|∞, the number of rounds, and whether |F|∞ is within the
    tolerance or rounding."""
    n, x = len(start), np.array(start)
    memory = Memory(
        np.zeros((VECTORS, n)),
        np.zeros((SMALL, 4)),
        np.zeros((n, n)),
        np.zeros(n * n + n),
        np.zeros(2 * n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )
    residual, rounds, met = _code()(p, x, memory, np.zeros((n, n)), np.zeros(n), np.array(PLAN), TOLERANCE)
    return x, residual, rounds, met


class Scaling:
    """A problem with a unit diagonal and |g| ≤ 1, and the scales T (n,) and γ of x = γ x_scaled/T.

    T_j = √D_jj, of a disc √λmax(D_tt);   γ = |T⁻¹ g|∞
    D ← T⁻¹ D T⁻¹,  g ← T⁻¹ g/γ,  x ← T x/γ,  bounds, levels as x,  μ ← μ T_t/T_n,  A ← A T⁻¹, b ← b/γ  (NS3)

    A row θ has T = γ, since θ has no unit, and its c is divided by its largest entry.
    """

    def __init__(self, D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> None:
        self.T = _scales(D, groups)
        jumps = [x.row for x in groups if isinstance(x, Interval) and x.jump]
        others = np.delete(g / self.T, jumps)
        self.gamma = float(np.abs(others).max(initial=0.0)) or 1.0
        self.T[jumps] = self.gamma
        own = np.array(self.T)
        for k in jumps:
            own[k] = max(np.abs(D[k] / self.T).max(), abs(g[k]) / self.gamma) or 1.0
        parts = [(k, part) for k, x in enumerate(groups) for part in x.load]
        count = sum(len(part.b) for _, part in parts)
        n, m = len(g), len(groups)
        self.problem = Scaled(
            np.ascontiguousarray(D / np.outer(own, self.T)),
            g / own / self.gamma,
            np.zeros(WIDTH * m, dtype=np.int64),
            np.zeros((m, 3)),
            np.zeros((n, 2)),
            np.zeros(PART * len(parts), dtype=np.int64),
            np.zeros((len(parts), 3)),
            np.zeros((count, n)),
            np.zeros(count),
        )
        for k, group in enumerate(groups):
            if isinstance(group, Disc):
                self._disc(k, group)
            else:
                T = self.T[group.row] / self.gamma
                self.problem.table[WIDTH * k : WIDTH * (k + 1)] = BOX, group.row, 1, NONE, 0, 0
                self.problem.bounds[group.row] = group.lo * T, group.hi * T
        self._loads(parts, groups)

    def _disc(self, k: int, group: Disc) -> None:
        """Write the numbers of a disc."""
        p, T = self.problem, self.T[group.rows[0]]
        mu = group.mu * T / (1.0 if group.normal is None else self.T[group.normal])
        if group.direction is not None:
            p.bounds[list(group.rows), 0] = group.direction
        kind = DISC if group.direction is None else SLIDES
        normal = NONE if group.normal is None else group.normal
        p.table[WIDTH * k : WIDTH * (k + 1)] = kind, group.rows[0], len(group.rows), normal, 0, 0
        p.radii[k] = group.level * T / self.gamma, 0.0, mu

    def _loads(self, parts: Sequence[tuple[int, Part]], groups: Sequence[Group]) -> None:
        """Write the parts of all loads, one group after the other."""
        p, filled = self.problem, 0
        for t, (k, part) in enumerate(parts):
            group, count = groups[k], len(part.b)
            if not p.table[WIDTH * k + LOADS]:
                p.table[WIDTH * k + LOAD] = t
            p.table[WIDTH * k + LOADS] += 1
            mu = group.mu if isinstance(group, Disc) else 1.0
            unit = self.gamma if part.shape == SQUARE else 1.0
            scale = mu * self.T[group.rows[0]] * unit
            p.parts[PART * t : PART * (t + 1)] = part.shape, filled, count
            p.weights[t] = part.weights[0] * scale, part.weights[1] * scale, part.limit / self.gamma
            p.A[filled : filled + count] = part.A / self.T
            p.b[filled : filled + count] = part.b / self.gamma
            filled += count


@cache
def _code() -> LoopFunction:
    """Return the chain as machine code."""
    return compiled(solve_scaled, store=Store())


def _scales(D: np.ndarray, groups: Sequence[Group]) -> np.ndarray:
    """Compute T: √D_jj of a row, one value for a disc; for a row that does not respond, the largest."""
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
        rows = list(group.rows)
        wrong = {
            "its response or its rate is not a number": not finite[rows].all(),
            "its response to its own force is negative": bool(negative[rows].any()),
        }
        if isinstance(group, Disc):
            wrong["its level or its coefficient of friction is negative"] = (
                not min(group.level, group.mu) >= 0.0
            )
        else:
            wrong["its lower bound is above its upper one"] = not group.lo <= group.hi
        for reason, holds in wrong.items():
            if holds:
                name = repr(group.name) if group.name else str(rows[0])
                raise InputError(f"bounded row {name}: {reason}", row=name)
