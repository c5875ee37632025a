"""Steps of a fixed loop on memory that stays: a call reads and writes the same state, and allocates nothing."""

from __future__ import annotations

import ctypes

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.entry import bound_call
from kinpair.compiler.machine_code import Batch, address, aligned
from kinpair.compiler.python_objects import thin_calls_work
from kinpair.compiler.time_loop.fixed import EVERY, FIRST
from kinpair.compiler.time_loop.inputs import Inputs
from kinpair.compiler.time_loop.loop import FixedLoop
from kinpair.compiler.time_loop.step import ROWS, SETTINGS

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
        """So many steps from step `first` on, counted from the time zero."""
        settings = self.settings
        settings[FIRST] = first
        if steps != self._every:
            settings[EVERY] = self._every = steps
        if steps <= self._few:
            self._brief()
        else:
            self._run(*self._arguments)
