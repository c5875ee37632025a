"""The bodies of an MJCF file: a walk down the tree, in MuJoCo's order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinpair.description import mjcf_geoms, mjcf_inertia
from kinpair.description.mjcf_defaults import Defaults
from kinpair.description.mjcf_joints import Moved, moved
from kinpair.description.mjcf_mesh import Mesh
from kinpair.description.mjcf_orientation import pose
from kinpair.description.mjcf_schema import IDLE_IN_BODY, IN_BODY, MAKING_BODIES
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.parts import Shape
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


@dataclass(frozen=True, slots=True)
class Body:
    """A body as written: where it sits in its parent and, as the file stands, in the world."""

    name: str
    parent: str
    pose: Pose
    home: Pose
    joints: tuple[Moved, ...]
    inertia: Inertia
    shapes: tuple[Shape, ...]
    sites: tuple[Site, ...]
    where: str


@dataclass(slots=True)
class Reader:
    """Reads bodies one after another; names and numbers those that have no name."""

    settings: Settings
    defaults: Defaults
    meshes: Mapping[str, Mesh]
    bodies: list[Body] = field(default_factory=list[Body])
    names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    joints: int = 0

    def world(self, tag: Tag) -> None:
        """The world and all in it."""
        self._body(tag.called("the world"), None, HOME, "")

    def _body(self, tag: Tag, parent: Body | None, frame: Pose, child_class: str) -> None:
        still = parent is None
        name = WORLD if still else self._named(tag, "body", len(self.bodies))
        tag = tag.called(f"body {name!r}").known()
        child_class = self.defaults.named(tag, child_class)
        placed = HOME if still else frame @ pose(tag, self.settings)
        if not still and any(tag.values("gravcomp")):
            tag.doubt_once(
                "has gravcomp, which is not taken: its whole weight acts, and that of others like it"
            )
        parts = list(self._parts(tag, HOME, child_class))
        joints = () if still else self._joints(tag, parent, parts)
        moves = any(body.joints for body in self._path(parent)) or bool(joints)
        body = Body(
            name,
            "" if parent is None else parent.name,
            placed,
            placed if parent is None else parent.home @ placed,
            joints,
            NOTHING if still else self._inertia(tag, parts, moves),
            () if still else self._shapes(parts),
            tuple(self._sites(parts)),
            tag.where,
        )
        self.bodies.append(body)
        for child, within, inherited in parts:
            if child.name == "body":
                self._body(child, body, within, inherited)

    def _path(self, body: Body | None) -> Iterator[Body]:
        """The body and those it hangs on."""
        known = {body.name: body for body in self.bodies}
        while body is not None:
            yield body
            body = known.get(body.parent)

    def _parts(self, tag: Tag, frame: Pose, child_class: str) -> Iterator[tuple[Tag, Pose, str]]:
        """What is in a body, frames opened: element, the frame it is written in, class of its children."""
        for child in tag.inside:
            if child.name == "frame":
                inner = child.known()
                inside = frame @ pose(inner, self.settings)
                yield from self._parts(inner, inside, self.defaults.named(inner, child_class))
            elif child.name in IN_BODY:
                yield self._part(child, tag.part, child_class), frame, child_class
            elif child.name in MAKING_BODIES:
                raise child.error(
                    "makes bodies that are not written out; save the compiled model as MJCF and load that"
                )
            elif child.name not in IDLE_IN_BODY:
                raise child.error(
                    f"is no element of a body; {nearest(child.name, IN_BODY)}Elements: {listed(IN_BODY)}"
                )

    def _part(self, child: Tag, owner: str, child_class: str) -> Tag:
        """An element of a body with all its attributes."""
        if child.name == "body":
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

    def _joints(self, tag: Tag, parent: Body | None, parts: list[tuple[Tag, Pose, str]]) -> tuple[Moved, ...]:
        made: list[Moved] = []
        for child, frame, _ in parts:
            if child.name in ("joint", "freejoint"):
                name = self._named(child, "joint", self.joints)
                self.joints += 1
                made.append(moved(child.called(f"joint {name!r}"), name, frame, self.settings))
        kinds = [x.joint.kind for x in made]
        if "free" in kinds and (len(kinds) > 1 or parent is None or parent.name != WORLD):
            raise tag.error("has a free joint, which must be its only one, and its parent the world")
        if made and tag.has("mocap") and tag.word("mocap", YES_NO, "false"):
            raise tag.error("is a mocap body with joints; such a body is moved from outside and has none")
        return tuple(made)

    def _inertia(self, tag: Tag, parts: list[tuple[Tag, Pose, str]], moves: bool) -> Inertia:
        given = [child for child, _, _ in parts if child.name == "inertial"]
        geoms = [(child, frame) for child, frame, _ in parts if child.name == "geom"]
        own = mjcf_inertia.written(given[0], self.settings) if given else NOTHING
        use = {"never": False, "always": bool(geoms), "unless given": not given}[self.settings.from_geoms]
        return mjcf_inertia.bounded(self._of_geoms(geoms, moves) if use else own, self.settings)

    def _of_geoms(self, geoms: list[tuple[Tag, Pose]], moves: bool) -> Inertia:
        """All geoms together; one without an answer is doubtful on a body that stands still, else an error."""
        found: list[Inertia] = []
        for geom, frame in geoms:
            try:
                found.append(mjcf_geoms.inertia(geom, frame, self.settings, self.meshes))
            except DescriptionError as reason:
                if moves:
                    raise
                geom.doubts.add(f"{reason}; its body stands still, so its mass is left out")
        return joined(found) if found else NOTHING

    def _shapes(self, parts: list[tuple[Tag, Pose, str]]) -> tuple[Shape, ...]:
        geoms = ((child, frame) for child, frame, _ in parts if child.name == "geom")
        shapes = (mjcf_geoms.shape(geom, frame, self.settings, self.meshes) for geom, frame in geoms)
        return tuple(shape for shape in shapes if shape is not None)

    def _sites(self, parts: list[tuple[Tag, Pose, str]]) -> Iterator[Site]:
        for child, frame, _ in parts:
            if child.name == "site" and child.text("name"):
                name = self._named(child, "site", 0)
                yield Site(name, frame @ pose(child, self.settings), child.where)


def scaled(bodies: list[Body], settings: Settings) -> list[Body]:
    """The bodies with the total mass that <compiler> asks for."""
    k = mjcf_inertia.scale((body.inertia for body in bodies), settings)
    if k == 1.0:
        return bodies
    return [
        replace(b, inertia=Inertia(k * b.inertia.m, np.array(b.inertia.d), k * b.inertia.I)) for b in bodies
    ]
