"""A run: what was asked for, checked, and what has come of it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import array, columns, rows
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.time_loop.inputs import Inputs
from kinpair.compiler.trace import trace
from kinpair.mechanism import Mechanism
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import Event, EventRecord
from kinpair.simulation.events.limits import Limit, Limits
from kinpair.simulation.held import Holding
from kinpair.simulation.methods.integrators import Integrator
from kinpair.simulation.options import PATIENCE
from kinpair.simulation.recording import NotRecorded, Recorded
from kinpair.simulation.residual import Suspended
from kinpair.simulation.schedule import Plan
from kinpair.simulation.status import Status
from kinpair.simulation.torques import Caller, Torque

CHECKS_AT_REST = 500  # in a run, at least, at joints at rest under inputs that change


class Stall(NamedTuple):
    """Where a run made no progress: time [s], state y (ny,); by the clock also how far it came [s], in how long [s]."""

    time: float
    y: np.ndarray
    advance: float = 0.0
    took: float = 0.0


@dataclass(eq=False)
class Run:
    """What is to be simulated, and the log of it.

    Steps are those of the `plan`, or chosen so that the error stays within `rtol` and `atol` (ny,), none longer than
    `longest`, with samples at the `wanted` times. `start` is state and inputs (..., ny + nu) at the beginning.
    """

    mechanism: Mechanism
    integrator: Integrator
    torque: Torque
    holding: Holding
    d: Dynamics
    inputs: Inputs
    start: np.ndarray
    time: float
    duration: float
    options: Mapping[str, Any]
    plan: Plan | None = None
    wanted: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rtol: float = 0.0
    atol: np.ndarray = field(default_factory=lambda: np.zeros(0))
    longest: float = np.inf
    threads: int = 1
    patience: float = PATIENCE
    events: tuple[Event, ...] = ()
    recorded: tuple[Recorded | NotRecorded, ...] = ()  # functions of the events
    limits: Limits = field(default_factory=lambda: Limits("ignore"))
    ends: tuple[Limit, ...] = ()
    caller: Caller | None = None
    shared: dict[str, Any] = field(default_factory=dict[str, Any])  # with runs from the same start

    event_log: list[EventRecord] = field(default_factory=list[EventRecord])
    passages: list[Suspended] = field(default_factory=list[Suspended])
    ended: Status | None = None
    rows_ended: dict[int, Status] = field(default_factory=dict[int, Status])  # motions of a batch
    stall: Stall | None = None
    hindrance: str = ""  # what interrupted it, if not the user
    error: BaseException | None = None  # what a function of the user, or a signal, raised outside of `caller`

    @property
    def name(self) -> str:
        """Of the mechanism."""
        return self.mechanism.name

    @property
    def raised(self) -> BaseException | None:
        """What a function of the user, or a signal, raised."""
        return self.error or (self.caller.error if self.caller is not None else None)

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C, an exception that is not an error, such as SystemExit, or a hindrance ended the run."""
        return bool(self.hindrance) or (self.raised is not None and not isinstance(self.raised, Exception))

    @property
    def stop(self) -> float:
        """The end."""
        return self.time + self.duration

    @property
    def fixed(self) -> bool:
        """Are all steps of one length?"""
        return self.plan is not None

    @property
    def batch(self) -> int | None:
        """Motions of a batch; None: it is one motion."""
        return len(self.start) if self.start.ndim == 2 else None

    def alone(self, row: int) -> Run:
        """Return one motion of a batch as a run: with its start, inputs and parameters, and a log of its own."""
        start, own = np.atleast_2d(self.start)[row], {"event_log": [], "passages": [], "shared": {}}
        return replace(self, start=start, inputs=self.inputs.of(row), **own)

    @property
    def guarded(self) -> bool:
        """Is anything watched on the way?"""
        return bool(self.events or self.ends or (self.d.sticking and not self.d.at_ends))

    @property
    def longest_at_rest(self) -> float:
        """How long a step may be [s]: a joint at rest lets any step pass, and inputs that change by themselves may
        reach its level and fall again within one."""
        changes = self.torque.kind not in ("none", "constant", "table") and not self.torque.sampled
        wakes = changes or any(f is not None for _, f in self.d.external)
        return self.duration / CHECKS_AT_REST if self.d.sticking and not self.d.at_ends and wakes else np.inf

    @property
    def springs(self) -> bool:
        """Are there springs at limits of joints?"""
        return len(self.d.model.added) > len(self.mechanism.model.added)

    @property
    def samples(self) -> int:
        """How many there are at most: where an event ends the run there is one more."""
        return (self.plan.samples if self.plan else len(self.wanted)) + self.guarded

    @property
    def from_start(self) -> bool:
        """Is the start a sample?"""
        return self.plan.from_start if self.plan else self.wanted[0] == self.time

    @property
    def states(self) -> np.ndarray:
        """q and q̇ at the start (rows, nq + nv)."""
        return np.atleast_2d(self.start)[:, self.d.layout.motion]

    @cached_property
    def _control(self) -> Kernel:
        """The program that gives the inputs, as a kernel."""
        d, control = self.d, self.torque.control
        assert control is not None

        def inputs(time: Any, y: Any, u: Any, r: Any, p: Any) -> Any:
            return control(d.concrete(p), time, y, u, *((r,) if control.numbers else ()))

        sizes = {"time": (), "y": (d.layout.x.stop,), "u": (d.nu,), "r": (control.numbers,)}
        return Kernel(trace(inputs, {**sizes, "p": (len(d.parameters),)}))

    def controlled(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Inputs (nu,) by the program that gives them, at a state of which at least motion and x are given."""
        own = self.inputs
        row = own.at(float(time)) if own.rows.size else own.rows
        return self._control(float(time), y[: self.d.layout.x.stop], u, row, own.parameters)

    @cached_property
    def begin_energy(self) -> np.ndarray:
        """Kinetic and potential energy (rows, 2) at the start, before anything happens."""
        d, start = self.d, np.atleast_2d(self.start)
        count = len(start)
        p = np.broadcast_to(self.inputs.parameters, (count, len(d.parameters)))

        def energies(y: Any, p: Any) -> Any:
            own = d.concrete(p)
            return array(own.energies(own.without_inputs(self.time, y)))

        with np.errstate(all="ignore"):
            if not d.parameters and d.model.terms is None:
                return rows(energies(columns(start), p), count)
            sizes = {
                "y": start.shape[1:],
                "p": p.shape[1:],
            }  # parameters and functions of a user take no columns
            return Kernel(trace(energies, sizes))(start, p)
