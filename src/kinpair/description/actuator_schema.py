"""The keys of an actuator, read and checked; docs/actuators.md lists them for people.

Data sheets of motors: the numbers of an actuator from the figures of a sheet, and which figures contradict.

R = U/i_stall,   k = τ_stall/i_stall = (U − R i₀)/ω₀,   Δω/Δτ = R/k²,   T_m = J R/k²                     (DS1)
τ_c = k i₀                                           dry friction from the current at no load             (DS2)
C = T/R_th                                           heat capacity from a thermal time constant          (DS3)
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from kinpair.description import fields as f
from kinpair.description.actuator_parts import GEAR, KINDS, SHEET, Actuator, ByKey, Number
from kinpair.description.parts import Description
from kinpair.description.place import Key, Place, Read, checked, table
from kinpair.description.warning_list import WarningList
from kinpair.errors import InputError, listed, offered

AGREE = 0.05  # figures of a sheet that follow from each other may differ by this part
FOLDER = Path(__file__).with_name("data_sheets")


@cache
def data_sheets() -> tuple[str, ...]:
    """Names of those that come with kinpair."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def data_sheet(name: str) -> dict[str, Any]:
    """The figures of one of them, by key, as an actuator takes them."""
    if name not in data_sheets():
        raise InputError(
            f"no data sheet {name!r}; {offered(str(name), 'data sheets', data_sheets())}", name=name
        )
    return dict(tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")))


def numbers_from(figures: Mapping[str, float], place: Place) -> dict[str, float]:
    """The numbers of a motor from all that is given, checked against each other."""
    known = dict(figures)
    for key, ways in WAYS.items():
        values = {names: f(known) for names, f in ways.items() if all(x in figures for x in names)}
        if key in figures:
            values = {(key,): figures[key], **values}
        _check(key, values, place)
        if key not in known and values:
            known[key] = next(iter(values.values()))
    for key, (names, derived) in DERIVED.items():
        if key not in known and all(x in known for x in names):
            known[key] = derived(known)
    _check_chain(known, figures, place)
    return {key: value for key, value in known.items() if key not in SHEET}


def _check(key: str, values: Mapping[tuple[str, ...], float], place: Place) -> None:
    """Check that all formulas for a number agree."""
    (first, value), *others = values.items() or [((), 0.0)]
    for names, other in others:
        if abs(other - value) > AGREE * abs(value):
            said = (
                f"{key} is {value:.4g}"
                if first == (key,)
                else f"{' and '.join(first)} give {key} = {value:.4g}"
            )
            raise place.error(
                f"the data sheet contradicts itself: {said}, and {' and '.join(names)} give {other:.4g}; correct one "
                "of these figures, or leave it out"
            )


def _check_chain(known: Mapping[str, float], figures: Mapping[str, float], place: Place) -> None:
    """Figures that follow from R, k and J."""
    if not {"resistance", "torque_constant"} <= known.keys():
        return
    gradient = known["resistance"] / known["torque_constant"] ** 2
    follow = {"speed_torque_gradient": gradient}
    if "rotor_inertia" in known:
        follow["mechanical_time_constant"] = known["rotor_inertia"] * gradient  # (DS1)
    for key, value in follow.items():
        if key in figures and abs(figures[key] - value) > AGREE * abs(value):
            raise place.error(
                f"the data sheet contradicts itself: {key} is {figures[key]:.4g}, and resistance, torque_constant"
                f"{' and rotor_inertia' if key.startswith('mech') else ''} give {value:.4g}; correct one of these "
                "figures, or leave it out"
            )


Way = Callable[[Mapping[str, float]], float]
WAYS: dict[str, dict[tuple[str, ...], Way]] = {  # a number: figures it follows from, and how
    "resistance": {
        ("nominal_voltage", "stall_current"): lambda x: x["nominal_voltage"] / x["stall_current"],  # (DS1)
    },
    "torque_constant": {
        ("stall_torque", "stall_current"): lambda x: x["stall_torque"] / x["stall_current"],
        ("nominal_voltage", "no_load_speed", "no_load_current"): lambda x: (
            (x["nominal_voltage"] - x["resistance"] * x["no_load_current"]) / x["no_load_speed"]
        ),
    },
}
DERIVED: dict[str, tuple[tuple[str, ...], Way]] = {
    "friction": (
        ("torque_constant", "no_load_current"),
        lambda x: x["torque_constant"] * x["no_load_current"],  # (DS2)
    ),
    "winding_capacity": (
        ("winding_time_constant", "winding_to_housing"),
        lambda x: x["winding_time_constant"] / x["winding_to_housing"],  # (DS3)
    ),
    "housing_capacity": (
        ("housing_time_constant", "housing_to_ambient"),
        lambda x: x["housing_time_constant"] / x["housing_to_ambient"],
    ),
}


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


WANTED = 'give a dict by name of the joint: {"elbow": {"kind": "effort"}}'


def with_actuators(description: Description, actuators: Any) -> Description:
    """Return one actuator for each joint, with keys as in a file; it has the name of its joint unless it is given
    another."""
    if not isinstance(actuators, Mapping):
        raise InputError(f"{description.name}: actuators is {actuators!r}; {WANTED}")
    warnings = WarningList()
    if wrong := [joint for joint, keys in actuators.items() if not isinstance(keys, Mapping)]:
        raise InputError(f"{description.name}: actuator of {wrong[0]!r} is {actuators[wrong[0]]!r}; {WANTED}")
    added = [
        actuator_from({"name": joint, **keys, "joint": joint}, Place(warnings, part=f"actuator of {joint!r}"))
        for joint, keys in actuators.items()
    ]
    return replace(
        description,
        actuators=(*description.actuators, *added),
        warnings=(*description.warnings, *warnings.sentences),
    )
