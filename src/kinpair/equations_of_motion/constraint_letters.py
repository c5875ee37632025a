"""Constants of constraints as letters: where a mark sits on its link, the radius of what rolls, the length of a rod.

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
from kinpair.equations_of_motion.constant import Constant
from kinpair.equations_of_motion.places import AXES, place_constants
from kinpair.model.model import Model
from kinpair.spatial.pose import Pose

PREFIX = "constraint "  # of their keys
SIDES = {"S": "u", "M": "w"}
SIZES = {"disk": ("",), "ball": ("",), "wheel": ("R", "r"), "ellipsoid": AXES}


def constraint_constants(model: Model) -> list[Constant]:
    """All numbers of constraints that can be letters."""
    joined = [(k + 1, x) for k, x in enumerate(constraints_of(model)) if isinstance(x, Joined)]
    carried = Counter(model.parent[i] for i in model.moving)
    carried += Counter(_carrier(model, mark) for _, x in joined for mark in (x.S, x.M) if _is_off(mark))
    constants = [c for k, x in joined for side in SIDES for c in _place(model, carried, k, x, side)]
    constants += [_length(k, x) for k, x in joined if isinstance(x, Rod) and not x.moving]
    return [*constants, *(c for _, x in joined if isinstance(x, Rolls) for c in _sizes(model, x))]


def is_of_a_constraint(c: Constant) -> bool:
    """Is it a number of a constraint?"""
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
