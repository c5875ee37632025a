"""Compiled time loops: many steps of a recorded flow in one call, without Python between them.

loop = FixedLoop(flow, RK4)                   # or AdaptiveLoop(flow, DOPRI5)
end = loop.run(start, dt=1e-3, samples=100, every=10)

Nothing here knows what moves. A loop runs a chunk at a time; what it leaves is where the next chunk starts.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.compiler import time_loop_adaptive as adaptive
from kinpair.compiler import time_loop_fixed as fixed
from kinpair.compiler.cache import Store
from kinpair.compiler.form import Form
from kinpair.compiler.jit import object_code
from kinpair.compiler.machine_code import Batch, ObjectCode, One, Signature
from kinpair.compiler.patience import patience
from kinpair.compiler.target import REALS, host
from kinpair.compiler.time_loop_parts import Flow, frame_of, parts_of
from kinpair.compiler.time_loop_step import CROSSED, FREE, NOT_FINITE, REFUSED, ROWS, SETTINGS, STUCK
from kinpair.compiler.time_loop_tableau import Tableau

REAL = REALS["float64"]
NOTHING = np.zeros(0)
NARROW = 4  # of one trajectory: wider vectors were slower beside scalar code
CONTROL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)
WHY = {  # what ended a run
    0.0: "more",
    NOT_FINITE: "not finite",
    STUCK: "not converged",
    REFUSED: "refused",
    CROSSED: "crossed",
    adaptive.COLLAPSED: "collapsed",
    adaptive.DONE: "done",
}


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What a run reads beside its state: parameters (np,), a table (times, rows) of inputs, a function.

    In a batch, parameters and rows may have an axis of trajectories in front.
    """

    parameters: np.ndarray = field(default_factory=lambda: NOTHING)
    times: np.ndarray = field(default_factory=lambda: NOTHING)
    rows: np.ndarray = field(default_factory=lambda: NOTHING)
    called: Any = None

    @property
    def address(self) -> np.ndarray:
        """Where the function is."""
        found = ctypes.cast(self.called, ctypes.c_void_p).value if self.called is not None else 0
        return np.array([found or 0], dtype=np.int64)


def _width(lanes: int) -> int:
    """Numbers in the vectors in which whole arrays are worked on."""
    return lanes if lanes > 1 else min(NARROW, host().lanes(REAL))


def callback(function: Callable[[float, np.ndarray], np.ndarray | None], ny: int, nu: int) -> Any:
    """A Python function (time, y) → u as the loop calls it; it must not raise, and says None to end the run."""
    views: dict[int, np.ndarray] = {}  # the same few places again and again

    def view(address: int, size: int) -> np.ndarray:
        found = views.get(address)
        if found is None:
            found = views[address] = np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
        return found

    def call(time: float, y: int, u: int) -> int:
        found = function(time, view(y, ny).copy())
        if found is None:
            return 1
        view(u, nu)[...] = found
        return 0

    return CONTROL(call)


