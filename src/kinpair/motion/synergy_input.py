"""A given motion with that of free coordinates added.

Arguments of a synergy, checked: motions, signs of a symmetry, constraints, the period, and a first mesh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any, final

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.motion.free_rows import FreeRows, Resultant
from kinpair.motion.trajectory import Motion, Trajectory, positive


@final
@dataclass(frozen=True, eq=False, repr=False)
class ByCoordinate(Trajectory):
    """Motions of single coordinates, each in its place among all of them; the others stay at `rest` (nq,)."""

    rest: np.ndarray
    motions: Mapping[int, Trajectory]

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        parts = {k: motion.within(time, order, side) for k, motion in self.motions.items()}
        longest = max((len(x) for x in parts.values()), default=1)
        none = 0.0 * time
        found: list[Any] = []
        for n in range(longest):
            columns = [none + (x if n == 0 else 0.0) for x in self.rest]
            for k, series in parts.items():
                columns[k] = none + series[n] if n < len(series) else none
            found.append(np.concatenate(columns, axis=-1))
        return found


@final
@dataclass(frozen=True, eq=False, repr=False)
class Compensated(Trajectory):
    """`given` for all coordinates, plus S times the free ones.    (GS1)"""

    given: Trajectory
    free: Trajectory
    S_q: np.ndarray
    S_v: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        own = [x @ self.S_q.T for x in self.free.within(time, order, side)]
        every = zip_longest(self.given.within(time, order, side), own, fillvalue=0.0)
        return [a + b for a, b in every]  # (GS1)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates (nq), rates, accelerations and jerk (nv)."""
        x, c = self.given.at(time, side=side), self.free.at(time, side=side)
        return Motion(
            x.q + c.q @ self.S_q.T, *(a + b @ self.S_v.T for a, b in zip(x[1:], c[1:], strict=True))
        )


REPEATS = 1e-6  # of the size of a row: a difference between start and end below this is rounding
TOUCHED = 1e-10  # of the largest entry of a constraint


def given_motion(
    m: Mechanism, given: Trajectory | Mapping[str, Trajectory], own: FreeRows, period: float | None
) -> Trajectory:
    """A motion of all coordinates in which the free ones rest."""
    if isinstance(given, Trajectory):
        if given.shape != (m.nq,):
            raise InputError(
                f"synergy: the given motion has shape {given.shape}, and {m.name} has {m.nq} coordinates"
            )
        duration = given.duration
    else:
        given, duration = _by_name(m, given, own, period)
    if period is not None:
        positive("synergy", period=period)
        if abs(period - duration) > 1e-12 * duration:
            raise InputError(f"synergy: period is {period:g} s, and the given motion lasts {duration:g} s")
    return given


def _by_name(
    m: Mechanism, given: Mapping[str, Trajectory], own: FreeRows, period: float | None
) -> tuple[Trajectory, float]:
    motions: dict[int, Trajectory] = {}
    for name, motion in given.items():
        if name not in m.q_names:
            raise InputError(
                f"synergy: {m.name} has no coordinate {name!r}; {nearest(name, m.q_names)}"
                f"Coordinates: {listed(m.q_names)}"
            )
        if motion.shape != ():
            raise InputError(
                f"synergy: the motion of {name!r} has shape {motion.shape}; give that of one number"
            )
        motions[m.q_names.index(name)] = motion
    taken: np.ndarray = (own.S_q != 0.0).any(axis=1)
    twice = [m.q_names[k] for k in motions if taken[k]]
    if twice:
        raise InputError(f"synergy: {listed(twice)} is given and free; it can be one of both")
    left = [name for k, name in enumerate(m.q_names) if k not in motions and not taken[k]]
    if left:
        raise InputError(f"synergy: {listed(left)} of {m.name} is neither given nor free; give its motion")
    if m.nq != m.nv:
        raise InputError(
            f"synergy: {m.name} has quaternions; give one motion of all coordinates, as follow has it"
        )
    durations = {motion.duration for motion in motions.values()}
    if len(durations) > 1:
        raise InputError(
            f"synergy: the given motions last {listed([f'{x:g} s' for x in sorted(durations)])}; give them one period"
        )
    duration = durations.pop() if durations else (period or 0.0)
    positive("synergy", period=duration)
    knots = sorted({t for motion in motions.values() for t in motion.knots} | {0.0, duration})
    return ByCoordinate(duration, (m.nq,), tuple(knots), np.zeros(m.nq), motions), duration


