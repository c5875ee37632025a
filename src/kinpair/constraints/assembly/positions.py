"""Positions that obey the constraints, and positions outside the limits of joints.

Many states go at once by compiled Newton steps of `constraints/rows/closing.py`. Only what goes straight to a position
near to its guess is taken; a state that needs shorter steps, more damping or another guess is left to the search that
takes one state.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.constraints.assembly.batch import Often, at_time, each_state, named
from kinpair.constraints.assembly.long import LongLoops
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rounding import BEYOND, CLOSED
from kinpair.constraints.rows.closing import (
    LONGEST,
    NEAR,
    ROUNDED,
    Assembled,
    Box,
    Closing,
    assemble,
    assemble_within,
)
from kinpair.constraints.rows.stacked import holonomic_rows
from kinpair.errors import InputError, LimitWarning, SingularError, caller_level, listed
from kinpair.evaluation.quantities.request import Request
from kinpair.formulations import kinematics
from kinpair.model import starts
from kinpair.model.model import Model

QUICK_STEPS = 12  # from a near guess it takes three or four
FALLS = 1.0 - 1e-4  # what |φ| must at least be multiplied by in each step


def closed(
    of: ConstraintRows, guess: np.ndarray, free: Sequence[int], moments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (batch, nq), and in which states they close; the guesses have quaternions of length one."""
    request, q = Request("closing_step", dependent=tuple(free)), guess.copy()
    done, left = np.zeros(len(q), dtype=bool), np.arange(len(q))
    if not len(left) or not free or of.calls.kernel(request) is None:
        return q, done

    def looked_at(q: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return of.calls(request, (q, moments[some]))

    step, gap = looked_at(q, left)
    for _ in range(QUICK_STEPS):
        going = np.isfinite(gap) & (np.abs(step).max(axis=1, initial=0.0) <= LONGEST)
        left, step, gap = left[going], step[going], gap[going]
        if not len(left):
            break
        there = _moved(of.model, q[left], step)
        step, after = looked_at(there, left)
        better = after < np.where(gap <= CLOSED, 1.0, FALLS) * gap
        q[left[better]] = there[better]
        finished = (gap <= CLOSED) | (
            ~better & (gap <= ROUNDED)
        )  # one step more where it is closed: the last digits
        done[left[finished]] = True
        on = better & ~finished
        left, step, gap = left[on], step[on], after[on]
    done &= np.abs(q - guess).max(axis=1, initial=0.0) <= NEAR
    return q, done


def _moved(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Coordinates after steps of the rates."""
    if model.nq == model.nv:
        return q + step
    there: Any = kinematics.moved(model, columns(q), columns(step))
    return rows(kinematics.normalised(model, there), len(q))


DRIVEN = ("drive", "driven distance", "guided frame")  # kinds of constraints that prescribe a motion
STEP = 0.1  # [rad] or [m]: how far named coordinates are led at a time
STEPS = 1000
REMEMBERED = 16  # searches, closed or not


class Assembly:
    """Closes the loops of a closure, and moves them."""

    def __init__(self, rows: ConstraintRows, long: LongLoops) -> None:
        self.rows, self.model, self.long = rows, rows.model, long
        self._often = Often()
        self._remembered = lru_cache(REMEMBERED)(
            lambda q, fixed, time, within_limits: self._search(np.frombuffer(q), fixed, time, within_limits)
        )

    def assembled(
        self, q: np.ndarray, fixed: Sequence[str], time: float, *, within_limits: bool = False
    ) -> Assembled:
        """Search coordinates that close the loops, from the guess q, with the named coordinates fixed.

        The last searches are remembered: one takes seconds where the loops cannot be closed.
        """
        guess = np.ascontiguousarray(q, dtype=float).tobytes()
        result = self._remembered(guess, tuple(fixed), time, within_limits)
        return result._replace(q=result.q.copy(), phi=result.phi.copy())

    def _search(self, q: np.ndarray, fixed: tuple[str, ...], time: float, within_limits: bool) -> Assembled:
        entries = self._entries(fixed)
        fixed_rates = self.rows.rates_of([name for name in fixed if name not in entries])
        free = [k for k in range(self.model.nv) if k not in fixed_rates]
        if not np.isfinite(q).all():
            raise InputError(
                f"{self.model.name}: q holds NaN or infinity; give a guess of finite numbers", argument="q"
            )
        guess = kinematics.normalised(self.model, np.array(q, dtype=float))
        stay = list(entries.values())
        closing = self._closing(self._kept(q, guess, stay), free, stay, time)
        box = self._limits(free) if within_limits else None
        result = assemble(closing, guess) if box is None else assemble_within(closing, box, guess)
        scales = self.rows.scales
        return result._replace(phi=result.phi[: len(scales)] * scales)

    def _kept(self, q: np.ndarray, guess: np.ndarray, stay: list[int]) -> np.ndarray:
        """Values of entries that stay: what is given, or of a whole quaternion that of length one."""
        kept = np.array(q, dtype=float)
        for i in self.model.moving:
            span, pair = self.model.q_span[i], self.model.body[i].pair
            if pair.nq > pair.nv and set(range(span.stop - 4, span.stop)) <= set(stay):
                kept[span.stop - 4 : span.stop] = guess[span.stop - 4 : span.stop]
        return kept

    def _closing(self, kept: np.ndarray, free: Sequence[int], entries: list[int], time: float) -> Closing:
        """The holonomic rows, and a row for each entry of q that stays: q_k as it is kept, its rate (dq/dt)_k."""
        holonomic, scales = holonomic_rows(self.rows.constraints), self.rows.scales

        def phi(q: np.ndarray) -> np.ndarray:
            closed = self.rows.positions(q, time) / scales
            return np.concatenate([closed, (q - kept)[entries]]) if entries else closed

        def matrix(q: np.ndarray) -> np.ndarray:
            A = self.rows.matrix(q, time)[holonomic] / scales[:, None]
            return np.concatenate([A, self._coordinate_rates(q)[entries]]) if entries else A

        def moved(q: np.ndarray, step: np.ndarray) -> np.ndarray:
            return kinematics.normalised(self.model, kinematics.moved(self.model, q, step))

        return Closing(phi, matrix, moved, self.model.nv, free)

    def _coordinate_rates(self, q: np.ndarray) -> np.ndarray:
        """The matrix (nq, nv) of dq/dt as a function of the rates."""
        units = np.eye(self.model.nv)
        return np.array([kinematics.dq_dt(self.model, q, unit) for unit in units], dtype=float).T

    def _entries(self, fixed: Sequence[str]) -> dict[str, int]:
        """The names of entries of q that are no rates: those of quaternions, and positions of free joints."""
        names = self.model.q_names
        return {x: names.index(x) for x in fixed if x in names and x not in self.model.v_names}

    def start(self) -> np.ndarray:
        """Coordinates to begin with, closed; whatever limits they pass."""
        return self.assemble(starts.start(self.model), (), 0.0, silent=True)

    def begin(self) -> np.ndarray:
        """Find where a search begins: the start, or neutral coordinates where that cannot be closed."""
        try:
            return self.start()
        except SingularError:
            return self.model.neutral()

    def led(self, begin: np.ndarray, end: np.ndarray, fixed: Sequence[str], time: float) -> np.ndarray:
        """Coordinates with the named ones as at the end, reached from the beginning in short steps.

        Each step is guessed from the last two, so that a linkage stays in its branch; at one go where that leads
        nowhere.
        """
        steps = min(max(1, math.ceil(np.abs(end - begin).max(initial=0.0) / STEP)), STEPS)
        before = q = begin
        for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
            guess = np.where(end != begin, begin + part * (end - begin), 2.0 * q - before)
            result = self.assembled(guess, fixed, time)
            if not result.closed:
                return self.assemble(end, fixed, time)
            before, q = q, result.q
        return self.assemble(q, fixed, time)

    def assemble(
        self, q: np.ndarray, fixed: Sequence[str], time: float, *, silent: bool = False
    ) -> np.ndarray:
        """Assemble one state, by compiled code where it is often asked for."""
        if not fixed and self.long.used and np.isfinite(q).all():
            return self.long.assembled(np.array(q, dtype=float))
        if self._often(tuple(fixed)) and np.isfinite(q).all():
            found, near = self._from_near_guesses(q[None], fixed, np.array([[time]]))
            if near[0]:
                return found[0]
        return self._assemble(q, fixed, time, silent=silent)

    def _assemble(
        self,
        q: np.ndarray,
        fixed: Sequence[str],
        time: float,
        *,
        silent: bool = False,
        row: int | None = None,
    ) -> np.ndarray:
        """Assemble one state within the limits of the joints if possible, else with a warning that says which are
        passed; an error says which closure fails and by how much."""
        result = self.assembled(q, fixed, time, within_limits=True)
        if not result.closed:
            while_fixed = f" with {listed(fixed)} fixed" if fixed else ""
            gaps = (
                self.rows.worst(result.phi) if self.rows.gaps(result.phi) else "these move as the loops close"
            )
            raise SingularError(
                f"{self.model.name}: cannot be assembled{named(row)}{while_fixed}: {gaps} after {result.steps} steps; "
                f"give a guess nearer to a closed position, hold fewer coordinates, or {self._cure(result.phi)}",
                q=result.q,
                residual=result.phi,
            )
        if result.beyond and not silent:
            warnings.warn(self._passed(result, row), LimitWarning, stacklevel=caller_level())
        return result.q

    def assemble_states(self, q: np.ndarray, fixed: Sequence[str], time: Any) -> np.ndarray:
        """Assemble a batch (batch, nq): compiled from near guesses, else state by state; NaN stays in its row."""
        x = self.rows.calls.checked_arguments({}, q=q, time=at_time(time))
        count = 1 if x.batch is None else x.batch
        states, moments = (np.broadcast_to(y, (count, y.shape[-1])) for y in x.state)
        found, near = self._from_near_guesses(states, fixed, moments)

        def one(k: int, q: np.ndarray, moment: np.ndarray) -> np.ndarray:
            return self._assemble(q, fixed, float(moment[0]), row=k)

        return each_state(one, (states, moments), found, ~near)

    def _from_near_guesses(
        self, q: np.ndarray, fixed: Sequence[str], moments: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions, and which of them are found and within the limits."""
        fixed_rates = self.rows.rates_of([name for name in fixed if name not in self._entries(fixed)])
        if not self.rows.calls.compiled or self._entries(fixed) or not len(self.rows.scales):
            return q, np.zeros(len(q), dtype=bool)
        free = [k for k in range(self.model.nv) if k not in fixed_rates]
        guess = (
            q
            if self.model.nq == self.model.nv
            else rows(kinematics.normalised(self.model, columns(q)), len(q))
        )
        found, near = closed(self.rows, np.ascontiguousarray(guess), free, moments)
        box = self._limits(free)
        return found, near if box is None else near & (box.beyond(found) <= BEYOND).all(axis=1)

    def _cure(self, phi: np.ndarray) -> str:
        """Remedy to suggest: drives, where some are among the closures that fail, else lengths."""
        kinds = {x.kind for x in self.rows.constraints if x.name in self.rows.gaps(phi)}
        if kinds.isdisjoint(DRIVEN):
            return "check the lengths"
        return "check the drives: they must agree with each other, and with what the loops allow"

    def _limits(self, free: Sequence[int]) -> Box | None:
        """The limits of coordinates that are not fixed; None if there are none."""
        joints, of = self.model.joints, self.model.joints.spring_q
        if not np.isfinite([joints.lower, joints.upper]).any():
            return None
        return Box(of, joints.lower[of], joints.upper[of]).of_rates([k for k in free if of[k] >= 0])

    def _passed(self, assembled: Assembled, row: int | None) -> str:
        joints = self.model.joints
        passed = [
            f"{self.model.v_names[k]!r} is {assembled.q[i]:.4g} ({joints.lower[i]:.4g} to {joints.upper[i]:.4g})"
            for k, i in ((k, joints.spring_q[k]) for k in assembled.beyond)
        ]
        return (
            f"{self.model.name}: closed beyond limits{named(row)}: {listed(passed, 6)}; "
            "give a guess within the limits, or hold other coordinates"
        )


SHOWN = 6  # coordinates in a message


class Outside(NamedTuple):
    """Numbers of the coordinates outside their limits at q (nq,), and the nearest position inside, None if none was
    found."""

    beyond: Sequence[int]
    q: np.ndarray
    nearest: np.ndarray | None

    def text(self, model: Model, what: str) -> str:
        """Describe what is outside, and the coordinates inside that differ; `what` names the position."""
        joints, names = model.joints, model.q_names
        passed = [
            f"{names[k]!r} is {self.q[k]:.6g} ({joints.lower[k]:.6g} to {joints.upper[k]:.6g})"
            for k in self.beyond
        ]
        head = f"{model.name}: {what} is outside the limits of its joints: {listed(passed, SHOWN)}"
        if self.nearest is None:
            return f"{head}; no position inside the limits was found near it"
        moved = np.flatnonzero(np.abs(self.nearest - self.q) > BEYOND)
        inside = listed((f"{names[k]} = {self.nearest[k]:.10g}" for k in moved), 2 * SHOWN)
        return f"{head}; the nearest position inside has {inside}"


def outside(of: Assembly, q: Any, time: float = 0.0) -> Outside | None:
    """Judge coordinates (nq,) that close every loop; None where they are inside the limits.

    The nearest position inside has the coordinates at their limits; under constraints the loops are closed again with
    these coordinates fixed, or, where that fails, free.
    """
    joints, at = of.model.joints, np.asarray(q, dtype=float)
    beyond = np.flatnonzero((joints.lower - at > BEYOND) | (at - joints.upper > BEYOND)).tolist()
    if not beyond:
        return None
    inside = np.clip(at, joints.lower, joints.upper)
    if not of.rows.constraints:
        return Outside(beyond, at, inside)
    at_limits = [of.model.q_names[k] for k in beyond]
    tries = (of.assembled(inside, stay, time, within_limits=True) for stay in (at_limits, ()))
    return Outside(beyond, at, next((x.q for x in tries if x.closed and not x.beyond), None))


def start_outside(of: Assembly, states: np.ndarray, time: float = 0.0, what: str = "the start") -> str:
    """Describe the first state of (..., nq) outside the limits of its joints; empty where all are inside."""
    joints, every = of.model.joints, states.reshape(math.prod(states.shape[:-1]), of.model.nq)
    with np.errstate(invalid="ignore"):
        wrong = ((joints.lower - every > BEYOND) | (every - joints.upper > BEYOND)).any(axis=1)
    if not wrong.any():
        return ""
    k = int(wrong.argmax())
    found = outside(of, every[k], time)
    return "" if found is None else found.text(of.model, f"{what}{named(k if states.ndim > 1 else None)}")
