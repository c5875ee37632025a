"""Mass, mass centre and inertia of MJCF bodies: written, or of their geoms, then bounded as <compiler> says."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kinpair.description.mjcf_orientation import TURNS, pose
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import Tag
from kinpair.spatial.inertia import Inertia, tensor


def written(inertial: Tag, settings: Settings) -> Inertia:
    """Read <inertial>, in axes of the body."""
    for needed in ("pos", "mass"):
        if not inertial.has(needed):
            raise inertial.error(f'has <inertial> without {needed}; write <inertial pos="..." mass="...">')
    if inertial.has("fullinertia"):
        if any(inertial.has(turn) for turn in TURNS) or inertial.has("diaginertia"):
            raise inertial.error(
                "has fullinertia, which is in axes of the body: no turn and no diaginertia next to it"
            )
        moments = tensor(inertial.numbers("fullinertia", 6))
    else:
        moments = np.diag(inertial.numbers("diaginertia", 3, default=(0.0, 0.0, 0.0)))
        if not inertial.has("diaginertia"):
            inertial.warn("has <inertial> without diaginertia or fullinertia; taken as zero")
    at = pose(inertial, settings)
    return Inertia(inertial.number("mass", 0.0), np.zeros(3), moments).moved(at.R, at.a)


def bounded(body: Inertia, settings: Settings) -> Inertia:
    """Return the inertia with at least the mass and principal moments of <compiler>, and balanced where that is
    asked for."""
    if not (settings.least_mass or settings.least_inertia or settings.balance):
        return body
    moments, axes = np.linalg.eigh(body.I)
    moments = np.maximum(moments, settings.least_inertia)
    if settings.balance and moments[0] + moments[1] < moments[2]:
        moments = np.full(3, moments.mean())
    mass = max(float(body.m), settings.least_mass)
    return Inertia(mass, body.d, axes @ np.diag(moments) @ axes.T)


def scale(bodies: Iterable[Inertia], settings: Settings) -> float:
    """The factor that gives all bodies together the mass of <compiler settotalmass>."""
    total = float(sum(body.m for body in bodies))
    return settings.total_mass / total if settings.total_mass > 0.0 and total else 1.0
