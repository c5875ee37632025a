"""States to start from: entries by name, the others such that the constraints hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.arguments import Expected
from kinpair.mechanism import Mechanism


def entries(m: Mechanism, what: str, names: tuple[str, ...], values: Any, start: np.ndarray) -> np.ndarray:
    """All entries: those given, or the start with some replaced by name."""
    if values is None:
        return start
    if not isinstance(values, Mapping):
        numbers = Expected(what, names).checked(m.name, values)
        if numbers.ndim != 1:
            raise InputError(
                f"{m.name}: {what} has shape {numbers.shape}; a study has one state, vary its entries"
            )
        return numbers
    numbers = start.copy()
    for name, value in cast("Mapping[str, Any]", values).items():
        if name not in names:
            raise InputError(
                f"{m.name}: {what} has no entry {name!r}; {nearest(name, names)}Entries: {listed(names)}"
            )
        numbers[names.index(name)] = value
    return numbers


def obeying(
    m: Mechanism, q: np.ndarray, qd: np.ndarray, fixed: Sequence[str], driven: Sequence[str], time: float
) -> tuple[np.ndarray, np.ndarray]:
    """q with the coordinates `fixed` as they are and the rest assembled; rates likewise, as near to qd as can be."""
    if not m.constraints or not (fixed or driven):
        return q, qd
    closed = m.assemble(q, fixed=fixed, time=time) if fixed else q
    inputs = {name: float(qd[m.v_names.index(name)]) for name in driven}
    return closed, m.velocities(closed, inputs, guess=qd, time=time)
