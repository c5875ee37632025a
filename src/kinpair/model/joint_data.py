"""Springs, dampers, friction and limits of the joints as arrays over rates and coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.description.parts import Joint
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError
from kinpair.model.model import JointData
from kinpair.pairs import Pair

# quantity, value where none is given, per coordinate (else per rate)
_TABLE: tuple[tuple[str, float, bool], ...] = (
    ("damping", 0.0, False),
    ("stiffness", 0.0, False),
    ("rest", 0.0, False),
    ("effort", np.inf, False),
    ("velocity", np.inf, False),
    ("acceleration", np.inf, False),
    ("jerk", np.inf, False),
    ("lower", -np.inf, True),
    ("upper", np.inf, True),
)
_SCALAR_ONLY = ("stiffness", "rest", "lower", "upper")  # no meaning for a quaternion


def joint_data(
    joints: Sequence[tuple[Joint, Pair]], friction: np.ndarray, warnings: WarningList
) -> JointData:
    """Make one array for each quantity, in the order of the joints given; `friction` of
    `friction_data.plain_levels`."""
    size = sum(pair.nv for _, pair in joints), sum(pair.nq for _, pair in joints)
    arrays = {row[0]: _array(joints, size[row[2]], *row) for row in _TABLE}
    crossed = arrays["lower"] > arrays["upper"]
    arrays["lower"][crossed], arrays["upper"][crossed] = -np.inf, np.inf
    spring_q: list[int] = []
    nq = 0
    for _, pair in joints:
        spring_q += [nq + k if pair.nq == pair.nv else -1 for k in range(pair.nv)]
        nq += pair.nq
    for x in arrays.values():
        x.flags.writeable = False
    return JointData(spring_q=np.array(spring_q, dtype=int), friction=friction, **arrays)


def _array(
    joints: Sequence[tuple[Joint, Pair]], size: int, quantity: str, absent: float, of_q: bool
) -> np.ndarray:
    """A quantity over all rates or coordinates, `absent` where no joint has it."""
    if not any(getattr(joint, quantity) for joint, _ in joints):
        return np.full(size, absent)
    entries = [x for joint, pair in joints for x in _spread(joint, pair, quantity, absent, of_q)]
    return np.array(entries, dtype=float)


def _spread(joint: Joint, pair: Pair, quantity: str, absent: float, of_q: bool) -> list[float]:
    numbers: tuple[float, ...] = getattr(joint, quantity)
    size = pair.nq if of_q else pair.nv
    if not numbers:
        return [absent] * size
    if pair.nq != pair.nv and quantity in _SCALAR_ONLY:
        raise DescriptionError(
            f"{at(joint.where)}joint {joint.name!r}: {quantity} has no meaning for the quaternion of a "
            f"{joint.kind} joint; leave it out, or write the joint as hinges",
            joint=joint.name,
        )
    if len(numbers) not in (1, size):
        raise DescriptionError(
            f"{at(joint.where)}joint {joint.name!r}: {quantity} has {len(numbers)} numbers; a {joint.kind} "
            f"joint takes {size}{', or one for all' if size > 1 else ''}",
            joint=joint.name,
        )
    return list(numbers) * (size if len(numbers) == 1 else 1)


def reflected_rotor(joint: Joint, pair: Pair) -> np.ndarray:
    """Rotor inertia as felt at the joint: gear ratio squared times rotor inertia; that of a spherical or free joint
    resists each of its rates."""
    if joint.rotor_inertia and pair.nv > 1 and pair.nq == pair.nv:
        raise DescriptionError(
            f"{at(joint.where)}joint {joint.name!r}: a rotor needs a joint of one degree, a spherical or a free joint; "
            f"a {joint.kind} joint has {pair.nv}",
            joint=joint.name,
        )
    return np.full(pair.nv, joint.gear_ratio * joint.gear_ratio * joint.rotor_inertia)