def signs_of(own: FreeRows, symmetry: Sequence[int] | Mapping[str, int] | None) -> np.ndarray:
    if symmetry is None:
        return np.ones(len(own.names))
    if isinstance(symmetry, Mapping):
        for name in symmetry:
            if name not in own.names:
                raise InputError(
                    f"synergy: symmetry names {name!r}, which is not free; {nearest(name, own.names)}"
                    f"Free: {listed(own.names)}"
                )
        symmetry = [symmetry.get(name, 1) for name in own.names]
    signs = np.asarray(symmetry, dtype=float)
    if signs.shape != (len(own.names),) or not np.isin(signs, (-1.0, 1.0)).all():
        raise InputError(
            f"synergy: symmetry is {symmetry!r}; give 1 or -1 for each of {len(own.names)} free coordinates"
        )
    return signs


def check_constraints(own: FreeRows, motion: Trajectory) -> None:
    """Free coordinates that move a loop would change what is given."""
    m = own.mechanism
    if m.closure is None:
        return
    A = m.constraint_matrix(motion.at(0.0).q)
    touched = np.abs(A @ own.S_v) > TOUCHED * max(1.0, np.abs(A).max(initial=0.0))
    if touched.any():
        row, column = (int(k[0]) for k in np.nonzero(touched))
        raise InputError(
            f"synergy: {own.names[column]!r} is free and moves {m.constraint_rows[row]!r}; free coordinates must leave "
            "the constraints as they are"
        )


def sizes_of(own: FreeRows, motion: Trajectory) -> np.ndarray:
    """Size of each row: its largest value with the free coordinates at rest, or one at 1 rad or 1 m."""
    time = np.linspace(0.0, motion.duration, 65)[:-1]
    none = np.zeros((len(time), len(own.names)))
    at = own.terms(own.given(motion, time), none, none, none)
    unmoved = np.flatnonzero(np.abs(at.by_cdd).max((0, 2)) == 0.0)
    if len(unmoved):
        raise InputError(
            f"synergy: row {own.row_names[unmoved[0]]!r} does not depend on the accelerations of {listed(own.names)}; "
            "free other coordinates, or take another row"
        )
    return np.maximum(np.abs(at.F).max(0), np.abs(at.by_c).max((0, 2))).clip(min=np.finfo(float).tiny)


def check_period(own: FreeRows, motion: Trajectory, signs: np.ndarray, sizes: np.ndarray) -> None:
    """Check that with the free coordinates anywhere, every row has the same value at the end as at the start, up to
    its sign."""
    n = len(own.names)
    c, cd, cdd = 0.1 * np.cos(np.arange(3 * n) + 1.0).reshape(3, 1, n)
    ends = (
        own.terms(own.given(motion, np.array([t]), side), s * c, s * cd, s * cdd).F[0]
        for t, side, s in ((0.0, "right", np.ones(n)), (motion.duration, "left", signs))
    )
    before, after = ends
    scale = REPEATS * np.maximum(sizes, np.abs(before))
    gaps = np.minimum(np.abs(after - before), np.abs(after + before))
    if not (gaps > scale).any():
        return
    row = int((gaps / scale).argmax())
    x, z = motion.at(0.0, side="right"), motion.at(motion.duration, side="left")
    moved = [name for k, name in enumerate(own.mechanism.q_names) if abs(x.q[k] - z.q[k]) > REPEATS]
    hint = f"; {listed(moved)} does not end where it starts" if moved and (signs > 0).all() else ""
    raise InputError(
        f"synergy: {motion.duration:g} s is not a period: row {own.row_names[row]!r} is {before[row]:.4g} at the start "
        f"and {after[row]:.4g} at the end{hint}",
        row=own.row_names[row],
    )


def mesh_times(motion: Trajectory, own: FreeRows, intervals: int) -> np.ndarray:
    """Knots, and points between them."""
    if not (isinstance(intervals, int) and intervals > 0):  # type: ignore[redundant-expr]
        raise InputError(f"synergy: intervals is {intervals!r}; give a positive whole number")
    every = [*motion.knots]
    for row in own.rows:
        if isinstance(row, Resultant) and isinstance(row.about, Trajectory):
            every += [t for t in row.about.knots if t < motion.duration]
    knots = np.unique(every)
    share = intervals / motion.duration
    parts = [np.linspace(a, b, max(1, round(share * (b - a))) + 1)[:-1] for a, b in pairwise(knots)]
    return np.append(np.concatenate(parts), motion.duration)
