"""The thin call: a function in machine code (entry.ll) that Python calls directly.

    enter(self, args, nargs, kwnames)        CPython's METH_FASTCALL | METH_KEYWORDS

It looks at the arrays itself: exactly ndarray, the right dtype, axes, shape, C-contiguous and aligned. If all
is as usual it makes the results (or takes those of `out=`), computes into them (a batch without the
interpreter lock) and returns them; whatever is unusual (keywords, lists, overlaps, mistakes) goes to a slower
function that handles or explains it.
`self` is an array of addresses and sizes, one for each kernel, so one piece of code serves all kernels.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.jit import Loaded, object_code
from kinpair.compiler.program import Shape
from kinpair.compiler.structure import Structure
from kinpair.compiler.target import Real

HEAD = object.__basicsize__  # of a Python object; what an array or a float holds comes after
PLACES = {
    "type": HEAD - 8,
    "data": HEAD,
    "ndim": HEAD + 8,
    "dims": HEAD + 16,
    "strides": HEAD + 24,
    "descr": HEAD + 40,
    "flags": HEAD + 48,
    "items": tuple.__basicsize__,
    "length": HEAD,
    "contiguous_aligned": 0x0001 | 0x0100,
    "writeable": 0x0001 | 0x0100 | 0x0400,
    "float32": np.dtype(np.float32).num,
}
FIELDS = {  # of the table: place → type
    "ndarray": "ptr",
    "float": "ptr",
    "dtype": "ptr",
    "out_name": "ptr",
    "fallback": "ptr",
    "new_array": "ptr",
    "new_float": "ptr",
    "new_tuple": "ptr",
    "vectorcall": "ptr",
    "malloc": "ptr",
    "free": "ptr",
    "save_thread": "ptr",
    "restore_thread": "ptr",
    "no_memory": "ptr",
    "incref": "ptr",
    "number": "i64",
    "itemsize": "i64",
    "inputs": "i64",
    "outputs": "i64",
    "as_tuple": "i64",
    "shapes": "ptr",
    "one": "ptr",
    "scratch": "ptr",
    "batch": "ptr",
    "room_bytes": "i64",
}
MOST_ARRAYS, MOST_AXES = 32, 8
PYTHON_FUNCTIONS = {
    "new_float": "PyFloat_FromDouble",
    "new_tuple": "PyTuple_New",
    "vectorcall": "PyObject_Vectorcall",
    "malloc": "PyMem_RawMalloc",
    "free": "PyMem_RawFree",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
    "no_memory": "PyErr_NoMemory",
    "incref": "Py_IncRef",
}
NEW_ARRAY = 93  # PyArray_New in NumPy's C interface, which keeps its places across versions


def is_thin(structure: Structure, shapes: Sequence[Shape]) -> bool:
    """Can the machine code build this result itself: one array, or a plain tuple of arrays?"""
    plain = isinstance(structure, str) or (
        structure[0] == "tuple" and all(isinstance(s, str) for s in structure[2])
    )
    return plain and len(shapes) <= MOST_ARRAYS and max(map(len, shapes), default=0) <= MOST_AXES


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Table(np.ndarray):
    """The addresses and sizes `enter` needs, keeping alive what they point to."""

    keeps: dict[str, Any]

    def __reduce__(self) -> Any:
        """Addresses do not travel: where the call is copied or pickled, the slower function goes in its place."""
        return _standing_in, (self.keeps["name"], self.keeps["fallback"])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    def enter(self, name: str, value: int, keep: Any = None) -> None:
        """Set one field."""
        self[list(FIELDS).index(name)] = value
        self.keeps[name] = keep


def _standing_in(name: str, fallback: Any) -> Any:
    """Something whose attribute `name` is the function."""
    return SimpleNamespace(**{name: fallback})


def _documented(name: str, fallback: Any) -> bytes:
    """What `help` shows: the parameters and the words of the slower function."""
    try:
        parameters = inspect.signature(fallback).parameters.values()
    except (TypeError, ValueError):
        return b""
    words: list[str] = []
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not any(w.startswith("*") for w in words):
            words.append("*")
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f"={p.default!r}"
        words.append(f"{mark}{p.name}{default}")
    return f"{name}({', '.join(words)})\n--\n\n{inspect.getdoc(fallback) or ''}".encode()


def thin_call(
    name: str,
    inputs: Sequence[Shape],
    outputs: Sequence[Shape],
    as_tuple: bool,
    real: Real,
    fallback: Any,
    store: Store | None,
) -> tuple[Any, Table]:
    """A built-in function of Python, and its table, where `one` and `batch` are still to be put."""
    table = np.zeros(len(FIELDS), dtype=np.int64).view(Table)
    table.keeps = {}
    shapes = np.zeros((len(inputs) + len(outputs), 1 + MOST_AXES), dtype=np.int64)
    for row, shape in zip(shapes, (*inputs, *outputs), strict=True):
        row[: 1 + len(shape)] = [len(shape), *shape]
    objects = {"ndarray": np.ndarray, "float": float, "out_name": sys.intern("out")}
    for field, value in (objects | {"dtype": real.dtype, "fallback": fallback}).items():
        table.enter(field, id(value), value)
    for field, function in PYTHON_FUNCTIONS.items():
        table.enter(field, _address(getattr(ctypes.pythonapi, function)))
    table.enter("new_array", _numpy_function(NEW_ARRAY))
    table.enter("shapes", shapes.ctypes.data, shapes)
    for field, value in (("inputs", len(inputs)), ("outputs", len(outputs)), ("as_tuple", int(as_tuple))):
        table.enter(field, value)
    table.enter("number", real.dtype.num)
    table.enter("itemsize", real.size)
    fastcall_keywords = 0x0080 | 0x0002
    method = _Method(name.encode(), _enter(store).address, fastcall_keywords, _documented(name, fallback))
    table.keeps |= {"method": method, "name": name}
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(method), table, None), table


_LOADED: dict[str, Loaded] = {}


def _enter(store: Store | None) -> Loaded:
    """The code itself, made once in a process and kept in the store."""
    if "enter" not in _LOADED:
        code = store.get("enter") if store else None
        if code is None:
            code = object_code(_text())
            if store:
                store.put("enter", code)
        _LOADED["enter"] = Loaded(code, "enter")
    return _LOADED["enter"]


def _text() -> str:
    text = Path(__file__).with_name("entry.ll").read_text(encoding="utf-8")
    lines = [
        f"  %{name}.at = getelementptr i64, ptr %table, i64 {k}\n  %{name} = load {kind}, ptr %{name}.at"
        for k, (name, kind) in enumerate(FIELDS.items())
    ]
    for name, place in (PLACES | {"fields": "\n".join(lines)}).items():
        text = text.replace(f"{{{name}}}", str(place))
    return text


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def _numpy_function(index: int) -> int:
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
    probe, number = np.zeros((2, 3)), 0.625
    pair = (probe, number)
    whole, address, size = (
        ctypes.c_int.from_address,
        ctypes.c_void_p.from_address,
        ctypes.c_int64.from_address,
    )
    at = {name: id(probe) + place for name, place in PLACES.items()}
    wanted = PLACES["contiguous_aligned"]
    return (
        address(at["type"]).value == id(np.ndarray)
        and address(at["data"]).value == probe.ctypes.data
        and whole(at["ndim"]).value == 2
        and [size((address(at["dims"]).value or 0) + 8 * k).value for k in range(2)] == [2, 3]
        and [size((address(at["strides"]).value or 0) + 8 * k).value for k in range(2)] == [24, 8]
        and address(at["descr"]).value == id(probe.dtype)
        and whole(at["flags"]).value & wanted == wanted
        and ctypes.c_double.from_address(id(number) + HEAD).value == number
        and address(id(pair) + PLACES["items"]).value == id(probe)
    )
