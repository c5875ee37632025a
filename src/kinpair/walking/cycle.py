"""Motions that repeat themselves from event to event: fixed points of the return map, with its exact derivatives.

    R(φ(x_i, T_i)) = x_{i+1},   g(φ(x_i, T_i)) = 0,   x_{k+1} = x_1    unknowns x_i and T_i, i = 1 ... k      (GW7)

    ẏ = f(y, p),   Φ̇ = f_y Φ,   ψ̇ = f_y ψ + f_p                        flow, by dop853 with equal steps       (GW4)
    x⁺ = R(y(T)),   g(y(T)) = 0                                        event and what it does                 (GW5)
    P_x = R_y (1 − f g_y / (g_y f)) Φ                                  derivative of the return map           (GW6)

y = (q, q̇); p is a parameter: one of the mechanism, or "slope", by which gravity is turned about the y axis.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.algebra.user_arrays import plain
from kinpair.algebra.user_functions import call
from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.time_loop.inputs import Inputs
from kinpair.compiler.time_loop.loop import FixedLoop
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.evaluation.quantities.dynamics import forward_dynamics
from kinpair.evaluation.quantities.request import request_of
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.model.model import Model
from kinpair.model.symbols import symbol_names, with_symbols
from kinpair.runs.judgement import whole_runs
from kinpair.runs.simulate import simulate
from kinpair.simulation.events.events import Change, Event
from kinpair.simulation.methods.tableaux import DOP853
from kinpair.walking import pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SLOPE = "slope"
STEPS = 256  # from event to event: of order 8
ITERATIONS = 50
FOUND = 1e-12
LONGEST = 60.0  # [s] to the first event of a guess


class Passage(NamedTuple):
    """Passage from a state to the event: the state there (2n,), its derivatives by the first one, by p and by time."""

    y: np.ndarray
    Phi: np.ndarray
    psi: np.ndarray
    f: np.ndarray


class Crossing(NamedTuple):
    """Crossing at a state: g and its gradient (2n,), the state behind the event and its derivative (2n, 2n)."""

    g: float
    g_y: np.ndarray
    x: np.ndarray
    R_y: np.ndarray


class ReturnMap:
    """The flow of a mechanism between events of one kind, over one parameter."""

    def __init__(self, m: Mechanism, event: Event, parameter: str = SLOPE) -> None:
        _check(m, event, parameter)
        self.mechanism, self.event, self.parameter = m, event, parameter
        self.n = 2 * m.nv

    def flow(self, x: np.ndarray, time: float, p: float) -> Passage:
        """A time from the state x (2n,) on.    (GW4)"""
        n = self.n
        start = np.concatenate([x, np.eye(n).ravel(), np.zeros(n)])
        inputs = Inputs(parameters=np.array([p]))
        found = self._loop.run(start, dt=time / STEPS, samples=1, every=STEPS, inputs=inputs)
        y = found.Y[0]
        rate, _, _ = self._rates(y[:n], np.array([p]))
        return Passage(y[:n], y[n : n + n * n].reshape(n, n), y[n + n * n :], rate)

    def path(self, x: np.ndarray, time: float, p: float, samples: int) -> np.ndarray:
        """States (samples + 1, 2n) along the cycle."""
        n, every = self.n, -(-STEPS // samples)
        start = np.concatenate([x, np.eye(n).ravel(), np.zeros(n)])
        inputs = Inputs(parameters=np.array([p]))
        dt = time / (samples * every)
        found = self._loop.run(start, dt=dt, samples=samples, every=every, inputs=inputs)
        return np.concatenate([x[None], found.Y[:, :n]])

    def crossing(self, y: np.ndarray) -> Crossing:
        """The event at a state, with what it does.    (GW5)"""
        g, g_y, x, R_y = self._event(y)
        return Crossing(float(g), g_y, x, R_y)

    def derivative(self, passage: Passage, at: Crossing) -> np.ndarray:
        """P_x (2n, 2n)."""
        along = np.outer(passage.f, at.g_y) / (at.g_y @ passage.f)
        return at.R_y @ (np.eye(self.n) - along) @ passage.Phi  # (GW6)

    @cached_property
    def _loop(self) -> FixedLoop:
        n = self.n

        def rhs(y: Any, p: Any) -> Any:
            f, f_y, f_p = self._derivatives(y[:n], p)
            Phi, psi = y[n : n + n * n].reshape(n, n), y[n + n * n :]
            return np.concatenate([f, (f_y @ Phi).ravel(), f_y @ psi + f_p[:, 0]])

        size = n + n * n + n
        program = trace(rhs, {"y": (size,), "p": (1,)}, name="flow")
        return FixedLoop(Flow(size, 0, 1, rhs=program), DOP853, store=Store())

    @cached_property
    def _rates(self) -> Kernel:
        return Kernel(trace(self._derivatives, {"y": (self.n,), "p": (1,)}, name="rates"))

    @cached_property
    def _event(self) -> Kernel:
        def traced(y: Any) -> Any:
            q, qd = y[: self.n // 2], y[self.n // 2 :]
            g = array([call(self.event.function, 0.0, q, qd)])
            change: Change = call(self.event.action, 0.0, q, qd)
            x = np.concatenate([np.asarray(plain(part), dtype=object) for part in (change.q, change.qd)])
            return g[0], jacobian(g, y)[0], x, jacobian(x, y)

        return Kernel(trace(traced, {"y": (self.n,)}, name="event"))

    def _derivatives(self, y: Any, p: Any) -> tuple[Any, Any, Any]:
        n = self.n // 2
        model = _with_parameter(self.mechanism.model, self.parameter, p[0])
        request = request_of("forward_dynamics")
        qdd, _ = forward_dynamics(model, request, y[:n], y[n:], np.zeros(n), {})
        f = np.concatenate([y[n:], qdd])
        return f, jacobian(f, y), jacobian(f, p)


def tilted(of: ReturnMap, p: float) -> Mechanism:
    """The mechanism at a value of the parameter, for a run."""
    model = of.mechanism.model
    if of.parameter != SLOPE:
        return Mechanism(with_symbols(model, {of.parameter: p}))
    gravity = _with_parameter(model, SLOPE, p).gravity
    return Mechanism(build(model.description.with_gravity(tuple(gravity.tolist()))))


def _with_parameter(model: Model, name: str, value: Any) -> Model:
    if name != SLOPE:
        return with_symbols(model, {name: value})
    x, y, z = model.gravity
    c, s = np.cos(value), np.sin(value)
    return replace(model, gravity=array([x * c - z * s, y + 0.0 * c, x * s + z * c]))


def _check(m: Mechanism, event: Event, parameter: str) -> None:
    if m.nq != m.nv or m.closure is not None:
        raise InputError(
            f"cycle: {m.name} has quaternions or constraints; give a tree of joints without them"
        )
    if not callable(event.action):
        raise InputError(
            f"cycle: event {event.name!r} has action {event.action!r}; give a function (time, q, qd) → "
            "kp.Change(q=, qd=)"
        )
    names: Sequence[str] = (SLOPE, *symbol_names(m.model))
    if parameter not in names:
        raise InputError(
            f"cycle: {m.name} has no parameter {parameter!r}; {nearest(parameter, names)}Parameters: {listed(names)}"
        )


class Leg(NamedTuple):
    """A passage and the event at its end."""

    passage: Passage
    crossing: Crossing


class Residual(NamedTuple):
    """Residual of (GW7), derivatives by all unknowns and by the parameter; and the passages."""

    rest: np.ndarray
    J: np.ndarray
    by_p: np.ndarray
    legs: list[Leg]


def residual(of: ReturnMap, unknowns: np.ndarray, p: float) -> Residual:
    """(GW7) for unknowns (k (2n + 1)): x_1, T_1, x_2, T_2, ..."""
    n = of.n
    parts = unknowns.reshape(-1, n + 1)
    k, size = len(parts), unknowns.size
    rest, J, by_p = np.zeros(size), np.zeros((size, size)), np.zeros(size)
    legs: list[Leg] = []
    for i, part in enumerate(parts):
        passage = of.flow(part[:n], float(part[n]), p)
        at = of.crossing(passage.y)
        rows, own = slice(i * (n + 1), i * (n + 1) + n), i * (n + 1)
        following = ((i + 1) % k) * (n + 1)
        rest[rows], rest[own + n] = at.x - parts[(i + 1) % k, :n], at.g  # (GW7)
        J[rows, own : own + n] += at.R_y @ passage.Phi
        J[rows, following : following + n] -= np.eye(n)
        J[rows, own + n], J[own + n, own + n] = at.R_y @ passage.f, at.g_y @ passage.f
        J[own + n, own : own + n] = at.g_y @ passage.Phi
        by_p[rows], by_p[own + n] = at.R_y @ passage.psi, at.g_y @ passage.psi
        legs.append(Leg(passage, at))
    return Residual(rest, J, by_p, legs)


@final
@dataclass(frozen=True, eq=False)
class Cycle:
    """A motion that repeats itself after some steps: state behind each event, q (steps, n) and qd, and the time of each
    step [s]."""

    of: ReturnMap
    unknowns: np.ndarray
    value: float  # of the parameter
    rest: float

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism that walks."""
        return self.of.mechanism

    @property
    def _parts(self) -> np.ndarray:
        return self.unknowns.reshape(-1, self.of.n + 1)

    @property
    def q(self) -> np.ndarray:
        """Coordinates behind each event (steps, n)."""
        return self._parts[:, : self.of.n // 2]

    @property
    def qd(self) -> np.ndarray:
        """Rates behind each event (steps, n)."""
        return self._parts[:, self.of.n // 2 : self.of.n]

    @property
    def times(self) -> np.ndarray:
        """Times of each step [s] (steps,)."""
        return self._parts[:, -1]

    @property
    def period(self) -> float:
        """Period of all steps together [s]."""
        return float(self.times.sum())

    @cached_property
    def jacobian(self) -> np.ndarray:
        """Derivative (2n, 2n) of the map over all steps."""
        found = np.eye(self.of.n)
        for leg in residual(self.of, self.unknowns, self.value).legs:
            found = self.of.derivative(*leg) @ found
        return found

    @cached_property
    def multipliers(self) -> np.ndarray:
        """Eigenvalues of the derivative, the largest first."""
        found = np.linalg.eigvals(self.jacobian)
        return found[np.lexsort((-found.imag, -np.abs(found).round(12)))]

    @property
    def stable(self) -> bool:
        """True if small disturbances die out."""
        return bool(np.abs(self.multipliers[0]) < 1.0)

    def path(self, samples: int = 200) -> tuple[np.ndarray, np.ndarray]:
        """Times (n,) and states (n, 2 nv) over all steps; at an event the state before and the state behind."""
        times: list[np.ndarray] = []
        states: list[np.ndarray] = []
        before = 0.0
        for part in self._parts:
            T = float(part[-1])
            times.append(before + np.linspace(0.0, T, samples + 1))
            states.append(self.of.path(part[:-1], T, self.value, samples))
            before += T
        return np.concatenate(times), np.concatenate(states)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Phase portrait of every coordinate; written to the path if given."""
        _, states = self.path()
        steps = len(self.times)
        words = f"{steps} step{'s' if steps > 1 else ''}"
        name = title or f"{self.mechanism.name}: {words} in {self.period:.4g} s"
        return pictures.portrait(self.mechanism.v_names, states, len(self.times), name, path)

    def __str__(self) -> str:
        words = "stable" if self.stable else "not stable"
        steps = f"{len(self.times)} step{'s' if len(self.times) > 1 else ''}"
        return "\n".join(
            [
                f"{self.mechanism.name}: repeats itself after {steps}, {self.period:.6g} s, "
                f"at {self.of.parameter} = {self.value:.6g}",
                f"multipliers {listed([f'{x:.6g}' for x in self.multipliers], 4)}: {words}",
            ]
        )


def cycle(
    m: Mechanism,
    q: Any,
    qd: Any,
    event: Event,
    *,
    slope: float = 0.0,
    steps: int = 1,
    parameter: str = SLOPE,
    value: float | None = None,
    duration: float | None = None,
) -> Cycle:
    """The motion near a guess (q, qd), the state behind an event, that repeats itself after so many events.

    event: as for `kp.simulate`; its action is a function that returns a `kp.Change` of q and qd in NumPy terms. slope
    [rad]: gravity is turned about the y axis, so that the ground falls along x. parameter: another one of the mechanism
    by name in place of the slope, with its value. duration [s]: a guess of the time of a step, else found by a run.

    SingularError where Newton's iteration does not end; `parts` has what was found.
    """
    if not (isinstance(steps, int) and steps > 0):  # type: ignore[redundant-expr]
        raise InputError(f"cycle: steps is {steps!r}; give a positive whole number")
    of = ReturnMap(m, event, parameter)
    p = float(slope if value is None else value)
    state = np.concatenate([m.checked("q", q), m.checked("qd", qd)]).astype(float)
    start: list[np.ndarray] = []
    for _ in range(steps):
        T = _first_time(of, state, p) if duration is None else float(duration)
        start.append(np.append(state, T))
        state = of.crossing(of.flow(state, T, p).y).x
    return refined(of, np.concatenate(start), p)


def refined(of: ReturnMap, unknowns: np.ndarray, p: float) -> Cycle:
    """Newton's iteration on (GW7)."""
    size, best = np.inf, unknowns
    for _ in range(ITERATIONS):
        found = residual(of, unknowns, p)
        now = float(np.abs(found.rest).max())
        if not np.isfinite(now) or (now >= 0.5 * size and size < 1e3 * FOUND):
            break
        if now < size:
            size, best = now, unknowns
        try:
            unknowns = unknowns - np.linalg.solve(found.J, found.rest)
        except np.linalg.LinAlgError:
            break
        if not (unknowns.reshape(-1, of.n + 1)[:, -1] > 0.0).all():
            break
    if not size < 1e3 * FOUND:
        raise SingularError(
            f"{of.mechanism.name}: no motion found that repeats itself: {size:.2g} is left at {of.parameter} = "
            f"{p:.4g}; give a guess nearer to it, or another number of steps",
            state=best,
        )
    return Cycle(of, best, p, size)


def _first_time(of: ReturnMap, state: np.ndarray, p: float) -> float:
    """Time when the event first happens in a run from a state."""
    n = of.n // 2
    watched = Event(of.event.name, of.event.function, of.event.direction, "stop")
    m = tilted(of, p)
    with whole_runs():
        run = simulate(m, state[:n], state[n:], duration=LONGEST, events=[watched], progress=False)
    if not run.events:
        raise SingularError(
            f"{of.mechanism.name}: event {of.event.name!r} does not happen within {LONGEST:g} s of the guess; "
            "give another guess",
            state=state,
        )
    return float(run.events[0].time)
