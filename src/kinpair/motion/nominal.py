"""Nominal dynamics of a motion, and the load of its motors.

Load of direct-current motors along a motion: current, voltage and temperatures.

    τ = N (k i − drag − loss of the gear)  →  i,    u = R i + k N q̇ + brushes + L di/dt,    Ṫ of the losses    (MO18)

The equations are those of the actuators (DM1)–(DM7), (GE1), with the current as the unknown.

Nominal dynamics: from a motion to efforts, reactions, power, energy and work, and whether the limits allow it.

τ = H q̈ + h along the motion;   P = τ·q̇;   ∫P dt = E(T) − E(0) + losses                                         (MO11)

Derivation, no line of code: (MO11).

Integrals over a motion: Gauss's points between its knots, where everything is smooth.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import columns
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.errors import InputError, expect
from kinpair.forces.actuators.actuator import Actuator, actuator_elements
from kinpair.forces.actuators.dc_motor import DCMotor
from kinpair.forces.actuators.gear import RigidGear
from kinpair.forces.actuators.machine import Shaft, Work
from kinpair.forces.elements import efforts_of, losses, stored_energy
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.model.units import units
from kinpair.motion.follow import follow
from kinpair.motion.frame_motion import FrameTrajectory
from kinpair.motion.limits import Feasibility, feasibility
from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Motion, Trajectory
from kinpair.results import Energy
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import GREYS, Look, Panel, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


POINTS, FEW = 16, 5  # of a panel; of one of many
PANELS = 16  # at least, over the whole motion


@cache
def _gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points on 0 to 1."""
    x, w = np.polynomial.legendre.leggauss(points)
    return (x + 1) / 2, w / 2


