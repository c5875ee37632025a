"""A regulator for a gait: linear-quadratic gains along each phase, from linear models with the feet fixed.

States are changes y of pelvis, trunk and arms, of the leg that swings, and their rates. With the change s of the
swinging sole, its angles and place, the cost is

    ∫ e^{2πt} (|y|² + w|s|² + β ẏᵀ H ẏ + Σ_j (Δτ_j / E_j)²) dt                                                  (GW11)
    E_j = E max(λ_j, λ_0)         joints of a leg that stands, next to another; λ: its part of the load          (GW12)

so a foot that has just come down, and has little weight on it, is asked for little. H: inertia of the motions y.
"""

from __future__ import annotations

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.linearise import linearise
from kinpair.control.linear_quadratic import LinearQuadratic, lqr
from kinpair.motion.gait import SOLES, Gait
from kinpair.motion.trajectory import positive
from kinpair.walking.phases import BASE, Phase, gains, input_places, inputs, phases

KNOTS = 101  # of gains over a phase
RATES = 0.003  # [1/(kg m²)]: β, what twice the kinetic energy of a change counts
FOOT = 1000.0  # what a change of the swinging sole counts against one of a coordinate
LIGHTEST = 0.01  # part of the load from which a leg takes part

GaitRegulator = tuple[LinearQuadratic, LinearQuadratic]


def regulator(gait: Gait, *, rate: float = 0.2, effort: float = 100.0) -> GaitRegulator:
    """Regulators for single and for double support, which `replay` takes.

    rate [1/s]: degree of stability π, above what the cost gives: larger ones ask the foot for more. effort [N m]: E,
    how much counts as much as 1 rad or 1 m.
    """
    positive("regulator", effort=effort)
    single, double = phases(gait)
    return _along(gait, single, rate, effort), _along(gait, double, rate, effort)


def _along(gait: Gait, phase: Phase, rate: float, effort: float) -> LinearQuadratic:
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
