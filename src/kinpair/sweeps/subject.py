"""Work of a sweep on a case, and the digests that identify a case and a study.

Digests: of a case by its inputs, of a study by everything that its numbers depend on.

Functions count by their code, defaults and closures, not by what they read elsewhere.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol, final

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions
from kinpair.runs.judgement import whole_runs
from kinpair.sweeps.cases import Cases, Outcome, Row, numbers, tried, unsound

PLACES = ("where",)  # fields that tell where a thing was written, not what it is


def fingerprint(*things: Any) -> str:
    """Hexadecimal digest of plain data, arrays, functions and mechanisms."""
    checksum = hashlib.blake2b(digest_size=16)
    for thing in things:
        for fact in _facts(thing):
            checksum.update(fact + b"\0")
    return checksum.hexdigest()


def case_key(study: str, names: Sequence[str], row: Sequence[Any]) -> str:
    """Key of one case: the study and its inputs, in any order."""
    inputs = sorted(zip(names, row, strict=True))
    return hashlib.blake2b(f"{study} {inputs!r}".encode(), digest_size=16).hexdigest()


def _facts(x: Any, seen: frozenset[int] = frozenset()) -> Iterator[bytes]:
    """Facts about a thing inside those `seen`: what holds itself is described once."""
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
    """Values that a function keeps of the functions around it; a name that has no value yet is skipped."""
    values: list[Any] = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):
            values.append(cell.cell_contents)
    return values


def _parts(x: Any) -> list[Any] | None:
    """Parts that a thing consists of; None if it is described by its text."""
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


class Subject(Protocol):
    """Subject that is computed for each case; it travels to other processes."""

    @property
    def name(self) -> str:
        """Name for messages and bars."""
        ...

    @property
    def fingerprint(self) -> str:
        """Two subjects with the same one give the same numbers."""
        ...

    @property
    def own(self) -> tuple[Any, ...]:
        """Functions and objects of the user in it."""
        ...

    def checked(self, cases: Cases) -> Cases:
        """The cases with values as they are computed; InputError for an unknown name or a wrong value."""
        ...

    def units(self, names: Sequence[str]) -> Mapping[str, str]:
        """Units of these inputs and of the columns, as far as known."""
        ...

    def run(self, names: Sequence[str], rows: Sequence[Row]) -> list[Outcome]:
        """Run these cases; none stops the others."""
        ...


@final
class Function:
    """A Python function case(**inputs) → a number, or a dict of numbers and vectors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of its code."""
        return fingerprint(self.name, self.function)

    @property
    def own(self) -> tuple[Any, ...]:
        """Return the function itself."""
        return (self.function,)

    def checked(self, cases: Cases) -> Cases:
        """Every input is an argument, and every argument without a default is an input."""
        known = inspect.signature(self.function).parameters.values()
        open_ended = any(p.kind is p.VAR_KEYWORD for p in known)
        arguments = [p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        names = [p.name for p in arguments]
        for name in cases.names:
            if name not in names and not open_ended:
                raise InputError(
                    f"{self.name} has no argument {name!r}; {nearest(name, names)}Arguments: {listed(names)}",
                    input=name,
                )
        for p in arguments:
            if p.default is p.empty and p.name not in cases.names:
                raise InputError(f"{self.name} needs {p.name!r}, and over does not have it", input=p.name)
        return cases

    def units(self, names: Sequence[str]) -> Mapping[str, str]:
        """Units of the results: unknown."""
        return {}

    def run(self, names: Sequence[str], rows: Sequence[Row]) -> list[Outcome]:
        """Make one call for each case."""
        return [tried(lambda row=row: self._one(dict(zip(names, row, strict=True)))) for row in rows]

    def _one(self, inputs: dict[str, Any]) -> Outcome:
        with whole_runs():
            result = self.function(**inputs)
        values = numbers(result, self.name, inputs)
        return Outcome(values, unsound(values, self.name))
