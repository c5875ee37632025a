"""Where a mechanism was linearised, and whether that is a steady motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.analysis.linear.core import Core
from kinpair.analysis.linear.moving_axes import turned, unspun
from kinpair.model.model import Model

STEADY = 1e-7  # what may be left of (LI17), as a part of its terms


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """Where it was linearised: q, qd, efforts tau, accelerations qdd and time, along a motion with an axis in front.

    `coordinates` and `rates`: numbers of the independent ones. `axes`: joints whose displacements and rates are
    measured along axes that turn against the child, with their angular velocity (3,) in axes of the child, see (LI5).
    Internal states x, their rates, and inputs u, where there are actuators.
    """

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    qdd: np.ndarray
    time: Any
    coordinates: tuple[int, ...]
    rates: tuple[int, ...]
    axes: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    u: np.ndarray = field(default_factory=lambda: np.zeros(0))
    x_rate: np.ndarray = field(default_factory=lambda: np.zeros(0))


def is_steady(model: Model, a: OperatingPoint, A: np.ndarray, core: Core) -> bool:
    """Is it at rest, or in a steady motion?

    Time moves a steady motion along itself: with x_t = (q̇, q̈), both seen in the axes of measurement,

        q̈ − Ω q̇ = 0,   A x_t = 0        of all states that something depends on             (LI17)
    """
    change = a.qdd - turned(model, a.axes) @ a.qd
    J, I = list(a.coordinates), list(a.rates)
    own = (a.qdd - change + unspun(model, a.q, a.qd, a.axes) @ a.qd)[I]
    along = np.concatenate([a.qd[J], own, 0.0 * a.x_rate])
    left = np.concatenate([np.zeros(len(J)), change[I], a.x_rate])
    felt = [k for k in range(len(core.kept)) if k not in core.ignored]
    off = np.abs((core.left @ np.stack([left, A @ along], axis=1))[felt]).max(initial=0.0)
    size = np.abs(a.qdd).max() + (np.abs(A) @ np.abs(along)).max(initial=0.0)
    return bool(off <= STEADY * (1.0 + size))
