"""Data sheets of motors: the numbers of an actuator from the figures of a sheet, and which figures contradict.

R = U/i_stall,   k = τ_stall/i_stall = (U − R i₀)/ω₀,   Δω/Δτ = R/k²,   T_m = J R/k²                     (DS1)
τ_c = k i₀                                           dry friction from the current at no load             (DS2)
C = T/R_th                                           heat capacity from a thermal time constant          (DS3)
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kinpair.description.actuator_parts import SHEET
from kinpair.description.place import Place
from kinpair.errors import InputError, offered

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
    for key, (names, f) in DERIVED.items():
        if key not in known and all(x in known for x in names):
            known[key] = f(known)
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
