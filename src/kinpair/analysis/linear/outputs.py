"""Outputs of a linear model: outputs by name, and their derivatives.

| name | what |
|---|---|
| `q.NAME`, `qd.NAME`, `qdd.NAME` | displacement, rate or acceleration, dependent ones too |
| `tau.NAME` | an effort |
| `FRAME.x`, `.y`, `.z`, `.rx`, `.ry`, `.rz` | place and turn of a link or frame, in world axes |
| `FRAME.vx`, `.vy`, `.vz`, `.wx`, `.wy`, `.wz` | its velocity |
| `FRAME` | the six of its place and turn |
| `energy`, `centre_of_mass`, `momentum` | quantities of the mechanism |
| a function (time, q, qd) → numbers | in NumPy terms, see docs/compiler.md |

y = g(q, q̇, q̈, τ) changes by

    δy = g_q δq + g_q̇ δq̇ + g_q̈ δq̈ + g_τ δτ                                                       (LI14)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra.user_functions import call
from kinpair.analysis.linear.partials import along_rates
from kinpair.analysis.linear.point import Point
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, TraceError, listed, nearest
from kinpair.evaluation.quantities import QUANTITIES, request_of
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.system import System

PLACE = ("rx", "ry", "rz", "x", "y", "z")
SPEED = ("wx", "wy", "wz", "vx", "vy", "vz")
QUANTITY = {  # the quantities that are numbers of the state, and what each number is called
    "energy": ("kinetic", "potential"),
    "centre_of_mass": ("x", "y", "z"),
    "momentum": ("Lx", "Ly", "Lz", "Px", "Py", "Pz"),
}
GROUPS = ("q", "qd", "qdd", "tau")
Function: TypeAlias = Callable[..., Any]
Gradients: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """Numbers with their names; `gradients`: g_q, g_q̇, g_q̈, g_τ (..., numbers, nv) at a point."""

    names: tuple[str, ...]
    gradients: Callable[[Point], Gradients]


def outputs_of(m: Mechanism | System, given: Any) -> list[Output]:
    """Read the argument `outputs=`: a name, a function, several of them, or functions by name."""
    if isinstance(given, Mapping):
        return [_of_function(m, str(name), f) for name, f in given.items()]
    several: Sequence[Any] = (given,) if isinstance(given, str) or callable(given) else given
    return [_output(m, x) for x in several]


def _output(m: Mechanism | System, given: Any) -> Output:
    if callable(given):
        return _of_function(m, getattr(given, "__name__", "output"), given)
    name = str(given)
    group, _, entry = name.partition(".")
    if group in GROUPS and entry in m.v_names:
        return Output((name,), partial(_entry, m.nv, GROUPS.index(group), m.v_names.index(entry)))
    if isinstance(m, Mechanism):
        if name in QUANTITY:
            return _of_quantity(m, name)
        frame, _, what = name.rpartition(".")
        if name in m.frames:
            return Output(tuple(f"{name}.{x}" for x in PLACE), partial(_place, m, name, list(range(6))))
        if frame in m.frames and what in PLACE:
            return Output((name,), partial(_place, m, frame, [PLACE.index(what)]))
        if frame in m.frames and what in SPEED:
            return _of_speed(m, name, frame, SPEED.index(what))
    entries = [f"{group}.{x}" for group in GROUPS for x in m.v_names]
    frames = m.frames if isinstance(m, Mechanism) else ()
    parts = [f"{frame}.{x}" for frame in frames for x in (*PLACE, *SPEED)]
    raise InputError(
        f"{m.name}: no output {name!r}; {nearest(name, (*entries, *frames, *parts, *QUANTITY))}Outputs: "
        f"{', '.join(f'{group}.NAME' for group in GROUPS)}, FRAME.x, FRAME.vx, {listed(QUANTITY)}, or a function; "
        f"names: {listed(m.v_names)}; frames: {listed(frames) or 'none'}",
        output=name,
    )


def _nothing(at: Point, rows: int) -> list[np.ndarray]:
    shape = (*at.batch, rows, at.qd.shape[-1])
    return [np.zeros(shape) for _ in GROUPS]


def _entry(nv: int, group: int, entry: int, at: Point) -> Gradients:
    found = _nothing(at, 1)
    found[group][..., 0, entry] = 1.0
    return tuple(found)  # type: ignore[return-value]


def _place(m: Mechanism, frame: str, rows: list[int], at: Point) -> Gradients:
    found = _nothing(at, len(rows))
    found[0] = m.jacobian(at.q, frame)[..., rows, :]
    return tuple(found)  # type: ignore[return-value]


def _of_speed(m: Mechanism, name: str, frame: str, row: int) -> Output:
    def twist(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        place = m.model.place(frame)
        return kinematics.twist(kinematics.states(m.model, q, qd)[place.body], place)[row : row + 1]

    return Output((name,), _recorded(m, name, twist))


def _of_quantity(m: Mechanism, name: str) -> Output:
    quantity, request = QUANTITIES[name], request_of(name)

    def value(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        state = {"q": q, "qd": qd, "qdd": qdd}
        return quantity.compute(m.model, request, *(state[x] for x in quantity.state))

    return Output(tuple(f"{name}.{x}" for x in QUANTITY[name]), _recorded(m, name, value))


def _of_function(m: Mechanism | System, name: str, function: Any) -> Output:
    def value(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        return np.ravel(np.asarray(call(function, time[0], q, qd)))

    try:
        gradients = _recorded(m, name, value)
    except (TraceError, TypeError, ValueError) as problem:
        raise InputError(
            f"{m.name}: output {name!r} is a function that cannot be recorded: {problem}; it must be (time, q, qd) → "
            "numbers in NumPy terms, see docs/compiler.md",
            output=name,
        ) from problem
    count = gradients.count
    names = (name,) if count == 1 else tuple(f"{name}.{k}" for k in range(count))
    return Output(names, gradients)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Derivatives of a recorded function of q, q̇, q̈ and time."""

    kernel: Kernel
    nv: int

    @property
    def count(self) -> int:
        """Numbers of the function."""
        return next(iter(self.kernel.signature.outputs.values()))[0]

    def __call__(self, at: Point) -> Gradients:
        still = np.zeros_like(at.qd)
        time = np.broadcast_to(np.asarray(at.time, dtype=float), at.batch)[..., None]
        found = self.kernel(at.q, at.qd, still, np.ascontiguousarray(time))
        return (*found, np.zeros_like(found[0]))


def _recorded(m: Mechanism | System, name: str, function: Function) -> Recorded:
    model = m.model

    def gradients(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        value = np.asarray(function(q, qd, qdd, time))
        by = [jacobian(value, x) for x in (q, qd, qdd)]
        return along_rates(model, q, by[0]), by[1], by[2]

    sizes = {"q": (model.nq,), "qd": (model.nv,), "qdd": (model.nv,), "time": (1,)}
    return Recorded(Kernel(trace(gradients, sizes, name=f"derivatives of {name}")), model.nv)
