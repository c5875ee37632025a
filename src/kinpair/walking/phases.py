"""Phases of a step: the free machine with the feet held that stand, and the efforts of the gait.

Efforts of a phase are a series of Chebyshev's polynomials in time:

    τ(t) = Σ_k a_k T_k(x),   x from −1 to 1 over the phase                                                      (GW10)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np

from kinpair.description import constraint_forms as constraint
from kinpair.mechanism import Mechanism
from kinpair.motion.gait import Gait

NODES = 96  # of a series
GAITS = 8  # of which phases are kept
BASE = 6  # rates of the base, which nothing drives


@final
@dataclass(frozen=True, eq=False)
class Phase:
    """A phase of a step from one time to another: the machine with its feet held, their soles, and the series (nodes,
    nv) of the efforts."""

    mechanism: Mechanism
    soles: tuple[str, ...]
    start: float
    end: float
    tau: np.ndarray

    @property
    def duration(self) -> float:
        """[s]."""
        return self.end - self.start

    def efforts(self, time: Any, q: Any = None, qd: Any = None) -> Any:
        """Of all rates (nv,), in NumPy terms.    (GW10)"""
        return chebyshev(self.tau, (2.0 * time - self.start - self.end) / self.duration)


def chebyshev(series: np.ndarray, x: Any) -> Any:
    """Σ a_k T_k(x), by Clenshaw's recursion; a (terms, n)."""
    later, now = 0.0 * series[0], 0.0 * series[0]
    for a in series[:0:-1]:
        later, now = now, a + 2.0 * x * now - later
    return series[0] + x * now - later  # (GW10)


def _series(values: np.ndarray) -> np.ndarray:
    """Coefficients of the polynomial through values (nodes, n) at Chebyshev's points, what is rounding cut off."""
    n = len(values)
    k = np.arange(n)
    table = np.cos(np.outer(k, np.pi * (k + 0.5) / n))
    found = 2.0 / n * table @ values
    found[0] /= 2.0
    size = np.abs(found).max(axis=1)
    needed = np.flatnonzero(size > 1e-11 * size.max(initial=1e-300))
    return found[: int(needed[-1]) + 1] if len(needed) else found[:1]


@lru_cache(GAITS)
def phases(gait: Gait) -> tuple[Phase, Phase]:
    """Single support on the right foot, and double support; kept, since their code takes time to compile."""
    p, m = gait.numbers, gait.mechanism
    right, left = _held(gait, "right", 0.0, -p.track), _held(gait, "left", p.step, p.track)
    return (
        _phase(gait, m.with_constraints(right), ("right-sole",), 0.0, p.swing),
        _phase(gait, m.with_constraints(right, left), ("right-sole", "left-sole"), p.swing, p.T),
    )


def _held(gait: Gait, side: str, x: float, y: float) -> Any:
    below = [0.0, 0.0, -float(gait.numbers.ankle)]
    return constraint.loop(
        f"{side}-hold", "fixed", "ground", f"{side}-foot", xyz=[x, y, 0.0], child_xyz=below
    )


def _phase(gait: Gait, m: Mechanism, soles: tuple[str, ...], start: float, end: float) -> Phase:
    time = start + (end - start) * (1.0 + np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)) / 2
    return Phase(m, soles, start, end, _series(efforts(gait, time)))


def efforts(gait: Gait, time: np.ndarray) -> np.ndarray:
    """Of the gait (n, nv); the base has none."""
    tau = gait.efforts(time)
    tau[:, :BASE] = 0.0
    return tau
