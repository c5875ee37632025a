"""A description as a TOML file that reads back as the same description, see docs/toml.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from kinpair.description import constraint_parts as c
from kinpair.description.actuator_parts import Actuator
from kinpair.description.actuator_schema import OF_KIND
from kinpair.description.constraint_parts import ConstraintPart, Formula
from kinpair.description.constraint_schema import CONSTRAINTS, WORDS, Terms
from kinpair.description.contact_shapes import CONTACT, EXCLUSION, PAIR, SURFACE
from kinpair.description.fields import AXES, TURNS
from kinpair.description.parts import (
    GRAVITY,
    ByJoint,
    Contact,
    ContactPair,
    Description,
    Frame,
    Friction,
    Joint,
    Level,
    Link,
    Mimic,
    Numbers,
    Origin,
    Shape,
    Spring,
)
from kinpair.description.place import Key
from kinpair.description.schema import FRAME, JOINT, KEYFRAME, LINK, SPRING_IN_FILE
from kinpair.description.warning_list import at
from kinpair.errors import DescriptionError

_TURN_KEYS: dict[int, str] = dict(zip((3, 4, 9), TURNS, strict=True))
_AXIS_WORDS = {vector: word for word, vector in AXES.items()}


def write_toml(description: Description, path: str | os.PathLike[str]) -> None:
    """Write the description to a file."""
    Path(path).write_text(to_toml(description), encoding="utf-8", newline="\n")


def to_toml(description: Description) -> str:
    """The description as TOML text: defaults left out, each unit said where its key comes first."""
    import tomlkit

    document = tomlkit.document()
    document.add("name", tomlkit.item(description.name))
    if description.gravity != GRAVITY:
        document.add("gravity", _item(_list(description.gravity)).comment("m/s²"))
    if description.limits:
        document.add("limits", tomlkit.item(description.limits))
    if description.contacts.max_contacts is not None:
        document.add("max_contacts", tomlkit.item(description.contacts.max_contacts))
    parts = {
        "link": ([_link(link) for link in description.links], LINK),
        "joint": ([_joint(joint) for joint in description.joints], JOINT),
        "frame": ([_frame(frame) for frame in description.frames], FRAME),
        "spring": ([_spring(spring) for spring in description.springs], SPRING_IN_FILE),
        "actuator": ([_actuator(x) for x in description.actuators], ACTUATOR),
        "contact": ([_contact(x) for x in description.contacts.geoms], CONTACT),
        "contact_pair": ([_pair(x) for x in description.contacts.pairs], PAIR),
        "contact_exclude": ([{"links": list(x.links)} for x in description.contacts.exclusions], EXCLUSION),
        "keyframe": ([_changed(state, _KEYFRAME) for state in description.keyframes], KEYFRAME),
    }
    texts = [_tables(word, tables, _notes(schema)) for word, (tables, schema) in parts.items() if tables]
    roles = ["[gait]\n" + "".join(_line(*x) for x in description.gait)] if description.gait else []
    return "\n".join([tomlkit.dumps(document), *texts, *_constraints(description.constraints), *roles])


def _constraints(constraints: tuple[ConstraintPart, ...]) -> list[str]:
    """A text for each, so that their order is kept where kinds alternate."""
    notes = {word: _notes(kind.keys) for word, kind in CONSTRAINTS.items()}
    return [_tables(WORDS[type(x)], [_constraint(x)], notes[WORDS[type(x)]]) for x in constraints]


def _notes(schema: Mapping[str, Key]) -> dict[str, str]:
    return {key: rule.note for key, rule in schema.items() if rule.note}


def _tables(word: str, tables: list[dict[str, Any]], notes: dict[str, str]) -> str:
    """The text of an array of tables; each note is said where its key comes first, and taken out.

    Equal values are formatted once: a chain has many equal links.
    """
    known: dict[tuple[str, str], str] = {}
    texts: list[str] = []
    for values in tables:
        lines = [f"[[{word}]]\n"]
        for key, value in values.items():
            same = key, repr(value)
            if key in notes:
                lines.append(_line(key, value, notes.pop(key)))
            else:
                lines.append(known[same] if same in known else known.setdefault(same, _line(key, value)))
        texts.append("".join(lines))
    return "\n".join(texts)


def _line(key: str, value: Any, note: str = "") -> str:
    """A key with its value and a note, as a line."""
    import tomlkit

    document = tomlkit.document()
    item = _item(value)
    document.add(key, item.comment(note) if note else item)
    return tomlkit.dumps(document)


def _item(value: Any) -> Any:
    import tomlkit

    if isinstance(value, dict):
        inline = tomlkit.inline_table()
        inline.update({key: _item(x) for key, x in value.items()})
        return inline
    if isinstance(value, list):
        array = tomlkit.array()
        array.extend(_item(x) for x in value)
        return array.multiline(any(isinstance(x, dict) for x in value))
    return tomlkit.item(value)


def _number(x: float) -> int | float:
    """Whole numbers without a point; the reader makes them floats again."""
    x = float(x)
    return int(x) if x.is_integer() and abs(x) < 1e15 else x


def _list(numbers: Numbers) -> list[int | float]:
    return [_number(x) for x in numbers]


def _one_or_more(numbers: Numbers) -> Any:
    return _number(numbers[0]) if len(numbers) == 1 else _list(numbers)


def _inertia(inertia: Numbers) -> list[int | float]:
    return _list(inertia if any(inertia[3:]) else inertia[:3])


def _axis(axis: Numbers) -> Any:
    return _AXIS_WORDS.get((axis[0], axis[1], axis[2])) or _list(axis)


def _rows(numbers: Numbers) -> list[Any]:
    return [_list(numbers[i : i + 3]) for i in (0, 3, 6)] if len(numbers) == 9 else _list(numbers)


def _origin(origin: Origin, prefix: str = "") -> dict[str, Any]:
    xyz = {prefix + "xyz": _list(origin.xyz)} if any(origin.xyz) else {}
    turn = {prefix + _TURN_KEYS[len(origin.turn)]: _rows(origin.turn)} if origin.turn else {}
    return {**xyz, **turn}


def _shape(shape: Shape) -> dict[str, Any]:
    if shape.kind != "mesh":
        size: dict[str, Any] = {shape.kind: _one_or_more(shape.size)}
    else:
        scale = {} if shape.size == (1.0, 1.0, 1.0) else {"scale": _list(shape.size)}
        size = {"mesh": shape.mesh, **scale}
    colour = {"colour": _list(shape.colour)} if shape.colour else {}
    return {**size, **colour, **_origin(shape.origin)}


def _friction(friction: Numbers | tuple[Friction, ...]) -> Any:
    tables = [_law(x) for x in friction if isinstance(x, Friction)]
    numbers = tuple(x for x in friction if not isinstance(x, Friction))
    return _one_or_more(numbers) if numbers else tables[0] if len(tables) == 1 else tables


def _law(friction: Friction) -> dict[str, Any]:
    name = {"name": friction.name} if friction.name else {}
    return {**name, "law": friction.law, **{key: _levels(x) for key, x in friction.numbers}}


def _levels(levels: tuple[float | Level, ...]) -> Any:
    every = [_level(x) for x in levels]
    return every[0] if len(every) == 1 else every


def _level(level: float | Level) -> Any:
    if not isinstance(level, Level):
        return _number(level)
    return _changed(level, {"input": str, "scale": _number}) if level.input else level.formula


def _mimic(mimic: Mimic) -> dict[str, Any]:
    return _changed(mimic, {"joint": str, "multiplier": _number, "offset": _number})


def _changed(part: Any, write: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that differ from their defaults, each written as the table says."""
    defaults = {field.name: field.default for field in fields(part)}
    values = {key: getattr(part, key) for key in write}
    return {
        key: write[key](value)
        for key, value in values.items()
        if defaults[key] is MISSING or value != defaults[key]
    }


