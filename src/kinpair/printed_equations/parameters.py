"""Constants of a model and of its constraints as symbols.

Constants of a model as symbols: masses m, mass centres r, lengths l, a, e, inertias I, rotors J, gravity g; springs
and dampers k, b, f.

A constant that is zero in the description stays zero. Lengths are positive: the sign is that of the description.
The symbol has as many indices as are needed: r1 where one component of the mass centre is in the equations, r1x and
r1z where two are. Numbers that are one by the shape of a part have one symbol: equal principal moments of a body, and
the distance of a joint whose direction is a simple angle or an axis of its own frame. `shared` gives equal numbers of
one kind one symbol, whatever they belong to.

Constants of constraints as symbols: where a mark sits on its link, the radius of what rolls, the length of a rod.

A mark is l and the number of its body where that is the only thing the body carries, as the next joint would be; else
u on the parent and w on the child, with the number of the constraint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.constraints.rows.build import SHAPES, constraints_of
from kinpair.constraints.rows.constraint import Constraint
from kinpair.constraints.rows.frames import Rod
from kinpair.constraints.rows.joined import Joined, Mark
from kinpair.constraints.rows.rolling import Rolls
from kinpair.description.constraint_parts import Rolling
from kinpair.errors import InputError
from kinpair.model.model import FrictionData, Model, Place, SurfaceData
from kinpair.model.symbols import with_symbols
from kinpair.printed_equations.constant import AXES, ZERO, Constant, merged, place_constants, signed
from kinpair.spatial.inertia import Inertia
from kinpair.spatial.pose import Pose

GRAVITY = "gravity"
LENGTHS = ("l", "a", "e", "r")
TENSOR = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
PRODUCTS = ("xy", "xz", "yz")


def constants(model: Model) -> list[Constant]:
    """Constants that can be symbols, masses first, in the order of a product."""
    bodies = [list(_of_body(model, i)) for i in model.moving]
    by_base = {base: [c for body in bodies for c in body if c.base == base] for base in "mlaerI"}
    gravity = float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    pull = [Constant(GRAVITY, "g", "", "", gravity, "acceleration of gravity [m/s²]")] if gravity else []
    order = (
        by_base["m"],
        by_base["I"],
        _rotors(model),
        pull,
        by_base["l"],
        by_base["a"],
        by_base["e"],
        by_base["r"],
    )
    return _without_rounding([c for part in order for c in part])


def _without_rounding(every: list[Constant]) -> list[Constant]:
    """Set lengths to zero that are rounding compared with the others."""
    longest = max((c.value for c in every if c.base in LENGTHS), default=0.0)
    tiny = [c.base in LENGTHS and c.value <= ZERO * longest for c in every]
    return [replace(c, value=0.0, factor=0.0) if zero else c for c, zero in zip(every, tiny, strict=True)]


def _of_body(model: Model, i: int) -> list[Constant]:
    body, pose = model.body[i], model.places[model.names[i]].pose
    home = pose.inverse()
    link = Inertia(body.m, body.d, body.I).moved(home.R, home.a)
    name, constants = model.names[i], [_scalar(model, i, float(link.m))]
    d, I = np.asarray(link.d, dtype=float), np.asarray(link.I, dtype=float)
    size = np.abs(d).max(initial=0.0)
    for k, x in enumerate(AXES):
        meaning = f"mass centre of {name!r}, along its {x} [m]"
        constants.append(signed(f"{name}.com.{x}", "r", str(i), x, d[k], meaning, size))
    return [
        *constants,
        *_tensor(name, i, I),
        *_seat(model, i),
        *_own_side(model, i, np.asarray(home.a, dtype=float)),
    ]


def _tensor(name: str, i: int, I: np.ndarray) -> list[Constant]:
    """Moments and products of inertia; equal moments about principal axes are one symbol."""
    constants: dict[str, Constant] = {}
    for x, place in TENSOR.items():
        meaning = f"inertia of {name!r} about its mass centre, {x} [kg m²]"
        constants[x] = signed(
            f"{name}.inertia.{x}", "I", str(i), x, I[place], meaning, np.abs(I).max(), keep=True
        )
    if any(constants[x].factor for x in PRODUCTS):
        return list(constants.values())
    return merged(list(constants.values()), lambda c: c.base, _of_one_body)


def _of_one_body(first: Constant, others: Sequence[Constant]) -> Constant:
    """Meaning with all axes."""
    axes = " and ".join(c.part for c in (first, *others))
    return replace(first, meaning=first.meaning.replace(f", {first.part} [", f", {axes} ["))


def _scalar(model: Model, i: int, m: float) -> Constant:
    meaning = f"mass of {model.names[i]!r} [kg]"
    return Constant(f"{model.names[i]}.mass", "m", str(i), "", m, meaning, 1.0 if m else 0.0)


def _seat(model: Model, i: int) -> list[Constant]:
    """Place of the joint on its parent: l and the parent's number, or a and its own where the tree branches."""
    joint = next(j for j in model.description.joints if j.name == model.joint_names[i])
    only = sum(model.parent[k] == model.parent[i] for k in model.moving) == 1
    base, number = ("l", str(model.parent[i])) if only else ("a", str(i))
    about = f"joint {joint.name!r} on {joint.parent!r}"
    there = joint.origin.pose()
    return place_constants(joint.name, base, number, about, np.asarray(there.a), np.asarray(there.R))


