"""Conversion of the constraints of a description to constraints on the numbered model, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from kinpair.constraints.rounding import ROUNDING
from kinpair.constraints.rows import coordinates as c
from kinpair.constraints.rows import rolling
from kinpair.constraints.rows.constraint import Constraint
from kinpair.constraints.rows.frames import Blade, Guided, OnZeros, Rod
from kinpair.constraints.rows.joined import Mark
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.constraints.rows.rolling import Rolls, Support
from kinpair.description import constraint_parts as d
from kinpair.description.constraint_schema import WORDS
from kinpair.description.formula import function_of, one_number
from kinpair.description.parts import Description, Mimic, Origin
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import listed, nearest
from kinpair.model.check_parts import axes_trouble, check_direction
from kinpair.model.model import Model
from kinpair.pairs import CLOSINGS
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import clean, unit

ZERO = np.zeros(3)
TRIED = np.array([[0.3, -0.5, -0.8], [-0.7, 0.2, -0.4]])  # directions in which a support function has a value
GRID = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z])
AROUND = GRID / np.linalg.norm(GRID, axis=1)[:, None]  # directions in which it is convex
ASIDE = 0.2  # how far to either side
NONE = "there is none whose rate is its derivative"
RIMLESS = {"ball": "a ball", "ellipsoid": "an ellipsoid"}


def is_constrained(description: Description) -> bool:
    """True if there are constraints beyond the joints."""
    return bool(description.constraints) or bool(_mimics(description))


def constraints_of(model: Model) -> tuple[Constraint, ...]:
    """The constraints of the model's description, made once: mimic joints first, then the others in order."""
    return model.once("constraints", lambda: _constraints(model))


def _constraints(model: Model) -> tuple[Constraint, ...]:
    constraints = (*_mimics(model.description), *model.description.constraints)
    names = [x.name for x in constraints]
    if twice := [x for k, x in enumerate(constraints) if x.name in names[:k]]:
        raise _place(twice[0]).error("has the name of another constraint; give one of them another name")
    return tuple(_MAKERS[type(x)](model, x, _place(x)) for x in constraints)


def _mimics(description: Description) -> list[d.Coupling]:
    """Joints that follow another; a name that is wrong was doubted when the model was checked, and binds nothing."""
    follows = description.joints_with("mimic")
    mimics = [(joint, joint.mimic) for joint in follows if joint.mimic and joint.kind != "fixed"]
    kinds = {joint.name: joint.kind for joint in description.joints} if mimics else {}
    return [
        d.Coupling(f"{joint.name} mimics", joint.name, _followed(mimic, kinds), mimic.offset, joint.where)
        for joint, mimic in mimics
        if mimic.joint in {*kinds} - {joint.name}
    ]


