"""Check that every part of a description can exist."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np

from kinpair.description.parts import Description, Joint, Keyframe, Link, Origin
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.model.check_numbers import LARGEST, check_actuation, check_degrees, too_large
from kinpair.pairs import CLOSINGS, PAIRS
from kinpair.spatial.rotation import unit

_Part = TypeVar("_Part", Link, Joint)


def check_parts(description: Description, warnings: WarningList) -> None:
    """Refuse what has no meaning; warn of what looks like a slip."""
    _check_names("link", [(x.name, x.where) for x in description.links])
    _check_names("joint", [(x.name, x.where) for x in description.joints])
    _check_names("spring", [(x.name, x.where) for x in description.springs])
    _check_names("keyframe", [(x.name, x.where) for x in description.keyframes])
    places = [(x.name, x.where) for x in (*description.links, *description.frames)]
    _check_names("link or frame", places)
    _check_count("", "gravity", description.gravity, 3)
    _check_size("", "gravity", description.gravity)
    _check_distinct(description.links, _LINK_DATA, _check_link, warnings)
    _check_distinct(description.joints, _JOINT_DATA, _check_joint, warnings)
    _check_mimics(description.joints, warnings)
    joints = {joint.name: joint for joint in description.joints}
    for state in description.keyframes:
        _check_keyframe(state, joints)
    for role, joint in description.gait:
        if joint not in joints:
            raise DescriptionError(
                f"gait: {role} is joint {joint!r}, which does not exist; {nearest(joint, joints)}"
                f"Joints: {listed(joints)}",
                joint=joint,
            )
    for frame in description.frames:
        _check_origin(f"{at(frame.where)}frame {frame.name!r}", "origin", frame.origin)


def _data(part: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function from a part to all its fields but names and the place where it is written."""
    return attrgetter(*(x.name for x in fields(part) if x.name not in _NAMES))


_NAMES = ("name", "parent", "child", "mimic", "where")
_LINK_DATA, _JOINT_DATA = _data(Link), _data(Joint)


def _check_distinct(
    parts: Iterable[_Part],
    data: Callable[[_Part], tuple[Any, ...]],
    check: Callable[[_Part, WarningList], None],
    warnings: WarningList,
) -> None:
    """Check every part except those with the data of a part that passed without a warning."""
    passed = set[tuple[Any, ...]]()
    for part in parts:
        key = data(part)
        try:
            if key in passed:
                continue
        except TypeError:  # lists among its data
            key = ()
        before = len(warnings.sentences)
        check(part, warnings)
        if key and len(warnings.sentences) == before:
            passed.add(key)


def _check_names(what: str, named: Iterable[tuple[str, str]]) -> None:
    seen: dict[str, str] = {}
    for name, where in named:
        if not name:
            raise DescriptionError(f"{at(where)}a {what} has no name; give it one", part=what)
        if name in seen:
            first = f" (the first is at {seen[name]})" if seen[name] else ""
            raise DescriptionError(
                f"{at(where)}two parts are called {what} {name!r}{first}; names are unique", name=name
            )
        seen[name] = where


def check_direction(part: str, axis: object) -> None:
    """An axis is three finite numbers."""
    _check_count(part, "axis", axis, 3)
    _check_finite(part, "axis", axis)  # type: ignore[arg-type]


def _check_count(part: str, quantity: str, values: object, *counts: int) -> None:
    """The values are a tuple of so many numbers."""
    numbers = cast("Sequence[object]", values) if isinstance(values, (tuple, list)) else None
    if numbers is None or not all(isinstance(x, (int, float)) for x in numbers):  # type: ignore[redundant-expr]
        raise DescriptionError(
            f"{part}{': ' if part else ''}{quantity} is {values!r}; a tuple of numbers is needed"
        )
    if counts and len(numbers) not in counts:
        wanted = " or ".join(map(str, counts))
        raise DescriptionError(
            f"{part}{': ' if part else ''}{quantity} has {len(numbers)} numbers; {wanted} are needed"
        )


def _check_finite(part: str, quantity: str, values: Iterable[float]) -> None:
    for x in values:
        if not math.isfinite(x):
            raise DescriptionError(
                f"{part}{': ' if part else ''}{quantity} is {x}; a finite number is needed", quantity=quantity
            )


