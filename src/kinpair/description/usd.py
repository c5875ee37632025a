"""Reading rigid bodies and joints of USD (schema UsdPhysics) by usd-core. docs/formats.md has the table.

Lengths, masses and angles of the stage (metersPerUnit, kilogramsPerUnit, degrees) become SI. A joint has a frame in
each of its two prims; where the stage shows a joint turned or shifted, that is where its coordinate starts.
"""

from __future__ import annotations

import importlib
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.description.files import read_bytes, read_text
from kinpair.description.joint_graph import WORLD, Axis, Edge, graph
from kinpair.description.omitted import Omitted, left_out_message
from kinpair.description.parts import Description, Joint, Link, Shape, Three, origin, three
from kinpair.description.schema import distinct
from kinpair.description.usd_prims import Prim, Units, axis_turn, line_of, mass_properties, placed_pose, solid
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, MissingExtraError, installs, listed
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import from_quaternion

STANDARD_GRAVITY = 9.81
APART = 1e-4  # [m], [rad]: frames of a joint that are further apart at its coordinate are reported
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
KINDS = {  # type of the prim: kind of a pair
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "spherical",
    "PhysicsFixedJoint": "fixed",
}
TURNS, SHIFTS = ("rotX", "rotY", "rotZ"), ("transX", "transY", "transZ")
GENERIC = {
    (0, 0): "fixed",
    (1, 0): "revolute",
    (0, 1): "prismatic",
    (3, 0): "spherical",
}  # free turns, free shifts
LONGEST = 200  # characters of a sentence of usd-core in a message
_PLACE = re.compile(r"^(.*?:\d+):\d+: ")  # file:line:column: sentence
_PRIM = re.compile(r"</([^.>]+)")


def read_usd(path: str | os.PathLike[str], *, warnings: WarningList) -> Description:
    """Return the mechanism in a USD file (.usd, .usda, .usdc, .usdz) and those it refers to."""
    text = read_text(path) if read_bytes(path).startswith(b"#usda") else ""
    Tf = _module("Tf")
    try:
        return _read(os.fspath(path), text, warnings)
    except Tf.ErrorException as reason:
        raise _refused(os.fspath(path), text, [" ".join(x.commentary.split()) for x in reason.args]) from None


def _refused(path: str, text: str, sentences: Sequence[str]) -> DescriptionError:
    """Return the first sentence of usd-core with file and line: those that a sentence has, or those of the prim."""
    sentence = next(iter(sentences), "cannot be opened")
    prim = _PRIM.search(sentence)
    line = line_of(text, prim[1]) if prim else 0
    where = next(
        (place[1] for x in sentences if (place := _PLACE.match(x))), f"{path}:{line}" if line else path
    )
    short = _PLACE.sub("", sentence)[:LONGEST].rstrip(".")
    return DescriptionError(f"{where}: is not USD: {short}; correct it there", path=path)


def _read(path: str, text: str, warnings: WarningList) -> Description:
    Usd, UsdGeom, UsdPhysics = map(_module, ("Usd", "UsdGeom", "UsdPhysics"))
    stage = Usd.Stage.Open(path)
    units = Units(UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage))
    reader = _Reader(path, text, warnings, units, UsdGeom.XformCache())
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        reader.take(prim)
    if not reader.bodies:
        top = stage.GetDefaultPrim() or next(iter(stage.GetPseudoRoot().GetChildren()), stage.GetPseudoRoot())
        raise reader.prim(top).error(
            "has no rigid body (PhysicsRigidBodyAPI), so there is no mechanism in it"
        )
    up = AXES[str(UsdGeom.GetStageUpAxis(stage)).upper()]
    name = stage.GetDefaultPrim().GetName() if stage.GetDefaultPrim() else Path(path).stem
    return reader.description(name, up)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"pxr.{name}")
    except ImportError:
        raise MissingExtraError(f"USD files need usd-core; {installs('usd')}", extra="usd") from None


