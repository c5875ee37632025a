"""Internal states that are too fast for explicit steps: seen before a run begins, from ∂ẋ/∂x at its start."""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.errors import InputError
from kinpair.forces.states import ports_of, state_rates
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics

STABLE = 6.0  # |λ| dt that a method of order eight bears
MOST = 1e8  # steps: some minutes of work
PART = 1e-6  # of a state's size, by which it is moved


def check_stiffness(d: Dynamics, start: np.ndarray, duration: float, integrator: str) -> None:
    """Refuse what explicit steps would take hours for, with the name of the fastest state."""
    ports = ports_of(d.model)
    if not ports.x_names or d.parameters:
        return
    fastest, name = _fastest(d, np.atleast_2d(start)[0])
    steps = fastest * duration / STABLE
    if steps > MOST:
        raise InputError(
            f"{d.model.name}: {name!r} settles within {1.0 / fastest:.1g} s, and {integrator} would take {steps:.0e} "
            "steps to follow it; take integrator='cvode', which is made for stiff motions, or leave out what is so "
            "fast",
            integrator=integrator,
            state=name,
        )


def _fastest(d: Dynamics, start: np.ndarray) -> tuple[float, str]:
    """The largest |∂ẋ_k/∂x_k| [1/s], and of which state."""
    y, u = d.parted(start)
    ports, layout = ports_of(d.model), d.layout
    steps = PART * np.maximum(np.abs(y[layout.x]), ports.x_scale)
    moved = np.tile(y, (1 + len(steps), 1))
    moved[1:, layout.x] += np.diag(steps)
    inputs = u[d.input_layout.control] if d.torque_in_u else np.zeros(len(d.controls))
    own = columns(np.tile(inputs, (len(moved), 1))) if d.actuated else np.zeros(0)
    q, qd, x = (columns(moved[:, part]) for part in (layout.q, layout.qd, layout.x))
    rates = rows(state_rates(d.model, State(q, qd, x, own), passive=d.passive), len(moved))
    slopes = np.abs(np.diagonal(rates[1:] - rates[0]) / steps)
    k = int(np.argmax(slopes))
    return float(slopes[k]), ports.x_names[k]
