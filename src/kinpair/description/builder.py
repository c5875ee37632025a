"""A mechanism described from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from kinpair.description import condition_schema as schema
from kinpair.description import fields as f
from kinpair.description.builder_keys import (
    CouplingKeys,
    CurveKeys,
    GuideKeys,
    JointKeys,
    KeyframeKeys,
    KnifeEdgeKeys,
    LinkKeys,
    List,
    LoopKeys,
    MomentumKeys,
    RollingKeys,
    SurfaceKeys,
    Text,
    Turned,
    TurnedInBoth,
)
from kinpair.description.conditions import Condition, Formula
from kinpair.description.doubts import Doubts
from kinpair.description.parts import GRAVITY, Description, Frame, Joint, Keyframe, Link
from kinpair.description.place import Place
from kinpair.description.schema import distinct, frame_from, joint_from, keyframe_from, link_from


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
        self._conditions: list[Condition] = []
        self._keyframes: list[Keyframe] = []

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

    def keyframe(self, name: str, **keys: Unpack[KeyframeKeys]) -> Builder:
        """A state by name; a joint that is not named is at its start, and at rest."""
        self._keyframes.append(keyframe_from(_given(keys, name=name), self._place("keyframe", name)))
        return self

    # Conditions beyond the joints, see docs/constraints.md.

    def loop(self, name: str, kind: str, parent: str, child: str, **keys: Unpack[LoopKeys]) -> Builder:
        """A pair that closes a loop: `child` moves in `parent` as this kind of joint allows."""
        given = _given(keys, name=name, kind=kind, parent=parent, child=child)
        return self._condition("loop", schema.loop_from, given)

    def coupling(self, name: str, joint: str, **keys: Unpack[CouplingKeys]) -> Builder:
        """A coordinate that follows another one, or several."""
        return self._condition("coupling", schema.coupling_from, _given(keys, name=name, joint=joint))

    def gear(self, name: str, joint: str, follows: str, ratio: float, offset: float | str = 0.0) -> Builder:
        """`joint` turns `ratio` times as far as `follows`; negative where it turns the other way."""
        return self.coupling(name, joint, follows=follows, ratio=ratio, offset=offset)

    def rack(self, name: str, joint: str, pinion: str, radius: float, offset: float = 0.0) -> Builder:
        """The slide `joint` moves `radius` metres per radian of `pinion`; negative where it runs back."""
        return self.coupling(name, joint, follows=pinion, ratio=radius, offset=offset)

    def distance(
        self, name: str, parent: str, child: str, length: float, **keys: Unpack[TurnedInBoth]
    ) -> Builder:
        """A massless rod of this length [m] between two points."""
        given = _given(keys, name=name, parent=parent, child=child, length=length)
        return self._condition("distance", schema.distance_from, given)

    def on_surface(self, name: str, parent: str, child: str, **keys: Unpack[SurfaceKeys]) -> Builder:
        """A point of `child` stays on a surface that is fixed in `parent`."""
        given = _given(keys, name=name, parent=parent, child=child)
        return self._condition("surface", schema.surface_from, given)

    def on_curve(self, name: str, parent: str, child: str, **keys: Unpack[CurveKeys]) -> Builder:
        """A point of `child` stays on a curve that is fixed in `parent`."""
        given = _given(keys, name=name, parent=parent, child=child)
        return self._condition("surface", schema.surface_from, given)

    def rolling(
        self, name: str, parent: str, child: str, shape: Formula, **keys: Unpack[RollingKeys]
    ) -> Builder:
        """A surface of `child` rolls without slipping on a plane of `parent`."""
        given = _given(keys, name=name, parent=parent, child=child, shape=shape)
        return self._condition("rolling", schema.rolling_from, given)

    def knife_edge(self, name: str, child: str, **keys: Unpack[KnifeEdgeKeys]) -> Builder:
        """A point of `child` does not move along `axis`, which is fixed in `child`."""
        return self._condition("knife_edge", schema.knife_edge_from, _given(keys, name=name, child=child))

    def drive(self, name: str, joint: str, motion: Text) -> Builder:
        """A coordinate is a given function of time."""
        return self._condition("drive", schema.drive_from, _given({}, name=name, joint=joint, motion=motion))

    def guide(self, name: str, child: str, **keys: Unpack[GuideKeys]) -> Builder:
        """A frame on `child` is moved by given functions of time."""
        return self._condition("guide", schema.guide_from, _given(keys, name=name, child=child))

    def momentum(self, name: str, part: str, **keys: Unpack[MomentumKeys]) -> Builder:
        """The `angular` or `linear` momentum along `axis` keeps its value."""
        return self._condition("momentum", schema.momentum_from, _given(keys, name=name, part=part))

    def given(
        self,
        name: str,
        *,
        phi: Callable[..., Any] | None = None,
        psi: Callable[..., Any] | None = None,
        A: Callable[..., Any] | None = None,
        a: Callable[..., Any] | None = None,
    ) -> Builder:
        """Rows by Python functions: phi(q, t) = 0, psi(q, qd, t) = 0, or A(q, t) q̇ + a(q, t) = 0."""
        return self._condition("given", schema.given_from, _given({}, name=name, phi=phi, psi=psi, A=A, a=a))

    def _condition(self, word: str, made: Callable[..., Condition], keys: Mapping[str, object]) -> Builder:
        self._conditions.append(made(keys, self._place(word, keys.get("name"))))
        return self

    def description(self) -> Description:
        """All parts so far, as plain data."""
        return Description(
            self._name,
            distinct("link", self._links),
            distinct("joint", self._joints),
            distinct("frame", self._frames),
            self._gravity,
            distinct("condition", self._conditions),
            distinct("keyframe", self._keyframes),
            doubts=tuple(self._doubts.sentences),
        )

    def _place(self, word: str, name: object = "") -> Place:
        return Place(self._doubts, part=f"{word} {name!r}" if name else word)


def _given(keys: Mapping[str, object], **first: object) -> dict[str, object]:
    return {key: value for key, value in {**first, **keys}.items() if value is not None}
