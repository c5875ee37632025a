"""Compiled time loops: many steps of a recorded flow in one call, without Python between them.

loop = FixedLoop(flow, RK4)                   # or AdaptiveLoop(flow, DOPRI5)
end = loop.run(start, dt=1e-3, samples=100, every=10)

Nothing here knows what moves. A loop runs a chunk at a time; what it leaves is where the next chunk starts.

A resident loop of equal steps works on memory that stays: a call reads and writes the same state, and allocates
nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.entry import bound_call
from kinpair.compiler.jit import object_code
from kinpair.compiler.loops.functions import module_text
from kinpair.compiler.machine_code import Batch, ObjectCode, One, Signature, address, aligned
from kinpair.compiler.patience import patience
from kinpair.compiler.python_objects import thin_calls_work
from kinpair.compiler.target import REALS, Form, host
from kinpair.compiler.time_loop import adaptive, fixed
from kinpair.compiler.time_loop.fixed import EVERY, FIRST
from kinpair.compiler.time_loop.inputs import Inputs
from kinpair.compiler.time_loop.memory import HEAD, LENGTH, STALE, TIME, WHY, Standing
from kinpair.compiler.time_loop.parts import Flow, Part, data_of, frame_of, parts_of
from kinpair.compiler.time_loop.roots import LOOK, row_length
from kinpair.compiler.time_loop.step import FREE, LEAST, ROOM, ROWS, SETTINGS
from kinpair.compiler.time_loop.tableau import Tableau

REAL = REALS["float64"]
NO_LOG = np.zeros((0, 0))
NO_MORE = np.array([np.inf])  # times of a table
NARROW = 4  # of one trajectory: wider vectors were slower beside scalar code
SHORT = (
    8  # entries of a state that are summed one by one: a vector of numbers just written singly waits for them
)


def _width(lanes: int) -> int:
    """Numbers in the vectors in which whole arrays are worked on."""
    return lanes if lanes > 1 else min(NARROW, host().lanes(REAL))


def _single(flow: Flow, parts: Mapping[str, Part]) -> int:
    """Make the loop with scalar sums over stages of one trajectory: where the right-hand side reads no vectors, few
    are none."""
    scalar = "rhs" in parts and parts["rhs"].turns is None and flow.ny <= SHORT
    return 1 if scalar else _width(1)


class _Compiled:
    """Object code of a text, from the store where it is kept by what the text says."""

    def __init__(self, store: Store | None) -> None:
        self.store = store

    def code(self, text: str, operations: int, loops: Sequence[Callable[..., Any]] = ()) -> bytes:
        """Return the object code of a text and of the loop functions that it calls, compiled or from the store."""
        libraries = [module_text(*loops)] if loops else []

        def compile() -> bytes:
            with patience(f"compiling a time loop, {operations} operations"):
                return object_code(text, libraries)

        return (
            self.store.code("\0".join([text, *libraries]), compile) if self.store is not None else compile()
        )


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Result of a call of a loop: samples of the state and of what is watched, and where it stands.

    Fixed: `end` is state and inputs, `why` and `step` say what went wrong where. In a batch all have the axis of
    trajectories in front and `why` is a list.
    """

    Y: np.ndarray
    W: np.ndarray
    end: np.ndarray
    why: Any
    step: Any


