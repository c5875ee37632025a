"""Cases of a sweep: how inputs vary, how they are combined, and the outcome of each case."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, final
from zlib import crc32

import numpy as np

from kinpair.errors import InputError


class Drawn(Protocol):
    """An input of which values are drawn."""

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw a number of values (count,)."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """`count` values from `low` to `high`, evenly spaced, both ends among them."""

    low: float
    high: float
    count: int

    def values(self) -> np.ndarray:
        """Values of the grid (count,)."""
        return np.linspace(self.low, self.high, self.count)


@final
@dataclass(frozen=True, slots=True)
class Uniform:
    """Drawn between `low` and `high`, every value as likely."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw numbers (count,)."""
        return rng.uniform(self.low, self.high, count)


@final
@dataclass(frozen=True, slots=True)
class Normal:
    """Drawn about `mean` with a standard `deviation`."""

    mean: float
    deviation: float

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw numbers (count,)."""
        return rng.normal(self.mean, self.deviation, count)


@final
@dataclass(frozen=True, slots=True)
class LatinHypercube:
    """Drawn between `low` and `high`, one value in each of `count` equal parts, in random order.

    McKay, Beckman & Conover 1979: with several such inputs the cases cover each of them evenly.
    """

    low: float
    high: float

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw numbers (count,)."""
        u = (rng.permutation(count) + rng.random(count)) / count
        return self.low + (self.high - self.low) * u


Scalar: TypeAlias = float | int | str | bool
Row: TypeAlias = tuple[Scalar, ...]
MOST = 10_000_000  # cases: beyond that a sweep is taken for a mistake
DRAWN = (LatinHypercube, Uniform, Normal)


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """A row of inputs a case; `grid` has the names of the axes if every combination is there."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]
    grid: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Block:
    """Inputs that change together."""

    names: tuple[str, ...]
    rows: list[Row]


def cases_of(over: Mapping[Any, Any], samples: int | None = None, seed: int = 0) -> Cases:
    """Every combination of what is listed with each of the `samples` draws; a case that comes twice is one."""
    if not isinstance(over, Mapping) or not over:  # type: ignore[redundant-expr]
        raise InputError(f"over is {over!r}; give a dict: name of an input → its values, Grid, Uniform, ...")
    drawn = {_one(key): source for key, source in over.items() if isinstance(source, DRAWN)}
    counts = [_count(source) for source in over.values() if not isinstance(source, DRAWN)]
    _check_count(math.prod([*counts, samples if drawn and isinstance(samples, int) else 1]))
    listed = [_block(_names(key), source) for key, source in over.items() if not isinstance(source, DRAWN)]
    blocks = [*listed, *([_draws(drawn, samples, seed)] if drawn else [])]
    if samples is not None and not drawn:
        raise InputError(
            f"samples is {samples}, and nothing in over is drawn; leave it out, or give Uniform(...)"
        )
    _check_count(math.prod(len(block.rows) for block in blocks))
    names = tuple(name for block in blocks for name in block.names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"over has {twice!r} twice; give it once", input=twice)
    rows = dict.fromkeys(
        tuple(x for part in parts for x in part) for parts in product(*(b.rows for b in blocks))
    )
    crossed = not drawn and all(len(block.names) == 1 for block in blocks)
    return Cases(names, tuple(rows), names if crossed else ())


def _count(source: Any) -> int:
    """Number of values, if that can be known before they are looked at; else 1."""
    known = source.count if isinstance(source, Grid) else len(source) if hasattr(source, "__len__") else 1
    return known if isinstance(known, int) and known > 0 else 1  # type: ignore[redundant-expr]


def _check_count(count: int, more: str = "") -> None:
    if count > MOST:
        raise InputError(
            f"over would be {more or f'{count:g}'} cases; a sweep takes at most {MOST:g}: take fewer values, or draw "
            "some at random",
            cases=count,
        )


def _names(key: Any) -> tuple[str, ...]:
    """Read one name, or several that vary together: a tuple, or a text with commas."""
    parts = key.split(",") if isinstance(key, str) else list(key) if isinstance(key, tuple) else [key]
    if not all(isinstance(part, str) and part.strip() for part in parts):
        raise InputError(
            f"over has the key {key!r}; give the name of an input, or several with commas between"
        )
    return tuple(part.strip() for part in parts)


def _one(key: Any) -> str:
    name, *others = _names(key)
    if others:
        raise InputError(
            f"over[{key!r}] is drawn; give each of these inputs its own line: all are drawn together"
        )
    return name


def _block(names: tuple[str, ...], source: Any) -> Block:
    label = ", ".join(names)
    values = _grid(label, source) if isinstance(source, Grid) else source
    if isinstance(values, str | Mapping) or not hasattr(values, "__iter__"):
        raise InputError(
            f"over[{label!r}] is {source!r}; give a list of values, Grid, LatinHypercube, Uniform or Normal"
        )
    rows = [_row(label, len(names), value) for value in islice(values, MOST + 1)]
    _check_count(len(rows), f"more than {MOST:g}")
    if not rows:
        raise InputError(f"over[{label!r}] is empty; give at least one value", input=label)
    return Block(names, rows)


def _grid(label: str, source: Grid) -> Sequence[float]:
    if not isinstance(source.count, int) or source.count < 1:  # type: ignore[redundant-expr]
        raise InputError(f"over[{label!r}]: count is {source.count!r}; give a whole number above zero")
    return source.values().tolist()


def _row(label: str, count: int, value: Any) -> Row:
    parts = [value] if count == 1 else value
    if isinstance(parts, str) or not hasattr(parts, "__len__") or len(parts) != count:
        raise InputError(f"over[{label!r}] has {value!r}; give {count} values in each row")
    return tuple(scalar(label, x) for x in parts)


def scalar(label: str, value: Any) -> Scalar:
    """A plain number or text."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, np.ndarray) and plain.ndim == 0:
        plain = plain.item()
    if not isinstance(plain, (bool, int, float, str)) or (
        isinstance(plain, float) and not math.isfinite(plain)
    ):
        raise InputError(f"{label} has {value!r}; give finite numbers or texts", input=label)
    return plain


