"""Actuators as plain data, and the numbers that each kind takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

ByKey: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Actuator:
    """An actuator of a joint: its kind, its numbers by key, and those of its gear."""

    name: str
    joint: str
    kind: str
    numbers: ByKey = ()
    gear: ByKey = ()
    where: str = field(default="", compare=False)


class Number(NamedTuple):
    """A number of an actuator: unit, meaning, what it must be, and what to give where it may not be missing."""

    unit: str
    meaning: str
    rule: str = "positive"  # positive, zero or more, any
    needs: bool = False


GEAR: dict[str, Number] = {
    "ratio": Number("", "turns of the shaft per turn of the joint, 1/m for a slide", "not zero"),
    "inertia": Number("kg m²", "of the gear, at the shaft", "zero or more"),
    "efficiency": Number("", "from the shaft to the joint", "part"),
    "efficiency_back": Number("", "from the joint to the shaft; zero or less: it locks", "any"),
    "stiffness": Number("N m/rad", "at the joint; without it the gear is rigid"),
    "damping": Number("N m s/rad", "at the joint", "zero or more"),
    "backlash": Number("rad", "play at the joint, from one flank to the other", "zero or more"),
    "friction_speed": Number("rad/s", "of the shaft, above which the teeth take all of their loss"),
}
ROTOR: dict[str, Number] = {"rotor_inertia": Number("kg m²", "about the shaft", "zero or more")}
MOTOR: dict[str, Number] = {
    "resistance": Number("ohm", "of the winding at 20 °C", needs=True),
    "torque_constant": Number("N m/A", "at 20 °C", needs=True),
    "voltage_constant": Number("V s/rad", "where it is not the torque constant"),
    "inductance": Number("H", "of the winding; without it the current follows at once"),
    **ROTOR,
    "voltage": Number("V", "largest"),
    "current": Number("A", "largest"),
    "damping": Number("N m s/rad", "of the bearings", "zero or more"),
    "friction": Number("N m", "dry, of the bearings", "zero or more"),
    "friction_speed": Number("rad/s", "above which dry friction is all there"),
    "iron_damping": Number("N m s/rad", "eddy currents in the iron", "zero or more"),
    "iron_torque": Number("N m", "hysteresis of the iron", "zero or more"),
    "stray": Number("N m s/A²", "stray load loss", "zero or more"),
    "brush_voltage": Number("V", "drop at the brushes", "zero or more"),
    "brush_current": Number("A", "above which the drop is all there"),
    "copper_coefficient": Number("1/K", "of the resistance; 0.00393", "zero or more"),
    "magnet_coefficient": Number("1/K", "of the torque constant, below zero", "any"),
    "temperature": Number("°C", "of winding and magnet, where no thermal data are given", "any"),
    "ambient": Number("°C", "around the housing", "any"),
    "winding_to_housing": Number("K/W", "thermal resistance"),
    "housing_to_ambient": Number("K/W", "thermal resistance"),
    "winding_capacity": Number("J/K", "of heat"),
    "housing_capacity": Number("J/K", "of heat"),
}
SERVO: dict[str, Number] = {
    "position_gain": Number("1/s", "of the position"),
    "speed_gain": Number("A s/rad", "of the speed of the joint"),
    "speed_time": Number("s", "of its integral"),
    "current_gain": Number("V/A", "of the current"),
    "current_time": Number("s", "of its integral"),
    "voltage_gain": Number("V/rad", "of a servo without a cascade"),
    "voltage_damping": Number("V s/rad", "of a servo without a cascade", "zero or more"),
}
VALVE: dict[str, Number] = {
    "valve_time": Number("s", "of the spool; without it the spool follows at once"),
    "supply_pressure": Number("Pa", "of the pump"),
    "tank_pressure": Number("Pa", "of the tank; 1e5", "zero or more"),
    "vapour_pressure": Number("Pa", "that no pressure falls below; 0", "zero or more"),
    "flow_constant": Number("m³/(s √Pa)", "of the fully open valve"),
    "laminar_pressure": Number("Pa", "below which flow goes straight with pressure; 1e3"),
    "bulk_modulus": Number("Pa", "of the oil", needs=True),
    "leakage": Number("m³/(s Pa)", "between the chambers", "zero or more"),
    "damping": Number("N s/m", "of the seals", "zero or more"),
    "flow_gain": Number("m²/s", "of the linear form, with pressure_flow and volume"),
    "pressure_flow": Number("m³/(s Pa)", "of the linear form", "zero or more"),
    "pressure": Number("Pa", "to begin with", "zero or more"),
    "rod_pressure": Number("Pa", "to begin with, on the other side", "zero or more"),
}
AFFINE: dict[str, Number] = {
    "gain": Number("", "effort per input; 1", "any"),
    "gain_position": Number("", "what it gains per radian of the shaft", "any"),
    "gain_speed": Number("", "what it gains per radian per second", "any"),
    "bias": Number("N m", "effort without an input", "any"),
    "bias_position": Number("N m/rad", "what it gains per radian of the shaft", "any"),
    "bias_speed": Number("N m s/rad", "what it gains per radian per second", "any"),
    "input_lower": Number("", "least input", "any"),
    "input_upper": Number("", "largest input", "any"),
    "effort_lower": Number("N m", "least effort", "any"),
    "effort_upper": Number("N m", "largest effort", "any"),
    "filter_time": Number("s", "in which the effort follows the input; at once without it"),
    "integral_rate": Number("1/s", "the input acts through its integral, times this", "any"),
    "activation_lower": Number("", "least integral, or input behind the filter", "any"),
    "activation_upper": Number("", "largest integral, or input behind the filter", "any"),
    **ROTOR,
}
KINDS: dict[str, dict[str, Number]] = {
    "effort": {
        "effort": Number("N m", "largest"),
        "velocity": Number("rad/s", "at which nothing is left of it"),
        **ROTOR,
    },
    "affine": AFFINE,
    "dc-motor": MOTOR,
    "servo": {**MOTOR, **SERVO},
    "series-elastic": {"effort": Number("N m", "largest, of the motor"), **ROTOR},
    "hydraulic-cylinder": {
        "area": Number("m²", "of the piston", needs=True),
        "rod_area": Number("m²", "of its ring on the side of the rod; the same without it"),
        "volume": Number("m³", "dead volume behind the piston; of the linear form, both chambers"),
        "rod_volume": Number("m³", "dead volume on the side of the rod"),
        "stroke": Number("m", "from in to out"),
        "position": Number("m", "of the joint where the rod is in", "any"),
        **VALVE,
    },
    "hydraulic-motor": {
        "displacement": Number("m³/rad", "per radian of its shaft", needs=True),
        "volume": Number("m³", "of each chamber; of the linear form, both"),
        **ROTOR,
        **VALVE,
    },
}
SHEET: dict[str, Number] = {  # what a data sheet of a motor gives beside these
    "nominal_voltage": Number("V", "at which the sheet was written"),
    "no_load_speed": Number("rad/s", "at the nominal voltage"),
    "no_load_current": Number("A", "at the nominal voltage", "zero or more"),
    "stall_torque": Number("N m", "at the nominal voltage"),
    "stall_current": Number("A", "at the nominal voltage"),
    "speed_torque_gradient": Number("rad/s/(N m)", "how speed falls with torque"),
    "mechanical_time_constant": Number("s", "of the speed"),
    "winding_time_constant": Number("s", "of its temperature"),
    "housing_time_constant": Number("s", "of its temperature"),
}
