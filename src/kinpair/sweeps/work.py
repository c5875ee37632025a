"""Work of a sweep: cases handed out in chunks, what comes back, and the digests that identify cases and a study.

When a process dies, every case it may have had in hand is a suspect. Suspects are computed one at a time with nothing
next to them, so that a second death names its case: that one is recorded as failed, and the rest goes on.

A subject as bytes, for other processes: functions of the user's own program travel with their code. The digest of a
case is that of its inputs, the digest of a study that of everything its numbers depend on; functions count by their
code, defaults and closures, not by what they read elsewhere.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import re
import sys
import sysconfig
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, suppress
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol, TypeAlias, final

import numpy as np

from kinpair.compiler.background import waiting
from kinpair.description.fields import counted
from kinpair.errors import ClusterWarning, InputError, KinpairError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions
from kinpair.runs.judgement import whole_runs
from kinpair.sweeps.cases import Cases, Outcome, Row, numbers, tried, unsound
from kinpair.sweeps.worker_pool import WorkerPool

PLACES = ("where",)  # fields that tell where a thing was written, not what it is
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")
CHUNK = 0.2  # seconds of work in a chunk
LOOK = 5.0  # seconds without an answer before one looks whether there are workers
LEAP = 20  # how much larger the next chunk may be
AHEAD = 2  # chunks for each worker, so that none waits for the driver
TRIES = 2  # deaths of a process that a case alone in it may cause
DIED = "the process that computed it ended without an answer; a crash, os._exit, or out of memory"
Answer: TypeAlias = tuple[list[int], list[Outcome]]


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


def packed(subject: Subject) -> bytes:
    """Pack with the code of functions from modules that are not installed, since a worker elsewhere has no such
    files."""
    import cloudpickle

    with ExitStack() as stack:
        for module in set(_loose_modules(subject.own)):
            cloudpickle.register_pickle_by_value(module)
            stack.callback(cloudpickle.unregister_pickle_by_value, module)
        try:
            return cloudpickle.dumps(subject)
        except Exception as reason:
            raise InputError(
                f"{subject.name} cannot be sent to another process: {reason}; workers=0 computes in this one"
            ) from None


def _loose_modules(things: tuple[Any, ...]) -> Iterator[ModuleType]:
    installed = [Path(sysconfig.get_path(name)) for name in INSTALLED]
    for thing in things:
        module = sys.modules.get(getattr(thing, "__module__", "") or "")
        file = getattr(module, "__file__", None)
        if module is None or file is None or module.__name__.startswith(("kinpair.", "__main__")):
            continue
        if not any(folder in Path(file).parents for folder in installed):
            yield module


@lru_cache(maxsize=4)
def unpacked(parcel: bytes) -> Subject:
    """Kept, so that what it has compiled serves all chunks."""
    return pickle.loads(parcel)


def answers(pool: WorkerPool, subject: Subject, cases: Cases, wanted: Sequence[int]) -> Iterator[Answer]:
    """Numbers of cases and their outcomes, as they come."""
    payload = packed(subject) if pool.distant else subject
    queue = Queue(wanted, pool.size)
    flying: dict[Future[Any], list[int]] = {}
    executor = pool.start()
    try:
        while queue or flying:
            if queue.broken and not flying:
                pool.stop(executor)
                executor = pool.start()
                queue.broken = False
            while chunk := queue.next(len(flying)):
                rows = [cases.rows[i] for i in chunk]
                try:
                    flying[executor.submit(work, payload, cases.names, rows)] = chunk
                except pool.died:  # before it was begun
                    queue.lost(chunk)
            for future in _finished(flying, pool):
                chunk = flying.pop(future)
                if result := _result(future, pool):
                    outcomes, took = result
                    queue.learn(len(chunk), took)
                    yield chunk, outcomes
                elif culprit := queue.lost(chunk):
                    yield [culprit[0]], [Outcome({}, DIED)]
    finally:
        pool.stop(executor)


def _finished(flying: Mapping[Future[Any], list[int]], pool: WorkerPool) -> set[Future[Any]]:
    """The first that are finished; while nobody is there who computes, a warning, and patience."""
    warned = False
    while not (done := wait(flying, LOOK, FIRST_COMPLETED).done) and flying:
        idle = pool.idle()
        if idle and not warned:
            handed = counted(sum(map(len, flying.values())), "case")
            warnings.warn(
                f"{pool.name}: no workers are left; {handed} handed out, waiting for some to come: dask worker "
                "ADDRESS. Ctrl-C ends the sweep, and what is finished is kept",
                ClusterWarning,
                stacklevel=2,
            )
        warned = idle
    return done


def _result(future: Future[Any], pool: WorkerPool) -> tuple[list[Outcome], float] | None:
    """The answer, or None if the process died."""
    try:
        return future.result()
    except pool.died:
        return None
    except pool.unreachable as reason:
        why = str(reason) or "the connection was closed"
        raise KinpairError(
            f"{pool.name}: the scheduler is gone ({why}); resume the sweep there when it is back, or elsewhere: only "
            "what is missing is computed"
        ) from None


class Queue:
    """Cases not handed out yet, and how many of them go into a chunk."""

    def __init__(self, wanted: Sequence[int], workers: int) -> None:
        self._waiting = deque(wanted)
        self._suspects: deque[int] = deque()
        self._deaths: Counter[int] = Counter()
        self._limit = AHEAD * workers
        self._size = 1.0
        self._trial = False  # is a suspect out, alone?
        self.broken = False  # did a process die since the executor was started?

    def __bool__(self) -> bool:
        return bool(self._waiting or self._suspects)

    def next(self, flying: int) -> list[int]:
        """Choose what to hand out now, while a number of chunks are out; nothing: wait."""
        if self.broken or self._trial or flying >= self._limit:
            return []
        if self._suspects:
            self._trial = not flying
            return [] if flying else [self._suspects.popleft()]
        share = -(-len(self._waiting) // self._limit)
        size = max(1, min(int(self._size), share))
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def learn(self, count: int, took: float) -> None:
        """Learn how long a number of cases took."""
        self._trial = False
        self._size = min(count * CHUNK / max(took, 1e-6), LEAP * count)

    def lost(self, chunk: Sequence[int]) -> list[int]:
        """A process died over these; the case that is to blame, if that is clear by now."""
        self.broken = True
        if self._trial:
            self._trial = False
            self._deaths.update(chunk)
            if self._deaths[chunk[0]] >= TRIES:
                return list(chunk)
        self._suspects.extend(chunk)
        return []


@waiting()
def work(payload: Any, names: Sequence[str], rows: Sequence[Row]) -> tuple[list[Outcome], float]:
    """Compute a chunk of cases, and how long they took [s]."""
    subject: Subject = unpacked(payload) if isinstance(payload, bytes) else payload
    start = perf_counter()
    return subject.run(names, rows), perf_counter() - start
