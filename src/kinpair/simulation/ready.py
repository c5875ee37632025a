"""A run that is ready to start: by equal steps, by steps as long as the error allows, or by a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array, columns, rows
from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop
from kinpair.compiler.time_loop_inputs import Inputs, callback
from kinpair.simulation.events.events import Happening
from kinpair.simulation.given import tolerance
from kinpair.simulation.methods.outside import Follower
from kinpair.simulation.result import Status
from kinpair.simulation.runs import Pages, Piece, adaptive_run, fixed_run, released
from kinpair.simulation.schedule import Plan, held_steps
from kinpair.simulation.torques import Caller
from kinpair.simulation.watch.passages import Passage, Suspended
from kinpair.simulation.watch.runaways import Runaway
from kinpair.simulation.watch.singular_ends import without_ruins
from kinpair.simulation.wish import Wish


class Run:
    """A wish with its times and inputs; steps are `fixed`, or chosen and no longer than `longest`."""

    def __init__(
        self, wish: Wish, duration: float, time: float, inputs: Inputs, *, fixed: bool, longest: float
    ) -> None:
        self.wish, self.duration, self.time = wish, duration, time
        self.fixed, self.longest = fixed, longest
        self.d = wish.dynamics
        self.name = wish.mechanism.name
        self.inputs = inputs
        self.caller: Caller | None = None
        self.stop = time + duration
        self.happened: list[Happening] = []
        self.ended: Status | None = None
        self.states = np.zeros((0, 0))  # q and q̇ at the start
        self.options: Mapping[str, Any] = {}  # of `simulate`
        self.hindrance = ""  # what interrupted it, if not the user
        self.passages: list[Suspended] = []

    def start(self, states: np.ndarray, wrenches: dict[str, np.ndarray]) -> np.ndarray:
        """State and inputs at the beginning (..., ny + nu)."""
        d, lead, self.states = self.d, states.shape[:-1], states
        y = np.zeros((*lead, d.ny))
        y[..., : states.shape[-1]] = states
        parts = [y]
        if d.torque_in_u:
            constant = (
                self.wish.torque.values if self.wish.torque.kind == "constant" else np.zeros(d.model.nv)
            )
            parts.append(np.broadcast_to(constant, (*lead, d.model.nv)))
        parts += [np.broadcast_to(w, (*lead, 6)) for w in wrenches.values()]
        if self.wish.torque.kind == "called":
            self._call(np.concatenate([np.zeros(0), *wrenches.values()]))
        return np.concatenate(parts, axis=-1)

    @property
    def batch(self) -> int:
        """Motions."""
        return int(np.prod(self.states.shape[:-1], dtype=int))

    @cached_property
    def begin_energy(self) -> np.ndarray:
        """Kinetic and potential energy (rows, 2) at the start, before anything happens."""
        p = np.broadcast_to(self.inputs.parameters, (self.batch, len(self.d.parameters)))
        d, y = self.d.concrete(columns(p)), columns(self.states.reshape(self.batch, -1))
        with np.errstate(all="ignore"):
            return rows(array(d.energies(self.time, *d.parts(y)[:2])), self.batch)

    def _call(self, wrenches: np.ndarray) -> None:
        """Make the user's function one that the loop can call."""
        self.caller = Caller(self.wish.mechanism, self.wish.torque.function, wrenches)
        i = self.inputs
        self.inputs = Inputs(i.parameters, i.times, i.rows, callback(self.caller, self.d.ny, self.d.nu))


class Fixed:
    """A run by steps of equal length; with `whole` False, each piece is gone when the next one comes."""

    modes = None

    def __init__(self, run: Run, start: np.ndarray, plan: Plan, threads: int) -> None:
        self.run, self.start, self.plan, self.threads = run, start, plan, threads
        period = run.wish.torque.sample_time
        self.hold = held_steps(run.name, period, plan.dt) if period is not None else 1
        self.samples = plan.samples

    @cached_property
    def loop(self) -> FixedLoop:
        """Compiled."""
        return self.run.wish.loop(adaptive=False)

    def begin(self) -> np.ndarray:
        """What the first chunk starts from."""
        return self.start

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a step."""
        run = self.run
        pieces = fixed_run(
            self.loop,
            state,
            self.plan,
            t0=run.time,
            hold=self.hold,
            inputs=run.inputs,
            threads=self.threads,
            step=step,
            whole=whole,
        )
        return without_ruins(run.d, pieces)


def _allowed(run: Run, rtol: Any, atol: Any) -> tuple[float, np.ndarray]:
    """Tolerances; work, loss and what else is carried along follow the motion and do not decide the steps."""
    n = run.d.model.nq + run.d.model.nv
    allowed = np.full(run.d.ny, np.inf)
    allowed[:n] = tolerance(run.name, "atol", atol, (n,))
    if run.d.bumpers is not None:  # what they take ends where the motion shows nothing
        allowed[n : n + run.d.has_work + run.d.has_loss] = allowed[:n].max()
    return float(tolerance(run.name, "rtol", rtol, ())), allowed


class Adaptive:
    """A run by steps as long as the error allows."""

    modes = None

    def __init__(self, run: Run, start: np.ndarray, wanted: np.ndarray, rtol: float, atol: Any) -> None:
        self.run, self.start, self.wanted, self.samples = run, start, wanted, len(wanted)
        self.rtol, self.atol = _allowed(run, rtol, atol)

    @cached_property
    def loop(self) -> AdaptiveLoop:
        """Compiled."""
        return self.run.wish.loop(adaptive=True)

    def begin(self) -> np.ndarray:
        """The memory of the loop at the start."""
        return self.loop.begin(self.start, self.run.time, self.wanted[:0]).memory

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a state."""
        run, flow = self.run, self.loop.flow
        at = self.loop.begin(self.start, run.time, self.wanted)
        room = [Pages(self.samples, n) for n in (flow.ny, flow.nw)] if not whole else []
        if room:
            at.Y, at.W = (pages.array for pages in room)
        at.memory[:] = state
        options: dict[str, Any] = {
            "stop": run.stop,
            "inputs": run.inputs,
            "rtol": self.rtol,
            "atol": self.atol,
            "hold": run.wish.torque.sample_time or 0.0,
            "t0": run.time,
            "longest": run.longest,
        }
        passage = Passage(run, self.loop, self.wanted, options)
        watch = Runaway(run, at.steps + at.rejected, at.time, at.state(flow.ny))
        pieces = adaptive_run(
            self.loop, at, self.wanted, over=passage.over, watch=watch, least=passage.least, **options
        )
        return released(pieces, room, at.samples)


class Outside:
    """A run by a library that chooses its steps."""

    modes = None

    def __init__(self, run: Run, start: np.ndarray, wanted: np.ndarray, rtol: float, atol: Any) -> None:
        self.run, self.start, self.wanted, self.samples = run, start, wanted, len(wanted)
        self.follower = Follower(run, start, wanted, _allowed(run, rtol, atol))

    def begin(self) -> np.ndarray:
        """Time, samples so far, state and inputs."""
        return self.follower.begin()

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a state."""
        return self.follower.pieces(state, step)