def _own_side(model: Model, i: int, xyz: np.ndarray) -> list[Constant]:
    """Place of the joint on the link it moves."""
    name, joint = model.names[i], model.joint_names[i]
    constants: list[Constant] = []
    for k, x in enumerate(AXES):
        meaning = f"place of joint {joint!r} on {name!r}, along its {x} [m]"
        constants.append(signed(_own_key(model, i, x), "e", str(i), x, xyz[k], meaning, np.abs(xyz).max()))
    return constants


def _own_key(model: Model, i: int, x: str) -> str:
    return f"{model.joint_names[i]}.own.{x}"


def _rotors(model: Model) -> list[Constant]:
    constants: list[Constant] = []
    for i in model.moving:
        for k, value in enumerate(np.asarray(model.body[i].rotor, dtype=float).tolist()):
            if value:
                number = str(model.v_span[i].start + k + 1)
                meaning = f"rotor of joint {model.joint_names[i]!r} times its gear ratio squared [kg m²]"
                constants.append(Constant(f"rotor[{number}]", "J", number, "", value, meaning))
    return constants


def with_letters(model: Model, symbols: Mapping[str, Any], every: list[Constant]) -> Model:
    """The model with symbols in the place of its constants, by key."""
    own = {c.key: c for c in every}
    values = {c.key: c.factor * symbols[c.letter] if c.factor else 0.0 for c in every}
    named = {key: x for key, x in values.items() if own[key].base in "mrlaI"}
    lettered = with_symbols(replace(model, places=_places(model, values)), named)
    bodies = tuple(replace(body, rotor=_rotor(lettered, i, values)) for i, body in enumerate(lettered.body))
    gravity = model.gravity
    if GRAVITY in symbols:
        gravity = symbols[GRAVITY] * (np.asarray(gravity, dtype=float) / own[GRAVITY].value)
    return replace(lettered, body=bodies, lean_body=lambda: bodies, gravity=gravity)


def _places(model: Model, values: Mapping[str, Any]) -> dict[str, Place]:
    """Links and frames on their bodies, where the joint is on its own link replaced."""
    moved = dict(model.places)
    for i in model.moving:
        main = model.places[model.names[i]].pose
        a = -(main.R @ array([values[_own_key(model, i, x)] for x in AXES]))
        for name, place in model.places.items():
            if place.body == i:
                moved[name] = replace(place, pose=Pose(place.pose.R, a + (place.pose.a - main.a)))
    return moved


def _rotor(model: Model, i: int, values: Mapping[str, Any]) -> Any:
    rotor = model.body[i].rotor
    if i == 0 or not len(rotor):
        return rotor
    keys = [f"rotor[{model.v_span[i].start + k + 1}]" for k in range(len(rotor))]
    return array([values.get(key, x) for key, x in zip(keys, rotor, strict=True)])


def passive_constants(model: Model) -> list[Constant]:
    """Springs, dampers and dry friction of the joints."""
    data, constants = model.joints, list[Constant]()
    _refuse_laws(model)
    kinds = (
        ("k", data.stiffness, "stiffness in", ("N m/rad", "N/m")),
        ("b", data.damping + _viscous(model), "damping in", ("N m s/rad", "N s/m")),
        ("f", data.friction, "dry friction in", ("N m", "N")),
    )
    slides = _slides(model)
    for base, values, meaning, units in kinds:
        for k in np.flatnonzero(values):
            about = f"{meaning} {model.v_names[k]!r} [{units[slides[k]]}]"
            constants.append(Constant(f"{base}[{k}]", base, str(k + 1), "", float(values[k]), about))
    for k in np.flatnonzero(data.stiffness * data.rest):
        about = f"where the spring in {model.v_names[k]!r} is at rest [{('rad', 'm')[slides[k]]}]"
        constants.append(Constant(f"rest[{k}]", "q", f"0,{k + 1}", "", float(data.rest[k]), about))
    return constants


def _viscous(model: Model) -> np.ndarray:
    """Viscous damping of the laws of friction (nv,)."""
    viscous = np.zeros(model.nv)
    for x in model.frictions:
        viscous[x.v] += x.numbers.get("viscous", 0.0)
    return viscous


def _refuse_laws(model: Model) -> None:
    """Use symbols for a Coulomb level and a damping; of other laws there is no closed form here."""
    others: list[FrictionData | SurfaceData] = [
        x
        for x in model.frictions
        if x.law not in ("coulomb", "viscous") or "level_negative" in x.numbers or x.signals or x.is_power
    ]
    others += model.surfaces
    if others:
        what = f"law {others[0].law!r}" if others[0].law != "coulomb" else "level_negative"
        if others[0].law == "viscous":
            what = "a power of the speed"
        if getattr(others[0], "signals", None):
            what = "a level that changes"
        raise InputError(
            f"{model.name}: {others[0].name} has {what}, which has no closed form here; passive=False "
            "(--no-passive) leaves springs, dampers and friction out",
            element=others[0].name,
        )


