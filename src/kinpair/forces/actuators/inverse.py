"""Conversion of the motion of a joint and the effort on it to the input of its actuator: samples over time, numbers
only.

The chain is gone back: gear, machine, valve. What is needed of derivatives in time comes from splines through the
samples; states without a say in the effort, such as temperatures and the sum of two pressures, are integrated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.forces.actuators.actuator import Actuator
from kinpair.forces.actuators.dc_motor import DCMotor
from kinpair.forces.actuators.gear import ElasticGear
from kinpair.forces.actuators.hydraulic import Hydraulic, LinearHydraulic, Valve
from kinpair.forces.actuators.machine import Affine, LimitedEffort, Limits, Shaft, soft_root

DEGREE = 5  # of the splines
NEWTON, TERMS = 30, 4


class Exceeded(NamedTuple):
    """A limit that a motion needs more than: of which actuator and joint, what, when [s], how much, and the limit."""

    actuator: str
    joint: str
    what: str
    time: float
    value: float
    limit: float

    def __str__(self) -> str:
        beyond = abs(abs(self.value) - self.limit) if self.limit > 0.0 else abs(self.value - self.limit)
        more = f"{100.0 * beyond / abs(self.limit):.3g} % " if self.limit else ""
        return (
            f"{self.actuator!r} of joint {self.joint!r} needs {self.what} {self.value:.4g} at t = {self.time:.4g} s, "
            f"{more}beyond its limit {self.limit:.4g}"
        )


class Bounded(NamedTuple):
    """Values (n,) that limits bound, and the limits, of which either may be infinite."""

    value: np.ndarray
    lower: float
    upper: float

    def worst(self, actuator: str, joint: str, what: str, time: np.ndarray) -> Exceeded | None:
        """Place where it is farthest beyond a limit."""
        above, below = self.value - self.upper, self.lower - self.value
        k = int(np.argmax(np.maximum(above, below)))
        if max(above[k], below[k]) <= 0.0:
            return None
        limit = self.upper if above[k] > 0.0 or self.lower == -self.upper else self.lower
        return Exceeded(actuator, joint, what, float(time[k]), float(self.value[k]), limit)


def evenly(value: np.ndarray, limit: Any) -> Bounded:
    """Make limits symmetric, up and down."""
    return Bounded(value, -float(limit), float(limit))


@dataclass(frozen=True, eq=False)
class Samples:
    """A joint over time (n,): position, rate, and the effort on it."""

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    effort: np.ndarray

    def rate(self, y: np.ndarray) -> np.ndarray:
        """dy/dt of samples (n,)."""
        from scipy.interpolate import make_interp_spline  # it takes its time

        return make_interp_spline(self.time, y, k=DEGREE)(self.time, 1)

    def integrated(self, f: Callable[[int, np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
        """y (n, k) of ẏ = f(sample, y), by Heun's method from sample to sample."""
        y = np.empty((len(self.time), len(start)))
        y[0] = start
        for k, dt in enumerate(np.diff(self.time)):
            first = f(k, y[k])
            y[k + 1] = y[k] + 0.5 * dt * (first + f(k + 1, y[k] + dt * first))
        return y


class Inverted(NamedTuple):
    """The command (n,), internal states (n, k), and what limits bound, by name."""

    command: np.ndarray
    x: np.ndarray
    bounded: dict[str, Bounded]


def inverted(actuator: Actuator, s: Samples) -> Inverted:
    """The input that makes the effort, and the internal states in between."""
    gear: Any = actuator.gear
    if isinstance(gear, ElasticGear):
        torque, shaft, own = _through_spring(gear, s)
    else:
        torque = _before_teeth(gear.mesh, s.effort / gear.ratio, gear.ratio * s.qd)
        shaft, own = Shaft(gear.ratio * s.q, gear.ratio * s.qd), np.zeros((len(s.time), 0))
    result = MACHINES[type(actuator.machine)](actuator.machine, torque, shaft, s)
    return result._replace(x=np.hstack([result.x, own]))


