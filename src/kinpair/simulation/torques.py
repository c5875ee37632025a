"""What `torque=` and `external=` may be, and where in the loop it is evaluated.

| given | evaluated |
|---|---|
| None | no drives |
| array (nv,) or (batch, nv) | held throughout |
| (times, values): (m,), (m, nv) or (batch, m, nv) | on straight lines between the samples, constant beyond them |
| function (time, q, qd) → (nv,) that can be recorded | in machine code: at every stage, or at its sample time |
| any other function or object | called from the loop: at every stage, or at its sample time |

A function's sample time is its attribute `sample_time` [s]: it is evaluated at multiples of that and held between. A
function is recorded by running it on symbols, so one with a memory of its own must not be: objects are recorded only
if they say `traceable = True`, functions unless they say `traceable = False`, and only if the recording gives the
number that the function gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.evaluation import WRENCH, Expected
from kinpair.mechanism import Mechanism
from kinpair.simulation.layout import StateLayout
from kinpair.simulation.recording import Recorded, recorded
from kinpair.simulation.schedule import real

PLAIN = (FunctionType, partial, BuiltinFunctionType)
MEMORY = "an object may have a memory; with the attribute traceable = True it is recorded"


@dataclass(frozen=True, slots=True, eq=False)
class Torque:
    """Efforts, checked: of which `kind`, and what it needs."""

    kind: str = "none"  # none, constant, table, recorded, called
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    function: Any = None
    sample_time: float | None = None
    reason: str = ""  # why it is called and not recorded

    @property
    def sampled(self) -> bool:
        """Does it change at its own sample times only?"""
        return self.sample_time is not None

    @property
    def source(self) -> str:
        """Where a compiled loop has its inputs from."""
        if self.kind == "recorded" and self.sampled:
            return "program"
        return {"table": "table", "called": "call"}.get(self.kind, "constant")

    @property
    def inside(self) -> Callable[..., Any] | None:
        """The function, where it is recorded with the equations of motion."""
        return self.function if self.kind == "recorded" and not self.sampled else None

    @property
    def batch(self) -> int | None:
        """Trajectories it is different for."""
        ndim = {"constant": 2, "table": 3}.get(self.kind)
        return len(self.values) if self.values.ndim == ndim else None


def torque_of(mechanism: Mechanism, torque: Any, q: np.ndarray, qd: np.ndarray, time: float) -> Torque:
    """What was given as `torque=`; q, qd, time: a state to try it on."""
    if torque is None:
        return Torque()
    if isinstance(torque, Torque):
        return torque
    if callable(torque):
        return _function(mechanism, torque, q, qd, time)
    if isinstance(torque, tuple) and len(torque) == 2 and np.ndim(torque[1]) >= 2:
        return _table(mechanism, *torque)
    efforts = Expected("torque", mechanism.v_names).checked(mechanism.name, torque)
    _check_finite(mechanism, "torque", efforts)
    return Torque("constant", efforts)


def _table(mechanism: Mechanism, times: Any, values: Any) -> Torque:
    t, x = real(times), real(values)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        raise InputError(
            f"{mechanism.name}: the times of torque= must be an increasing vector of at least two numbers; "
            f"found shape {t.shape}"
        )
    if x.ndim not in (2, 3) or x.shape[-2:] != (len(t), mechanism.nv):
        raise InputError(
            f"{mechanism.name}: torque= has {len(t)} times and values of shape {x.shape}; expected "
            f"({len(t)}, {mechanism.nv}) or (batch, {len(t)}, {mechanism.nv}): {listed(mechanism.v_names, 12)}"
        )
    _check_finite(mechanism, "torque", x)
    return Torque("table", x, t)


def _check_finite(mechanism: Mechanism, what: str, x: np.ndarray) -> None:
    if not np.isfinite(x).all():
        raise InputError(f"{mechanism.name}: {what} holds NaN or infinity", argument=what)


def _function(mechanism: Mechanism, torque: Any, q: np.ndarray, qd: np.ndarray, time: float) -> Torque:
    sample_time = getattr(torque, "sample_time", None)
    if sample_time is not None and not (np.ndim(sample_time) == 0 and 0 < real(sample_time) < np.inf):
        raise InputError(
            f"{mechanism.name}: sample_time of torque= is {sample_time!r}; give seconds, above zero"
        )
    period = float(sample_time) if sample_time is not None else None
    if not getattr(torque, "traceable", isinstance(torque, PLAIN) or _is_plain_method(torque)):
        return Torque("called", function=torque, sample_time=period, reason=MEMORY)
    program = recorded(torque, (mechanism.nv,), (q, qd, time))
    if isinstance(program, Recorded):
        return Torque("recorded", function=program, sample_time=period)
    return Torque("called", function=torque, sample_time=period, reason=program.reason)


def _is_plain_method(function: Any) -> bool:
    """A bound method may have a memory in its object: it is taken for an object."""
    return isinstance(function, MethodType) and isinstance(function.__self__, type)


def external_of(
    mechanism: Mechanism, external: Mapping[str, Any] | None, q: np.ndarray, qd: np.ndarray, time: float
) -> tuple[dict[str, Callable[..., Any] | None], dict[str, np.ndarray]]:
    """Wrenches by link or frame: functions to be recorded (None for constants), and the constants."""
    if external is not None and not isinstance(external, Mapping):  # type: ignore[redundant-expr]
        raise InputError(
            f"external is {type(external).__name__}; give a dict: name of a link or frame → wrench (6,)"
        )
    functions: dict[str, Callable[..., Any] | None] = {}
    constants: dict[str, np.ndarray] = {}
    for name, wrench in (external or {}).items():
        mechanism.model.place(name)
        if callable(wrench):
            program = recorded(wrench, (len(WRENCH),), (q, qd, time))
            if not isinstance(program, Recorded):
                raise InputError(
                    f"{mechanism.name}: external[{name!r}] is a function that cannot be recorded: {program.reason}; it "
                    "must be (time, q, qd) → wrench (6,) in NumPy terms, see docs/compiler.md",
                    frame=name,
                )
            functions[name] = program
        else:
            constants[name] = Expected(f"external[{name!r}]", WRENCH).checked(mechanism.name, wrench)
            _check_finite(mechanism, f"external[{name!r}]", constants[name])
            functions[name] = None
    return functions, constants


class Caller:
    """A function of the user as the loop calls it: what it does wrong is kept, with the time."""

    def __init__(
        self, mechanism: Mechanism, layout: StateLayout, function: Callable[..., Any], wrenches: np.ndarray
    ) -> None:
        self.mechanism, self.layout, self.function, self.wrenches = mechanism, layout, function, wrenches
        self.fault = ""
        self.when = np.nan
        self.error: BaseException | None = None

    def __call__(self, time: float, y: np.ndarray) -> np.ndarray | None:
        """u at a state of which at least the motion is given, or None if there is none to be had."""
        if self.fault:
            return None
        nv = self.mechanism.nv
        try:
            u = np.asarray(self.function(time, y[self.layout.q], y[self.layout.qd]), dtype=float)
        except BaseException as problem:
            self.error = problem
            return self._refuse(time, f"torque raised {type(problem).__name__}: {problem}")
        if u.shape != (nv,):
            return self._refuse(time, f"torque returned shape {u.shape}; expected ({nv},)")
        if not isfinite(u.sum()) and not np.isfinite(u).all():
            k = int(np.flatnonzero(~np.isfinite(u))[0])
            name = self.mechanism.v_names[k]
            return self._refuse(time, f"torque returned {u[k]} for {name!r}")
        return np.concatenate([u, self.wrenches]) if self.wrenches.size else u

    def _refuse(self, time: float, fault: str) -> None:
        self.fault, self.when = fault, time
