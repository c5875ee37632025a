"""Objects of Python and NumPy in memory: where machine code finds what it reads of them."""

from __future__ import annotations

import ctypes
import sys
import weakref
from functools import cache
from typing import Any

import numpy as np

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


def function_address(function: Any) -> int:
    """Address of the machine code of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def numpy_function(index: int) -> int:
    """Address of a function of NumPy, by its place in NumPy's C interface."""
    core: Any = (
        sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    )
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(get(core._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return int(table[index] or 0)


@cache
def thin_calls_work() -> bool:
    """True if objects are laid out in memory as this file says; if not, calls take the slower path."""
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
