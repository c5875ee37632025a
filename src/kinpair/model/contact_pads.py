"""Compliant contacts as the model has them: balls and corners on planes, balls on balls, each with its numbers.

A pair is compliant where one of its geoms, or the pair itself, has a stiffness. It is then a force element that acts in
all runs, and no rigid contact. Two stiffnesses are in series: 1/k = 1/k_a + 1/k_b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from kinpair.description.parts import Contact, Surface
from kinpair.errors import DescriptionError
from kinpair.model.model import Place
from kinpair.spatial.pose import Pose

SLIP_SPEED = 1e-3  # [m/s] where none is given
BALLS = ("point", "sphere")
ON_PLANES = (*BALLS, "capsule", "box")


@dataclass(frozen=True, slots=True, eq=False)
class PadData:
    """A ball of radius `radius` at the origin of place `a`, next to place `b`: a plane z = 0, or a ball of radius
    `other_radius`; None: a plane."""

    name: str
    a: Place
    radius: float
    b: Place
    other_radius: float | None
    stiffness: float
    exponent: float
    dissipation: float
    mu: float
    slip_speed: float


def softness(surfaces: Sequence[Surface]) -> dict[str, float]:
    """Return stiffness, exponent, dissipation and slip speed of two geoms or of a pair; empty where they are rigid."""
    known = [x.stiffness for x in surfaces if x.stiffness is not None]
    if not known:
        return {}
    return {
        "stiffness": 1.0 / sum(1.0 / k for k in known),
        "exponent": max((x.exponent for x in surfaces if x.exponent is not None), default=1.0),
        "dissipation": max((x.dissipation for x in surfaces if x.dissipation is not None), default=0.0),
        "slip_speed": max((x.slip_speed for x in surfaces if x.slip_speed is not None), default=SLIP_SPEED),
    }


def pads(
    one: tuple[Contact, Place], other: tuple[Contact, Place], mu: float, numbers: dict[str, float]
) -> list[PadData]:
    """Return the elements of a compliant pair; `one` has the lower kind."""
    (a, on_a), (b, on_b) = one, other
    radius = a.size[0] if a.shape in ("sphere", "capsule") else 0.0
    if b.shape == "plane" and a.shape in ON_PLANES:
        points = _corners(a)
        names = [f"{a.name} on {b.name}" + (f" {k}" if len(points) > 1 else "") for k in range(len(points))]
        return [
            PadData(name, _moved(on_a, x), radius, on_b, None, mu=mu, **numbers)
            for name, x in zip(names, points, strict=True)
        ]
    if a.shape in BALLS and b.shape in BALLS:
        other_radius = b.size[0] if b.shape == "sphere" else 0.0
        return [PadData(f"{a.name} on {b.name}", on_a, radius, on_b, other_radius, mu=mu, **numbers)]
    raise DescriptionError(
        f"contact {a.name!r} and {b.name!r}: compliant contact of {a.shape} and {b.shape} is not computed; leave out "
        f"their stiffness, or use {', '.join(ON_PLANES)} on a plane, or two spheres"
    )


def _corners(geom: Contact) -> np.ndarray:
    """Return the centres of the balls of a geom (n, 3) in its axes."""
    if geom.shape == "box":
        return np.array([*product(*((-x / 2, x / 2) for x in geom.size))])
    if geom.shape == "capsule":
        return np.array([[0.0, 0.0, -geom.size[1] / 2], [0.0, 0.0, geom.size[1] / 2]])
    return np.zeros((1, 3))


def _moved(place: Place, x: np.ndarray) -> Place:
    return Place(place.body, Pose(place.pose.R, place.pose.R @ x + place.pose.a))
