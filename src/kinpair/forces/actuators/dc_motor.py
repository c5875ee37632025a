"""A motor with a winding: brushed, or a brushless one as its controller sees it in the axes of the rotor.

    L di/dt = v − R i − k_e ω − v_b                      v = clip(u, ±u_max);   L → 0: i = (v − k_e ω − v_b)/R    (DM1)
    τ = k_t i − τ_f − τ_i − τ_s                          on the shaft; its inertia is the gear's affair         (DM2)
    R = R₀ (1 + α (T_w − 20)),   k = k₀ (1 + α_m (T_h − 20))                                                    (DM3)
    v_b = V_b tanh(i/i_b)                                brushes;  L → 0: V_b tanh((v − k_e ω)/V_b)             (DM4)
    τ_f = b ω + τ_c s,   τ_i = b_i ω + τ_h s,   τ_s = c_s i² ω         bearings, iron, stray;  s = tanh(ω/ω_s)  (DM5)
    C_w Ṫ_w = R i² + v_b i − (T_w − T_h)/R_wh                                                                   (DM6)
    C_h Ṫ_h = (T_w − T_h)/R_wh + τ_i ω + τ_s ω − (T_h − T_a)/R_ha                                               (DM7)

At its largest current the controller takes back voltage until di/dt = 0. v is what is left, and v i the power taken
from the source; with k_t ≠ k_e, (k_e − k_t) i ω goes nowhere and is booked as a loss of conversion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.algebra.choice import less, where
from kinpair.forces.actuators.machine import Machine, Port, Shaft, Work, clipped, soft_sign

ROOM = 20.0  # °C, of data sheets


@final
@dataclass(frozen=True, slots=True)
class Thermal:
    """Winding and housing: resistances [K/W], capacities [J/K], and the temperature around [°C]."""

    to_housing: Scalar
    to_ambient: Scalar
    winding: Scalar
    housing: Scalar
    ambient: Scalar


class Magnet(NamedTuple):
    """R, k_t and k_e at a temperature."""

    R: Scalar
    k_t: Scalar
    k_e: Scalar


@final
@dataclass(frozen=True, slots=True)
class DCMotor(Machine):
    """Absent numbers are None: then there is no such limit, loss or state."""

    resistance: Scalar
    torque_constant: Scalar
    voltage_constant: Scalar | None = None
    inductance: Scalar | None = None
    voltage: Scalar | None = None
    current: Scalar | None = None
    damping: Scalar = 0.0
    friction: Scalar = 0.0
    friction_speed: Scalar = 1.0
    iron_damping: Scalar = 0.0
    iron_torque: Scalar = 0.0
    stray: Scalar = 0.0
    brush_voltage: Scalar = 0.0
    brush_current: Scalar = 0.1
    copper_coefficient: Scalar = 0.00393
    magnet_coefficient: Scalar = 0.0
    temperature: Scalar = ROOM
    thermal: Thermal | None = None
    unit = "V"

    @property
    def states(self) -> tuple[Port, ...]:
        """Current, and temperatures of winding and housing."""
        current = () if self.inductance is None else (Port("current", "A"),)
        if self.thermal is None:
            return current
        warm = [Port(f"{part}_temperature", "°C", self.thermal.ambient) for part in ("winding", "housing")]
        return (*current, *warm)

    def magnet(self, x: Vector) -> Magnet:
        """R, k_t, k_e.    (DM3)"""
        T_w, T_h = x[-2:] if self.thermal is not None else (self.temperature, self.temperature)
        R = self.resistance * (1.0 + self.copper_coefficient * (T_w - ROOM))
        weak = 1.0 + self.magnet_coefficient * (T_h - ROOM)
        k_e = self.torque_constant if self.voltage_constant is None else self.voltage_constant
        return Magnet(R, self.torque_constant * weak, k_e * weak)  # (DM3)

    def drag(self, i: Scalar, speed: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """τ_f, τ_i, τ_s.    (DM5)"""
        s = soft_sign(speed, self.friction_speed)
        return (
            self.damping * speed + self.friction * s,
            self.iron_damping * speed + self.iron_torque * s,
            self.stray * i * i * speed,
        )

    def applied(self, command: Scalar) -> Scalar:
        """The voltage within its limits."""
        return command if self.voltage is None else clipped(command, -self.voltage, self.voltage)

    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """All of it."""
        R, k_t, k_e = self.magnet(x)
        i, rate, v, brush, switches = self._electric(x, self.applied(command), R, k_e * shaft.speed)
        friction, iron, stray = self.drag(i, shaft.speed)
        losses = {
            "copper": R * i * i,
            "brush": brush * i,
            "friction": friction * shaft.speed,
            "iron": iron * shaft.speed,
            "stray": stray * shaft.speed,
        }
        if self.voltage_constant is not None:
            losses["conversion"] = (k_e - k_t) * i * shaft.speed
        if self.voltage is not None:
            switches = {
                **switches,
                "at the largest voltage": self.voltage - command,
                "at the least voltage": command + self.voltage,
            }
        return Work(
            k_t * i - friction - iron - stray,  # (DM2)
            (*rate, *self.warming(x, losses)),
            0.0 if self.inductance is None else 0.5 * self.inductance * i * i,
            {"source": v * i},
            {name: power for name, power in losses.items() if self._has(name)},
            switches,
        )

    def _has(self, loss: str) -> bool:
        """True if there is such a loss."""
        numbers = {
            "brush": (self.brush_voltage,),
            "friction": (self.damping, self.friction),
            "iron": (self.iron_damping, self.iron_torque),
            "stray": (self.stray,),
        }
        return loss not in numbers or any(not _is_zero(x) for x in numbers[loss])

    def _electric(
        self, x: Vector, v: Scalar, R: Scalar, induced: Scalar
    ) -> tuple[Scalar, tuple[Scalar, ...], Scalar, Scalar, dict[str, Scalar]]:
        """Current, its rate, the voltage that is left, the drop at the brushes, and where it switches."""
        limit = self.current
        if self.inductance is None:
            free = v - induced
            drop = self._brush(free, self.brush_voltage)  # never more than there is
            i = (free - drop) / R  # (DM1)
            if limit is not None:
                i = clipped(i, -limit, limit)
            return i, (), R * i + induced + drop, drop, {}
        i = x[0]
        drop = self._brush(i, self.brush_current)
        rate = (v - R * i - induced - drop) / self.inductance  # (DM1)
        if limit is None:
            return i, (rate,), v, drop, {}
        kept = where(less(limit, i), _not_above(rate), where(less(i, -limit), _not_below(rate), rate))
        left = R * i + induced + drop + self.inductance * kept
        return (
            i,
            (kept,),
            left,
            drop,
            {"at the largest current": limit - i, "at the least current": i + limit},
        )

    def _brush(self, x: Scalar, width: Scalar) -> Scalar:
        """Voltage v_b of the brushes.    (DM4)"""
        if _is_zero(self.brush_voltage):
            return 0.0
        return self.brush_voltage * soft_sign(x, width)  # (DM4)

    def warming(self, x: Vector, losses: dict[str, Scalar]) -> tuple[Scalar, ...]:
        """Ṫ_w, Ṫ_h.    (DM6), (DM7)"""
        t = self.thermal
        if t is None:
            return ()
        T_w, T_h = x[-2:]
        across, out = (T_w - T_h) / t.to_housing, (T_h - t.ambient) / t.to_ambient
        winding = (losses["copper"] + losses["brush"] - across) / t.winding  # (DM6)
        return winding, (across + losses["iron"] + losses["stray"] - out) / t.housing  # (DM7)


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, float | int) and x == 0.0


def _not_above(x: Scalar) -> Scalar:
    return where(less(0.0, x), 0.0, x)


def _not_below(x: Scalar) -> Scalar:
    return where(less(x, 0.0), 0.0, x)