class FixedLoop:
    """Equal steps of an explicit method, or of the step a flow gives itself (`tableau` None)."""

    def __init__(self, flow: Flow, tableau: Tableau | None = None, *, store: Store | None = None) -> None:
        if (tableau is None) != (flow.rhs is None):
            raise ValueError("a tableau goes with a flow that has `rhs`")
        self.flow, self.tableau = flow, tableau
        self._compiled = _Compiled(store)

    def text(self, lanes: int = 1) -> str:
        """LLVM text for one trajectory, or for several at once."""
        return self._written(lanes)[0]

    def _written(self, lanes: int) -> tuple[str, int, dict[str, bytes]]:
        form, width = Form(REAL, lanes), _width(lanes)
        parts = parts_of(self.flow, form, width)
        frame = frame_of(self.flow, parts, form, width, self.tableau.stages if self.tableau else 0)
        sums = width if lanes > 1 else _single(self.flow, parts)
        text = fixed.fixed_text(self.flow, parts, frame, self.tableau, REAL, lanes, sums)
        return text, frame.bytes, data_of(parts, REAL) | self.flow.constants

    def _object_code(self, form: str, lanes: int) -> ObjectCode:
        text, room, data = self._written(lanes)
        operations = sum(program.count["total"] for program in self.flow.programs.values())
        arrays: dict[str, tuple[int, ...]] = dict.fromkeys(fixed.INPUTS, ())
        results: dict[str, tuple[int, ...]] = dict.fromkeys(fixed.OUTPUTS, ())
        signature = Signature("time loop", arrays, results, "result")
        return ObjectCode(form, signature, room, self._compiled.code(text, operations), data)

    @cached_property
    def _one(self) -> One:
        return One(self._object_code("one", 1), self.flow.functions)

    @cached_property
    def _batch(self) -> Batch:
        lanes = host().lanes(REAL)
        return Batch(self._object_code("batch", lanes), lanes, self.flow.functions)

    def code(self, *, batch: bool) -> One | Batch:
        """Machine code in memory, for one trajectory or for a batch."""
        return self._batch if batch else self._one

    def run(
        self,
        start: np.ndarray,
        *,
        dt: float,
        samples: int,
        every: int = 1,
        t0: float = 0.0,
        first: int = 0,
        hold: int = 1,
        inputs: Inputs | None = None,
        threads: int = 1,
        out: tuple[np.ndarray, np.ndarray] | None = None,
        minding: bool = True,
    ) -> Chunk:
        """Run for a number of samples, `every` a number of steps, from step `first` on.

        start: state and inputs (ny + nu,) or (batch, ny + nu). `hold`: steps between new inputs, where constant in
        between. every=0
        gives the start itself as a sample. `out`: where the samples go, the rows of a trajectory contiguous. Guards
        stop the run unless it is not `minding` them.
        """
        flow, own = self.flow, inputs or Inputs()
        lead = start.shape[:-1]
        settings = np.zeros(SETTINGS)
        settings[:ROWS] = t0, dt, first, samples, every, hold, 0
        settings[ROWS], settings[FREE] = len(own.times), not minding
        room = out or tuple(np.empty((*lead, samples, n)) for n in (flow.ny, flow.nw))
        outputs = [*room, np.empty((*lead, flow.ny + flow.nu)), np.empty((*lead, 2))]
        arrays = [
            settings,
            np.ascontiguousarray(own.parameters, dtype=float),
            np.ascontiguousarray(own.times, dtype=float),
            np.ascontiguousarray(own.rows, dtype=float),
            own.address,
            np.ascontiguousarray(start, dtype=float),
            *outputs,
        ]
        if not lead:
            self._one(arrays)
        else:
            by_row = {1: arrays[1].ndim > 1, 3: arrays[3].ndim > 2, 5: True} | dict.fromkeys(
                range(6, 10), True
            )
            strides = [a.strides[0] if by_row.get(k) else 0 for k, a in enumerate(arrays)]
            self._batch(arrays, strides, lead[0], threads)
        Y, W, end, verdict = outputs
        why: Any = WHY[float(verdict[0])] if not lead else ["more"] * lead[0]
        if lead and verdict[:, 0].any():
            why = [WHY[x] for x in verdict[:, 0].tolist()]
        return Chunk(Y, W, end, why, verdict[..., 1].astype(int) if lead else int(verdict[1]))


