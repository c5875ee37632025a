"""Phases of a step: the free machine with the supporting feet fixed, or with contact under its soles, and its inputs.

Inputs of a phase, efforts where there are no actuators, are a series of Chebyshev's polynomials in time:

    τ(t) = Σ_k a_k T_k(x),   x from −1 to 1 over the phase                                                      (GW10)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, final

import numpy as np

from kinpair.description import constraint_forms as constraint
from kinpair.errors import InputError, listed
from kinpair.forces.elements import owners_of
from kinpair.forces.states import has_actuators
from kinpair.mechanism import Mechanism
from kinpair.motion.gait import Gait

NODES = 96  # of a series
GAITS = 8  # of which phases are kept
BASE = 6  # rates of the base, which nothing drives
SMALL = 1e-3  # input for which gains are computed, below every limit


@final
@dataclass(frozen=True, eq=False)
class Phase:
    """A phase of a step from one time to another: the machine with its feet fixed or on contacts, the soles that stand,
    and the series (nodes, nu) of the inputs."""

    mechanism: Mechanism
    soles: tuple[str, ...]
    start: float
    end: float
    u: np.ndarray

    @property
    def duration(self) -> float:
        """Duration of the phase [s]."""
        return self.end - self.start

    def inputs(self, time: Any, q: Any = None, qd: Any = None) -> Any:
        """Inputs (nu,), in NumPy terms.    (GW10)"""
        return chebyshev(self.u, (2.0 * time - self.start - self.end) / self.duration)


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


@lru_cache(GAITS)
def phases_on_contacts(gait: Gait) -> tuple[Phase, Phase]:
    """Return both phases with nothing fixed: the ground touches the corners of the soles, or geoms of the machine."""
    m = gait.mechanism
    if not m.model.description.contacts.geoms:
        m = m.with_contact("ground", "ground", plane=True, mu=gait.ground.friction)
        for sole, outline in gait.soles.items():
            for k, corner in enumerate(outline):
                m = m.with_contact(f"{sole} {k + 1}", sole, point=True, xyz=corner.tolist())
    return tuple(replace(phase, mechanism=m) for phase in phases(gait))  # type: ignore[return-value]


def _held(gait: Gait, side: str, x: float, y: float) -> Any:
    below = [0.0, 0.0, -float(gait.numbers.ankle)]
    return constraint.loop(
        f"{side}-hold", "fixed", "ground", f"{side}-foot", xyz=[x, y, 0.0], child_xyz=below
    )


def _phase(gait: Gait, m: Mechanism, soles: tuple[str, ...], start: float, end: float) -> Phase:
    time = start + (end - start) * (1.0 + np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)) / 2
    return Phase(m, soles, start, end, _series(inputs(gait, time)))


def inputs(gait: Gait, time: np.ndarray) -> np.ndarray:
    """Inputs of the gait (n, nu), of actuators and of joints without one; the base has none."""
    m, tau = gait.mechanism, gait.efforts(time)
    tau[:, :BASE] = 0.0
    if not has_actuators(m.model):
        return tau
    if m.nx:
        raise InputError(
            f"{m.name}: actuators with internal states ({listed(m.x_names, 4)}) do not take part in walking; give "
            "actuators of the kind effort, or dc-motors without inductance and with rigid gears",
            x_names=m.x_names,
        )
    return gait.inputs_at(time, tau).u


def gains(m: Mechanism) -> np.ndarray:
    """Efforts of the joints for one unit of their inputs (nv − 6,), at rest."""
    places, rest = input_places(m), (m.start(), np.zeros(m.nv), np.zeros(m.nx))
    if not has_actuators(m.model):
        return np.ones(len(places))
    each = SMALL * np.eye(m.nu)[places]
    change = [m.actuation(*rest, u).effort - m.actuation(*rest, 0.0 * u).effort for u in each]
    return np.array([x[BASE + k] for k, x in enumerate(change)]) / SMALL


def input_places(m: Mechanism) -> list[int]:
    """Return the place in u of the input that drives each rate after those of the base."""
    places = {x.element.drives[0]: x.u.start for x in owners_of(m.model) if x.element.nu}
    return [places[v] for v in range(BASE, m.nv)]
