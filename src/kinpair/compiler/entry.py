"""The thin call for one state: a function in machine code that Python calls directly.

    enter(self, args, nargs, kwnames)        CPython's METH_FASTCALL | METH_KEYWORDS

It looks at the arrays itself: exactly ndarray, the right dtype, axes, shape, C-contiguous and aligned. If everything is as usual it computes into new arrays and returns them; whatever is unusual (keywords, lists,
batches, mistakes) goes to a slower function in Python that handles or explains it. `self` is an array of
addresses, so the code holds none and can be kept on disk.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from kinpair.compiler.program import Leaf, Program
from kinpair.compiler.structure import Structure
from kinpair.compiler.target import Real

HEAD = object.__basicsize__  # of a Python object; what an array or a float holds comes after
DATA, NDIM, DIMS, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48  # in an ndarray
CONTIGUOUS_ALIGNED = 0x0001 | 0x0100
TABLE = (
    "ndarray",
    "float",
    "dtype",
    "fallback",
    "new_array",
    "vectorcall",
    "new_float",
    "new_tuple",
    "scratch",
)


def is_thin(structure: Structure) -> bool:
    """Can the machine code build this result itself: one array, or a plain tuple of arrays?"""
    return isinstance(structure, str) or (
        structure[0] == "tuple" and all(isinstance(s, str) for s in structure[2])
    )


def enter(program: Program, real: Real) -> str:
    """LLVM text of `@enter`; nothing if the result is nested."""
    return _Writer(program, real).text() if is_thin(program.structure) else ""


class _Writer:
    def __init__(self, program: Program, real: Real) -> None:
        self.program, self.real = program, real
        self.lines: list[str] = []
        self.globals: list[str] = []

    def field(self, name: str, kind: str, of: str, offset: int) -> str:
        self.lines.append(f"  %{name}.at = getelementptr i8, ptr {of}, i64 {offset}")
        self.lines.append(f"  %{name} = load {kind}, ptr %{name}.at")
        return f"%{name}"

    def check(self, name: str, test: str) -> None:
        """Go on if the test holds, else to the slower function."""
        self.lines.append(f"  %{name} = {test}")
        self.lines.append(f"  br i1 %{name}, label %{name}.ok, label %unusual, !prof !2")
        self.lines.append(f"{name}.ok:")

    def argument(self, k: int, leaf: Leaf) -> None:
        """%in<k>: where the numbers of argument k are."""
        n = f"a{k}"
        self.field(n, "ptr", "%args", 8 * k)
        kind = self.field(f"{n}.type", "ptr", f"%{n}", HEAD - 8)
        if leaf.shape == ():
            self.check(f"{n}.kind", f"icmp eq ptr {kind}, %float")
            self.lines.append(f"  %in{k} = getelementptr i8, ptr %{n}, i64 {HEAD}")
            return
        self.check(f"{n}.kind", f"icmp eq ptr {kind}, %ndarray")
        self.check(f"{n}.descr", f"icmp eq ptr {self.field(f'{n}.dt', 'ptr', f'%{n}', DESCR)}, %dtype")
        self.check(
            f"{n}.axes", f"icmp eq i32 {self.field(f'{n}.nd', 'i32', f'%{n}', NDIM)}, {len(leaf.shape)}"
        )
        flags = self.field(f"{n}.fl", "i32", f"%{n}", FLAGS)
        self.lines.append(f"  %{n}.both = and i32 {flags}, {CONTIGUOUS_ALIGNED}")
        self.check(f"{n}.flat", f"icmp eq i32 %{n}.both, {CONTIGUOUS_ALIGNED}")
        dims = self.field(f"{n}.dims", "ptr", f"%{n}", DIMS)
        for axis, size in enumerate(leaf.shape):
            self.check(
                f"{n}.size{axis}", f"icmp eq i64 {self.field(f'{n}.d{axis}', 'i64', dims, 8 * axis)}, {size}"
            )
        self.field(f"in{k}", "ptr", f"%{n}", DATA)

    def result(self, k: int, leaf: Leaf) -> None:
        """%out<k>: where the numbers of result k go."""
        if leaf.shape == ():
            self.lines.append(f"  %out{k} = alloca {self.real.llvm}")
            return
        sizes = ", ".join(f"i64 {n}" for n in leaf.shape)
        self.globals.append(f"@shape{k} = private constant [{len(leaf.shape)} x i64] [{sizes}]")
        number = np.dtype(self.real.dtype).num
        self.lines.append(
            f"  %r{k} = call ptr %new_array(ptr %ndarray, i32 {len(leaf.shape)}, ptr @shape{k}, i32 {number}, "
            "ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        self.lines.append(f"  %r{k}.made = icmp ne ptr %r{k}, null")
        self.lines.append(f"  br i1 %r{k}.made, label %r{k}.ok, label %failed, !prof !2")
        self.lines.append(f"r{k}.ok:")
        self.field(f"out{k}", "ptr", f"%r{k}", DATA)

    def boxed(self, k: int, leaf: Leaf) -> None:
        """A scalar result as a Python float."""
        if leaf.shape == ():
            value = f"%out{k}.value"
            self.lines.append(f"  {value} = load {self.real.llvm}, ptr %out{k}")
            if self.real.llvm != "double":
                self.lines.append(f"  {value}.wide = fpext {self.real.llvm} {value} to double")
                value += ".wide"
            self.lines.append(f"  %r{k} = call ptr %new_float(double {value})")

    def returned(self) -> None:
        if isinstance(self.program.structure, str):
            self.lines.append("  ret ptr %r0")
            return
        count = len(self.program.outputs)
        self.lines.append(f"  %tuple = call ptr %new_tuple(i64 {count})")
        for k in range(count):
            at = tuple.__basicsize__ + 8 * k
            self.lines.append(f"  %slot{k} = getelementptr i8, ptr %tuple, i64 {at}")
            self.lines.append(f"  store ptr %r{k}, ptr %slot{k}")
        self.lines.append("  ret ptr %tuple")

    def text(self) -> str:
        inputs, outputs = self.program.inputs, self.program.outputs
        self.field("table", "ptr", "%self", DATA)
        for k, name in enumerate(TABLE):
            self.field(name, "ptr", "%table", 8 * k)
        self.check("count", f"icmp eq i64 %nargs, {len(inputs)}")
        self.check("keywords", "icmp eq ptr %kwnames, null")
        for k, leaf in enumerate(inputs):
            self.argument(k, leaf)
        for k, leaf in enumerate(outputs):
            self.result(k, leaf)
        names = [f"ptr %in{k}" for k in range(len(inputs))] + [f"ptr %out{k}" for k in range(len(outputs))]
        self.lines.append(f"  call void @block.1({', '.join([*names, 'ptr %scratch'])})")
        for k, leaf in enumerate(outputs):
            self.boxed(k, leaf)
        self.returned()
        body = "\n".join([*self.globals, HEADER, *self.lines])
        return f'!2 = !{{!"branch_weights", i32 1000000, i32 1}}\n{body}\n{FOOTER}'


HEADER = "define ptr @enter(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {"
FOOTER = """unusual:
  %slow = call ptr %vectorcall(ptr %fallback, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %slow
failed:
  ret ptr null
}
"""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Table(np.ndarray):
    """The addresses `@enter` needs, keeping alive what they point to."""

    keeps: tuple[Any, ...]


def thin_call(address: int, name: str, real: Real, scratch: np.ndarray, fallback: Any, *keeps: Any) -> Any:
    """`@enter` at `address` as a Python function; `fallback` takes what is unusual."""
    table = np.zeros(len(TABLE), dtype=np.uintp).view(_Table)
    api = ctypes.pythonapi
    values = {
        "ndarray": id(np.ndarray),
        "float": id(float),
        "dtype": id(real.dtype),
        "fallback": id(fallback),
        "new_array": _numpy_function(93),  # PyArray_New
        "vectorcall": _address(api.PyObject_Vectorcall),
        "new_float": _address(api.PyFloat_FromDouble),
        "new_tuple": _address(api.PyTuple_New),
        "scratch": scratch.ctypes.data,
    }
    table[:] = [values[entry] for entry in TABLE]
    flags = 0x0080 | 0x0002  # METH_FASTCALL | METH_KEYWORDS
    method = _MethodDef(name.encode(), address, flags, None)
    table.keeps = (method, scratch, fallback, real.dtype, *keeps)
    make = api.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(method), table, None)


def _address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


@cache
def _numpy_function(index: int) -> int:
    """Entry `index` of NumPy's C interface, which keeps its places across versions."""
    core: Any = (
        sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    )
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(get(core._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return int(table[index] or 0)


@cache
def thin_calls_work() -> bool:
    """Are objects laid out in memory as this file believes? If not, calls take the slower way."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    probe = np.zeros((2, 3))
    at = id(probe)
    address, size = ctypes.c_void_p.from_address, ctypes.c_ssize_t.from_address
    return (
        address(at + HEAD - 8).value == id(np.ndarray)
        and address(at + DATA).value == probe.ctypes.data
        and ctypes.c_int.from_address(at + NDIM).value == 2
        and [size((address(at + DIMS).value or 0) + 8 * k).value for k in range(2)] == [2, 3]
        and address(at + DESCR).value == id(probe.dtype)
        and ctypes.c_int.from_address(at + FLAGS).value & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED
        and ctypes.c_double.from_address(id(x := 0.625) + HEAD).value == x
    )
