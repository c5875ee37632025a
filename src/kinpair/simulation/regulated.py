"""A regulator in a run: its numbers are rows of a table, its memory lies among the inputs, the rest is a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.compiler.trace import trace
from kinpair.control.regulator import Measured, Regulator, check_sampled
from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism

FORMULAS: WeakKeyDictionary[Regulator, dict[tuple[Any, ...], str]] = (
    WeakKeyDictionary()
)  # those recorded so far


@dataclass(frozen=True)
class Regulated:
    """A regulator that was recorded; equal to another one with the same formula, whatever its numbers are."""

    formula: str
    regulator: Regulator = field(compare=False, repr=False)

    @property
    def numbers(self) -> int:
        """Numbers of a row of its table."""
        return self.regulator.table.width

    def __call__(self, d: Any, time: Scalar, y: Vector, u: Vector, *row: Vector) -> Vector:
        """New inputs: its efforts, the wrenches as they were, and what it remembers; `d`: what moves."""
        q, qd = d.motion(y)
        layout, x = d.input_layout, self.regulator
        accelerations = partial(_accelerations, d, time, y, u)
        at = Measured(time, q, qd, u[layout.control], accelerations, x.sample_time or 0.0, y[d.layout.x])
        inputs, memory = x.act(at, row[0], u[layout.memory])
        return np.concatenate([inputs, u[layout.wrenches], memory])


def _accelerations(d: Any, time: Scalar, y: Vector, u: Vector) -> Vector:
    return d.accelerations(d.state(time, y, u), d.loads(time, *d.motion(y), u))[0]


def regulated(mechanism: Mechanism, regulator: Regulator, names: Sequence[str]) -> Regulated:
    """The regulator, checked for a mechanism with inputs of these names, and recorded."""
    m, x = mechanism, regulator
    if x.model.v_names != m.model.v_names:
        raise InputError(
            f"{m.name}: the regulator is for the rates {listed(x.model.v_names, 12)} of {x.model.name!r}, and this "
            f"mechanism has {listed(m.v_names, 12)}; make one for this mechanism",
            argument="torque",
        )
    check_sampled(x)
    known, key = FORMULAS.setdefault(x, {}), (m.nx, *names)
    if key not in known:
        known[key] = _formula(m, x, names)
    return Regulated(known[key], x)


def _formula(m: Mechanism, x: Regulator, names: Sequence[str]) -> str:
    def act(time: Any, q: Any, qd: Any, own: Any, u: Any, qdd: Any, row: Any, memory: Any) -> Any:
        at = Measured(time, q, qd, u, lambda: qdd, x.sample_time or 0.0, own)
        return np.concatenate(x.act(at, row, memory))

    size = x.memory.shape[-1]
    sizes = {"time": (), "q": (m.nq,), "qd": (m.nv,), "x": (m.nx,), "u": (len(names),), "qdd": (m.nv,)}
    program = trace(act, {**sizes, "row": (x.table.width,), "memory": (size,)}, name=type(x).__name__)
    count = program.outputs[0].size - size
    if count != len(names):
        raise InputError(
            f"{m.name}: the regulator has {count} inputs, and the mechanism {len(names)}: {listed(names, 12)}",
            argument="input",
        )
    return str(program)