def _draws(drawn: Mapping[str, Drawn], samples: int | None, seed: int) -> Block:
    """Each input has a stream of its own, so that another input does not change its values."""
    if not isinstance(samples, int) or samples < 1:
        raise InputError(f"{', '.join(drawn)}: drawn at random; give samples=, how many times")
    for name, source in drawn.items():
        if not all(math.isfinite(x) for x in astuple(source)):  # type: ignore[call-overload]
            raise InputError(f"over[{name!r}] is {source}; give finite numbers", input=name)
    streams = {name: np.random.default_rng([seed, crc32(name.encode())]) for name in drawn}
    columns = [source.draw(streams[name], samples) for name, source in drawn.items()]
    return Block(tuple(drawn), list(zip(*(column.tolist() for column in columns), strict=True)))


Value: TypeAlias = float | list[float]


class StoppedError(Exception):
    """A case that came to no end, and why: all of the sentence is for the reader."""


class Outcome(NamedTuple):
    """Numbers, or vectors of numbers, by name; and why there are none, or not all of them."""

    values: Mapping[str, Value] = {}
    error: str = ""


def tried(call: Callable[[], Outcome]) -> Outcome:
    """Return what the call gives; what it raises becomes a sentence."""
    try:
        return call()
    except StoppedError as stopped:
        return Outcome({}, str(stopped))
    except (Exception, SystemExit) as problem:
        return Outcome({}, _sentence(problem))


def unsound(values: Mapping[str, Value], called: str) -> str:
    """Names of those of the numbers that a function returned that are not numbers; empty if all are."""
    for name, value in values.items():
        wrong = np.ravel(value)[~np.isfinite(np.ravel(value))]
        if len(wrong):
            return f"{called} returned {wrong[0]:g} {'in' if isinstance(value, list) else 'for'} {name!r}"
    return ""


def _sentence(problem: BaseException) -> str:
    kind = type(problem).__name__
    steps = traceback.extract_tb(problem.__traceback__)
    where = f" ({Path(steps[-1].filename).name}:{steps[-1].lineno})" if steps else ""
    return f"{kind}: {problem}{where}"


def numbers(result: Any, called: str, taken: Iterable[str] = ()) -> dict[str, Value]:
    """Read what a function returned: a dict of numbers and vectors, or one number, which is called like the
    function."""
    if result is None:
        raise InputError(f"{called} returned None; give a dict of numbers")
    table = result if isinstance(result, Mapping) else {called: result}
    values: dict[str, Value] = {}
    for name, value in table.items():
        if name in taken:
            raise InputError(
                f"{called} returned {name!r}, which is the name of an input; give it another", name=name
            )
        try:
            array = np.asarray(value, dtype=float) if value is not None else None
        except (TypeError, ValueError):
            array = None
        if not isinstance(name, str) or array is None or array.ndim > 1:
            raise InputError(
                f"{called} returned {name!r}: {value!r}; give numbers or vectors of numbers by name"
            )
        values[name] = array.tolist()
    return values
