"""Arguments of the functions of formulations that a user calls by themselves: a Model, and vectors of its sizes.

Only shapes are looked at: entries may be floats, symbols or columns of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.errors import InputError, listed
from kinpair.model.model import Model


def checked(model: Any, **vectors: Any) -> list[Vector]:
    """The vectors as arrays: `q` (nq,), all others (nv,); refused by name where model or a vector is something else."""
    check_model(model)
    names = {name: model.q_names if name == "q" else model.v_names for name in vectors}
    return [vector(model.name, name, x, names[name]) for name, x in vectors.items()]


def check_model(model: Any) -> None:
    """A Model, not the mechanism around it."""
    if not isinstance(model, Model):
        raise InputError(f"model is {type(model).__name__}; give the `model` of a mechanism")


def vector(owner: str, name: str, x: Any, entries: Sequence[str]) -> Vector:
    """The vector of these entries."""
    values = array_of(owner, name, x)
    if values.shape != (len(entries),):
        raise InputError(
            f"{owner}: {name} has shape {values.shape}; expected ({len(entries)},): {listed(entries, 12)}",
            argument=name,
            shape=values.shape,
        )
    return values


def array_of(owner: str, name: str, x: Any) -> np.ndarray:
    """The value as an array of numbers or symbols."""
    try:
        values = np.asarray(x)
    except ValueError:  # rows of different lengths
        values = np.array("")
    if values.dtype.kind not in "fiubcO" or any(y is None or isinstance(y, str) for y in values.flat):
        raise InputError(
            f"{owner}: {name} is not an array of numbers (it is {type(x).__name__})", argument=name
        )
    return values


def check_wrenches(model: Model, w_ext: Sequence[Any]) -> None:
    """A wrench for every body, the ground too."""
    if len(w_ext) != len(model.parent) or any(np.shape(w)[:1] != (6,) for w in w_ext[1:]):
        shapes = [np.shape(w) for w in w_ext]
        raise InputError(
            f"{model.name}: w_ext has {len(w_ext)} entries of shapes {listed(map(str, dict.fromkeys(shapes)))}; "
            f"expected {len(model.parent)} wrenches (6,): one for the ground, which does not count, and one for each "
            "body",
            argument="w_ext",
        )
