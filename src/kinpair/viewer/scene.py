"""Scene of a mechanism, as pure data: pieces of surface fixed to links, and connectors between points of
two links.

Page, report and still pictures draw the same scene. It does not know the state: `Scene.placed` puts it where poses
of links say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from kinpair.description.parts import GROUND, Description, Link, Numbers
from kinpair.model.model import Model
from kinpair.spatial.pose import HOME, Pose
from kinpair.viewer import markers
from kinpair.viewer.links import Around, Meshes, Sizes, bones, by_inertia, is_long, looks_of, rods
from kinpair.viewer.looks import LINK_COLOURS
from kinpair.viewer.markers import floor_height, geom_pieces, joint_marker, loop_markers, wheel
from kinpair.viewer.surfaces import Connector, Piece, Surface, axes_along, between, coil, joined

Poses: TypeAlias = Mapping[str, Pose]  # of links, by name
GREY: Numbers = (0.55, 0.57, 0.6, 1.0)
COIL_WIDTH = 0.022  # radius of a coil as a part of the size of the scene


class Drawn(Protocol):
    """Source of a scene: a mechanism."""

    @property
    def model(self) -> Model: ...

    def start(self) -> np.ndarray: ...

    def poses(self, q: Any) -> Mapping[str, Any]: ...

    def constraint_residual(self, q: Any) -> np.ndarray: ...

    def centre_of_mass(self, q: Any) -> np.ndarray: ...


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Look of a mechanism. `size` [m] is its size, `centre` where its middle is at the start, `up`
    points against gravity. `warnings` has what could not be drawn as the description wants it."""

    name: str
    pieces: tuple[Piece, ...]
    connectors: tuple[Connector, ...]
    size: float
    centre: np.ndarray
    up: np.ndarray
    floor: float  # height of the ground along `up`
    warnings: tuple[str, ...] = ()

    @property
    def links(self) -> tuple[str, ...]:
        """The links that carry something, in order."""
        return tuple(dict.fromkeys(piece.link for piece in self.pieces))

    def placed(self, poses: Poses, layers: Iterable[str] | None = None) -> list[tuple[Surface, Numbers]]:
        """Surfaces in the world with their colours; of some layers alone, if these are named."""
        wanted = None if layers is None else set(layers)
        fixed = [
            (piece.surface.moved(poses[piece.link]), piece.colour)
            for piece in self.pieces
            if wanted is None or piece.layer in wanted
        ]
        return fixed + [
            (connector_surface(x, self.size, *x.ends(poses)), x.colour)
            for x in self.connectors
            if wanted is None or x.layer in wanted
        ]

    def merged(self) -> tuple[Piece, ...]:
        """Return the scene with one piece for each link, layer and colour."""
        groups: dict[tuple[Any, ...], list[Piece]] = {}
        for piece in self.pieces:
            groups.setdefault((piece.link, piece.layer, piece.colour), []).append(piece)
        return tuple(replace(x[0], surface=joined(*(p.surface for p in x))) for x in groups.values())


def connector_surface(connector: Connector, size: float, start: np.ndarray, end: np.ndarray) -> Surface:
    """A rod, a rope or a coil from one point to another, in the world."""
    if connector.kind == "spring":
        along = end - start
        length = max(float(np.sqrt(along @ along)), 1e-9)
        return coil(length, COIL_WIDTH * size).moved(Pose(axes_along(along), start))
    return between(start, end, connector.radius)


def scene_of(mechanism: Drawn) -> Scene:
    """The scene of a mechanism: as its description wants it drawn, and by primitives where that says nothing."""
    model = mechanism.model
    description = model.description
    home = link_poses(mechanism, start_of(mechanism))
    around = Around.of(description)
    if is_long(description):
        return _long_scene(model, home, around)
    meshes = Meshes()
    looks = looks_of(description.links, description, meshes)
    drawn = sum(len(x.surface.faces) for pieces in looks.values() for x in pieces if x.is_mesh)
    sizes = Sizes.of(description, home, looks)
    colours = link_colours(description)
    shown = {name for name, pieces in looks.items() if any(p.is_mesh for p in pieces)}
    geoms = geom_pieces(description, looks, sizes.size, sizes.centre, _up(description))
    touching = {piece.link for piece in geoms}
    pieces = [
        piece.in_colour(colours[link.name])
        for link in description.links
        if link.name not in touching
        for piece in looks[link.name] or _primitive(around, link, sizes, bool(shown))
    ]
    pieces += [piece.in_colour(colours.get(piece.link, GREY)) for piece in geoms]
    for joint in description.joints:
        if joint.child not in shown:
            pieces += joint_marker(joint, sizes)
        pieces += markers.joint_spring_pieces(joint, sizes)
    beyond = _beyond(description, home, looks, pieces)
    by_name = {joint.name: joint for joint in description.joints}
    for actuator in description.actuators:
        pieces += markers.actuator_pieces(actuator, by_name[actuator.joint], sizes, beyond[actuator.name])
    for constraint in description.constraints:
        pieces += loop_markers(constraint, sizes)
        pieces += wheel(constraint, bool(looks.get(getattr(constraint, "child", ""), ())))
    return Scene(
        name=model.name,
        pieces=tuple(pieces),
        connectors=tuple(_connectors(description, sizes, beyond)),
        size=sizes.size,
        centre=sizes.centre,
        up=_up(description),
        floor=_floor(description, sizes, pieces, home),
        warnings=meshes.sentences(drawn),
    )


