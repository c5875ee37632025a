"""Compiled code in memory and how it is run: one state, or the rows of a batch on one or more threads."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from json import dumps, loads
from typing import Any

import numpy as np

from kinpair.compiler import llvm
from kinpair.compiler.jit import Loaded, object_code
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.schedule import schedule
from kinpair.compiler.structure import Structure
from kinpair.compiler.target import Real, host

FORMS = ("one", "batch")


@dataclass(frozen=True, slots=True)
class Signature:
    """What can be known of a kernel without its program."""

    name: str
    inputs: dict[str, Shape]
    outputs: dict[str, Shape]
    structure: Structure


def signature_of(program: Program) -> Signature:
    """Names, shapes and nesting."""
    return Signature(program.name, program.input_shapes, program.output_shapes, program.structure)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectCode:
    """Machine code as bytes, with what is needed to call it."""

    form: str
    signature: Signature
    scratch: int
    code: bytes

    def packed(self) -> bytes:
        """One string of bytes: a line of JSON, then the code."""
        facts = {"form": self.form, "scratch": self.scratch, **asdict(self.signature)}
        return dumps(facts).encode() + b"\n" + self.code


def unpacked(payload: bytes) -> ObjectCode:
    """The inverse of `packed`."""
    line, _, code = payload.partition(b"\n")
    facts = loads(line)
    inputs, outputs = ({k: tuple(v) for k, v in facts[side].items()} for side in ("inputs", "outputs"))
    signature = Signature(facts["name"], inputs, outputs, facts["structure"])
    return ObjectCode(facts["form"], signature, facts["scratch"], code)


def text_of(program: Program, real: Real, form: str) -> str:
    """LLVM text of one of the two forms."""
    plan = schedule(program)
    return llvm.one_module(plan, real) if form == "one" else llvm.batch_module(plan, real, host().lanes(real))


def built(program: Program, real: Real, form: str) -> ObjectCode:
    """One of the two forms, compiled."""
    lanes = 1 if form == "one" else host().lanes(real)
    scratch = llvm.scratch_bytes(schedule(program), llvm.Form(real, lanes))
    return ObjectCode(form, signature_of(program), scratch, object_code(text_of(program, real, form)))


class One:
    """Code for a single state."""

    def __init__(self, made: ObjectCode) -> None:
        self.loaded = Loaded(made.code)
        self.scratch_bytes = made.scratch
        self._run = self.loaded.function("one", ctypes.c_void_p, ctypes.c_void_p)

    def __call__(self, arrays: Sequence[np.ndarray]) -> None:
        """Inputs and outputs, all contiguous."""
        room = aligned(self.scratch_bytes)
        self._run(_pointers(arrays).ctypes.data, room.ctypes.data)


class Batch:
    """Code for rows of a batch. Scratch memory is kept for the next call."""

    def __init__(self, made: ObjectCode, lanes: int) -> None:
        self.loaded = Loaded(made.code)
        self.lanes, self.scratch_bytes = lanes, made.scratch
        self._free: list[np.ndarray] = []
        kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
        self._run = self.loaded.function("batch", *kinds)

    def __call__(self, arrays: Sequence[np.ndarray], shared: Sequence[bool], rows: int, threads: int) -> None:
        """Inputs and outputs; those `shared` have no axis of rows and serve every row."""
        strides = np.array([0 if s else a.strides[0] for a, s in zip(arrays, shared, strict=True)], dtype=np.int64)
        pointers = _pointers(arrays)
        shares = _shares(rows, threads, self.lanes)
        if len(shares) <= 1:
            self._rows(pointers, strides, 0, rows)
            return
        others = [pool(len(shares) - 1).submit(self._rows, pointers, strides, *share) for share in shares[1:]]
        self._rows(pointers, strides, *shares[0])
        for other in others:
            other.result()

    def _rows(self, pointers: np.ndarray, strides: np.ndarray, first: int, last: int) -> None:
        try:
            room = self._free.pop()
        except IndexError:
            room = aligned(self.scratch_bytes)
        start = pointers + (strides * first).astype(np.uintp)
        self._run(start.ctypes.data, strides.ctypes.data, last - first, room.ctypes.data)
        self._free.append(room)


def _shares(rows: int, threads: int, lanes: int) -> list[tuple[int, int]]:
    """Rows for each thread, whole blocks but for the last."""
    blocks = -(-rows // lanes)
    each = -(-blocks // max(1, min(threads, blocks))) * lanes if blocks else 1
    return [(start, min(start + each, rows)) for start in range(0, rows, each)]


def aligned(size: int, to: int = 64) -> np.ndarray:
    """Bytes that begin at a multiple of `to`."""
    room = np.empty(size + to, dtype=np.uint8)
    skip = -room.ctypes.data % to
    return room[skip : skip + size] if size else room[:to]


def _pointers(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([a.__array_interface__["data"][0] for a in arrays], dtype=np.uintp)


@cache
def pool(threads: int) -> Any:
    """Threads that wait for work; a forked process makes its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix="kinpair")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
