"""Map from one event to the next, with exact derivatives.

    ẏ = f(y, p),   Φ̇ = f_y Φ,   ψ̇ = f_y ψ + f_p                          flow, by dop853 with equal steps      (GW4)
    x⁺ = R(y(T)),   g(y(T)) = 0                                          event and what it does                (GW5)
    P_x = R_y (1 − f g_y / (g_y f)) Φ                                    derivative of the return map          (GW6)

y = (q, q̇); p is a parameter: one of the mechanism, or "slope", by which gravity is turned about the y axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

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
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.quantities import forward_dynamics, request_of
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.model.model import Model
from kinpair.model.symbols import symbol_names, with_symbols
from kinpair.simulation.events.events import Change, Event
from kinpair.simulation.methods.tableaux import DOP853

SLOPE = "slope"
STEPS = 256  # from event to event: of order 8


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
