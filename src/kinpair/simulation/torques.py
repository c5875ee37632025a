"""Arguments `torque=`, `input=` and `external=`, and where in the loop it is evaluated.

| given | evaluated |
|---|---|
| None | no drives |
| array (nv,) or (batch, nv) | constant throughout |
| (times, values): (m,), (m, nv) or (batch, m, nv) | on straight lines between the samples, constant beyond them |
| function (time, q, qd) → (nv,) that can be recorded | in machine code: at every stage, or at its sample time |
| a regulator (`kp.regulator`) | in machine code, likewise, with its numbers as a table and a memory |
| any other function or object | called from the loop: at every stage, or at its sample time |

`input=` has nu numbers in place of nv, and its function may be (time, q, qd, x). `external=` takes constants (6,) and
functions (time, q, qd) → (6,); those that cannot be recorded are called with the efforts.

A function's sample time is its attribute `sample_time` [s]: it is evaluated at multiples of that and constant in
between. A
function is recorded by running it on symbols, so one with a memory of its own must not be: objects are recorded only
if they say `traceable = True`, functions unless they say `traceable = False`, and only if the recording gives the
number that the function gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from math import isfinite
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from kinpair.errors import InputError, described, listed
from kinpair.evaluation.arguments import WRENCH, Expected
from kinpair.simulation.recording import NotRecorded, Recorded, recorded
from kinpair.simulation.schedule import real

if TYPE_CHECKING:
    from kinpair.algebra.arrays import Scalar, Vector
    from kinpair.mechanism import Mechanism
    from kinpair.simulation.layout import StateLayout

PLAIN = (FunctionType, partial, BuiltinFunctionType)
MEMORY = "an object may have a memory; with the attribute traceable = True it is recorded"


class CalledWrench(NamedTuple):
    """A function of `external=` that cannot be recorded, and why."""

    name: str
    function: Callable[..., Any]
    reason: str
    avoidable: bool

    @property
    def word(self) -> str:
        """The argument that it is."""
        return f"external[{self.name!r}]"


@dataclass(frozen=True, slots=True, eq=False)
class Torque:
    """Efforts, checked: of which `kind`, and what it needs."""

    kind: str = "none"  # none, constant, table, recorded, regulated, called
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    function: Any = None
    sample_time: float | None = None
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0))  # of a regulator, at the start
    reason: str = ""  # why it is called and not recorded
    word: str = "torque"  # what it was given as
    takes_x: bool = False  # is it a function of internal states as well?
    avoidable: bool = False  # True if it could be recorded, written in NumPy terms
    wrenches: tuple[CalledWrench, ...] = ()  # functions of `external=` that are called with it

    @property
    def sampled(self) -> bool:
        """True if it changes at its own sample times only."""
        return self.sample_time is not None

    @property
    def source(self) -> str:
        """Source where a compiled loop has its inputs from."""
        if self.kind == "regulated" or (self.kind == "recorded" and self.sampled):
            return "program"
        return {"table": "table", "called": "call"}.get(self.kind, "constant")

    @property
    def inside(self) -> Callable[..., Any] | None:
        """The function, where it is recorded with the equations of motion."""
        return self.function if self.kind == "recorded" and not self.sampled else None

    @property
    def batch(self) -> int | None:
        """Trajectories it is different for."""
        if self.memory.ndim == 2:
            return len(self.memory)
        ndim = {"constant": 2, "table": 3}.get(self.kind)
        return len(self.values) if self.values.ndim == ndim else None

    @property
    def control(self) -> Control | None:
        """The program that gives the inputs of a compiled loop, if one does."""
        if self.kind == "regulated":
            return self.function
        return Held(self.function) if self.source == "program" else None


class Control(Protocol):
    """New inputs from dynamics, time, y, u and a row of `numbers`, if any; equal ones have equal formulas."""

    @property
    def numbers(self) -> int:
        """Numbers of a row of the table."""
        ...

    def __call__(self, d: Any, time: Scalar, y: Vector, u: Vector, *row: Vector) -> Vector:
        """Return the inputs u."""
        ...


@dataclass(frozen=True)
class Held:
    """A function (time, q, qd) → efforts that was recorded, in its place among the inputs."""

    function: Recorded
    numbers: int = 0

    def __call__(self, d: Any, time: Scalar, y: Vector, u: Vector, *row: Vector) -> Vector:
        """u with new efforts and the wrenches as they were."""
        more = (y[d.layout.x],) if getattr(self.function, "takes_x", False) else ()
        own = np.asarray(self.function(time, *d.motion(y), *more))
        return np.concatenate([own, u[d.input_layout.wrenches]])


class Wanted(NamedTuple):
    """Names of a control: the argument it is given as, and the names of its numbers."""

    word: str
    names: tuple[str, ...]


def is_regulator(control: Any) -> bool:
    """True if it is a regulator. Where their module was not imported, there are none."""
    regulators = sys.modules.get("kinpair.control.regulator")
    return regulators is not None and isinstance(control, regulators.Regulator)


class Start(NamedTuple):
    """A state to try functions on."""

    q: np.ndarray
    qd: np.ndarray
    time: float
    x: np.ndarray


def torque_of(mechanism: Mechanism, torque: Any, q: np.ndarray, qd: np.ndarray, time: float) -> Torque:
    """Read the argument `torque=`; q, qd, time: a state to try it on."""
    wanted = Wanted("torque", mechanism.v_names)
    return control_of(mechanism, wanted, torque, Start(q, qd, time, mechanism.x_start))


def control_of(mechanism: Mechanism, wanted: Wanted, control: Any, start: Start) -> Torque:
    """Read the argument `torque=` or `input=`."""
    from kinpair.simulation.regulated import regulated

    word, names = wanted
    if control is None:
        return Torque(word=word)
    if isinstance(control, Torque):
        return control
    if is_regulator(control):
        own, table = regulated(mechanism, control, names), control.table
        return Torque(
            "regulated", table.rows, table.times, own, control.sample_time, control.memory, word=word
        )
    if callable(control):
        return _function(mechanism, wanted, control, start)
    if isinstance(control, tuple) and len(control) == 2 and np.ndim(control[1]) >= 2:
        return _table(mechanism, wanted, *control)
    return _constant(mechanism, wanted, control)


def constant_torque(mechanism: Mechanism, values: Any) -> Torque:
    """Efforts that stay the same."""
    return _constant(mechanism, Wanted("torque", mechanism.v_names), values)


def _constant(mechanism: Mechanism, wanted: Wanted, numbers: Any) -> Torque:
    word, names = wanted
    values = Expected(word, names).checked(mechanism.name, numbers)
    _check_finite(mechanism, word, values)
    return Torque("constant", values, word=word)


def _table(mechanism: Mechanism, wanted: Wanted, times: Any, values: Any) -> Torque:
    t, x, (word, names) = real(times), real(values), wanted
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        raise InputError(
            f"{mechanism.name}: the times of {word}= must be an increasing vector of at least two numbers; "
            f"found shape {t.shape}"
        )
    if x.ndim not in (2, 3) or x.shape[-2:] != (len(t), len(names)):
        raise InputError(
            f"{mechanism.name}: {word}= has {len(t)} times and values of shape {x.shape}; expected "
            f"({len(t)}, {len(names)}) or (batch, {len(t)}, {len(names)}): {listed(names, 12)}"
        )
    _check_finite(mechanism, word, x)
    return Torque("table", x, t, word=word)


def _check_finite(mechanism: Mechanism, what: str, x: np.ndarray) -> None:
    if not np.isfinite(x).all():
        raise InputError(f"{mechanism.name}: {what} holds NaN or infinity", argument=what)


def _function(mechanism: Mechanism, wanted: Wanted, control: Any, start: Start) -> Torque:
    word, names = wanted
    sample_time = getattr(control, "sample_time", None)
    if sample_time is not None and not (np.ndim(sample_time) == 0 and 0 < real(sample_time) < np.inf):
        raise InputError(
            f"{mechanism.name}: sample_time of {word}= is {sample_time!r}; give seconds, above zero"
        )
    period = float(sample_time) if sample_time is not None else None
    takes_x = word == "input" and _accepts(control, ("time", "q", "qd", "x"))
    own: dict[str, Any] = {"sample_time": period, "word": word, "takes_x": takes_x}
    if not getattr(control, "traceable", isinstance(control, PLAIN) or _is_plain_method(control)):
        return Torque("called", function=control, reason=MEMORY, **own)
    program = recorded(control, (len(names),), start[:3], x=start.x if takes_x else None)
    if isinstance(program, Recorded):
        return Torque("recorded", function=program, **own)
    return Torque("called", function=control, reason=program.reason, avoidable=program.works, **own)


def _accepts(function: Callable[..., Any], arguments: Sequence[Any]) -> bool:
    """True if the function can be called with this number of arguments; False also where its signature is not known."""
    try:
        signature(function).bind(*arguments)
    except (TypeError, ValueError):
        return False
    return True


def _is_plain_method(function: Any) -> bool:
    """A bound method may have a memory in its object: it is taken for an object."""
    return isinstance(function, MethodType) and isinstance(function.__self__, type)


class Wrenches(NamedTuple):
    """Applied wrenches by link or frame: functions that were recorded (None for others), numbers (6,) or (batch, 6) of
    the others at the start, and functions that have to be called."""

    functions: dict[str, Callable[..., Any] | None]
    numbers: dict[str, np.ndarray]
    called: tuple[CalledWrench, ...]


def external_of(
    mechanism: Mechanism, external: Mapping[str, Any] | None, q: np.ndarray, qd: np.ndarray, time: float
) -> Wrenches:
    """Check wrenches by link or frame; q, qd, time: a state to try functions on."""
    if external is not None and not isinstance(external, Mapping):  # type: ignore[redundant-expr]
        raise InputError(
            f"external is {type(external).__name__}; give a dict: name of a link or frame → wrench (6,)"
        )
    functions: dict[str, Callable[..., Any] | None] = {}
    constants: dict[str, np.ndarray] = {}
    called: list[CalledWrench] = []
    for name, wrench in (external or {}).items():
        mechanism.model.place(name)
        if callable(wrench):
            program = recorded(wrench, (len(WRENCH),), (q, qd, time))
            if isinstance(program, Recorded) and getattr(wrench, "traceable", True):
                functions[name] = program
                continue
            own = _called_wrench(name, wrench, program)
            if isinstance(program, NotRecorded) and not program.works:
                raise _refused(mechanism, own)
            constants[name] = np.asarray(wrench(time, q.copy(), qd.copy()), dtype=float)
            functions[name] = None
            called.append(own)
        else:
            constants[name] = Expected(f"external[{name!r}]", WRENCH).checked(mechanism.name, wrench)
            _check_finite(mechanism, f"external[{name!r}]", constants[name])
            functions[name] = None
    return Wrenches(functions, constants, tuple(called))


def _called_wrench(name: str, wrench: Any, program: Recorded | NotRecorded) -> CalledWrench:
    if not getattr(wrench, "traceable", True):
        return CalledWrench(name, wrench, "it says traceable = False", avoidable=False)
    return CalledWrench(name, wrench, getattr(program, "reason", ""), avoidable=True)


def _refused(mechanism: Mechanism, wrench: CalledWrench) -> InputError:
    return InputError(
        f"{mechanism.name}: {wrench.word} is a function that cannot be recorded: {wrench.reason}; it "
        "must be (time, q, qd) → wrench (6,) in NumPy terms, see docs/compiler.md",
        frame=wrench.name,
    )


def with_called(mechanism: Mechanism, torque: Torque, wrenches: Wrenches, size: int) -> Torque:
    """Return the efforts among the inputs, `size` of them, as a function that is called, if wrenches are."""
    if not wrenches.called:
        return torque
    if torque.sampled or torque.kind == "regulated":  # their inputs change at sample times only
        raise _refused(mechanism, wrenches.called[0])
    efforts: dict[str, Callable[..., Any]] = {
        "constant": lambda *_: torque.values,
        "table": lambda time, *_: [np.interp(time, torque.times, column) for column in torque.values.T],
        "called": torque.function,
    }
    function = efforts.get(torque.kind, lambda *_: np.zeros(size))  # zeros where efforts are recorded
    return replace(torque, kind="called", function=function, wrenches=wrenches.called)


class RefusedError(Exception):
    """A call for the inputs of a run failed; the caller of the user's function has the reason."""


