"""The thin call: a function in machine code (entry.ll) that Python calls directly.

    enter(self, args, nargs, kwnames)        CPython's METH_FASTCALL | METH_KEYWORDS

It looks for a pattern that the call fits and then at the arrays: exactly ndarray, the right dtype, axes, shape,
C-contiguous and aligned, or lists and tuples of numbers. If all is as usual it makes the results (or takes the array of
`out=`), computes into them (a batch without the interpreter lock), puts them into their tuples, named tuples and
dicts and returns them; whatever is unusual (other keywords, overlaps, mistakes, results that are not sound) goes to a
slower function that handles or explains it.
Creating and freeing an array takes longer than the dynamics of a small arm. So a table keeps the last two arrays it
returned for each result of one state, and reuses one when its own reference is the only one left, as `zip` does with
its tuple: no name, no view, no buffer, no weak reference, and neither shape nor flags changed.
`self` is an array of tables, one for each pattern, of addresses and sizes: one piece of code serves all kernels.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import sys
import weakref
from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinpair.compiler.background import building
from kinpair.compiler.cache import Store
from kinpair.compiler.jit import Loaded, object_code
from kinpair.compiler.pattern import CONSTANT, Outcome, Pattern, addresses
from kinpair.compiler.program import Shape
from kinpair.compiler.structure import PARTS, Structure, named_tuple
from kinpair.compiler.target import Real

HEAD = object.__basicsize__  # of a Python object; what an array or a float holds comes after
MEMBERS = {  # of objects of Python and NumPy: place, type
    "references": (HEAD - 16, "i32"),
    "type": (HEAD - 8, "ptr"),
    "length": (HEAD, "i64"),
    "number": (HEAD, "double"),
    "list_items": (HEAD + 8, "ptr"),
    "data": (HEAD, "ptr"),
    "ndim": (HEAD + 8, "i32"),
    "dims": (HEAD + 16, "ptr"),
    "strides": (HEAD + 24, "ptr"),
    "descr": (HEAD + 40, "ptr"),
    "flags": (HEAD + 48, "i32"),
    "watchers": (HEAD + 56, "ptr"),
}
NUMBERS = {
    "number": HEAD,
    "items": tuple.__basicsize__,
    "contiguous_aligned": 0x0001 | 0x0100,
    "writeable": 0x0001 | 0x0100 | 0x0400,
    "owning": 0x0004,
}
TYPES = {"float": float, "int": int, "str": str, "list": list, "tuple": tuple, "dict": dict}
TYPES |= {"ndarray": np.ndarray, "float64": np.float64}
PYTHON_FUNCTIONS = {
    "new_float": "PyFloat_FromDouble",
    "new_object": "PyType_GenericAlloc",
    "call_class": "PyObject_CallNoArgs",
    "compare": "PyUnicode_Compare",
    "dict_next": "PyDict_Next",
    "dict_set": "PyDict_SetItem",
    "to_double": "PyLong_AsDouble",
    "error_occurred": "PyErr_Occurred",
    "error_clear": "PyErr_Clear",
    "malloc": "PyMem_RawMalloc",
    "free": "PyMem_RawFree",
    "save_thread": "PyEval_SaveThread",
    "restore_thread": "PyEval_RestoreThread",
    "no_memory": "PyErr_NoMemory",
    "incref": "Py_IncRef",
    "decref": "Py_DecRef",
}
FIELDS = {  # of a table: its entries and their types
    **dict.fromkeys(("positional", "keywords", "options", "out", "wrench_slot", "wrenches"), "i64"),
    **dict.fromkeys(("names", "option_list", "wrench_names", "sources"), "ptr"),
    **dict.fromkeys(("inputs", "outputs", "seen", "hidden", "judged", "number", "itemsize"), "i64"),
    **dict.fromkeys(("quaternions", "moving", "steps", "room_bytes"), "i64"),
    **dict.fromkeys(("shapes", "hidden_sizes", "quaternion_places", "moving_places", "step_list"), "ptr"),
    "spares": "ptr",
    "line": "double",
    **dict.fromkeys(("one", "scratch", "batch", "dtype", "new_array"), "ptr"),
    **dict.fromkeys((*TYPES, *PYTHON_FUNCTIONS), "ptr"),
}
PLACES = {name: k for k, name in enumerate(FIELDS)}
MOST_ARRAYS, MOST_AXES, MOST_WRENCHES, MOST_HIDDEN = 256, 8, 64, 32  # as in entry.ll
MOST_PATTERNS = 64
FIRST = (
    3  # of the tables in what `self` is: before them their count, the slower function, and how it is called
)
NEW_ARRAY = 93  # PyArray_New in NumPy's C interface, which keeps its places across versions
LEAF, TUPLE, DICT = range(3)


def is_thin(structure: Structure, shapes: Sequence[Shape]) -> bool:
    """Can the machine code build this result itself?"""
    parts = list(_parts(structure))
    known = all(kind in ("dict", "tuple") or kind not in PARTS for kind, _ in parts)
    named = all(isinstance(key, str) for kind, keys in parts if kind == "dict" for key in keys)
    small = len(shapes) <= MOST_ARRAYS and max(map(len, shapes), default=0) <= MOST_AXES
    return known and named and small


def _parts(structure: Structure) -> Iterator[tuple[str, list[Any]]]:
    if not isinstance(structure, str):
        kind, keys, members = structure
        yield kind, keys
        for member in members:
            yield from _parts(member)


def _steps(structure: Structure) -> Iterator[tuple[int, int, Any, Any]]:
    """How a result is put together, members before what holds them: kind, members, class, keys."""
    if isinstance(structure, str):
        yield LEAF, 0, None, None
        return
    kind, keys, members = structure
    for member in members:
        yield from _steps(member)
    if kind == "dict":
        yield DICT, len(keys), dict, tuple(map(sys.intern, keys))
    else:
        yield TUPLE, len(keys), tuple if kind == "tuple" else named_tuple(kind), None


class Table(np.ndarray):
    """The addresses and sizes of one pattern, keeping alive what they point to."""

    keeps: dict[str, Any]

    def enter(self, name: str, value: int, keep: Any = None) -> None:
        """Set one field; what it points to comes first, so that whoever sees the field may use it."""
        self.keeps[name] = keep
        self[PLACES[name]] = value

    def lend(self, name: str, room: np.ndarray) -> None:
        """Set one field to where memory begins; of several threads the first one's is taken."""
        self[PLACES[name]] = self.keeps.setdefault(name, room).ctypes.data

    def enter_array(self, name: str, numbers: Any, keep: Any = None) -> None:
        """Set one field to where an array of whole numbers is."""
        array = np.ascontiguousarray(numbers, dtype=np.int64)
        self.enter(name, array.ctypes.data, (array, keep))

    def enter_objects(self, name: str, objects: Sequence[Any]) -> None:
        """Set one field to where the addresses of objects are."""
        self.enter_array(name, addresses(objects), objects)


