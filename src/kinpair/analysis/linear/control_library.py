"""A linear model as python-control has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinpair.errors import MissingExtraError, installs


def state_space(
    name: str, matrices: Sequence[np.ndarray], dt: float | None, names: Mapping[str, Sequence[str]]
) -> Any:
    """The `StateSpace` of (A, B, C, D), with the names of states, inputs and outputs."""
    try:
        import control
    except ImportError:
        raise MissingExtraError(
            f"a StateSpace needs python-control; {installs('control')}",
            extra="control",
        ) from None
    own: dict[str, Any] = {what: [_word(x) for x in every] for what, every in names.items()}
    return control.ss(*matrices, 0 if dt is None else dt, name=_word(name), **own)


def _word(name: str) -> str:
    """A name that python-control takes: it has a meaning for dots."""
    return name.replace(".", "_")
