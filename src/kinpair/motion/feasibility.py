"""Violations of the limits of a mechanism by a motion, and where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.model.units import units

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
