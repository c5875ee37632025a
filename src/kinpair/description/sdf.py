"""Reading SDF, the format of Gazebo and Drake: models, nested ones included, as one description.

Read are links, joints of all types, frames, nested, included and static models, placement frames, mimic, gravity of a
world, shapes and colours. docs/formats.md has the table of what is read, warned about and rejected.

The file is long because it is one reader: frames of all parts are resolved together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kinpair.description.files import Files, read_text
from kinpair.description.joint_graph import WORLD, Edge, graph
from kinpair.description.omitted import Omitted, left_out_message
from kinpair.description.parts import (
    GRAVITY,
    GROUND,
    Description,
    Frame,
    Joint,
    Link,
    Three,
    origin,
    three,
)
from kinpair.description.schema import distinct
from kinpair.description.sdf_elements import (
    BETWEEN,
    MODEL,
    YES,
    Frames,
    Placed,
    call_frame,
    content,
    edge,
    inertia,
    scoped,
    shape,
    written_pose,
)
from kinpair.description.urdf_xml import Node, drawn, root_element
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.spatial.pose import HOME, Pose

VERSIONS = ((1, 4), (1, 12))
_ELEMENTS = {  # container: what is read in it, and what has no part in the motion
    "world": (
        "model include frame joint gravity plugin",
        "physics light scene gui atmosphere magnetic_field wind audio road state population actor "
        "spherical_coordinates",
    ),
    "model": (
        "link joint frame model include pose static plugin",
        "self_collide allow_auto_disable enable_wind gripper",
    ),
    "link": (
        "pose inertial visual collision gravity",
        "sensor light self_collide kinematic must_be_base_link velocity_decay projector audio_source audio_sink "
        "battery particle_emitter enable_wind",
    ),
}


def read_sdf(
    path: str | os.PathLike[str],
    *,
    warnings: WarningList,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Description:
    """The mechanism in an SDF file and those it includes; `packages` maps names in model:// to folders."""
    source = os.fspath(path)
    return parse_sdf(
        read_text(path),
        source=source,
        warnings=warnings,
        folder=Path(path).absolute().parent,
        packages=packages,
    )