def _by_joint(numbers: ByJoint) -> dict[str, Any]:
    return {joint: _one_or_more(x) for joint, x in numbers}


def _spring(spring: Spring) -> dict[str, Any]:
    _refuse_functions("spring", spring)
    return _changed(spring, _SPRING)


def _actuator(part: Actuator) -> dict[str, Any]:
    ends = {"name": part.name, "joint": part.joint, "kind": part.kind}
    numbers = {key: _number(x) for key, x in part.numbers}
    return {**ends, **numbers, **({"gear": {key: _number(x) for key, x in part.gear}} if part.gear else {})}


def _contact(geom: Contact) -> dict[str, Any]:
    size: Any = _one_or_more(geom.size) if geom.size else True
    scale = {} if geom.size == (1.0, 1.0, 1.0) else {"scale": _list(geom.size)}
    shape = {"mesh": geom.mesh, **scale} if geom.mesh else {geom.shape: size}
    if geom.shape == "hull":
        shape = {"hull": [_list(geom.size[i : i + 3]) for i in range(0, len(geom.size), 3)]}
    ends = {"name": geom.name, "link": geom.link}
    return {
        **ends,
        **shape,
        **_origin(geom.origin),
        **_changed(geom.surface, _SURFACE),
        **_changed(geom, dict.fromkeys(("contype", "conaffinity", "dimensions", "priority"), int)),
    }


def _pair(pair: ContactPair) -> dict[str, Any]:
    return {"geoms": list(pair.geoms), **_changed(pair.surface, _SURFACE)}


