"""Constants of a model replaced by named scalars, symbols as a rule.

`link.mass`, `link.com.x`, `link.inertia.xx` are those of the body that the link's joint moves, with all that is welded
to it, in axes of the link and about the mass centre; of a link that is welded to another one they are its own.
`joint.x` is a coordinate of the joint frame's origin in its parent link; `spring.stiffness`, `spring.damping`,
`spring.rest_length` and `spring.preload` are those of a spring between points; `joint.friction.level` and the like are
numbers of a law of friction, `joint.friction.2.level` of the second one; `motor.resistance` or `motor.gear.ratio` are
those that the description gives of an actuator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from kinpair.description.parts import Spring
from kinpair.errors import InputError, listed, nearest
from kinpair.model.actuator_data import ActuatorData
from kinpair.model.model import Body, FrictionData, Model, SpringData, SurfaceData
from kinpair.spatial.inertia import Inertia

Law = TypeVar("Law", FrictionData, SurfaceData, ActuatorData)
TENSOR = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
SPRING_NUMBERS = ("stiffness", "damping", "rest_length", "preload")
_AXES = {"x": 0, "y": 1, "z": 2}


def symbol_names(model: Model) -> tuple[str, ...]:
    """Every name that can be kept as a symbol."""
    of_body = ["mass", *(f"com.{x}" for x in _AXES), *(f"inertia.{x}" for x in TENSOR)]
    links = [*(model.names[i] for i in model.moving), *welded(model)]
    bodies = [f"{link}.{what}" for link in links for what in of_body]
    joints = [f"{model.joint_names[i]}.{x}" for i in model.moving for x in _AXES]
    springs = [f"{x.name}.{what}" for x in model.description.springs for what in _of_spring(x)]
    laws = (*model.frictions, *model.surfaces)  # `viscous` of a servo is in both
    frictions = dict.fromkeys(f"{x.name}.{key}" for x in laws for key in x.numbers)
    actuators = [f"{x.name}.{key}" for x in model.actuators for key in x.numbers]
    return (*bodies, *joints, *springs, *frictions, *actuators)


def welded(model: Model) -> dict[str, int]:
    """The links that are welded to a moving one and are no bodies of their own: the number of the body that each is
    part of."""
    bodies = {link.name: model.places[link.name].body for link in model.description.links}
    return {name: i for name, i in bodies.items() if i and name != model.names[i]}


def own_inertia(model: Model, link: str) -> Inertia:
    """Mass, mass centre and tensor that a name of a link stands for, in axes of the link."""
    if link in welded(model):
        part = next(x for x in model.description.links if x.name == link)
        return Inertia(part.mass, np.array(part.com), part.tensor())
    body, home = model.body[model.names.index(link)], model.places[link].pose.inverse()
    return Inertia(body.m, body.d, body.I).moved(home.R, home.a)


def _of_spring(spring: Spring) -> tuple[str, ...]:
    """Numbers of a spring that may be replaced: nothing of a law, and no stiffness where there is no rest length."""
    if spring.law is not None:
        return ()
    return ("damping", "preload") if spring.rest_length is None else SPRING_NUMBERS


def check_symbols(model: Model, names: Sequence[str]) -> None:
    """Refuse an unknown name."""
    if not names:
        return
    known = symbol_names(model)
    for name in names:
        if name not in known:
            raise InputError(
                f"{model.name}: no parameter {name!r}; {nearest(name, known)}Parameters: {listed(known)}",
                parameter=name,
            )
    _check_parts(model, names)


def _check_parts(model: Model, names: Sequence[str]) -> None:
    """Refuse constants of a body together with those of a link that is welded into it."""
    for link, i in welded(model).items():
        own = [name for name in names if _is_of(link, name)]
        whole = [name for name in names if _is_of(model.names[i], name)]
        if own and whole:
            raise InputError(
                f"{model.name}: {whole[0]!r} is of all that is welded to link {model.names[i]!r}, {own[0]!r} of a part "
                "of it; give one of them",
                parameter=own[0],
            )


def _is_of(link: str, name: str) -> bool:
    """True if it is a constant of the inertia of the link."""
    return name == f"{link}.mass" or name.startswith((f"{link}.com.", f"{link}.inertia."))


def with_symbols(model: Model, values: Mapping[str, Any]) -> Model:
    """The model with the named constants replaced by the values given."""
    check_symbols(model, tuple(values))
    bodies = [model.body[0]]
    for i in model.moving:
        bodies.append(_body(model, i, bodies[model.parent[i]], values))
    springs = tuple(_spring(x, values) for x in model.springs)
    frictions = tuple(_replaced_numbers(x, values) for x in model.frictions)
    surfaces = tuple(_replaced_numbers(x, values) for x in model.surfaces)
    actuators = tuple(_replaced_numbers(x, values) for x in model.actuators)
    for old, new in zip(model.actuators, actuators, strict=True):
        if old is not new:
            bodies[new.i] = replace(bodies[new.i], rotor=bodies[new.i].rotor - old.rotor + new.rotor)
    acting: dict[str, Any] = {"springs": springs, "frictions": frictions, "surfaces": surfaces}
    body = tuple(bodies)
    return replace(model, body=body, lean_body=lambda: body, actuators=actuators, **acting)


def _replaced_numbers(data: Law, values: Mapping[str, Any]) -> Law:
    replaced = {key: values[name] for key in data.numbers if (name := f"{data.name}.{key}") in values}
    return replace(data, numbers={**data.numbers, **replaced}) if replaced else data


def _spring(data: SpringData, values: Mapping[str, Any]) -> SpringData:
    replaced = {what: values[name] for what in SPRING_NUMBERS if (name := f"{data.name}.{what}") in values}
    return replace(data, **replaced) if replaced else data


def _body(model: Model, i: int, parent: Body, values: Mapping[str, Any]) -> Body:
    body, name = model.body[i], model.names[i]
    pose = model.places[name].pose
    if any(k == i and any(_is_of(link, x) for x in values) for link, k in welded(model).items()):
        own = _joined(model, i, values)
    else:
        own = _with_values(own_inertia(model, name), name, values).moved(pose.R, pose.a)
    a_seat = _seat(model, i, values)
    return replace(
        body,
        m=own.m,
        d=own.d,
        I=own.I,
        s=own.m * own.d,
        J=own.about_origin(),
        a_seat=a_seat,
        r_seat=a_seat - parent.d,
    )


def _with_values(link: Inertia, name: str, values: Mapping[str, Any]) -> Inertia:
    """The inertia of a link with what is given for it."""
    m = values.get(f"{name}.mass", link.m)
    d = _replaced(link.d, {(k,): f"{name}.com.{x}" for x, k in _AXES.items()}, values)
    I = _replaced(link.I, {k: f"{name}.inertia.{x}" for x, k in TENSOR.items()}, values)
    return Inertia(m, d, _replaced(I, {k[::-1]: f"{name}.inertia.{x}" for x, k in TENSOR.items()}, values))


def _joined(model: Model, i: int, values: Mapping[str, Any]) -> Inertia:
    """Body i from the links it is welded of, with what is given for these; without `joined`'s choice by value."""
    every: list[Inertia] = []
    for link in model.description.links:
        place = model.places[link.name]
        if place.body == i:
            own = Inertia(link.mass, np.array(link.com), link.tensor())
            every.append(_with_values(own, link.name, values).moved(place.pose.R, place.pose.a))
    m = sum(x.m for x in every)
    d = sum((x.m * x.d for x in every), np.zeros(3)) / m
    I = sum((Inertia(x.m, x.d - d, x.I).about_origin() for x in every), np.zeros((3, 3)))
    return Inertia(m, d, I)


def _seat(model: Model, i: int, values: Mapping[str, Any]) -> np.ndarray:
    """The seat's origin, its coordinates in the parent link replaced."""
    joint = next(j for j in model.description.joints if j.name == model.joint_names[i])
    on = model.places[joint.parent].pose
    keys = {(k,): f"{joint.name}.{x}" for x, k in _AXES.items()}
    if not any(name in values for name in keys.values()):
        return model.body[i].a_seat
    return on.R @ _replaced(np.array(joint.origin.xyz), keys, values) + on.a


def _replaced(x: np.ndarray, keys: Mapping[tuple[int, ...], str], values: Mapping[str, Any]) -> np.ndarray:
    replaced = {place: values[name] for place, name in keys.items() if name in values}
    if not replaced:
        return x
    result = x.astype(object)
    for place, value in replaced.items():
        result[place] = value
    return result
