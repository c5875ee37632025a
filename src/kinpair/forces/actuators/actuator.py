"""An actuator in a joint: a control, a machine and a gear as one element; a row for each kind of a description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeAlias, final

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.actuators.control import Cascade, Direct, Seen, Voltage
from kinpair.forces.actuators.dc_motor import DCMotor, Thermal
from kinpair.forces.actuators.gear import ElasticGear, Mesh, RigidGear, Transmitted
from kinpair.forces.actuators.hydraulic import Hydraulic, LinearHydraulic, Valve
from kinpair.forces.actuators.machine import (
    Affine,
    Coefficients,
    LimitedEffort,
    Limits,
    Machine,
    Port,
    Shaft,
    Work,
)
from kinpair.forces.element import Element, Instant
from kinpair.model.actuator_data import GEAR, ActuatorData
from kinpair.model.model import Model
from kinpair.model.state import NOTHING
from kinpair.model.units import units

Gear: TypeAlias = RigidGear | ElasticGear
Control: TypeAlias = Direct | Cascade | Voltage
Numbers: TypeAlias = Mapping[str, Scalar]
TANK = 1e5  # [Pa]
OF_MOTOR = tuple(
    field.name for field in fields(DCMotor) if field.name != "thermal"
)  # fields that go by the names of their keys


class Parts(NamedTuple):
    """Internal states of machine, gear and control."""

    machine: Vector
    gear: Vector
    control: Vector


class Doing(NamedTuple):
    """Forces and rates of all parts at a moment."""

    work: Work
    transmitted: Transmitted
    rates: tuple[Scalar, ...]
    switches: dict[str, Scalar]


@final
@dataclass(frozen=True, slots=True)
class Actuator(Element):
    """Drives rate `v`; `q` is the coordinate that the rate is of."""

    name: str
    bodies: tuple[int, ...]
    v: int
    q: int
    machine: Machine
    gear: Gear
    control: Control
    unit: str
    dissipates = True

    @property
    def _ports(self) -> tuple[Port, ...]:
        return (*self.machine.states, *self.gear.states, *self.control.states)

    @property
    def x_names(self) -> tuple[str, ...]:
        """Names of the states of machine, gear and control, behind that of the actuator."""
        return tuple(f"{self.name}.{port.name}" for port in self._ports)

    @property
    def x_units(self) -> tuple[str, ...]:
        """Units of the internal states."""
        return tuple(port.unit for port in self._ports)

    @property
    def x_start(self) -> tuple[Scalar, ...]:
        """Start of the internal states at rest."""
        return tuple(port.start for port in self._ports)

    def x_begin(self, at: Instant) -> tuple[Scalar, ...]:
        """A rotor turns with its joint."""
        machine, control = (tuple(p.start for p in part.states) for part in (self.machine, self.control))
        return (*machine, *self.gear.start(at.state.qd[self.v]), *control)

    @property
    def x_scale(self) -> tuple[float, ...]:
        """Sizes of the internal states."""
        return tuple(port.scale for port in self._ports)

    @property
    def x_lower(self) -> tuple[Scalar, ...]:
        """Below which they do not fall."""
        return tuple(port.lower for port in self._ports)

    @property
    def u_names(self) -> tuple[str, ...]:
        """Name of the one input: by the name of the actuator."""
        return (self.name,)

    @property
    def u_units(self) -> tuple[str, ...]:
        """Unit of the input of the control, or of the machine."""
        return (self.unit,)

    @property
    def drives(self) -> tuple[int, ...]:
        """Rate that it drives."""
        return (self.v,)

    @property
    def jumps(self) -> bool:
        """Switching values where limits are reached, teeth touch or valves open."""
        return True

    def parts(self, x: Vector) -> Parts:
        """The internal states, part by part."""
        machine = len(self.machine.states)
        gear = machine + len(self.gear.states)
        spans = (slice(0, machine), slice(machine, gear), slice(gear, None))
        return Parts(*(x[span] if len(x) else NOTHING for span in spans))

    def doing(self, at: Instant) -> Doing:
        """Compute what the parts do."""
        x, q, qd = self.parts(at.x), at.state.q[self.q], at.state.qd[self.v]
        shaft = self.gear.shaft(x.gear, q, qd)
        seen = Seen(shaft.position / self.gear.ratio, shaft.speed / self.gear.ratio, shaft, x.machine)
        command = self.control.command(x.control, at.u[0], seen)
        work = self.machine.work(x.machine, command.value, shaft)
        transmitted = self.gear.transmitted(x.gear, work, qd, shaft.speed)
        rates = (*work.rates, *transmitted.rates, *command.rates)
        return Doing(work, transmitted, rates, {**work.switches, **transmitted.switches, **command.switches})

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """Efforts on the joint [N m] or [N]."""
        return {self.v: self.doing(at).transmitted.effort}

    def energy(self, at: Instant) -> Scalar:
        """Energy of the machine and of the gear; that of a rigid rotor is kinetic energy of the mechanism."""
        doing = self.doing(at)
        return doing.work.energy + doing.transmitted.energy

    def supply(self, at: Instant) -> Mapping[str, Scalar]:
        """Power supplied to the machine [W]."""
        return self._named(self.doing(at).work.supply)

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """Losses of the machine and of the gear [W]."""
        doing = self.doing(at)
        return self._named({**doing.work.losses, **doing.transmitted.losses})

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """Switching functions of all parts."""
        return {f"{self.name}: {name}": value for name, value in self.doing(at).switches.items()}

    def rates(self, at: Instant) -> Vector:
        """Rates of all internal states."""
        rates = self.doing(at).rates
        return array(list(rates)) if rates else NOTHING

    def shaft(self, at: Instant) -> Shaft:
        """Motion of its shaft."""
        return self.gear.shaft(self.parts(at.x).gear, at.state.q[self.q], at.state.qd[self.v])

    def _named(self, powers: Mapping[str, Scalar]) -> dict[str, Scalar]:
        return {f"{self.name}.{name}": power for name, power in powers.items()}


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