def _before_teeth(mesh: Any, torque: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """τ of τ − ℓ(τ, ω) = torque: ℓ is a part of |τ|."""
    if mesh.efficiency is None:
        return torque
    part = np.array([mesh.loss(np.sign(t), w) for t, w in zip(torque, speed, strict=True)]) * np.sign(torque)
    return torque / (1.0 - part)


def _through_spring(gear: ElasticGear, s: Samples) -> tuple[np.ndarray, Shaft, np.ndarray]:
    """Torque of the machine, the motion of its shaft, and the gear's states (n, 2)."""
    N, K, c = gear.ratio, gear.stiffness, gear.damping
    half = 0.0 if gear.backlash is None else 0.5 * gear.backlash
    stretch = s.effort / K
    for _ in range(TERMS if c else 0):  # K δ + c δ̇ = effort, as a series in c/K
        stretch = (s.effort - c * s.rate(stretch)) / K
    twist = stretch + half * np.sign(s.effort)
    speed = N * (s.qd + s.rate(stretch))
    torque = gear.inertia * s.rate(speed) + s.effort / N
    lost = [gear.mesh.loss(t / N, w) for t, w in zip(s.effort, speed, strict=True)]
    return torque + np.array(lost), Shaft(N * (s.q + twist), speed), np.stack([twist, speed], axis=1)


def _effort(machine: LimitedEffort, torque: np.ndarray, shaft: Shaft, s: Samples) -> Inverted:
    bounded: dict[str, Bounded] = {}
    if machine.effort is not None:
        left = (
            1.0
            if machine.velocity is None
            else np.clip(1 - np.sign(torque) * shaft.speed / machine.velocity, 1e-9, 1)
        )
        bounded["an effort of"] = evenly(torque / left, machine.effort)
    return Inverted(torque, np.zeros((len(torque), 0)), bounded)


def _affine(machine: Affine, torque: np.ndarray, shaft: Shaft, s: Samples) -> Inverted:
    activation = (torque - machine.bias.at(shaft)) / machine.gain.at(shaft)
    command, own = activation, activation[:, None] if machine.states else np.zeros((len(torque), 0))
    if machine.filter_time is not None:
        command = activation + machine.filter_time * s.rate(activation)
    elif machine.integral_rate is not None:
        command = s.rate(activation) / machine.integral_rate
    limits = {
        "an input of": (command, machine.inputs),
        "an activation of": (activation, machine.activations),
        "an effort of": (torque, machine.efforts),
    }
    return Inverted(command, own, {what: _limited(*x) for what, x in limits.items()})


def _limited(value: np.ndarray, limits: Limits) -> Bounded:
    lower = -np.inf if limits.lower is None else float(limits.lower)
    return Bounded(value, lower, np.inf if limits.upper is None else float(limits.upper))


def _motor(machine: DCMotor, torque: np.ndarray, shaft: Shaft, s: Samples) -> Inverted:
    speed, t = shaft.speed, machine.thermal
    heat = np.zeros((len(torque), 0))
    if t is not None:  # winding and housing first: they change R and k

        def warming(k: int, x: np.ndarray) -> np.ndarray:
            magnet = machine.magnet(x)
            i = _current(machine, magnet.k_t, torque[k : k + 1], speed[k : k + 1])
            _, iron, stray = (np.asarray(part) for part in machine.drag(i, speed[k : k + 1]))
            losses = {
                "copper": magnet.R * i * i,
                "brush": 0.0 * i,
                "iron": iron * speed[k],
                "stray": stray * speed[k],
            }
            return np.concatenate([np.atleast_1d(x) for x in machine.warming(x, losses)])

        heat = s.integrated(warming, np.array([t.ambient, t.ambient], dtype=float))
    R, k_t, k_e = machine.magnet(heat.T if t is not None else np.zeros(0))
    i = _current(machine, k_t, torque, speed)
    u = R * i + k_e * speed
    if machine.inductance is not None:
        u = u + machine.inductance * s.rate(i) + machine.brush_voltage * np.tanh(i / machine.brush_current)
    elif machine.brush_voltage:
        u = _before_brushes(R * i, float(machine.brush_voltage)) + k_e * speed
    bounded: dict[str, Bounded] = {}
    if machine.voltage is not None:
        bounded["a voltage of"] = evenly(u, machine.voltage)
    if machine.current is not None:
        bounded["a current of"] = evenly(i, machine.current)
    own = np.zeros((len(i), 0)) if machine.inductance is None else i[:, None]
    return Inverted(u, np.hstack([own, heat]), bounded)


def _current(machine: DCMotor, k_t: Any, torque: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """i of k_t i − drag(i, ω) = τ, by Newton's method."""
    i = torque / k_t
    for _ in range(NEWTON):
        step = (k_t * i - sum(machine.drag(i, speed)) - torque) / (k_t - 2.0 * machine.stray * i * speed)
        i = i - step
        if np.abs(step).max(initial=0.0) <= 1e-15 * (1.0 + np.abs(i).max(initial=0.0)):
            break
    return i


def _before_brushes(rest: np.ndarray, drop: float) -> np.ndarray:
    """f of f − V_b tanh(f/V_b) = rest, by Newton's method from beyond."""
    f = rest + drop * np.sign(rest)
    for _ in range(NEWTON):
        slope = np.maximum(np.tanh(f / drop) ** 2, 1e-3)
        f = f - (f - drop * np.tanh(f / drop) - rest) / slope
    return f


def _opened(valve: Valve, opening: np.ndarray, s: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Command and states of a valve that is to open so far."""
    if valve.time is None:
        return opening, np.zeros((len(opening), 0))
    return opening + valve.time * s.rate(opening), opening[:, None]


def _linear(machine: LinearHydraulic, force: np.ndarray, shaft: Shaft, s: Samples) -> Inverted:
    p = (force + machine.damping * shaft.speed) / machine.area
    C = machine.volume / (4.0 * machine.bulk_modulus)
    flow = C * s.rate(p) + machine.area * shaft.speed + machine.pressure_flow * p
    command, own = _opened(machine.valve, flow / machine.flow_gain, s)
    return Inverted(command, np.hstack([p[:, None], own]), {})


def _chambers(machine: Hydraulic, force: np.ndarray, shaft: Shaft, s: Samples) -> Inverted:
    """Both pressures from their start, with the opening that changes their difference as the force asks for."""
    load = force + machine.damping * shaft.speed
    wanted = s.rate(load)
    A, B, beta = machine.area, machine.area_rod, machine.bulk_modulus

    def opening(k: int, p: np.ndarray) -> tuple[float, np.ndarray]:
        y, v = shaft.position[k], shaft.speed[k]
        V_a, V_b = machine.volumes(Shaft(y, v))
        leak = machine.leakage * (p[0] - p[1])
        still = np.array([beta * (-A * v - leak) / V_a, beta * (leak + B * v) / V_b])
        lack = wanted[k] - (A * still[0] - B * still[1])
        sense = 1.0 if lack >= 0.0 else -1.0
        of_a, of_b = (machine.supply, machine.tank)[:: int(sense)]
        in_a = machine.flow_constant * soft_root(of_a - p[0], machine.laminar)
        out_b = machine.flow_constant * soft_root(p[1] - of_b, machine.laminar)
        by = np.array([beta * in_a / V_a, -beta * out_b / V_b])  # for each part that the valve is open
        part = lack / (A * by[0] - B * by[1])
        return sense * part, still + by * part

    start = np.array([machine.pressure, machine.pressure_rod], dtype=float)
    start[0] = (load[0] + B * start[1]) / A
    p = s.integrated(lambda k, x: opening(k, x)[1], start)
    x_v = np.array([opening(k, x)[0] for k, x in enumerate(p)])
    command, own = _opened(machine.valve, x_v, s)
    return Inverted(command, np.hstack([p, own]), {"an opening of": evenly(command, 1.0)})


MACHINES: dict[type, Callable[..., Inverted]] = {
    LimitedEffort: _effort,
    Affine: _affine,
    DCMotor: _motor,
    LinearHydraulic: _linear,
    Hydraulic: _chambers,
}
