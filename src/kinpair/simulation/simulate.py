"""`kp.simulate`: forward dynamics becomes motion."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kinpair.compiler.arguments import whole_threads
from kinpair.compiler.cache import Store
from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop, Inputs, callback
from kinpair.errors import InputError
from kinpair.mechanism import Energy, Mechanism
from kinpair.model.model import Model
from kinpair.simulation.bumpers import Bumpers
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.eventful import Eventful, check_eventful, with_events
from kinpair.simulation.events import Event, Happening, events_given
from kinpair.simulation.given import in_rows, movable, parameter_values, start_states, tolerance
from kinpair.simulation.held import Held, check_start, held
from kinpair.simulation.integrators import Integrator, flow_of, integrator_named
from kinpair.simulation.limits import Limits, bumpers_of, limits_given, limits_of
from kinpair.simulation.outside import METHODS, Follower
from kinpair.simulation.progress import Progress
from kinpair.simulation.result import Result, Status
from kinpair.simulation.runs import Pages, Piece, adaptive_run, fixed_run, joined, released
from kinpair.simulation.samples import residual_of, samples_of, singular_of
from kinpair.simulation.schedule import Plan, adaptive_times, finite, fixed_plan, held_steps, positive
from kinpair.simulation.systems import model_to_move
from kinpair.simulation.torques import Caller, Torque, external_of, torque_of
from kinpair.simulation.trouble import drifted, status_of
from kinpair.system import System

DT = 1e-3
RTOL, ATOL = 1e-9, 1e-10
CHECKPOINT = 0.5  # seconds of work between two of them
KEPT_LOOPS = 64
ALPHA = 20.0  # [1/s] of Baumgarte's stabilisation


def simulate(
    mechanism: Mechanism | System,
    q: Any,
    qd: Any,
    *,
    duration: float,
    torque: Any = None,
    integrator: str = "dop853",
    dt: float | None = None,
    rtol: float | None = None,
    atol: Any = None,
    output: Any = None,
    external: Mapping[str, Any] | None = None,
    passive: bool = True,
    parameters: Mapping[str, Any] | None = None,
    time: float = 0.0,
    threads: int = 1,
    solver: str | None = None,
    hold: str = "project",
    alpha: float = ALPHA,
    rho_inf: float | None = None,
    events: Sequence[Event] | None = None,
    limits: str | Limits = "ignore",
    save: str | os.PathLike[str] | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Result:
    """The motion from q (nq,), qd (nv,) for `duration` [s], as a `Result`.

    A batch q (batch, nq) gives as many motions, in SIMD lanes and `threads`, by fixed steps. A `System` moves like a
    mechanism; its potential energy is not known. See docs/simulate.md.

    * `torque`: None, constant (nv,), samples (times, values), a function (time, q, qd) → (nv,), or an object to be
      called like one; with an attribute `sample_time` [s] it is evaluated at multiples of that and held between;
    * `integrator`: by name; `dt` [s] for fixed steps, `rtol` and `atol` (one, or nq + nv of them) for adaptive ones;
    * `output`: samples at an interval [s], or at given times;
    * `external`: wrenches (6,) by link or frame, or functions (time, q, qd) → (6,);
    * `parameters`: constants of the mechanism by name, such as {"upper.mass": 2.0}, in a batch one for each motion;
    * `solver`: how constraints are solved; `hold`: how they are held, "project" after each step, "baumgarte" with
      the rate `alpha` [1/s], or "none"; `rho_inf`: what generalised-alpha leaves of infinitely fast vibrations;
    * `events`: `Event`s to be found on the way; `limits`: what happens at the limits of joints, "ignore", "stop",
      "bounce", "spring", or a `Limits`; see docs/events.md;
    * `save`: a file (.h5) that the samples go to as they are computed, and stay in: the result reads them from there.
      Every `checkpoint` seconds it holds all that `resume` needs to go on.
    """
    began = perf_counter()
    options: dict[str, Any] = {
        "q": q,
        "qd": qd,
        "duration": duration,
        "torque": torque,
        "integrator": integrator,
        "dt": dt,
        "rtol": rtol,
        "atol": atol,
        "output": output,
        "external": external,
        "passive": passive,
        "parameters": parameters,
        "time": time,
        "threads": threads,
        "solver": solver,
        "hold": hold,
        "alpha": alpha,
        "rho_inf": rho_inf,
    }
    mechanism = movable(mechanism)
    ready = prepared(mechanism, **options, events=events, limits=limits)
    if save is not None:
        if not isinstance(save, str | os.PathLike):  # type: ignore[redundant-expr]
            raise InputError(
                f"{mechanism.name}: save is {save!r}; it must be the path of a file", argument="save"
            )
        if isinstance(ready, Eventful):
            raise InputError(
                f"{mechanism.name}: save= takes no run with events or limits that stop or bounce; run.save(path) keeps "
                "it when it is done"
            )
        from kinpair.simulation.storage_stream import begun, saved, stream

        pieces = ready.pieces(ready.begin(), whole=False)
        recorder = begun(ready, Path(save), options, positive(mechanism.name, "checkpoint", checkpoint))
        return saved(stream(recorder, pieces, progress), mechanism, options)
    found, interrupted = _collected(ready.pieces(ready.begin()), ready.run, progress)
    return _result(ready.run, found, interrupted, options, perf_counter() - began)


def prepared(
    mechanism: Mechanism,
    q: Any,
    qd: Any,
    *,
    duration: float,
    torque: Any = None,
    integrator: str,
    dt: float | None = None,
    rtol: float | None = None,
    atol: Any = None,
    output: Any = None,
    external: Mapping[str, Any] | None = None,
    passive: bool,
    parameters: Mapping[str, Any] | None = None,
    time: float,
    threads: int,
    solver: str | None = None,
    hold: str = "project",
    alpha: float = ALPHA,
    rho_inf: float | None = None,
    events: Sequence[Event] | None = None,
    limits: str | Limits = "ignore",
) -> Fixed | Adaptive | Outside | Eventful:
    """Everything checked, and ready to run; arguments as of `simulate`."""
    time = finite(mechanism.name, "time", time)
    states = start_states(mechanism, q, qd)
    first = states.reshape(-1, states.shape[-1])[0]
    at = first[: mechanism.nq], first[mechanism.nq :]
    drive = torque_of(mechanism, torque, *at, time)
    functions, wrenches = external_of(mechanism, external, *at, time)
    names, values = parameter_values(mechanism, parameters)
    states, batch = in_rows(mechanism, states, drive, wrenches, values)
    method = integrator_named(integrator).with_rho(rho_inf)
    constraints = held(mechanism, at[0], time, solver, method.holding(hold), alpha)
    if hold != "none":
        check_start(mechanism, states, time)
    model = model_to_move(mechanism.model, *at, time)
    wish = Wish(
        mechanism, method, drive, functions, names, passive, batch is not None, constraints, model=model
    )
    happenings, ends = events_given(mechanism, events, *at, time), limits_given(mechanism, limits)
    bumpers = bumpers_of(mechanism, ends, at[0])
    eventful = bool(happenings[0]) or (ends.unilateral and bool(limits_of(mechanism, ends)))
    if eventful or bumpers is not None:
        wish = replace(wish, bumpers=bumpers, tallied=eventful)
        check_eventful(wish, ends, at[0], eventful)
    fixed = not method.adaptive or (dt is not None and not method.outside)
    if method.outside and dt is not None:
        raise InputError(
            f"{mechanism.name}: {method.name} chooses its steps; give rtol= and atol=, not dt=",
            integrator=method.name,
        )
    _check_options(wish, fixed, rtol, atol)
    threads = whole_threads(mechanism.name, threads)
    run = Run(wish, positive(mechanism.name, "duration", duration), time, _inputs(wish, wrenches, values))
    start = run.start(states, wrenches)
    if fixed:
        step = positive(mechanism.name, "dt", DT if dt is None else dt)
        plan = fixed_plan(mechanism.name, run.duration, step, output, run.time)
        ready = Fixed(run, start, plan, threads)
        return with_events(ready, happenings, ends, (solver, hold, alpha)) if eventful else ready
    wanted = adaptive_times(mechanism.name, run.duration, output, run.time)
    allowed = RTOL if rtol is None else rtol, ATOL if atol is None else atol
    ready = (Outside if method.outside else Adaptive)(run, start, wanted, *allowed)
    return with_events(ready, happenings, ends, (solver, hold, alpha)) if eventful else ready


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """What is to be simulated."""

    mechanism: Mechanism
    integrator: Integrator
    torque: Torque
    external: dict[str, Callable[..., Any] | None]
    parameters: tuple[str, ...]
    passive: bool
    batch: bool
    held: Held | None = None
    bumpers: Bumpers | None = None
    tallied: bool = False
    model: Model | None = None

    @property
    def dynamics(self) -> Dynamics:
        """What moves."""
        t = self.torque
        inside = t.function if t.kind == "recorded" and not t.held else None
        return Dynamics(
            self.model or self.mechanism.model,
            self.passive,
            driven=t.kind != "none",
            torque=inside,
            external=self.external,
            parameters=self.parameters,
            held=self.held,
            memory=self.integrator.memory(self.mechanism.nv),
            bumpers=self.bumpers,
            tallied=self.tallied,
        )

    @property
    def source(self) -> str:
        """Where the inputs come from."""
        kinds = {"table": "table", "called": "call"}
        if self.torque.kind == "recorded" and self.torque.held:
            return "program"
        return kinds.get(self.torque.kind, "given")

    def loop(self, adaptive: bool, guard: Callable[..., Any] | None = None) -> Any:
        """The compiled loop; one without functions of the user is kept for the next run."""
        functions = [f for f in (*self.external.values(), self.dynamics.torque, guard) if f is not None]
        if functions or self.source == "program" or self.bumpers is not None or self.tallied:
            control = self.torque.function if self.source == "program" else None
            own = self.dynamics, self.integrator, adaptive, self.source, self.torque.held
            return _made(*own, control, guard)
        d = self.dynamics
        names = tuple(self.external)
        return _kept(
            d.model,
            d.passive,
            d.driven,
            names,
            d.parameters,
            self.integrator,
            adaptive,
            self.source,
            self.torque.held,
            self.held,
        )


def _made(
    d: Dynamics,
    method: Integrator,
    adaptive: bool,
    source: str,
    held: bool,
    control: Any = None,
    guard: Any = None,
) -> Any:
    flow = flow_of(d, method, source=source, held=held, control=control, guard=guard)
    if adaptive:
        assert method.tableau is not None
        return AdaptiveLoop(flow, method.tableau, store=Store())
    return FixedLoop(flow, method.tableau, store=Store())


@lru_cache(maxsize=KEPT_LOOPS)
def _kept(
    model: Any,
    passive: bool,
    driven: bool,
    external: tuple[str, ...],
    parameters: tuple[str, ...],
    method: Integrator,
    adaptive: bool,
    source: str,
    held: bool,
    constraints: Held | None,
) -> Any:
    d = Dynamics(
        model,
        passive,
        driven,
        external=dict.fromkeys(external),
        parameters=parameters,
        held=constraints,
        memory=method.memory(model.nv),
    )
    return _made(d, method, adaptive, source, held)


class Run:
    """A wish with its times and inputs."""

    def __init__(self, wish: Wish, duration: float, time: float, inputs: Inputs) -> None:
        self.wish, self.duration, self.time = wish, duration, time
        self.d = wish.dynamics
        self.name = wish.mechanism.name
        self.inputs = inputs
        self.caller: Caller | None = None
        self.stop = time + duration
        self.happened: list[Happening] = []
        self.ended: Status | None = None
        self.hindrance = ""  # what interrupted it, if not the user

    def start(self, states: np.ndarray, wrenches: dict[str, np.ndarray]) -> np.ndarray:
        """State and inputs at the beginning (..., ny + nu)."""
        d, lead = self.d, states.shape[:-1]
        y = np.zeros((*lead, d.ny))
        y[..., : states.shape[-1]] = states
        parts = [y]
        if d.torque_in_u:
            constant = (
                self.wish.torque.values if self.wish.torque.kind == "constant" else np.zeros(d.model.nv)
            )
            parts.append(np.broadcast_to(constant, (*lead, d.model.nv)))
        parts += [np.broadcast_to(w, (*lead, 6)) for w in wrenches.values()]
        if self.wish.torque.kind == "called":
            self._call(np.concatenate([np.zeros(0), *wrenches.values()]))
        return np.concatenate(parts, axis=-1)

    def _call(self, wrenches: np.ndarray) -> None:
        """Make the user's function one that the loop can call."""
        self.caller = Caller(self.wish.mechanism, self.wish.torque.function, wrenches)
        i = self.inputs
        self.inputs = Inputs(i.parameters, i.times, i.rows, callback(self.caller, self.d.ny, self.d.nu))


