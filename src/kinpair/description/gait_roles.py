"""Joints by their role in a gait: the table `[gait]`, see docs/gait.md."""

from __future__ import annotations

import os
from collections.abc import Mapping

from kinpair.description import fields as f
from kinpair.description.place import Key, Place, checked, table
from kinpair.description.text import read_text, toml_table
from kinpair.description.warning_list import WarningList
from kinpair.errors import InputError

SIDES = ("left", "right")
PARTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
ROLES = tuple(f"{side}_{part}" for side in SIDES for part in PARTS)
GAIT = {role: Key(f.name) for role in ROLES}
ByRole = tuple[tuple[str, str], ...]


def gait_from(value: object, place: Place) -> ByRole:
    """Joint by role, from the table `[gait]`."""
    return tuple(checked(table(value, place), GAIT, place.inside()).items())


def read_roles(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """Joint by role, from the table `[gait]` of a TOML file; other tables of the file are ignored."""
    keys = toml_table(read_text(path), str(path))
    if "gait" not in keys:
        raise InputError(f"{path}: has no table [gait]; give roles such as left_knee = 'name of the joint'")
    return dict(gait_from(keys["gait"], Place(WarningList(), str(path)).at("gait")))
