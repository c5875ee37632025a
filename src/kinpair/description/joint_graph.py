"""Links and joints in any order as a tree with loops: for files that are graphs (SDF, USD).

Joints are taken from the ground outward; one that reaches a link already placed closes a loop, and one whose child is
placed but not its parent is reversed: its axis is turned round, so that its coordinate has the same sign. A link that
nothing holds is fixed where it is, if nothing else is on the world and the file has no world, and free otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from kinpair.description.constraint_parts import Coupling, Loop
from kinpair.description.omitted import LeftOutError
from kinpair.description.parts import GROUND, Joint, Link, Mimic, Numbers, origin, three
from kinpair.errors import DescriptionError
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import to_quaternion

WORLD = "world"
PERPENDICULAR = 1e-9
PARALLEL = 1e-3  # files round the poses of links
REVERSIBLE = ("revolute", "prismatic", "helical", "spherical", "fixed")
BASE = "base"


class Element(Protocol):
    """Source of a joint: file and line, and messages about it."""

    @property
    def where(self) -> str: ...
    def warn(self, sentence: str, **parts: object) -> None: ...
    def error(self, sentence: str, **parts: object) -> DescriptionError: ...


class Axis(NamedTuple):
    """An axis in joint axes, and the numbers written for it; NaN: none."""

    xyz: np.ndarray
    lower: float
    upper: float
    velocity: float
    effort: float
    damping: float
    friction: float
    stiffness: float
    rest: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A joint as written: which links it joins, and its frame in each of them while it is at zero."""

    name: str
    node: Element
    kind: str
    links: tuple[str, str]  # parent, child
    frames: tuple[Pose, Pose]
    axes: tuple[Axis, ...]
    pitch: float = 0.0
    mimic: Mimic | None = None
    ratio: float = 0.0
    reference: str = ""  # link that the angles of a gear are measured from


class Graph(NamedTuple):
    """Joints of the tree in the order of the file, massless links between axes of a joint, loops and couplings."""

    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    constraints: tuple[Loop | Coupling, ...]
    left_out: tuple[tuple[str, str], ...]  # gears: name and reason


def graph(
    edges: Sequence[Edge], links: Mapping[str, Pose], welded: Sequence[str], in_world: bool = False
) -> Graph:
    """Span a tree over links at their homes; those `welded` are fixed to the ground. `in_world`: the file has a world,
    in which every link that nothing holds is free."""
    pairs = [x for x in edges if x.kind]
    reversed_, unused, roots = _spanned(pairs, list(links), welded)
    still = {WORLD, *welded}
    pairs = [x for x in pairs if not set(x.links) <= still]  # joints within static models
    loops = unused & {x.name for x in pairs}
    joints: list[Joint] = [_fixed(x, links[x], f"{x} fixed") for x in welded]
    held = in_world or bool(welded) or any(WORLD in x.links for x in pairs)
    joints += _bases(roots, links, held)
    between: list[Link] = []
    for x in pairs:
        if x.name not in loops:
            for joint, link in _joints(_turned(x) if x.name in reversed_ else x):
                joints.append(joint)
                between += link
    closing = [_loop(x) for x in pairs if x.name in loops]
    gears, left_out = list[Coupling](), list[tuple[str, str]]()
    hinges = [x for x in pairs if x.name not in loops and x.kind == "revolute"]
    for x in (x for x in edges if not x.kind):
        try:
            gears.append(_gear(x, hinges))
        except LeftOutError as reason:
            left_out.append((x.name, str(reason)))
    return Graph(tuple(joints), tuple(between), (*closing, *gears), tuple(left_out))


def _spanned(
    pairs: Sequence[Edge], links: Sequence[str], welded: Sequence[str]
) -> tuple[set[str], set[str], list[str]]:
    """Return the joints that are reversed, those that the tree does not need, and the links that nothing holds.

    Joints are taken in the order of the file, from parent to child as long as that places a link, else from child to
    parent.
    """
    reached, used, turned = {WORLD, *welded}, set[str](), set[str]()
    roots: list[str] = []
    moved = {x.links[1] for x in pairs}
    free = sorted(links, key=lambda name: name in moved)  # links without a parent first
    while len(reached) <= len(links):
        x, end = next(
            (
                (x, end)
                for end in (1, 0)
                for x in pairs
                if x.links[1 - end] in reached and x.links[end] not in reached
            ),
            (None, 0),
        )
        if x is None:
            roots.append(next(name for name in free if name not in reached))
            reached.add(roots[-1])
            continue
        used.add(x.name)
        reached.add(x.links[end])
        if end == 0:
            turned.add(x.name)
    return turned, {x.name for x in pairs} - used, roots


def _fixed(link: str, home: Pose, name: str) -> Joint:
    return Joint(name, "fixed", GROUND, link, origin=origin(home))


def _bases(roots: Sequence[str], links: Mapping[str, Pose], held: bool) -> Iterator[Joint]:
    """Yield the joints of links that nothing holds. One alone is fixed, where nothing else is fixed to the world; at
    the place of the world it is the root itself."""
    if len(roots) == 1 and not held:
        home = links[roots[0]]
        if home.a.any() or (home.R != HOME.R).any():
            yield _fixed(roots[0], home, BASE)
        return
    for name in roots:
        home = links[name]
        start = (*home.a.tolist(), *to_quaternion(home.R).tolist())
        yield Joint(name, "free", GROUND, name, start=start)  # Drake names it after the link, too


