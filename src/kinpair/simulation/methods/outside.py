"""Runs by libraries that choose their steps themselves, with the same samples, controllers, events and endings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from kinpair.simulation.methods.outside_given import Given, Stepper
from kinpair.simulation.methods.outside_walk import OutsideWalk
from kinpair.simulation.methods.outside_way import Library
from kinpair.simulation.methods.sundials import Cvode, Ida
from kinpair.simulation.methods.taylor import Taylor
from kinpair.simulation.runs import Piece
from kinpair.simulation.torques import Caller

if TYPE_CHECKING:
    from kinpair.simulation.ready import Run
    from kinpair.simulation.wish import Wish

METHODS: dict[str, Callable[[Given], Stepper]] = {"cvode": Cvode, "ida": Ida, "taylor": Taylor}


def library(wish: Wish, guard: Callable[..., object] | None = None) -> Library:
    """What a library does for a wish, in the place of a compiled loop."""
    return Library(wish.dynamics, METHODS[wish.integrator.name], guard)


class Follower:
    """A run by one of the methods; allowed: rtol, and atol (ny,)."""

    def __init__(
        self, run: Run, start: np.ndarray, wanted: np.ndarray, allowed: tuple[float, np.ndarray]
    ) -> None:
        self.run, self.start, self.wanted, self.allowed = run, start, wanted, allowed
        torque = run.wish.torque
        if torque.held and run.caller is None:  # one that could be recorded, asked from here
            wrenches = start[run.d.ny + run.d.model.nv :]
            run.caller = Caller(run.wish.mechanism, torque.function, wrenches)

    def begin(self) -> np.ndarray:
        """Time, samples and sample times so far, state and inputs."""
        return np.concatenate([[self.run.time, 0.0, 0.0], self.start])

    def walk(self, made: Library, longest: float) -> OutsideWalk:
        """From the start, in a mode."""
        return OutsideWalk(self.run, made, self.begin(), self.wanted, self.allowed, longest=longest)

    def pieces(self, memory: np.ndarray, step: int = 0) -> Iterator[Piece]:
        """The samples behind a state."""
        walk = OutsideWalk(self.run, library(self.run.wish), memory, self.wanted, self.allowed, step=step)
        piece = walk.go()
        yield piece
        while piece.why == "more":
            piece = walk.go()
            yield piece
