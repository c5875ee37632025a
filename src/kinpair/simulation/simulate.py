"""`kp.simulate`: forward dynamics becomes motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop, Inputs, callback
from kinpair.errors import InputError, listed
from kinpair.evaluation import Expected
from kinpair.mechanism import Energy, Mechanism
from kinpair.model.symbols import check_symbols
from kinpair.simulation.balance import balance
from kinpair.simulation.dynamics import Dynamics, with_quaternion
from kinpair.simulation.integrators import Integrator, flow_of, integrator_named
from kinpair.simulation.progress import Progress
from kinpair.simulation.result import Result
from kinpair.simulation.runs import Piece, adaptive_run, fixed_run
from kinpair.simulation.schedule import adaptive_times, fixed_plan, held_steps, positive
from kinpair.simulation.torques import Caller, Torque, external_of, torque_of
from kinpair.simulation.trouble import status_of

DT = 1e-3
RTOL, ATOL = 1e-9, 1e-10
KEPT_LOOPS = 64


def simulate(
    mechanism: Mechanism,
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
    progress: bool | Callable[[float], Any] | None = None,
) -> Result:
    """The motion from q (nq,), qd (nv,) for `duration` [s], as a `Result`.

    A batch q (batch, nq) gives as many motions, in SIMD lanes and `threads`, by fixed steps. See docs/simulate.md.

    * `torque`: None, constant (nv,), samples (times, values), a function (time, q, qd) → (nv,), or an object to be
      called like one; with an attribute `sample_time` [s] it is evaluated at multiples of that and held between;
    * `integrator`: by name; `dt` [s] for fixed steps, `rtol` and `atol` (one, or nq + nv of them) for adaptive ones;
    * `output`: samples at an interval [s], or at given times;
    * `external`: wrenches (6,) by link or frame, or functions (time, q, qd) → (6,);
    * `parameters`: constants of the mechanism by name, such as {"upper.mass": 2.0}, in a batch one for each motion.
    """
    began = perf_counter()
    states = _start(mechanism, q, qd)
    first = states.reshape(-1, states.shape[-1])[0]
    at = first[: mechanism.nq], first[mechanism.nq :]
    drive = torque_of(mechanism, torque, *at, time)
    functions, wrenches = external_of(mechanism, external, *at, time)
    names, values = _parameters(mechanism, parameters)
    states, batch = _in_rows(mechanism, states, drive, wrenches, values)
    method = integrator_named(integrator)
    wish = Wish(mechanism, method, drive, functions, names, passive, batch is not None)
    fixed = dt is not None or not method.adaptive
    _check_options(wish, fixed, rtol, atol)
    run = Run(
        wish, positive(mechanism.name, "duration", duration), float(time), _inputs(wish, wrenches, values)
    )
    start = run.start(states, wrenches)
    if fixed:
        step = positive(mechanism.name, "dt", DT if dt is None else dt)
        pieces = run.fixed(start, step, output, threads)
    else:
        pieces = run.adaptive(start, output, RTOL if rtol is None else rtol, ATOL if atol is None else atol)
    found, interrupted = _collected(pieces, run, progress)
    return _result(run, found, interrupted, external or {}, perf_counter() - began)


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

    @property
    def dynamics(self) -> Dynamics:
        """What moves."""
        t = self.torque
        inside = t.function if t.kind == "recorded" and not t.held else None
        return Dynamics(
            self.mechanism.model,
            self.passive,
            driven=t.kind != "none",
            torque=inside,
            external=self.external,
            parameters=self.parameters,
        )

    @property
    def source(self) -> str:
        """Where the inputs come from."""
        kinds = {"table": "table", "called": "call"}
        if self.torque.kind == "recorded" and self.torque.held:
            return "program"
        return kinds.get(self.torque.kind, "given")

    def loop(self, adaptive: bool) -> Any:
        """The compiled loop; one without functions of the user is kept for the next run."""
        functions = [f for f in (*self.external.values(), self.dynamics.torque) if f is not None]
        if functions or self.source == "program":
            control = self.torque.function if self.source == "program" else None
            return _made(self.dynamics, self.integrator, adaptive, self.source, self.torque.held, control)
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
        )


def _made(
    d: Dynamics, method: Integrator, adaptive: bool, source: str, held: bool, control: Any = None
) -> Any:
    flow = flow_of(d, method, source=source, held=held, control=control)
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
) -> Any:
    d = Dynamics(model, passive, driven, external=dict.fromkeys(external), parameters=parameters)
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

    def fixed(self, start: np.ndarray, dt: float, output: Any, threads: int) -> Iterator[Piece]:
        """Steps of equal length."""
        plan = fixed_plan(self.name, self.duration, dt, output, self.time)
        period = self.wish.torque.sample_time
        hold = held_steps(self.name, period, dt) if period is not None else 1
        loop = self.wish.loop(adaptive=False)
        return fixed_run(loop, start, plan, t0=self.time, hold=hold, inputs=self.inputs, threads=threads)

    def adaptive(self, start: np.ndarray, output: Any, rtol: float, atol: Any) -> Iterator[Piece]:
        """Steps as long as the error allows."""
        loop: AdaptiveLoop = self.wish.loop(adaptive=True)
        wanted = adaptive_times(self.name, self.duration, output, self.time)
        n = self.d.model.nq + self.d.model.nv
        allowed = np.full(self.d.ny, np.inf)  # work and loss follow the motion; they do not decide the steps
        allowed[:n] = _tolerance(self.name, "atol", atol, (n,))
        return adaptive_run(
            loop,
            loop.begin(start, self.time, wanted),
            wanted,
            stop=self.stop,
            inputs=self.inputs,
            rtol=float(_tolerance(self.name, "rtol", rtol, ())),
            atol=allowed,
            hold=self.wish.torque.sample_time or 0.0,
            t0=self.time,
        )


def _tolerance(name: str, what: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    found = np.asarray(value, dtype=float)
    if found.shape not in ((), shape) or not (found > 0).all() or not np.isfinite(found).all():
        wanted = "a number above zero" + (f" or {shape[0]} of them" if shape else "")
        raise InputError(f"{name}: {what} is {value!r}; it must be {wanted}", argument=what)
    return found


# what was given


def _start(mechanism: Mechanism, q: Any, qd: Any) -> np.ndarray:
    """[q, qd] (..., nq + nv), quaternions of unit length."""
    name, model = mechanism.name, mechanism.model
    if not mechanism.nv:
        raise InputError(f"{name}: nothing moves, so there is nothing to simulate")
    if mechanism.constraints:
        raise InputError(
            f"{name}: constraints are not held in a simulation yet, and there are {listed(mechanism.constraints)}"
        )
    x = Expected("q", mechanism.q_names).checked(name, q)
    v = Expected("qd", mechanism.v_names).checked(name, qd)
    if x.ndim == v.ndim == 2 and len(x) != len(v):
        raise InputError(f"{name}: batches differ in length: q has {len(x)}, qd has {len(v)} rows")
    for what, array in (("q", x), ("qd", v)):
        if not np.isfinite(array).all():
            raise InputError(f"{name}: {what} holds NaN or infinity", argument=what)
    lead = x.shape[:-1] or v.shape[:-1]
    x, v = (np.broadcast_to(a, (*lead, a.shape[-1])).copy() for a in (x, v))
    for i in with_quaternion(model):
        stop = model.q_span[i].stop
        length = np.linalg.norm(x[..., stop - 4 : stop], axis=-1, keepdims=True)
        if not length.all():
            joint = model.joint_names[i]
            raise InputError(
                f"{name}: joint {joint!r} has the quaternion 0 0 0 0 in q; no rotation is 0 0 0 1",
                joint=joint,
            )
        x[..., stop - 4 : stop] /= length
    return np.concatenate([x, v], axis=-1)


def _parameters(mechanism: Mechanism, given: Mapping[str, Any] | None) -> tuple[tuple[str, ...], np.ndarray]:
    """Names, and values (np,) or (batch, np)."""
    names = tuple(given or ())
    check_symbols(mechanism.model, names)
    columns = [np.asarray(x, dtype=float) for x in (given or {}).values()]
    for name, column in zip(names, columns, strict=True):
        if column.ndim > 1 or not np.isfinite(column).all():
            raise InputError(
                f"{mechanism.name}: parameter {name!r} must be a number, or one for each motion of a batch"
            )
    if not columns:
        return names, np.zeros(0)
    try:
        return names, np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        told = ", ".join(f"{n} has {c.size}" for n, c in zip(names, columns, strict=True))
        raise InputError(f"{mechanism.name}: batches of parameters differ in length: {told}") from None


def _in_rows(
    mechanism: Mechanism,
    states: np.ndarray,
    drive: Torque,
    wrenches: dict[str, np.ndarray],
    values: np.ndarray,
) -> tuple[np.ndarray, int | None]:
    """The states with the axis of the batch, if anything has one; how many."""
    sizes = {"q and qd": len(states)} if states.ndim == 2 else {}
    sizes |= {"torque": drive.batch} if drive.batch is not None else {}
    sizes |= {f"external[{name!r}]": len(w) for name, w in wrenches.items() if w.ndim == 2}
    sizes |= {"parameters": len(values)} if values.ndim == 2 else {}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"{mechanism.name}: batches differ in length: {found} rows", **sizes)
    batch = next(iter(sizes.values()), None)
    if batch is not None and states.ndim == 1:
        states = np.broadcast_to(states, (batch, len(states)))
    return states, batch


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
                if len(piece.times):
                    told(min(1.0, (float(piece.times[-1]) - run.time) / run.duration))
        except KeyboardInterrupt:
            return found, True
    return found, isinstance(run.caller and run.caller.error, KeyboardInterrupt)


def _result(
    run: Run, pieces: list[Piece], interrupted: bool, external: Mapping[str, Any], took: float
) -> Result:
    d = run.d
    if not pieces:
        raise KeyboardInterrupt
    time = np.concatenate([piece.times for piece in pieces])
    Y, W = (np.concatenate([getattr(piece, x) for piece in pieces], axis=-2) for x in ("Y", "W"))
    q, qd, rest = (x for x in (Y[..., : d.model.nq], Y[..., d.model.nq : d.model.nq + d.model.nv], Y))
    column = d.model.nq + d.model.nv
    work = rest[..., column] if d.has_work else np.zeros(Y.shape[:-1])
    loss = rest[..., column + d.has_work] if d.has_loss else np.zeros(Y.shape[:-1])
    energy = Energy(W[..., 0], W[..., 1])
    last = pieces[-1]
    status, failures = status_of(run, pieces, Y, interrupted)
    return Result(
        mechanism=run.wish.mechanism,
        time=time,
        q=q,
        qd=qd,
        tau=W[..., 2:],
        energy=energy,
        work=work,
        loss=loss,
        status=status,
        balance=balance(energy.kinetic, energy.potential, work, loss),
        integrator=run.wish.integrator.name,
        steps=last.steps,
        rejected=last.rejected,
        dt=last.dt,
        took=took,
        external=external,
        passive=run.wish.passive,
        parameters=run.wish.parameters,
        failures=failures,
    )
