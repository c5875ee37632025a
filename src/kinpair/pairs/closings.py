"""Closings of loops that are no joints: a pin of a plane linkage, and what follows a massless link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinpair.pairs.pair import Closing


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pin(Closing):
    """Holds a point on the axis z of the seat; slide along z and all turns are free."""

    kind = "pin"
    closure = (("point", 0), ("point", 1))


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlaneWeld(Closing):
    """Holds a point on the axis z of the seat and all turns about z: a weld in a plane linkage."""

    kind = "plane-weld"
    closure = (("point", 0), ("point", 1), ("turn", 2))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Turn(Closing):
    """Holds the turn about the axis z of the seat alone: shafts that turn together."""

    kind = "turn"
    closure = (("turn", 2),)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Face(Closing):
    """Holds a point in the plane z = 0 of the seat."""

    kind = "face"
    closure = (("point", 2),)
