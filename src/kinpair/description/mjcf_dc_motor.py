"""<dcmotor> of an MJCF file as a dc-motor.

MuJoCo has one constant k for torque and voltage: the geometric mean of what is given. From voltage U, stall torque and
no-load speed: k = U/ω₀, R = k U/τ_stall. A bound of the torque is one of the current where that follows at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod, sqrt

from kinpair.description.left_out import LeftOutError
from kinpair.description.mjcf_actuator_law import Law
from kinpair.description.mjcf_range import Range
from kinpair.description.mjcf_xml import Tag
from kinpair.description.parts import Numbers

NOT_HERE = ("cogging", "controller", "thermal", "lugre")


def motor_numbers(tag: Tag, law: Law, voltage: Range | None, of_joint: Range | None) -> dict[str, float]:
    """Numbers by the keys of a dc-motor; `of_joint` bounds the torque that its joint takes, at the shaft."""
    x = dict(law.motor or ())
    if odd := [key for key in NOT_HERE if any(x.get(key, ()))]:
        raise LeftOutError(f"it has {odd[0]}")
    torque, current, current_rate = _filled(x, "saturation", 3)
    if current_rate:
        raise LeftOutError("it has a saturation of the rate of its current")
    numbers = _electric(tag, x)
    inductance, time = _filled(x, "inductance", 2)
    if inductance or time:
        numbers["inductance"] = inductance or time * numbers["resistance"]
    bounds = [torque] if torque else [current * numbers["torque_constant"]] if current else []
    if of_joint is not None:
        if not of_joint.even:
            raise LeftOutError("the actuatorfrcrange of its joint is not even")
        bounds.append(of_joint.upper)
    if bounds:
        if "inductance" in numbers:
            raise LeftOutError("its torque is bounded, and its current is not")
        numbers["current"] = min(bounds) / numbers["torque_constant"]
    if voltage is not None:
        if not voltage.even:
            raise LeftOutError("its ctrlrange is not even")
        numbers["voltage"] = voltage.upper
    return numbers


def _filled(x: Mapping[str, Numbers], key: str, count: int) -> Numbers:
    return (*x.get(key, ()), *(0.0,) * count)[:count]


def _electric(tag: Tag, x: Mapping[str, Numbers]) -> dict[str, float]:
    """R and k."""
    (voltage, stall, speed), (R,) = _filled(x, "nominal", 3), _filled(x, "resistance", 1)
    constants = [k for k in x.get("motorconst", ()) if k]
    k = prod(constants) ** (1.0 / len(constants)) if constants else 0.0
    if voltage and speed:
        k = sqrt(k * voltage / speed) if k else voltage / speed
    if not R and stall:
        R = k * voltage / stall
    if not R or not k:
        raise tag.error("is a dcmotor without resistance or motorconst; give both, or nominal")
    return {"resistance": R, "torque_constant": k}
