"""A mechanism described from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict, Unpack

import numpy as np

from kinpair.description import fields as f
from kinpair.description.doubts import Doubts
from kinpair.description.parts import GRAVITY, Description, Frame, Joint, Link
from kinpair.description.place import Place
from kinpair.description.schema import distinct, frame_from, joint_from, link_from

List: TypeAlias = Sequence[float] | np.ndarray
Rows: TypeAlias = Sequence[Sequence[float]] | np.ndarray
Angles: TypeAlias = Sequence[float | str] | np.ndarray
Each: TypeAlias = float | List
EachAngle: TypeAlias = float | str | Angles


class Turned(TypedDict, total=False):
    """Keys that place a frame."""

    xyz: List
    rpy: Angles
    quaternion: List
    matrix: Rows


class LinkKeys(TypedDict, total=False):
    """Keys of a link beside its name."""

    mass: float
    com: List
    inertia: List | Rows
    inertia_about: str
    visual: Sequence[Mapping[str, object]]


class JointKeys(Turned, total=False):
    """Keys of a joint beside name, kind, parent and child."""

    axis: str | List
    axis2: str | List
    pitch: float
    child_xyz: List
    child_rpy: Angles
    child_quaternion: List
    child_matrix: Rows
    lower: EachAngle
    upper: EachAngle
    velocity: Each
    effort: Each
    damping: Each
    friction: Each
    stiffness: Each
    rest: EachAngle
    rotor_inertia: float
    gear_ratio: float
    mimic: Mapping[str, object]


class Builder:
    """Collects the parts of a mechanism; each call checks its part and returns the builder.

    >>> pendulum = (
    ...     Builder("pendulum")
    ...     .link("bob", mass=1.0, com=[0, 0, -0.5], inertia=[0.08, 0.08, 0.001])
    ...     .joint("hinge", "revolute", "ground", "bob", axis="y")
    ...     .description()
    ... )
    """

    def __init__(self, name: str, gravity: List = GRAVITY) -> None:
        self._doubts = Doubts()
        self._name = f.text(name, self._place("mechanism").at("name"))
        self._gravity = f.vector(gravity, self._place("mechanism", name).at("gravity"))
        self._links: list[Link] = []
        self._joints: list[Joint] = []
        self._frames: list[Frame] = []

    def link(self, name: str, **keys: Unpack[LinkKeys]) -> Builder:
        """A rigid body."""
        self._links.append(link_from(_given(keys, name=name), self._place("link", name)))
        return self

    def joint(self, name: str, kind: str, parent: str, child: str, **keys: Unpack[JointKeys]) -> Builder:
        """A pair that moves link `child` in link `parent`."""
        given = _given(keys, name=name, kind=kind, parent=parent, child=child)
        self._joints.append(joint_from(given, self._place("joint", name)))
        return self

    def frame(self, name: str, link: str, **keys: Unpack[Turned]) -> Builder:
        """A named place on a link."""
        self._frames.append(frame_from(_given(keys, name=name, link=link), self._place("frame", name)))
        return self

    def description(self) -> Description:
        """All parts so far, as plain data."""
        return Description(
            self._name,
            distinct("link", self._links),
            distinct("joint", self._joints),
            distinct("frame", self._frames),
            self._gravity,
            doubts=tuple(self._doubts.sentences),
        )

    def _place(self, word: str, name: object = "") -> Place:
        return Place(self._doubts, part=f"{word} {name!r}" if name else word)


def _given(keys: Mapping[str, object], **first: object) -> dict[str, object]:
    return {key: value for key, value in {**first, **keys}.items() if value is not None}
