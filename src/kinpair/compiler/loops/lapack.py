"""Linear solves of any size by the LAPACK that SciPy brings, callable from loop functions.

In Python these functions call SciPy. In compiled code they call the same routines through external symbols, whose
addresses are those of SciPy's `cython_lapack`. Matrices are stored by rows, so LAPACK factors the transpose.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import llvmlite.ir as ir
import numpy as np

from kinpair.compiler.loops.kinds import (
    INTEGER,
    INTEGERS,
    MATRIX,
    POINTER,
    VECTOR,
    WORD,
    Integers,
    Matrix,
    Signature,
    Vector,
)
from kinpair.errors import MissingExtraError

HALF, BYTE = ir.IntType(32), ir.IntType(8)
NUMBER = "__pyx_t_5scipy_6linalg_13cython_lapack_d *"


def lu_factor(A: Matrix, pivots: Integers) -> int:
    """Factor A (n, n) in place, A = P L U by rows; 0, or the number of a pivot that is zero.

    `pivots` (n,) is for `lu_solve`; its entries have no meaning outside.
    """
    factors, order, info = _python("dgetrf")(A.T)
    A[:] = factors.T
    pivots.view(np.int32)[: len(order)] = order + 1
    return int(info)


def lu_solve(A: Matrix, pivots: Integers, b: Vector) -> int:
    """Solve A x = b with the factors of `lu_factor`; x (n,) replaces b."""
    x, info = _python("dgetrs")(A.T, pivots.view(np.int32)[: len(b)] - 1, b, trans=1)
    b[:] = x
    return int(info)


def _python(name: str) -> Any:
    """Return a routine of LAPACK as SciPy calls it."""
    return getattr(import_module("scipy.linalg.lapack"), name)


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine of LAPACK: its name, the C types of its arguments, and the loop function that calls it."""

    name: str
    c_types: str
    signature: Signature
    write: Callable[[ir.IRBuilder, Any, list[Any]], Any]


def _factor(builder: ir.IRBuilder, routine: Any, arguments: list[Any]) -> Any:
    """Write a call of dgetrf(m, n, A, lda, pivots, info)."""
    A, rows, _, stride, pivots, _ = arguments
    n, lda, info = (_by_address(builder, x) for x in (rows, stride, ir.Constant(WORD, 0)))
    builder.call(routine, [n, n, A, lda, pivots, info])
    return _widened(builder, info)


def _solve(builder: ir.IRBuilder, routine: Any, arguments: list[Any]) -> Any:
    """Write a call of dgetrs(trans, n, nrhs, A, lda, pivots, b, ldb, info)."""
    A, rows, _, stride, pivots, _, b, _ = arguments
    n, lda, one, info = (
        _by_address(builder, x) for x in (rows, stride, ir.Constant(WORD, 1), ir.Constant(WORD, 0))
    )
    transposed = builder.alloca(BYTE)
    builder.store(ir.Constant(BYTE, ord("T")), transposed)
    builder.call(routine, [transposed, n, one, A, lda, pivots, b, n, info])
    return _widened(builder, info)


def _by_address(builder: ir.IRBuilder, value: Any) -> Any:
    """Write a whole number as LAPACK reads it: 32 bits in memory."""
    slot = builder.alloca(HALF)
    builder.store(builder.trunc(value, HALF), slot)
    return slot


def _widened(builder: ir.IRBuilder, slot: Any) -> Any:
    return builder.sext(builder.load(slot, typ=HALF), WORD)


_SQUARE = (MATRIX, INTEGERS)
ROUTINES: Mapping[Callable[..., Any], Routine] = {
    lu_factor: Routine(
        "dgetrf",
        f"void (int *, int *, {NUMBER}, int *, int *, int *)",
        Signature(_SQUARE, (INTEGER,)),
        _factor,
    ),
    lu_solve: Routine(
        "dgetrs",
        f"void (char *, int *, int *, {NUMBER}, int *, int *, {NUMBER}, int *, int *)",
        Signature((*_SQUARE, VECTOR), (INTEGER,)),
        _solve,
    ),
}
SYMBOLS = {f"kinpair.{routine.name}": routine for routine in ROUTINES.values()}


def written(module: ir.Module, function: Callable[..., Any]) -> tuple[ir.Function, Signature]:
    """Write the loop function that calls a routine, in a module that does not have it yet."""
    routine = ROUTINES[function]
    count = routine.c_types.count(",") + 1
    external = ir.Function(
        module, ir.FunctionType(ir.VoidType(), [POINTER] * count), f"kinpair.{routine.name}"
    )
    own = ir.Function(module, routine.signature.type, function.__name__)
    own.linkage = "internal"
    builder = ir.IRBuilder(own.append_basic_block())
    builder.ret(routine.write(builder, external, list(own.args)))
    return own, routine.signature


@cache
def address(symbol: str) -> int:
    """Return the address of a routine in this process; its C types must be those expected."""
    routine = SYMBOLS[symbol]
    try:
        capsule = import_module("scipy.linalg.cython_lapack").__pyx_capi__[routine.name]
    except (ImportError, KeyError) as problem:
        raise MissingExtraError(
            f"SciPy has no LAPACK routine {routine.name}; install scipy>=1.11"
        ) from problem
    api = ctypes.pythonapi
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    found = api.PyCapsule_GetPointer(capsule, routine.c_types.encode())
    return int(found)
