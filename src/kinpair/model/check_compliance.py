"""Compliances of joints and loops: numbers that mean something, where something is shared."""

from __future__ import annotations

import math

from kinpair.description.parts import Description
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed


def check_compliances(description: Description) -> None:
    """Refuse numbers that no part yields by."""
    parts = [("joint", x) for x in description.joints_with("compliance")]
    parts += [("constraint", x) for x in description.constraints]
    for word, part in parts:
        given = getattr(part, "compliance", ())
        usable = len(given) in (1, 6) and all(x >= 0.0 and math.isfinite(x) for x in given) and any(given)
        if given and not usable:
            raise DescriptionError(
                f"{at(part.where)}{word} {part.name!r}: compliance is {tuple(given)}; give six numbers, zero or more "
                "and not all zero: three [rad/(N m)], then three [m/N]; or one for all",
                part=part.name,
            )


def warn_of_compliance(description: Description, warnings: WarningList) -> None:
    """Warn of compliance in a tree, where every reaction is unique."""
    if names := [joint.name for joint in description.joints_with("compliance")]:
        warnings.add(
            f"{at(description.source)}compliance of {listed(map(repr, names), 6)} has no effect: it shares loads out "
            "that redundant constraints leave open, and there is no loop",
            joints=names,
        )
