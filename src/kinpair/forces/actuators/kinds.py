"""Conversion of the numbers of a description to elements: a row for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias

from kinpair.algebra.arrays import Scalar
from kinpair.forces.actuators.actuator import Actuator, Control, Gear
from kinpair.forces.actuators.affine import Affine, Coefficients, Limits
from kinpair.forces.actuators.control import Cascade, Direct, Voltage
from kinpair.forces.actuators.dc_motor import DCMotor, Thermal
from kinpair.forces.actuators.effort import LimitedEffort
from kinpair.forces.actuators.gear import ElasticGear, Mesh, RigidGear
from kinpair.forces.actuators.hydraulic import Hydraulic, LinearHydraulic, Valve
from kinpair.forces.actuators.machine import Machine
from kinpair.forces.element import Element
from kinpair.model.actuator_data import GEAR, ActuatorData
from kinpair.model.model import Model
from kinpair.model.units import units

Numbers: TypeAlias = Mapping[str, Scalar]
TANK = 1e5  # [Pa]
OF_MOTOR = tuple(
    field.name for field in fields(DCMotor) if field.name != "thermal"
)  # fields that go by the names of their keys


def _taken(x: Numbers, *keys: str, **renamed: str) -> dict[str, Any]:
    """Select numbers that are given, by the names of a machine's fields."""
    names = {**{key: key for key in keys}, **renamed}
    return {field: x[key] for field, key in names.items() if key in x}


def _motor(x: Numbers) -> DCMotor:
    thermal = None
    if "winding_capacity" in x:
        numbers = [x[key] for key in ("winding_to_housing", "housing_to_ambient")]
        numbers += [x["winding_capacity"], x["housing_capacity"], x.get("ambient", 20.0)]
        thermal = Thermal(*numbers)
    return DCMotor(**_taken(x, *OF_MOTOR), thermal=thermal)


def _effort(x: Numbers) -> Machine:
    return LimitedEffort(**_taken(x, "effort", "velocity"))


def _affine(x: Numbers) -> Machine:
    def coefficients(what: str, constant: float) -> Coefficients:
        return Coefficients(
            x.get(what, constant), x.get(f"{what}_position", 0.0), x.get(f"{what}_speed", 0.0)
        )

    inputs, efforts, activations = (
        Limits(x.get(f"{what}_lower"), x.get(f"{what}_upper")) for what in ("input", "effort", "activation")
    )
    return Affine(
        coefficients("gain", 1.0),
        coefficients("bias", 0.0),
        inputs,
        efforts,
        **_taken(x, "filter_time", "integral_rate"),
        activations=activations,
    )


def _oil(x: Numbers, area: str) -> Machine:
    valve = Valve(x.get("valve_time"))
    if "flow_gain" in x:
        return LinearHydraulic(
            x[area],
            x["volume"],
            x["bulk_modulus"],
            x["flow_gain"],
            x["pressure_flow"],
            x.get("damping", 0.0),
            valve,
        )
    of_rod = "displacement" if area == "displacement" else "rod_area"
    return Hydraulic(
        x[area],
        x.get(of_rod, x[area]),
        x["volume"],
        x.get("rod_volume", x["volume"]),
        x["flow_constant"],
        x["supply_pressure"],
        x.get("tank_pressure", TANK),
        x["bulk_modulus"],
        **_taken(
            x,
            *("leakage", "damping", "stroke", "position", "pressure"),
            vapour="vapour_pressure",
            laminar="laminar_pressure",
            pressure_rod="rod_pressure",
        ),
        valve=valve,
    )


MACHINES: dict[str, Callable[[Numbers], Machine]] = {
    "effort": _effort,
    "affine": _affine,
    "dc-motor": _motor,
    "servo": _motor,
    "series-elastic": _effort,
    "hydraulic-cylinder": lambda x: _oil(x, "area"),
    "hydraulic-motor": lambda x: _oil(x, "displacement"),
}


def _gear(x: Numbers) -> Gear:
    own = {key.removeprefix(GEAR): value for key, value in x.items() if key.startswith(GEAR)}
    mesh = Mesh(**_taken(own, "efficiency", back="efficiency_back", speed="friction_speed"))
    ratio = own.get("ratio", 1.0)
    if "stiffness" not in own:
        return RigidGear(ratio, mesh)
    inertia = x.get("rotor_inertia", 0.0) + own.get("inertia", 0.0)
    return ElasticGear(inertia, own["stiffness"], ratio, **_taken(own, "damping", "backlash"), mesh=mesh)


def _control(kind: str, x: Numbers, machine: Machine) -> Control:
    if kind != "servo":
        return Direct()
    assert isinstance(machine, DCMotor)
    if "voltage_gain" in x:
        return Voltage(x["voltage_gain"], x.get("voltage_damping", 0.0))
    return Cascade(
        machine,
        x["position_gain"],
        x["speed_gain"],
        x.get("speed_time"),
        x.get("current_gain", 0.0),
        x.get("current_time"),
        x.get("current"),
    )


def actuator_elements(model: Model) -> list[Element]:
    """Make the actuators of the description."""
    return [_element(model, data) for data in model.actuators]


def _element(model: Model, data: ActuatorData) -> Actuator:
    unit = units(model)
    own = {"effort": unit["tau"][data.v], "servo": unit["q"][data.q], "series-elastic": "N m"}
    bodies = (model.parent[data.i], data.i)
    made = actuator(data.kind, data.numbers)
    return replace(
        made, name=data.name, bodies=bodies, v=data.v, q=data.q, unit=own.get(data.kind, made.machine.unit)
    )


def actuator(kind: str, numbers: Numbers) -> Actuator:
    """Return an actuator of a kind in a joint of its own, on rate 0."""
    machine = MACHINES[kind](numbers)
    return Actuator("", (), 0, 0, machine, _gear(numbers), _control(kind, numbers, machine), "")
