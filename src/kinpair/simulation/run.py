"""A run: what was asked for, checked, and what has come of it so far.

A piece is some samples, and how the run stands behind them. A stage is a mode of the motion ready to run: what moves in
it, and what is watched.

Functions of a user that a run calls from Python are slow; the summary and a warning say so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import array, columns, rows
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.patience import patience
from kinpair.compiler.trace import trace
from kinpair.errors import RecordingWarning, caller_level
from kinpair.simulation.events.events import Event, EventRecord
from kinpair.simulation.events.limits import Limit, Limits
from kinpair.simulation.held import Holding, Suspended
from kinpair.simulation.recording import NotRecorded, Recorded
from kinpair.simulation.schedule import PATIENCE
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.compiler.time_loop.inputs import Inputs
    from kinpair.mechanism import Mechanism
    from kinpair.simulation.dynamics import Dynamics
    from kinpair.simulation.loops import Guard
    from kinpair.simulation.methods.integrators import Integrator
    from kinpair.simulation.schedule import Plan
    from kinpair.simulation.torques import Caller, Torque

CHECKS_AT_REST = 500  # in a run, at least, at joints at rest under inputs that change


class Stall(NamedTuple):
    """State where a run made no progress: time [s], state y (ny,); by the clock also how far it came [s], in how
    long [s]."""

    time: float
    y: np.ndarray
    advance: float = 0.0
    took: float = 0.0


@dataclass(eq=False)
class Run:
    """A run: what is simulated, and its log.

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
    reason: str = ""  # of the choice of the integrator, where none was given and it is not the usual one
    hindrance: str = ""  # what interrupted it, if not the user
    error: BaseException | None = None  # what a function of the user, or a signal, raised outside of `caller`

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.mechanism.name

    @property
    def raised(self) -> BaseException | None:
        """Error that a function of the user, or a signal, raised."""
        return self.error or (self.caller.error if self.caller is not None else None)

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C, an exception that is not an error, such as SystemExit, or a hindrance ended the run."""
        return bool(self.hindrance) or (self.raised is not None and not isinstance(self.raised, Exception))

    @property
    def stop(self) -> float:
        """End the run."""
        return self.time + self.duration

    @property
    def fixed(self) -> bool:
        """True if all steps have one length."""
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
        """True if events are watched during the run."""
        touches = self.d.touching is not None
        return bool(self.events or self.ends or touches or (self.d.sticking and not self.d.at_ends))

    @property
    def longest_at_rest(self) -> float:
        """Longest step [s]: a joint at rest lets any step pass, and inputs that change by themselves may
        reach its level and fall again within one."""
        if self.d.touching is not None:
            return self.duration / CHECKS_AT_REST
        changes = self.torque.kind not in ("none", "constant", "table") and not self.torque.sampled
        wakes = changes or any(f is not None for _, f in self.d.external)
        return self.duration / CHECKS_AT_REST if self.d.sticking and not self.d.at_ends and wakes else np.inf

    @property
    def springs(self) -> bool:
        """True if there are springs at limits of joints."""
        return len(self.d.model.added) > len(self.mechanism.model.added)

    @property
    def samples(self) -> int:
        """Largest number of samples: where an event ends the run there is one more."""
        return (self.plan.samples if self.plan else len(self.wanted)) + self.guarded

    @property
    def from_start(self) -> bool:
        """True if the start is a sample."""
        return self.plan.from_start if self.plan else self.wanted[0] == self.time

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the row groups whose phases are in the state: of friction, then of limits."""
        return (*(x.name for x in self.d.groups), *(x.label for x in self.ends))

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


GOOD = ("more", "done")
NO_TIMES = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Samples: times (n,), states (..., n, ny), watched (..., n, nw), in the layouts of the run.

    `why` is `more` while all is well, `done` at the end, else what ended it, and `trouble` the time of that; of a
    batch, both have an entry for each motion. `steps` and `rejected` count from the beginning. `memory` is all that is
    needed to go on from here; None where the run cannot be cut. `mode` is the number of the mode of these samples; of a
    batch with guards (rows, n), a number for each motion and sample; (n,) where the mode changes among the samples.
    """

    times: np.ndarray
    Y: np.ndarray
    W: np.ndarray
    why: Any
    trouble: Any
    reached: float
    steps: int
    rejected: int
    dt: float
    memory: np.ndarray | None = None
    mode: Any = 0

    @property
    def good(self) -> bool:
        """True if nothing has ended it. A batch goes on without the motions that ended."""
        return not isinstance(self.why, str) or self.why in GOOD

    def first(self, n: int) -> Piece:
        """Return the piece with its first n samples only."""
        mode = self.mode[..., :n] if isinstance(self.mode, np.ndarray) else self.mode
        return replace(self, times=self.times[:n], Y=self.Y[..., :n, :], W=self.W[..., :n, :], mode=mode)


@dataclass(frozen=True, eq=False)
class Stage:
    """Dynamics of a mode; `guard` (dynamics, time, y, u) → values whose signs are watched, None: nothing is."""

    run: Run
    mechanism: Mechanism
    d: Dynamics
    guard: Guard | None
    make: Callable[[Stage], Any]

    @cached_property
    def loop(self) -> Any:
        """Loop that a stepper steps by."""
        with patience(f"preparing the steps of {self.mechanism.name!r}"):
            return self.make(self)

    def as_sampled(self, Y: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and what is watched in the layouts of the run."""
        run = self.run.d
        if self.d is run:
            return Y, W
        return self.d.layout.converted(Y, run.layout), self.d.watched_layout.converted(W, run.watched_layout)


class Called(NamedTuple):
    """A function that is called from Python: what it is, why, and whether it could be compiled if it were rewritten."""

    what: str
    reason: str
    avoidable: bool

    @property
    def sentence(self) -> str:
        """The note in the summary of a run."""
        return f"{self.what}, which is slow: {self.reason}."


def called_of(run: Run) -> Iterator[Called]:
    """Yield every function of the run that is called from Python and has a reason for it."""
    torque = run.torque
    if torque.reason:
        yield Called(f"The {torque.word} is called from Python", torque.reason, torque.avoidable)
    for wrench in torque.wrenches:
        yield Called(f"{wrench.word} is called from Python", wrench.reason, wrench.avoidable)
    for event, function in zip(run.events, run.recorded, strict=True):
        if isinstance(function, NotRecorded) and function.reason:
            what = f"Event {event.name!r} is called from Python after each step"
            yield Called(what, function.reason, function.works)


def warn_of_calls(run: Run) -> None:
    """Give one warning with every function that is slow for a reason that the user can remove."""
    sentences = [called.sentence for called in called_of(run) if called.avoidable]
    if sentences:
        warnings.warn(
            f"{run.name}: {' '.join(sentences)} To call a function from Python without this warning, set its attribute "
            "traceable = False.",
            RecordingWarning,
            stacklevel=caller_level(),
        )
