"""Compiled loops of what moves, by a method; kept for the next run of the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.compiler.cache import Store
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.time_loop.loop import AdaptiveLoop, FixedLoop
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.integrators import Integrator, flow_of, formula_of
from kinpair.simulation.phases import ended_step
from kinpair.simulation.rounding import STILL
from kinpair.simulation.torques import Torque

Loop = FixedLoop | AdaptiveLoop
T = TypeVar("T")


class Guard(Protocol):
    """Values whose signs are watched."""

    @property
    def uses_inputs(self) -> bool:
        """True if they depend on u."""
        ...

    def changes(self, d: Dynamics) -> bool:
        """True if there is a `change`."""
        ...

    def change(self, d: Dynamics, time: Scalar, y: Vector, u: Vector, e: Vector) -> tuple[Vector, Scalar]:
        """Change a state where some of them have left their side."""
        ...

    def __call__(self, d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
        """The values at a state."""
        ...


class BoundedCache:
    """The last things that were made, by what they were made of; for several threads at once."""

    def __init__(self, room: int) -> None:
        self._room, self._values, self._lock = room, OrderedDict[Hashable, Any](), Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the kept value, or a new one."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._room:
                self._values.popitem(last=False)
        return value


LOOPS = BoundedCache(64)
KERNELS = BoundedCache(256)


def recorded_of(d: Dynamics, f: Callable[..., Any], **sizes: Shape) -> Program:
    """f(dynamics, time, y, ...) of the sizes given, with parameters and phases put in."""
    count = len(sizes)
    every = {**sizes, **({"p": (len(d.parameters),)} if d.parameters else {})}

    def function(*arguments: Any) -> Any:
        here = d.concrete(arguments[-1]) if d.parameters else d
        return f(here.in_phase(arguments[1]), *arguments[:count])

    return formula_of(d, function, every, getattr(f, "__name__", "guard"))


def kernel_of(d: Dynamics, f: Callable[..., Any], **sizes: Shape) -> Kernel:
    """Machine code of the dynamics, with the parameters as its last argument; kept for the next run."""
    own = (f, tuple(sizes.items()))
    if own not in d.kernels:
        d.kernels[own] = KERNELS.get((d.key, *own), lambda: Kernel(recorded_of(d, f, **sizes)))
    return d.kernels[own]


def _arms(d: Dynamics, p: np.ndarray, j: int) -> np.ndarray:
    """Arms by which group j slides by its rates (…, rates), with the parameters of each motion."""
    if len(d.groups[j].rates) == 1:
        return np.ones(1)
    if p.ndim > 1:
        return np.array([_arms(d, own, j) for own in p])
    return np.asarray(d.concrete(p).arms[j], dtype=float)


def slide(d: Dynamics, p: np.ndarray, y: np.ndarray) -> None:
    """Let groups that move slide in the direction of their rates, and hold the others, in states (..., ny) in place."""
    qd, first = y[..., d.layout.qd], d.layout.share.start
    for j, group in enumerate(d.groups):
        rates = qd[..., list(group.rates)] * _arms(d, p, j)
        size = np.sqrt((rates * rates).sum(-1, keepdims=True))
        moves = size > STILL
        y[..., first : first + len(group.rates)] = np.where(moves, rates / np.where(moves, size, 1.0), 0.0)
        y[..., d.layout.phase.start + j] = np.where(moves[..., 0], 0.0, 1.0)
        first += len(group.rates)


def begin(d: Dynamics, p: np.ndarray, time: float, numbers: np.ndarray) -> None:
    """Phases of dry friction in states and inputs (..., ny + nu) where steps begin that no event cuts, in place."""
    if not d.sticking:
        return
    y, u = d.parted(numbers)
    slide(d, p, y)
    kernel = kernel_of(d, ended_step, time=(), y=(d.ny,), u=(d.nu,))
    for _ in range(len(d.groups) + 1):
        own = (np.broadcast_to(p, (*y.shape[:-1], p.shape[-1])),) if d.parameters else ()
        later, more = kernel(np.full(y.shape[:-1], time) if y.ndim > 1 else time, y, u, *own)
        y[...] = later
        if not np.any(more > 1.0):
            break


def loop_of(
    d: Dynamics, method: Integrator, torque: Torque, adaptive: bool, guard: Guard | None, watched: bool = True
) -> Loop:
    """Machine code for the steps of a method, which stops where a guard changes its sign; with `watched` False samples
    have no energies and efforts."""
    control = torque.control
    key = (d.key, method, adaptive, torque.source, torque.sampled, control, guard, watched)

    def make() -> Loop:
        change = guard.change if adaptive and guard and guard.changes(d) else None
        flow = flow_of(
            d,
            method,
            source=torque.source,
            sampled=torque.sampled,
            control=control,
            guard=guard,
            change=change,
            watched=watched,
        )
        if adaptive:
            assert method.tableau is not None
            return AdaptiveLoop(flow, method.tableau, store=Store())
        return FixedLoop(flow, method.tableau, store=Store())

    return LOOPS.get(key, make)