def table_of(
    pattern: Pattern,
    inputs: Sequence[Shape],
    outputs: Sequence[Shape],
    structure: Structure,
    real: Real,
    outcome: Outcome,
) -> Table:
    """The table of a pattern, where `one` and `batch` are still to be put."""
    table = np.zeros(len(FIELDS), dtype=np.int64).view(Table)
    table.keeps = {}
    _enter_surroundings(table, real)
    _enter_pattern(table, pattern)
    shapes = np.zeros((len(inputs) + len(outputs), 1 + MOST_AXES), dtype=np.int64)
    for row, shape in zip(shapes, (*inputs, *outputs), strict=True):
        row[: 1 + len(shape)] = [len(shape), *shape]
    table.enter_array("shapes", shapes)
    steps = list(_steps(outcome.seen(structure)))
    if outcome.shape is not None:
        steps[-1] = (TUPLE, steps[-1][1], outcome.shape, None)
    visible = sum(kind == LEAF for kind, *_ in steps)
    hidden = [prod(shape) for shape in outputs[visible:]]
    counts = {"inputs": len(inputs), "outputs": len(outputs), "seen": visible, "hidden": sum(hidden)}
    counts |= {"judged": hidden[-1] if hidden else 0, "steps": len(steps) if len(steps) > 1 else 0}
    counts |= {"quaternions": len(outcome.quaternions), "moving": len(outcome.moving)}
    for field, value in counts.items():
        table.enter(field, value)
    spares: list[Any] = [None] * (2 * visible)
    table.enter("spares", ctypes.c_int64.from_address(id(spares) + MEMBERS["list_items"][0]).value, spares)
    table.enter_array("hidden_sizes", hidden or [0])
    table.enter_array("quaternion_places", outcome.quaternions or [0])
    table.enter_array("moving_places", outcome.moving or [0])
    table.enter("line", int(np.float64(outcome.line or 0.0).view(np.int64)))
    keys = [None if names is None else addresses(names) for *_, names in steps]
    rows = [
        [kind, count, 0 if made is None else id(made), 0 if key is None else key.ctypes.data]
        for (kind, count, made, _), key in zip(steps, keys, strict=True)
    ]
    table.enter_array("step_list", rows, (steps, keys))
    return table