def nodes(knots: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Times and weights: Σ w f(t) is the integral over the motion of what is smooth between the knots."""
    ends = np.array(knots)
    share = -(-PANELS // (len(ends) - 1))
    borders = np.append(
        (ends[:-1, None] + np.diff(ends)[:, None] * np.arange(share) / share).ravel(), ends[-1]
    )
    x, w = _gauss(POINTS if len(borders) <= 8 * PANELS else FEW)
    h = np.diff(borders)[:, None]
    return (borders[:-1, None] + h * x).ravel(), (h * w).ravel()


CALL = "kp.motion.nominal(m, motion, actuators={})"
SAMPLES = 1001
ENERGIES = ("kinetic", "potential", "sum")


@final
@dataclass(frozen=True, eq=False)
class Nominal:
    """A motion of a mechanism and what it takes, at times (n,): q (n, nq), qd, qdd and effort (n, nv).

    power: of each effort [W] (n, nv). `energy`, `reactions`, `work`, `loss` and `feasibility` are worked out when first
    asked for.
    """

    mechanism: Mechanism
    motion: Trajectory
    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    jerk: np.ndarray
    effort: np.ndarray
    options: Mapping[str, Any]

    @property
    def power(self) -> np.ndarray:
        """τ q̇ of every rate [W] (n, nv)."""
        return self.effort * self.qd

    @cached_property
    def energy(self) -> Energy:
        """Kinetic and potential energy [J], each (n,)."""
        return self.mechanism.energy(self.q, self.qd)

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """Wrench in every joint and loop by name (n, 6), as `Mechanism.reactions` has it."""
        m, state = self.mechanism, (self.q, self.qd, self.qdd)
        passive = self.options["passive"]
        if m.closure is None:
            return m.reactions(*state, passive=passive)
        found = [
            m.reactions(*(x[k] for x in state), tau=self.effort[k], time=time, passive=passive)
            for k, time in enumerate(self.time.tolist())
        ]
        return {name: np.array([x[name] for x in found]) for name in found[0]}

    @cached_property
    def work(self) -> np.ndarray:
        """∫τ q̇ dt of every rate over the whole motion [J] (nv,)."""
        _, weights = self._nodes
        return weights @ (self._node_efforts * self._node_motion.qd)

    @cached_property
    def loss(self) -> float:
        """Energy that dampers and friction take over the whole motion [J]."""
        if not self.options["passive"]:
            return 0.0
        time, weights = self._nodes
        x = self._node_motion
        taken = losses(self.mechanism.model, State(columns(x.q), columns(x.qd))).values()
        rubbed = -weights @ np.einsum("nv,nv->n", self.rubbing(x, time, self._node_efforts), x.qd)
        return float(sum((weights @ np.broadcast_to(power, time.shape) for power in taken), rubbed))

    def rubbing(self, x: Motion, time: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """Efforts of friction from load (n, nv), as far as the given `effort` of a motion makes up for them: what it
        takes without passive forces, less what it takes with them, less the other ones."""
        m = self.mechanism
        if not (m.model.surfaces and self.options["passive"]):
            return np.zeros_like(x.qd)
        beside = efforts_of(m.model, State(columns(x.q), columns(x.qd)))
        bare = _efforts(m, x, time, {**self.options, "passive": False})
        return bare - effort - np.stack([np.broadcast_to(e, time.shape) for e in beside], axis=-1)

    @cached_property
    def gain(self) -> float:
        """E(T) − E(0) of kinetic and potential energy [J], that of springs only where they act."""
        before, after = (self._energy_at(time) for time in (0.0, self.motion.duration))
        return after - before

    def _energy_at(self, time: float) -> float:
        x = self.motion.at(time)
        springs = 0.0 if self.options["passive"] else stored_energy(self.mechanism.model, State(x.q, x.qd))
        return float(sum(self.mechanism.energy(x.q, x.qd)) - springs)

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        return nodes(self.motion.knots)

    @cached_property
    def _node_motion(self) -> Motion:
        return self.motion.at(self._nodes[0])

    @cached_property
    def _node_efforts(self) -> np.ndarray:
        return _efforts(self.mechanism, self._node_motion, self._nodes[0], self.options)

    @cached_property
    def motors(self) -> dict[str, MotorCourse]:
        """Current, voltage and temperature of every direct-current motor behind a rigid gear, by the name of it."""
        m = self.mechanism
        return motor_courses(m.model, m.v_names, self.time, self.q, self.qd, self.effort)

    @cached_property
    def feasibility(self) -> Feasibility:
        """Violations of the limits of the mechanism's file: joint, by how much, when."""
        return feasibility(self)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Rates, efforts, power and energy over time as a figure of matplotlib; written to the path if given."""
        m, unit = self.mechanism, units(self.mechanism.model)
        looks = distinct(m.v_names)
        tables = [("rates", "q̇", self.qd, unit["qd"]), ("efforts", "τ", self.effort, unit["tau"])]
        rows = [
            [
                Panel(
                    name,
                    f"{letter} [{u}]",
                    {m.v_names[k]: x[:, k] for k in range(m.nv) if own[k] == u},
                    looks,
                )
                for u in dict.fromkeys(own)
            ]
            for name, letter, x, own in tables
        ]
        energies = [self.energy.kinetic, self.energy.potential - self.energy.potential[0]]
        curves = dict[str, np.ndarray](zip(ENERGIES, [*energies, energies[0] + energies[1]], strict=True))
        greys = dict[str, Look](zip(ENERGIES, GREYS, strict=False))
        power = Panel("power", "[W]", {name: self.power[:, k] for k, name in enumerate(m.v_names)}, looks)
        energy = Panel("energy since the start", "[J]", curves, greys, own_legend=True)
        if all(len(row) == 1 for row in rows):
            rows = [[panel for row in rows for panel in row]]
        figure = figure_of(self.time, [*rows, [power, energy]], title=title or m.name)
        if path is not None:
            write_figure(figure, path)
        return figure

    def __repr__(self) -> str:
        return f"<Nominal of {self.mechanism.name!r}: {self.motion.duration:g} s, {len(self.time)} samples>"

    def __str__(self) -> str:
        m = self.mechanism
        work = float(self.work.sum())
        lines = [
            f"{m.name}: a motion of {self.motion.duration:.6g} s, {self.motion.smoothness:g} continuous derivatives",
            f"work {work:.6g} J = energy gained {self.gain:.6g} J + lost {self.loss:.6g} J",
        ]
        return "\n".join([*lines, str(self.feasibility)])


def nominal(
    m: Mechanism,
    motion: Trajectory | Mapping[str, FrameTrajectory | Trajectory],
    *,
    start: Any = None,
    parts: Mapping[str, str] | None = None,
    criterion: str = "rates",
    samples: int = SAMPLES,
    passive: bool = True,
    actuators: Actuators = None,
) -> Nominal:
    """Compute efforts, reactions, power and energy of a motion, and whether the limits allow it.

    motion: of all coordinates, or a dict of motions of frames and coordinates as `follow` takes it, with `start`,
    `parts` and `criterion`. The efforts of a closed mechanism are the least of its actuated joints, or of the
    `actuators`, as in `inverse_dynamics`.

    Units: efforts [N m] or [N], power [W], energy [J].
    """
    expect("nominal", m, Mechanism)
    if samples < 2:
        raise InputError(f"nominal: samples is {samples!r}; give 2 or more")
    if isinstance(motion, Mapping):
        motion = follow(m, motion, start=start, parts=parts, criterion=criterion)
    expect("nominal", motion, Trajectory, advice="kp.motion.cycloid(start, end, duration) is one")
    if motion.shape != (m.nq,):
        raise InputError(
            f"nominal: the motion has shape {motion.shape}, and {m.name} has {m.nq} coordinates; give a motion of all "
            "of them, or a dict of motions by name"
        )
    motion = with_rates(m, motion)
    time = np.linspace(0.0, motion.duration, samples)
    x = motion.at(time)
    if m.closure is not None:
        m.actuated(x.q[0], actuators=actuators, call=CALL)
    options = {"passive": passive, "actuators": actuators}
    return Nominal(m, motion, time, *x, _efforts(m, x, time, options), options)


def _efforts(m: Mechanism, x: Motion, time: np.ndarray, options: Mapping[str, Any]) -> np.ndarray:
    passive, actuators = options["passive"], options["actuators"]
    if m.closure is None and actuators is None:
        return m.inverse_dynamics(x.q, x.qd, x.qdd, passive=passive)
    return m.inverse_dynamics(x.q, x.qd, x.qdd, passive=passive, actuators=actuators, time=time)
