"""The keys that describe loops, couplings, rolling and the other constraints, each with its reader and meaning.

One set of tables for TOML files, the `Builder` and `kinpair.constraint`: the same keys with the same defaults.
docs/toml.md lists the keys for people, docs/constraints.md has each kind in a file and in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from reprlib import repr as shown
from typing import Any, NamedTuple, TypeAlias

from kinpair.description import constraint_parts as c
from kinpair.description import fields as f
from kinpair.description.constraint_parts import ConstraintPart, Formula
from kinpair.description.formula import formula
from kinpair.description.friction_laws import friction_from
from kinpair.description.parts import GROUND, Numbers
from kinpair.description.place import Key, Place, Schema, checked, items, table

Terms: TypeAlias = tuple[tuple[str, Numbers], ...]
OF_JOINT = (
    "friction",
    "damping",
    "stiffness",
    "rest",
    "lower",
    "upper",
    "start",
)  # keys of a loop with a coordinate
ON_GROUND = {"parent": GROUND}  # where a constraint does not say what carries it


# Values that only constraints have.


def above_zero(value: object, place: Place) -> float:
    """Check a length above zero [m]."""
    if not (x := f.number(value, place)) > 0.0:
        raise place.error(f"is {x:g}; give a length in metres, above zero")
    return x


def formula_or_none(value: object, place: Place) -> Formula:
    """A formula, or an empty text."""
    return "" if value == "" else formula(value, place)


def formulas_from(value: object, place: Place) -> tuple[Formula, ...]:
    """The two surfaces that cut each other in a curve."""
    entries = items(value)
    if entries is None or len(entries) != 2:
        raise place.error(f"is {shown(value)}; give two formulas in a list, or one as formula")
    return tuple(formula(x, place.entry(i)) for i, x in enumerate(entries))


def length(value: object, place: Place) -> float | Formula:
    """A length, or a formula of time."""
    return value if callable(value) or isinstance(value, str) else f.number(value, place)


def rows_from(value: object, place: Place) -> c.Formulas:
    """Formulas that are zero, or a Python function."""
    if callable(value):
        return value
    if isinstance(value, str):
        return (value,)
    entries = items(value)
    if not entries or not all(isinstance(x, str) for x in entries):
        raise place.error(
            f"is {shown(value)}; give a formula as a text, a list of them, or a Python function"
        )
    return tuple(map(str, entries))


def terms_from(value: object, place: Place) -> Terms:
    """Read what a coordinate follows, from a list of tables."""
    entries = items(value)
    if entries is None:
        raise place.error(
            f'is {shown(value)}; give a list of tables such as {{joint = "a", coefficients = 2}}'
        )
    return tuple(_term(table(x, place.entry(i)), place.entry(i).inside()) for i, x in enumerate(entries))


def _term(keys: Mapping[str, object], place: Place) -> tuple[str, Numbers]:
    values = checked(keys, TERM, place)
    return values["joint"], values["coefficients"]


def coefficients(value: object, place: Place) -> Numbers:
    """c_1, c_2, ... of c_1 y + c_2 y² + ..."""
    if items(value) is not None and not items(value):
        raise place.error("is empty; give a number, or a list [c1, c2, ...] for c1 y + c2 y² + ...")
    return f.numbers(value, place)


# Parts from their keys.


def loop_from(keys: Mapping[str, object], place: Place) -> c.Loop:
    """A pair that closes a loop."""
    if own := [key for key in OF_JOINT if key in keys]:
        raise place.error(
            f"has {', '.join(own)}, for which it needs a joint of its own; write it in a file or with Builder.loop, "
            "not as a constraint that is added to a mechanism"
        )
    return c.Loop(**_placed(checked(keys, LOOP, place), place))


def coupling_from(keys: Mapping[str, object], place: Place) -> c.Coupling:
    """A coordinate that follows others."""
    values = checked(keys, COUPLING, place)
    if "follows" in values and "terms" in values:
        raise place.error("follows and terms both say what it follows; keep one of them")
    if "follows" not in values and "terms" not in values:
        raise place.at("follows").error(
            "is missing; give the coordinate that it follows, or terms for several"
        )
    if "terms" in values and "ratio" in values:
        raise place.error("ratio goes with follows; write it as coefficients in terms")
    ratio = values.pop("ratio", 1.0)
    if "follows" in values:
        values["terms"] = ((values.pop("follows"), (ratio,)),)
    return c.Coupling(**values, where=place.where)


def distance_from(keys: Mapping[str, object], place: Place) -> c.Distance:
    """A massless rod."""
    return c.Distance(**_placed(checked(keys, DISTANCE, place), place))


def surface_from(keys: Mapping[str, object], place: Place) -> c.OnSurface:
    """A point on a surface or curve."""
    values = checked(keys, SURFACE, place)
    named = [key for key in FORMULAS if key in values]
    if len(named) != 1:
        raise place.error(f"has {' and '.join(named) or 'no surface'}; give one of {', '.join(FORMULAS)}")
    formulas = FORMULAS[named[0]](values.pop(named[0]))
    return c.OnSurface(**_placed({**ON_GROUND, **values}, place), formulas=formulas)


def rolling_from(keys: Mapping[str, object], place: Place) -> c.Rolling:
    """A surface that rolls on a plane."""
    values = checked(keys, ROLLING, place)
    if "radius" in values and "size" in values:
        raise place.error("radius and size both say how large it is; keep one of them")
    if "radius" in values:
        values["size"] = (values.pop("radius"),)
    return c.Rolling(**_placed({**ON_GROUND, **values}, place))


def knife_edge_from(keys: Mapping[str, object], place: Place) -> c.KnifeEdge:
    """A blade that does not move sideways."""
    return c.KnifeEdge(**_placed({**ON_GROUND, **checked(keys, KNIFE_EDGE, place)}, place, "child_"))


def drive_from(keys: Mapping[str, object], place: Place) -> c.Drive:
    """A coordinate as a function of time."""
    return c.Drive(**checked(keys, DRIVE, place), where=place.where)


def guide_from(keys: Mapping[str, object], place: Place) -> c.Guide:
    """A frame moved as a function of time."""
    values = {**ON_GROUND, **checked(keys, GUIDE, place)}
    return c.Guide(**_placed(values, place, "child_"))


def momentum_from(keys: Mapping[str, object], place: Place) -> c.Momentum:
    """A momentum that is kept."""
    return c.Momentum(**checked(keys, MOMENTUM, place), where=place.where)


def custom_from(keys: Mapping[str, object], place: Place) -> c.Custom:
    """Rows by formulas or Python functions."""
    return c.Custom(**checked(keys, CUSTOM, place), where=place.where)


def _placed(values: dict[str, Any], place: Place, *prefixes: str) -> dict[str, Any]:
    """The values with their frames as origins: those of parent and child, or of the prefixes given."""
    origins = {f"{x}origin": f.take_origin(values, place, x) for x in prefixes or ("", "child_")}
    return {**values, **origins, "where": place.where}


# Tables of keys.

_NAME = Key(f.name, needs="a name for the constraint")
_ON_PARENT = Key(f.name, needs='the link or frame on one side, "ground" for the world')
_ON_CHILD = Key(f.name, needs="the link or frame on the other side")
_PARENT, _CHILD = Key(f.name), Key(f.name, needs="the link or frame that it holds")
_COORDINATE = Key(f.name, needs="the coordinate: a joint of one degree of freedom, or joint.part")
_PLACES = {
    **f.origin_keys("", "m, in the parent"),
    **f.origin_keys("child_", "m, in the child"),
}
_IN_TIME = f.several(formula_or_none, 3, 'three formulas in t, "" where it is free', "formula")

LOOP: dict[str, Key] = {
    "name": _NAME,
    "kind": Key(f.name, needs="revolute, spherical, another kind of joint, or pin"),
    "parent": _ON_PARENT,
    "child": _ON_CHILD,
    **_PLACES,
    "axis": Key(f.axis),
    "axis2": Key(f.axis),
    "pitch": Key(f.number, "m/rad"),
    "compliance": Key(f.compliance, "rad/(N m) and m/N"),
    "friction": Key(friction_from, "N m or N"),
    "damping": Key(f.numbers, "N m s/rad or N s/m"),
    "stiffness": Key(f.numbers, "N m/rad or N/m"),
    "rest": Key(f.positions, "rad or m, where the spring is slack"),
    "lower": Key(f.limits, "rad or m"),
    "upper": Key(f.limits, "rad or m"),
    "start": Key(f.positions, "rad or m, where the mechanism is assembled"),
}
TERM: dict[str, Key] = {
    "joint": _COORDINATE,
    "coefficients": Key(coefficients, needs="a number, or a list [c1, c2, ...] for c1 y + c2 y² + ..."),
}
COUPLING: dict[str, Key] = {
    "name": _NAME,
    "joint": _COORDINATE,
    "follows": Key(f.name),
    "ratio": Key(f.number, "rad or m of the joint per rad or m of the one it follows"),
    "terms": Key(terms_from),
    "offset": Key(f.angle, "rad or m"),
}
DISTANCE: dict[str, Key] = {
    "name": _NAME,
    "parent": _ON_PARENT,
    "child": _ON_CHILD,
    "length": Key(length, "m", needs="the distance in metres"),
    **_PLACES,
    "compliance": Key(f.compliance, "rad/(N m) and m/N"),
}


def _on_plane(value: Any) -> tuple[str, ...]:
    return ("z",)


def _on_sphere(radius: float) -> tuple[str, ...]:
    return (f"(x**2 + y**2 + z**2 - {radius}**2)/(2*{radius})",)


def _on_cylinder(radius: float) -> tuple[str, ...]:
    return (f"(x**2 + y**2 - {radius}**2)/(2*{radius})",)


def _on_circle(radius: float) -> tuple[str, ...]:
    return (*_on_cylinder(radius), "z")


FORMULAS: dict[str, Callable[[Any], tuple[Formula, ...]]] = {
    "formula": lambda x: (x,),
    "formulas": lambda x: x,
    "plane": _on_plane,
    "sphere": _on_sphere,
    "cylinder": _on_cylinder,
    "circle": _on_circle,
}


def _yes(value: object, place: Place) -> bool:
    if not f.flag(value, place):
        raise place.error("is False; give true, or leave it out")
    return True


SURFACE: dict[str, Key] = {
    "name": _NAME,
    "parent": _PARENT,
    "child": _CHILD,
    "formula": Key(formula, "zero on the surface; x, y, z in m"),
    "formulas": Key(formulas_from, "both zero on the curve; x, y, z in m"),
    "plane": Key(_yes),
    "sphere": Key(above_zero, "m, radius"),
    "cylinder": Key(above_zero, "m, radius"),
    "circle": Key(above_zero, "m, radius"),
    **_PLACES,
}
ROLLING: dict[str, Key] = {
    "name": _NAME,
    "parent": _PARENT,
    "child": _CHILD,
    "shape": Key(formula, needs="disk, ball, ellipsoid or wheel"),
    "radius": Key(f.number, "m"),
    "size": Key(f.numbers, "m"),
    "axis": Key(f.axis),
    "rollers": Key(f.angle, "rad, between rim and axes of the rollers"),
    "normal": Key(f.flag),
    **_PLACES,
}
KNIFE_EDGE: dict[str, Key] = {
    "name": _NAME,
    "parent": _PARENT,
    "child": _CHILD,
    "axis": Key(f.axis),
    **f.origin_keys("child_", "m, in the child"),
}
DRIVE: dict[str, Key] = {
    "name": _NAME,
    "joint": _COORDINATE,
    "motion": Key(
        formula, "rad or m, t in s", needs='the coordinate as a formula in t, such as "0.3*sin(2*t)"'
    ),
}
GUIDE: dict[str, Key] = {
    "name": _NAME,
    "parent": _PARENT,
    "child": _CHILD,
    "xyz": Key(_IN_TIME, "m, t in s"),
    "rpy": Key(_IN_TIME, "rad, t in s"),
    **f.origin_keys("child_", "m, in the child"),
}
MOMENTUM: dict[str, Key] = {
    "name": _NAME,
    "part": Key(f.choice("angular", "linear"), needs="'angular' or 'linear'"),
    "axis": Key(f.axis),
    "value": Key(f.number, "N m s or N s"),
}
CUSTOM: dict[str, Key] = {
    "name": _NAME,
    **dict.fromkeys(("phi", "psi"), Key(rows_from, "zero; by names of coordinates and t")),
    **dict.fromkeys(("A", "a"), Key(f.function)),
}


class Kind(NamedTuple):
    """A kind of constraint in a file: its part, its keys, and how they make it."""

    part: type
    keys: Schema
    make: Callable[[Mapping[str, object], Place], ConstraintPart]


CONSTRAINTS: dict[str, Kind] = {
    "loop": Kind(c.Loop, LOOP, loop_from),
    "coupling": Kind(c.Coupling, COUPLING, coupling_from),
    "distance": Kind(c.Distance, DISTANCE, distance_from),
    "surface": Kind(c.OnSurface, SURFACE, surface_from),
    "rolling": Kind(c.Rolling, ROLLING, rolling_from),
    "knife_edge": Kind(c.KnifeEdge, KNIFE_EDGE, knife_edge_from),
    "drive": Kind(c.Drive, DRIVE, drive_from),
    "guide": Kind(c.Guide, GUIDE, guide_from),
    "momentum": Kind(c.Momentum, MOMENTUM, momentum_from),
    "custom": Kind(c.Custom, CUSTOM, custom_from),
}


def constraint_from(word: str, keys: Mapping[str, object], place: Place) -> ConstraintPart:
    """A constraint of this kind by its keys, in a file or from Python."""
    return CONSTRAINTS[word].make(keys, place)


WORDS: dict[type, str] = {kind.part: word for word, kind in CONSTRAINTS.items()}
