"""Entries of a state by name: each of its own, or all of a joint of several degrees as a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.model.model import Model


class Words(NamedTuple):
    """Words of messages for an argument, of an unknown name in it, and of the names there are."""

    value: str
    unknown: str
    names: str


def words_of(argument: str) -> Words:
    """Words of an argument such as q or tau."""
    return Words(f"{argument}: {{name}}", f"{argument} has no entry {{name!r}}", "Entries")


INPUTS = Words("input {name!r}", "no rate {name!r}", "Rates")


def spans_of(model: Model, coordinates: bool) -> dict[str, slice]:
    """Places of each name in q, or in the rates."""
    names, spans = (model.q_names, model.q_span) if coordinates else (model.v_names, model.v_span)
    joints = {model.joint_names[i]: slice(spans[i].start, spans[i].stop) for i in model.moving}
    return joints | {name: slice(k, k + 1) for k, name in enumerate(names)}


def filled(
    model: Model, words: Words, stated: Mapping[str, Any], start: np.ndarray, *, coordinates: bool = False
) -> tuple[np.ndarray, list[int]]:
    """The start (nq,) or (nv,) with the given entries in it, and which these are.

    Where the start has a batch in front, entries may have it too."""
    spans, x = spans_of(model, coordinates), np.array(start, dtype=float)
    by: dict[int, str] = {}
    for name, value in stated.items():
        if name not in spans:
            known = model.q_names if coordinates else model.v_names
            raise InputError(
                f"{model.name}: {words.unknown.format(name=name)}; {nearest(str(name), spans)}"
                f"{words.names}: {listed(known)}",
                entry=name,
            )
        places = range(spans[name].start, spans[name].stop)
        what = f"{model.name}: {words.value.format(name=name)}"
        x[..., spans[name]] = _numbers(what, value, len(places), len(x) if x.ndim == 2 else None)
        if twice := [by[k] for k in places if k in by]:
            raise InputError(
                f"{model.name}: {words.value.format(name=name)} is given twice, also by {twice[0]}",
                entry=name,
            )
        by |= dict.fromkeys(places, name)
    return x, sorted(by)


def batch_of(model: Model, stated: Mapping[str, Any], *, coordinates: bool = False) -> int | None:
    """Number of states in arrays and lists by name; None where they are of one state."""
    spans = spans_of(model, coordinates)
    for name, value in stated.items():
        if name in spans and isinstance(value, np.ndarray | list | tuple):
            size, shape = spans[name].stop - spans[name].start, _array(value).shape
            if len(shape) == 2 or (size == 1 and len(shape) == 1 and shape != (1,)):
                return shape[0]
    return None


def _array(value: Any) -> np.ndarray:
    """The value as an array; of what has no shape, one without numbers."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.array(None)


def _numbers(what: str, value: Any, size: int, batch: int | None) -> np.ndarray:
    """Check one finite number, or as many as there are entries; or that for every state of a batch."""
    x = _array(value)
    fits = x.shape == (size,) if size > 1 else x.size == 1 and x.ndim <= 1
    if batch is not None and (x.shape == (batch, size) or (size == 1 and x.shape == (batch,))):
        x, fits = x.reshape(batch, size), True
    if not (fits and x.dtype.kind in "fiu" and np.isfinite(x).all()):
        wanted = "a finite number" if size == 1 else f"{size} finite numbers"
        wanted += "" if batch is None else f", or an array of them for {batch} states"
        raise InputError(f"{what} is {value!r}; give {wanted}")
    return x
