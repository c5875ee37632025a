"""The tendons of an MJCF file, as far as they are springs, limits and transmissions of parts here, and its equalities.

    fixed, one joint     L = c q: its spring, damper, friction, rotor and limits are numbers of the joint; an actuator
                         on it is one on the joint with c times the gear
    fixed, more joints   L = Σ c q: `equality` couples the joints; what else acts along it is reported
    spatial, two sites   a spring and damper between two points; limits and friction of it are reported

A tendon along which nothing acts is a measurement, and has no part in the motion. Of the equalities, connect and weld
close loops, joint and tendon couple coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from kinpair.description.constraint_parts import Coupling, Loop
from kinpair.description.mjcf_bodies import WORLD, Body, Moved, Site, limits
from kinpair.description.mjcf_schema import COUPLING_ATTRIBUTES
from kinpair.description.mjcf_settings import Settings, shifted, wxyz
from kinpair.description.mjcf_xml import YES_NO, Defaults, Tag
from kinpair.description.omitted import Omitted
from kinpair.description.parts import Joint, Numbers, Spring, origin, three
from kinpair.errors import nearest
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
                three(first[1].pose.a),
                three(second[1].pose.a),
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


def solved(
    terms: Sequence[tuple[str, float]], follows: Sequence[tuple[str, float]], slope: float, shift: float
) -> tuple[str, tuple[tuple[str, Numbers], ...], float]:
    """Solve Σ c q = shift + slope Σ d y for the first coordinate: its name, terms and offset."""
    (joint, c), *others = terms
    parts = [(name, (-k / c,)) for name, k in others] + [(name, (slope * k / c,)) for name, k in follows]
    return joint, tuple(parts), shift / c


_AS_IT_STANDS = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # relpose without a rotation: the pose in the file
_LINE = (0.0, 1.0, 0.0, 0.0, 0.0)


class Equalities:
    """Reads constraints between bodies that are known; `links`: the name of each body here; `omitted`: other kinds."""

    def __init__(
        self, bodies: list[Body], links: Mapping[str, str], tendons: Tendons, omitted: Omitted
    ) -> None:
        self._links, self._tendons, self._omitted = links, tendons, omitted
        self._bodies = {body.name: body for body in bodies}
        self._sites: dict[str, tuple[Body, Site]] = {s.name: (b, s) for b in bodies for s in b.sites}
        self._joints: dict[str, Moved] = {m.joint.name: m for body in bodies for m in body.joints}

    def read(self, root: Tag, defaults: Defaults) -> tuple[Loop | Coupling, ...]:
        """The constraints in force, in the order of the file."""
        parts: list[Loop | Coupling] = []
        for k, tag in enumerate(tag for section in root.each("equality") for tag in section.inside):
            name = tag.text("name") or f"{tag.name} {k}"
            tag = defaults.of(tag.called(f"equality {name!r}"), "", "equality")
            if not tag.word("active", YES_NO, "true"):
                tag.warnings.note(f'{tag.where}: {tag.part} has active="false"; left out')
            elif tag.name not in _KINDS:
                self._omitted.add("equality constraint", f"{name!r} (<{tag.name}>)", tag.where)
            elif constraint := _KINDS[tag.name](self, tag, name):
                parts.append(constraint)
        return tuple(parts)

    def connect(self, tag: Tag, name: str) -> Loop | None:
        """Two points stay together."""
        tag.known()
        if sites := self._two_sites(tag):
            (first, a), (second, b) = sites
            return self._loop(tag, name, "spherical", first, shifted(a.pose.a), second, shifted(b.pose.a))
        first, second = self._two_bodies(tag)
        if not tag.has("anchor"):
            raise tag.error("has no anchor; write the point in axes of body1, or site1 and site2")
        anchor = shifted(np.array(tag.numbers("anchor", 3)))
        there = second.home.inverse() @ first.home @ anchor
        return self._loop(tag, name, "spherical", first, anchor, second, shifted(there.a))

    def weld(self, tag: Tag, name: str) -> Loop | None:
        """The anchor on body2 stays at the relpose on body1; without its turning part, only its place does."""
        tag.known()
        kind = "fixed" if tag.number("torquescale", 1.0) else "spherical"
        if sites := self._two_sites(tag):
            (first, a), (second, b) = sites
            return self._loop(tag, name, kind, first, a.pose, second, b.pose)
        first, second = self._two_bodies(tag)
        pose = np.array(tag.numbers("relpose", 7, default=_AS_IT_STANDS))
        anchor = shifted(np.array(tag.numbers("anchor", 3, default=(0.0, 0.0, 0.0))))
        there = first.home.inverse() @ second.home @ anchor
        if pose[3:].any():
            there = Pose(wxyz(pose[3:]), pose[:3])
        return self._loop(tag, name, kind, first, there, second, anchor)

    def joint(self, tag: Tag, name: str) -> Coupling:
        """y − y₀ = Σ a_k (x − x₀)^k, x₀ and y₀ the coordinates at the pose in the file; powers of x gathered."""
        for attribute in tag.attributes:
            if attribute not in COUPLING_ATTRIBUTES:
                hint = nearest(attribute, COUPLING_ATTRIBUTES)
                tag.warn(f"has the unknown attribute {attribute!r}; {hint}left out")
        a = tag.numbers("polycoef", 1, 5, _LINE)
        y = self._single(tag, "joint1")
        if not tag.has("joint2"):
            return Coupling(name, y.joint.name, (), y.ref + a[0], tag.where)
        x = self._single(tag, "joint2")
        powers = [sum(a[k] * comb(k, j) * (-x.ref) ** (k - j) for k in range(j, 5)) for j in range(5)]
        while len(powers) > 2 and not powers[-1]:
            powers.pop()
        return Coupling(
            name, y.joint.name, ((x.joint.name, tuple(powers[1:])),), y.ref + powers[0], tag.where
        )

    def tendon(self, tag: Tag, name: str) -> Coupling | None:
        """L₁ − l₁ = a₀ + a₁ (L₂ − l₂) of fixed tendons, l the lengths at the pose in the file."""
        ends = [self._tendon(tag, key) for key in ("tendon1", "tendon2") if tag.has(key)]
        a = tag.numbers("polycoef", 1, 5, _LINE)
        fixed = all(x.tag.name == "fixed" and x.terms and x.terms[0][1] for x in ends)
        if (
            not ends
            or not fixed
            or any(a[2:])
            or len({joint for x in ends for joint, _ in x.terms}) < sum(len(x.terms) for x in ends)
        ):
            return self._omitted.add("equality constraint", f"{name!r} (<tendon>)", tag.where)
        follows = ends[1].terms if len(ends) == 2 else ()
        shift = a[0] + self._tendons.rest(ends[0]) - sum(a[1] * self._tendons.rest(x) for x in ends[1:])
        joint, terms, offset = solved(ends[0].terms, follows, a[1], shift)
        return Coupling(name, joint, terms, offset, tag.where)

    def _tendon(self, tag: Tag, key: str) -> Tendon:
        known = self._tendons.by_name
        if tag.text(key) not in known:
            raise tag.unknown("tendon", tag.text(key), known)
        return known[tag.text(key)]

    def _loop(
        self, tag: Tag, name: str, kind: str, first: Body, a: Pose, second: Body, b: Pose
    ) -> Loop | None:
        if self._carrier(first) is self._carrier(second):
            return tag.warn(
                f"joins {first.name!r} to {second.name!r}, which do not move against each other; left out"
            )
        ends = self._links[first.name], self._links[second.name]
        return Loop(name, kind, *ends, origin=origin(a), child_origin=origin(b), where=tag.where)

    def _carrier(self, body: Body) -> Body:
        """The body that moves this one: the nearest with joints, or the world."""
        while not body.joints and body.name != WORLD:
            body = self._bodies[body.parent]
        return body

    def _two_sites(self, tag: Tag) -> list[tuple[Body, Site]]:
        names = [tag.text(attribute) for attribute in ("site1", "site2") if tag.has(attribute)]
        if len(names) == 1:
            raise tag.error("has one site; site1 and site2 go together")
        for name in names:
            if name not in self._sites:
                raise tag.unknown("site", name, self._sites)
        return [self._sites[name] for name in names]

    def _two_bodies(self, tag: Tag) -> tuple[Body, Body]:
        if not tag.has("body1"):
            raise tag.error("says not what it connects; write body1 and body2, or site1 and site2")
        names = tag.text("body1"), tag.text("body2", WORLD)
        for name in names:
            if name not in self._bodies:
                raise tag.unknown("body", name, self._bodies)
        return self._bodies[names[0]], self._bodies[names[1]]

    def _single(self, tag: Tag, attribute: str) -> Moved:
        name = tag.text(attribute)
        if name not in self._joints:
            raise tag.unknown("joint", name, self._joints)
        if self._joints[name].joint.kind not in ("revolute", "prismatic"):
            raise tag.error(f"couples joint {name!r}, which has several coordinates; only hinge and slide do")
        return self._joints[name]


_KINDS: dict[str, Callable[[Equalities, Tag, str], Loop | Coupling | None]] = {
    "connect": Equalities.connect,
    "weld": Equalities.weld,
    "joint": Equalities.joint,
    "tendon": Equalities.tendon,
}
