"""Load of direct-current motors along a motion: current, voltage and temperatures.

    τ = N (k i − drag − loss of the gear)  →  i,    u = R i + k N q̇ + brushes + L di/dt,    Ṫ of the losses    (MO18)

The equations are those of the actuators (DM1)–(DM7), (GE1), with the current as the unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinpair.forces.actuators.actuator import Actuator, actuator_elements
from kinpair.forces.actuators.dc_motor import DCMotor
from kinpair.forces.actuators.gear import RigidGear
from kinpair.forces.actuators.machine import Shaft, Work
from kinpair.model.model import Model

STEPS = 30  # of a secant for the current: one where nothing is lost in the gear
SOLVED = 1e-12
ROUNDS = 4  # currents and temperatures depend on each other


class MotorCourse(NamedTuple):
    """Course of one motor, at times (n,): current [A], voltage [V], temperature of the winding [°C]; largest values
    or inf."""

    joint: str
    current: np.ndarray
    voltage: np.ndarray
    temperature: np.ndarray
    largest_current: float
    largest_voltage: float


def motor_courses(
    model: Model, joints: Sequence[str], time: np.ndarray, q: np.ndarray, qd: np.ndarray, effort: np.ndarray
) -> dict[str, MotorCourse]:
    """Courses by the name of the actuator, of direct-current motors behind rigid gears; of others nothing is known."""
    return {
        x.name: _course(x.machine, x.gear, joints[x.v], time, q[:, x.q], qd[:, x.v], effort[:, x.v])
        for x in actuator_elements(model)
        if isinstance(x, Actuator) and isinstance(x.machine, DCMotor) and isinstance(x.gear, RigidGear)
    }


def _course(
    machine: DCMotor,
    gear: RigidGear,
    joint: str,
    time: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
    effort: np.ndarray,
) -> MotorCourse:
    free = replace(
        machine, inductance=1.0, voltage=None, current=None
    )  # its rate is then minus the voltage it takes
    shaft = gear.shaft(np.zeros(0), q, qd)
    warm = [np.full(len(time), port.start) for port in machine.states if port.unit == "°C"]
    current = np.zeros(len(time))
    work = _work(free, current, warm, shaft)
    for _ in range(ROUNDS if warm else 1):
        current = _current(free, gear, warm, shaft, qd, effort)
        work = _work(free, current, warm, shaft)
        warm = [_integrated(time, start[0], rate) for start, rate in zip(warm, work.rates[1:], strict=True)]
    L = 0.0 if machine.inductance is None else float(machine.inductance)
    voltage = -np.asarray(work.rates[0]) + L * np.gradient(current, time)  # (MO18)
    temperature = warm[0] if warm else np.full(len(time), float(machine.temperature))
    most = [np.inf if x is None else float(x) for x in (machine.current, machine.voltage)]
    return MotorCourse(joint, current, voltage, temperature, *most)


def _work(free: DCMotor, current: np.ndarray, warm: Sequence[np.ndarray], shaft: Shaft) -> Work:
    return free.work(np.array([current, *warm]), np.zeros(len(current)), shaft)


def _current(
    free: DCMotor,
    gear: RigidGear,
    warm: Sequence[np.ndarray],
    shaft: Shaft,
    qd: np.ndarray,
    effort: np.ndarray,
) -> np.ndarray:
    """The current for which the joint feels the effort, by the method of secants at all times together."""

    def off(i: np.ndarray) -> np.ndarray:
        work = _work(free, i, warm, shaft)
        felt = gear.transmitted(np.zeros(0), work, qd, shaft.speed).effort
        return np.asarray(felt) - effort

    size = np.abs(effort).max(initial=1.0)
    before, here = np.zeros(len(qd)), np.full(len(qd), 1.0)
    f_before, f = off(before), off(here)
    for _ in range(STEPS):
        if np.abs(f).max() <= SOLVED * size:
            break
        slope = f - f_before
        moves = np.abs(slope) > 0.0
        step = np.where(moves, f * (here - before) / np.where(moves, slope, 1.0), 0.0)
        before, f_before = here, f
        here = here - step
        f = off(here)
    return here


def _integrated(time: np.ndarray, start: float, rate: np.ndarray) -> np.ndarray:
    steps = np.diff(time) * (rate[1:] + rate[:-1]) / 2
    return start + np.concatenate([[0.0], np.cumsum(steps)])