def _turned(x: Edge) -> Edge:
    """Return a joint that moves its parent, with the same coordinate."""
    if x.kind not in REVERSIBLE:
        raise x.node.error(
            f"is {x.kind} and moves {x.links[0]!r}, which nothing else holds; swap its parent and child"
        )
    if x.kind == "spherical":
        x.node.warn(f"holds its parent {x.links[0]!r}: its coordinates are those of the parent in the child")
    axes = tuple(axis._replace(xyz=-axis.xyz) for axis in x.axes)
    return replace(x, links=x.links[::-1], frames=x.frames[::-1], axes=axes)


def _joints(x: Edge) -> Iterator[tuple[Joint, list[Link]]]:
    """Yield the joint, or two hinges with a massless link between where the axes of two are not perpendicular."""
    parent, child = (GROUND if link == WORLD else link for link in x.links)
    first, last = origin(x.frames[0]), origin(x.frames[1].inverse())
    where = x.node.where
    if len(x.axes) == 2 and abs(x.axes[0].xyz @ x.axes[1].xyz) > PERPENDICULAR:
        middle = f"{x.name} cross"
        yield (
            Joint(x.name, "revolute", parent, middle, first, where=where, **_of_axes(x.axes[:1])),
            [Link(middle, where=where)],
        )
        name = f"{x.name} axis2"
        yield (
            Joint(name, "revolute", middle, child, child_origin=last, where=where, **_of_axes(x.axes[1:])),
            [],
        )
        return
    keys = _of_axes(x.axes)
    yield (
        Joint(x.name, x.kind, parent, child, first, last, pitch=x.pitch, mimic=x.mimic, where=where, **keys),
        [],
    )


def _of_axes(axes: Sequence[Axis]) -> dict[str, Any]:
    """Return the numbers of a joint that its axes have."""
    if not axes:
        return {}
    passive = all(axis.effort == 0.0 for axis in axes)  # Drake: an effort of zero means no actuator
    keys: dict[str, Any] = {
        "axis": three(axes[0].xyz),
        "axis2": three(axes[1].xyz) if len(axes) == 2 else None,
        "lower": _numbers([x.lower for x in axes], -math.inf),
        "upper": _numbers([x.upper for x in axes], math.inf),
        "velocity": _bounds([x.velocity for x in axes]),
        "effort": () if passive else _bounds([x.effort for x in axes]),
        **{
            key: _numbers([getattr(x, key) for x in axes], 0.0)
            for key in ("damping", "friction", "stiffness")
        },
        "actuated": False if passive else None,
    }
    if any(x.stiffness for x in axes):
        keys["rest"] = tuple(x.rest for x in axes)
    if bool(keys["lower"]) != bool(keys["upper"]):
        keys |= {"lower": tuple(x.lower for x in axes), "upper": tuple(x.upper for x in axes)}
    return keys


def _numbers(values: Sequence[float], none: float) -> Numbers:
    return () if all(x == none for x in values) else tuple(values)


def _bounds(values: Sequence[float]) -> Numbers:
    return () if any(map(math.isnan, values)) else tuple(values)


def _loop(x: Edge) -> Loop:
    """Return the loop that a joint closes; what acts along it is reported."""
    if any(a.damping or a.friction or a.stiffness or np.isfinite([a.lower, a.upper]).any() for a in x.axes):
        x.node.warn("closes a loop; its limits, damping, friction and spring are left out")
    parent, child = (GROUND if link == WORLD else link for link in x.links)
    axis: dict[str, Any] = {f"axis{k or ''}": three(a.xyz) for k, a in zip((0, 2), x.axes, strict=False)}
    return Loop(
        x.name,
        x.kind,
        parent,
        child,
        origin(x.frames[0]),
        origin(x.frames[1]),
        pitch=x.pitch,
        where=x.node.where,
        **axis,
    )


def _gear(x: Edge, hinges: Sequence[Edge]) -> Coupling:
    """θ₂ = −ratio θ₁: θ₁ is the angle of the parent, θ₂ that of the child, both from the reference body about axis
    and axis2. Both must turn in hinges on the reference body."""
    (first, a), (second, b) = (_hinge(x, k, hinges) for k in (0, 1))
    return Coupling(x.name, second, ((first, (-x.ratio * a * b,)),), where=x.node.where)


def _hinge(x: Edge, end: int, hinges: Sequence[Edge]) -> tuple[str, float]:
    """Return the hinge between a link of a gear and the reference body, and the sign of its angle about the axis."""
    link, axis = x.links[end], x.frames[end].R @ x.axes[end].xyz
    for hinge in hinges:
        if set(hinge.links) == {link, x.reference}:
            k = hinge.links.index(link)
            along = float(axis @ hinge.frames[k].R @ hinge.axes[0].xyz)
            if abs(along) < 1.0 - PARALLEL:
                raise LeftOutError(f"its axis is not that of joint {hinge.name!r}")
            return hinge.name, math.copysign(1.0, along) * (1.0 if k == 1 else -1.0)
    raise LeftOutError(f"no hinge joins {link!r} to its reference body {x.reference!r}")
