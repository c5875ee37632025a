"""Phases of a step: the free machine with its supporting feet fixed or on contacts, and a regulator along each phase.

The regulator has linear-quadratic gains, from linear models with the feet fixed. States are changes y of pelvis, trunk
and arms, of the leg that swings, and their rates. With the change s of the swinging sole, its angles and place, the
cost is

    ∫ e^{2πt} (|y|² + w|s|² + β ẏᵀ H ẏ + Σ_j (Δτ_j / E_j)²) dt                                                  (GW11)
    E_j = E max(λ_j, λ_0)         joints of a leg that stands, next to another; λ: its part of the load          (GW12)

so a foot that has just come down, and has little weight on it, is asked for little. H: inertia of the motions y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.description import constraint_forms as constraint
from kinpair.errors import InputError, listed
from kinpair.forces.elements import owners_of
from kinpair.forces.states import has_actuators
from kinpair.motion.gait import SOLES, Gait
from kinpair.motion.trajectory import positive

if TYPE_CHECKING:
    from kinpair.analysis.linear.linear_model import LinearModel
    from kinpair.control.linear_quadratic import LinearQuadratic
    from kinpair.mechanism import Mechanism

NODES = 96  # of a series
GAITS = 8  # of which phases are kept
BASE = 6  # rates of the base, which nothing drives
SMALL = 1e-3  # input for which gains are computed, below every limit
KNOTS = 101  # of gains over a phase
RATES = 0.003  # [1/(kg m²)]: β, what twice the kinetic energy of a change counts
FOOT = 1000.0  # what a change of the swinging sole counts against one of a coordinate
LIGHTEST = 0.01  # part of the load from which a leg takes part


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


def regulator(
    gait: Gait, *, rate: float = 0.2, effort: float = 100.0
) -> tuple[LinearQuadratic, LinearQuadratic]:
    """Regulators for single and for double support, which `replay` takes.

    rate [1/s]: degree of stability π, above what the cost gives: larger ones ask the foot for more. effort [N m]: E,
    how much counts as much as 1 rad or 1 m.
    """
    positive("regulator", effort=effort)
    single, double = phases(gait)
    return _along(gait, single, rate, effort), _along(gait, double, rate, effort)


def _along(gait: Gait, phase: Phase, rate: float, effort: float) -> LinearQuadratic:
    from kinpair.analysis.linear.linearise import linearise
    from kinpair.control.linear_quadratic import lqr

    m, time = gait.mechanism, np.linspace(phase.start, phase.end, KNOTS)
    x = gait.synergy.at(time)
    legs = {sole: np.abs(m.jacobian(x.q[0], sole)[:, BASE:]).max(0) > 0.0 for sole in SOLES}
    dependent = np.any([legs[sole] for sole in phase.soles], axis=0)
    joints = m.v_names[BASE:]
    model = linearise(
        phase.mechanism,
        x.q,
        x.qd,
        u=inputs(gait, time),
        time=time,
        inputs=[m.u_names[k] for k in input_places(m)],
        independent=[*m.v_names[:BASE], *(joints[k] for k in np.flatnonzero(~dependent))],
        axes={},
    )
    swinging = [sole for sole in SOLES if sole not in phase.soles]
    scale = np.full((KNOTS, len(joints)), float(effort))
    if not swinging:
        loads = gait.loads(np.minimum(time, gait.step_time - 1e-9))[0]
        for k, sole in enumerate(SOLES):
            scale[:, legs[sole]] *= np.maximum(loads[:, [k]], LIGHTEST)  # (GW12)
    R = np.eye(len(joints)) * (gains(m) / scale)[:, :, None] ** 2
    return lqr(model, Q=_weights(gait, model, swinging), R=R, degree=rate)


def _weights(gait: Gait, model: LinearModel, swinging: list[str]) -> np.ndarray:
    """Q of (GW11) at each time (knots, states, states)."""
    n, m, Z = len(model.states) // 2, gait.mechanism, model.displacements
    places = np.broadcast_to(np.eye(n), (len(model), n, n))
    for sole in swinging:
        s = m.jacobian(model.at.q, sole) @ Z
        places = places + FOOT * np.swapaxes(s, -1, -2) @ s
    Q = np.zeros((len(model), 2 * n, 2 * n))
    Q[:, :n, :n], Q[:, n:, n:] = (
        places,
        RATES * np.swapaxes(Z, -1, -2) @ m.mass_matrix(model.at.q) @ Z,
    )  # (GW11)
    return Q
