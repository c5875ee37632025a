"""Limits of rate, acceleration and jerk: given, or those of a mechanism's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism

KINDS = {"velocity": "rate", "acceleration": "acceleration", "jerk": "jerk"}


class RateLimits(NamedTuple):
    """Largest rate, acceleration and jerk of each joint (n,); infinite where there is none."""

    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray

    def of_path(self, span: np.ndarray) -> tuple[float, float, float]:
        """Limits for a parameter from 0 to 1 that leads all joints over their spans."""
        moved = np.abs(span) > 0
        v, a, j = (
            float(np.min((x / np.abs(span, where=moved, out=np.ones_like(span)))[moved])) for x in self
        )
        return v, a, j


def rate_limits(owner: str, size: int, given: Mapping[str, Any], of: Mechanism | None) -> RateLimits:
    """Each limit as it is given, or of the mechanism's file, or none."""
    return RateLimits(*(limit_of(owner, name, given.get(name), size, of) for name in KINDS))


def limit_of(owner: str, name: str, value: Any, size: int, of: Mechanism | None) -> np.ndarray:
    """Read one limit (size,) as it is given, or of the mechanism's file, or none."""
    if value is None:
        value = np.inf if of is None else getattr(of.model.joints, name)
    x = np.asarray(value, dtype=float)
    if x.shape not in ((), (size,)):
        raise InputError(
            f"{owner}: {name} has shape {x.shape}; give one number, or one for each of {size} joints"
        )
    if not (x > 0).all():
        raise InputError(f"{owner}: {name} holds {x[~(x > 0)][0] if x.ndim else x:g}; limits are positive")
    return np.broadcast_to(x, (size,)).astype(float)


def check_limited(owner: str, limits: RateLimits, span: np.ndarray, needed: tuple[str, ...]) -> None:
    """Refuse a joint that moves and has no limit of a kind that is needed."""
    for name in needed:
        missing = np.flatnonzero(np.isinf(getattr(limits, name)) & (span != 0.0))
        if len(missing):
            raise InputError(
                f"{owner}: joints {listed(map(str, missing))} have no limit of {KINDS[name]}; give {name}=, "
                "or of= a mechanism whose file has it"
            )
