"""Conversion of a description to the numbered, frozen Model.

Compliances of joints and loops: numbers that mean something, where something is shared.

Inertial parameters regrouped: what a pair carries without ever turning it goes to the parent.

The mass of a hinged body may sit on the axis of its parent instead: nothing that is symmetric about the axis of a
hinge, and has no inertia about it, changes with the angle. So m, s_z and J_yy of a body on a revolute pair become
parameters of its parent, and what stays is shorter (Khalil & Kleinfinger 1987; base parameters of Gautier & Khalil
1990). Efforts and accelerations are the same to rounding; reactions, energies and mass centres are those of other
bodies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from kinpair.description.parts import GROUND, Description, Joint, Link
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed
from kinpair.model.actuator_data import actuator_data, check_actuators, rotors
from kinpair.model.check_inertia import warn_of_inertias
from kinpair.model.check_numbers import check_inertias
from kinpair.model.check_parts import check_parts
from kinpair.model.check_tree import tree
from kinpair.model.check_weight import warn_of_weightless, weightless
from kinpair.model.contact_data import check_contacts, contact_data
from kinpair.model.friction_data import check_frictions, friction_data, plain_levels
from kinpair.model.gathering import Poser, bodies_of, frozen, gather
from kinpair.model.joint_data import joint_data
from kinpair.model.model import Body, Model, Options
from kinpair.model.spring_data import check_springs, spring_data
from kinpair.model.surface_data import surface_data
from kinpair.pairs.pair import Moments
from kinpair.spatial.rotation import IDENTITY, skew, to_quaternion


def lean_bodies(bodies: Sequence[Body], parent: Sequence[int]) -> tuple[Body, ...]:
    """The bodies with regrouped m, s and J; what reaches the ground is forgotten."""
    gathered = [(body.m, body.s, body.J) for body in bodies]
    for i in reversed(range(1, len(bodies))):
        kept, moved = bodies[i].pair.regrouped(gathered[i])
        gathered[i] = kept
        gathered[parent[i]] = _sum(gathered[parent[i]], _on_parent(bodies[i], moved))
    lean = (replace(body, m=m, s=s, J=J) for body, (m, s, J) in zip(bodies, gathered, strict=True))
    return (bodies[0], *list(lean)[1:])


def _on_parent(body: Body, x: Moments) -> Moments:
    """Moments about the seat, about the parent's origin and in its axes."""
    m, s, J = x
    R, a = body.R_seat, skew(body.a_seat)
    turned = R @ s
    P = skew(turned) @ a
    return m, turned + m * body.a_seat, R @ J @ R.T - (P + P.T + m * (a @ a))


def _sum(x: Moments, y: Moments) -> Moments:
    J = x[2] + y[2]
    return x[0] + y[0], x[1] + y[1], (J + np.transpose(J)) / 2


def check_compliances(description: Description) -> None:
    """Refuse numbers that no part yields by."""
    parts = [("joint", x) for x in description.joints_with("compliance")]
    parts += [("constraint", x) for x in description.constraints]
    for word, part in parts:
        given = getattr(part, "compliance", ())
        usable = len(given) in (1, 6) and all(x >= 0.0 and math.isfinite(x) for x in given) and any(given)
        if given and not usable:
            raise DescriptionError(
                f"{at(part.where)}{word} {part.name!r}: compliance is {tuple(given)}; give six numbers, zero or more "
                "and not all zero: three [rad/(N m)], then three [m/N]; or one for all",
                part=part.name,
            )


def warn_of_compliance(description: Description, warnings: WarningList) -> None:
    """Warn of compliance in a tree, where every reaction is unique."""
    if names := [joint.name for joint in description.joints_with("compliance")]:
        warnings.add(
            f"{at(description.source)}compliance of {listed(map(repr, names), 6)} has no effect: it shares loads out "
            "that redundant constraints leave open, and there is no loop",
            joints=names,
        )