def _enter_surroundings(table: Table, real: Real) -> None:
    for field, value in TYPES.items():
        table.enter(field, id(value), value)
    for field, function in PYTHON_FUNCTIONS.items():
        table.enter(field, _address(getattr(ctypes.pythonapi, function)))
    table.enter("dtype", id(real.dtype), real.dtype)
    table.enter("new_array", _numpy_function(NEW_ARRAY))
    table.enter("number", real.dtype.num)
    table.enter("itemsize", real.size)


def _enter_pattern(table: Table, pattern: Pattern) -> None:
    numbers = {"positional": pattern.positional, "keywords": len(pattern.keywords), "out": pattern.out}
    numbers |= {"options": len(pattern.options), "wrench_slot": pattern.wrench_slot}
    for field, value in (numbers | {"wrenches": len(pattern.wrench_names)}).items():
        table.enter(field, value)
    table.enter_objects("names", tuple(map(sys.intern, pattern.keywords)))
    table.enter_objects("wrench_names", pattern.wrench_names)
    options = [(slot, id(value)) for slot, value in pattern.options]
    table.enter_array("option_list", options or [(0, 0)], pattern.options)
    sources = [(k, x.ctypes.data if k == CONSTANT else x) for k, x in pattern.sources]
    table.enter_array("sources", sources or [(0, 0)], pattern.sources)


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Tables(np.ndarray):
    """What the built-in function holds: where its tables are; patterns may be added at any time."""

    keeps: dict[Any, Any]

    def __reduce__(self) -> Any:
        """Addresses do not travel: where the call is copied or pickled, the slower function goes in its place."""
        return _standing_in, (self.keeps["name"], self.keeps["fallback"])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    @property
    def full(self) -> bool:
        """Is there no room for another pattern?"""
        return int(self[0]) == MOST_PATTERNS

    def clear(self) -> None:
        """Forget all patterns."""
        self[0] = 0

    def add(self, table: Table) -> None:
        """One more pattern, tried after the others."""
        count = int(self[0])
        self.keeps[count] = table
        self[FIRST + count] = table.ctypes.data
        self[0] = count + 1


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


def thin_call(name: str, fallback: Any, store: Store | None) -> tuple[Any, Tables]:
    """A built-in function of Python, and where its tables are to be put; without any it is the slower function."""
    tables = np.zeros(FIRST + MOST_PATTERNS, dtype=np.int64).view(Tables)
    vectorcall = _address(ctypes.pythonapi.PyObject_Vectorcall)
    tables[1], tables[2] = id(fallback), vectorcall
    fastcall_keywords = 0x0080 | 0x0002
    method = _Method(name.encode(), load_entry(store).address, fastcall_keywords, _documented(name, fallback))
    tables.keeps = {"method": method, "name": name, "fallback": fallback}
    return _built_in(tables), tables


def bound_call(name: str, run: int, arguments: tuple[int, int], store: Store | None) -> Any:
    """A built-in function of Python without arguments: it calls the machine code at `run` with two addresses, which
    are to be kept alive. Other threads wait meanwhile."""
    numbers = [run, *arguments, _address(ctypes.pythonapi.Py_IncRef), id(None)]
    table = np.array(numbers, dtype=np.int64).view(Tables)
    no_arguments = 0x0004
    table.keeps = {"name": name, "fallback": None}
    table.keeps["method"] = _Method(name.encode(), _code("bound", store).address, no_arguments, b"")
    return _built_in(table)


