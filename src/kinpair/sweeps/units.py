"""Units of what varies and of what is recorded."""

from __future__ import annotations

from kinpair.description.actuator_parts import GEAR, KINDS
from kinpair.forces.states import has_actuators, ports_of
from kinpair.mechanism import Mechanism
from kinpair.model.units import units

CONSTANTS = {"mass": "kg", "com": "m", "inertia": "kg m²"}
OPTIONS = {"duration": "s", "dt": "s", "time": "s", "output": "s", "alpha": "1/s"}


def entry_units(mechanism: Mechanism) -> dict[str, dict[str, str]]:
    """Of every entry of q, qd and tau, and of x and u where there are internal states or actuators, by name."""
    names = {"q": mechanism.q_names, "qd": mechanism.v_names, "tau": mechanism.v_names}
    own = {
        group: dict(zip(names[group], column, strict=True))
        for group, column in units(mechanism.model).items()
    }
    ports = ports_of(mechanism.model)
    own["x"] = dict(zip(ports.x_names, ports.x_units, strict=True))
    return {**own, "u": input_units(mechanism)} if has_actuators(mechanism.model) else own


def input_units(mechanism: Mechanism) -> dict[str, str]:
    """Of every input, by name."""
    ports = ports_of(mechanism.model)
    return dict(zip(ports.u_names, ports.u_units, strict=True))


def actuator_units(mechanism: Mechanism) -> dict[str, str]:
    """Of every number of an actuator, by name."""
    every = {f"gear.{key}": number.unit for key, number in GEAR.items()}
    return {
        f"{x.name}.{key}": {**every, **{name: n.unit for name, n in KINDS[x.kind].items()}}[key]
        for x in mechanism.model.actuators
        for key in x.numbers
    }


def constant_unit(name: str) -> str:
    """Of a constant of the bodies and joints, such as upper.mass or elbow.x."""
    return next((CONSTANTS[part] for part in name.split(".")[-2:] if part in CONSTANTS), "m")