def parse_sdf(
    text: str,
    *,
    source: str,
    warnings: WarningList,
    folder: Path | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Description:
    """The mechanism in an SDF text; `source` names it in messages, other files are looked for from `folder`."""
    top = _sdf_element(text, source, warnings)
    reader = _Reader(Files(folder, packages or {}))
    world = top.first("world")
    inside = world or _only_model(top)
    name = inside.text("name")
    inside = inside.of(f"{inside.name} {name!r}")
    if world is not None:
        reader.world(inside)
    else:
        reader.model(inside, "", WORLD, top=True)
    if not reader.links:
        found = listed(dict.fromkeys(f"<{x.name}>" for x in inside.each())) or "nothing"
        raise inside.error(f"has no link, so there is no mechanism in it; found {found}")
    return reader.description(name or Path(source).stem, world, source, warnings)


def _sdf_element(text: str, source: str, warnings: WarningList) -> Node:
    root = root_element(text, source, "SDF", warnings)
    node = Node(root, source, warnings, "<sdf>")
    if node.name != "sdf":
        raise DescriptionError(
            f"{node.where}: is not SDF: its root is <{node.name}>, and should be <sdf>", found=node.name
        )
    version = node.text("version")
    try:
        numbers = tuple(int(x) for x in version.split("."))
    except ValueError:
        numbers = ()
    if not VERSIONS[0] <= numbers[:2] <= VERSIONS[1]:
        node.warn(f'has version="{version[:20]}"; versions 1.4 to 1.12 are known, read as 1.12')
    return node


def _only_model(top: Node) -> Node:
    models = top.each("model")
    if not models:
        inside = listed(sorted({x.name for x in top.each()})) or "nothing"
        raise top.error(f"has no <model> and no <world>, so there is no mechanism in it; found {inside}")
    if len(models) > 1:
        raise (
            models[1]
            .of("<sdf>")
            .error(f"has {len(models)} models; put them in a <world>, or each in a file of its own")
        )
    return models[0]


def _gravity(world: Node | None) -> Three:
    inside = world.first("gravity") if world else None
    if inside is None:
        return GRAVITY
    return three(inside.content_numbers(3))


@dataclass(frozen=True, slots=True)
class _LinkNode:
    """A link as written, and whether its model is static."""

    node: Node
    static: bool


@dataclass(slots=True)
class _Reader:
    """Collects links, joints and frames of all models by full name, then makes one description of them."""

    files: Files
    frames: Frames = field(default_factory=Frames)
    links: dict[str, _LinkNode] = field(default_factory=dict[str, _LinkNode])
    joints: list[tuple[str, str, Node]] = field(default_factory=list[tuple[str, str, Node]])  # name, scope
    marks: dict[str, Node] = field(default_factory=dict[str, Node])  # <frame> elements
    omitted: Omitted = field(default_factory=Omitted)
    including: tuple[Path, ...] = ()

    def world(self, node: Node) -> None:
        """Collect everything in a world; names of the only thing in it have no prefix."""
        self._check(node, "world")
        models = node.each("model")
        if len(models) == 1 and not any(node.each(x) for x in ("include", "frame", "joint")):
            self.model(models[0], "", WORLD, top=True)
        else:
            self._models(node, "", WORLD, False)
        self._parts(node, "", WORLD, False)

    def model(
        self,
        node: Node,
        scope: str,
        outer: str,
        *,
        top: bool = False,
        static: bool = False,
        include: Node | None = None,
    ) -> None:
        """Collect a model in a scope; its pose is in the frame `outer`. The only model of a file has no prefix.

        `include`: the element that includes it, whose name, pose and <static> replace those of the model. If it merges
        the model, names have no prefix, and the frame of the model is called _merged__NAME__model__.
        """
        name = (content(include, "name") if include else "") or node.text("name")
        if not name:
            raise node.of("<model>").error('has no name; write <model name="...">')
        node = node.of(f"model {scope}{name!r}")
        self._check(node, "model")
        merged = include is not None and include.text("merge") in YES
        inner = "" if top else scope if merged else f"{scope}{name}{BETWEEN}"
        own = f"_merged__{name}{MODEL}" if merged else MODEL
        frame = f"{inner}{own}"
        if merged:
            call_frame(node.element, own)
        static = static or any(content(x, "static") in YES for x in (node, include) if x)
        placed = include if include and include.each("pose") else node
        anchor = (content(include, "placement_frame") if include else "") or node.text("placement_frame")
        relative_to, pose = written_pose(placed)
        self.frames.placed[frame] = Placed(
            node,
            scoped(relative_to, scope) if relative_to else outer,
            partial(self._anchored, pose, anchor, inner, frame, node),
            self._canonical(node, inner),
        )
        if not (top or merged):
            self.frames.placed[f"{scope}{name}"] = Placed(node, frame, lambda: HOME, frame)
        self._models(node, inner, frame, static)
        self._parts(node, inner, frame, static)

    def _anchored(self, pose: Pose, anchor: str, inner: str, frame: str, node: Node) -> Pose:
        """Return the pose of a model whose placement frame is at `pose`."""
        if not anchor:
            return pose
        return pose @ self.frames.within(self.frames.named(anchor, inner, node), frame).inverse()

    def _canonical(self, node: Node, inner: str) -> str:
        """Return the link that a model frame is attached to: the one named, or the first of the model or in it."""
        named = node.text("canonical_link")
        first = node.each("link") or node.each("model") or node.each("include")
        return f"{inner}{named or (first[0].text('name') if first else '')}"

    def _models(self, node: Node, scope: str, outer: str, static: bool) -> None:
        for model in node.each("model"):
            self.model(model, scope, outer, static=static)
        for include in node.each("include"):
            self._include(include, scope, outer, static)

    def _include(self, node: Node, scope: str, outer: str, static: bool) -> None:
        """Collect the model of another file."""
        node = node.of("<include>")
        path = self._included(node)
        if path in self.including:
            raise node.error(
                f"includes {str(path)!r}, which includes this file; a file cannot contain itself"
            )
        top = _sdf_element(read_text(path), str(path), node.warnings)
        files, including = self.files, self.including
        self.files, self.including = Files(path.parent, files.packages), (*including, path)
        self.model(_only_model(top), scope, outer, static=static, include=node)
        self.files, self.including = files, including

    def _included(self, node: Node) -> Path:
        uri = content(node, "uri")
        if not uri:
            raise node.error("has no <uri>; write <uri>model://NAME</uri> or a path")
        for candidate in (uri, f"{uri}/model.sdf"):
            if (path := self.files.find(candidate)) is not None:
                if path.suffix.lower() == ".urdf":
                    raise node.error(f"includes the URDF file {str(path)!r}; only SDF is included")
                return path
        raise node.error(
            f"includes {uri!r}, which is not there; packages={{name: folder}} says where model://name is",
            uri=uri,
        )

    def _parts(self, node: Node, scope: str, frame: str, static: bool) -> None:
        """Collect links, frames, joints and plugins of a model or a world."""
        for link in node.each("link"):
            name, link = self._named(link, "link", scope)
            self._check(link, "link")
            self._place(name, link, scope, frame, name)
            self.links[name] = _LinkNode(link, static)
            if content(link, "gravity") in ("0", "false"):
                self.omitted.add("link without gravity", repr(name), link.where)
        for mark in node.each("frame"):
            name, mark = self._named(mark, "frame", scope)
            attached = mark.text("attached_to")
            carrier = scoped(attached, scope) if attached else frame
            self.marks[name] = mark
            self._place(name, mark, scope, carrier, carrier)
        for joint in node.each("joint"):
            name, joint = self._named(joint, "joint", scope)
            child = scoped(content(joint, "child"), scope)
            self._place(name, joint, scope, child, child)
            self.joints.append((name, scope, joint))
        for plugin in node.each("plugin"):
            self.omitted.plugin(plugin.text("name"), plugin.text("filename"), plugin.where)

    def _named(self, node: Node, what: str, scope: str) -> tuple[str, Node]:
        name = node.text("name")
        if not name:
            raise node.of(f"<{what}>").error(f'has no name; write <{what} name="...">')
        full, node = f"{scope}{name}", node.of(f"{what} {scope + name!r}")
        if name == WORLD:
            raise node.error("has the name of the world; rename it")
        if full in self.frames.placed:
            raise node.error(f"exists already at {self.frames.placed[full].node.where}; rename one of them")
        return full, node

    def _place(self, name: str, node: Node, scope: str, default: str, attached_to: str) -> None:
        """Record a frame; names are looked up later, because frames may stand in any order."""
        relative_to, pose = written_pose(node)
        outer = scoped(relative_to, scope) if relative_to else default
        self.frames.placed[name] = Placed(node, outer, lambda: pose, attached_to)

    def _check(self, node: Node, container: str) -> None:
        read, idle = (words.split() for words in _ELEMENTS[container])
        for inside in node.each():
            if inside.name not in read and inside.name not in idle and ":" not in inside.name:
                inside.warn(f"has the unknown element <{inside.name}>; {nearest(inside.name, read)}left out")

    # The description.

    def description(self, name: str, world: Node | None, source: str, warnings: WarningList) -> Description:
        """Return the whole as plain data; `world`: the element that the models are in."""
        self._check_references()
        homes = {link: self.frames.home(link) for link in self.links}
        edges: list[Edge] = [edge(node, full, scope, self.frames) for full, scope, node in self.joints]
        welded = [link for link, x in self.links.items() if x.static]
        joints, between, constraints, left_out = graph(edges, homes, welded, world is not None)
        self._report_contact(joints)
        self.omitted.report(warnings)
        if left_out:
            gears = [node for _, _, node in self.joints if node.text("type") == "gearbox"]
            gears[0].of("<joint>").warn(
                left_out_message(left_out, len(gears), "both joints move on their own")
            )
        links = tuple(self._link(full, x.node) for full, x in self.links.items())
        self.files.report_missing_meshes(links, warnings)
        return Description(
            name=name,
            links=(*links, *between),
            joints=distinct("joint", joints),
            frames=tuple(self._frames()),
            gravity=_gravity(world),
            constraints=distinct("constraint", constraints),
            source=source,
            warnings=tuple(warnings.sentences),
        )

    def _check_references(self) -> None:
        for placed in self.frames.placed.values():
            for name in (placed.relative_to, placed.attached_to):
                if name != WORLD and name not in self.frames.placed:
                    self.frames.named(name, "", placed.node)

    def _report_contact(self, joints: tuple[Joint, ...]) -> None:
        shown = {name: x.node for name, x in self.links.items() if x.node.each("collision")}
        geoms = [(name, f"<collision> of {name!r}", node.where) for name, node in shown.items()]
        self.omitted.contact(geoms, list(self.links), joints)

    def _frames(self) -> Iterator[Frame]:
        for name, node in self.marks.items():
            link = self.frames.link(name)
            home = HOME if link == WORLD else self.frames.home(link)
            place = origin(home.inverse() @ self.frames.home(name))
            yield Frame(name, GROUND if link == WORLD else link, place, node.where)

    def _link(self, name: str, node: Node) -> Link:
        shapes = (drawn(visual, lambda x: shape(x, self.files)) for visual in node.each("visual"))
        return Link.of(name, inertia(node), shapes, node.where)