def _followed(mimic: Mimic, kinds: Mapping[str, str]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Terms that a mimic joint follows: nothing, so that it stays at its offset, where the other one is fixed."""
    return () if kinds[mimic.joint] == "fixed" else ((mimic.joint, (mimic.multiplier,)),)


def _place(part: Any) -> Place:
    return Place(WarningList(), part.where, f"{WORDS[type(part)]} {part.name!r}")


def _mark(model: Model, name: str, origin: Origin, place: Place, turn: np.ndarray | None = None) -> Mark:
    if name not in model.places:
        raise place.error(
            f"sits on {name!r}, which is not a link or frame; {nearest(name, model.places)}"
            f"Links and frames: {listed(model.places)}"
        )
    pose = origin.pose()
    return Mark(name, pose if turn is None else Pose(clean(pose.R @ turn), pose.a))


def _marks(model: Model, part: Any, place: Place, turn: np.ndarray | None = None) -> tuple[Mark, Mark]:
    origin = getattr(part, "origin", Origin())
    S = _mark(model, part.parent, origin, place, turn)
    M = _mark(model, part.child, part.child_origin, place, turn)
    if S.on(model).body == M.on(model).body:
        raise place.error(
            f"joins {part.parent!r} to {part.child!r}, which do not move against each other; "
            "give two links with a joint between them"
        )
    return S, M


def _check_axes(part: Any, place: Place, axes: int) -> None:
    """Check that directions are such as those of a joint must be."""
    every = (part.axis, getattr(part, "axis2", None))
    for axis in every[:axes]:
        if axis is not None:
            check_direction(place.says("").removesuffix(": "), axis)
    if trouble := axes_trouble(*every, axes):
        raise place.error(trouble)


def _direction(part: Any, place: Place) -> np.ndarray:
    """Axis scaled to length one."""
    _check_axes(part, place, 1)
    return unit(np.array(part.axis, dtype=float))


def _loop(model: Model, part: d.Loop, place: Place) -> Constraint:
    if part.kind not in CLOSINGS:
        raise place.error(f"has kind {part.kind!r}; {nearest(part.kind, CLOSINGS)}Kinds: {listed(CLOSINGS)}")
    if part.kind == "free":
        raise place.error("is of kind 'free', which holds nothing; leave it out")
    if part.kind == "helical" and not part.pitch:
        raise place.error("is helical without a pitch; give pitch in metres per radian")
    _check_axes(part, place, CLOSINGS[part.kind].axes)
    turn, pair = CLOSINGS[part.kind].seated(part.axis, part.axis2, part.pitch)
    return LoopClosure(part.name, pair, turn, *_marks(model, part, place, turn), part.where)


def _rod(model: Model, part: d.Distance, place: Place) -> Constraint:
    number = isinstance(part.length, (int, float))
    motion = None if number else function_of(part.length, ("t",), place.at("length"))  # type: ignore[arg-type]
    length = float(part.length if motion is None else motion(0.0))  # type: ignore[arg-type]
    if not length > 0.0:
        when = "" if number else " at t = 0"
        raise place.error(
            f"has length {length:g}{when}; give the distance in metres, or a spherical loop for points that meet"
        )
    return Rod(part.name, *_marks(model, part, place), length, part.where, motion)


def _on_zeros(model: Model, part: d.OnSurface, place: Place) -> Constraint:
    if not 1 <= len(part.formulas) <= 2:
        raise place.error(f"has {len(part.formulas)} formulas; one makes a surface, two a curve")
    functions = [
        function_of(x, ("x", "y", "z"), place.at(f"formula {k + 1}")) for k, x in enumerate(part.formulas)
    ]
    return OnZeros(part.name, *_marks(model, part, place), tuple(functions), part.where)


def _disk(size: tuple[float, ...], axis: np.ndarray) -> Support:
    return rolling.disk(size[0], axis)


def _wheel(size: tuple[float, ...], axis: np.ndarray) -> Support:
    return rolling.rounded_wheel(size[0], size[1], axis)


SHAPES: dict[str, tuple[int, str, Callable[..., Support]]] = {
    "disk": (1, "radius = ...", _disk),
    "ball": (1, "radius = ...", lambda size, axis: rolling.ball(size[0])),
    "ellipsoid": (3, "size = [a, b, c], the semi-axes", lambda size, axis: rolling.ellipsoid(*size)),
    "wheel": (2, "size = [radius of the rim's centre line, radius of its rounding]", _wheel),
}


def _rolls(model: Model, part: d.Rolling, place: Place) -> Constraint:
    axis = _direction(part, place)
    if isinstance(part.shape, str):
        if part.shape not in SHAPES:
            raise place.error(
                f"has shape {part.shape!r}; {nearest(part.shape, SHAPES)}Shapes: {listed(SHAPES)}, "
                "or a support function in Python"
            )
        count, form, make = SHAPES[part.shape]
        if len(part.size) != count or not all(x > 0.0 for x in part.size):
            sizes = "no size" if not part.size else f"size {listed(f'{x:g}' for x in part.size)}"
            raise place.error(f"has shape {part.shape!r} and {sizes}; give {form}, in metres and above zero")
        support = make(part.size, axis)
    else:
        if not callable(part.shape):  # type: ignore[redundant-expr]
            raise place.error(
                f"has shape {part.shape!r}; Shapes: {listed(SHAPES)}, or a support function in Python"
            )
        support = one_number(part.shape, "support function of u", place.error)
        _check_support(support, place)
    if part.rollers is not None and part.shape in RIMLESS:
        body = RIMLESS[str(part.shape)]
        raise place.error(f"has rollers on {body}, which has no rim to carry them; give a disk or a wheel")
    marks = _marks(model, part, place)
    return Rolls(part.name, *marks, support, axis, part.rollers, part.normal, part.where)


def _check_support(h: Support, place: Place) -> None:
    """A support function is homogeneous of degree one, h(2u) = 2 h(u), and convex, h(u + v) + h(u − v) ≥ 2 h(u)."""
    for u in TRIED:
        with np.errstate(all="ignore"):
            once, twice = float(h(u)), float(h(2.0 * u))
        if not abs(twice - 2.0 * once) <= ROUNDING * (abs(once) + abs(twice)):
            raise place.error(
                f"has a support function with h(u) = {once:.6g} and h(2u) = {twice:.6g}; it must grow with the length "
                "of u: how far the body reaches in the direction u, times np.sqrt(u @ u)"
            )
    for u in AROUND:
        with np.errstate(all="ignore"):
            here = float(h(u))
            aside = min(0.5 * float(h(u + ASIDE * v) + h(u - ASIDE * v)) for v in np.eye(3))
        if aside < here - ROUNDING * abs(here):
            raise place.error(
                f"has a support function that is not convex: a step of {ASIDE:g} to either side of "
                f"u = [{listed(f'{x:.3g}' for x in u)}] gives {aside:.6g} on average, less than h(u) = {here:.6g}; "
                "only a convex body touches a plane in one place"
            )


def _blade(model: Model, part: d.KnifeEdge, place: Place) -> Constraint:
    axis = _direction(part, place)
    return Blade(part.name, *_marks(model, part, place), axis, part.where)


def _guided(model: Model, part: d.Guide, place: Place) -> Constraint:
    if not any((*part.xyz, *part.rpy)):
        raise place.error("guides nothing; give xyz or rpy as functions of t")
    if any(part.rpy) and not all(part.rpy):
        raise place.error("has some of roll, pitch and yaw; give all three as functions of t, or none")
    xyz = [function_of(x, ("t",), place.at("xyz")) if x else None for x in part.xyz]
    rpy = [function_of(x, ("t",), place.at("rpy")) for x in part.rpy if x]
    marks = _marks(model, part, place)
    return Guided(part.name, *marks, (xyz[0], xyz[1], xyz[2]), tuple(rpy) or None, part.where)  # type: ignore[arg-type]


def _coordinate(model: Model, name: str, place: Place) -> tuple[int, int]:
    """Indices of a coordinate and its rate in q and q̇."""
    known = [x for x in model.q_names if x in model.v_names]
    if name not in known:
        joint, coordinates = name.split(".")[0], f"Coordinates: {listed(known)}"
        if joint in _by_quaternion(model):
            raise place.error(
                f"names the coordinate {name!r}, and joint {joint!r} turns by a quaternion, so that none of its rates "
                f"is that of a coordinate; guide a frame instead, [[guide]]{f'. {coordinates}' if known else ''}"
            )
        raise place.error(
            f"names the coordinate {name!r}; {nearest(name, known)}{coordinates if known else NONE}"
        )
    return model.q_names.index(name), model.v_names.index(name)


def _by_quaternion(model: Model) -> set[str]:
    """Joints that turn by one."""
    pairs = {model.joint_names[i]: model.body[i].pair for i in model.moving}
    return {name for name, pair in pairs.items() if pair.nq > pair.nv}


def _coupling(model: Model, part: d.Coupling, place: Place) -> Constraint:
    follower, rate = _coordinate(model, part.joint, place)
    others = [(_coordinate(model, name, place), factors) for name, factors in part.terms]
    if any(own == follower for (own, _), _ in others):
        raise place.error(f"lets {part.joint!r} follow itself; name another coordinate")
    phi = c.coupling(part.name, follower, [(own, factors) for (own, _), factors in others], part.offset)
    rates = (rate, *(v for (_, v), _ in others))
    return c.OfPositions(part.name, phi, 1, rates, "coupling", part.where)


def _drive(model: Model, part: d.Drive, place: Place) -> Constraint:
    own, rate = _coordinate(model, part.joint, place)
    motion = function_of(part.motion, ("t",), place.at("motion"))
    return c.OfPositions(part.name, lambda q, t: q[own] - motion(t), 1, (rate,), "drive", part.where)


def _momentum(model: Model, part: d.Momentum, place: Place) -> Constraint:
    if part.part not in ("angular", "linear"):
        raise place.error(f"has part {part.part!r}; it is 'angular' or 'linear'")
    axis = _direction(part, place)
    psi = c.momentum(part.part, axis, part.value or 0.0)
    return c.OfRates(part.name, psi, 1, "momentum", part.where, part.value is not None)


Maker: TypeAlias = Callable[[Model, Any, Place], Constraint]
_MAKERS: dict[type, Maker] = {
    d.Loop: _loop,
    d.Coupling: _coupling,
    d.Distance: _rod,
    d.OnSurface: _on_zeros,
    d.Rolling: _rolls,
    d.KnifeEdge: _blade,
    d.Guide: _guided,
    d.Drive: _drive,
    d.Momentum: _momentum,
    d.Custom: c.rows_of,
}
