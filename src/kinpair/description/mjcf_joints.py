"""The joints of an MJCF body as joints here, one after another; q is MuJoCo's qpos.

A joint sits at `pos` in the body and moves it by q − ref: the moved frame is turned or shifted back by `ref`, and
the body sits at −pos in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinpair.description.mjcf_orientation import shifted
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.parts import Z_AXIS, Joint, Numbers, origin
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
