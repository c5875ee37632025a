"""A description with more actuators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinpair.description.actuator_schema import actuator_from
from kinpair.description.parts import Description
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList


def with_actuators(description: Description, actuators: Mapping[str, Mapping[str, object]]) -> Description:
    """One for each joint, with keys as in a file; it has the name of its joint unless it is given another."""
    warnings = WarningList()
    added = [
        actuator_from({"name": joint, **keys, "joint": joint}, Place(warnings, part=f"actuator of {joint!r}"))
        for joint, keys in actuators.items()
    ]
    return replace(
        description,
        actuators=(*description.actuators, *added),
        warnings=(*description.warnings, *warnings.sentences),
    )
