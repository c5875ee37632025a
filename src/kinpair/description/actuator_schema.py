"""The keys of an actuator, read and checked; docs/actuators.md lists them for people."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from kinpair.description import fields as f
from kinpair.description.actuator_parts import GEAR, KINDS, SHEET, Actuator, ByKey, Number
from kinpair.description.data_sheet import data_sheet, data_sheets, numbers_from
from kinpair.description.place import Key, Place, Read, checked, table
from kinpair.errors import listed

RULES: dict[str, tuple[Any, str]] = {
    "positive": (lambda x: x > 0.0, "give a number above zero"),
    "zero or more": (lambda x: x >= 0.0, "give zero or more"),
    "not zero": (lambda x: x != 0.0, "give a number that is not zero"),
    "part": (lambda x: 0.0 < x <= 1.0, "give a number above 0, up to 1"),
    "any": (lambda x: True, ""),
}
MOTORS = ("dc-motor", "servo")
ENDS: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the actuator"),
    "joint": Key(f.name, needs="the joint that it drives"),
    "kind": Key(f.choice(*KINDS), needs=" or ".join(map(repr, KINDS))),
}


def _number(rule: str) -> Read:
    fits, advice = RULES[rule]

    def check(value: object, place: Place) -> float:
        x = f.number(value, place)
        if not fits(x):
            raise place.error(f"is {x:g}; {advice}")
        return x

    return check


def _keys(numbers: Mapping[str, Number]) -> dict[str, Key]:
    return {
        key: Key(_number(x.rule), f"{x.unit}, {x.meaning}" if x.unit else x.meaning)
        for key, x in numbers.items()
    }


def _gear(value: object, place: Place) -> ByKey:
    return _ordered(checked(table(value, place), GEAR_KEYS, place.inside()), GEAR)


def _sheet(value: object, place: Place) -> str:
    if value not in data_sheets():
        raise place.error(f"is {value!r}, which is not a data sheet; there are {listed(data_sheets())}")
    return str(value)


def _figures(kind: str, name: str, place: Place) -> dict[str, Any]:
    """Numbers of a data sheet of this kind; a motor serves a servo too."""
    figures = data_sheet(name)
    of = figures.pop("kind")
    if of != kind and not {of, kind} <= set(MOTORS):
        raise place.at("sheet").error(f"is {name!r}, which is of a {of}; take one of a {kind}")
    return figures


GEAR_KEYS = _keys(GEAR)
OF_KIND: dict[str, dict[str, Key]] = {
    kind: {
        **ENDS,
        **_keys(numbers),
        **(_keys(SHEET) if kind in MOTORS else {}),
        "sheet": Key(_sheet, "name of a data sheet"),
        "gear": Key(_gear, "ratio, efficiency, stiffness, damping, backlash"),
    }
    for kind, numbers in KINDS.items()
}


def actuator_from(keys: Mapping[str, object], place: Place) -> Actuator:
    """An actuator from its keys."""
    kind = ENDS["kind"].read(keys["kind"], place.at("kind")) if "kind" in keys else None
    if kind is None:
        raise place.at("kind").error(f"is missing; give {ENDS['kind'].needs}")
    if "sheet" in keys:
        keys = {**_figures(kind, _sheet(keys["sheet"], place.at("sheet")), place), **keys}
    values = checked(keys, OF_KIND[kind], place)
    gear = values.pop("gear", ())
    name, joint = values.pop("name"), values.pop("joint")
    for key in ("kind", "sheet"):
        values.pop(key, None)
    numbers = numbers_from(values, place) if kind in MOTORS else values
    for key, number in KINDS[kind].items():
        if number.needs and key not in numbers:
            raise place.at(key).error(f"is missing; give it in {number.unit}")
    _check_together(kind, numbers, dict(gear), place)
    return Actuator(name, joint, kind, _ordered(numbers, KINDS[kind]), gear, where=place.where)


def _ordered(values: Mapping[str, float], order: Mapping[str, Number]) -> ByKey:
    return tuple((key, values[key]) for key in order if key in values)


def _check_together(kind: str, x: Mapping[str, float], gear: Mapping[str, float], place: Place) -> None:
    """Keys that need, or exclude, each other."""
    for key, others in TOGETHER.items():
        if key in x and (missing := [other for other in others if other not in x]):
            raise place.error(f"{key} needs {' and '.join(missing)}")
    if kind == "servo" and ("position_gain" in x) == ("voltage_gain" in x):
        raise place.error("a servo has position_gain with speed_gain, or voltage_gain; give one of both")
    if kind.startswith("hydraulic") and "flow_gain" not in x:
        needed = ["volume", "supply_pressure", "flow_constant"]
        needed += ["rod_volume", "stroke"] if kind == "hydraulic-cylinder" else []
        if missing := [key for key in needed if key not in x]:
            raise place.error(f"give {' and '.join(missing)}, or flow_gain for the linear form")
    for what in ("input", "effort", "activation"):
        low, high = x.get(f"{what}_lower", -inf), x.get(f"{what}_upper", inf)
        if not low <= high:
            raise place.error(
                f"{what}_lower is {low:g} and {what}_upper {high:g}; give the smaller one first"
            )
    if "filter_time" in x and "integral_rate" in x:
        raise place.error("filter_time and integral_rate are both given; give one of them")
    elastic = "stiffness" in gear
    if kind == "series-elastic" and not elastic:
        raise place.error(
            "gear.stiffness is missing; it is the spring of a series-elastic actuator, in N m/rad"
        )
    if elastic and x.get("rotor_inertia", 0.0) + gear.get("inertia", 0.0) <= 0.0:
        raise place.error("an elastic gear needs a rotor_inertia: the rotor moves by itself")
    if not elastic and (extra := [key for key in ("damping", "backlash") if key in gear]):
        raise place.error(f"gear.{extra[0]} needs gear.stiffness: a rigid gear has none")
    if "efficiency_back" in gear and "efficiency" not in gear:
        raise place.error("gear.efficiency_back needs gear.efficiency")


THERMAL = ("winding_to_housing", "housing_to_ambient", "winding_capacity", "housing_capacity")
TOGETHER: dict[str, tuple[str, ...]] = {
    "winding_capacity": THERMAL,
    "position_gain": ("speed_gain",),
    "current_time": ("current_gain", "inductance"),
    "velocity": ("effort",),
    "flow_gain": ("pressure_flow", "volume"),
}
