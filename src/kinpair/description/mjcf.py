"""Reading MJCF, the format of MuJoCo: bodies, joints, sites, constraints and actuators as parts of a description."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinpair.description.mjcf_actuators import Actuators
from kinpair.description.mjcf_bodies import WORLD, Body, Reader, scaled
from kinpair.description.mjcf_contact import ContactReader
from kinpair.description.mjcf_defaults import defaults
from kinpair.description.mjcf_equality import Equalities
from kinpair.description.mjcf_geoms import colours
from kinpair.description.mjcf_keyframes import keyframes
from kinpair.description.mjcf_mesh import meshes
from kinpair.description.mjcf_omitted import omitted_parts
from kinpair.description.mjcf_replicate import unfolded
from kinpair.description.mjcf_schema import IDLE_SECTIONS, INSIDE_SECTIONS, OMITTED_SECTIONS, SECTIONS
from kinpair.description.mjcf_settings import gravity, settings
from kinpair.description.mjcf_tendons import Tendons
from kinpair.description.mjcf_xml import Tag, mjcf_element
from kinpair.description.parts import GROUND, Description, Frame, Joint, Link, Numbers, origin
from kinpair.description.schema import distinct
from kinpair.description.text import read_text
from kinpair.description.warning_list import WarningList
from kinpair.errors import listed, nearest
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import to_quaternion


def read_mjcf(path: str | os.PathLike[str], *, warnings: WarningList) -> Description:
    """The mechanism in an MJCF file and those it includes."""
    folder = Path(path).absolute().parent
    return parse_mjcf(read_text(path), source=os.fspath(path), warnings=warnings, folder=folder)


def parse_mjcf(text: str, *, source: str, warnings: WarningList, folder: Path | None = None) -> Description:
    """The mechanism in an MJCF text; `source` names it in messages, other files are looked for from `folder`."""
    root = mjcf_element(text, source, folder, warnings)
    _check_sections(root)
    chosen = settings(root, folder)
    classes = defaults(root)
    known_meshes = meshes(root, chosen, classes)
    reader = Reader(chosen, classes, known_meshes, colours(root))
    reader.world(unfolded(_world(root), chosen))
    bodies = scaled(reader.bodies, chosen)
    names = _names(bodies)
    omitted = omitted_parts(root, bodies)
    tendons = Tendons(root, bodies, names.links, classes)
    constraints = Equalities(bodies, names.links, tendons, omitted).read(root, classes)
    joints = tendons.on_joints(tuple(_joints(bodies, names)), chosen, omitted)
    springs = tuple(tendons.springs(omitted))
    contacts = ContactReader(bodies, names.links, known_meshes, classes, omitted).read(root)
    omitted.report(warnings)
    driven = Actuators(bodies, joints, tendons, chosen, root).read(classes)
    description = Description(
        name=root.text("model") or Path(source).stem,
        links=tuple(_links(bodies, names)),
        joints=driven.joints,
        frames=tuple(_frames(bodies, names)),
        gravity=gravity(root),
        constraints=constraints,
        keyframes=keyframes(root, driven.joints),
        springs=distinct("spring", springs),
        actuators=distinct("actuator", driven.actuators),
        source=source,
        contacts=contacts,
    )
    _warn_of_missing_meshes(description, warnings)
    return replace(description, warnings=tuple(warnings.sentences))


def _check_sections(root: Tag) -> None:
    """Refuse an unknown section."""
    known = (*SECTIONS, *IDLE_SECTIONS, *OMITTED_SECTIONS)
    for tag in root.inside:
        if tag.name in INSIDE_SECTIONS:
            raise tag.error(
                "stands directly in <mujoco>, so this is a fragment of MJCF, which other files take in; "
                "load the file that includes it"
            )
        if tag.name not in known:
            raise tag.error(f"is not a section of MJCF; {nearest(tag.name, known)}Sections: {listed(known)}")


def _world(root: Tag) -> Tag:
    """All <worldbody> sections as one."""
    every = root.each("worldbody")
    if not every:
        raise root.error("has no <worldbody>, so there is no mechanism in it")
    return replace(every[0], inside=tuple(tag for world in every for tag in world.inside))


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of a file: bodies by their own names, the world as the ground, and the links between joints."""

    links: Mapping[str, str]  # body: link
    between: Mapping[str, str]  # joint that another joint of its body follows: the link it moves


