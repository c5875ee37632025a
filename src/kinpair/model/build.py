"""From a description to the numbered, frozen Model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from kinpair.description.parts import GROUND, Description, Joint, Link, Origin
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError
from kinpair.model.actuator_data import actuator_data, check_actuators, rotors
from kinpair.model.check_compliance import check_compliances, warn_of_compliance
from kinpair.model.check_inertia import warn_of_inertias
from kinpair.model.check_numbers import check_inertias
from kinpair.model.check_parts import check_parts
from kinpair.model.check_tree import tree
from kinpair.model.check_weight import warn_of_weightless, weightless
from kinpair.model.friction_data import check_frictions, friction_data, plain_levels
from kinpair.model.joint_data import joint_data, reflected_rotor
from kinpair.model.lean import lean_bodies
from kinpair.model.model import Body, Model, Options, Place
from kinpair.model.spring_data import check_springs, spring_data
from kinpair.model.surface_data import surface_data
from kinpair.pairs import PAIRS, Pair
from kinpair.pairs.fixed import Fixed
from kinpair.spatial.inertia import Inertia, joined
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import IDENTITY, clean, snapped

FREE_BASE = "base"
NO_SPAN = slice(0, 0)
ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))
GROUND_BODY = Body(Fixed(), IDENTITY, ZERO, ZERO, 0.0, ZERO, ZERO3, ZERO, ZERO3, np.zeros(0))


@dataclass(slots=True)
class _Seed:
    """A body while the links on it are being gathered."""

    joint: Joint
    parent: int
    pair: Pair
    seat: Pose
    R_joint: np.ndarray
    inertias: list[Inertia] = field(default_factory=list[Inertia])


def build(
    description: Description,
    *,
    strict: bool = False,
    snap: float = 0.0,
    merge_fixed: bool = True,
) -> Model:
    """Check, merge what is welded together, number, freeze."""
    if strict and description.warnings:
        raise DescriptionError(description.warnings[0])
    warnings = WarningList(strict, list(description.warnings))
    check_parts(description, warnings)
    root, joints = tree(description)
    check_inertias(description, root, joints)
    check_springs(description, warnings)
    check_frictions(description)
    check_compliances(description)
    poser = _Poser(snap, warnings)
    seeds, places = _gather(description, root, joints, poser, merge_fixed)
    bodies = _bodies(seeds, rotors(description))
    parents = (-1, *(seed.parent for seed in seeds))
    moving = {seed.joint.name: seed.pair for seed in seeds}
    check_actuators(description, {name: pair.nv for name, pair in moving.items()})
    order = [joint for joint in description.joints if joint.name in moving]
    q_names, q_spans = _named(order, [moving[j.name].q_parts for j in order])
    v_names, v_spans = _named(order, [moving[j.name].v_parts for j in order])
    ordered = [(joint, moving[joint.name]) for joint in order]
    numbers = {seed.joint.name: i + 1 for i, seed in enumerate(seeds)}
    frictions = friction_data(ordered, v_names, numbers)
    model = Model(
        name=description.name,
        names=(root, *(seed.joint.child for seed in seeds)),
        joint_names=("", *(seed.joint.name for seed in seeds)),
        parent=parents,
        body=bodies,
        lean_body=lean_bodies(bodies, parents),
        q_span=(NO_SPAN, *(q_spans[seed.joint.name] for seed in seeds)),
        v_span=(NO_SPAN, *(v_spans[seed.joint.name] for seed in seeds)),
        R_joint=(IDENTITY, *(seed.R_joint for seed in seeds)),
        places=MappingProxyType(places),
        gravity=_frozen(np.array(description.gravity, dtype=float)),
        joints=joint_data(ordered, plain_levels(frictions, len(v_names)), warnings),
        q_names=q_names,
        v_names=v_names,
        description=description,
        warnings=(),
        options=Options(snap, merge_fixed),
        springs=spring_data(description.springs, places, warnings),
        frictions=frictions,
        surfaces=surface_data(ordered, numbers),
    )
    model = replace(
        model,
        actuators=actuator_data(description.actuators, model.joint_names, model.q_span, model.v_span),
    )
    warn_of_inertias(model, warnings)
    if not description.constraints and not any(joint.mimic for joint in description.joints):
        warn_of_weightless(
            model, weightless(model), warnings
        )  # else the constraints decide, see `constraints/check.py`
        warn_of_compliance(description, warnings)
    return replace(model, warnings=tuple(warnings.sentences))


def rebuilt(description: Description, options: Options, added: tuple[Any, ...] = ()) -> Model:
    """The model of a description with the options and added elements of another one."""
    model = build(description, snap=options.snap, merge_fixed=options.merge_fixed)
    return replace(model, added=added) if added else model


def freed(description: Description) -> Description:
    """The same mechanism with its root link floating: a free joint `base` between it and the ground."""
    root, _ = tree(description)
    names = {link.name for link in description.links}
    if root not in names:
        raise DescriptionError(
            f"{at(description.source)}the root is the ground itself, which cannot float; "
            'give the first link a joint of kind "free" instead',
        )
    ground = _unused(GROUND, names)
    name = _unused(FREE_BASE, {joint.name for joint in description.joints})
    base = Joint(name=name, kind="free", parent=ground, child=root)
    return replace(
        description,
        links=(Link(ground), *description.links),
        joints=(base, *description.joints),
    )


def _unused(name: str, taken: set[str]) -> str:
    """The name itself, or with the first number that makes it unique."""
    numbered = (f"{name} {k}" for k in range(2, len(taken) + 3))
    return next(n for n in (name, *numbered) if n not in taken)


@dataclass(frozen=True, slots=True)
class _Poser:
    """Origins as poses; with `snap`, those within that distance of quarter turns are made exact, and it is said."""

    snap: float
    warnings: WarningList

    def pose(self, part: str, origin: Origin) -> Pose:
        """The pose of an origin."""
        pose = origin.pose()
        return Pose(self._snapped(part, "rotation", pose.R), pose.a)

    def seat(self, part: str, joint: Joint) -> tuple[np.ndarray, Pair]:
        """The turn to the axes of a joint, and its pair."""
        turn, pair = PAIRS[joint.kind].seated(joint.axis, joint.axis2, joint.pitch)
        return self._snapped(part, "axis", turn), pair

    def _snapped(self, part: str, what: str, R: np.ndarray) -> np.ndarray:
        exact = snapped(R, self.snap)
        if change := float(np.abs(exact - R).max()):
            self.warnings.note(f"{part}: {what} changed by {change:.2g} (snap={self.snap:g})")
        return exact


def _gather(
    description: Description, root: str, joints: Sequence[Joint], poser: _Poser, merge_fixed: bool
) -> tuple[list[_Seed], dict[str, Place]]:
    links = {link.name: link for link in description.links}
    seeds: list[_Seed] = []
    places = {root: Place(0, HOME)}
    if GROUND not in links:
        places[GROUND] = Place(0, HOME)
    for joint in joints:
        on = places[joint.parent]
        part = f"{at(joint.where)}joint {joint.name!r}"
        frame = on.pose @ poser.pose(part, joint.origin)
        child = poser.pose(part, joint.child_origin)
        turn, pair = poser.seat(part, joint)
        if merge_fixed and isinstance(pair, Fixed) and not joint.compliance:
            places[joint.child] = Place(on.body, _cleaned(frame @ child))
        else:
            seat = _cleaned(frame @ Pose(turn, np.zeros(3)))
            seeds.append(_Seed(joint, on.body, pair, seat, clean(turn.T)))
            places[joint.child] = Place(len(seeds), _cleaned(Pose(turn.T, np.zeros(3)) @ child))
        place = places[joint.child]
        if place.body and joint.child in links:
            seeds[place.body - 1].inertias.append(
                _inertia(links[joint.child]).moved(place.pose.R, place.pose.a)
            )
    for frame in description.frames:
        on = places[frame.link]
        pose = poser.pose(f"{at(frame.where)}frame {frame.name!r}", frame.origin)
        places[frame.name] = Place(on.body, _cleaned(on.pose @ pose))
    return seeds, places


def _cleaned(pose: Pose) -> Pose:
    return Pose(_frozen(clean(pose.R)), _frozen(pose.a + 0.0))


def _inertia(link: Link) -> Inertia:
    return Inertia(link.mass, np.array(link.com), link.tensor())


def _bodies(seeds: Sequence[_Seed], rotors: Mapping[str, float]) -> tuple[Body, ...]:
    bodies = [GROUND_BODY]
    for seed in seeds:
        whole = joined(seed.inertias)
        bodies.append(
            Body(
                pair=seed.pair,
                R_seat=seed.seat.R,
                a_seat=seed.seat.a,
                r_seat=_frozen(seed.seat.a - bodies[seed.parent].d),
                m=whole.m,
                d=_frozen(whole.d),
                I=_frozen(whole.I),
                s=_frozen(whole.m * whole.d),
                J=_frozen(whole.about_origin()),
                rotor=_frozen(reflected_rotor(seed.joint, seed.pair) + rotors.get(seed.joint.name, 0.0)),
            )
        )
    return tuple(bodies)


def _named(
    joints: Sequence[Joint], parts: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], dict[str, slice]]:
    """Names and spans in the order of the description; a joint of one entry goes by its own name."""
    names: list[str] = []
    spans: dict[str, slice] = {}
    for joint, own in zip(joints, parts, strict=True):
        spans[joint.name] = slice(len(names), len(names) + len(own))
        names += [joint.name] if len(own) == 1 else [f"{joint.name}.{part}" for part in own]
    if twice := [name for name in names if names.count(name) > 1]:
        raise DescriptionError(
            f"two coordinates would be called {twice[0]!r}: a joint of that name, and a part of another; "
            "rename the joint",
            name=twice[0],
        )
    return tuple(names), spans


def _frozen(x: Any) -> Any:
    """The array, read-only from now on."""
    x.flags.writeable = False
    return x