_SURFACE = dict.fromkeys(SURFACE, _number)
ACTUATOR = {key: rule for keys in OF_KIND.values() for key, rule in keys.items()}
_SPRING = {
    **dict.fromkeys(("name", "parent", "child"), str),
    **dict.fromkeys(("xyz", "child_xyz"), _list),
    **dict.fromkeys(("stiffness", "damping", "rest_length", "preload"), _number),
    "tension_only": bool,
}
_KEYFRAME = {"name": str, "q": _by_joint, "qd": _by_joint}
_LINK = {"name": str, "mass": _number, "com": _list, "inertia": _inertia}
_JOINT_ENDS = {"name": str, "kind": str, "parent": str, "child": str}
_JOINT_AXES = {"axis": _axis, "axis2": _axis, "pitch": _number}
_JOINT_NUMBERS = {
    **dict.fromkeys(("lower", "upper", "velocity", "acceleration", "jerk", "effort"), _one_or_more),
    "restitution": _number,
    **dict.fromkeys(("damping", "stiffness", "rest", "start"), _one_or_more),
    "friction": _friction,
    "compliance": _one_or_more,
    **dict.fromkeys(("rotor_inertia", "gear_ratio"), _number),
    "actuated": bool,
    "mimic": _mimic,
}


def _link(link: Link) -> dict[str, Any]:
    visual = {"visual": [_shape(shape) for shape in link.shapes]} if link.shapes else {}
    return {**_changed(link, _LINK), **visual}


def _joint(joint: Joint) -> dict[str, Any]:
    return {
        **_changed(joint, _JOINT_ENDS),
        **_origin(joint.origin),
        **_changed(joint, _JOINT_AXES),
        **_origin(joint.child_origin, "child_"),
        **_changed(joint, _JOINT_NUMBERS),
    }


def _frame(frame: Frame) -> dict[str, Any]:
    return {**_changed(frame, {"name": str, "link": str}), **_origin(frame.origin)}


def _child_origin(origin: Origin) -> dict[str, Any]:
    return _origin(origin, "child_")


def _terms(terms: Terms) -> dict[str, Any]:
    if len(terms) == 1 and len(terms[0][1]) == 1:
        (joint, (ratio,)) = terms[0]
        return {"follows": joint, **({} if ratio == 1.0 else {"ratio": _number(ratio)})}
    return {"terms": [{"joint": joint, "coefficients": _one_or_more(x)} for joint, x in terms]}


def _formulas(formulas: tuple[Formula, ...]) -> dict[str, Any]:
    return {"formula": formulas[0]} if len(formulas) == 1 else {"formulas": list(formulas)}


def _length(length: float | Formula) -> Any:
    return length if isinstance(length, str) else _number(float(length))  # type: ignore[arg-type]


def _one_or_list(formulas: tuple[str, ...]) -> Any:
    return formulas[0] if len(formulas) == 1 else list(formulas)


def _size(size: Numbers) -> dict[str, Any]:
    return {"radius": _number(size[0])} if len(size) == 1 else {"size": _list(size)}


_ENDS = {"name": str, "parent": str, "child": str}
_ORIGINS = {"origin": _origin, "child_origin": _child_origin}
_CONSTRAINTS: dict[type, dict[str, Any]] = {
    c.Loop: {"name": str, "kind": str, **_ENDS, **_ORIGINS, **_JOINT_AXES, "compliance": _one_or_more},
    c.Coupling: {"name": str, "joint": str, "terms": _terms, "offset": _number},
    c.Distance: {**_ENDS, "length": _length, **_ORIGINS, "compliance": _one_or_more},
    c.OnSurface: {**_ENDS, "formulas": _formulas, **_ORIGINS},
    c.Rolling: {
        **_ENDS,
        "shape": str,
        "size": _size,
        "axis": _axis,
        "rollers": _number,
        "normal": bool,
        **_ORIGINS,
    },
    c.KnifeEdge: {**_ENDS, "axis": _axis, "child_origin": _child_origin},
    c.Drive: {"name": str, "joint": str, "motion": str},
    c.Guide: {**_ENDS, "xyz": list, "rpy": list, "child_origin": _child_origin},
    c.Momentum: {"name": str, "part": str, "axis": _axis, "value": _number},
    c.Custom: {"name": str, "phi": _one_or_list, "psi": _one_or_list},
}


def _constraint(part: ConstraintPart) -> dict[str, Any]:
    """Write the keys of a constraint; an attribute that takes several keys has them in line with the others."""
    _refuse_functions(WORDS[type(part)], part)
    keys: dict[str, Any] = {}
    for key, value in _changed(part, _CONSTRAINTS[type(part)]).items():
        keys |= value if isinstance(value, dict) else {key: value}
    return keys


def _refuse_functions(word: str, part: Any) -> None:
    for field in fields(part):
        value = getattr(part, field.name)
        if any(map(callable, value if isinstance(value, tuple) else (value,))):
            raise DescriptionError(
                f"{at(part.where)}{word} {part.name!r}: {field.name} is a Python function, "
                "which a TOML file cannot hold; write a formula as a text where one will do, else keep this part "
                "in Python",
                part=part.name,
                where=part.where,
            )