def _names(bodies: list[Body]) -> _Names:
    own = {body.name: body.name for body in bodies}
    links = own | {WORLD: WORLD if GROUND in own else GROUND}
    taken = {*own, *links.values(), *(site.name for body in bodies for site in body.sites)}
    between = {
        moved.joint.name: _unused(f"{body.name}/{moved.joint.name}", taken)
        for body in bodies
        for moved in body.joints[:-1]
    }
    return _Names(links, between)


def _links(bodies: list[Body], names: _Names) -> Iterator[Link]:
    """The bodies, each after the massless links between its joints."""
    for body in bodies:
        for moved in body.joints[:-1]:
            yield Link(names.between[moved.joint.name], where=body.where)
        if body.name != WORLD or names.links[WORLD] != GROUND:
            yield _link(body)


def _link(body: Body) -> Link:
    x, y, z = np.asarray(body.inertia.d, dtype=float).tolist()
    i = np.asarray(body.inertia.I, dtype=float)
    xx, yy, zz, xy, xz, yz = (float(i[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return Link(
        body.name,
        mass=float(body.inertia.m),
        com=(x, y, z),
        inertia=(xx, yy, zz, xy, xz, yz),
        shapes=body.shapes,
        where=body.where,
    )


def _joints(bodies: list[Body], names: _Names) -> Iterator[Joint]:
    """The joints of each body as a chain from its parent; a body without joints is fixed."""
    taken = {moved.joint.name for body in bodies for moved in body.joints}
    for body in bodies[1:]:
        on, seat = names.links[body.parent], body.pose
        for moved in body.joints:
            child = names.between.get(moved.joint.name, body.name)
            if moved.joint.kind == "free":
                yield replace(moved.joint, parent=on, child=child, start=_free_start(seat))
            else:
                yield replace(moved.joint, parent=on, child=child, origin=origin(seat @ moved.seat))
            on, seat = child, HOME
        if not body.joints:
            name = _unused(f"{body.name} fixed", taken)
            yield Joint(name, "fixed", on, body.name, origin=origin(seat), where=body.where)


def _free_start(pose: Pose) -> Numbers:
    """The pose of a body as coordinates of its free joint; nothing where it is that of the world."""
    if not pose.a.any() and (pose.R == HOME.R).all():
        return ()
    return (*(pose.a + 0.0).tolist(), *(to_quaternion(pose.R) + 0.0).tolist())


def _frames(bodies: list[Body], names: _Names) -> Iterator[Frame]:
    """The sites; one with the name of a body goes by `name site`."""
    called = {GROUND, *names.links, *names.between.values()}
    taken = {*called, *(site.name for body in bodies for site in body.sites)}
    for body in bodies:
        for site in body.sites:
            name = site.name if site.name not in called else _unused(f"{site.name} site", taken)
            yield Frame(name, names.links[body.name], origin(site.pose), site.where)


def _unused(name: str, taken: Iterable[str]) -> str:
    """The name, or with the first number that makes it one of its own."""
    every = set(taken)
    numbered = (f"{name} {k}" for k in range(2, len(every) + 3))
    return next(n for n in (name, *numbered) if n not in every)


def _warn_of_missing_meshes(description: Description, warnings: WarningList) -> None:
    """One warning for all meshes that are not there."""
    shown = [shape for link in description.links for shape in link.shapes if shape.kind == "mesh"]
    missing = [shape for shape in shown if not os.path.isfile(shape.mesh)]
    if missing:
        meshes = tuple(dict.fromkeys(shape.mesh for shape in missing))
        warnings.add(
            f"{missing[0].where}: the mesh {missing[0].mesh!r} is not there ({len(meshes)} missing in all); "
            "left undrawn",
            meshes=meshes,
        )