@dataclass(slots=True)
class _Reader:
    """Collects rigid bodies, joints and colliders of a stage, then makes one description of them."""

    source: str
    text: str
    warnings: WarningList
    units: Units
    cache: Any
    bodies: list[Prim] = field(default_factory=list[Prim])
    joints: list[Prim] = field(default_factory=list[Prim])
    scenes: list[Prim] = field(default_factory=list[Prim])
    colliders: list[Prim] = field(default_factory=list[Prim])
    looks: list[Prim] = field(default_factory=list[Prim])
    omitted: Omitted = field(default_factory=Omitted)

    def prim(self, prim: Any) -> Prim:
        """Return a prim with its place in the file."""
        return Prim(prim, self.source, self.text, self.warnings)

    def take(self, prim: Any) -> None:
        """Sort one prim of the stage by what it is."""
        here, kind = self.prim(prim), prim.GetTypeName()
        if here.applied("PhysicsRigidBodyAPI") and here.value("physics:rigidBodyEnabled", True):
            self.bodies.append(here)
        if here.applied("PhysicsCollisionAPI") and here.value("physics:collisionEnabled", True):
            self.colliders.append(here)
        if kind == "PhysicsScene":
            self.scenes.append(here)
        elif kind.startswith("Physics") and kind.endswith("Joint"):
            if here.value("physics:jointEnabled", True):
                self.joints.append(here)
        elif solid(here, HOME, self.units) is not None:
            self.looks.append(here)

    # The description.

    def description(self, name: str, up: Three) -> Description:
        """Return the whole as plain data."""
        links = dict(zip((x.path for x in self.bodies), _names(self.bodies), strict=True))
        homes = {links[x.path]: self._pose(x)[0] for x in self.bodies}
        welded = [links[x.path] for x in self.bodies if x.value("physics:kinematicEnabled", False)]
        joints = sorted(self.joints, key=lambda x: bool(x.value("physics:excludeFromArticulation", False)))
        edges = [
            edge
            for x, full in zip(joints, _names(joints), strict=True)
            if (edge := self._edge(x, full, links)) is not None
        ]
        spanned = graph(edges, homes, welded)
        starts = {x.name: start for x in edges if (start := _start(x, homes))}
        moved = tuple(replace(x, start=starts[x.name]) if x.name in starts else x for x in spanned.joints)
        self._report_contact(links, moved)
        self.omitted.report(self.warnings)
        self._report_drives()
        return Description(
            name=name,
            links=tuple(self._link(x, links) for x in self.bodies),
            joints=distinct("joint", moved),
            gravity=self._gravity(up),
            constraints=distinct("constraint", spanned.constraints),
            source=self.source,
            warnings=tuple(self.warnings.sentences),
        )

    def _pose(self, prim: Prim) -> tuple[Pose, np.ndarray]:
        return placed_pose(prim, self.cache, self.units)

    def _body(self, prim: Prim) -> Prim | None:
        """Return the rigid body that a prim is or is inside of; None: the world."""
        paths = {x.path: x for x in self.bodies}
        above = prim.prim
        while above and not above.IsPseudoRoot():
            if str(above.GetPath()) in paths:
                return paths[str(above.GetPath())]
            above = above.GetParent()
        return None

    def _gravity(self, up: Three) -> Three:
        scene = self.scenes[0] if self.scenes else None
        down = scene.value("physics:gravityDirection", (0.0, 0.0, 0.0)) if scene else (0.0, 0.0, 0.0)
        size = scene.value("physics:gravityMagnitude", -math.inf) if scene else -math.inf
        direction = np.array(down, dtype=float) if any(down) else -np.array(up)
        size = STANDARD_GRAVITY if size < 0.0 else size * self.units.length
        return three(size * direction / np.linalg.norm(direction))

    # Joints.

    def _edge(self, prim: Prim, name: str, links: Mapping[str, str]) -> Edge | None:
        """Return a joint, or None where it holds nothing."""
        kind, axes = self._kind(prim)
        if not kind:
            return None
        ends, frames = list[str](), list[Pose]()
        for side in (0, 1):
            target = self._target(prim, side)
            body = self._body(target) if target else None
            pose, scale = self._pose(target) if target else (HOME, np.ones(3))
            here = np.array(prim.value(f"physics:localPos{side}", (0.0, 0.0, 0.0)), dtype=float)
            turn = prim.quaternion(f"physics:localRot{side}")
            frame = pose @ Pose(from_quaternion(turn), self.units.length * scale * here)
            home = self._pose(body)[0] if body else HOME
            ends.append(links[body.path] if body else WORLD)
            frames.append(home.inverse() @ frame)
        if ends[0] == ends[1]:
            raise prim.error(f"joins {ends[0]!r} to itself; physics:body0 and body1 must be different bodies")
        if math.isfinite(prim.value("physics:breakForce", math.inf)):
            prim.warn("has a breakForce; the joint does not break")
        return Edge(name, prim, kind, (ends[0], ends[1]), (frames[0], frames[1]), axes)

    def _target(self, prim: Prim, side: int) -> Prim | None:
        targets = prim.targets(f"physics:body{side}")
        if not targets:
            return None
        target = prim.prim.GetStage().GetPrimAtPath(targets[0])
        if not target:
            raise prim.error(f"names </{str(targets[0]).lstrip('/')}> as body{side}, which does not exist")
        return self.prim(target)

    def _kind(self, prim: Prim) -> tuple[str, tuple[Axis, ...]]:
        written = prim.type
        if written == "PhysicsDistanceJoint":
            self.omitted.add("distance joint", repr(prim.name), prim.where)
            return "", ()
        if written == "PhysicsJoint":
            return self._generic(prim)
        if written not in KINDS:
            raise prim.error(f"has the type {written}; types: {listed([*KINDS, 'PhysicsJoint'])}")
        kind = KINDS[written]
        if kind == "spherical" and min(prim.value(f"physics:coneAngle{k}Limit", -1.0) for k in (0, 1)) >= 0.0:
            prim.warn("has cone limits, which are left out")
        if kind in ("spherical", "fixed"):
            return kind, ()
        token = prim.axis("physics:axis", "X")
        bounds = [
            prim.value(f"physics:{end}Limit", x) for end, x in (("lower", -math.inf), ("upper", math.inf))
        ]
        return kind, (self._axis(prim, kind, token, bounds),)

    def _generic(self, prim: Prim) -> tuple[str, tuple[Axis, ...]]:
        """Return the pair that a joint without a type is: an axis whose low limit exceeds the high one is locked."""
        limits = {x: prim.limit(x) for x in (*TURNS, *SHIFTS)}
        free = [[x for x in group if limits[x][0] <= limits[x][1]] for group in (TURNS, SHIFTS)]
        if all(len(x) == 3 for x in free):
            return "", ()
        kind = GENERIC.get((len(free[0]), len(free[1])))
        if kind is None:
            raise prim.error(
                f"is free along {listed([*free[0], *free[1]])}; generic joints are read with one free axis, three "
                "free turns or none: write it as joints in a row"
            )
        if kind in ("spherical", "fixed"):
            return kind, ()
        (name,) = (*free[0], *free[1])
        return kind, (self._axis(prim, kind, name[-1], limits[name]),)

    def _axis(self, prim: Prim, kind: str, token: str, bounds: Sequence[float]) -> Axis:
        one = math.radians(1.0) if kind == "revolute" else self.units.length
        lower, upper = (one * float(x) for x in bounds)
        force = prim.drive("maxForce", math.inf)
        effort = force * self.units.effort(kind) if math.isfinite(force) else math.nan
        return Axis(np.array(AXES[token]), lower, upper, math.nan, effort, 0.0, 0.0, 0.0, 0.0)

    def _report_drives(self) -> None:
        driven = [x for x in self.joints if x.drive("stiffness", 0.0) or x.drive("damping", 0.0)]
        if driven:
            reasons = [(x.name, "a drive to a target") for x in driven]
            driven[0].warn(left_out_message(reasons, len(self.joints)))

    # Bodies.

    def _link(self, body: Prim, links: Mapping[str, str]) -> Link:
        home = self._pose(body)[0]
        colliders = [(x, self._within(x, home)) for x in self._parts(body, self.colliders)]
        inertia = mass_properties(body, colliders, self._pose(body)[1], self.units)
        shapes = (self._shape(x, home) for x in self._parts(body, self.looks))
        return Link.of(links[body.path], inertia, shapes, body.where)

    def _parts(self, body: Prim, prims: Sequence[Prim]) -> Iterator[Prim]:
        return (x for x in prims if (owner := self._body(x)) is not None and owner.path == body.path)

    def _within(self, prim: Prim, home: Pose) -> tuple[Pose, np.ndarray]:
        pose, scale = self._pose(prim)
        return home.inverse() @ pose, scale

    def _shape(self, prim: Prim, home: Pose) -> Shape:
        pose, scale = self._within(prim, home)
        kind, size, token = solid(prim, scale, self.units) or ("", (), "Z")
        place = origin(pose @ Pose(axis_turn(token), np.zeros(3)))
        return Shape(kind, size, place, where=prim.where, colour=prim.colour())

    def _report_contact(self, links: Mapping[str, str], joints: tuple[Joint, ...]) -> None:
        owners = [(x, body) for x in self.colliders if (body := self._body(x)) is not None]
        geoms = [(links[body.path], repr(x.name), x.where) for x, body in owners]
        self.omitted.contact(geoms, list(links.values()), joints)


