"""Omni robot by its energy: equal wheels share their symbols, so that its closed form is as short as on paper.

Source: Zhao et al. 2023, eqs 50–56, in metres. The robot of the example omni-robot: three wheels at azimuths 60, 180
and −60 degrees, each rolling along its rim and free along its axle. Coordinates: the angles of the wheels, then x, y
and the heading of the base.

Start: psi1 = psi2 = psi3 = 1, x = y = 0.001, theta = π/6; rates 1, 1, 2, −0.02/3, −0.02/√3, −2/3.
Try: print its equations with the solver rosenberg-extended.
Units: m, kg, rad.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.system import System

AZIMUTHS = np.radians([60, 180, -60])
PARAMETERS = {
    "m1": 0.2,  # a wheel
    "m2": 2.0,  # the body
    "I1": 8e-5,  # a wheel about its axle
    "I2": 0.00208,  # all that turns with the body, but for the mass of the wheels
    "r": 0.02,  # radius of a wheel
    "L": 0.04,  # from the middle to a wheel
}


def kinetic(q: Any, qd: Any, t: Any, p: Any) -> Any:
    """Kinetic energy T [J]."""
    turning = p.I1 * (qd[0] ** 2 + qd[1] ** 2 + qd[2] ** 2) + (p.I2 + 3 * p.m1 * p.L**2) * qd[5] ** 2
    return 0.5 * turning + 0.5 * (3 * p.m1 + p.m2) * (qd[3] ** 2 + qd[4] ** 2)


def rolling(q: Any, qd: Any, t: Any, p: Any) -> Any:
    """No slip along the rim of each wheel."""
    along = [np.sin(q[5] + a) * qd[3] - np.cos(q[5] + a) * qd[4] for a in AZIMUTHS]
    return [v - p.L * qd[5] - p.r * qd[k] for k, v in enumerate(along)]


def system() -> System:
    """The robot in symbolic form."""
    return System(
        ["psi1", "psi2", "psi3", "x", "y", "theta"],
        kinetic,
        constraints=[{"name": "rolling", "psi": rolling}],
        parameters=PARAMETERS,
        name="omni-robot-system",
    )
