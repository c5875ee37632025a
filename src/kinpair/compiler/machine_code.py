"""Compiled code in memory and how it is run: one state, or the rows of a batch on one or more threads."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from json import dumps, loads
from types import MappingProxyType
from typing import Any

import numpy as np

from kinpair.compiler import llvm
from kinpair.compiler.jit import Loaded
from kinpair.compiler.llvm import straight_blocks
from kinpair.compiler.program import Program, Shape, Structure
from kinpair.compiler.python_objects import MEMBERS, thin_calls_work
from kinpair.compiler.rolled import Rolled, rolled_blocks
from kinpair.compiler.schedule import CACHED, TURN, schedule
from kinpair.compiler.target import Form, Real, host

FORMS = ("one", "batch")
DATA, _ = MEMBERS["data"]


@dataclass(frozen=True, slots=True)
class Signature:
    """Facts that are known of a kernel without its program."""

    name: str
    inputs: dict[str, Shape]
    outputs: dict[str, Shape]
    structure: Structure


def signature_of(program: Program | Rolled) -> Signature:
    """Names, shapes and nesting."""
    return Signature(program.name, program.input_shapes, program.output_shapes, program.structure)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectCode:
    """Machine code as bytes, with what is needed to call it."""

    form: str
    signature: Signature
    scratch: int
    code: bytes
    data: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    def packed(self, key: str) -> bytes:
        """Return everything but the code: a line of JSON with the key of the code, then the data by their symbols."""
        sizes = {name: len(content) for name, content in self.data.items()}
        facts = {
            "form": self.form,
            "scratch": self.scratch,
            "data": sizes,
            "code": key,
            **asdict(self.signature),
        }
        return b"".join([dumps(facts).encode(), b"\n", *self.data.values()])


def unpacked(payload: bytes, code_of: Callable[[str], bytes | None]) -> ObjectCode | None:
    """Return what `packed` wrote, with the code of its key; None where there is no such code."""
    line, _, rest = payload.partition(b"\n")
    facts = loads(line)
    if (code := code_of(facts["code"])) is None:
        return None
    inputs, outputs = ({k: tuple(v) for k, v in facts[side].items()} for side in ("inputs", "outputs"))
    signature = Signature(facts["name"], inputs, outputs, facts["structure"])
    data: dict[str, bytes] = {}
    for name, size in facts["data"].items():
        data[name], rest = rest[:size], rest[size:]
    return ObjectCode(facts["form"], signature, facts["scratch"], code, data)


def blocks_of(program: Program | Rolled, form: str = "one") -> llvm.Blocks:
    """The code of a block, straight or rolled; for a batch in pieces that fit the instruction cache."""
    if isinstance(program, Rolled):
        return rolled_blocks(program)
    return straight_blocks(schedule(program, CACHED, TURN) if form == "batch" else schedule(program))


def text_of(program: Program | Rolled, real: Real, form: str) -> str:
    """LLVM text of one of the two forms."""
    module = llvm.one_module if form == "one" else llvm.batch_module
    return module(blocks_of(program, form), real, host().lanes(real))


def built(program: Program | Rolled, real: Real, form: str, code: bytes) -> ObjectCode:
    """Return one of the two forms with its object code."""
    lanes = 1 if form == "one" else host().lanes(real)
    blocks = blocks_of(program, form)
    scratch = llvm.scratch_bytes(blocks, Form(real, lanes))
    return ObjectCode(form, signature_of(program), scratch, code, blocks.data(real))


class _Rooms:
    """Scratch memory and where it begins, kept for the next call; each thread takes its own."""

    def __init__(self, size: int) -> None:
        self._size, self._free = size, list[tuple[np.ndarray, int]]()

    def take(self) -> tuple[np.ndarray, int]:
        try:
            return self._free.pop()
        except IndexError:
            room = aligned(self._size)
            return room, address(room)

    def give(self, room: tuple[np.ndarray, int]) -> None:
        self._free.append(room)


class One:
    """Code for a single state. Scratch memory is kept for the next call."""

    def __init__(self, object_code: ObjectCode, functions: Mapping[str, int] = MappingProxyType({})) -> None:
        """Load machine code; `functions`: addresses of the functions that it calls, by symbol."""
        self._data, symbols = _in_memory(object_code.data)
        self.loaded = Loaded(object_code.code, "one", {**symbols, **functions})
        self.scratch_bytes = object_code.scratch
        self.run = self.loaded.function(ctypes.c_void_p, ctypes.c_void_p)
        self._free = _Rooms(object_code.scratch)

    def __call__(self, arrays: Sequence[np.ndarray]) -> None:
        """Inputs and outputs, all contiguous."""
        room = self._free.take()
        self.run((ctypes.c_void_p * len(arrays))(*map(address, arrays)), room[1])
        self._free.give(room)


class Batch:
    """Code for rows of a batch. Scratch memory is kept for the next call."""

    def __init__(
        self, object_code: ObjectCode, lanes: int, functions: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        """Load machine code; `functions`: addresses of the functions that it calls, by symbol."""
        self._data, symbols = _in_memory(object_code.data)
        self.loaded = Loaded(object_code.code, "batch", {**symbols, **functions})
        self.lanes, self.scratch_bytes = lanes, object_code.scratch
        count = len(object_code.signature.inputs) + len(object_code.signature.outputs)
        self._pointers, self._strides = ctypes.c_void_p * count, ctypes.c_int64 * count
        self._free = _Rooms(object_code.scratch)
        kinds = (
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_void_p,
        )
        self.run = self.loaded.function(*kinds)

    def __call__(self, arrays: Sequence[np.ndarray], strides: Sequence[int], rows: int, threads: int) -> None:
        """Inputs and outputs, and from row to row so many bytes; 0 for one that serves every row."""
        starts = [address(a) for a in arrays]
        shares = _shares(rows, threads, self.lanes)
        others = [
            pool(len(shares) - 1).submit(self._rows, arrays, starts, strides, *share) for share in shares[1:]
        ]
        try:
            for share in shares[:1]:
                self._rows(arrays, starts, strides, *share)
        finally:
            for other in others:  # also after Ctrl-C: they write into the arrays
                other.result()

    def _rows(
        self,
        arrays: Sequence[np.ndarray],
        starts: Sequence[int],
        strides: Sequence[int],
        first: int,
        last: int,
    ) -> None:
        """Run the code on some rows of the arrays, which stay in memory as long as that takes."""
        room = self._free.take()
        places = starts if first == 0 else [p + first * s for p, s in zip(starts, strides, strict=True)]
        self.run(self._pointers(*places), self._strides(*strides), last - first, room[1])
        self._free.give(room)


def _shares(rows: int, threads: int, lanes: int) -> list[tuple[int, int]]:
    """Rows for each thread, whole blocks but for the last."""
    blocks = -(-rows // lanes)
    each = -(-blocks // max(1, min(threads, blocks))) * lanes if blocks else 1
    return [(start, min(start + each, rows)) for start in range(0, rows, each)]


def _in_memory(data: Mapping[str, bytes]) -> tuple[list[np.ndarray], dict[str, int]]:
    """Data that code reads, where they stay as long as the code does, and their addresses by symbol."""
    arrays: dict[str, np.ndarray] = {}
    for name, content in data.items():
        arrays[name] = aligned(len(content))
        arrays[name][:] = np.frombuffer(content, dtype=np.uint8)
    return list(arrays.values()), {name: address(x) for name, x in arrays.items()}


def aligned(size: int, to: int = 64) -> np.ndarray:
    """Bytes that begin at a multiple of `to`."""
    room = np.empty(size + to, dtype=np.uint8)
    skip = -address(room) % to
    return room[skip : skip + size] if size else room[:to]


def address(array: np.ndarray) -> int:
    """Address where the numbers of an array begin; read from the array itself, which is much faster than asking for
    it."""
    if thin_calls_work():
        return ctypes.c_void_p.from_address(id(array) + DATA).value or 0
    return array.__array_interface__["data"][0]


@cache
def pool(threads: int) -> Any:
    """Threads that wait for work; a forked process makes its own."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="kinpair")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)
