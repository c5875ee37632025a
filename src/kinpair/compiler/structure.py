"""How results are nested: taking tuples, lists, dicts and named tuples of arrays apart and together.

A structure is plain data (it goes into the cache as JSON): a leaf is its name, anything else
[kind, keys, members].
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, TypeAlias

from kinpair.errors import TraceError

Structure: TypeAlias = Any
SINGLE: Structure = "result"
PARTS = {"tuple": tuple, "list": list}


def flatten(value: Any, name: str = SINGLE) -> tuple[Structure, list[tuple[str, Any]]]:
    """The structure of a result, and its leaves with names such as `pose.R` or `1`."""
    leaves: list[tuple[str, Any]] = []
    return _take_apart(value, "" if name == SINGLE else name, leaves), leaves


def _take_apart(value: Any, path: str, leaves: list[tuple[str, Any]]) -> Structure:
    kind, keys, members = _open(value)
    if kind == "leaf":
        if value is None or isinstance(value, str):
            raise TraceError(
                f"result {path or SINGLE!r} is {value!r}; a traced function returns numbers or arrays"
            )
        leaves.append((path or SINGLE, value))
        return path or SINGLE
    joined = [
        _take_apart(v, f"{path}.{k}" if path else str(k), leaves) for k, v in zip(keys, members, strict=True)
    ]
    return [kind, keys, joined]


def _open(value: Any) -> tuple[str, list[Any], list[Any]]:
    if isinstance(value, dict):
        return "dict", list(value), list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind = type(value)
        return f"{kind.__module__}:{kind.__qualname__}", list(kind._fields), list(value)  # type: ignore[attr-defined]
    if isinstance(value, tuple | list):
        return type(value).__name__, list(range(len(value))), list(value)
    return "leaf", [], []


def rebuild(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The result as the function returned it, with `leaves` in place, in order."""
    if isinstance(structure, str):
        return next(leaves)
    kind, keys, members = structure
    values = [rebuild(member, leaves) for member in members]
    if kind == "dict":
        return dict(zip(keys, values, strict=True))
    if kind in PARTS:
        return PARTS[kind](values)
    return named_tuple(kind)(*values)


def named_tuple(kind: str) -> Any:
    """The class `module:Name`, if it is a named tuple that can be found again."""
    module, _, path = kind.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    if not (isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")):
        raise TypeError(f"{kind} is not a named tuple")
    return value
