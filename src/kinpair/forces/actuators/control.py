"""Controllers between the input of an actuator and its machine.

A servo as industrial arms have it (position P, speed PI, current PI, each with its limit):

    e = K_p (r − q) − q̇,          i_r = clip(K_v e + s_v, ±i_max),   ṡ_v = K_v e/T_v + (i_r − K_v e − s_v)/T_v    (SV1)
    v = clip(K_i (i_r − i) + s_i, ±u_max),   ṡ_i = K_i (i_r − i)/T_i + (v − K_i (i_r − i) − s_i)/T_i              (SV2)

The last terms take back what a limit cut off, so that nothing winds up. Without an inductance the current follows at
once: v = R i_r + k_e ω. A servo of a toy: v = clip(K (r − q) − D q̇, ±u_max).                                   (SV3)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.forces.actuators.dc_motor import DCMotor
from kinpair.forces.actuators.machine import Port, Shaft, clipped


class Command(NamedTuple):
    """The command of the machine, rates of the controller's states, and where it switches."""

    value: Scalar
    rates: tuple[Scalar, ...] = ()
    switches: dict[str, Scalar] = {}  # noqa: RUF012


class Seen(NamedTuple):
    """Measurements of a controller: joint position and rate as its sensor on the shaft has them, and the machine's
    states."""

    position: Scalar
    rate: Scalar
    shaft: Shaft
    x: Vector


@final
@dataclass(frozen=True, slots=True)
class Direct:
    """The input is the command."""

    unit: str = ""

    @property
    def states(self) -> tuple[Port, ...]:
        """Names of states: none."""
        return ()

    def command(self, x: Vector, u: Scalar, seen: Seen) -> Command:
        """Command: the input u."""
        return Command(u)


@final
@dataclass(frozen=True, slots=True)
class Cascade:
    """Position, speed and current; the input is the position that is wanted."""

    motor: DCMotor
    position_gain: Scalar
    speed_gain: Scalar  # [A s/rad] at the joint
    speed_time: Scalar | None
    current_gain: Scalar
    current_time: Scalar | None
    current: Scalar | None
    unit: str = "rad"

    @property
    def states(self) -> tuple[Port, ...]:
        """Integrals of the speed and of the current controller."""
        speed = () if self.speed_time is None else (Port("speed_integral", "A"),)
        inner = self.motor.inductance is not None and self.current_time is not None
        return (*speed, *((Port("current_integral", "V"),) if inner else ()))

    def command(self, x: Vector, u: Scalar, seen: Seen) -> Command:
        """v.    (SV1), (SV2)"""
        error = self.position_gain * (u - seen.position) - seen.rate
        raw, s_v = self.speed_gain * error, (0.0 if self.speed_time is None else x[0])
        wanted = raw + s_v
        i_r = wanted if self.current is None else clipped(wanted, -self.current, self.current)
        rates: tuple[Scalar, ...] = ()
        if self.speed_time is not None:
            rates = ((raw + i_r - wanted) / self.speed_time,)  # (SV1)
        switches: dict[str, Scalar] = {}
        if self.current is not None:
            switches = {"at most current wanted": self.current - wanted, "at least": self.current + wanted}
        R, _, k_e = self.motor.magnet(seen.x)
        if self.motor.inductance is None:
            return Command(R * i_r + k_e * seen.shaft.speed, rates, switches)
        lack = self.current_gain * (i_r - seen.x[0])
        v = lack if self.current_time is None else lack + x[-1]
        if self.current_time is None:
            return Command(v, rates, switches)
        applied = self.motor.applied(v)
        return Command(v, (*rates, (lack + applied - v) / self.current_time), switches)  # (SV2)


@final
@dataclass(frozen=True, slots=True)
class Voltage:
    """Voltage in proportion to the error; the input is the position that is wanted."""

    gain: Scalar  # [V/rad]
    damping: Scalar = 0.0  # [V s/rad]
    unit: str = "rad"

    @property
    def states(self) -> tuple[Port, ...]:
        """Names of states: none."""
        return ()

    def command(self, x: Vector, u: Scalar, seen: Seen) -> Command:
        """Voltage v of the command.    (SV3)"""
        return Command(self.gain * (u - seen.position) - self.damping * seen.rate)  # (SV3)


def nothing() -> Vector:
    """Return no states."""
    return np.zeros(0)