FREE_BASE = "base"
NO_SPAN = slice(0, 0)


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
    check_contacts(description)
    check_frictions(description)
    check_compliances(description)
    seeds, places = gather(description, root, joints, Poser(snap, warnings), merge_fixed)
    bodies = bodies_of(seeds, rotors(description))
    parents = (-1, *(seed.parent for seed in seeds))
    moving = {seed.joint.name: seed.pair for seed in seeds}
    check_actuators(description, {name: pair.nv for name, pair in moving.items()})
    order = [joint for joint in description.joints if joint.name in moving]
    q_names, q_spans = _named(order, [moving[j.name].q_parts for j in order])
    v_names, v_spans = _named(order, [moving[j.name].v_parts for j in order])
    ordered = [(joint, moving[joint.name]) for joint in order]
    numbers = {seed.joint.name: i + 1 for i, seed in enumerate(seeds)}
    frictions = friction_data(ordered, v_names, numbers)
    touching = contact_data(description, places, bodies, parents, warnings)
    model = Model(
        name=description.name,
        names=(root, *(seed.joint.child for seed in seeds)),
        joint_names=("", *(seed.joint.name for seed in seeds)),
        parent=parents,
        body=bodies,
        lean_body=cache(partial(lean_bodies, bodies, parents)),
        q_span=(NO_SPAN, *(q_spans[seed.joint.name] for seed in seeds)),
        v_span=(NO_SPAN, *(v_spans[seed.joint.name] for seed in seeds)),
        R_joint=(IDENTITY, *(seed.R_joint for seed in seeds)),
        places=MappingProxyType(places),
        gravity=frozen(np.array(description.gravity, dtype=float)),
        joints=joint_data(ordered, plain_levels(frictions, len(v_names)), warnings),
        q_names=q_names,
        v_names=v_names,
        description=description,
        warnings=(),
        options=Options(snap, merge_fixed),
        springs=spring_data(description.springs, places, warnings),
        frictions=frictions,
        surfaces=surface_data(ordered, numbers),
        contacts=touching,
        pads=touching.pads if touching else (),
    )
    model = replace(
        model,
        actuators=actuator_data(description.actuators, model.joint_names, model.q_span, model.v_span),
    )
    warn_of_inertias(model, warnings)
    if not description.constraints and not description.joints_with("mimic"):
        warn_of_weightless(
            model, weightless(model), warnings
        )  # else the constraints decide, see `constraints/rows/mobility.py`
        warn_of_compliance(description, warnings)
    model = replace(model, warnings=tuple(warnings.sentences))
    _ = model.numbering  # read now, once: later calls of a long mechanism find it
    return model


def rebuilt(description: Description, options: Options, added: tuple[Any, ...] = ()) -> Model:
    """The model of a description with the options and added elements of another one."""
    model = build(description, snap=options.snap, merge_fixed=options.merge_fixed)
    return replace(model, added=added) if added else model


def freed(description: Description) -> Description:
    """Return the mechanism with its root link floating: a free joint `base` between it and the ground.

    The joint takes the place of the only one on the ground, if that is fixed, and starts there.
    """
    root, _ = tree(description)
    names = {link.name for link in description.links}
    on_ground = [joint for joint in description.joints if joint.parent == root]
    if root not in names and [joint.kind for joint in on_ground] == ["fixed"]:
        return _released(description, on_ground[0])
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


def _released(description: Description, weld: Joint) -> Description:
    """Replace the joint that fixes a mechanism to the ground by a free one that starts there."""
    place = weld.origin.pose() @ weld.child_origin.pose()
    name = _unused(FREE_BASE, {joint.name for joint in description.joints if joint is not weld})
    start = (*place.a.tolist(), *to_quaternion(place.R).tolist())
    free = Joint(name, "free", weld.parent, weld.child, start=start, where=weld.where)
    others = (joint for joint in description.joints if joint is not weld)
    return replace(description, joints=(free, *others))


def _unused(name: str, taken: set[str]) -> str:
    """The name itself, or with the first number that makes it unique."""
    numbered = (f"{name} {k}" for k in range(2, len(taken) + 3))
    return next(n for n in (name, *numbered) if n not in taken)


def _named(
    joints: Sequence[Joint], parts: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], dict[str, slice]]:
    """Names and spans in the order of the description; a joint of one entry goes by its own name."""
    names: list[str] = []
    spans: dict[str, slice] = {}
    for joint, own in zip(joints, parts, strict=True):
        spans[joint.name] = slice(len(names), len(names) + len(own))
        names += [joint.name] if len(own) == 1 else [f"{joint.name}.{part}" for part in own]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise DescriptionError(
            f"two coordinates would be called {twice!r}: a joint of that name, and a part of another; "
            "rename the joint",
            name=twice,
        )
    return tuple(names), spans
