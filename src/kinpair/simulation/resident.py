"""`kp.stepper`: a resident step for control loops and learning.

The state lies in one place in memory, and a step of machine code changes it there. What `step` returns are views of it:
they change with the next step, so keep copies of what is to be kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as shown
from typing import Any, final

import numpy as np

from kinpair.compiler.time_loop.loop import Resident
from kinpair.compiler.time_loop.step import CROSSED, NOT_FINITE
from kinpair.errors import InputError, SingularError, listed
from kinpair.evaluation.arguments import WRENCH
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.mechanism import Mechanism
from kinpair.simulation.contact.numbers import POINTS
from kinpair.simulation.driver.lanes import Group, Lane, Lanes
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.given import ALPHA, Options, movable, start_states, start_x
from kinpair.simulation.held import check_start
from kinpair.simulation.loops import begin, loop_of
from kinpair.simulation.monitors.lost_numbers import Jam, jam_of
from kinpair.simulation.prepare import check_within, prepared, stepper_integrator
from kinpair.simulation.run import Run, Stage
from kinpair.simulation.schedule import MOST_STEPS, Plan, held_steps, positive
from kinpair.simulation.step_derivatives import StepDerivatives, derivatives
from kinpair.system import System


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A state of a stepper to come back to: all its numbers, how many steps it had taken, which limits are closed."""

    numbers: np.ndarray
    steps: int
    closed: np.ndarray  # limits


def stepper(
    mechanism: Mechanism | System,
    dt: float = 1e-3,
    batch: int | None = None,
    *,
    input: Any = None,
    integrator: str | None = None,
    external: Sequence[str] = (),
    passive: bool = True,
    parameters: Mapping[str, Any] | None = None,
    solver: str | None = None,
    hold: str = "project",
    alpha: float = ALPHA,
    limits: Any = None,
    theta: float | None = None,
    time: float = 0.0,
) -> Stepper:
    """A resident step of `dt` [s] for one motion, or for a `batch` of them in SIMD lanes.

    Its inputs are u = [inputs (nu,), a wrench (6,) for each link or frame named in `external`]; without actuators the
    inputs are the joint efforts. `input`: a regulator or a function (time, q, qd) → inputs that can be recorded; the
    closed loop is then one piece of machine code, and `step` is given no inputs. `parameters`: numbers
    of the mechanism by name, in a batch one for each motion. `limits` and the other arguments are those of
    `kp.simulate`; integrators are those of fixed steps, None is "rk4", or "time-stepping" where geoms may touch or a
    damper of a joint is too stiff for "rk4".
    """
    m = movable(mechanism)
    lead = () if batch is None else (_count(m, batch),)
    start = mechanism.start() if isinstance(mechanism, Mechanism) else np.zeros(m.nq)
    options = Options(
        q=np.broadcast_to(start, (*lead, m.nq)),
        qd=np.zeros((*lead, m.nv)),
        duration=positive(m.name, "dt", dt),
        input=np.zeros(m.nu) if input is None else input,
        integrator=integrator or stepper_integrator(m, start, time, dt, passive),
        dt=dt,
        external={name: np.zeros(6) for name in external} or None,
        passive=passive,
        parameters=parameters,
        time=time,
        solver=solver,
        hold=hold,
        alpha=alpha,
        limits=limits,
        theta=theta,
    )
    run = prepared(m, options)
    assert run.plan is not None
    run = replace(run, plan=Plan(run.plan.dt, MOST_STEPS, ((1, MOST_STEPS),), from_start=True))
    if input is not None and run.torque.kind not in ("regulated", "recorded"):
        raise InputError(
            f"{m.name}: input of a stepper is a regulator, or a function that can be recorded"
            + (f", and {run.torque.reason}" if run.torque.reason else "; give other inputs to step()"),
            argument="input",
        )
    return Stepper(run, start, check=hold != "none")


def _unwatched(stage: Stage) -> Any:
    """The loop of a stage without samples of energies and efforts."""
    return loop_of(stage.d, stage.run.integrator, stage.run.torque, False, stage.guard, False)


