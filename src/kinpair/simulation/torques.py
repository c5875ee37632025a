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

from kinpair.compiler.interpret import interpret
from kinpair.compiler.program import Program
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, listed
from kinpair.evaluation import WRENCH, Expected
from kinpair.mechanism import Mechanism
from kinpair.simulation.schedule import real

PLAIN = (FunctionType, partial, BuiltinFunctionType)
AGREES = 1e-9  # relative: a recording and its function differ by rounding


@dataclass(frozen=True, slots=True, eq=False)
class Torque:
    """Efforts, checked: of which `kind`, and what it needs."""

    kind: str = "none"  # none, constant, table, recorded, called
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    function: Any = None
    sample_time: float | None = None

    @property
    def held(self) -> bool:
        """Does it change at its own sample times only?"""
        return self.sample_time is not None

    @property
    def batch(self) -> int | None:
        """Trajectories it is different for."""
        ndim = {"constant": 2, "table": 3}.get(self.kind)
        return len(self.values) if self.values.ndim == ndim else None


def torque_of(mechanism: Mechanism, given: Any, q: np.ndarray, qd: np.ndarray, time: float) -> Torque:
    """What was given as `torque=`; q, qd, time: a state to try it on."""
    if given is None:
        return Torque()
    if isinstance(given, Torque):
        return given
    if callable(given):
        return _function(mechanism, given, q, qd, time)
    if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[1]) >= 2:
        return _table(mechanism, *given)
    found = Expected("torque", mechanism.v_names).checked(mechanism.name, given)
    _check_finite(mechanism, "torque", found)
    return Torque("constant", found)


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


def _function(mechanism: Mechanism, given: Any, q: np.ndarray, qd: np.ndarray, time: float) -> Torque:
    sample_time = getattr(given, "sample_time", None)
    if sample_time is not None and not (np.ndim(sample_time) == 0 and 0 < real(sample_time) < np.inf):
        raise InputError(
            f"{mechanism.name}: sample_time of torque= is {sample_time!r}; give seconds, above zero"
        )
    period = float(sample_time) if sample_time is not None else None
    recordable = getattr(given, "traceable", isinstance(given, PLAIN) or _is_plain_method(given))
    if recordable and _records(mechanism, given, mechanism.nv, q, qd, time):
        return Torque("recorded", function=given, sample_time=period)
    return Torque("called", function=given, sample_time=period)


def _is_plain_method(given: Any) -> bool:
    """A bound method may have a memory in its object: it is taken for an object."""
    return isinstance(given, MethodType) and isinstance(given.__self__, type)


def recorded(function: Callable[..., Any], nq: int, nv: int) -> Program | None:
    """The function on symbols (time, q, qd), if that can be done."""
    try:
        return trace(function, {"time": (), "q": (nq,), "qd": (nv,)})
    except Exception:
        return None


def _records(
    mechanism: Mechanism, f: Callable[..., Any], size: int, q: np.ndarray, qd: np.ndarray, time: float
) -> bool:
    """Can it be recorded, one vector of the size, and is the recording true at this state?"""
    program = recorded(f, mechanism.nq, mechanism.nv)
    if program is None or list(program.output_shapes.values()) != [(size,)]:
        return False
    try:
        plain = np.asarray(f(time, q.copy(), qd.copy()), dtype=float)
    except Exception:
        return False
    found = interpret(program, time, q, qd)
    scale = max(1.0, float(np.abs(plain).max(initial=0.0)))
    return plain.shape == (size,) and bool(np.abs(found - plain).max(initial=0.0) <= AGREES * scale)


def external_of(
    mechanism: Mechanism, given: Mapping[str, Any] | None, q: np.ndarray, qd: np.ndarray, time: float
) -> tuple[dict[str, Callable[..., Any] | None], dict[str, np.ndarray]]:
    """Wrenches by link or frame: functions to be recorded (None for constants), and the constants."""
    if given is not None and not isinstance(given, Mapping):  # type: ignore[redundant-expr]
        raise InputError(
            f"external is {type(given).__name__}; give a dict: name of a link or frame → wrench (6,)"
        )
    functions: dict[str, Callable[..., Any] | None] = {}
    constants: dict[str, np.ndarray] = {}
    for name, wrench in (given or {}).items():
        mechanism.model.place(name)
        if callable(wrench):
            if not _records(mechanism, wrench, len(WRENCH), q, qd, time):
                raise InputError(
                    f"{mechanism.name}: external[{name!r}] is a function that cannot be recorded; it must be "
                    "(time, q, qd) → wrench (6,) in NumPy terms, see docs/compiler.md",
                    frame=name,
                )
            functions[name] = wrench
        else:
            constants[name] = Expected(f"external[{name!r}]", WRENCH).checked(mechanism.name, wrench)
            _check_finite(mechanism, f"external[{name!r}]", constants[name])
            functions[name] = None
    return functions, constants


class Caller:
    """A function of the user as the loop calls it: what it does wrong is kept, with the time."""

    def __init__(self, mechanism: Mechanism, function: Callable[..., Any], wrenches: np.ndarray) -> None:
        self.mechanism, self.function, self.wrenches = mechanism, function, wrenches
        self.fault = ""
        self.when = np.nan
        self.error: BaseException | None = None

    def __call__(self, time: float, y: np.ndarray) -> np.ndarray | None:
        """u, or None if there is none to be had."""
        if self.fault:
            return None
        nq, nv = self.mechanism.nq, self.mechanism.nv
        try:
            found = np.asarray(self.function(time, y[:nq], y[nq : nq + nv]), dtype=float)
        except BaseException as problem:
            self.error = problem
            return self._refuse(time, f"torque raised {type(problem).__name__}: {problem}")
        if found.shape != (nv,):
            return self._refuse(time, f"torque returned shape {found.shape}; expected ({nv},)")
        if not isfinite(found.sum()) and not np.isfinite(found).all():
            k = int(np.flatnonzero(~np.isfinite(found))[0])
            name = self.mechanism.v_names[k]
            return self._refuse(time, f"torque returned {found[k]} for {name!r}")
        return np.concatenate([found, self.wrenches]) if self.wrenches.size else found

    def _refuse(self, time: float, fault: str) -> None:
        self.fault, self.when = fault, time