def _long_scene(model: Model, home: Poses, around: Around) -> Scene:
    """Rods alone, see `long_chain`."""
    description = model.description
    sizes = Sizes.of(description, home, {})
    pieces = tuple(rods(description, around, sizes))
    up = _up(description)
    floor = _floor(description, sizes, list(pieces), home)
    return Scene(model.name, pieces, (), sizes.size, sizes.centre, up, floor)


def start_of(mechanism: Drawn) -> np.ndarray:
    """Position in which a mechanism is shown first: its start, assembled; neutral where it cannot be assembled."""
    from kinpair.errors import KinpairError

    try:
        return mechanism.start()
    except KinpairError:
        return mechanism.model.neutral()


def link_poses(mechanism: Drawn, q: Any) -> dict[str, Pose]:
    """Poses of all links and of the ground."""
    every = {name: Pose(pose.rotation, pose.position) for name, pose in mechanism.poses(q).items()}
    return {GROUND: HOME, **every}


def _primitive(around: Around, link: Link, sizes: Sizes, meshes: bool) -> list[Piece]:
    """Return a solid of the same inertia and rods to the joints. Among meshes, a link that the description does not
    draw has no solid, and rods only where it moves on its parent."""
    if not meshes or link.shapes:
        return [*by_inertia(link, sizes), *bones(around, link, sizes)]
    return bones(around, link, sizes) if around.is_moved(link.name) else []


def link_colours(description: Description) -> dict[str, Numbers]:
    """A colour for each link: those on the ground grey, the others in turn."""
    root = {link.name for link in description.links} - {joint.child for joint in description.joints}
    moving = [link.name for link in description.links if link.name not in root]
    turns = {name: (*LINK_COLOURS[k % len(LINK_COLOURS)], 1.0) for k, name in enumerate(moving)}
    return {**dict.fromkeys(root, GREY), **turns}


def _beyond(
    description: Description, home: Poses, looks: Mapping[str, list[Piece]], pieces: list[Piece]
) -> dict[str, float]:
    """Distances that bodies reach where each actuator sits: a motor on what is drawn of both links, a slide's behind
    what the description draws of the child."""
    by_name = {joint.name: joint for joint in description.joints}
    reach: dict[str, float] = {}
    for actuator in description.actuators:
        joint = by_name[actuator.joint]
        slides = joint.kind == "prismatic"
        own = [x for x in pieces if x.link in (joint.parent, joint.child) and x.layer == "visual"]
        around = looks[joint.child] if slides else own
        reach[actuator.name] = markers.outside(joint, home, around, -1.0 if slides else 1.0)
    return reach


def _connectors(description: Description, sizes: Sizes, beyond: Mapping[str, float]) -> Iterable[Connector]:
    frames = {frame.name: (frame.link, frame.origin.pose()) for frame in description.frames}
    for spring in description.springs:
        ends = [
            _point(name, np.array(xyz), frames)
            for name, xyz in ((spring.parent, spring.xyz), (spring.child, spring.child_xyz))
        ]
        kind = "rope" if spring.tension_only else "spring"
        colour = (0.35, 0.3, 0.28, 1.0) if spring.tension_only else markers.COIL
        yield Connector(spring.name, kind, *ends[0], *ends[1], 0.3 * sizes.bone, colour, markers.SPRINGS)
    by_name = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        yield from markers.joint_spring_connectors(joint, sizes)
    for actuator in description.actuators:
        joint = by_name[actuator.joint]
        yield from markers.actuator_connectors(actuator, joint, sizes, beyond[actuator.name])
    for x in description.constraints:
        if type(x).__name__ == "Distance":
            start, end = np.array(x.origin.xyz), np.array(x.child_origin.xyz)
            yield Connector(
                x.name,
                "rod",
                x.parent,
                start,
                x.child,
                end,
                0.6 * sizes.bone,
                (0.45, 0.47, 0.5, 1.0),
                "loops",
            )


def _point(name: str, xyz: np.ndarray, frames: Mapping[str, tuple[str, Pose]]) -> tuple[str, np.ndarray]:
    """A point of a link or frame, as a point of a link."""
    if name not in frames:
        return name, xyz
    link, pose = frames[name]
    return link, pose.R @ xyz + pose.a


def _up(description: Description) -> np.ndarray:
    g = np.array(description.gravity, dtype=float)
    length = float(np.sqrt(g @ g))
    return -g / length if length else np.array([0.0, 0.0, 1.0])


def _floor(description: Description, sizes: Sizes, pieces: Iterable[Piece], home: Poses) -> float:
    """Height of the ground: of the plane that something rolls on or touches, else of the lowest thing drawn."""
    up = _up(description)
    for x in description.constraints:
        if type(x).__name__ == "Rolling" and x.parent == GROUND:
            return float(up @ np.array(x.origin.xyz))
    plane = floor_height(description, up)
    if plane is not None:
        return plane
    heights = [float((piece.surface.moved(home[piece.link]).points @ up).min()) for piece in pieces]
    return min([*heights, 0.0])
