"""A level of friction as a person writes it: a number, a formula of t, or `scale` times an input.

`level = 20`, `level = "20*(1 + sin(3*t))"`, `level = {input = "pedal", scale = 160}`; in Python also a function of t.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown

from kinpair.description import fields as f
from kinpair.description.formula import formula, function_of
from kinpair.description.parts import Level
from kinpair.description.place import Key, Place, checked

INPUT: dict[str, Key] = {
    "input": Key(f.name, needs="the name of the input that operates it"),
    "scale": Key(f.zero_or_more, "N m or N per unit of the input"),
}


def level_from(value: object, place: Place) -> float | Level:
    """Read a level: a number as it is, everything else as a `Level`."""
    if isinstance(value, Mapping):
        return Level(**checked(value, INPUT, place.inside()))
    if callable(value) or isinstance(value, str):
        level = Level(formula=formula(value, place))
        function_of(level.formula, ("t",), place)
        return level
    if value is None or isinstance(value, bool):
        raise place.error(f"is {shown(value)}; give {FORMS}")
    return f.number(value, place)


FORMS = 'a number, a formula of t as a text, or {input = "name", scale = 100}'
levels_from = f.one_or_more(level_from)
