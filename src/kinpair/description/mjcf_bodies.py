"""The bodies of an MJCF file: a walk down the tree, in MuJoCo's order, and the joints of each; q is MuJoCo's qpos.

A joint sits at `pos` in the body and moves it by q − ref: the moved frame is turned or shifted back by `ref`, and
the body sits at −pos in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.description import mjcf_geoms
from kinpair.description.mjcf_geoms import Mesh
from kinpair.description.mjcf_schema import IDLE_IN_BODY, IN_BODY, MAKING_BODIES
from kinpair.description.mjcf_settings import Settings, pose, shifted
from kinpair.description.mjcf_xml import YES_NO, Defaults, Tag
from kinpair.description.parts import Z_AXIS, Joint, Numbers, Shape, origin
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.spatial.inertia import NOTHING, Inertia, joined
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import about, unit

_KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
_LIMITED = {"true": True, "false": False, "auto": None}
_NOT_TAKEN = {"spherical": ("stiffness",), "free": ("stiffness", "frictionloss")}


@dataclass(frozen=True, slots=True)
class Moved:
    """A joint of a body, between links that are not known yet; `ref` is q at the pose in the file."""

    joint: Joint
    seat: Pose  # of the joint in the body
    ref: float
    force: tuple[float, float] | None = None  # bounds of what all actuators together do to it
    slack: float = 0.0  # q at which springs are slack


def moved(tag: Tag, name: str, frame: Pose, settings: Settings) -> Moved:
    """The joint that an element describes; `frame` is what it is written in."""
    kind = _KINDS["free"] if tag.name == "freejoint" else tag.word("type", _KINDS, "hinge")
    joint = _with_passive(Joint(name, kind, "", "", where=tag.where), tag)
    if kind == "free":
        _warn_of_aligned(tag, settings)
        return Moved(joint, HOME, 0.0)
    seat = shifted(frame.R @ np.array(tag.numbers("pos", 3, default=(0.0, 0.0, 0.0))) + frame.a)
    back = shifted(-seat.a)
    if kind == "spherical":
        if tag.word("limited", _LIMITED, "auto") is not False:
            _warn_of_single(tag, "range")
        return Moved(replace(joint, child_origin=origin(back)), seat, 0.0)
    return _single(joint, tag, seat, frame.R, settings)


def _single(joint: Joint, tag: Tag, seat: Pose, axes: np.ndarray, settings: Settings) -> Moved:
    """A hinge or slide."""
    written = np.array(tag.numbers("axis", 3, default=Z_AXIS))
    if not written.any():
        raise tag.error("has the axis 0 0 0; give a direction")
    axis = axes @ unit(written)
    hinge = joint.kind == "revolute"
    one = settings.angle if hinge else 1.0
    ref = one * tag.number("ref", 0.0)
    home = Pose(about(axis, -ref), np.zeros(3)) if hinge else shifted(-ref * axis)
    x, y, z = (axis + 0.0).tolist()
    lower, upper = limits(tag, "limited", "range", settings)
    force = limits(tag, "actuatorfrclimited", "actuatorfrcrange", settings)
    part = replace(
        joint,
        child_origin=origin((home if ref else HOME) @ shifted(-seat.a)),
        axis=(x, y, z),
        lower=tuple(one * bound for bound in lower),
        upper=tuple(one * bound for bound in upper),
        effort=(max(abs(bound) for side in force for bound in side),) if force[0] else (),
        rest=(one * tag.number("springref", 0.0),) if joint.stiffness else (),
        start=_nonzero(ref),
    )
    slack = one * tag.number("springref", 0.0)
    return Moved(part, seat, ref, (force[0][0], force[1][0]) if force[0] else None, slack)


def limits(tag: Tag, limited: str, span: str, settings: Settings) -> tuple[Numbers, Numbers]:
    """Lower and upper bound, if there are any."""
    low, high = tag.numbers(span, 2, default=(0.0, 0.0))
    stated = tag.word(limited, _LIMITED, "auto")
    if stated is None and tag.has(span) and not settings.autolimits:
        tag.warn(f"has {span} without {limited}, and autolimits is off; taken as unlimited")
    if (stated and not low < high) or (stated is None and low > high):
        named = f"{limited} and the {span}" if stated else f"the {span}"
        tag.warn(f"has {named} {low:g} to {high:g}, which leaves no room; taken as unlimited")
    on = low < high and (settings.autolimits if stated is None else stated)
    return ((low,), (high,)) if on else ((), ())


def _with_passive(joint: Joint, tag: Tag) -> Joint:
    """Spring, damper, friction and rotor."""
    several = joint.kind in _NOT_TAKEN
    _warn_of_single(tag, *_NOT_TAKEN.get(joint.kind, ()))
    if any(tag.values("springdamper")):
        tag.warn_once(
            "has springdamper, which needs the inertia of the whole; left out here and elsewhere, "
            "write stiffness and damping"
        )
    if any(tag.values("springyield")):
        tag.warn_once("has springyield; springs are taken as if they did not yield, here and elsewhere")
    return replace(
        joint,
        damping=_linear(tag, "damping"),
        friction=() if joint.kind == "free" else _nonzero(tag.number("frictionloss", 0.0)),
        stiffness=() if several else _linear(tag, "stiffness"),
        rotor_inertia=tag.number("armature", 0.0),
    )


def _linear(tag: Tag, attribute: str) -> Numbers:
    """The coefficient of a spring or damper; those of higher order are left out."""
    first, *higher = tag.numbers(attribute, 1, 3, (0.0, 0.0, 0.0))
    if any(higher):
        tag.warn(f"has {attribute} of higher order; only the linear part {first:g} is taken")
    return _nonzero(first)


def _nonzero(number: float) -> Numbers:
    return (number,) if number else ()


def _warn_of_single(tag: Tag, *attributes: str) -> None:
    """Warn of what is not taken for joints of several degrees."""
    for name in attributes:
        if any(tag.values(name)):
            tag.warn_once(
                f"turns freely, and {name} is not taken for such joints; left out here and elsewhere"
            )


def _warn_of_aligned(tag: Tag, settings: Settings) -> None:
    if tag.word("align", {**YES_NO, "auto": settings.align_free}, "auto"):
        tag.warn_once(
            "is to be aligned with the inertia of its body, which is not done: q is the pose of the body"
        )


WORLD = "world"


@dataclass(frozen=True, slots=True)
class Site:
    """A named place on a body."""

    name: str
    pose: Pose
    where: str


class Geom(NamedTuple):
    """A geom with the attributes of its class, and its pose in the body."""

    tag: Tag
    pose: Pose


@dataclass(frozen=True, slots=True)
class Body:
    """A body as written: where it sits in its parent and, as the file stands, in the world."""

    name: str
    parent: str
    pose: Pose
    home: Pose
    moves: bool  # it has joints, or what it hangs on moves
    joints: tuple[Moved, ...] = ()
    inertia: Inertia = NOTHING
    shapes: tuple[Shape, ...] = ()
    sites: tuple[Site, ...] = ()
    where: str = ""
    geoms: tuple[Geom, ...] = ()
    plugins: tuple[Tag, ...] = ()


class Part(NamedTuple):
    """An element of a body, the frame it is written in, and the class its children have."""

    tag: Tag
    frame: Pose
    child_class: str


Parts: TypeAlias = Mapping[str, list[Part]]  # by the name of the element


@dataclass(slots=True)
class Reader:
    """Reads bodies one after another; names and numbers those that have no name."""

    settings: Settings
    defaults: Defaults
    meshes: Mapping[str, Mesh]
    colours: Mapping[str, Numbers]
    bodies: list[Body] = field(default_factory=list[Body])
    names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    joints: int = 0

    def world(self, tag: Tag) -> None:
        """The world and all in it."""
        parts = self._sorted(tag.called("the world").known(), self.defaults.named(tag, ""))
        self._add(Body(WORLD, "", HOME, HOME, False, sites=self._sites(parts), where=tag.where), parts)

    def _add(self, body: Body, parts: Parts) -> None:
        """A body, then those inside it."""
        plugins = tuple(part.tag for part in parts["plugin"])
        self.bodies.append(
            replace(body, geoms=tuple(self._geom(part) for part in parts["geom"]), plugins=plugins)
        )
        for part in parts["body"]:
            self._body(part, body)

    def _body(self, part: Part, parent: Body) -> None:
        name = self._named(part.tag, "body", len(self.bodies))
        tag = part.tag.called(f"body {name!r}").known()
        if any(tag.values("gravcomp")):
            tag.warn_once(
                "has gravcomp, which is not taken: its whole weight acts, and that of others like it"
            )
        placed = part.frame @ pose(tag, self.settings)
        parts = self._sorted(tag, self.defaults.named(tag, part.child_class))
        joints = self._joints(tag, parent, parts)
        moves = parent.moves or bool(joints)
        body = Body(
            name,
            parent.name,
            placed,
            parent.home @ placed,
            moves,
            joints,
            self._inertia(parts, pose(tag, self.settings).a, moves),
            self._shapes(parts),
            self._sites(parts),
            tag.where,
        )
        self._add(body, parts)

    def _sorted(self, tag: Tag, child_class: str) -> Parts:
        """Sort what is in a body by the names of the elements, each in the order of the file."""
        parts: dict[str, list[Part]] = {name: [] for name in IN_BODY}
        for part in self._parts(tag, HOME, child_class):
            parts["joint" if part.tag.name == "freejoint" else part.tag.name].append(part)
        return parts

    def _parts(self, tag: Tag, frame: Pose, child_class: str) -> Iterator[Part]:
        """Return the contents of a body, frames opened."""
        for child in tag.inside:
            if child.name == "frame":
                inner = child.called(tag.part).known()
                inside = frame @ pose(inner, self.settings)
                yield from self._parts(inner, inside, self.defaults.named(inner, child_class))
            elif child.name in IN_BODY:
                yield Part(self._whole(child, tag.part, child_class), frame, child_class)
            elif child.name in MAKING_BODIES:
                raise child.error(
                    "makes bodies that are not written out; save the compiled model as MJCF and load that"
                )
            elif child.name not in IDLE_IN_BODY:
                raise child.error(
                    f"is not an element of a body; {nearest(child.name, IN_BODY)}Elements: {listed(IN_BODY)}"
                )

    def _whole(self, child: Tag, owner: str, child_class: str) -> Tag:
        """An element of a body with all its attributes."""
        if child.name in ("body", "plugin"):
            return child
        name = child.text("name")
        unnamed = owner if child.name == "inertial" else f"{owner}, its {child.name},"
        child = child.called(f"{child.name} {name!r}" if name else unnamed).known()
        return self.defaults.of(child, child_class) if child.name in ("joint", "geom", "site") else child

    def _named(self, tag: Tag, what: str, number: int) -> str:
        """The name of an element, unique among its kind."""
        name = tag.text("name") or f"{what} {number}"
        if (what, name) in self.names or (what, name) == ("body", WORLD):
            first = self.names.get((what, name), "the root of the file")
            raise tag.called(f"{what} {name!r}").error(
                f"exists already at {first}; rename one of them", name=name
            )
        self.names[what, name] = tag.where
        return name

    def _joints(self, tag: Tag, parent: Body, parts: Parts) -> tuple[Moved, ...]:
        moves: list[Moved] = []
        for child, frame, _ in parts["joint"]:
            name = self._named(child, "joint", self.joints)
            self.joints += 1
            moves.append(moved(child.called(f"joint {name!r}"), name, frame, self.settings))
        kinds = [x.joint.kind for x in moves]
        if "free" in kinds and (len(kinds) > 1 or parent.name != WORLD):
            raise tag.error("has a free joint, which must be its only one, and its parent the world")
        if moves and tag.word("mocap", YES_NO, "false"):
            raise tag.error(
                "is a mocap body with joints; such a body is moved from outside; remove its joints"
            )
        return tuple(moves)

    def _inertia(self, parts: Parts, place: Vector, moves: bool) -> Inertia:
        """Inertia of the geoms or as written. Without either, the least mass of <compiler> has its centre at `place`,
        where the file puts the body in its parent, as in MuJoCo."""
        inertials, geoms = parts["inertial"], parts["geom"]
        use = {"never": False, "always": True, "unless given": not inertials}[self.settings.from_geoms]
        body = self._of_geoms(geoms, moves) if use else NOTHING
        if not body.m:
            own = Inertia(0.0, place, NOTHING.I)
            body = mjcf_geoms.written(inertials[0].tag, self.settings) if inertials else own
        return mjcf_geoms.bounded(body, self.settings)

    def _of_geoms(self, geoms: list[Part], moves: bool) -> Inertia:
        """All geoms together; one without an answer is doubtful on a body that stands still, else an error."""
        inertias: list[Inertia] = []
        for geom, frame, _ in geoms:
            try:
                inertias.append(mjcf_geoms.inertia(geom, frame, self.settings, self.meshes))
            except DescriptionError as reason:
                if moves:
                    raise
                geom.warnings.add(f"{reason}; its body stands still, so its mass is left out")
        return joined(inertias) if inertias else NOTHING

    def _shapes(self, parts: Parts) -> tuple[Shape, ...]:
        shapes = (
            mjcf_geoms.shape(p.tag, p.frame, self.settings, self.meshes, self.colours) for p in parts["geom"]
        )
        return tuple(shape for shape in shapes if shape is not None)

    def _geom(self, part: Part) -> Geom:
        return Geom(part.tag, part.frame @ pose(part.tag, self.settings))

    def _sites(self, parts: Parts) -> tuple[Site, ...]:
        return tuple(
            Site(self._named(p.tag, "site", 0), p.frame @ pose(p.tag, self.settings), p.tag.where)
            for p in parts["site"]
            if p.tag.text("name")
        )


def scaled(bodies: list[Body], settings: Settings) -> list[Body]:
    """The bodies with the total mass that <compiler> asks for."""
    k = mjcf_geoms.scale((body.inertia for body in bodies), settings)
    if k == 1.0:
        return bodies
    return [replace(b, inertia=Inertia(k * b.inertia.m, b.inertia.d, k * b.inertia.I)) for b in bodies]
