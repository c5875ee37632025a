"""The equality constraints of an MJCF file: connect and weld close loops, joint couples two coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb

import numpy as np

from kinpair.description.constraint_parts import Coupling, Loop
from kinpair.description.mjcf_bodies import WORLD, Body, Site
from kinpair.description.mjcf_defaults import Defaults
from kinpair.description.mjcf_joints import Moved
from kinpair.description.mjcf_orientation import shifted, wxyz
from kinpair.description.mjcf_schema import COUPLING_ATTRIBUTES
from kinpair.description.mjcf_tendons import Tendon, Tendons, solved
from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.omitted import Omitted
from kinpair.description.parts import origin
from kinpair.errors import nearest
from kinpair.spatial.pose import Pose

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