class _Compiled:
    """Object code of a text, from the store where it is kept by what the text says."""

    def __init__(self, store: Store | None) -> None:
        self.store = store

    def code(self, text: str, operations: int) -> bytes:
        """Compiled, or found."""
        key = "time loop\0" + hashlib.sha256(text.encode()).hexdigest()
        found = self.store.get(key) if self.store is not None else None
        if found is not None:
            return found
        with patience(f"compiling a time loop, {operations} operations"):
            made = object_code(text)
        if self.store is not None:
            self.store.put(key, made)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """What a call of a loop gives: samples of the state and of what is watched, and where it stands.

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

    def _written(self, lanes: int) -> tuple[str, int]:
        form, width = Form(REAL, lanes), _width(lanes)
        parts = parts_of(self.flow, form, width)
        frame = frame_of(self.flow, parts, form, width, self.tableau.stages if self.tableau else 0)
        return fixed.fixed_text(self.flow, parts, frame, self.tableau, REAL, lanes, width), frame.bytes

    def _made(self, form: str, lanes: int) -> ObjectCode:
        text, room = self._written(lanes)
        operations = sum(program.count["total"] for program in self.flow.programs.values())
        arrays: dict[str, tuple[int, ...]] = dict.fromkeys(fixed.INPUTS, ())
        results: dict[str, tuple[int, ...]] = dict.fromkeys(fixed.OUTPUTS, ())
        signature = Signature("time loop", arrays, results, "result")
        return ObjectCode(form, signature, room, self._compiled.code(text, operations))

    @cached_property
    def _one(self) -> One:
        return One(self._made("one", 1))

    @cached_property
    def _batch(self) -> Batch:
        lanes = host().lanes(REAL)
        return Batch(self._made("batch", lanes), lanes)

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
        """So many samples, `every` so many steps, from step `first` on.

        start: state and inputs (ny + nu,) or (batch, ny + nu). `hold`: steps between new inputs, where held. every=0
        gives the start itself as a sample. `out`: where the samples go, the rows of a trajectory contiguous. Guards
        stop the run unless it is not `minding` them.
        """
        flow, given = self.flow, inputs or Inputs()
        lead = start.shape[:-1]
        settings = np.zeros(SETTINGS)
        settings[:ROWS] = t0, dt, first, samples, every, hold, 0
        settings[ROWS], settings[FREE] = len(given.times), not minding
        room = out or tuple(np.empty((*lead, samples, n)) for n in (flow.ny, flow.nw))
        outputs = [*room, np.empty((*lead, flow.ny + flow.nu)), np.empty((*lead, 2))]
        arrays = [
            settings,
            np.ascontiguousarray(given.parameters, dtype=float),
            np.ascontiguousarray(given.times, dtype=float),
            np.ascontiguousarray(given.rows, dtype=float),
            given.address,
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
        why = [WHY[x] for x in verdict[:, 0].tolist()] if lead else WHY[float(verdict[0])]
        return Chunk(Y, W, end, why, verdict[..., 1].astype(int) if lead else int(verdict[1]))


@dataclass(slots=True, eq=False)
class Standing:
    """Where an adaptive run stands: its whole memory between two calls, and the samples so far."""

    memory: np.ndarray
    Y: np.ndarray
    W: np.ndarray

    def number(self, k: int) -> float:
        """A number of the head."""
        return float(self.memory[k])

    @property
    def time(self) -> float:
        """Reached."""
        return self.number(adaptive.TIME)

    @property
    def samples(self) -> int:
        """Written."""
        return int(self.number(adaptive.CURSOR))

    @property
    def why(self) -> str:
        """What ended the last call."""
        return WHY[self.number(adaptive.STATUS)]

    @property
    def steps(self) -> int:
        """Accepted."""
        return int(self.number(adaptive.ACCEPTED))

    @property
    def rejected(self) -> int:
        """Tried in vain."""
        return int(self.number(adaptive.REJECTED))

    @property
    def dt(self) -> float:
        """Length the next step would have."""
        return self.number(adaptive.LENGTH)

    def state(self, ny: int) -> np.ndarray:
        """y reached."""
        return self.memory[adaptive.HEAD : adaptive.HEAD + ny].copy()


class AdaptiveLoop:
    """Steps as long as the error allows."""

    def __init__(self, flow: Flow, tableau: Tableau, *, store: Store | None = None) -> None:
        if flow.rhs is None or not tableau.errors:
            raise ValueError("an adaptive loop takes a flow with `rhs` and a tableau with an error estimate")
        self.flow, self.tableau = flow, tableau
        self._compiled = _Compiled(store)

    def text(self) -> str:
        """LLVM text."""
        return self._written()[0]

    def _written(self) -> tuple[str, int]:
        form, width = Form(REAL, 1), _width(1)
        parts = parts_of(self.flow, form, width)
        further = adaptive.further_places(self.flow, self.tableau)
        frame = frame_of(self.flow, parts, form, width, self.tableau.slopes, further)
        return adaptive.adaptive_text(self.flow, parts, frame, self.tableau, REAL, width), frame.bytes

    @cached_property
    def _one(self) -> One:
        text, room = self._written()
        operations = sum(program.count["total"] for program in self.flow.programs.values())
        signature = Signature("time loop", {}, {}, "result")
        return One(ObjectCode("one", signature, room, self._compiled.code(text, operations)))

    def begin(self, start: np.ndarray, time: float, wanted: np.ndarray, dt: float = 0.0) -> Standing:
        """At the start: state and inputs (ny + nu,), and the times at which samples are wanted."""
        flow = self.flow
        memory = np.zeros(adaptive.HEAD + flow.ny + flow.nu + flow.ny)
        memory[adaptive.TIME], memory[adaptive.LENGTH], memory[adaptive.STALE] = time, dt, 1.0
        memory[adaptive.HEAD : adaptive.HEAD + flow.ny + flow.nu] = start
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
        hold: float = 0.0,
        t0: float = 0.0,
        inputs: Inputs | None = None,
        minding: bool = True,
    ) -> None:
        """Go on to `stop`, for at most so many steps; samples go to their rows.

        atol (ny,): what is allowed; infinite for entries that do not count. `hold`: time between new inputs, where
        held, from t0 on. Guards stop the run unless it is not `minding` them.
        """
        given = inputs or Inputs()
        width = _width(1)
        allowed = np.full(-(-self.flow.ny // width) * width + 1, np.inf)
        allowed[: self.flow.ny] = atol
        allowed[-1] = max(1, np.isfinite(atol).sum())
        settings = np.zeros(SETTINGS)
        settings[:ROWS] = stop, rtol, min(steps, 1 << 62), longest, len(wanted), hold, t0
        settings[ROWS], settings[FREE] = len(given.times), not minding
        arrays = [
            settings,
            np.ascontiguousarray(given.parameters, dtype=float),
            np.ascontiguousarray(given.times, dtype=float),
            np.ascontiguousarray(given.rows, dtype=float),
            given.address,
            np.append(wanted, np.nan),
            allowed,
            at.memory,
            at.Y,
            at.W,
        ]
        self._one(arrays)
