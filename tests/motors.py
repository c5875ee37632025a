"""Elements with internal states and inputs that are not in the library, and mechanisms with every kind of actuator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import kinpair as kp
from kinpair.algebra.arrays import array
from kinpair.forces.element import Element


@dataclass(frozen=True)
class Winding(Element):
    """A voltage u drives a current x through a resistance and an inductance; its torque acts on a rate.

    L ẋ = u − R x − k q̇,   τ = k x
    """

    name: str
    bodies: tuple[int, ...]
    v: int
    R: float = 1.6
    L: float = 0.02
    k: float = 8.0
    dissipates = True

    @property
    def x_names(self):
        return (f"{self.name}.current",)

    @property
    def x_units(self):
        return ("A",)

    @property
    def u_names(self):
        return (self.name,)

    @property
    def u_units(self):
        return ("V",)

    @property
    def drives(self):
        return (self.v,)

    def efforts(self, at):
        return {self.v: self.k * at.x[0]}

    def energy(self, at):
        return 0.5 * self.L * at.x[0] * at.x[0]

    def supply(self, at):
        return {f"{self.name}.voltage": at.u[0] * at.x[0]}

    def losses(self, at):
        return {f"{self.name}.copper": self.R * at.x[0] * at.x[0]}

    def rates(self, at):
        return array([(at.u[0] - self.R * at.x[0] - self.k * at.state.qd[self.v]) / self.L])


@dataclass(frozen=True)
class Bristle(Element):
    """A spring x that slips: an internal state without an input.   ẋ = q̇ − x |q̇| / g,   τ = −s x"""

    name: str
    bodies: tuple[int, ...]
    v: int
    s: float = 30.0
    g: float = 0.05
    dissipates = True

    @property
    def x_names(self):
        return (f"{self.name}.bristle",)

    def efforts(self, at):
        return {self.v: -self.s * at.x[0]}

    def energy(self, at):
        return 0.5 * self.s * at.x[0] * at.x[0]

    def losses(self, at):
        return {self.name: self.s * at.x[0] * at.x[0] * abs(at.state.qd[self.v]) / self.g}

    def rates(self, at):
        v = at.state.qd[self.v]
        return array([v - at.x[0] * abs(v) / self.g])


def with_elements(m: kp.Mechanism, *elements: Element) -> kp.Mechanism:
    """The mechanism with more that acts."""
    return kp.Mechanism(replace(m.model, added=elements), compiled=m.compiled)


def on_joint(m: kp.Mechanism, kind: type[Element], name: str, joint: str, **numbers: float) -> Element:
    """An element on the one rate of a joint."""
    model = m.model
    i = model.joint_names.index(joint)
    return kind(name, (model.parent[i], i), model.v_names.index(joint), **numbers)


@cache
def driven(name: str = "double-pendulum", joint: str = "shoulder", rubbed: str = "") -> kp.Mechanism:
    """An example with a motor in one joint, and a bristle in another."""
    m = kp.example(name)
    elements = [on_joint(m, Winding, "motor", joint)]
    if rubbed:
        elements.append(on_joint(m, Bristle, f"{rubbed}.friction", rubbed))
    return with_elements(m, *elements)


MOTOR = {"resistance": 1.6, "torque_constant": 0.26, "rotor_inertia": 1.4e-3, "damping": 1e-3}
LOSSES = {"friction": 0.02, "iron_damping": 2e-3, "iron_torque": 0.01, "stray": 1e-4, "brush_voltage": 0.8}
HEAT = {
    "winding_to_housing": 2.0,
    "housing_to_ambient": 4.0,
    "winding_capacity": 20.0,
    "housing_capacity": 300.0,
    "magnet_coefficient": -0.001,
}
OIL = {"supply_pressure": 7e6, "flow_constant": 1.2e-7, "bulk_modulus": 1.2e9, "damping": 300.0}
CYLINDER = {
    "area": 1e-3,
    "rod_area": 7e-4,
    "volume": 5e-5,
    "rod_volume": 4e-5,
    "stroke": 0.8,
    "position": -0.4,
}
CASCADE = {
    "position_gain": 8.0,
    "speed_gain": 3.0,
    "speed_time": 0.2,
    "current_gain": 4.0,
    "current_time": 0.01,
}
ELASTIC = {"ratio": 40.0, "stiffness": 900.0, "damping": 2.0}
KINDS = {
    "effort": ("effort", {"effort": 8.0, "velocity": 6.0}, {}),
    "affine": (
        "affine",
        {
            "gain": 80.0,
            "gain_speed": -0.5,
            "bias_position": -80.0,
            "bias_speed": -4.0,
            "effort_lower": -6.0,
            "effort_upper": 9.0,
        },
        {"ratio": 1.5},
    ),
    "affine filtered": (
        "affine",
        {
            "gain": 30.0,
            "bias": 1.0,
            "bias_speed": -2.0,
            "filter_time": 0.05,
            "input_lower": -0.5,
            "input_upper": 1.0,
        },
        {},
    ),
    "affine integral": (
        "affine",
        {
            "gain": 30.0,
            "bias_position": -30.0,
            "integral_rate": 4.0,
            "activation_lower": -0.2,
            "activation_upper": 0.3,
        },
        {},
    ),
    "dc-motor": ("dc-motor", {**MOTOR, "inductance": 2.2e-3}, {"ratio": 31.17}),
    "dc-motor at once": ("dc-motor", {**MOTOR, "brush_voltage": 0.7, "voltage": 20.0}, {"ratio": 31.17}),
    "dc-motor with losses": (
        "dc-motor",
        {**MOTOR, **LOSSES, **HEAT, "inductance": 2.2e-3, "voltage": 24.0, "current": 6.0},
        {"ratio": 31.17, "efficiency": 0.8},
    ),
    "dc-motor elastic": (
        "dc-motor",
        {**MOTOR, "inductance": 2.2e-3, "voltage_constant": 0.28},
        {**ELASTIC, "backlash": 2e-3, "efficiency": 0.9},
    ),
    "servo": ("servo", {**MOTOR, **CASCADE, "inductance": 2.2e-3, "voltage": 24.0, "current": 5.0}, ELASTIC),
    "servo without current loop": (
        "servo",
        {**MOTOR, "position_gain": 8.0, "speed_gain": 3.0, "current": 5.0},
        {"ratio": 40.0},
    ),
    "voltage servo": ("servo", {**MOTOR, "voltage_gain": 30.0, "voltage": 12.0}, {"ratio": 40.0}),
    "series-elastic": ("series-elastic", {"effort": 1.0, "rotor_inertia": 1e-3}, ELASTIC),
    "hydraulic-motor": (
        "hydraulic-motor",
        {**OIL, "displacement": 4e-6, "volume": 2e-5, "leakage": 1e-13, "valve_time": 3e-3, "damping": 0.05},
        {"ratio": 10.0},
    ),
    "linear cylinder": (
        "hydraulic-cylinder",
        {
            "area": 1e-3,
            "volume": 2e-4,
            "bulk_modulus": 1e9,
            "flow_gain": 0.5,
            "pressure_flow": 1e-12,
            "damping": 200.0,
            "valve_time": 3e-3,
        },
        {},
    ),
    "hydraulic-cylinder": (
        "hydraulic-cylinder",
        {**OIL, **CYLINDER, "leakage": 1e-13, "valve_time": 3e-3, "pressure": 3e6, "rod_pressure": 4e6},
        {},
    ),
}
SLIDES = ("linear cylinder", "hydraulic-cylinder")
AMPLITUDE = {"effort": 6.0, "servo": 0.6, "servo without current loop": 0.6, "voltage servo": 0.6}
AMPLITUDE |= {
    "affine": 0.3,
    "affine filtered": 0.5,
    "affine integral": 0.5,
    "series-elastic": 0.5,
    "hydraulic-motor": 0.3,
    "linear cylinder": 2e-4,
    "hydraulic-cylinder": 0.3,
}


@cache
def swing(case: str) -> kp.Mechanism:
    """A double pendulum, or a mass on a slide with a pendulum, whose first joint has the actuator."""
    kind, numbers, gear = KINDS[case]
    slides = case in SLIDES
    builder = kp.Builder(case, gravity=(0.0, -9.81, 0.0))
    builder.link("first", mass=50.0 if slides else 2.0, com=(0.0, -0.2, 0.0), inertia=(0.1, 0.1, 0.1))
    builder.link("second", mass=1.0, com=(0.0, -0.3, 0.0), inertia=(0.02, 0.02, 0.02))
    builder.joint(
        "drive", "prismatic" if slides else "revolute", "ground", "first", axis="x" if slides else "z"
    )
    builder.joint("swing", "revolute", "first", "second", xyz=(0.0, -0.4, 0.0), axis="z", actuated=False)
    builder.actuator("motor", "drive", kind, **numbers, **({"gear": gear} if gear else {}))
    return kp.build(builder.description())
