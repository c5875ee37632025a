"""Layout of a call and what the thin call knows of it: a table of addresses and sizes, kept alive with what they
point to.

A pattern says which argument is what. A call that fits it goes straight to machine code: as many arguments, the
same keywords in the same order, the same options. Its arrays are then looked at one by one.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np

from kinpair.compiler.program import PARTS, Shape, Structure, named_tuple
from kinpair.compiler.python_objects import MEMBERS, function_address, numpy_function
from kinpair.compiler.target import Real

SLOT, CONSTANT, WRENCH, MOMENT = range(4)
Source: TypeAlias = tuple[int, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Arguments by number, the keywords behind those without a name.

    sources: where each input of the code is: (SLOT, argument), (CONSTANT, array), (WRENCH, its number in the dict), or
    (MOMENT, argument), a Python float for a vector of one number. options: arguments with the object they must be, or a
    string equal to it. out: the argument with the array to write into. wrench_slot: the argument with a dict that has
    exactly the `wrench_names`, in this order.
    """

    positional: int
    keywords: tuple[str, ...]
    sources: tuple[Source, ...]
    options: tuple[tuple[int, Any], ...] = ()
    out: int = -1
    wrench_slot: int = -1
    wrench_names: tuple[str, ...] = ()


def plain_patterns(inputs: int) -> tuple[Pattern, Pattern]:
    """The inputs in their order; the same with `out=`."""
    sources = tuple((SLOT, k) for k in range(inputs))
    return Pattern(inputs, (), sources), Pattern(inputs, ("out",), sources, out=inputs)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Data that machine code looks at in addition to types and shapes, and what it hands out.

    quaternions: the first entries of quaternions in the first argument; one that is zero is no rotation. moving:
    entries of the second argument that must not be zero. line: every judged number must be above it, where the result
    is (what is handed out, ..., what is judged). shape: the named tuple for what is a tuple otherwise.
    """

    quaternions: tuple[int, ...] = ()
    moving: tuple[int, ...] = ()
    line: float | None = None
    shape: Any = None

    def seen(self, structure: Structure) -> Structure:
        """The structure of what is handed out."""
        return structure if self.line is None else structure[2][0]


AS_IT_IS = Outcome()


def addresses(objects: Sequence[Any]) -> np.ndarray:
    """Addresses of objects; whoever keeps the array keeps them too."""
    return np.array([id(x) for x in objects] or [0], dtype=np.int64)


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
NEW_ARRAY = 93  # PyArray_New in NumPy's C interface, which keeps its places across versions
LEAF, TUPLE, DICT = range(3)


def is_thin(structure: Structure, shapes: Sequence[Shape]) -> bool:
    """True if the machine code can build this result itself."""
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
    """Steps by which a result is put together, members before what holds them: kind, members, class, keys."""
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
        table.enter(field, function_address(getattr(ctypes.pythonapi, function)))
    table.enter("dtype", id(real.dtype), real.dtype)
    table.enter("new_array", numpy_function(NEW_ARRAY))
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
