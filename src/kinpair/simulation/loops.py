"""Compiled loops of what moves, by a method; kept for the next run of the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.compiler.cache import Store
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.time_loop.loop import AdaptiveLoop, FixedLoop
from kinpair.compiler.trace import trace
from kinpair.contact.records import Found
from kinpair.simulation.contact.between import point_bias
from kinpair.simulation.contact.prediction import CURVED
from kinpair.simulation.contact.rows import twists
from kinpair.simulation.contact.tree import Tree
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods import contact_between
from kinpair.simulation.methods.integrators import Integrator, flow_of
from kinpair.simulation.phases import STILL, ended_step
from kinpair.simulation.torques import Torque

Loop = FixedLoop | AdaptiveLoop
T = TypeVar("T")


class Guard(Protocol):
    """Values whose signs are watched."""

    @property
    def uses_inputs(self) -> bool:
        """Do they depend on u?"""
        ...

    def changes(self, d: Dynamics) -> bool:
        """Is there a `change`?"""
        ...

    def change(self, d: Dynamics, time: Scalar, y: Vector, u: Vector, e: Vector) -> tuple[Vector, Scalar]:
        """What becomes of a state where some of them have left their side."""
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
KERNELS = BoundedCache(256)


def recorded_of(d: Dynamics, f: Callable[..., Any], **sizes: Shape) -> Program:
    """f(dynamics, time, y, ...) of the sizes given, with parameters and phases put in."""
    count = len(sizes)
    every = {**sizes, **({"p": (len(d.parameters),)} if d.parameters else {})}

    def function(*arguments: Any) -> Any:
        here = d.concrete(arguments[-1]) if d.parameters else d
        return f(here.in_phase(arguments[1]), *arguments[:count])

    with np.errstate(all="ignore"):
        return trace(function, every, name=getattr(f, "__name__", "guard"))


def kernel_of(d: Dynamics, f: Callable[..., Any], **sizes: Shape) -> Kernel:
    """Its machine code, with the parameters as its last argument; kept for the next run."""
    own = (f, tuple(sizes.items()))
    if own not in d.kernels:
        d.kernels[own] = KERNELS.get((d.key, *own), lambda: Kernel(recorded_of(d, f, **sizes)))
    return d.kernels[own]


def _arms(d: Dynamics, p: np.ndarray, j: int) -> np.ndarray:
    """How fast group j slides by its rates (…, rates), with the parameters of each motion."""
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


class ContactTerms(NamedTuple):
    """What contact at a state is made of: poses R (bodies, 9), P (bodies, 3), bias accelerations (bodies, 6), screws
    (nv, 6), M (nv, nv), rates, q̈ without contact, rows A of constraints; and the last rate of each body."""

    R: np.ndarray
    P: np.ndarray
    accelerations: np.ndarray
    screws: np.ndarray
    M: np.ndarray
    qd: np.ndarray
    free: np.ndarray
    A: np.ndarray
    tree: Tree
    body: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def jacobian(self, body: int, point: np.ndarray) -> np.ndarray:
        """Return J (3, nv) of the velocity of a body at a point of the world."""
        J = np.zeros((3, len(self.qd)))
        k = int(self.tree.last[body])
        while k >= 0:
            J[:, k] = self.screws[k, 3:] + np.cross(self.screws[k, :3], point)
            k = int(self.tree.parent[k])
        return J

    def bias(self, found: Found, k: int) -> np.ndarray:
        """Return J̇q̇ (3,) of the rows of a point."""
        W, out = np.zeros((len(self.qd), 6)), np.zeros(3)
        twists(self.screws, self.tree, self.qd, W)
        a, b = (int(self.body[x[found.pair[k]]]) for x in (self.first, self.second))
        point_bias(found, k, W, self.accelerations, self.P, a, b, self.tree, np.zeros(CURVED), out)
        return out


class HeldContact:
    """Contact between events of what moves, evaluated at a state from Python."""

    def __init__(self, d: Dynamics) -> None:
        self.d, self.solve = d, contact_between.solve(d)
        self._memory, self._places = np.zeros(self.solve.memory), np.zeros(self.solve.places, dtype=np.int64)

    def start(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return z before the loop function."""
        kernel = kernel_of(self.d, contact_between.start, time=(), y=(self.d.ny,), u=(self.d.nu,))
        return np.array(kernel(time, y, u, *((p,) if self.d.parameters else ())))

    def solved(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return z with forces, accelerations and guards."""
        z = self.start(p, time, y, u)
        self.solve.function(0.0, z, self.solve.numbers, self.solve.whole, self._memory, self._places)
        return z

    def terms(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> ContactTerms:
        """Return what contact at a state is made of."""
        z, nv, nb, data = (
            self.start(p, time, y, u),
            self.d.model.nv,
            len(self.d.model.parent),
            self.d.touching,
        )
        assert data is not None
        rows = contact_between.row_count(self.d)
        sizes = [9 * nb, 3 * nb, 6 * nb, 6 * nv, nv * nv, nv, nv, rows * nv]
        R, P, bias, screws, M, qd, free, A, *_ = np.split(z, np.cumsum(sizes))
        bodies = R.reshape(nb, 9), P.reshape(nb, 3), bias.reshape(nb, 6)
        motion = screws.reshape(nv, 6), M.reshape(nv, nv), qd, free, A.reshape(rows, nv)
        whole = np.array(contact_between.tree_of(self.d), dtype=np.int64)
        parent, inward, place, root, last, *_ = np.split(whole, [nv, 2 * nv, 3 * nv, 4 * nv])
        tree = Tree(parent, inward, place, last, root)
        return ContactTerms(*bodies, *motion, tree, data.body, data.first, data.second)


def held_contact(d: Dynamics) -> HeldContact:
    """Return contact between events of what moves; kept for the next call."""
    return KERNELS.get(("HeldContact", d.key), lambda: HeldContact(d))


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
