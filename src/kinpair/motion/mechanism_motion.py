"""Motions of mechanisms under constraints.

A trajectory of all coordinates has rates r and accelerations ṙ. Under constraints A q̇ + a = 0, A q̈ = b, rates and
accelerations are the nearest ones that satisfy them:

    q̇ = r − A⁺(A r + a),   q̈ = ṙ − A⁺(A ṙ − b)                                                         (MO20)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Motion, Trajectory

if TYPE_CHECKING:
    from kinpair.mechanism import Mechanism


@final
@dataclass(frozen=True, eq=False, repr=False)
class Satisfying(Trajectory):
    """Coordinates (nq) of a mechanism over time, with rates and accelerations (nv) that satisfy its constraints.

    Between the samples it was made from, `motion` satisfies them only nearly. A time that is a symbol gives `motion`.
    """

    mechanism: Mechanism
    motion: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        return self.motion.within(time, order, side)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Return coordinates (*time, nq), rates, accelerations and jerk (*time, nv); before and after it rests."""
        m, x = self.mechanism, self.motion.at(time, side=side)
        if np.asarray(x.q).dtype == object:
            return x
        lead = x.q.shape[:-1]
        q, qd, qdd, jerk = (np.array(part).reshape(-1, part.shape[-1]) for part in x)
        moments = np.broadcast_to(np.asarray(time, dtype=float), lead).reshape(-1)
        inside = (moments >= 0.0) & (moments <= self.duration)
        if inside.any():
            qd[inside] = m.velocities(q[inside], guess=qd[inside], time=moments[inside])  # (MO20)
            qdd[inside] = m.accelerations(q[inside], qd[inside], guess=qdd[inside], time=moments[inside])
        return Motion(*(part.reshape(*lead, part.shape[-1]) for part in (q, qd, qdd, jerk)))


def motion_of(m: Mechanism, coordinates: Trajectory) -> Trajectory:
    """Return a motion of all coordinates as one of the mechanism: with its rates, which satisfy its constraints."""
    rated = with_rates(m, coordinates)
    if m.closure is None or isinstance(rated, Satisfying):
        return rated
    return Satisfying(rated.duration, rated.shape, rated.knots, m, rated)
