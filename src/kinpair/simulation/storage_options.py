"""What a simulation was given, in a group of an HDF5 file: numbers as datasets, words as attributes.

A function cannot be kept; its name is, so that it can be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np


@dataclass(frozen=True, slots=True)
class Missing:
    """A function that the file does not hold."""

    name: str


def put(group: h5py.Group, given: Mapping[str, Any]) -> None:
    """Everything given, but what is None."""
    for key, value in given.items():
        if value is not None:
            _put(group, key, value)


def _put(group: h5py.Group, key: str, value: Any) -> None:
    if callable(value) or isinstance(value, Missing):
        group.create_group(key).attrs["function"] = _name(value)
    elif isinstance(value, Mapping):
        inner = group.create_group(key)
        inner.attrs["names"] = [str(name) for name in value] or h5py.Empty("S1")
        put(inner, {str(k): x for k, x in enumerate(value.values())})
    elif isinstance(value, tuple) and any(np.ndim(x) != np.ndim(value[0]) for x in value):
        inner = group.create_group(key)
        inner.attrs["several"] = len(value)
        put(inner, {str(k): x for k, x in enumerate(value)})
    elif np.ndim(value) == 0:
        group.attrs[key] = value
    else:
        group.create_dataset(key, data=np.asarray(value, dtype=float))


def _name(function: Any) -> str:
    if isinstance(function, Missing):
        return function.name
    return getattr(function, "__qualname__", type(function).__qualname__)


def get(group: h5py.Group) -> dict[str, Any]:
    """What `put` was given; `Missing` where there was a function."""
    words = {key: _plain(value) for key, value in group.attrs.items() if key not in ("names", "several")}
    return words | {key: _get(value) for key, value in group.items()}


def _get(value: Any) -> Any:
    if isinstance(value, h5py.Dataset):
        return value[()]
    if "function" in value.attrs:
        return Missing(value.attrs["function"])
    inner = get(value)
    if "several" in value.attrs:
        return tuple(inner[str(k)] for k in range(int(value.attrs["several"])))
    names = value.attrs["names"]
    return {} if isinstance(names, h5py.Empty) else {name: inner[str(k)] for k, name in enumerate(names)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
