"""Limits of rate, acceleration and jerk: given, or those of a mechanism's file.

Violations of the limits of a mechanism by a motion, and where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism
from kinpair.model.units import units

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


AT_LIMIT = 1e-5  # of a limit: what exceeds it by less is at it; the fastest motions are
POWERS = {"acceleration": "²", "jerk": "³"}  # of a second, beside the unit of a rate


class Excess(NamedTuple):
    """A limit that is exceeded: joint, quantity, its largest value and the limit, when, and from when to when [s]."""

    joint: str
    quantity: str
    value: float
    limit: float
    time: float
    first: float
    last: float
    unit: str

    def __str__(self) -> str:
        return (
            f"{self.joint}: {self.quantity} {self.value:.4g} {self.unit} at {self.time:.4g} s exceeds {self.limit:.4g} "
            f"(between {self.first:.4g} and {self.last:.4g} s)"
        )


class Feasibility(NamedTuple):
    """A list of all that exceeds a limit, the worst first; nothing where the motion can be made."""

    excesses: tuple[Excess, ...]

    @property
    def feasible(self) -> bool:
        """True if all limits are satisfied."""
        return not self.excesses

    def __str__(self) -> str:
        if self.feasible:
            return "feasible: all limits of the file are kept"
        return "\n".join(["not feasible:", *(f"  {x}" for x in self.excesses)])


def feasibility(of: Any) -> Feasibility:
    """Samples of a nominal motion against the limits of coordinates and their derivatives, of efforts and motors."""
    found = sorted(_excesses(of), key=lambda x: -abs(x.value / x.limit) if x.limit else -np.inf)
    return Feasibility(tuple(found))


def _excesses(of: Any) -> Iterator[Excess]:
    m: Mechanism = of.mechanism
    joints, unit = m.model.joints, units(m.model)
    for i, name in enumerate(m.q_names):
        q = of.q[:, i]
        for limit, over in ((joints.lower[i], joints.lower[i] - q), (joints.upper[i], q - joints.upper[i])):
            yield from _one(of.time, over, q, name, "coordinate", float(limit), unit["q"][i])
    tables = (
        ("rate", of.qd, joints.velocity, unit["qd"]),
        ("acceleration", of.qdd, joints.acceleration, unit["qd"]),
        ("jerk", of.jerk, joints.jerk, unit["qd"]),
        ("effort", of.effort, joints.effort, unit["tau"]),
    )
    for quantity, values, limits, own in tables:
        for k, name in enumerate(m.v_names):
            over = np.abs(values[:, k]) - limits[k]
            yield from _one(
                of.time,
                over,
                values[:, k],
                name,
                quantity,
                float(limits[k]),
                f"{own[k]}{POWERS.get(quantity, '')}",
            )
    for x in of.motors.values():
        for quantity, values, limit, unit_of in (
            ("voltage", x.voltage, x.largest_voltage, "V"),
            ("current", x.current, x.largest_current, "A"),
        ):
            yield from _one(of.time, np.abs(values) - limit, values, x.joint, quantity, limit, unit_of)


def _one(
    time: np.ndarray, over: np.ndarray, values: np.ndarray, joint: str, quantity: str, limit: float, unit: str
) -> Iterator[Excess]:
    if not np.isfinite(limit):
        return
    beyond = np.flatnonzero(over > AT_LIMIT * abs(limit))
    if len(beyond):
        k = int(over.argmax())
        first, last = float(time[beyond[0]]), float(time[beyond[-1]])
        yield Excess(joint, quantity, float(values[k]), limit, float(time[k]), first, last, unit)
