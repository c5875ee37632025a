"""The search: from the guess, then from places farther and farther away from it, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rounding import BEYOND
from kinpair.constraints.rows.closing import Box
from kinpair.formulations import kinematics
from kinpair.inverse_kinematics.iteration import CLOSED, felt
from kinpair.inverse_kinematics.loop import Compiled, Interpreted, Iteration, Room
from kinpair.inverse_kinematics.residual import Task
from kinpair.inverse_kinematics.targets import Form

ROUNDS = (8, 32, 88)  # starts of a round; one more round where none of them led there
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)  # of the way from the guess to anywhere
WIDE = np.pi  # [rad] or [m]: how far a coordinate without limits is moved
FOUND = (10.0 * CLOSED) ** 2  # V of a solution: singular ones are met less well
MEANT = 1e-3  # [rad] or [m]: a solution so near to the guess is the one that is meant, beyond limits too
FALLING = 0.05  # ν of (IK5), which led to the most solutions
CAREFUL, RUNS = 2.0, 10  # ν √V where there is no solution: the least V is then a minimum of its own
CHUNK = 8192  # rows at a time
FEW = 32  # starts of one target that are run in memory that stays
FAR = 1e6  # a solution beyond limits counts as this much farther away
NOTHING, BEYOND_LIMITS, WITHIN = range(3)  # what was found


class Found(NamedTuple):
    """Result of each target: coordinates (nq), what they leave of V, and whether they are nothing, beyond limits or
    within."""

    q: np.ndarray
    V: np.ndarray
    grade: np.ndarray


class Attempt(NamedTuple):
    """Attempt with a number of starts (0: the guess itself), minding limits or not, for targets of which less than
    this was found."""

    starts: int
    limited: bool
    least: int


FREELY = (Attempt(0, False, WITHIN), *(Attempt(count, False, WITHIN) for count in ROUNDS))
BOUNDED = (
    Attempt(0, False, WITHIN),
    Attempt(0, True, WITHIN),
    *(Attempt(count, True, WITHIN) for count in ROUNDS),
    *(Attempt(count, False, BEYOND_LIMITS) for count in ROUNDS),
)


class Search:
    """Solutions of one task: forms of frames, the constraints of the mechanism, entries that stay."""

    def __init__(
        self, rows: ConstraintRows, forms: tuple[Form, ...], entries: tuple[int, ...], criterion: str
    ) -> None:
        constraints = tuple(x for x in rows.constraints if x.holonomic)
        self.model = rows.model
        self.task = Task(self.model, forms, constraints, rows.scales, entries, rows.reach)
        self._boxes: dict[tuple[int, ...], tuple[Box, bool]] = {}
        self._known_parameters: dict[tuple[tuple[int, ...], bool], np.ndarray] = {}
        self._rooms: dict[Any, list[Room]] = {}  # free ones; a thread takes its own
        self._parts: dict[int, np.ndarray] = {}
        self.iteration: Iteration = (Compiled if rows.calls.compiled else Interpreted)(self.task, criterion)

    @cached_property
    def felt(self) -> list[int]:
        """The rates that the rows depend on, as two places show."""
        draws, neutral, u = np.random.default_rng(1), self.model.neutral(), np.zeros(self.task.size)
        steps = draws.uniform(-1.0, 1.0, (2, self.model.nv))
        places = [kinematics.nudged(self.model, neutral, step) for step in steps]
        return sorted({k for q in places for k in felt(self.task.residual(q, u).J)})

    def found(self, guess: np.ndarray, u: np.ndarray, held: Sequence[int]) -> Found:
        """The best for each target: guesses (targets, nq), numbers of the targets (targets, size)."""
        box, bounded = self._box(held)
        attempts = BOUNDED if bounded else FREELY
        best = Found(guess.copy(), np.full(len(guess), np.inf), np.full(len(guess), NOTHING))
        if bounded and len(guess) == 1:
            attempts = attempts[2:]
            for tried in self._at_once(guess, u[0], box, held):
                if tried.grade[0] == WITHIN:
                    return tried
                best = max(best, tried, key=_rank)
        for attempt in attempts:
            left = np.flatnonzero(best.grade < attempt.least)
            if not len(left):
                break
            tried = self._tried(attempt, guess[left], u[left], box, held)
            better = tried.grade > best.grade[left]
            better |= (tried.grade == NOTHING) & (best.grade[left] == NOTHING) & (best.V[left] > tried.V)
            for old, new in zip(best, tried, strict=True):
                old[left[better]] = new[better]
        for limits in (box, None) if bounded else (box,):
            self._go_on(best, guess, u, box, limits, held)
        return best

    def _at_once(self, guess: np.ndarray, u: np.ndarray, box: Box, held: Sequence[int]) -> list[Found]:
        """Return the ends of the first two attempts for one target, which are lanes of one run."""
        limits = [self._parameters(held, x) for x in (None, box)]
        q, V = self._few((tuple(held), 0), limits, np.concatenate([guess, box.turned(guess)]), u)
        grade = self._grade(q, V, guess, box)
        return [Found(q[k : k + 1], V[k : k + 1], grade[k : k + 1]) for k in range(2)]

    def _few(self, key: Any, limits: Any, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Run few rows in memory that stays, where a call is short; `key`: of parameters and number of rows."""
        rooms = self._rooms.setdefault(key, [])
        room = rooms.pop() if rooms else self.iteration.room(np.array(limits))
        ends = room(q, u)
        rooms.append(room)
        return ends

    def _go_on(
        self, best: Found, guess: np.ndarray, u: np.ndarray, box: Box, limits: Box | None, held: Sequence[int]
    ) -> None:
        """Continue from the best ends where nothing was found: a target may only be far away.

        With `limits`, an end that still is no solution is the place nearest to its target, and is kept as that.
        """
        left = np.flatnonzero(best.grade == NOTHING)
        if not len(left):
            return
        q, V = self._nearest(best.q[left], best.V[left], u[left], limits, held)
        grade = self._grade(q, V, guess[left], box)
        kept = (grade > NOTHING) | (limits is not None)
        for old, new in zip(best, (q, V, grade), strict=True):
            old[left[kept]] = new[kept]

    def _tried(
        self, attempt: Attempt, guess: np.ndarray, u: np.ndarray, box: Box, held: Sequence[int]
    ) -> Found:
        """Find for each target the solution nearest to its guess, or the end that leaves least."""
        begin = box.turned(guess) if attempt.limited else guess
        starts = self._starts(begin, box, held, attempt.starts) if attempt.starts else begin[:, None]
        targets, count, nq = starts.shape
        limits = self._parameters(held, box if attempt.limited else None)
        if targets == 1 and 1 < count <= FEW:
            q, V = self._few((tuple(held), attempt), [limits] * count, starts[0], u[0])
        else:
            q, V = self._run(starts.reshape(-1, nq), np.repeat(u, count, axis=0), limits)
        q, V = q.reshape(targets, count, nq), V.reshape(targets, count)
        grade = self._grade(q, V, guess[:, None], box)
        away = np.abs(q - guess[:, None]).max(-1)
        cost = np.where(grade > NOTHING, away, V) + FAR * (WITHIN - grade)
        best = np.where(np.isfinite(cost), cost, np.inf).argmin(1)
        row = np.arange(targets)
        return Found(q[row, best], V[row, best], grade[row, best])

    def _grade(self, q: np.ndarray, V: np.ndarray, guess: np.ndarray, box: Box) -> np.ndarray:
        """Return what ends q (..., nq) that leave V (...) are: nothing, beyond limits or within them."""
        within = (box.beyond(q) <= BEYOND).all(-1)
        if not within.all():
            within |= np.abs(q - guess).max(-1) <= MEANT
        return np.where(V <= FOUND, np.where(within, WITHIN, BEYOND_LIMITS), NOTHING)

    def _run(self, q: np.ndarray, u: np.ndarray, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of iterations and what they leave of V; parameters for all rows, or for each."""
        chunks = [slice(k, k + CHUNK) for k in range(0, len(q), CHUNK)]
        ends = [self.iteration(q[x], u[x], limits if limits.ndim == 1 else limits[x]) for x in chunks]
        if len(ends) == 1:
            return ends[0]
        return np.concatenate([q for q, _ in ends]), np.concatenate([V for _, V in ends])

    def _starts(self, q: np.ndarray, box: Box, held: Sequence[int], count: int) -> np.ndarray:
        """Draw starts for each guess, moved a part of the distance to places anywhere within the limits."""
        here = box.positions(q)[:, None]
        low = np.where(np.isfinite(box.lower), box.lower, here - WIDE)
        high = np.where(np.isfinite(box.upper), box.upper, here + WIDE)
        if count not in self._parts:
            self._parts[count] = np.random.default_rng(count).uniform(0.0, 1.0, (count, self.model.nv))
        parts = self._parts[count]
        steps = np.resize(SHARES, count)[:, None] * (low + parts * (high - low) - here)
        moving = [float(k in self.felt and k not in held) for k in range(self.model.nv)]
        flat, along = np.repeat(q, count, axis=0), (steps * moving).reshape(-1, self.model.nv)
        if self.model.nq == self.model.nv:  # coordinates whose rates of change are the rates
            moved = flat + along
        else:
            moved = rows(kinematics.nudged(self.model, columns(flat), columns(along)), len(flat))
        return box.moved(moved, box.positions(moved)).reshape(len(q), count, -1)

    def _box(self, held: Sequence[int]) -> tuple[Box, bool]:
        """The limits of coordinates that are free and that the rows depend on; are there any?"""
        key = tuple(held)
        if key not in self._boxes:
            joints, of = self.model.joints, self.model.joints.spring_q
            some = [k for k in self.felt if k not in held and of[k] >= 0]
            box = Box(of, joints.lower[of], joints.upper[of]).of_rates(some)
            self._boxes[key] = box, bool(np.isfinite([box.lower, box.upper]).any())
        return self._boxes[key]

    def _nearest(
        self, q: np.ndarray, V: np.ndarray, u: np.ndarray, box: Box | None, held: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the places nearest to targets (targets, nq), from places q that leave V, and what they leave of V."""
        parameters = np.tile(self._parameters(held, box), (len(q), 1))
        for _ in range(RUNS):
            parameters[:, -1] = CAREFUL / np.sqrt(np.maximum(V, FOUND))
            q, V = self._run(q, u, parameters)
        return q, V

    def _parameters(self, held: Sequence[int], box: Box | None) -> np.ndarray:
        """Return p of the iteration, with the damping that leads to most solutions."""
        key = tuple(held), box is None
        if key not in self._known_parameters:
            n = self.model.nv
            moving = np.ones(n)
            moving[list(held)] = 0.0
            ends = [np.full(n, -np.inf), np.full(n, np.inf)] if box is None else [box.lower, box.upper]
            self._known_parameters[key] = np.concatenate([moving, *ends, [FALLING]])
        return self._known_parameters[key]


def _rank(x: Found) -> tuple[int, float]:
    """Return what makes a result of one target better: its grade, then what it leaves, where that is no solution."""
    return int(x.grade[0]), -float(x.V[0]) if x.grade[0] == NOTHING else 0.0
