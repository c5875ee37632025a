"""Units of what varies and of what is recorded."""

from __future__ import annotations

from collections.abc import Mapping

from kinpair.mechanism import Mechanism

ANGLE, LENGTH, NONE = ("rad", "rad/s", "N m"), ("m", "m/s", "N"), ("", "", "")
PARTS: Mapping[str, tuple[str, str, str]] = {  # part of a pair → unit as coordinate, as rate, of its effort
    **dict.fromkeys(("angle", "angle1", "angle2", "wx", "wy", "wz"), ANGLE),
    **dict.fromkeys(("slide", "x", "y", "z", "vx", "vy", "vz"), LENGTH),
    **dict.fromkeys(("qx", "qy", "qz", "qw"), NONE),
}
CONSTANTS = {"mass": "kg", "com": "m", "inertia": "kg m²"}
OPTIONS = {"duration": "s", "dt": "s", "time": "s", "output": "s"}


def coordinate_units(mechanism: Mechanism) -> dict[str, str]:
    """By name of the entry of q."""
    model = mechanism.model
    found = {
        model.q_names[k]: PARTS[part][0]
        for i in model.moving
        for k, part in zip(_span(model.q_span[i]), model.body[i].pair.q_parts, strict=True)
    }
    return {name: found[name] for name in mechanism.q_names}


def rate_units(mechanism: Mechanism, *, effort: bool = False) -> dict[str, str]:
    """By name of the entry of qd; or of tau."""
    model = mechanism.model
    found = {
        model.v_names[k]: PARTS[part][2 if effort else 1]
        for i in model.moving
        for k, part in zip(_span(model.v_span[i]), model.body[i].pair.v_parts, strict=True)
    }
    return {name: found[name] for name in mechanism.v_names}


def constant_unit(name: str) -> str:
    """Of a constant of the mechanism, such as upper.mass or elbow.x."""
    return next((CONSTANTS[part] for part in name.split(".")[-2:] if part in CONSTANTS), "m")


def _span(span: slice) -> range:
    return range(span.start, span.stop)