class Fixed:
    """A run by steps of equal length; with `whole` False, each piece is gone when the next one comes."""

    def __init__(self, run: Run, start: np.ndarray, plan: Plan, threads: int) -> None:
        self.run, self.start, self.plan, self.threads = run, start, plan, threads
        period = run.wish.torque.sample_time
        self.hold = held_steps(run.name, period, plan.dt) if period is not None else 1
        self.samples = plan.samples

    @cached_property
    def loop(self) -> FixedLoop:
        """Compiled."""
        return self.run.wish.loop(adaptive=False)

    def begin(self) -> np.ndarray:
        """What the first chunk starts from."""
        return self.start

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a step."""
        run = self.run
        return fixed_run(
            self.loop,
            state,
            self.plan,
            t0=run.time,
            hold=self.hold,
            inputs=run.inputs,
            threads=self.threads,
            step=step,
            whole=whole,
        )


def _allowed(run: Run, rtol: Any, atol: Any) -> tuple[float, np.ndarray]:
    """Tolerances; work, loss and what else is carried along follow the motion and do not decide the steps."""
    n = run.d.model.nq + run.d.model.nv
    allowed = np.full(run.d.ny, np.inf)
    allowed[:n] = tolerance(run.name, "atol", atol, (n,))
    if run.d.bumpers is not None:  # what they take ends where the motion shows nothing
        allowed[n : n + run.d.has_work + run.d.has_loss] = allowed[:n].max()
    return float(tolerance(run.name, "rtol", rtol, ())), allowed


class Adaptive:
    """A run by steps as long as the error allows."""

    def __init__(self, run: Run, start: np.ndarray, wanted: np.ndarray, rtol: float, atol: Any) -> None:
        self.run, self.start, self.wanted, self.samples = run, start, wanted, len(wanted)
        self.rtol, self.atol = _allowed(run, rtol, atol)

    @cached_property
    def loop(self) -> AdaptiveLoop:
        """Compiled."""
        return self.run.wish.loop(adaptive=True)

    def begin(self) -> np.ndarray:
        """The memory of the loop at the start."""
        return self.loop.begin(self.start, self.run.time, self.wanted[:0]).memory

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a state."""
        run, flow = self.run, self.loop.flow
        at = self.loop.begin(self.start, run.time, self.wanted)
        room = [Pages(self.samples, n) for n in (flow.ny, flow.nw)] if not whole else []
        if room:
            at.Y, at.W = (pages.array for pages in room)
        at.memory[:] = state
        pieces = adaptive_run(
            self.loop,
            at,
            self.wanted,
            stop=run.stop,
            inputs=run.inputs,
            rtol=self.rtol,
            atol=self.atol,
            hold=run.wish.torque.sample_time or 0.0,
            t0=run.time,
        )
        return released(pieces, room, at.samples)


