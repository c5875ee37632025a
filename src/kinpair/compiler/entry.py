"""The thin call: a function in machine code (entry.ll) that Python calls directly.

    enter(self, args, nargs, kwnames)        CPython's METH_FASTCALL | METH_KEYWORDS

It looks for a pattern that the call fits and then at the arrays: exactly ndarray, the right dtype, axes, shape,
C-contiguous and aligned, or lists and tuples of numbers. If all is as usual it makes the results (or takes the array of
`out=`), computes into them (a batch without the interpreter lock), puts them into their tuples, named tuples and
dicts and returns them; whatever is unusual (other keywords, overlaps, mistakes, results that are not sound) goes to a
slower function that handles or explains it.
Creating and freeing an array takes longer than the dynamics of a small arm, and a batch waits for new pages of memory.
So a table keeps the last two arrays it returned for each result, unless they are huge, and reuses one when its own
reference is the only one left, as `zip` does with its tuple: no name, no view, no buffer, no weak reference, and
neither shape nor flags changed.
`self` is an array of tables, one for each pattern, of addresses and sizes: one piece of code serves all kernels.
"""

from __future__ import annotations

import ctypes
import inspect
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinpair.compiler.background import building
from kinpair.compiler.cache import Store
from kinpair.compiler.entry_table import FIELDS, PLACES, Table
from kinpair.compiler.jit import Loaded, object_code
from kinpair.compiler.python_objects import HEAD, MEMBERS, NUMBERS, function_address

MOST_PATTERNS = 64
MOST_KEPT = 2**23  # numbers of a result that is kept for reuse: 64 MiB of doubles
FIRST = 3  # of the tables in `self`: before them their count, the slower function, and how it is called


class _Method(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Tables(np.ndarray):
    """Tables of the built-in function; patterns may be added at any time."""

    keeps: dict[Any, Any]

    def __reduce__(self) -> Any:
        """Addresses do not travel: where the call is copied or pickled, the slower function goes in its place."""
        return _standing_in, (self.keeps["name"], self.keeps["fallback"])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    @property
    def full(self) -> bool:
        """True if there is no room for another pattern."""
        return int(self[0]) == MOST_PATTERNS

    def clear(self) -> None:
        """Forget all patterns."""
        self[0] = 0

    def add(self, table: Table) -> None:
        """Add a pattern, tried after the others."""
        count = int(self[0])
        self.keeps[count] = table
        self[FIRST + count] = table.ctypes.data
        self[0] = count + 1


def _standing_in(name: str, fallback: Any) -> Any:
    """Make an object whose attribute `name` is the function."""
    return SimpleNamespace(**{name: fallback})


def _documented(name: str, fallback: Any) -> bytes:
    """Documentation that `help` shows: the parameters and the words of the slower function."""
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
    vectorcall = function_address(ctypes.pythonapi.PyObject_Vectorcall)
    tables[1], tables[2] = id(fallback), vectorcall
    fastcall_keywords = 0x0080 | 0x0002
    method = _Method(name.encode(), load_entry(store).address, fastcall_keywords, _documented(name, fallback))
    tables.keeps = {"method": method, "name": name, "fallback": fallback}
    return _built_in(tables), tables


def bound_call(name: str, run: int, arguments: tuple[int, int], store: Store | None) -> Any:
    """A built-in function of Python without arguments: it calls the machine code at `run` with two addresses, which
    are to be kept alive. Other threads wait meanwhile."""
    numbers = [run, *arguments, function_address(ctypes.pythonapi.Py_IncRef), id(None)]
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
    text = _text() if name == "enter" else BOUND
    return store.code(text, partial(object_code, text)) if store else object_code(text)


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
    numbers = NUMBERS | {"most_kept": MOST_KEPT}
    return re.sub(r"\{(\w+)\}", lambda found: str(numbers[found[1]]), text)


def _field(found: re.Match[str]) -> str:
    value, name = found.groups()
    return _loaded(value, "i64", "%call", PLACES[name], FIELDS[name])


def _member(found: re.Match[str]) -> str:
    value, name, owner = found.groups()
    return _loaded(value, "i8", owner, *MEMBERS[name])


def _loaded(value: str, unit: str, owner: str, place: int, kind: str) -> str:
    at = f"  {value}.at = getelementptr {unit}, ptr {owner}, i64 {place}"
    return f"{at}\n  {value} = load {kind}, ptr {value}.at"
