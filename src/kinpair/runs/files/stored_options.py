"""What a simulation was given, in a group of an HDF5 file: numbers as datasets, words as attributes.

A function cannot be kept; its name is, so that it can be asked for. Of events, which are functions, it is a dict by
their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import h5py
import numpy as np

from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limits
from kinpair.simulation.given import Missing


def put(group: h5py.Group, options: Mapping[str, Any]) -> None:
    """Everything given, but what is None."""
    for key, value in options.items():
        if value is not None:
            _put(group, key, value)


def _put(group: h5py.Group, key: str, value: Any) -> None:
    if isinstance(value, Limits):
        put(group.create_group(key), {"limits": True, **asdict(value)})
    elif isinstance(value, Event) or (isinstance(value, list | tuple) and _are_events(value)):
        every: Any = (value,) if isinstance(value, Event) else value
        _put(group, key, {event.name: event.function for event in every})
    elif callable(value) or isinstance(value, Missing):
        kept = value if isinstance(value, Missing) else _missing(value)
        about = {"function": kept.name, "called": kept.called, "sample_time": kept.sample_time}
        group.create_group(key).attrs.update({name: x for name, x in about.items() if x is not None})
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


def _are_events(value: Any) -> bool:
    return all(isinstance(x, Event) for x in value) and bool(value)


def _missing(function: Any) -> Missing:
    own = getattr(function, "__qualname__", None)
    every = getattr(function, "sample_time", None)
    return Missing(own or type(function).__qualname__, own is None, None if every is None else float(every))


def get(group: h5py.Group) -> dict[str, Any]:
    """What `put` was given; `Missing` where there was a function."""
    words = {key: _plain(value) for key, value in group.attrs.items() if key not in ("names", "several")}
    return words | {key: _get(value) for key, value in group.items()}


def _get(value: Any) -> Any:
    if isinstance(value, h5py.Dataset):
        return value[()]
    if "function" in value.attrs:
        facts = (_plain(value.attrs.get(name)) for name in ("function", "called", "sample_time"))
        return Missing(*facts)
    inner = get(value)
    if inner.pop("limits", False):
        return Limits(**inner)
    if "several" in value.attrs:
        return tuple(inner[str(k)] for k in range(int(value.attrs["several"])))
    names = value.attrs["names"]
    return {} if isinstance(names, h5py.Empty) else {name: inner[str(k)] for k, name in enumerate(names)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
