"""An actuator in a joint: a control, a machine and a gear as one element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.actuators.control import Cascade, Direct, Seen, Voltage
from kinpair.forces.actuators.gear import ElasticGear, RigidGear, Transmitted
from kinpair.forces.actuators.machine import Machine, Port, Shaft, Work
from kinpair.forces.element import Element, Instant
from kinpair.model.state import NOTHING

Gear: TypeAlias = RigidGear | ElasticGear
Control: TypeAlias = Direct | Cascade | Voltage


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
