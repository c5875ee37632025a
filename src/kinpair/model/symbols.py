"""Constants of a model replaced by named scalars, symbols as a rule.

`link.mass`, `link.com.x`, `link.inertia.xx` are those of the body that the link's joint moves, in axes of the link
and about the mass centre; `joint.x` is a coordinate of the joint frame's origin in its parent link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.model.model import Body, Model
from kinpair.spatial.inertia import Inertia

TENSOR = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
_AXES = {"x": 0, "y": 1, "z": 2}


def symbol_names(model: Model) -> tuple[str, ...]:
    """Every name that can be kept as a symbol."""
    of_body = ["mass", *(f"com.{x}" for x in _AXES), *(f"inertia.{x}" for x in TENSOR)]
    bodies = [f"{model.names[i]}.{what}" for i in model.moving for what in of_body]
    return (*bodies, *(f"{model.joint_names[i]}.{x}" for i in model.moving for x in _AXES))


def check_symbols(model: Model, names: Sequence[str]) -> None:
    """Refuse a name that is none."""
    known = symbol_names(model)
    for name in names:
        if name not in known:
            raise InputError(
                f"{model.name}: no parameter {name!r}; {nearest(name, known)}Parameters: {listed(known)}",
                parameter=name,
            )


def with_symbols(model: Model, values: Mapping[str, Any]) -> Model:
    """The model with the named constants replaced by the values given."""
    check_symbols(model, tuple(values))
    bodies = [model.body[0]]
    for i in model.moving:
        bodies.append(_body(model, i, bodies[model.parent[i]], values))
    return replace(model, body=tuple(bodies), lean_body=tuple(bodies))


def _body(model: Model, i: int, parent: Body, values: Mapping[str, Any]) -> Body:
    body, pose = model.body[i], model.places[model.names[i]].pose
    home = pose.inverse()
    link = Inertia(body.m, body.d, body.I).moved(home.R, home.a)  # in axes of the link
    name = model.names[i]
    m = values.get(f"{name}.mass", link.m)
    d = _replaced(link.d, {(k,): f"{name}.com.{x}" for x, k in _AXES.items()}, values)
    I = _replaced(link.I, {k: f"{name}.inertia.{x}" for x, k in TENSOR.items()}, values)
    I = _replaced(I, {k[::-1]: f"{name}.inertia.{x}" for x, k in TENSOR.items()}, values)
    own = Inertia(m, d, I).moved(pose.R, pose.a)
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


def _seat(model: Model, i: int, values: Mapping[str, Any]) -> np.ndarray:
    """The seat's origin, its coordinates in the parent link replaced."""
    joint = next(j for j in model.description.joints if j.name == model.joint_names[i])
    on = model.places[joint.parent].pose
    keys = {(k,): f"{joint.name}.{x}" for x, k in _AXES.items()}
    if not any(name in values for name in keys.values()):
        return model.body[i].a_seat
    return on.R @ _replaced(np.array(joint.origin.xyz), keys, values) + on.a


def _replaced(x: np.ndarray, keys: Mapping[tuple[int, ...], str], values: Mapping[str, Any]) -> np.ndarray:
    given = {place: values[name] for place, name in keys.items() if name in values}
    if not given:
        return x
    made = x.astype(object)
    for place, value in given.items():
        made[place] = value
    return made
