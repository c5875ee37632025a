"""Space robot as printed: forces without −Ṁq̇, so that momentum is kept and energy is not; a counter-example.

Source: Zhao et al. 2023, eqs 42–45, as they stand there. A body that turns about its pinned middle carries an arm with
a mass at its tip on either side, see the example space-robot. The mass matrix is right. The printed forces are ∂T/∂q
alone; the term −Ṁq̇ of Lagrange's equation is forgotten. The source then asks for angular momentum to be kept, as if it
were a constraint from outside: that corrects the first of the three equations, and the other two stay wrong. With the
right forces the momentum is kept by itself.

Start: theta = π/36, psi1 = psi2 = −π/6; rates 0.1, −0.1, −0.1.
Try: let it run for 60 s; the energy wanders between 19.98 and 20.56 J.
Units: m, kg, rad.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.system import System

I, M2, R, L = 260.42, 5.0, 4.0, 8.0  # body about its middle, mass at each tip, shoulder, arm
K, E = M2 * R * L, M2 * L**2
START, RATES = np.array([np.pi / 36, -np.pi / 6, -np.pi / 6]), np.array([0.1, -0.1, -0.1])


def mass(q: Any, t: Any) -> Any:
    """M of eq 42."""
    c1, c2 = np.cos(q[1]), np.cos(q[2])
    body = I + 2 * E + 2 * M2 * R**2 + 2 * K * (c1 + c2)
    return np.array([[body, -E - K * c1, -E - K * c2], [-E - K * c1, E, 0.0], [-E - K * c2, 0.0, E]])


def printed_force(q: Any, qd: Any, t: Any) -> Any:
    """F of eq 43: ∂T/∂q and no more."""
    pull = [K * np.sin(q[k]) * (qd[k] * qd[0] - qd[0] * qd[0]) for k in (1, 2)]
    return [0.0, *pull]


def momentum(q: Any, qd: Any, t: Any) -> Any:
    """Angular momentum about the middle, less that of the start: the constraint of eq 44."""
    return mass(q, t)[0] @ qd - mass(START, t)[0] @ RATES


def system() -> System:
    """The system as printed."""
    constraints = [{"name": "momentum", "psi": momentum}]
    return System(
        ["theta", "psi1", "psi2"],
        M=mass,
        F=printed_force,
        constraints=constraints,
        name="space-robot-printed",
    )