class Caller:
    """A function of the user as a run calls it. It keeps the first failure and its time, and is not called again."""

    def __init__(
        self, names: tuple[str, ...], layout: StateLayout, control: Torque, wrenches: Mapping[str, np.ndarray]
    ) -> None:
        self.names, self.layout, self.control, self.wrenches = names, layout, control, wrenches
        self.fault = ""
        self.when = np.nan
        self.error: BaseException | None = None
        self._word = control.word  # of the function that is called

    def __call__(self, time: float, y: np.ndarray) -> np.ndarray:
        """Return the inputs u (nu,) at a time [s] and a state of which at least the motion is given."""
        if self.fault:
            raise RefusedError
        self.when = time
        try:
            return self._inputs(time, y)
        except BaseException as problem:
            self.keep(problem)
            raise RefusedError from problem

    def keep(self, problem: BaseException) -> None:
        """Keep the first failure of the function, or what a signal raised in a call of it."""
        if self.fault or isinstance(problem, RefusedError):
            return
        self.error = None if isinstance(problem, FaultError) else problem
        self.fault = self._described(problem)

    def _described(self, problem: BaseException) -> str:
        """Say what is wrong with the function."""
        if isinstance(problem, FaultError):
            return str(problem)
        word, function = self._word, self.control.function
        arguments = ("time", "q", "qd", "x")[: 4 if self.control.takes_x else 3]
        own = word == self.control.word and isinstance(problem, TypeError)
        if own and not _accepts(function, arguments):
            expected = "time, q, qd" if word == "torque" else "time, q, qd or time, q, qd, x"
            return f"{word} is a function of {signature(function)}; expected a function of ({expected})"
        return f"{word} raised {described(problem)}"

    def _inputs(self, time: float, y: np.ndarray) -> np.ndarray:
        layout, word, n = self.layout, self.control.word, len(self.names)
        more, self._word = (y[layout.x],) if self.control.takes_x else (), word
        found = self.control.function(time, y[layout.q], y[layout.qd], *more)
        if found is None:
            raise FaultError(f"{word} returned None; return an array of shape ({n},)")
        u = np.asarray(found, dtype=float)
        if u.shape != (n,):
            raise FaultError(f"{word} returned shape {u.shape}; expected ({n},)")
        if not isfinite(u.sum()) and not np.isfinite(u).all():
            k = int(np.flatnonzero(~np.isfinite(u))[0])
            raise FaultError(f"{word} returned {u[k]} for {self.names[k]!r}")
        return np.concatenate([u, *self._wrenches(time, y)]) if self.wrenches else u

    def _wrenches(self, time: float, y: np.ndarray) -> list[np.ndarray]:
        """Return the wrenches (6,), one after the other."""
        called, values = {wrench.name: wrench for wrench in self.control.wrenches}, list[np.ndarray]()
        for name, constant in self.wrenches.items():
            if name not in called:
                values.append(constant)
                continue
            wrench = called[name]
            self._word = wrench.word
            value = np.asarray(wrench.function(time, y[self.layout.q], y[self.layout.qd]), dtype=float)
            if value.shape != constant.shape or not np.isfinite(value).all():
                raise FaultError(f"{wrench.word} returned {value}; expected {len(WRENCH)} finite numbers")
            values.append(value)
        return values


class FaultError(Exception):
    """A function returned something that is no input; the message says what."""
