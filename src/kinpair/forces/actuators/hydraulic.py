"""A cylinder or motor of oil behind a valve with four edges.

    τ_v ẋ_v = −x_v + clip(u, ±1)                                                             (HY1)
    Q_a = K x_v r(p_s − p_a),  Q_b = K x_v r(p_b − p_t)          x_v > 0:  a from the pump, b to the tank      (HY2)
    Q_a = K x_v r(p_a − p_t),  Q_b = K x_v r(p_s − p_b)          x_v < 0;  r(p) = sign(p) √|p|               (HY3)
    V_a = V_a0 + A_a y,   V_b = V_b0 + A_b (y_max − y)           of a motor: constant, A in m³ a radian      (HY4)
    ṗ_a = β (Q_a − A_a ẏ − Q_l)/V_a,   ṗ_b = β (Q_l + A_b ẏ − Q_b)/V_b,   Q_l = C (p_a − p_b)                (HY5)
    F = A_a p_a − A_b p_b − b ẏ                                                                              (HY6)
    E = V ε(p),   ε = β (e^z − 1 − z),   z = p/β                 what compressed oil stores                  (HY7)
    Q π(p),   π = p + ε                                          what a flow brings into a chamber [W]       (HY8)

(HY8) follows from (HY5) and (HY7): d(Vε)/dt = Q π − p V̇. A pressure does not fall below that of vapour. The oil that a
motor displaces takes ε(p_a) − ε(p_b) along, which is booked as a loss of displacement.

The linear form, with the load pressure p as the one of both chambers:

    (V/4β) ṗ = −A ẏ − K_ce p + K_q x_v,   F = A p − b ẏ                                                      (HY9)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.algebra.choice import less, where
from kinpair.forces.actuators.machine import Machine, Port, Shaft, Work, clipped, soft_root

SERIES = (1.0, 1 / 3, 1 / 12, 1 / 60, 1 / 360, 1 / 2520, 1 / 20160, 1 / 181440)  # of 2 ε β / p², in z
BAR = 1e5  # [Pa]


@final
@dataclass(frozen=True, slots=True)
class Valve:
    """The spool: its time constant, or None where it follows at once."""

    time: Scalar | None

    @property
    def states(self) -> tuple[Port, ...]:
        """Name of the opening."""
        return () if self.time is None else (Port("valve", ""),)

    def opening(self, x: Vector, command: Scalar) -> Scalar:
        """Opening x_v of the valve."""
        return command if self.time is None else x[-1]

    def rates(self, x: Vector, command: Scalar) -> tuple[Scalar, ...]:
        """Rate ẋ_v of the opening.    (HY1)"""
        return () if self.time is None else ((command - x[-1]) / self.time,)


def stored(p: Scalar, beta: Scalar) -> Scalar:
    """Stored energy ε [J].    (HY7)"""
    z = p / beta
    total: Scalar = 0.0
    for term in reversed(SERIES):
        total = total * z + term
    return 0.5 * p * z * total


def carried(p: Scalar, beta: Scalar) -> Scalar:
    """Power π carried by oil [W].    (HY8)"""
    return p + stored(p, beta)


@final
@dataclass(frozen=True, slots=True)
class Hydraulic(Machine):
    """Two chambers. `stroke` is None for a motor, whose volumes do not change."""

    area: Scalar
    area_rod: Scalar
    volume: Scalar
    volume_rod: Scalar
    flow_constant: Scalar  # K [m³/(s √Pa)]
    supply: Scalar
    tank: Scalar
    bulk_modulus: Scalar
    leakage: Scalar = 0.0
    damping: Scalar = 0.0
    stroke: Scalar | None = None
    position: Scalar = 0.0  # of the joint where the rod is in
    vapour: Scalar = 0.0
    laminar: Scalar = 1e3
    pressure: Scalar = 0.0
    pressure_rod: Scalar = 0.0
    valve: Valve = Valve(None)
    unit = ""

    @property
    def states(self) -> tuple[Port, ...]:
        """Both pressures, and the opening of the valve."""
        pressures = (
            Port("pressure", "Pa", self.pressure, BAR, self.vapour),
            Port("rod_pressure", "Pa", self.pressure_rod, BAR, self.vapour),
        )
        return (*pressures, *self.valve.states)

    def volumes(self, shaft: Shaft) -> tuple[Scalar, Scalar]:
        """V_a, V_b.    (HY4)"""
        if self.stroke is None:
            return self.volume, self.volume_rod
        y = shaft.position - self.position
        return self.volume + self.area * y, self.volume_rod + self.area_rod * (self.stroke - y)  # (HY4)

    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """All of it."""
        p_a, p_b, beta, speed = x[0], x[1], self.bulk_modulus, shaft.speed
        bounded = clipped(command, -1.0, 1.0)
        x_v = self.valve.opening(x, bounded)
        out = less(0.0, x_v)
        from_a = where(out, self.supply, self.tank)  # what chamber a is joined to
        from_b = where(out, self.tank, self.supply)
        gain, sense = self.flow_constant * x_v, where(out, 1.0, -1.0)
        Q_a = gain * sense * soft_root(from_a - p_a, self.laminar)  # (HY2), (HY3)
        Q_b = gain * sense * soft_root(p_b - from_b, self.laminar)
        Q_l = self.leakage * (p_a - p_b)
        V_a, V_b = self.volumes(shaft)
        in_a, in_b = Q_a - Q_l, Q_l - Q_b
        rate_a = self._limited(p_a, beta * (in_a - self.area * speed) / V_a)  # (HY5)
        rate_b = self._limited(p_b, beta * (in_b + self.area_rod * speed) / V_b)
        pi_a, pi_b = carried(p_a, beta), carried(p_b, beta)
        pi_s, pi_t = carried(self.supply, beta), carried(self.tank, beta)
        void_a = pi_a * (in_a - self.area * speed - V_a * rate_a / beta)
        void_b = pi_b * (in_b + self.area_rod * speed - V_b * rate_b / beta)
        from_pump = pi_s * where(out, Q_a, -Q_b)
        to_tank = pi_t * where(out, Q_b, -Q_a)
        losses = {
            "valve": where(out, pi_s - pi_a, pi_t - pi_a) * Q_a + where(out, pi_b - pi_t, pi_b - pi_s) * Q_b,
            "leakage": (pi_a - pi_b) * Q_l,
            "friction": self.damping * speed * speed,
            "cavitation": void_a + void_b,
        }
        if self.stroke is None:
            losses["displacement"] = (pi_a - p_a) * self.area * speed - (pi_b - p_b) * self.area_rod * speed
        return Work(
            self.area * p_a - self.area_rod * p_b - self.damping * speed,  # (HY6)
            (rate_a, rate_b, *self.valve.rates(x, bounded)),
            V_a * stored(p_a, beta) + V_b * stored(p_b, beta),  # (HY7)
            {"pump": from_pump, "tank": -to_tank},
            losses,
            {
                "valve opens": x_v,
                "vapour": p_a - self.vapour,
                "vapour at the rod": p_b - self.vapour,
                "fully open": 1.0 - command,
                "fully open back": 1.0 + command,
            },
        )

    def _limited(self, p: Scalar, rate: Scalar) -> Scalar:
        """A pressure at that of vapour falls no further."""
        return where(less(p, self.vapour), where(less(rate, 0.0), 0.0, rate), rate)


@final
@dataclass(frozen=True, slots=True)
class LinearHydraulic(Machine):
    """The form that books linearise to, with the valve in metres or parts of its stroke.    (HY9)"""

    area: Scalar
    volume: Scalar
    bulk_modulus: Scalar
    flow_gain: Scalar
    pressure_flow: Scalar
    damping: Scalar = 0.0
    valve: Valve = Valve(None)
    unit = ""

    @property
    def states(self) -> tuple[Port, ...]:
        """The load pressure, and the opening of the valve."""
        return (Port("pressure", "Pa", 0.0, BAR), *self.valve.states)

    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """F and ṗ.    (HY9)"""
        p, x_v, C = x[0], self.valve.opening(x, command), self.volume / (4.0 * self.bulk_modulus)
        rate = (self.flow_gain * x_v - self.area * shaft.speed - self.pressure_flow * p) / C  # (HY9)
        return Work(
            self.area * p - self.damping * shaft.speed,
            (rate, *self.valve.rates(x, command)),
            0.5 * C * p * p,
            {"pump": self.flow_gain * x_v * p},
            {"leakage": self.pressure_flow * p * p, "friction": self.damping * shaft.speed * shaft.speed},
        )
