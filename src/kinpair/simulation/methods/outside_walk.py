"""A run by a library that can be stopped anywhere: within its last step the motion is the library's own interpolation.

Its steps cannot be interfered with. Where constraints are to be projected, the rows are stabilised along the way and
each state is brought back to the constraints before it is looked at. Where something jumps (efforts that are held, a
state, constraints), the library begins afresh.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from kinpair.errors import InputError
from kinpair.simulation.methods.outside_given import Counted, Given
from kinpair.simulation.methods.outside_way import Library, Unbegun, Way
from kinpair.simulation.methods.walks import fitted
from kinpair.simulation.result import Status
from kinpair.simulation.runs import PAUSE, Piece
from kinpair.simulation.watch.runaways import STEPS_OUTSIDE, Runaway

if TYPE_CHECKING:
    from kinpair.simulation.ready import Run

NO_WEIGHT = 1e100  # allowed error of what does not decide the steps
CLOCK = 3  # numbers before the state: time, samples so far, sample times of the controller so far


class OutsideWalk:
    """By steps as long as the library takes them, none longer than `longest`."""

    def __init__(
        self,
        run: Run,
        library: Library,
        memory: np.ndarray,
        wanted: np.ndarray,
        allowed: tuple[float, np.ndarray],
        *,
        longest: float = np.inf,
        step: int = 0,
    ) -> None:
        self.run, self.wanted, self.allowed, self.longest = run, wanted, allowed, min(longest, run.longest)
        self.time, self.cursor, self.holds = float(memory[0]), int(memory[1]), int(memory[2])
        self._y = memory[CLOCK : CLOCK + run.d.ny].copy()
        self.inputs = Counted(run, memory[CLOCK + run.d.ny :])
        self.period = run.wish.torque.sample_time
        self._steps, self._made = step, dict[Library, Way]()
        self._rows: list[np.ndarray] = []
        self._seen: list[np.ndarray] = []
        self.way = self._entered(library)
        self.ahead, self._before = self.time, (self.time, self.cursor, self._y)
        self._watch = Runaway(run, 0, self.time, self._y, STEPS_OUTSIDE)

    @property
    def y(self) -> np.ndarray:
        """State reached."""
        return self._y.copy()

    @property
    def u(self) -> np.ndarray:
        """Inputs reached."""
        return self.inputs.last.copy()

    # going

    def go(self, single: bool = False) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops, and `ahead` is its end."""
        self._before = self.time, self.cursor, self._y
        began, first, why = perf_counter(), self.cursor, "more"
        while why == "more":
            why = self._turn()
            if single or perf_counter() - began > PAUSE:
                break
        if why == "more":
            why = self._watch(self._count("steps"), self.time, self._y)
        return self._piece(first, why)

    def _turn(self) -> str:
        """What is due at this time, then a step."""
        if self._next_hold <= self.time and not self._asked():
            if self.time == self.run.time:
                self._sample(self.time)
            return "refused"
        self._sample(self.time)
        if self.time >= self.run.stop:
            return "done"
        why = self.way.further(self.time)
        if why != "more":
            return why
        self.ahead = min(self.way.stepper.time, self.run.stop, self._next_hold, self._next_look)
        y = self.peek(self.ahead)[0]
        if not np.isfinite(y).all():
            return "not finite"
        if self.way.crosses((self.time, self._y), (self.ahead, y), self.inputs):
            return "crossed"
        self._arrive(self.ahead, y)
        return "more"

    @property
    def _next_hold(self) -> float:
        """The next time at which the controller is asked."""
        return self.run.time + self.holds * self.period if self.period is not None else np.inf

    @property
    def _next_look(self) -> float:
        """The next sample, where something is watched: a long step may cross a guard there and back."""
        return float(self.wanted[self.cursor]) if self.way.guarded else np.inf

    def _asked(self) -> bool:
        if not self.inputs.renew(self.time, self._y):
            return False
        self.holds += 1
        self.way.begin(self.time, self._y)
        return True

    def _arrive(self, time: float, y: np.ndarray) -> None:
        """Samples on the way; the one at the end is taken when it is known what happens there."""
        self._sample(time, end=False)
        self.time, self._y = time, y

    def _sample(self, time: float, *, end: bool = True) -> None:
        while self.cursor < len(self.wanted) and (
            self.wanted[self.cursor] < time or (end and self.wanted[self.cursor] == time)
        ):
            self.inputs.calls = 0
            when = float(self.wanted[self.cursor])
            y = self.peek(when)[0]
            self._rows.append(y)
            self._seen.append(self.way.watched(when, y, self.inputs))
            self.cursor += 1

    # events

    def back(self) -> None:
        """To before the last step, which is then ahead."""
        self.ahead = self.time
        self.time, self.cursor, self._y = self._before

    def peek(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """State and inputs at a time within the step ahead."""
        if time <= self.time:
            return self.y, self.u
        return self.way.settled(time, self.way.stepper.at(time)), self.u

    def move(self, time: float) -> Piece:
        """Go there."""
        first = self.cursor
        self._arrive(max(float(time), self.time), self.peek(time)[0])
        return self._piece(first, "more")

    def put(self, y: np.ndarray, library: Library) -> None:
        """Go on from another state, in another mode."""
        before, self._y = self._y, fitted(y, library.d.ny)
        try:
            self.way = self._entered(library)
        except InputError as problem:  # a mode that the library does not take
            self._y = before
            self.way.stepper = Unbegun(replace(self.way.given, time=self.time))
            message = f"Stopped at t = {self.time:.9g} s: {problem}"
            self.run.ended = Status("refused", self.time, message)

    def _entered(self, library: Library) -> Way:
        known = self._made.get(library)
        if known is not None:
            known.begin(self.time, self._y)
            return known
        rtol, atol = self.allowed
        weights = np.append(atol, np.full(max(0, library.d.ny - len(atol)), NO_WEIGHT))[: library.d.ny]
        given = Given(
            library.d,
            self.inputs,
            self.inputs.steady,
            self.run.inputs.parameters,
            rtol,
            np.where(np.isfinite(weights), weights, NO_WEIGHT),
            self.time,
            self._y,
            self.run.stop,
            self.longest,
            self.run.inputs.times,
        )
        made = self._made[library] = Way(given, library.method, library.guard)
        return made

    def standing(self) -> np.ndarray:
        """All that is needed to go on in the same mode."""
        return np.concatenate([[self.time, self.cursor, self.holds], fitted(self._y, self.run.d.ny), self.u])

    def stand(self, memory: np.ndarray, library: Library, step: int) -> None:
        """Where a walk stood after so many steps."""
        end = CLOCK + self.run.d.ny
        self.time, self.cursor, self.holds = float(memory[0]), int(memory[1]), int(memory[2])
        self._y = fitted(memory[CLOCK:end], library.d.ny)
        self.inputs = Counted(self.run, memory[end : end + self.run.d.nu])
        self._steps, self._made = step, {}
        self.way = self._entered(library)

    def last(self, why: str) -> Piece:
        """The state reached as a sample."""
        w = self.way.watched(self.time, self._y, self.inputs)
        self._rows, self._seen = [self._y], [w]
        return self._made_of(np.array([self.time]), why)

    # what was found

    def _piece(self, first: int, why: str) -> Piece:
        return self._made_of(self.wanted[first : self.cursor], why)

    def _made_of(self, times: np.ndarray, why: str) -> Piece:
        d = self.run.d
        Y = np.array([fitted(y, d.ny) for y in self._rows]).reshape(-1, d.ny)
        W = np.array([fitted(w, d.nw) for w in self._seen]).reshape(-1, d.nw)
        self._rows, self._seen = [], []
        steps, rejected = self._count("steps"), self._count("rejected")
        memory = np.concatenate([[self.time, self.cursor, self.holds], fitted(self._y, d.ny), self.u])
        dt, trouble = self.way.stepper.dt, max(self.time, self.way.stepper.time)
        return Piece(times, Y, W, why, trouble, self.time, self._steps + steps, rejected, dt, memory)

    def _count(self, what: str) -> int:
        """Of all libraries that were at work, `steps` or `rejected`."""
        return sum(getattr(way.stepper, what) for way in self._made.values())
