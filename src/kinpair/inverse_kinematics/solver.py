"""Coordinates that bring frames to their targets: what a mechanism asks, and the report where there are none."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.rows.stacked import residual
from kinpair.errors import InputError, LimitWarning, SingularError, caller_level, listed, offered
from kinpair.formulations import kinematics
from kinpair.inverse_kinematics.iteration import CRITERIA
from kinpair.inverse_kinematics.path import Path
from kinpair.inverse_kinematics.rates import Course
from kinpair.inverse_kinematics.search import BEYOND_LIMITS, NOTHING, WITHIN, Found, Search
from kinpair.inverse_kinematics.targets import Form, Wanted


class Solver:
    """Inverse kinematics of one model; code is made for each form of targets once."""

    def __init__(self, rows: Closure) -> None:
        self.rows, self.model = rows, rows.model
        self._searches: dict[Any, Search] = {}
        self._paths: dict[Any, Path] = {}

    def solve(
        self, q: np.ndarray, wanted: Wanted, fixed: Sequence[str], time: float, criterion: str
    ) -> np.ndarray:
        """Coordinates (nq,), or (targets, nq) where targets or guesses q are many."""
        entries = self._entries(fixed)
        held = sorted(self.rows.rates_of([name for name in fixed if name not in entries])) if fixed else []
        many = wanted.many or q.ndim > 1
        count, size = max(len(q) if q.ndim > 1 else 1, len(wanted.numbers)), wanted.numbers.shape[1]
        guess, u = np.empty((count, self.model.nq)), np.empty((count, 1 + size + len(entries)))
        guess[:] = self._normalised(q)
        u[:, 0], u[:, 1 : 1 + size] = time, wanted.numbers
        if entries:
            u[:, 1 + size :] = guess[:, list(entries.values())]
        found = self.at(guess, u, wanted.forms, tuple(entries.values()), held, criterion, many)
        return found if many else found[0]

    def at(
        self,
        guess: np.ndarray,
        u: np.ndarray,
        forms: tuple[Form, ...],
        entries: tuple[int, ...],
        held: Sequence[int] = (),
        criterion: str = "rates",
        many: bool = False,
    ) -> np.ndarray:
        """Coordinates (targets, nq) near guesses (targets, nq) for the numbers u of targets: time, forms, entries."""
        search = self._search(forms, entries, criterion)
        found = search.found(guess, u, held)
        self._judge(search, found, u, many)
        return found.q

    def _search(self, forms: tuple[Form, ...], entries: tuple[int, ...], criterion: str) -> Search:
        self._check_criterion(criterion)
        key = forms, entries, criterion
        if key not in self._searches:
            self._searches[key] = Search(self.rows, *key)
        return self._searches[key]

    def path(self, forms: tuple[Form, ...], entries: tuple[int, ...], q: np.ndarray, criterion: str) -> Path:
        """Path that follows targets of these forms, and entries of q, from a position q on."""
        self._check_criterion(criterion)
        kept = self.rows.rank.kept(q, 0.0) if self.rows.row_names else ()
        key = forms, entries, criterion, kept
        if key not in self._paths:
            task = self._search(forms, entries, "rates").task
            self._paths[key] = Path(Course(task, self.rows.constraints, kept, criterion))
        return self._paths[key]

    def _check_criterion(self, criterion: str) -> None:
        if criterion not in CRITERIA:
            raise InputError(
                f"{self.model.name}: no criterion {criterion!r}; {offered(criterion, 'criteria', CRITERIA)}"
            )

    def _normalised(self, q: np.ndarray) -> np.ndarray:
        if not np.isfinite(q).all():
            raise InputError(
                f"{self.model.name}: q holds NaN or infinity; give a guess of finite numbers", argument="q"
            )
        if self.model.nq == self.model.nv:
            return q
        every = [kinematics.normalised(self.model, x) for x in np.atleast_2d(q)]
        return np.array(every, dtype=float).reshape(q.shape)

    def _entries(self, fixed: Sequence[str]) -> dict[str, int]:
        """The names of entries of q that are no rates: those of quaternions, and positions of free joints."""
        names = self.model.q_names
        return {x: names.index(x) for x in fixed if x in names and x not in self.model.v_names}

    def _judge(self, search: Search, found: Found, u: np.ndarray, many: bool) -> None:
        """Refuse what was not found, and report what is beyond limits."""
        if found.grade.min() == WITHIN:
            return
        if len(lost := np.flatnonzero(found.grade == NOTHING)):
            first = lost[0]
            self._refuse(search, found, u, lost, self._closed(found.q[first], float(u[first, 0])), many)
        beyond = np.flatnonzero(found.grade == BEYOND_LIMITS)
        if len(beyond):
            warnings.warn(
                self._passed(search, found.q[beyond[0]], beyond, many), LimitWarning, caller_level()
            )

    def _passed(self, search: Search, q: np.ndarray, rows: np.ndarray, many: bool) -> str:
        joints, names = self.model.joints, self.model.v_names
        passed = [
            f"{names[k]!r} is {q[i]:.4g} ({joints.lower[i]:.4g} to {joints.upper[i]:.4g})"
            for k, i in ((k, joints.spring_q[k]) for k in search.felt)
            if i >= 0 and not joints.lower[i] <= q[i] <= joints.upper[i]
        ]
        which = f"target {rows[0]} of {len(rows)} such targets" if many else "closed"
        return (
            f"{self.model.name}: {which} beyond limits: {listed(passed, 6)}; "
            "give a guess within the limits, or hold other coordinates"
        )

    def _refuse(
        self, search: Search, found: Found, u: np.ndarray, lost: np.ndarray, q: np.ndarray, many: bool
    ) -> None:
        """q: the place nearest to the first of the targets that were not reached."""
        first = int(lost[0])
        frames = [form.frame for form in search.task.forms]
        left = self._left(search, q, u[first])
        which = f" for target {first} ({len(lost)} of {len(found.V)} are not reached)" if many else ""
        raise SingularError(
            f"{self.model.name}: {listed(map(repr, frames))} cannot be brought there from this q{which}: {left} at the "
            "nearest place found; the target is out of reach, or needs a guess nearer to it",
            frame=frames[0],
            frames=frames,
            q=found.q if many else q,
            reached=found.grade != NOTHING if many else False,
            left={f"{frame} [{unit}]": x for frame, x, unit in self._gaps(search, q, u[first])},
        )

    def _closed(self, q: np.ndarray, time: float) -> np.ndarray:
        """The place with its loops closed, where that can be: then what is left is the distance of the frames alone."""
        if not self.rows.scales.size:
            return q
        assembled = self.rows.assembly.assembled(q, (), time)
        return assembled.q if assembled.closed else q

    def _left(self, search: Search, q: np.ndarray, u: np.ndarray) -> str:
        gaps = [f"{x:.3g} {unit}" for _, x, unit in self._gaps(search, q, u)]
        loops = residual(self.model, search.task.constraints, q, u[0])
        open_by = f", {self.rows.worst(loops)}" if len(loops) and self.rows.gaps(loops) else ""
        return f"{' and '.join(gaps)} are left{open_by}"

    def _gaps(self, search: Search, q: np.ndarray, u: np.ndarray) -> list[tuple[str, float, str]]:
        """Frame, distance and unit of every part of the targets."""
        found: list[tuple[str, float, str]] = []
        start = 1
        for form in search.task.forms:
            R, x = kinematics.pose(self.model, q, self.model.place(form.frame))
            numbers = u[start : start + form.size]
            start += form.size
            n = len(form.along)
            if n:
                found.append((form.frame, float(np.linalg.norm(numbers[:n] - x[list(form.along)])), "m"))
            if form.rotation:
                E = numbers[n:].reshape(3, 3) @ R.T
                found.append((form.frame, _angle(E), "rad"))
            if form.axis:
                here, there = R @ np.array(form.axis), numbers[n:]
                angle = np.arctan2(np.linalg.norm(np.cross(here, there)), here @ there)
                found.append((form.frame, float(angle), "rad"))
        return found


def _angle(R: np.ndarray) -> float:
    """Angle of a rotation [rad]."""
    sine = np.sqrt((R[2, 1] - R[1, 2]) ** 2 + (R[0, 2] - R[2, 0]) ** 2 + (R[1, 0] - R[0, 1]) ** 2)
    return float(np.arctan2(sine, np.trace(R) - 1.0))
