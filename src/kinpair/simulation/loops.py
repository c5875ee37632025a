"""Compiled loops of what moves, by a method; kept for the next run of the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Protocol, TypeVar

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.compiler.cache import Store
from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.integrators import Integrator, flow_of
from kinpair.simulation.torques import Torque

Loop = FixedLoop | AdaptiveLoop
T = TypeVar("T")


class Guard(Protocol):
    """Values whose signs are watched."""

    @property
    def uses_inputs(self) -> bool:
        """Do they depend on u?"""
        ...

    def __call__(self, d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
        """The values at a state."""
        ...


class BoundedCache:
    """The last things that were made, by what they were made of; for several threads at once."""

    def __init__(self, room: int) -> None:
        self._room, self._values, self._lock = room, OrderedDict[Hashable, Any](), Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The one kept, or a new one."""
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


def loop_of(d: Dynamics, method: Integrator, torque: Torque, adaptive: bool, guard: Guard | None) -> Loop:
    """Machine code for the steps of a method, which stops where a guard changes its sign."""
    control = torque.control
    key = (d.key, method, adaptive, torque.source, torque.sampled, control, guard)

    def make() -> Loop:
        flow = flow_of(d, method, source=torque.source, sampled=torque.sampled, control=control, guard=guard)
        if adaptive:
            assert method.tableau is not None
            return AdaptiveLoop(flow, method.tableau, store=Store())
        return FixedLoop(flow, method.tableau, store=Store())

    return LOOPS.get(key, make)