def _names(prims: Sequence[Prim]) -> list[str]:
    """Return the names of prims; one that others have too is its path."""
    names = [x.name for x in prims]
    return [
        name if names.count(name) == 1 else x.path.lstrip("/") for name, x in zip(names, prims, strict=True)
    ]


def _start(edge: Edge, homes: Mapping[str, Pose]) -> tuple[float, ...]:
    """Return the coordinate of a joint in the stage; nothing where it is zero."""
    if edge.kind not in ("revolute", "prismatic"):
        return ()
    first, second = (
        (HOME if link == WORLD else homes[link]) @ frame
        for link, frame in zip(edge.links, edge.frames, strict=True)
    )
    apart = first.inverse() @ second
    axis = edge.axes[0].xyz
    if edge.kind == "prismatic":
        q = float(axis @ apart.a)
        off = float(np.abs(apart.a - q * axis).max())
    else:
        sine = np.array(
            [apart.R[2, 1] - apart.R[1, 2], apart.R[0, 2] - apart.R[2, 0], apart.R[1, 0] - apart.R[0, 1]]
        )
        q = math.atan2(float(axis @ sine) / 2.0, (float(np.trace(apart.R)) - 1.0) / 2.0)
        off = float(np.abs(apart.a).max())
    if off > APART:
        edge.node.warn(f"has frames that are {off:.3g} m apart in the stage; the joint brings them together")
    return (q,) if abs(q) > APART * 1e-3 else ()
