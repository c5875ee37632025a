"""The kinematic pairs, one file each, and the tables of them by name: of joints, and of what closes loops."""

from kinpair.pairs.closings import Face, Pin, PlaneWeld, Turn
from kinpair.pairs.cylindrical import Cylindrical
from kinpair.pairs.fixed import Fixed
from kinpair.pairs.free import Free
from kinpair.pairs.helical import Helical
from kinpair.pairs.pair import Closing, Pair
from kinpair.pairs.planar import Planar
from kinpair.pairs.prismatic import Prismatic
from kinpair.pairs.revolute import Revolute
from kinpair.pairs.spherical import Spherical
from kinpair.pairs.universal import Universal

PAIRS: dict[str, type[Pair]] = {
    pair.kind: pair
    for pair in (
        Revolute,
        Prismatic,
        Helical,
        Cylindrical,
        Universal,
        Spherical,
        Planar,
        Free,
        Fixed,
    )
}

CLOSINGS: dict[str, type[Closing]] = {  # what may close a loop
    **PAIRS,
    **{closing.kind: closing for closing in (Pin, PlaneWeld, Turn, Face)},
}

__all__ = ["CLOSINGS", "PAIRS", "Closing", "Pair"]
