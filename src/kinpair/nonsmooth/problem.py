"""Groups of rows whose multipliers are in sets, and the solution.

    c = D x + g,   D = J G Jᵀ                                                                         (NS1)
    interval: lo ≤ x ≤ hi,   disc: ‖x_t‖ ≤ R;   −c in the normal cone of the set at x                  (NS2)

R = L + μ N with N the multiplier of a normal or a load ‖A x + b‖. D may be singular and nonsymmetric. The normal cone
of a disc is that with R fixed, so a sliding contact is not lifted.

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
from kinpair.nonsmooth.residual import BOX, DISC, NONE, SLIDES, WIDTH, Scaled

TOLERANCE = 1e-12  # of |F|∞ of the scaled problem
NO_RESPONSE = 1e-14  # D_jj below this part of the largest is zero


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
    x, residual, met = solved(p, np.zeros(len(g)) if start is None else start / size)
    y, z = x * size, x - (p.D @ x + p.g)
    for group in groups:
        if isinstance(group, Interval):
            k, (low, high) = group.row, p.bounds[group.row]
            inside = min(max(y[k], group.lo), group.hi)
            y[k] = group.lo if z[k] <= low else group.hi if z[k] >= high else inside
    return Solution(y, D @ y + g, residual, met)


def solved(p: Scaled, start: np.ndarray) -> tuple[np.ndarray, float, bool]:
    """Solve the scaled problem from a start; return x, |F|∞, and whether that is within the tolerance or rounding."""
    n, x = len(start), np.array(start)
    memory = Memory(
        np.zeros((VECTORS, n)),
        np.zeros((SMALL, 4)),
        np.zeros((n, n)),
        np.zeros(n * n + n),
        np.zeros(2 * n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )
    residual, _, met = _code()(p, x, memory, np.zeros((n, n)), np.zeros(n), np.array(PLAN), TOLERANCE)
    return x, residual, met


class Scaling:
    """A problem with a unit diagonal and |g| ≤ 1, and the scales T (n,) and γ of x = γ x_scaled/T.

    T_j = √D_jj, of a disc √λmax(D_tt);   γ = |T⁻¹ g|∞
    D ← T⁻¹ D T⁻¹,  g ← T⁻¹ g/γ,  x ← T x/γ,  bounds, levels as x,  μ ← μ T_t/T_n,  A ← A T⁻¹, b ← b/γ  (NS3)
    """

    def __init__(self, D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> None:
        self.T = _scales(D, groups)
        self.gamma = float(np.abs(g / self.T).max()) or 1.0
        n, m = len(g), len(groups)
        count = sum(len(x.A) for x in groups if isinstance(x, Disc) and x.A is not None)
        self.problem = Scaled(
            np.ascontiguousarray(D / np.outer(self.T, self.T)),
            g / self.T / self.gamma,
            np.zeros(WIDTH * m, dtype=np.int64),
            np.zeros((m, 2)),
            np.zeros((n, 2)),
            np.zeros((count, n)),
            np.zeros(count),
        )
        filled = 0
        for k, group in enumerate(groups):
            if isinstance(group, Interval):
                self.problem.table[WIDTH * k : WIDTH * (k + 1)] = BOX, group.row, 1, NONE, 0, 0
                self.problem.bounds[group.row] = (
                    np.array([group.lo, group.hi]) * self.T[group.row] / self.gamma
                )
            else:
                filled += self._disc(k, group, filled)

    def _disc(self, k: int, group: Disc, filled: int) -> int:
        """Write the numbers of a disc behind the rows of loads filled so far; the number of its own rows."""
        p, T, loads = self.problem, self.T[group.rows[0]], 0
        mu = group.mu * T / (1.0 if group.normal is None else self.T[group.normal])
        if group.A is not None:
            loads = len(group.A)
            p.A[filled : filled + loads] = group.A / self.T
            p.b[filled : filled + loads] = 0.0 if group.b is None else group.b / self.gamma
        if group.direction is not None:
            p.bounds[list(group.rows), 0] = group.direction
        kind = DISC if group.direction is None else SLIDES
        normal = NONE if group.normal is None else group.normal
        p.table[WIDTH * k : WIDTH * (k + 1)] = kind, group.rows[0], len(group.rows), normal, filled, loads
        p.radii[k] = group.level * T / self.gamma, mu
        return loads


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
