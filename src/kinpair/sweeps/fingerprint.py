"""Digests: of a case by its inputs, of a study by everything that its numbers depend on.

Functions count by their code, defaults and closures, not by what they read elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions

PLACES = ("where",)  # fields that tell where a thing was written, not what it is


def fingerprint(*things: Any) -> str:
    """Hexadecimal digest of plain data, arrays, functions and mechanisms."""
    checksum = hashlib.blake2b(digest_size=16)
    for thing in things:
        for fact in _facts(thing):
            checksum.update(fact + b"\0")
    return checksum.hexdigest()


def case_key(study: str, names: Sequence[str], row: Sequence[Any]) -> str:
    """Of one case: the study and its inputs, in any order."""
    inputs = sorted(zip(names, row, strict=True))
    return hashlib.blake2b(f"{study} {inputs!r}".encode(), digest_size=16).hexdigest()


def _facts(x: Any, seen: frozenset[int] = frozenset()) -> Iterator[bytes]:
    """Of a thing inside those `seen`: what holds itself is told once."""
    if id(x) in seen:
        yield b"again"
        return
    inner = seen | {id(x)}
    if isinstance(x, Mechanism):
        plain = not has_functions(x.model)
        yield from (digest(x.model).encode(),) if plain else _facts(x.model.description, inner)
    elif isinstance(x, np.ndarray) and x.dtype != object:
        yield f"{x.dtype.str}{x.shape}".encode()
        yield np.ascontiguousarray(x).tobytes()
    elif isinstance(x, FunctionType):
        yield from _code(x.__code__)
        for part in (x.__defaults__, x.__kwdefaults__, vars(x), _contents(x)):
            yield from _facts(part, inner)
    elif isinstance(x, Mapping):
        for key in sorted(x, key=repr):
            yield repr(key).encode()
            yield from _facts(x[key], inner)
    elif (parts := _parts(x)) is not None:
        yield f"{type(x).__qualname__} {len(parts)}".encode()
        for part in parts:
            yield from _facts(part, inner)
    else:
        yield _ADDRESS.sub("", repr(x)).encode()


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _contents(function: FunctionType) -> list[Any]:
    """What a function holds of the functions around it; a name that has no value yet is skipped."""
    values: list[Any] = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):
            values.append(cell.cell_contents)
    return values


def _parts(x: Any) -> list[Any] | None:
    """What a thing consists of; None if it is told by its text."""
    if isinstance(x, (list, tuple)):
        return [*x]
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, (type, ModuleType)):
        return None
    if is_dataclass(x):
        return [{f.name: getattr(x, f.name) for f in fields(x) if f.name not in PLACES}]
    return [vars(x)] if hasattr(x, "__dict__") else None


def _code(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames)).encode()
    for constant in code.co_consts:
        yield from _code(constant) if isinstance(constant, CodeType) else (repr(constant).encode(),)