class Outside:
    """A run by a library that chooses its steps."""

    def __init__(self, run: Run, start: np.ndarray, wanted: np.ndarray, rtol: float, atol: Any) -> None:
        self.run, self.start, self.wanted, self.samples = run, start, wanted, len(wanted)
        rtol, allowed = _allowed(run, rtol, atol)
        method = METHODS[run.wish.integrator.name]
        self.follower = Follower(run, start, wanted, method, rtol, allowed)

    def begin(self) -> np.ndarray:
        """Time, samples so far, state and inputs."""
        return self.follower.begin()

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a state."""
        return self.follower.pieces(state, step)


# what was given


def _check_options(wish: Wish, fixed: bool, rtol: Any, atol: Any) -> None:
    name, method = wish.mechanism.name, wish.integrator.name
    if wish.batch and not fixed:
        raise InputError(
            f"{name}: a batch takes fixed steps; give dt=, for instance integrator='rk4', dt=0.001",
            integrator=method,
        )
    if wish.batch and wish.torque.kind == "called":
        raise InputError(
            f"{name}: torque is a function that cannot be recorded, and a batch does not call Python; write it in "
            "NumPy terms (docs/compiler.md) or give its values as (times, values)"
        )
    if fixed and (rtol is not None or atol is not None):
        raise InputError(f"{name}: {method} by fixed steps takes dt=, no rtol= and atol=", integrator=method)


def _inputs(wish: Wish, wrenches: dict[str, np.ndarray], values: np.ndarray) -> Inputs:
    """Parameters, and the table of efforts with the wrenches, which do not change, beside them."""
    drive = wish.torque
    if drive.kind != "table":
        return Inputs(parameters=values)
    lead = max((drive.values.shape[:-2], *(w.shape[:-1] for w in wrenches.values())), key=len)
    columns = [drive.values, *(w[..., None, :] for w in wrenches.values())]
    shape = (*lead, len(drive.times))
    rows = np.concatenate([np.broadcast_to(c, (*shape, c.shape[-1])) for c in columns], axis=-1)
    return Inputs(values, drive.times, rows)


# what was found


def _collected(
    pieces: Iterator[Piece], run: Run, wish: bool | Callable[[float], Any] | None
) -> tuple[list[Piece], bool]:
    """All pieces, or those before an interruption."""
    found: list[Piece] = []
    with Progress(f"simulating {run.name}", wish) as told:
        try:
            for piece in pieces:
                found.append(piece)
                told(min(1.0, (piece.reached - run.time) / run.duration))
        except KeyboardInterrupt:
            run.hindrance = told.fault
            return found, True
    return found, isinstance(run.caller and run.caller.error, KeyboardInterrupt)


def _result(
    run: Run, pieces: list[Piece], interrupted: bool, options: Mapping[str, Any], took: float
) -> Result:
    if not pieces:
        raise KeyboardInterrupt
    Y, W = joined([piece.Y for piece in pieces]), joined([piece.W for piece in pieces])
    found = samples_of(run.d, Y, W)
    last = pieces[-1]
    residual, singular = residual_of(run.d, W), singular_of(run.d, Y)
    status, failures = status_of(run, pieces, Y, interrupted)
    status = drifted(run, status, np.concatenate([piece.times for piece in pieces]), residual)
    return Result(
        mechanism=run.wish.mechanism,
        time=np.concatenate([piece.times for piece in pieces]),
        energy=Energy(found.pop("kinetic"), found.pop("potential")),
        **found,
        residual=residual,
        singular=singular,
        status=status,
        integrator=run.wish.integrator.name,
        steps=last.steps,
        rejected=last.rejected,
        dt=last.dt,
        took=took,
        external=options["external"] or {},
        passive=run.wish.passive,
        parameters=run.wish.parameters,
        failures=failures,
        events=tuple(run.happened),
        springs=run.wish.bumpers is not None,
        options=options,
    )
