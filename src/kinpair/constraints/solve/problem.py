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

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from kinpair.compiler.background import is_in_passing
from kinpair.compiler.cache import Store
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.constraints.rounding import NO_RESPONSE, TOLERANCE
from kinpair.constraints.solve.chain import PLAN, SMALL, VECTORS
from kinpair.constraints.solve.elimination import LISTS
from kinpair.constraints.solve.newton import Memory
from kinpair.constraints.solve.residual import (
    BOX,
    DISC,
    JUMP,
    LINEAR,
    LOAD,
    LOADS,
    NONE,
    NORM,
    PART,
    SLIDES,
    WIDTH,
    Problem,
)
from kinpair.constraints.solve.scaling import scale, solve_rows
from kinpair.errors import InputError

KEPT = 64  # sizes whose memory is kept, and rows of the largest


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
        """Return the one row."""
        return (self.row,)


@dataclass(frozen=True, slots=True, eq=False)
class Disc:
    """Set of one to three rows with ‖x_t‖ ≤ level + mu · (multiplier of the row `normal`, or load).

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
    if not len(g):
        return Solution(np.zeros(0), np.zeros(0), 0.0, True)
    parts = [part for x in groups for part in x.load]
    room = _room(len(g), len(groups), len(parts), sum(len(part.b) for part in parts))
    _write(room.problem, D, g, groups)
    if not _is_sound(room.problem, groups):
        check(D, g, groups)
    room.x[:] = 0.0 if start is None else start
    for own in room.memory:
        own.fill(0)
    residual, _, met = room.call()
    x = room.x.copy()
    return Solution(x, D @ x + g, residual, met)


class _Room(NamedTuple):
    """Memory for problems of one size, and the call of the machine code on it."""

    problem: Problem
    x: np.ndarray
    memory: Memory
    call: Callable[[], tuple[float, int, bool]]


class _Rooms(threading.local):
    """Memory of a thread, by size."""

    def __init__(self) -> None:
        self.by_size: dict[tuple[int, int, int, int], _Room] = {}


_rooms = _Rooms()


def _room(n: int, groups: int, parts: int, count: int) -> _Room:
    """Return memory for n rows, groups, parts of loads and their rows; that of small problems is reused."""
    sizes = n, groups, parts, count
    room = _rooms.by_size.get(sizes)
    if room is None:
        p, x, own = _blank(*sizes), np.zeros(n), memory(n)
        arguments = p, empty_like(p), x, own, np.array(PLAN), TOLERANCE
        if n <= KEPT and is_in_passing():  # some milliseconds; to compile takes a second
            return _Room(p, x, own, partial(solve_rows, *arguments))
        room = _Room(p, x, own, _code().bound(*arguments))
        if n <= KEPT and len(_rooms.by_size) < KEPT:
            _rooms.by_size[sizes] = room
    return room


def _is_sound(p: Problem, groups: Sequence[Group]) -> bool:
    """True if `check` finds nothing to reject."""
    largest = float(np.abs(p.D).max())
    if not (np.isfinite(largest) and np.isfinite(p.g).all()):
        return False
    if p.D.diagonal().min() < -NO_RESPONSE * largest:
        return False
    boxes = all(isinstance(x, Interval) for x in groups)
    return boxes and bool((p.bounds[:, 0] <= p.bounds[:, 1]).all())


def memory(n: int) -> Memory:
    """Return the working memory of the methods for n rows."""
    return Memory(
        np.zeros((VECTORS, n)),
        np.zeros((SMALL, 4)),
        np.zeros((n, n)),
        np.zeros(n * n + n),
        np.zeros(2 * n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros((n, n)),
        np.zeros(2, dtype=np.int64),
        np.zeros(LISTS * n + n * n + 1 if n > KEPT else 0, dtype=np.int64),
    )


def empty_like(p: Problem) -> Problem:
    """Return arrays for the scaled problem; those of whole numbers are the same."""
    return Problem(*(x if x.dtype == np.int64 else np.zeros(x.shape) for x in p))


class Scaling:
    """A problem with a unit diagonal and |g| ≤ 1, and the scales T (n,) and γ of x = γ x_scaled/T, see `scaling.py`."""

    def __init__(self, D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> None:
        p = described(D, g, groups)
        self.T, self.problem = np.zeros(len(g)), empty_like(p)
        self.gamma: float = _scale()(p, self.problem, self.T)


def described(D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> Problem:
    """Return the problem as the arrays that the loop functions read, in its own units; see `scaling.solve_rows`."""
    parts = [part for x in groups for part in x.load]
    p = _blank(len(g), len(groups), len(parts), sum(len(part.b) for part in parts))
    _write(p, D, g, groups)
    return p


def _blank(n: int, m: int, parts: int, count: int) -> Problem:
    """Return arrays for n rows in m groups, with loads of so many parts and rows of parts."""
    return Problem(
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(WIDTH * m, dtype=np.int64),
        np.zeros((m, 3)),
        np.zeros((n, 2)),
        np.zeros(PART * parts, dtype=np.int64),
        np.zeros((parts, 3)),
        np.zeros((count, n)),
        np.zeros(count),
        np.zeros(n + 1, dtype=np.int64),
        np.zeros(n * n, dtype=np.int64),
    )


def _write(p: Problem, D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> None:
    """Write a problem into arrays of its size."""
    for own in p[2:]:
        own.fill(0)
    p.D[:], p.g[:] = D, g
    parts = [(k, part) for k, x in enumerate(groups) for part in x.load]
    for k, group in enumerate(groups):
        row = p.table[WIDTH * k : WIDTH * (k + 1)]
        if isinstance(group, Interval):
            row[:] = JUMP if group.jump else BOX, group.row, 1, NONE, 0, 0
            p.bounds[group.row] = group.lo, group.hi
            continue
        kind, normal = (
            (DISC, SLIDES)[group.direction is not None],
            NONE if group.normal is None else group.normal,
        )
        row[:] = kind, group.rows[0], len(group.rows), normal, 0, 0
        p.radii[k] = group.level, 0.0, group.mu
        if group.direction is not None:
            p.bounds[list(group.rows), 0] = group.direction
    _write_loads(p, parts, groups)


def _write_loads(p: Problem, parts: Sequence[tuple[int, Part]], groups: Sequence[Group]) -> None:
    """Write the parts of all loads, one group after the other."""
    filled = 0
    for t, (k, part) in enumerate(parts):
        group, count = groups[k], len(part.b)
        if not p.table[WIDTH * k + LOADS]:
            p.table[WIDTH * k + LOAD] = t
        p.table[WIDTH * k + LOADS] += 1
        mu = group.mu if isinstance(group, Disc) else 1.0
        p.parts[PART * t : PART * (t + 1)] = part.shape, filled, count
        p.weights[t] = part.weights[0] * mu, part.weights[1] * mu, part.limit
        p.A[filled : filled + count] = part.A
        p.b[filled : filled + count] = part.b
        filled += count


@cache
def _code() -> LoopFunction:
    """Return the chain as machine code."""
    return compiled(solve_rows, store=Store())


@cache
def _scale() -> LoopFunction:
    """Return the scaling as machine code."""
    return compiled(scale, store=Store())


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