def _slides(model: Model) -> list[int]:
    """1 for a rate that turns nothing, by rate."""
    slides = [0] * model.nv
    for i in model.moving:
        pair = model.body[i].pair
        p = np.asarray(pair.p(np.asarray(pair.neutral(), dtype=float)), dtype=float)
        for k in range(pair.nv):
            slides[model.v_span[i].start + k] = int(not p[:3, k].any())
    return slides


PREFIX = "constraint "  # of their keys
SIDES = {"S": "u", "M": "w"}
SIZES = {"disk": ("",), "ball": ("",), "wheel": ("R", "r"), "ellipsoid": AXES}


def constraint_constants(model: Model) -> list[Constant]:
    """All numbers of constraints that can be symbols."""
    joined = [(k + 1, x) for k, x in enumerate(constraints_of(model)) if isinstance(x, Joined)]
    carried = Counter(model.parent[i] for i in model.moving)
    carried += Counter(_carrier(model, mark) for _, x in joined for mark in (x.S, x.M) if _is_off(mark))
    constants = [c for k, x in joined for side in SIDES for c in _place(model, carried, k, x, side)]
    constants += [_length(k, x) for k, x in joined if isinstance(x, Rod) and not x.moving]
    return [*constants, *(c for _, x in joined if isinstance(x, Rolls) for c in _sizes(model, x))]


def is_of_a_constraint(c: Constant) -> bool:
    """True if it is a number of a constraint."""
    return c.key.startswith(PREFIX)


def _carrier(model: Model, mark: Mark) -> int:
    return mark.on(model).body


def _is_off(mark: Mark) -> bool:
    return bool(np.any(mark.pose.a))


def _key(x: Joined, what: str) -> str:
    return f"{PREFIX}{x.name}.{what}"


def _place(model: Model, carried: Counter[int], k: int, x: Joined, side: str) -> list[Constant]:
    mark: Mark = getattr(x, side)
    body = _carrier(model, mark)
    base, number = ("l", str(body)) if body and carried[body] == 1 else (SIDES[side], str(k))
    about = f"{x.name!r} on {mark.name!r}"
    a, R = np.asarray(mark.pose.a, dtype=float), np.asarray(mark.pose.R, dtype=float)
    return place_constants(_key(x, side), base, number, about, a, R)


def _length(k: int, x: Rod) -> Constant:
    return Constant(_key(x, "length"), "L", str(k), "", float(x.length), f"length of {x.name!r} [m]")


def _sizes(model: Model, x: Rolls) -> list[Constant]:
    part, number = _rolling(model, x), str(_carrier(model, x.M))
    if part is None:
        return []
    others = [
        y for y in constraints_of(model) if isinstance(y, Rolls) and _carrier(model, y.M) == int(number)
    ]
    index = f",{[y.name for y in others].index(x.name) + 1}" if len(others) > 1 else ""
    names = SIZES[str(part.shape)]
    meaning = f"radius of {part.child!r} where it rolls [m]"
    return [
        Constant(_key(x, f"size{k}"), "rho", number + index, name, float(value), meaning)
        for k, (name, value) in enumerate(zip(names, part.size, strict=True))
    ]


def _rolling(model: Model, x: Rolls) -> Rolling | None:
    """The description of it, where its shape has a name."""
    part = next(y for y in model.description.constraints if y.name == x.name)
    return part if isinstance(part, Rolling) and isinstance(part.shape, str) else None


def constraints_with_letters(
    model: Model, every: Sequence[Constant], symbols: Mapping[str, Any]
) -> tuple[Constraint, ...]:
    """The constraints with symbols in the place of their constants, by key."""
    values = {c.key: c.factor * symbols[c.letter] if c.factor else 0.0 for c in every}
    return tuple(_with(model, x, values) for x in constraints_of(model)) if every else constraints_of(model)


def _with(model: Model, x: Constraint, values: Mapping[str, Any]) -> Constraint:
    if not isinstance(x, Joined):
        return x
    result: Any = replace(x, S=_moved(x, "S", values), M=_moved(x, "M", values))  # type: ignore[type-var]
    if isinstance(result, Rod):
        return result if result.moving else replace(result, length=values[_key(x, "length")])
    part = _rolling(model, result) if isinstance(result, Rolls) else None
    if part is None:
        return result
    size = tuple(values[_key(x, f"size{k}")] for k in range(len(part.size)))
    return replace(result, support=SHAPES[str(part.shape)][2](size, result.axis))


def _moved(x: Joined, side: str, values: Mapping[str, Any]) -> Mark:
    mark: Mark = getattr(x, side)
    place = array([values[f"{_key(x, side)}.{along}"] for along in AXES])
    return Mark(mark.name, Pose(mark.pose.R, place))
