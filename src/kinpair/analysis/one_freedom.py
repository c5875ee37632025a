"""The positions of a mechanism with one freedom: a curve, followed through the points where a coordinate stands still.

    A(q) t = 0,   |t| = 1                              direction of the curve φ(q) = 0           (TF1)
    q ← q ⊕ h t,   then [A; tᵀ] δ = −[φ; 0],  q ← q ⊕ δ    until it closes                       (TF2)

The row tᵀ keeps the step along the curve, so no coordinate is special and none has to grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.solvers.rank_revealing import RANK, lengths, null_space
from kinpair.errors import InputError, SingularError
from kinpair.formulations.kinematics import moved, normalised
from kinpair.mechanism import Mechanism

LONGEST, SHORTEST = 0.05, 1e-7  # steps along the curve [rad] or [m]
TURN = 0.1  # the direction turns by less than this angle in a step [rad]
TRIALS, STILL, CLOSED = 12, 1e-13, 1e-10  # of Newton: steps, the last one, what may stay open [rad] or [m]
HALVINGS = 200


class Point(NamedTuple):
    """A position (nq,) and the direction of the curve there, along the rates (nv,), of length one."""

    q: np.ndarray
    t: np.ndarray


class Segment(NamedTuple):
    """Two neighbours on the curve, the second a step from the first."""

    here: Point
    step: float
    there: Point


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """The curve of a mechanism."""

    mechanism: Mechanism

    def start(self, q: Any) -> np.ndarray:
        """The closed position nearest the guess; errors if the freedom there is not one."""
        m = self.mechanism
        q_start = m.assemble(m.neutral() if q is None else q)
        if len(m.constraint_residual(q_start)) < len(m.constraint_matrix(q_start)):
            raise InputError(
                f"{m.name}: has constraints on rates alone (rolling, knife edges, momentum), and no curve of positions"
            )
        mobility = m.mobility(q_start)
        if mobility.freedom != 1:
            elsewhere = "; it is singular here, try another guess q" if mobility.singular else ""
            raise InputError(
                f"{m.name}: has {mobility.freedom} freedoms, a transmission needs 1{elsewhere}",
                freedom=mobility.freedom,
            )
        return q_start

    def direction(self, q: np.ndarray, like: np.ndarray) -> np.ndarray:
        """t at q, on the side of `like`.    (TF1)"""
        Z = null_space(self.mechanism.constraint_matrix(q))
        t = Z @ (Z.T @ like)
        return t / max(float(np.linalg.norm(t)), np.finfo(float).tiny)

    def beyond(self, here: Point, step: float) -> Point | None:
        """The point a step further; None where Newton's method does not arrive.    (TF2)"""
        m, q = self.mechanism, self._moved(here.q, step * here.t)
        for _ in range(TRIALS):
            A, phi = m.constraint_matrix(q), m.constraint_residual(q)
            sizes = lengths(A)
            rows = np.vstack([A / sizes[:, None], here.t])
            delta = np.linalg.lstsq(rows, np.append(-phi / sizes, 0.0), rcond=RANK)[0]  # (TF2)
            if not np.isfinite(delta).all() or np.abs(delta).max() > 1.0:
                return None
            q = self._moved(q, delta)
            if np.abs(delta).max() < STILL:
                break
        closed = np.abs(m.constraint_residual(q)).max(initial=0.0) <= CLOSED
        return Point(q, self.direction(q, here.t)) if closed else None

    def onward(self, start: Point) -> Iterator[Segment]:
        """The curve from a point on, without end."""
        here, step = start, LONGEST
        while True:
            there = self.beyond(here, step)
            if there is not None and there.t @ here.t > np.cos(TURN):
                yield Segment(here, step, there)
                here, step = there, min(2.0 * step, LONGEST)
            elif step > SHORTEST:
                step *= 0.5
            else:
                raise SingularError(
                    f"{self.mechanism.name}: the curve of its positions cannot be followed beyond q = "
                    f"{np.round(here.q, 6).tolist()}; it branches there, or the closure is at its limit",
                    q=here.q,
                )

    def crossing(self, segment: Segment, f: Callable[[Point], float]) -> Segment:
        """The segment cut off where f is zero; f has different signs at its ends. (Regula falsi, Illinois)"""
        here, step, there = segment
        low, high = 0.0, step
        f_low, f_high = f(here), f(there)
        best = there
        for _ in range(HALVINGS):
            if f_high == 0.0 or abs(high - low) <= 1e-15 * step:
                break
            cut = high - f_high * (high - low) / (f_high - f_low)
            reached = self.beyond(here, cut)
            if reached is None:
                break
            f_cut = f(reached)
            if f_cut * f_high < 0.0:
                low, f_low = high, f_high
            else:
                f_low *= 0.5
            done = abs(cut - high) <= 1e-14 * step
            high, f_high, best = cut, f_cut, reached
            if done:
                break
        return Segment(here, high, best)

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        model = self.mechanism.model
        return np.asarray(normalised(model, moved(model, q, step)), dtype=float)
