"""Places as letters: by components, or by a distance where the direction is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import atan2, cos, hypot, pi, sin

import numpy as np

from kinpair.closed_form.matrices import simple
from kinpair.equations_of_motion.constant import Constant, signed

AXES = ("x", "y", "z")
DIRECTIONS = (3, 5, 8, 12)  # parts of π that are simple angles
COMPONENTS = (2, 4)  # parts of π where components are as short
CLOSE = 1e-12  # [rad]


def place_constants(
    key: str, base: str, number: str, about: str, xyz: np.ndarray, axes: np.ndarray
) -> list[Constant]:
    """A place by its components, or by a distance where its direction is known."""
    constants: list[Constant] = []
    for k, x in enumerate(AXES):
        meaning = f"place of {about}, along its {x} [m]"
        constants.append(signed(f"{key}.{x}", base, number, x, xyz[k], meaning, np.abs(xyz).max(initial=0.0)))
    plane = [k for k in range(3) if constants[k].factor]
    if len(plane) != 2 or not _known_direction(xyz, plane, axes):
        return constants
    first, second = plane
    angle, distance = atan2(xyz[second], xyz[first]), hypot(xyz[first], xyz[second])
    meaning = f"distance of {about} from its origin [m]"
    for k, factor, same in ((first, cos(angle), ""), (second, sin(angle), constants[first].key)):
        constants[k] = replace(
            constants[k], part="", value=distance, meaning=meaning, factor=simple(factor), same_as=same
        )
    return constants


def _known_direction(xyz: np.ndarray, plane: Sequence[int], axes: np.ndarray) -> bool:
    """Is the angle in the plane a simple one, or is it along an axis of the frame there?"""
    first, second = plane
    angle = atan2(xyz[second], xyz[first])
    if any(abs(angle * n / pi - round(angle * n / pi)) < CLOSE for n in COMPONENTS):
        return False
    if any(abs(angle * n / pi - round(angle * n / pi)) < CLOSE for n in DIRECTIONS):
        return True
    along = np.abs(axes.T @ xyz)
    return bool(np.sort(along)[1] <= CLOSE * along.max())


def directions(every: Sequence[Constant]) -> set[float]:
    """Angles of places that are given by a distance."""
    angles: set[float] = set()
    by_letter: dict[str, list[Constant]] = {}
    for c in every:
        if abs(c.factor) not in (0.0, 1.0):
            by_letter.setdefault(c.key.rpartition(".")[0], []).append(c)
    for first, second in (x for x in by_letter.values() if len(x) == 2):
        angles.add(atan2(second.factor, first.factor))
    return angles