class AdaptiveLoop:
    """Steps as long as the error allows."""

    def __init__(self, flow: Flow, tableau: Tableau, *, store: Store | None = None) -> None:
        if flow.rhs is None or not tableau.errors:
            raise ValueError("an adaptive loop takes a flow with `rhs` and a tableau with an error estimate")
        self.flow, self.tableau = flow, tableau
        self._compiled = _Compiled(store)

    def text(self) -> str:
        """LLVM text of the loop."""
        return self._written()[0]

    def _written(self) -> tuple[str, Sequence[Callable[..., Any]], int]:
        further = adaptive.further_places(self.flow, self.tableau)
        frame = frame_of(self.flow, self._parts, Form(REAL, 1), _width(1), self.tableau.slopes, further)
        text, loops = adaptive.adaptive_text(self.flow, self._parts, frame, self.tableau, REAL, self._sums)
        return text, loops, frame.bytes

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return parts_of(self.flow, Form(REAL, 1), _width(1))

    @cached_property
    def _sums(self) -> int:
        return _single(self.flow, self._parts)

    @cached_property
    def _one(self) -> One:
        text, loops, room = self._written()
        operations = sum(program.count["total"] for program in self.flow.programs.values())
        signature = Signature("time loop", {}, {}, "result")
        code, data = self._compiled.code(text, operations, loops), data_of(self._parts, REAL)
        return One(ObjectCode("one", signature, room, code, data | self.flow.constants), self.flow.functions)

    def begin(self, start: np.ndarray, time: float, wanted: np.ndarray, dt: float = 0.0) -> Standing:
        """Begin at the start: state and inputs (ny + nu,), and the times at which samples are wanted."""
        flow = self.flow
        memory = np.zeros(HEAD + flow.ny + flow.nu + flow.ny)
        memory[TIME], memory[LENGTH], memory[STALE] = time, dt, 1.0
        memory[HEAD : HEAD + flow.ny + flow.nu] = start
        return Standing(memory, np.empty((len(wanted), flow.ny)), np.empty((len(wanted), flow.nw)))

    def run(
        self,
        at: Standing,
        *,
        stop: float,
        wanted: np.ndarray,
        rtol: float,
        atol: np.ndarray,
        steps: int = 1 << 62,
        longest: float = np.inf,
        least: float = 0.0,
        hold: float = 0.0,
        t0: float = 0.0,
        inputs: Inputs | None = None,
        minding: bool = True,
        acts: np.ndarray | None = None,
        log: np.ndarray = NO_LOG,
    ) -> None:
        """Go on to `stop`, for at most so many steps; samples go to their rows.

        atol (ny,): what is allowed; infinite for entries that do not count. No step is longer than `longest`; before
        one that is shorter than the part `least` of the longest so far it stops, `why` is "short". `hold`: time between
        new inputs, where constant in between, from t0 on. Steps end at the rows of a table. Guards stop the run
        before the step, or do
        as the `acts` (4, ng) of `roots.py` say, unless it is not `minding` them; their roots go to the `log`,
        one row each, and the run returns when that is full.
        """
        own = inputs or Inputs()
        allowed = np.full(-(-self.flow.ny // self._sums) * self._sums + 1, np.inf)
        allowed[: self.flow.ny] = atol
        allowed[-1] = max(1, np.isfinite(atol).sum())
        settings = np.zeros(SETTINGS)
        settings[:ROWS] = stop, rtol, min(steps, 1 << 62), longest, len(wanted), hold, t0
        settings[ROWS], settings[FREE], settings[LEAST] = len(own.times), not minding, least
        settings[ROOM] = len(log)
        ended = np.full(len(wanted) + 1, np.nan)
        ended[:-1] = wanted
        arrays = [
            settings,
            np.ascontiguousarray(own.parameters, dtype=float),
            np.append(own.times, np.inf) if len(own.times) else NO_MORE,
            np.ascontiguousarray(own.rows, dtype=float),
            own.address,
            ended,
            allowed,
            at.memory,
            at.Y,
            at.W,
            self._looks if acts is None else acts,
            log,
        ]
        self._one(arrays)

    @cached_property
    def _looks(self) -> np.ndarray:
        """Guards that all stop the run before the step."""
        return np.repeat([[float(LOOK)], [float(LOOK)], [0.0], [-1.0]], self.flow.ng, axis=1)

    def log(self, rows: int) -> np.ndarray:
        """Memory for so many roots."""
        return np.zeros((rows, row_length(self.flow)))


NOTHING = np.zeros(1)
FEW = 100  # steps, during which other threads may wait


class Resident:
    """A state (ny + nu,) or (batch, ny + nu) that a loop without samples of watched numbers takes forward in place.

    `verdict` (..., 2) says what went wrong, zero while all is well, and in which step.
    """

    def __init__(self, loop: FixedLoop, state: np.ndarray, dt: float, inputs: Inputs, hold: int = 1) -> None:
        if loop.flow.nw or loop.flow.source not in ("constant", "program"):
            raise ValueError(
                "a resident loop takes a flow that watches nothing and is given its inputs or has a program for them"
            )
        lead, self.state, parameters = state.shape[:-1], state, inputs.parameters
        self.settings = np.zeros(SETTINGS)
        self.settings[:7] = 0.0, dt, 0, 1, 1, hold, 0
        self.settings[ROWS] = len(inputs.times)
        self._every = 1
        self.verdict = np.zeros((*lead, 2))
        self._samples = np.zeros((*lead, 1, loop.flow.ny))
        self._parameters = np.ascontiguousarray(parameters, dtype=float)
        table = [
            np.ascontiguousarray(x, dtype=float) if x.size else NOTHING for x in (inputs.times, inputs.rows)
        ]
        arrays = [self.settings, self._parameters, *table, NOTHING, state]
        arrays += [self._samples, NOTHING, state, self.verdict]
        self._arrays, code = arrays, loop.code(batch=bool(lead))
        self._scratch = aligned(code.scratch_bytes)
        pointers = (ctypes.c_void_p * len(arrays))(*map(address, arrays))
        scratch = ctypes.c_void_p(address(self._scratch))
        if isinstance(code, Batch):
            moving = (False, parameters.ndim > 1, False, False, False, True, True, False, True, True)
            steps = [a.strides[0] if moves else 0 for a, moves in zip(arrays, moving, strict=True)]
            strides = (ctypes.c_int64 * len(arrays))(*steps)
            self._arguments = pointers, strides, ctypes.c_int64(lead[0]), scratch
        else:
            self._arguments = ctypes.cast(pointers, ctypes.c_void_p), scratch
        self._keeps, self._run = (pointers, code), code.run  # machine code and memory live as long as this
        self._brief, self._few = (
            self._run,
            -1,
        )  # the same call in less time, for so many steps; other threads wait
        if not lead and thin_calls_work():
            self._few = FEW
            places = ctypes.addressof(pointers), address(self._scratch)
            self._brief = bound_call("advance", code.loaded.address, places, Store())

    def advance(self, first: int, steps: int) -> None:
        """Take a number of steps from step `first` on, counted from the time zero."""
        settings = self.settings
        settings[FIRST] = first
        if steps != self._every:
            settings[EVERY] = self._every = steps
        if steps <= self._few:
            self._brief()
        else:
            self._run(*self._arguments)
