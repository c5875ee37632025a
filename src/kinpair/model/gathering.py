"""Conversion of links and joints to bodies: what is welded together becomes one body.

Links and joints that have the same data share their poses, inertias and bodies: a chain of a million equal links has
three different bodies, whatever its length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix
from kinpair.description.parts import GROUND, Description, Joint, Link, Origin
from kinpair.description.warning_list import WarningList, at
from kinpair.model.joint_data import reflected_rotor
from kinpair.model.model import Body, Place
from kinpair.model.shared import Shared
from kinpair.pairs import PAIRS, Pair
from kinpair.pairs.fixed import Fixed
from kinpair.spatial.inertia import Inertia, joined
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import IDENTITY, clean, snapped

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))
GROUND_BODY = Body(Fixed(), IDENTITY, ZERO, ZERO, 0.0, ZERO, ZERO3, ZERO, ZERO3, np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class _Exact:
    """A pose, and by how much `snap` changed its rotation."""

    pose: Pose
    change: float


@dataclass(frozen=True, slots=True, eq=False)
class _Axes:
    """The pair of a joint, and the turns from the joint frame to its axes and back."""

    pair: Pair
    turn: Pose
    back: Pose
    change: float


@dataclass(slots=True, eq=False)
class Seed:
    """A body while the links on it are being gathered: each link with its pose on the body."""

    joint: Joint
    parent: int
    axes: _Axes
    seat: Pose
    links: list[tuple[Link, Pose]] = field(default_factory=list[tuple[Link, Pose]])

    @property
    def pair(self) -> Pair:
        """The pair that moves the body."""
        return self.axes.pair

    @property
    def R_joint(self) -> Matrix:
        """Axes of the joint frame, in axes of the seat (3, 3)."""
        return self.axes.back.R


class Poser:
    """Origins and axes as poses; with `snap`, rotations within that distance of quarter turns are made exact, with a
    note for each."""

    def __init__(self, snap: float, warnings: WarningList) -> None:
        self._snap, self._warnings = snap, warnings
        self._origins: Shared[_Exact] = Shared()
        self._axes: Shared[_Axes] = Shared()
        self._products: Shared[Pose] = Shared()

    def pose(self, word: str, part: Any, origin: Origin) -> Pose:
        """The pose of an origin of a part, which is a `word`."""
        exact = self._origins.of(origin, self._exact, origin)
        self._note(word, part, "rotation", exact.change)
        return exact.pose

    def axes(self, joint: Joint) -> _Axes:
        """The pair of a joint and its axes."""
        key = (joint.kind, joint.axis, joint.axis2, joint.pitch)
        axes = self._axes.of(key, self._seated, joint)
        self._note("joint", joint, "axis", axes.change)
        return axes

    def product(self, *poses: Pose) -> Pose:
        """A frame in a frame in a frame, rotations off quarter turns by rounding alone made exact."""
        return self._products.by_identity(_product, *poses)

    def _exact(self, origin: Origin) -> _Exact:
        pose = origin.pose()
        R = snapped(pose.R, self._snap)
        return _Exact(Pose(R, pose.a), float(np.abs(R - pose.R).max()))

    def _seated(self, joint: Joint) -> _Axes:
        given, pair = PAIRS[joint.kind].seated(joint.axis, joint.axis2, joint.pitch)
        turn = snapped(given, self._snap)
        back = Pose(frozen(clean(turn.T)), ZERO)
        return _Axes(pair, Pose(turn, ZERO), back, float(np.abs(turn - given).max()))

    def _note(self, word: str, part: Any, what: str, change: float) -> None:
        if change:
            place = f"{at(part.where)}{word} {part.name!r}"
            self._warnings.note(f"{place}: {what} changed by {change:.2g} (snap={self._snap:g})")


def _product(*poses: Pose) -> Pose:
    pose = poses[0]
    for inner in poses[1:]:
        pose = pose @ inner
    return Pose(frozen(clean(pose.R)), frozen(pose.a + 0.0))


def gather(
    description: Description, root: str, joints: Sequence[Joint], poser: Poser, merge_fixed: bool
) -> tuple[list[Seed], dict[str, Place]]:
    """The bodies to be, and where all links and frames are on them; joints in an order outward from the root."""
    links = {link.name: link for link in description.links}
    seeds: list[Seed] = []
    places = {root: Place(0, HOME)}
    if GROUND not in links:
        places[GROUND] = Place(0, HOME)
    for joint in joints:
        on = places[joint.parent]
        origin = poser.pose("joint", joint, joint.origin)
        child = poser.pose("joint", joint, joint.child_origin)
        axes = poser.axes(joint)
        if merge_fixed and isinstance(axes.pair, Fixed) and not joint.compliance:
            place = Place(on.body, poser.product(on.pose, origin, child))
        else:
            seeds.append(Seed(joint, on.body, axes, poser.product(on.pose, origin, axes.turn)))
            place = Place(len(seeds), poser.product(axes.back, child))
        places[joint.child] = place
        if place.body and joint.child in links:
            seeds[place.body - 1].links.append((links[joint.child], place.pose))
    for frame in description.frames:
        on = places[frame.link]
        pose = poser.pose("frame", frame, frame.origin)
        places[frame.name] = Place(on.body, poser.product(on.pose, pose))
    return seeds, places


def bodies_of(seeds: Sequence[Seed], rotors: Mapping[str, float]) -> tuple[Body, ...]:
    """The bodies, the ground first; equal seeds on equal parents share one."""
    inertias: Shared[Inertia] = Shared()
    bodies: Shared[Body] = Shared()
    masses = [Inertia(0.0, ZERO, ZERO3)]
    every = [GROUND_BODY]
    for seed in seeds:
        own = inertias.of(
            tuple((link.mass, link.com, link.inertia, id(pose)) for link, pose in seed.links), _whole, seed
        )
        masses.append(own)
        parent, joint = masses[seed.parent], seed.joint
        rotor = rotors.get(joint.name, 0.0)
        key = (
            *(id(seed.seat), id(seed.axes), id(own), id(parent)),
            *(joint.rotor_inertia, joint.gear_ratio, rotor),
        )
        every.append(bodies.of(key, _body, seed, own, parent, rotor))
    return tuple(every)


def _whole(seed: Seed) -> Inertia:
    """All links of a body, in its axes."""
    return joined(
        Inertia(link.mass, np.array(link.com), link.tensor()).moved(pose.R, pose.a)
        for link, pose in seed.links
    )


def _body(seed: Seed, own: Inertia, parent: Inertia, rotor: float) -> Body:
    return Body(
        pair=seed.pair,
        R_seat=seed.seat.R,
        a_seat=seed.seat.a,
        r_seat=frozen(seed.seat.a - parent.d),
        m=own.m,
        d=frozen(own.d),
        I=frozen(own.I),
        s=frozen(own.m * own.d),
        J=frozen(own.about_origin()),
        rotor=frozen(reflected_rotor(seed.joint, seed.pair) + rotor),
    )


def frozen(x: Any) -> Any:
    """The array, read-only from now on."""
    x.flags.writeable = False
    return x
