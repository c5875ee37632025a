"""Inputs of a study by name: entries of the start and of constant controls, constants, options of `simulate`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.model.symbols import symbol_names
from kinpair.runs.simulate import simulate
from kinpair.simulation.given import tolerance
from kinpair.simulation.schedule import finite, positive, wanted_times
from kinpair.sweeps.units import OPTIONS, actuator_units, constant_unit, entry_units, input_units

OWN_ARGUMENTS = ("mechanism", "q", "qd", "torque", "input", "parameters")
OWN_ARGUMENTS += ("threads", "save", "checkpoint", "progress")


@dataclass(frozen=True, slots=True)
class Slot:
    """Where an input goes: an entry of `q`, `qd`, `torque` or `input`, a `parameter`, or an `option`; and its unit."""

    kind: str
    entry: int
    unit: str
    name: str = ""  # of the entry


def slots(study: str, known: Mapping[str, Slot], names: Sequence[str]) -> list[Slot]:
    """Of each name; InputError for one that is no input."""
    for name in names:
        if name not in known:
            raise InputError(
                f"{study}: no input {name!r}; {nearest(name, known)}Inputs: {listed(known, 40)}", input=name
            )
    return [known[name] for name in names]


def inputs_of(mechanism: Mechanism, control: str = "torque") -> dict[str, Slot]:
    """Everything that may vary; an entry of the start hides a constant of the same name. control: torque or input."""
    slots = {name: Slot("option", 0, OPTIONS.get(name, "")) for name in options()}
    of_actuators, units = actuator_units(mechanism), entry_units(mechanism)
    slots |= {
        name: Slot("parameter", 0, of_actuators.get(name, constant_unit(name)))
        for name in symbol_names(mechanism.model)
    }
    controls = units["tau"] if control == "torque" else input_units(mechanism)
    groups = {"q": units["q"], "qd": units["qd"], control: controls}
    entries = {
        f"{group}.{name}": Slot(group, k, unit, name)
        for group, column in groups.items()
        for k, (name, unit) in enumerate(column.items())
    }
    return entries | {name: slot for name, slot in slots.items() if name not in entries}


@lru_cache(maxsize=1)
def options() -> tuple[str, ...]:
    """Options of `simulate` that a study may give."""
    return tuple(name for name in inspect.signature(simulate).parameters if name not in OWN_ARGUMENTS)


def check_numbers(mechanism: Mechanism, settings: Mapping[str, Any]) -> None:
    """Refuse wrong times and tolerances before any case is computed."""
    name, time = mechanism.name, finite(mechanism.name, "time", settings.get("time", 0.0))
    duration = positive(name, "duration", settings["duration"])
    for what in ("dt", "max_step"):
        if settings.get(what) is not None:
            positive(name, what, settings[what])
    for what, size in (("rtol", ()), ("atol", (mechanism.nq + mechanism.nv,))):
        if settings.get(what) is not None:
            tolerance(name, what, settings[what], size)
    output = settings.get("output")
    if output is not None:
        wanted_times(name, output, duration, time) if np.ndim(output) else positive(name, "output", output)


def check_options(name: str, settings: dict[str, Any]) -> None:
    """Refuse what `simulate` does not know."""
    for key in settings:
        if key not in options():
            raise InputError(
                f"{name}: no option {key!r}; {nearest(key, options())}Options: {listed(options())}",
                option=key,
            )