def _count(mechanism: Mechanism, batch: Any) -> int:
    if isinstance(batch, bool) or not isinstance(batch, int | np.integer) or batch < 1:
        raise InputError(
            f"{mechanism.name}: batch is {batch!r}; give the number of motions, 1 or more, or None for one alone",
            argument="batch",
        )
    return int(batch)


@final
class Stepper:
    """A motion or a batch of them, a step at a time; `kp.stepper` makes it.

    `q` (nq,), `qd` (nv,), internal states `x` (nx,) and `u` (nu,), in a batch with an axis of motions in front, are
    views of its memory: they change with each step. Inputs may be written to `u` directly. `events` are those of the
    last call: of friction, and of limits that stop or bounce.
    """

    def __init__(self, run: Run, start: np.ndarray, *, check: bool) -> None:
        d, self.mechanism, self._run, self._check = run.d, run.mechanism, run, check
        assert run.plan is not None
        self._start = start
        self.dt, self.steps = run.plan.dt, 0
        self._numbers = np.ascontiguousarray(run.start)
        torque = run.torque
        self._closed = torque.kind in ("regulated", "recorded")
        lane = Lane(run, _unwatched) if run.guarded else None
        loop: Any = (
            loop_of(d, run.integrator, torque, False, None, False) if lane is None else lane.open.stage.loop
        )
        hold = held_steps(run.name, torque.sample_time, self.dt) if torque.sample_time is not None else 1
        self._resident = Resident(loop, self._numbers, self.dt, run.inputs, hold)
        self._resident.settings[0] = run.time
        self._advance, self._verdict = self._resident.advance, self._resident.verdict
        self._trouble = self._verdict.data
        self.q, self.qd = self._numbers[..., d.layout.q], self._numbers[..., d.layout.qd]
        self.x = self._numbers[..., d.layout.x]
        self.u = d.parted(self._numbers)[1][..., : d.input_layout.wrenches.stop]
        self._views, self._one = (self.q, self.qd), run.batch is None
        self._lanes = None if lane is None else Lanes(run, lane, np.atleast_2d(self._numbers))
        self.events: tuple[EventRecord, ...] = ()
        self._any_closed, self._go = False, self._advance if lane is None else self._guarded
        if lane is not None:
            lane.compile(batch=not self._one)
        self._begin = run.start.copy()
        rubs = is_loaded(d.model, passive=d.passive)
        self._before = self._numbers.copy() if rubs else None  # of the last call: to go on, or tell why not
        self._decide(None)
        self._sample(None)

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return self._run.time + self.steps * self.dt

    @property
    def work(self) -> np.ndarray:
        """Done by efforts and applied wrenches since `reset` [J]."""
        return self._numbers[..., self._run.d.layout.work.start]

    @property
    def loss(self) -> np.ndarray:
        """Energy taken by dampers and friction since `reset` [J]."""
        return self._numbers[..., self._run.d.layout.loss.start]

    @property
    def contacts(self) -> Any:
        """Number of contact points that push, of time-stepping; in a batch a number for each motion."""
        d = self._run.d
        if d.contact is None:
            raise InputError(f"{self.mechanism.name}: give integrator='time-stepping' for contact")
        return self._numbers[..., d.layout.contact.start + POINTS].astype(int)

    @property
    def failed(self) -> Any:
        """True if the motion has lost its numbers; in a batch one value for each. A failed one stays so until
        `reset`."""
        return ~np.isfinite(self._numbers).all(axis=-1) | (self._verdict[..., 0] != 0.0)

    def reset(
        self, q: Any = None, qd: Any = None, *, x: Any = None, rows: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Begin from q (nq,), qd (nv,) and internal states x (nx,), by default the start of the mechanism at rest; of a
        batch, all motions or the `rows` named, each with its own or all with the same. The time goes on where only some
        begin anew."""
        m, d = self.mechanism, self._run.d
        states = start_states(m, self._start if q is None else q, np.zeros(m.nv) if qd is None else qd)
        if self._one and states.ndim > 1:
            raise InputError(f"{m.name}: reset has {len(states)} states for one motion; give q (nq,)")
        if self._check:
            check_start(m, states, self.time if rows is not None else self._run.time)
        check_within(self._run, np.atleast_2d(states))
        where, own = ... if rows is None else rows, start_x(m, x, states)
        try:
            self._numbers[where, :] = 0.0
            self._numbers[where, d.ny :] = self._begin[where, d.ny :]
            self._numbers[where, d.layout.motion] = states
            self._numbers[where, d.layout.x] = own
        except (IndexError, ValueError) as problem:
            raise InputError(
                f"{m.name}: reset of rows {rows!r} with {len(np.atleast_2d(states))} states: {problem}"
            ) from None
        if rows is None:
            self.steps = 0
        if d.at_ends and d.sticking:
            chosen, p = np.ascontiguousarray(self._numbers[where, :]), self._run.inputs.parameters
            begin(d, p[where] if p.ndim == 2 else p, self.time, chosen)
            self._numbers[where, :] = chosen
        self._verdict[where] = 0.0
        self._decide(rows)
        self._sample(rows)
        return self._views

    def _decide(self, rows: Any) -> None:
        """Impacts and phases where motions begin, if anything is watched."""
        if self._lanes is None:
            return
        numbers = np.arange(len(self._lanes.state))
        self._lanes.begin((numbers if rows is None else np.atleast_1d(numbers[rows])).tolist(), self.time)
        self._note()

    def _note(self) -> None:
        """Note what happened, and which motions have ended."""
        lanes, verdict = self._lanes, np.atleast_2d(self._verdict)
        assert lanes is not None
        log = self._run.event_log
        self.events = tuple(sorted(log, key=lambda x: (x.time, x.row)))
        log.clear()
        self._any_closed = bool(lanes.closed.any())
        for row, why in enumerate(lanes.why):
            if why != "more":
                verdict[row, 0], lanes.why[row] = NOT_FINITE, "more"

    def _guarded(self, first: int, steps: int) -> None:
        """Take steps in which guards may change their sign."""
        self.events = ()
        if not self._any_closed:
            self._advance(first, steps)
            if not (self._trouble[0] if self._one else self._verdict.any()):
                return
        self._with_events(first, steps, advanced=not self._any_closed)

    def _with_events(self, first: int, steps: int, advanced: bool) -> None:
        """Take motions with closed limits, and those with an event, through steps; the others have `advanced`."""
        lanes, verdict = self._lanes, np.atleast_2d(self._verdict)
        assert lanes is not None
        closed = np.flatnonzero(lanes.closed.any(axis=1))
        groups: dict[Group, list[int]] = {(first, True): closed.tolist()} if len(closed) else {}
        if not advanced and len(closed) < len(verdict):
            kept = lanes.state[closed]
            self._advance(first, steps)
            lanes.state[closed] = kept
        verdict[closed] = 0.0
        if self._before is not None:
            before = np.atleast_2d(self._before)
            lost = np.flatnonzero((verdict[:, 0] == NOT_FINITE) & np.isfinite(before).all(axis=1))
            lanes.state[lost], verdict[lost] = before[lost], 0.0
            if len(lost):
                groups[first, False] = lost.tolist()
        rows = np.flatnonzero(verdict[:, 0] == CROSSED)
        if len(rows) or groups:
            stopped = [(int(row), int(verdict[row, 1])) for row in rows]
            verdict[rows] = 0.0
            lanes.past(stopped, first + steps, groups)
            lanes.to(first + steps, groups)
            self._note()

    def _sample(self, rows: Any) -> None:
        """The inputs at the start, where a regulator has a sample time; of the motions that begin there."""
        if not self._run.torque.sampled:
            return
        before = self._numbers.copy()
        self._advance(self.steps, 0)
        if rows is not None:
            before[rows] = self._numbers[rows]
            self._numbers[...] = before

    def step(self, u: Any = None, steps: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Take a number of steps with the inputs u constant; None: those of the step before. The views q and qd."""
        if u is not None:
            if self._closed:
                raise InputError(
                    f"{self.mechanism.name}: input= closes the loop of this stepper; call step() without inputs"
                )
            try:
                self.u[...] = u
            except (TypeError, ValueError):
                raise self._misfit(u) from None
        if self._before is not None:
            self._before[...] = self._numbers
        self._go(self.steps, steps)
        self.steps += steps
        if self._one and self._trouble[0]:
            self._refuse(steps)
        return self._views

    def _misfit(self, u: Any) -> InputError:
        """Sentence about inputs that do not fit."""
        d = self._run.d
        names = [*d.controls, *(f"{name}.{k}" for name, _ in d.external for k in WRENCH)]
        return InputError(
            f"{self.mechanism.name}: u is {shown(u)}; expected numbers of shape {self.u.shape}: {listed(names, 12)}",
            argument="u",
        )

    def _jam(self, steps: int) -> Jam | None:
        """Find why friction from load lets no step be taken, if that is the cause."""
        if self._before is None:
            return None
        run, since = replace(self._run, start=self._before), self.time - steps * self.dt
        return jam_of(run, run.d.parted(self._before)[0].copy(), since, self.time, self.dt)

    def derivatives(self) -> StepDerivatives:
        """Derivatives of the next step of time-stepping by q, q̇ and inputs, with phases of contact fixed.

        Units: those of the rates and inputs. In a batch, of each motion. Where `degenerate` is True, they are those of
        one side; no entry is NaN.
        """
        run = self._run
        if run.d.contact is None:
            raise InputError(
                f"{self.mechanism.name}: give integrator='time-stepping' for derivatives of a step"
            )
        if is_loaded(run.d.model, passive=run.d.passive):
            raise InputError(
                f"{self.mechanism.name}: derivatives of a step do not take friction from load, which "
                f"{run.d.model.surfaces[0].name!r} has; give passive=False, or friction of constant level"
            )
        rows = np.atleast_2d(self._numbers)
        parameters = np.broadcast_to(run.inputs.parameters, (len(rows), run.inputs.parameters.shape[-1]))
        own = list[StepDerivatives]()
        for row, p in zip(rows, parameters, strict=True):
            y, u = run.d.parted(row)
            own.append(derivatives(run, self.time, y.copy(), u.copy(), p))
        together = StepDerivatives(*(np.array(x) for x in zip(*own, strict=True)))
        return StepDerivatives(*(x[0] for x in together)) if self._one else together

    def state(self) -> Snapshot:
        """A copy of all numbers, to come back to."""
        closed = np.zeros((0, 0), dtype=bool) if self._lanes is None else self._lanes.closed.copy()
        return Snapshot(self._numbers.copy(), self.steps, closed)

    def restore(self, snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Back to a state that `state` gave; the steps from there are the same to the last bit."""
        if snapshot.numbers.shape != self._numbers.shape:
            raise InputError(
                f"{self.mechanism.name}: the snapshot has shape {snapshot.numbers.shape}, and this stepper "
                f"{self._numbers.shape}; it must be of the same stepper"
            )
        self._numbers[...] = snapshot.numbers
        self._verdict[...] = 0.0
        if self._lanes is not None:
            self._lanes.closed[...] = snapshot.closed
            self._any_closed = bool(snapshot.closed.any())
        self.steps = snapshot.steps
        return self._views

    def _refuse(self, steps: int) -> None:
        ended = self._run.rows_ended.pop(0, None)
        if ended is not None:
            raise SingularError(
                f"{self.mechanism.name}: {ended.message}; reset() begins anew", time=ended.time
            )
        jam = self._jam(steps)
        if jam is not None:
            raise SingularError(
                f"{self.mechanism.name}: no step beyond t = {jam.time:.9g} s: {jam.reason}; reset() begins anew",
                time=jam.time,
            )
        raise SingularError(
            f"{self.mechanism.name}: the state is not finite any more at t = {self.time:.9g} s; take a shorter dt, or "
            "look at the inputs; reset() begins anew",
            time=self.time,
        )
