"""Rates of motions with quaternions, and of motions under constraints.

Rates of a motion whose coordinates have quaternions.

ω = 2 vec(k̄ ∘ k̇),   v = vec(k̄ ∘ ẋ ∘ k)          in axes of the child; k = κ/|κ|, all as Taylor series         (MO19)

Motions of mechanisms under constraints.

A trajectory of all coordinates has rates r and accelerations ṙ. Under constraints A q̇ + a = 0, A q̈ = b, rates and
accelerations are the nearest ones that satisfy them:

    q̇ = r − A⁺(A r + a),   q̈ = ṙ − A⁺(A ṙ − b)                                                         (MO20)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.algebra import series
from kinpair.motion.frame_motion import normalised, quaternion_products
from kinpair.motion.trajectory import Motion, Trajectory

if TYPE_CHECKING:
    from kinpair.mechanism import Mechanism
    from kinpair.model.model import Model

QUATERNION = 4  # the last coordinates of a pair that has more coordinates than rates
CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
ORDER = 3


def with_rates(m: Mechanism, motion: Trajectory) -> Trajectory:
    """Return the motion of all coordinates with the rates of the mechanism: `at` gives q (nq), and rates,
    accelerations and jerk (nv).

    Quaternions of the motion are scaled to length one. A motion that has rates (nv) already is returned unchanged.
    """
    if m.nq == m.nv or motion.shape != (m.nq,) or np.shape(motion.at(0.0).qd)[-1] == m.nv:
        return motion
    return WithRates(motion.duration, motion.shape, motion.knots, m.model, motion)


@final
@dataclass(frozen=True, eq=False, repr=False)
class WithRates(Trajectory):
    """A motion of coordinates (nq) with rates, accelerations and jerk (nv)."""

    model: Model
    coordinates: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        return self._scaled(self.coordinates.within(time, order, side), order)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Return coordinates (nq), rates, accelerations and jerk (nv) at a time or times (...)."""
        found = self._scaled(self.coordinates.series(time, ORDER, side), ORDER)
        every = [np.zeros((*found[0].shape[:-1], self.model.nv)) for _ in range(ORDER)]
        for i in self.model.moving:  # in the order of bodies, which may be another one than that of rates
            own = self._rates([x[..., self.model.q_span[i]] for x in found])
            for k in range(ORDER):
                every[k][..., self.model.v_span[i]] = own[k]
        return Motion(found[0], *series.derivatives(every))

    def _scaled(self, found: list[Any], order: int) -> list[np.ndarray]:
        """Return Taylor coefficients up to the order, with quaternions of length one."""
        filled = [*found, *[0.0 * found[0]] * (order + 1 - len(found))]
        result = [np.array(x, dtype=float) for x in np.broadcast_arrays(*filled)]
        for own in self._quaternions:
            for x, unit in zip(result, normalised([x[..., own] for x in result], order), strict=True):
                x[..., own] = unit
        return result

    @property
    def _quaternions(self) -> list[slice]:
        pairs = [(self.model.body[i].pair, self.model.q_span[i].stop) for i in self.model.moving]
        return [slice(stop - QUATERNION, stop) for pair, stop in pairs if pair.nq > pair.nv]

    def _rates(self, q: list[np.ndarray]) -> list[np.ndarray]:
        """Return the Taylor coefficients of the rates of one pair.    (MO19)"""
        dq, size = series.rate(q), q[0].shape[-1]
        if size < QUATERNION:
            return dq
        k, kd = ([x[..., -QUATERNION:] for x in part] for part in (q, dq))
        back = [CONJUGATE * x for x in k]
        turn = [2.0 * x[..., :3] for x in _products(back, kd)]
        if size == QUATERNION:
            return turn
        nothing = np.zeros((*q[0].shape[:-1], 1))
        shift = [np.concatenate([x[..., :3], nothing], axis=-1) for x in dq]
        v = _products(_products(back, shift), k)
        return [np.concatenate([a, b[..., :3]], axis=-1) for a, b in zip(turn, v, strict=True)]


def _products(a: list[np.ndarray], b: list[np.ndarray]) -> list[np.ndarray]:
    """Return the Taylor coefficients of a ∘ b, those that are needed for the rates."""
    return [np.sum([quaternion_products(a[j], b[n - j]) for j in range(n + 1)], axis=0) for n in range(ORDER)]


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
