"""Digests: of a case by its inputs, of a study by everything that its numbers depend on.

Functions count by their code, defaults and closures, not by what they read elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions

PLACES = ("where",)  # fields that tell where a thing was written, not what it is


def fingerprint(*things: Any) -> str:
    """Hexadecimal digest of plain data, arrays, functions and mechanisms."""
    found = hashlib.blake2b(digest_size=16)
    for thing in things:
        for fact in _facts(thing):
            found.update(fact + b"\0")
    return found.hexdigest()


def case_key(study: str, names: Sequence[str], row: Sequence[Any]) -> str:
    """Of one case: the study and its inputs, in any order."""
    inputs = sorted(zip(names, row, strict=True))
    return hashlib.blake2b(f"{study} {inputs!r}".encode(), digest_size=16).hexdigest()


def _facts(x: Any) -> Iterator[bytes]:
    if isinstance(x, Mechanism):
        model = x.model
        yield from _facts(model.description) if has_functions(model) else (digest(model).encode(),)
    elif isinstance(x, np.ndarray):
        yield f"{x.dtype.str}{x.shape}".encode()
        yield from _facts(x.tolist()) if x.dtype == object else (np.ascontiguousarray(x).tobytes(),)
    elif isinstance(x, Mapping):
        yield b"{"
        for key in sorted(x, key=repr):
            yield from _facts(key)
            yield from _facts(x[key])
        yield b"}"
    elif isinstance(x, (list, tuple)):
        yield b"["
        for part in x:
            yield from _facts(part)
        yield b"]"
    elif isinstance(x, FunctionType):
        yield from _code(x.__code__)
        yield from _facts([x.__defaults__, x.__kwdefaults__ or {}, vars(x)])
        yield from _facts([cell.cell_contents for cell in x.__closure__ or ()])
    elif isinstance(x, MethodType):
        yield from _facts([x.__func__, x.__self__])
    elif isinstance(x, partial):
        yield from _facts([x.func, x.args, x.keywords])
    elif is_dataclass(x) and not isinstance(x, type):
        yield type(x).__qualname__.encode()
        yield from _facts({f.name: getattr(x, f.name) for f in fields(x) if f.name not in PLACES})
    elif hasattr(x, "__dict__") and not isinstance(x, type):
        yield f"{type(x).__module__}.{type(x).__qualname__}".encode()
        yield from _facts(vars(x))
    else:
        yield repr(x).encode()


def _code(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames)).encode()
    for constant in code.co_consts:
        yield from _code(constant) if isinstance(constant, CodeType) else (repr(constant).encode(),)
