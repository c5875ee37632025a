"""A mechanism described from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, Unpack

from kinpair.description import builder_keys as calls
from kinpair.description import fields as f
from kinpair.description.actuator_parts import Actuator
from kinpair.description.actuator_schema import actuator_from
from kinpair.description.builder_keys import (
    BrakeKeys,
    Call,
    ChainKeys,
    ClutchKeys,
    ContactKeys,
    CopyKeys,
    JointKeys,
    KeyframeKeys,
    LinkKeys,
    List,
    MaterialKeys,
    SpringKeys,
    StopKeys,
    Turned,
    stated_keys,
)
from kinpair.description.compound import COMPOUNDS, Compound, Touching, has_joint
from kinpair.description.compound import loop_from as loop_with_joint
from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.constraint_schema import constraint_from
from kinpair.description.contact_shapes import contact_from, exclusion_from, max_contacts_from, pair_from
from kinpair.description.friction_laws import Brake, brake_from, with_brakes
from kinpair.description.parts import (
    GRAVITY,
    Contact,
    ContactExclusion,
    ContactPair,
    Contacts,
    Description,
    Frame,
    Joint,
    Keyframe,
    Link,
    Spring,
)
from kinpair.description.place import Place
from kinpair.description.repeated import Chain, chain_from, warn_of_closed, with_copies
from kinpair.description.schema import (
    LIMITS,
    distinct,
    frame_from,
    joint_from,
    keyframe_from,
    link_from,
    spring_from,
)
from kinpair.description.warning_list import WarningList

P = ParamSpec("P")


def _collected(call: Callable[P, Call]) -> Callable[Concatenate[Builder, P], Builder]:
    """The method that adds the constraint that a call says."""

    @wraps(call)
    def method(self: Builder, *arguments: P.args, **keys: P.kwargs) -> Builder:
        return self.constraint(call(*arguments, **keys))

    own = signature(call)
    first = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    vars(method)["__signature__"] = own.replace(
        parameters=[first, *own.parameters.values()], return_annotation="Builder"
    )
    return method


class Builder:
    """Collects the parts of a mechanism; each call checks its part and returns the builder.

    >>> pendulum = (
    ...     Builder("pendulum")
    ...     .link("bob", mass=1.0, com=[0, 0, -0.5], inertia=[0.08, 0.08, 0.001])
    ...     .joint("hinge", "revolute", "ground", "bob", axis="y")
    ...     .description()
    ... )
    """

    def __init__(
        self,
        name: str,
        gravity: List = GRAVITY,
        limits: str | None = None,
        *,
        max_contacts: int | None = None,
    ) -> None:
        self._warnings = WarningList()
        self._name = f.text(name, self._place("mechanism").at("name"))
        self._gravity = f.gravity(gravity, self._place("mechanism", name).at("gravity"))
        self._limits = LIMITS(limits, self._place("mechanism", name).at("limits")) if limits else ""
        self._max_contacts = max_contacts
        if max_contacts is not None:
            max_contacts_from(max_contacts, self._place("mechanism", name).at("max_contacts"))
        self._links: list[Link] = []
        self._joints: list[Joint] = []
        self._frames: list[Frame] = []
        self._constraints: list[ConstraintPart] = []
        self._keyframes: list[Keyframe] = []
        self._springs: list[Spring] = []
        self._actuators: list[Actuator] = []
        self._brakes: list[Brake] = []
        self._chains: list[Chain] = []
        self._geoms: list[Contact] = []
        self._pairs: list[ContactPair] = []
        self._exclusions: list[ContactExclusion] = []

    def link(self, name: str, **keys: Unpack[LinkKeys]) -> Builder:
        """A rigid body."""
        self._links.append(link_from(stated_keys(keys, name=name), self._place("link", name)))
        return self

    def joint(self, name: str, kind: str, parent: str, child: str, **keys: Unpack[JointKeys]) -> Builder:
        """A pair that moves link `child` in link `parent`."""
        custom = stated_keys(keys, name=name, kind=kind, parent=parent, child=child)
        self._joints.append(joint_from(custom, self._place("joint", name)))
        return self

    def chain(self, name: str, *, n: int, length: float, mass: float, **keys: Unpack[ChainKeys]) -> Builder:
        """A chain of n equal links: `length` and `mass` of the whole [m], [kg], joints of the kind `joint`.

        Links and joints are called name_1, name_2, ...; the frame name_end is at the free end. Other keys as in a
        file, see docs/toml.md: parent, xyz, rpy, direction, radius, and numbers of the joints.
        """
        custom = stated_keys(keys, name=name, n=n, length=length, mass=mass)
        chain = chain_from(custom, self._place("chain", name))
        self._chains.append(chain)
        self._links += chain.links
        self._joints += chain.joints
        self._frames.append(chain.end)
        return self

    def copy(self, part: str, n: int, **keys: Unpack[CopyKeys]) -> Builder:
        """Add n copies of link `part`, all that hangs on it and what connects these parts; copy k of x is called x_k.

        Each copy is on the same link, moved and turned by xyz and rpy from the one before; with `onto`, a link of the
        part, each is on that link of the one before, its joint at xyz and rpy there.
        """
        custom = stated_keys(keys, part=part, n=n)
        whole = with_copies(self._parts(), custom, self._place("copy", part))
        self._links, self._joints, self._frames = list(whole.links), list(whole.joints), list(whole.frames)
        self._constraints, self._springs = list(whole.constraints), list(whole.springs)
        self._actuators, self._brakes = list(whole.actuators), []
        self._geoms, self._pairs = list(whole.contacts.geoms), list(whole.contacts.pairs)
        self._exclusions = list(whole.contacts.exclusions)
        return self

    def frame(self, name: str, link: str, **keys: Unpack[Turned]) -> Builder:
        """A named place on a link."""
        self._frames.append(frame_from(stated_keys(keys, name=name, link=link), self._place("frame", name)))
        return self

    def spring(self, name: str, parent: str, child: str, **keys: Unpack[SpringKeys]) -> Builder:
        """A spring and damper between a point of `parent` and one of `child`; a rope with tension_only=True.

        `law` (length, rate) → tension takes the place of stiffness, damping, rest_length and preload; with it,
        `energy` (length) is what of its work is stored, and the rest is lost.
        """
        custom = stated_keys(keys, name=name, parent=parent, child=child)
        self._springs.append(spring_from(custom, self._place("spring", name)))
        return self

    def actuator(self, name: str, joint: str, kind: str, **keys: Any) -> Builder:
        """Add what drives a joint; kinds: "effort", "affine", "dc-motor", "servo", "series-elastic",
        "hydraulic-cylinder", "hydraulic-motor".

        Keys as in a file, see docs/actuators.md: numbers of the kind, `gear` as a dict, `sheet` for a data sheet.
        """
        custom = stated_keys(keys, name=name, joint=joint, kind=kind)
        self._actuators.append(actuator_from(custom, self._place("actuator", name)))
        return self

    def brake(self, name: str, joint: str, level: object, **keys: Unpack[BrakeKeys]) -> Builder:
        """Add dry friction on a joint, or on one rate `joint.part`, under a name of its own.

        `level` [N m], [N]: a number, a formula of t or a Python function of time, or {"input": name, "scale": number}.
        """
        custom = stated_keys(keys, name=name, joint=joint, level=level)
        self._brakes.append(brake_from(custom, self._place("brake", name)))
        return self

    def keyframe(self, name: str, **keys: Unpack[KeyframeKeys]) -> Builder:
        """A state by name; a joint that is not named is at its start, and at rest."""
        self._keyframes.append(keyframe_from(stated_keys(keys, name=name), self._place("keyframe", name)))
        return self

    # Constraints beyond the joints, see docs/constraints.md.

    loop = _collected(calls.loop)
    coupling = _collected(calls.coupling)
    distance = _collected(calls.distance)
    surface = _collected(calls.surface)
    rolling = _collected(calls.rolling)
    knife_edge = _collected(calls.knife_edge)
    drive = _collected(calls.drive)
    guide = _collected(calls.guide)
    momentum = _collected(calls.momentum)
    custom = _collected(calls.custom)

    def gear(self, name: str, joint: str, follows: str, ratio: float, offset: float | str = 0.0) -> Builder:
        """`joint` turns `ratio` times as far as `follows`; negative where it turns in the other direction."""
        return self.coupling(name, joint, follows=follows, ratio=ratio, offset=offset)

    def rack(self, name: str, joint: str, pinion: str, radius: float, offset: float = 0.0) -> Builder:
        """The slide `joint` moves `radius` metres per radian of `pinion`; negative where it runs back."""
        return self.coupling(name, joint, follows=pinion, ratio=radius, offset=offset)

    def constraint(self, call: Call) -> Builder:
        """A constraint of any kind, as one of the functions of `builder_keys` says it."""
        place = self._place(call.word, call.keys.get("name"))
        if call.word == "loop" and has_joint(call.keys):
            return self._compound(loop_with_joint(call.keys, place))
        self._constraints.append(constraint_from(call.word, call.keys, place))
        return self

    def clutch(self, name: str, **keys: Unpack[ClutchKeys]) -> Builder:
        """Add dry friction between two `joints`, the first minus `ratio` times the second, or between two `links`.

        It transmits `level` [N m], [N] at most. Its slip is a coordinate of its own, under its name.
        """
        return self._compound(COMPOUNDS["clutch"](stated_keys(keys, name=name), self._place("clutch", name)))

    def stop(self, name: str, **keys: Unpack[StopKeys]) -> Builder:
        """Add limits `lower` and `upper` of the coordinate `joint`, or of a point of the second of two `links`.

        The point is at child_xyz; its coordinate is measured along `axis` from xyz in the first link. Limits act where
        limits of joints do, see `kinpair.Limits`. With `mu` the stop of a point has Coulomb friction: it is a contact
        of a point and a plane for each limit, see docs/contact.md.
        """
        return self._compound(COMPOUNDS["stop"](stated_keys(keys, name=name), self._place("stop", name)))

    def _compound(self, parts: Compound | Touching) -> Builder:
        if isinstance(parts, Touching):
            self._geoms += parts.geoms
            self._pairs += parts.pairs
            return self
        self._links.append(parts.link)
        self._joints.append(parts.joint)
        self._constraints.append(parts.constraint)
        return self

    def contact(self, name: str, link: str, **keys: Unpack[ContactKeys]) -> Builder:
        """Add a geom, a shape on a link or frame that touches others.

        One of point, sphere, capsule, box, cylinder, ellipsoid, plane, mesh says what it is; sizes, surfaces and groups
        as in a file, see docs/contact.md.
        """
        custom = stated_keys(keys, name=name, link=link)
        self._geoms.append(contact_from(custom, self._place("contact", name)))
        return self

    def contact_pair(self, one: str, other: str, **keys: Unpack[MaterialKeys]) -> Builder:
        """Set friction and restitution of a pair of geoms, which touch whatever their groups and links are."""
        custom = stated_keys(keys, geoms=(one, other))
        self._pairs.append(pair_from(custom, self._place("contact_pair", f"{one} {other}")))
        return self

    def contact_exclude(self, one: str, other: str) -> Builder:
        """Let the geoms of two links pass through each other."""
        keys = {"links": (one, other)}
        self._exclusions.append(exclusion_from(keys, self._place("contact_exclude", f"{one} {other}")))
        return self

    def description(self) -> Description:
        """All parts so far, as plain data."""
        warn_of_closed(self._chains, self._constraints)
        return self._parts()

    def _parts(self) -> Description:
        return Description(
            self._name,
            distinct("link", self._links),
            with_brakes(distinct("joint", self._joints), distinct("brake", self._brakes)),
            distinct("frame", self._frames),
            self._gravity,
            distinct("constraint", self._constraints),
            distinct("keyframe", self._keyframes),
            distinct("spring", self._springs),
            distinct("actuator", self._actuators),
            contacts=Contacts(
                distinct("contact", self._geoms),
                tuple(self._pairs),
                tuple(self._exclusions),
                self._max_contacts,
            ),
            limits=self._limits,
            warnings=tuple(self._warnings.sentences),
        )

    def _place(self, word: str, name: object = "") -> Place:
        return Place(self._warnings, part=f"{word} {name!r}" if name else word)
