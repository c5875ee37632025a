"""Check that the numbers of the parts make a mechanism that can exist and be computed with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from kinpair.description.parts import Description, Joint, Link
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError
from kinpair.pairs import PAIRS

LARGEST = 1e150  # the product of two such numbers is still a number; every solve multiplies entries of H
FARTHEST = math.sqrt(LARGEST)  # m; entries of H have lengths squared
SLIPS = {  # negative numbers that some devices have, so that they are doubted and not refused
    "damping": "feeds energy in",
    "stiffness": "pushes away from rest",  # over-centre springs do
}
TURNS, DEGREES = 4 * math.pi, 720.0  # limits of an angle between these, in whole numbers, look like degrees


def too_large(quantity: str, x: float) -> str:
    """Sentence about a number whose products may overflow."""
    return f"{quantity} is {x:g}; the largest number that can be computed with is {LARGEST:g}"


def check_actuation(part: str, joint: Joint, warnings: WarningList) -> None:
    """Refuse a rotor that cannot exist; warn of signs and a gear that look like a slip."""
    rotor, gear = joint.rotor_inertia, joint.gear_ratio
    if rotor < 0.0:
        raise DescriptionError(
            f"{part} has rotor inertia {rotor:g} kg m²; an inertia is zero or positive",
            joint=joint.name,
            rotor_inertia=rotor,
        )
    if rotor and not gear:
        warnings.add(
            f"{part}: gear ratio is 0, so that the rotor inertia {rotor:g} kg m² has no effect; taken as it is",
            joint=joint.name,
        )
    if (felt := gear * gear * rotor) > LARGEST:
        raise DescriptionError(
            f"{part}: rotor inertia {rotor:g} kg m² behind gear ratio {gear:g} is an inertia of {felt:g} kg m²; "
            f"beyond {LARGEST:g} the equations of motion overflow",
            joint=joint.name,
        )
    for quantity, why in SLIPS.items():
        if any(x < 0.0 for x in getattr(joint, quantity)):
            warnings.add(f"{part}: {quantity} is negative and {why}; taken as it is", joint=joint.name)


def check_degrees(part: str, joint: Joint, warnings: WarningList) -> None:
    """Warn of limits of an angle that are whole numbers, beyond two turns in rad and within two turns in degrees."""
    for name, low, high in _angles(joint):
        limits = [abs(x) for x in (low, high) if math.isfinite(x)]
        if limits and TURNS < max(limits) <= DEGREES and all(x.is_integer() for x in limits):
            meant = f"{math.radians(low):g} to {math.radians(high):g}"
            of_which = f" of {name}" if len(PAIRS[joint.kind].q_parts) > 1 else ""
            warnings.add(
                f"{part}: limits{of_which} {low:g} to {high:g} look like degrees; did you mean {meant}? "
                "Limits are in rad; taken as they are",
                joint=joint.name,
            )


def _angles(joint: Joint) -> Iterator[tuple[str, float, float]]:
    """Coordinates that are angles, by name, with their limits."""
    parts = PAIRS[joint.kind].q_parts
    for k, name in enumerate(parts):
        if name.startswith("angle"):
            yield name, _of(joint.lower, k, -math.inf), _of(joint.upper, k, math.inf)


def _of(limits: Sequence[float], k: int, absent: float) -> float:
    """The limit of coordinate k: one for all, one for each, or none."""
    return float(limits[k if len(limits) > 1 else 0]) if len(limits) > k or len(limits) == 1 else absent


def check_inertias(description: Description, root: str, joints: Iterable[Joint]) -> None:
    """Refuse a link whose inertia about the root, m r², would overflow; joints in an order outward from the root."""
    links = {link.name: link for link in description.links}
    reach = {root: 0.0}
    for joint in joints:
        way = math.hypot(*joint.origin.xyz) + math.hypot(*joint.child_origin.xyz)
        reach[joint.child] = reach.get(joint.parent, 0.0) + way
        if joint.child in links:
            _check_inertia(links[joint.child], reach[joint.child])


def _check_inertia(link: Link, reach: float) -> None:
    r = reach + math.hypot(*link.com)
    if r > FARTHEST:
        raise DescriptionError(
            f"{at(link.where)}link {link.name!r}: as far as {r:g} m from the root; beyond {FARTHEST:g} m the equations "
            "of motion overflow",
            link=link.name,
        )
    if (felt := link.mass * r * r) > LARGEST:
        raise DescriptionError(
            f"{at(link.where)}link {link.name!r}: mass {link.mass:g} kg as far as {r:g} m from the root is an inertia "
            f"of {felt:g} kg m²; beyond {LARGEST:g} the equations of motion overflow",
            link=link.name,
        )