def _check_size(part: str, quantity: str, values: Iterable[float]) -> None:
    """Numbers that are finite and can be multiplied; of a direction only the ratio of its numbers counts."""
    _check_finite(part, quantity, values)
    for x in values:
        if abs(x) > LARGEST:
            raise DescriptionError(f"{part}{': ' if part else ''}{too_large(quantity, x)}", quantity=quantity)


def _check_origin(part: str, quantity: str, origin: Origin) -> None:
    _check_count(part, quantity, origin.xyz, 3)
    _check_count(part, f"turn of {quantity}", origin.turn, 0, 3, 4, 9)
    _check_size(part, quantity, origin.xyz)
    _check_finite(part, quantity, origin.turn)
    if len(origin.turn) == 4 and not any(origin.turn):
        raise DescriptionError(f"{part}: {quantity} has the quaternion 0 0 0 0, which is not a rotation")
    if len(origin.turn) == 9:
        R = np.array(origin.turn).reshape(3, 3)
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
            raise DescriptionError(
                f"{part}: {quantity} has a matrix that is not a rotation (R Rᵀ ≠ 1 or det R < 0)"
            )


def _check_link(link: Link, _: WarningList) -> None:
    part = f"{at(link.where)}link {link.name!r}"
    _check_count(part, "mass", (link.mass,), 1)
    _check_count(part, "mass centre", link.com, 3)
    _check_count(part, "inertia", link.inertia, 6)
    _check_size(part, "mass", (link.mass,))
    _check_size(part, "mass centre", link.com)
    _check_size(part, "inertia", link.inertia)
    if link.mass < 0.0:
        raise DescriptionError(
            f"{part} has mass {link.mass:g} kg; a mass is zero or positive", link=link.name, mass=link.mass
        )


def _check_joint(joint: Joint, warnings: WarningList) -> None:
    part = f"{at(joint.where)}joint {joint.name!r}"
    if joint.kind in CLOSINGS and joint.kind not in PAIRS:
        raise DescriptionError(
            f"{part} is of kind {joint.kind!r}, which closes loops and moves nothing; give kind 'revolute', or a loop "
            "of this kind",
            joint=joint.name,
            kind=joint.kind,
        )
    if joint.kind not in PAIRS:
        raise DescriptionError(
            f"{part} is of unknown kind {joint.kind!r}; {nearest(joint.kind, PAIRS)}Kinds: {listed(PAIRS)}",
            joint=joint.name,
            kind=joint.kind,
        )
    _check_origin(part, "origin", joint.origin)
    _check_origin(part, "child origin", joint.child_origin)
    for quantity, values, *counts in _numbers(joint):
        _check_count(part, quantity, values, *counts)
        (_check_finite if "axis" in quantity else _check_size)(part, quantity, values)
    for quantity in _LIMITS:
        values = getattr(joint, quantity)
        _check_count(part, quantity, values)
        if any(math.isnan(x) for x in values):
            raise DescriptionError(f"{part}: {quantity} is nan; a number is needed, inf for no limit")
    _check_count(part, "start", joint.start, 0, len(PAIRS[joint.kind].q_parts))
    _check_finite(part, "start", joint.start)
    _check_turn(part, "start", joint, joint.start)
    _check_axes(part, joint)
    _check_limits(part, joint, warnings)
    check_degrees(part, joint, warnings)
    check_actuation(part, joint, warnings)
    if joint.kind == "helical" and not joint.pitch:
        warnings.add(
            f"{part} is helical with pitch 0: it turns and does not advance; taken as it is", joint=joint.name
        )


def _check_mimics(joints: Sequence[Joint], warnings: WarningList) -> None:
    """A joint follows another one that moves; not itself, and not one that follows it."""
    named = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic and (trouble := _mimic_trouble(joint, named)):
            warnings.add(f"{at(joint.where)}{trouble}", joint=joint.name)