def _built_in(table: Tables) -> Any:
    """The function of Python whose `self` is the table."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(table.keeps["method"]), table, None)


_LOADED: dict[str, Loaded] = {}


def load_entry(store: Store | None) -> Loaded:
    """The code of every thin call."""
    return _code("enter", store)


def _code(name: str, store: Store | None) -> Loaded:
    """The code itself, made once in a process and kept in the store; a second one would unload the first."""
    if name not in _LOADED:
        with building():
            if name not in _LOADED:
                _LOADED[name] = Loaded(_object_code(name, store), name)
    return _LOADED[name]


def _object_code(name: str, store: Store | None) -> bytes:
    code = store.get(name) if store else None
    if code is None:
        code = object_code(_text() if name == "enter" else BOUND)
        if store:
            store.put(name, code)
    return code


BOUND = f"""
define ptr @bound(ptr %self, ptr %nothing) {{
  %data = getelementptr i8, ptr %self, i64 {HEAD}
  %table = load ptr, ptr %data
  %run = load ptr, ptr %table
  %at1 = getelementptr ptr, ptr %table, i64 1
  %first = load ptr, ptr %at1
  %at2 = getelementptr ptr, ptr %table, i64 2
  %second = load ptr, ptr %at2
  call void %run(ptr %first, ptr %second)
  %at3 = getelementptr ptr, ptr %table, i64 3
  %incref = load ptr, ptr %at3
  %at4 = getelementptr ptr, ptr %table, i64 4
  %none = load ptr, ptr %at4
  call void %incref(ptr %none)
  ret ptr %none
}}
"""


def _text() -> str:
    """entry.ll with its short forms written out."""
    text = Path(__file__).with_name("entry.ll").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^  (%\S+) = field (\w+)", _field, text)
    text = re.sub(r"(?m)^  (%\S+) = member (\w+) of (%\S+)", _member, text)
    return re.sub(r"\{(\w+)\}", lambda found: str(NUMBERS[found[1]]), text)


def _field(found: re.Match[str]) -> str:
    value, name = found.groups()
    return _loaded(value, "i64", "%call", PLACES[name], FIELDS[name])


def _member(found: re.Match[str]) -> str:
    value, name, owner = found.groups()
    return _loaded(value, "i8", owner, *MEMBERS[name])


def _loaded(value: str, unit: str, owner: str, place: int, kind: str) -> str:
    at = f"  {value}.at = getelementptr {unit}, ptr {owner}, i64 {place}"
    return f"{at}\n  {value} = load {kind}, ptr {value}.at"


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
    pair, both, other = (probe, number), [probe, number], np.float64(0.375)
    counted = ctypes.c_uint32.from_address
    whole, address, size = (
        ctypes.c_int.from_address,
        ctypes.c_void_p.from_address,
        ctypes.c_int64.from_address,
    )
    at = {name: id(probe) + place for name, (place, _) in MEMBERS.items()}
    wanted = NUMBERS["contiguous_aligned"] | NUMBERS["owning"]
    references, watchers = counted(at["references"]).value, address(at["watchers"]).value
    holders, watcher = [probe] * 3, weakref.ref(probe)
    return (
        address(at["type"]).value == id(np.ndarray)
        and address(at["data"]).value == probe.ctypes.data
        and whole(at["ndim"]).value == 2
        and [size((address(at["dims"]).value or 0) + 8 * k).value for k in range(2)] == [2, 3]
        and [size((address(at["strides"]).value or 0) + 8 * k).value for k in range(2)] == [24, 8]
        and address(at["descr"]).value == id(probe.dtype)
        and whole(at["flags"]).value & wanted == wanted
        and counted(at["references"]).value == references + len(holders)
        and (watchers, address(at["watchers"]).value) == (None, id(watcher))
        and ctypes.c_double.from_address(id(number) + HEAD).value == number
        and ctypes.c_double.from_address(id(other) + HEAD).value == other
        and address(id(pair) + NUMBERS["items"]).value == id(probe)
        and size(id(both) + HEAD).value == 2
        and address(address(id(both) + MEMBERS["list_items"][0]).value or 0).value == id(probe)
    )
