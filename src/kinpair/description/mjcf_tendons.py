"""The tendons of an MJCF file, as far as they are springs, limits and transmissions of parts here.

    fixed, one joint     L = c q: its spring, damper, friction, rotor and limits are numbers of the joint; an actuator
                         on it is one on the joint with c times the gear
    fixed, more joints   L = Σ c q: `equality` couples the joints; what else acts along it is reported
    spatial, two sites   a spring and damper between two points; limits and friction of it are reported

A tendon along which nothing acts is a measurement, and has no part in the motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinpair.description.mjcf_bodies import Body
from kinpair.description.mjcf_defaults import Defaults
from kinpair.description.mjcf_joints import Moved, limits
from kinpair.description.mjcf_orientation import shifted
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import Tag
from kinpair.description.omitted import Omitted
from kinpair.description.parts import Joint, Numbers, Spring, Three
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import about

KINDS = ("fixed", "spatial")
ACTING = ("stiffness", "damping", "frictionloss", "armature")


@dataclass(frozen=True, slots=True)
class Tendon:
    """A tendon: the joints and coefficients of a fixed one, or the sites of a spatial one."""

    name: str
    tag: Tag
    terms: tuple[tuple[str, float], ...] = ()
    sites: tuple[str, ...] = ()
    plain: bool = True  # without pulleys and wrapping geoms

    @property
    def single(self) -> tuple[str, float] | None:
        """The joint and coefficient, where there is one alone."""
        return self.terms[0] if len(self.terms) == 1 and self.terms[0][1] else None

    @property
    def acting(self) -> list[str]:
        """Attributes along which something acts."""
        words = [key for key in ACTING if any(self.tag.values(key))]
        limited = self.tag.text("limited", "auto")
        return words + ["range"] * (limited == "true" or (limited == "auto" and self.tag.has("range")))


class Tendons:
    """Reads tendons of bodies that are known; `links`: the name of each body here."""

    def __init__(self, root: Tag, bodies: list[Body], links: Mapping[str, str], defaults: Defaults) -> None:
        self._links = links
        self._sites = {site.name: (body, site) for body in bodies for site in body.sites}
        self._moved: dict[str, Moved] = {m.joint.name: m for body in bodies for m in body.joints}
        self._slack_poses = _slack_poses(bodies)
        self.by_name: dict[str, Tendon] = {}
        for section in root.each("tendon"):
            for k, tag in enumerate(section.each(*KINDS)):
                name = tag.text("name") or f"tendon {k}"
                tag = defaults.of(tag.called(f"tendon {name!r}").known(), "", "tendon")
                self.by_name[name] = self._fixed(name, tag) if tag.name == "fixed" else _spatial(name, tag)

    def _fixed(self, name: str, tag: Tag) -> Tendon:
        terms: list[tuple[str, float]] = []
        for inside in tag.each("joint"):
            joint = inside.text("joint")
            if joint not in self._moved:
                raise tag.unknown("joint", joint, self._moved)
            terms.append((joint, inside.called(tag.part).number("coef", 1.0)))
        return Tendon(name, tag, tuple(terms))

    def rest(self, tendon: Tendon) -> float:
        """Length of a fixed tendon at the pose in the file."""
        return sum(c * self._moved[joint].ref for joint, c in tendon.terms)

    def _unwritten_slack(self, tendon: Tendon) -> float:
        """Length of a fixed tendon where the springs of its joints are slack."""
        return sum(c * self._moved[joint].slack for joint, c in tendon.terms)

    def on_joints(self, joints: Sequence[Joint], settings: Settings, omitted: Omitted) -> tuple[Joint, ...]:
        """Return the joints with what tendons of one joint add to them; report tendons of more joints."""
        changed = {joint.name: joint for joint in joints}
        for tendon in self.by_name.values():
            if tendon.tag.name != "fixed" or not tendon.acting:
                continue
            if tendon.single is None:
                omitted.add("tendon", repr(tendon.name), tendon.tag.where)
                continue
            name, c = tendon.single
            changed[name] = self._added(changed[name], tendon, c, settings)
        return tuple(changed.values())

    def _added(self, joint: Joint, tendon: Tendon, c: float, settings: Settings) -> Joint:
        """Return the joint with the effect of L = c q on it."""
        tag = tendon.tag
        k, d, f, armature = (c * c * _first(tag, key) for key in ACTING)
        k0, r0 = (joint.stiffness or (0.0,))[0], (joint.rest or (0.0,))[0]
        slack = self._slack(tendon) / c
        lower, upper = limits(tag, "limited", "range", settings)
        bounds = sorted((lower[0] / c, upper[0] / c)) if lower else [-np.inf, np.inf]
        low = max(bounds[0], (joint.lower or (-np.inf,))[0])
        high = min(bounds[1], (joint.upper or (np.inf,))[0])
        friction = tuple(x for x in joint.friction if isinstance(x, float))
        return replace(
            joint,
            stiffness=(k0 + k,) if k else joint.stiffness,
            rest=((k0 * r0 + k * slack) / (k0 + k),) if k else joint.rest,
            damping=((joint.damping or (0.0,))[0] + d,) if d else joint.damping,
            friction=((friction or (0.0,))[0] + f / abs(c),) if f else joint.friction,
            rotor_inertia=joint.rotor_inertia + armature,
            lower=(low,) if np.isfinite(low) else joint.lower,
            upper=(high,) if np.isfinite(high) else joint.upper,
        )

    def _slack(self, tendon: Tendon) -> float:
        """Length at which the spring is slack: as written, or where springs of joints are slack if -1 is written."""
        first, *second = tendon.tag.values("springlength") or (-1.0,)
        if second and second[0] != first:
            tendon.tag.warn("has a springlength of two numbers; the first is taken")
        return self._unwritten_slack(tendon) if first == -1.0 else first

    def springs(self, omitted: Omitted) -> Iterator[Spring]:
        """Yield the springs of spatial tendons between two sites; report others along which something acts."""
        for tendon in self.by_name.values():
            if tendon.tag.name != "spatial" or not tendon.acting:
                continue
            ends = [self._sites.get(site) for site in tendon.sites]
            first, second = (*ends, None, None)[:2]
            if not tendon.plain or len(ends) != 2 or first is None or second is None:
                omitted.add("tendon", repr(tendon.name), tendon.tag.where)
                continue
            if rest := [key for key in tendon.acting if key not in ("stiffness", "damping")]:
                omitted.add("tendon", f"{', '.join(rest)} of {tendon.name!r}", tendon.tag.where)
            points = [(self._slack_poses[body.name] @ site.pose).a for body, site in (first, second)]
            written = (tendon.tag.values("springlength") or (-1.0,))[0]
            length = float(np.linalg.norm(points[1] - points[0])) if written == -1.0 else written
            yield Spring(
                tendon.name,
                self._links[first[0].name],
                self._links[second[0].name],
                _three(first[1].pose.a),
                _three(second[1].pose.a),
                stiffness=_first(tendon.tag, "stiffness"),
                damping=_first(tendon.tag, "damping"),
                rest_length=length,
                where=tendon.tag.where,
            )


def _slack_poses(bodies: Sequence[Body]) -> dict[str, Pose]:
    """Return the poses of the bodies where the springs of all joints are slack."""
    poses: dict[str, Pose] = {}
    for body in bodies:
        pose = poses[body.parent] @ body.pose if body.parent else body.pose
        for moved in body.joints:
            turn, axis = moved.slack - moved.ref, np.array(moved.joint.axis)
            if moved.joint.kind == "revolute":
                pose = pose @ moved.seat @ Pose(about(axis, turn), np.zeros(3)) @ moved.seat.inverse()
            elif moved.joint.kind == "prismatic":
                pose = pose @ shifted(turn * axis)
        poses[body.name] = pose
    return poses


def _spatial(name: str, tag: Tag) -> Tendon:
    sites = tuple(x.text("site") for x in tag.each("site"))
    return Tendon(name, tag, sites=sites, plain=not tag.each("geom", "pulley"))


def _first(tag: Tag, key: str) -> float:
    """The linear coefficient; those of higher order are reported."""
    first, *higher = tag.values(key) or (0.0,)
    if any(higher):
        tag.warn(f"has {key} of higher order; only the linear part {first:g} is taken")
    return first


def _three(x: np.ndarray) -> Three:
    a, b, c = x.tolist()
    return (a, b, c)


def solved(
    terms: Sequence[tuple[str, float]], follows: Sequence[tuple[str, float]], slope: float, shift: float
) -> tuple[str, tuple[tuple[str, Numbers], ...], float]:
    """Solve Σ c q = shift + slope Σ d y for the first coordinate: its name, terms and offset."""
    (joint, c), *others = terms
    parts = [(name, (-k / c,)) for name, k in others] + [(name, (slope * k / c,)) for name, k in follows]
    return joint, tuple(parts), shift / c
