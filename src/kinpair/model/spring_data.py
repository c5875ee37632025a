"""Springs between points as the model has them: checked, and their ends as places on bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from reprlib import repr as shown
from typing import Any, cast

import numpy as np

from kinpair.algebra.arrays import single
from kinpair.description.formula import with_error
from kinpair.description.parts import GROUND, Description, Spring
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.model.check_numbers import LARGEST, too_large
from kinpair.model.model import Place, SpringData
from kinpair.model.symbols import SPRING_NUMBERS
from kinpair.spatial.pose import Pose

TRIED = (np.float64(0.7310), np.float64(0.2690))  # [m], [m/s]: where a function of the user is tried


def check_springs(description: Description, warnings: WarningList) -> None:
    """Refuse what has no meaning; warn of what looks like a slip."""
    names = dict.fromkeys([GROUND, *(x.name for x in (*description.links, *description.frames))])
    for spring in description.springs:
        part = f"{at(spring.where)}spring {spring.name!r}"
        _check_ends(part, spring, names)
        for trouble in _troubles(spring):
            raise DescriptionError(f"{part}: {trouble}", spring=spring.name)
        if spring.law is None and spring.stiffness < 0.0:
            warnings.add(
                f"{part}: stiffness is negative and drives the points from the rest length; taken as it is",
                spring=spring.name,
            )
        if spring.law is None and not (spring.stiffness or spring.damping or spring.preload):
            warnings.add(f"{part} has no stiffness, damping or preload and does nothing", spring=spring.name)


def _check_ends(part: str, spring: Spring, names: Mapping[str, None]) -> None:
    for side in ("parent", "child"):
        name = getattr(spring, side)
        if name not in names:
            raise DescriptionError(
                f"{part}: {side} is {name!r}, which does not exist; {nearest(str(name), names)}"
                f"Links and frames: {listed(names)}",
                spring=spring.name,
                link=name,
            )
    if spring.parent == spring.child:
        raise DescriptionError(
            f"{part}: parent and child are both {spring.parent!r}; a spring acts between two bodies",
            spring=spring.name,
        )


def _troubles(spring: Spring) -> list[str]:
    """Sentences about wrong numbers."""
    troubles: list[str] = []
    for key in ("xyz", "child_xyz"):
        point: Any = getattr(spring, key)
        numbers = cast("tuple[Any, ...]", point) if isinstance(point, tuple) else ()
        if not (len(numbers) == 3 and all(map(_is_finite, numbers))):
            troubles.append(f"{key} is {point!r}; give three finite numbers")
        else:
            troubles += [too_large(key, x) for x in numbers if abs(x) > LARGEST]
    if not isinstance(spring.tension_only, bool):  # type: ignore[redundant-expr]
        troubles.append(f"tension_only is {spring.tension_only!r}; give true or false")
    if spring.law is not None:
        return troubles + _troubles_of_law(spring)
    if spring.energy is not None:
        troubles.append("energy goes with a law; the energy of a stiffness is known")
    for key in SPRING_NUMBERS:
        value: Any = getattr(spring, key)
        if not _is_finite(value):
            troubles += _no_number(spring, key, value)
        elif abs(value) > LARGEST:
            troubles.append(too_large(key, value))
        elif value < 0.0 and (reason := _never_negative(key, rope=spring.tension_only)):
            troubles.append(f"{key} is {value:g}; {reason}")
    return troubles


def _no_number(spring: Spring, key: str, value: object) -> list[str]:
    """Sentence about it; a damper alone needs no rest length."""
    if value is not None or key != "rest_length":
        return [f"{key} is {value!r}; give a finite number"]
    needed = spring.stiffness or spring.tension_only
    return ["rest_length is missing; give the length in metres at which it is slack"] if needed else []


def _never_negative(key: str, *, rope: bool) -> str:
    of_any = {"damping": "it would feed energy in; give zero or more", "rest_length": "give zero or more"}
    of_rope = {"stiffness": "a rope pulls when it is stretched", "preload": "a rope cannot push"}
    return (of_any | of_rope if rope else of_any).get(key, "")


def _troubles_of_law(spring: Spring) -> list[str]:
    keys = [key for key in (*SPRING_NUMBERS, "tension_only") if getattr(spring, key)]
    if keys:
        return [f"law says what the tension is; leave out {listed(keys)}"]
    functions = {"law": spring.law, "energy": spring.energy}
    return [
        f"{key} is {value!r}; give a Python function"
        for key, value in functions.items()
        if value is not None and not callable(value)  # type: ignore[redundant-expr]
    ]


def _is_finite(x: object) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and math.isfinite(x)


def spring_data(
    springs: Sequence[Spring], places: Mapping[str, Place], warnings: WarningList
) -> tuple[SpringData, ...]:
    """The springs with their ends on numbered bodies."""
    return tuple(_data(spring, places, warnings) for spring in springs)


def _data(spring: Spring, places: Mapping[str, Place], warnings: WarningList) -> SpringData:
    parent = _moved(places[spring.parent], spring.xyz)
    child = _moved(places[spring.child], spring.child_xyz)
    if parent.body == child.body:
        warnings.add(
            f"{at(spring.where)}spring {spring.name!r}: {spring.parent!r} and {spring.child!r} are welded together, "
            "so it does nothing",
            spring=spring.name,
        )
    return SpringData(
        spring.name,
        parent,
        child,
        spring.stiffness,
        spring.damping,
        0.0 if spring.rest_length is None else spring.rest_length,
        spring.preload,
        spring.tension_only,
        _function(spring, "law", "length", "rate"),
        _function(spring, "energy", "length"),
    )


def _function(spring: Spring, key: str, *arguments: str) -> Callable[..., Any] | None:
    """A function of the user, which is tried once; what goes wrong in it names the spring."""
    if (f := getattr(spring, key)) is None:
        return None
    call = f"{key}({', '.join(arguments)})"

    def error(trouble: str) -> DescriptionError:
        return DescriptionError(f"{at(spring.where)}spring {spring.name!r}: {trouble}", spring=spring.name)

    checked = with_error(f, call, error)

    def run(*numbers: Any) -> Any:
        return checked(*(x if getattr(x, "dtype", None) == np.dtype(object) else single(x) for x in numbers))

    with np.errstate(all="ignore"):
        value = run(*TRIED[: len(arguments)])
    if not isinstance(value, (int, float, np.number)):
        raise error(f"{call} gives {shown(value)}; give one number")
    return run


def _moved(place: Place, xyz: Sequence[float]) -> Place:
    """The place at a point of its own."""
    a = place.pose.R @ np.array(xyz, dtype=float) + place.pose.a
    a.flags.writeable = False
    return Place(place.body, Pose(place.pose.R, a))
