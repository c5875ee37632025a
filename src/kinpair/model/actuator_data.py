"""Actuators as the model has them: checked against the joints, and on which rate each acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kinpair.algebra.arrays import Scalar
from kinpair.description.actuator_parts import Actuator
from kinpair.description.parts import Description, Joint
from kinpair.description.warning_list import at
from kinpair.errors import DescriptionError, listed, nearest

GEAR = "gear."  # before keys of the gear


@dataclass(frozen=True, slots=True, eq=False)
class ActuatorData:
    """An actuator on rate `v` of coordinate `q`, in the joint of body `i`; numbers by key, gear.ratio and so on."""

    name: str
    kind: str
    i: int
    v: int
    q: int
    numbers: Mapping[str, Scalar]

    @property
    def rotor(self) -> Scalar:
        """Inertia felt at the joint: that of a rigid gear; an elastic one has a rotor of its own."""
        return 0.0 if "gear.stiffness" in self.numbers else _reflected(self.numbers)


def _reflected(x: Mapping[str, Scalar]) -> Scalar:
    N, J = x.get("gear.ratio", 1.0), x.get("rotor_inertia", 0.0) + x.get("gear.inertia", 0.0)
    return N * N * J


def numbers_of(part: Actuator) -> dict[str, float]:
    """Numbers of the actuator and of its gear in one."""
    return {**dict(part.numbers), **{f"{GEAR}{key}": x for key, x in part.gear}}


def rotors(description: Description) -> dict[str, float]:
    """Inertia that actuators with rigid gears add, by joint."""
    parts = {x.joint: numbers_of(x) for x in description.actuators}
    return {joint: _reflected(x) for joint, x in parts.items() if "gear.stiffness" not in x}


def check_actuators(description: Description, degrees: Mapping[str, int]) -> None:
    """Refuse joints that are not there or have several degrees, joints driven twice, and numbers given twice.

    degrees: of the joints that move.
    """
    joints = {joint.name: joint for joint in description.joints}
    first: dict[str, Actuator] = {}
    for part in description.actuators:
        word = f"{at(part.where)}actuator {part.name!r}"
        joint = _joint(word, part, joints)
        if (count := degrees.get(part.joint, 0)) != 1:
            raise DescriptionError(
                f"{word}: joint {part.joint!r} has {count} degrees of freedom; an actuator drives a joint of one",
                actuator=part.name,
                joint=part.joint,
            )
        if (other := first.setdefault(part.joint, part)) is not part:
            raise DescriptionError(
                f"{word}: joint {part.joint!r} is driven by actuator {other.name!r} already; a rate has one actuator: "
                "take one of them away, or give its numbers to the other",
                actuator=part.name,
                joint=part.joint,
            )
        _check_once(word, part, joint)


def _joint(word: str, part: Actuator, joints: Mapping[str, Joint]) -> Joint:
    if part.joint not in joints:
        raise DescriptionError(
            f"{word}: joint {part.joint!r} does not exist; {nearest(part.joint, joints)}Joints: {listed(joints)}",
            actuator=part.name,
            joint=part.joint,
        )
    return joints[part.joint]


def _check_once(word: str, part: Actuator, joint: Joint) -> None:
    """Rotor inertia and ratio stand in the joint or in the actuator."""
    x = numbers_of(part)
    twice = {
        "rotor_inertia": joint.rotor_inertia and x.get("rotor_inertia"),
        "gear_ratio": joint.gear_ratio != 1.0 and "gear.ratio" in x,
    }
    for key, given in twice.items():
        if given:
            here = "gear.ratio" if key == "gear_ratio" else key
            raise DescriptionError(
                f"{word}: {here} is given, and joint {joint.name!r} has {key} = {getattr(joint, key):g}; give it once, "
                "here or in the joint",
                actuator=part.name,
                joint=joint.name,
            )


def actuator_data(
    actuators: Sequence[Actuator],
    joint_names: Sequence[str],
    q_span: Sequence[slice],
    v_span: Sequence[slice],
) -> tuple[ActuatorData, ...]:
    """The actuators with their rates."""
    number = {name: i for i, name in enumerate(joint_names) if i}
    data: list[ActuatorData] = []
    for part in actuators:
        i = number[part.joint]
        numbers = MappingProxyType(numbers_of(part))
        data.append(ActuatorData(part.name, part.kind, i, v_span[i].start, q_span[i].start, numbers))
    return tuple(data)
