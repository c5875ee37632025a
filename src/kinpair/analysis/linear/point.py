"""Where it is linearised: what was given, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.closure.moment import at_time
from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism
from kinpair.system import System


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """q (..., nq), qd (..., nv), efforts tau (..., nv) and time: one state, or several with one axis in front."""

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    time: Any

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape in front."""
        return self.qd.shape[:-1]


def movable(what: str, given: Any) -> Mechanism | System:
    """A mechanism or a system that moves."""
    if not isinstance(given, Mechanism | System):
        raise InputError(
            f"{what} takes a Mechanism or a System, not {given!r}; load() takes files, example() names",
            argument="mechanism",
        )
    if not given.nv:
        raise InputError(f"{given.name}: nothing moves, so there is nothing to do for {what}")
    return given


def check_no_states(m: Mechanism | System, x: Any) -> None:
    """Refuse internal states where there are none."""
    if x is not None and np.size(x):
        raise InputError(f"{m.name}: has no internal states, and x has {np.size(x)} numbers", argument="x")


def point_of(m: Mechanism | System, q: Any, qd: Any, u: Any, time: Any) -> Point:
    """The state and the efforts as arrays; rates and efforts that are not given are zero."""
    still = np.zeros(m.nv)
    given = m.by_name(time, q=q, qd=still if qd is None else qd, tau=still if u is None else u)
    arrays = [m.checked(name, value) for name, value in zip(("q", "qd", "tau"), given, strict=True)]
    for name, value in zip(("q", "qd", "u"), arrays, strict=True):
        if not np.isfinite(value).all():
            raise InputError(f"{m.name}: {name} holds NaN or infinity", argument=name)
    sizes = {len(a) for a in arrays if a.ndim == 2} | ({np.size(time)} if np.ndim(time) else set())
    if len(sizes) > 1:
        counts = listed(map(str, sorted(sizes)))
        raise InputError(f"{m.name}: q, qd, u and time differ in how many states they have: {counts}")
    if sizes:
        (count,) = sizes
        arrays = [np.ascontiguousarray(np.broadcast_to(a, (count, a.shape[-1]))) for a in arrays]
    moments = at_time(time)
    q_, qd_, tau_ = arrays
    return Point(q_, qd_, tau_, moments[:, 0] if moments.ndim == 2 else float(moments[0]))


def check_obeys(m: Mechanism | System, at: Point) -> None:
    """Refuse a state that breaks a constraint."""
    if m.closure is None or not m.closure.row_names:
        return
    for k in np.ndindex(*at.batch):
        which = f" (state {k[0]})" if k else ""
        time = float(at.time[k]) if k and np.ndim(at.time) else float(at.time)
        m.closure.check_obeys(at.q[k], at.qd[k], time, which)
