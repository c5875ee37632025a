"""The bodies of an MJCF file: a walk down the tree, in MuJoCo's order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from kinpair.algebra.arrays import Vector
from kinpair.description import mjcf_geoms, mjcf_inertia
from kinpair.description.mjcf_defaults import Defaults
from kinpair.description.mjcf_joints import Moved, moved
from kinpair.description.mjcf_mesh import Mesh
from kinpair.description.mjcf_orientation import pose
from kinpair.description.mjcf_schema import IDLE_IN_BODY, IN_BODY, MAKING_BODIES
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.parts import Numbers, Shape
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.spatial.inertia import NOTHING, Inertia, joined
from kinpair.spatial.pose import HOME, Pose

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
            body = mjcf_inertia.written(inertials[0].tag, self.settings) if inertials else own
        return mjcf_inertia.bounded(body, self.settings)

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
    k = mjcf_inertia.scale((body.inertia for body in bodies), settings)
    if k == 1.0:
        return bodies
    return [replace(b, inertia=Inertia(k * b.inertia.m, b.inertia.d, k * b.inertia.I)) for b in bodies]
