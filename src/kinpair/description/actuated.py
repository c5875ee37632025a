"""A description with more actuators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinpair.description.actuator_schema import actuator_from
from kinpair.description.parts import Description
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import InputError

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