def _mimic_trouble(joint: Joint, named: Mapping[str, Joint]) -> str:
    """Sentence about a doubtful mimic and how it is read; empty if it is well."""
    assert joint.mimic is not None
    other = named.get(joint.mimic.joint)
    subject = f"joint {joint.name!r} mimics joint {joint.mimic.joint!r}, which is"
    if joint.kind == "fixed":
        return f"joint {joint.name!r} is fixed and mimics joint {joint.mimic.joint!r}; left as it is fixed"
    if other is None:
        return f"{subject} not there; taken as an independent joint"
    if other is joint:
        return f"{subject} itself; taken as an independent joint"
    if other.kind == "fixed":
        return f"{subject} fixed; stays at its offset {joint.mimic.offset:g}"
    path = [joint.name]
    while other is not None and other.mimic and other.name not in path:
        path.append(other.name)
        other = named.get(other.mimic.joint)
    if other is joint and joint.name == min(path):
        circle = " → ".join([*path, joint.name])
        return f"joints mimic each other in a circle, {circle}, which may hold them still; taken as it is"
    return ""


def _check_keyframe(state: Keyframe, joints: Mapping[str, Joint]) -> None:
    part = f"{at(state.where)}keyframe {state.name!r}"
    for quantity, numbers in (("q", state.q), ("qd", state.qd)):
        for name, values in numbers:
            if name not in joints:
                raise DescriptionError(
                    f"{part}: {quantity} names joint {name!r}, which does not exist; {nearest(name, joints)}"
                    f"Joints: {listed(joints)}",
                    keyframe=state.name,
                    joint=name,
                )
            pair = PAIRS[joints[name].kind]
            size = len(pair.q_parts if quantity == "q" else pair.v_parts)
            _check_count(part, f"{quantity} of joint {name!r}", values, size)
            _check_finite(part, f"{quantity} of joint {name!r}", values)
            if quantity == "q":
                _check_turn(part, f"q of joint {name!r}", joints[name], values)


def _check_turn(part: str, quantity: str, joint: Joint, values: Sequence[float]) -> None:
    """A quaternion among coordinates, which are its last four, turns."""
    pair = PAIRS[joint.kind]
    if values and len(pair.q_parts) > len(pair.v_parts) and not any(values[-4:]):
        raise DescriptionError(
            f"{part}: {quantity} has the quaternion 0 0 0 0, which is not a rotation; the identity is 0 0 0 1",
            joint=joint.name,
        )


_LIMITS = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")


def _numbers(joint: Joint) -> Iterator[Any]:
    """Numbers that must be finite: quantity, values, and how many there may be (any number if not said)."""
    yield "axis", joint.axis, 3
    yield "second axis", joint.axis2 or (), 0, 3
    yield "pitch", (joint.pitch,)
    for quantity in ("damping", "stiffness", "rest"):
        yield quantity, getattr(joint, quantity)
    yield "rotor inertia", (joint.rotor_inertia,)
    yield "gear ratio", (joint.gear_ratio,)


def _check_axes(part: str, joint: Joint) -> None:
    if trouble := axes_trouble(joint.axis, joint.axis2, PAIRS[joint.kind].axes):
        raise DescriptionError(f"{part} {trouble}", joint=joint.name)


def axes_trouble(axis: Sequence[float], axis2: Sequence[float] | None, axes: int) -> str:
    """Sentence about wrong directions of a pair that has so many; nothing if they will do."""
    if any(x is not None and not any(x) for x in (axis, axis2)[:axes]):
        return "has the axis 0 0 0; give a direction"
    if axes < 2 or axis2 is None:
        return ""
    cosine = float(np.clip(unit(np.array(axis)) @ unit(np.array(axis2)), -1.0, 1.0))
    if abs(cosine) <= 1e-6:
        return ""
    return (
        f"has axes at {np.degrees(np.arccos(cosine)):.4g}°; those of a universal joint are perpendicular, "
        "use two revolute joints otherwise"
    )


def _check_limits(part: str, joint: Joint, warnings: WarningList) -> None:
    for low, high in zip(joint.lower, joint.upper, strict=False):
        if low > high:
            warnings.add(
                f"{part}: lower limit {low:g} is above upper limit {high:g}; both ignored", joint=joint.name
            )
