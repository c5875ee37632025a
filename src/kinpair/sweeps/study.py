"""A study: a mechanism, how it starts and is driven, and what is recorded of each run."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias, cast, final

import numpy as np

from kinpair.errors import DescriptionWarning, InputError
from kinpair.forces.states import has_actuators
from kinpair.loading import example, load
from kinpair.mechanism import Mechanism
from kinpair.runs.result import Result
from kinpair.runs.simulate import outcome_of
from kinpair.simulation.given import DT, Options, parameter_values
from kinpair.simulation.methods.integrators import integrator_named
from kinpair.simulation.schedule import fixed_plan
from kinpair.simulation.status import INTERRUPTED, Status
from kinpair.simulation.torques import Start, Torque, Wanted, control_of, torque_of
from kinpair.sweeps.cases import Cases, Outcome, Row, Scalar, StoppedError, Value, numbers, tried, unsound
from kinpair.sweeps.inputs import (
    Column,
    Slot,
    check_numbers,
    check_options,
    columns_of,
    entries,
    inputs_of,
    obeying,
    slots,
)
from kinpair.sweeps.work import fingerprint

Recorded: TypeAlias = str | Callable[[Result], Any]
DEFAULT_INTEGRATOR = "dop853"
ROOM = 2**25  # bytes of samples in one batch


@final
class Study:
    """Simulations of one mechanism: what is common to all of them, and what is recorded of each.

    * `mechanism`: a Mechanism, a file, or the name of a bundled example;
    * `q`, `qd`: the state to start from, (nq,), (nv,) or some entries by name; `torque`: as for `kp.simulate`, or
      constant efforts by name; `input`: the same for inputs of actuators; `parameters`: constants by name;
    * `record`: words (see docs/sweep.md) and functions of the Result that return numbers by name;
    * all other options of `kp.simulate`, such as `duration`, `integrator`, `dt`, `output`.

    Inputs that a sweep may vary: `q.NAME`, `qd.NAME`, `torque.NAME` or, where there are actuators or `input` is given,
    `input.NAME`, constants such as `upper.mass` or `motor.resistance`, and options.
    """

    def __init__(
        self,
        mechanism: Mechanism | str | os.PathLike[str],
        q: Any = None,
        qd: Any = None,
        *,
        torque: Any = None,
        input: Any = None,
        parameters: Mapping[str, float] | None = None,
        record: Recorded | Sequence[Recorded] = ("final",),
        name: str = "",
        **options: Any,
    ) -> None:
        m = self.mechanism = _mechanism(mechanism)
        self.name = name or m.name
        fixed, driven = ([*values] if isinstance(values, Mapping) else [] for values in (q, qd))
        self.q, self.qd = obeying(
            m,
            entries(m, "q", m.q_names, q, m.start()),
            entries(m, "qd", m.v_names, qd, np.zeros(m.nv)),
            *(fixed, driven, options.get("time", 0.0)),
        )
        self.control = _control(m, torque, input)
        self.torque, self.input = (_named(m, word, x) for word, x in (("torque", torque), ("input", input)))
        self.parameters = dict(parameters or {})
        self.options = options
        self.record = cast(
            "tuple[Recorded, ...]", tuple(record) if isinstance(record, (list, tuple)) else (record,)
        )
        parameter_values(m, self.parameters)
        check_options(m.name, options)
        _check_record(m, self.record)

    def __reduce__(self) -> Any:
        arguments = {
            "torque": self.torque,
            "input": self.input,
            "parameters": self.parameters,
            "record": self.record,
            "name": self.name,
        }
        return partial(Study, **arguments, **self.options), (self.mechanism, self.q, self.qd)

    def __repr__(self) -> str:
        return f"<Study {self.name!r} of {self.mechanism!r}>"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Columns that the words of `record` request."""
        return columns_of(self.mechanism, [word for word in self.record if isinstance(word, str)])

    @cached_property
    def functions(self) -> tuple[Callable[[Result], Any], ...]:
        """The functions of `record`."""
        return tuple(f for f in self.record if not isinstance(f, str))

    @cached_property
    def drive(self) -> Torque:
        """Control of the study, checked."""
        m, time = self.mechanism, self.options.get("time", 0.0)
        if self.control == "torque":
            return torque_of(m, self.torque, self.q, self.qd, time)
        return control_of(m, Wanted("input", m.u_names), self.input, Start(self.q, self.qd, time, m.x_start))

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the mechanism and of all that was given with it."""
        inputs = [self.q, self.qd, self.torque, self.parameters, self.record, self.options]
        inputs += [] if self.input is None else [self.input]
        return fingerprint(self.mechanism, inputs)

    @property
    def own(self) -> tuple[Any, ...]:
        """Functions and objects of the user: recorders, torque or input, wrenches."""
        applied = (self.options.get("external") or {}).values()
        return (*self.functions, *(x for x in (self.torque, self.input, *applied) if callable(x)))

    # What varies.

    def checked(self, cases: Cases) -> Cases:
        """Names that are inputs; numbers as floats."""
        places = self._slots(cases.names)
        word = self.control
        if any(slot.kind == word for slot in places) and self.drive.kind not in ("none", "constant"):
            raise InputError(
                f"{self.name}: {word} is not constant, so its entries cannot vary; give {word}=[...]"
            )
        readers = [self._reader(name, slot) for name, slot in zip(cases.names, places, strict=True)]
        rows = (tuple(f(x) for f, x in zip(readers, row, strict=True)) for row in cases.rows)
        checked_cases = Cases(cases.names, tuple(dict.fromkeys(rows)), cases.grid)
        for options, _ in self._groups(checked_cases.names, checked_cases.rows):
            if "duration" not in options:
                raise InputError(f"{self.name}: no duration given; give duration= [s], or vary it")
            integrator_named(options.get("integrator", DEFAULT_INTEGRATOR))
            check_numbers(self.mechanism, options)
        return checked_cases

    @cached_property
    def inputs(self) -> Mapping[str, Slot]:
        """Inputs that may vary."""
        return inputs_of(self.mechanism, self.control)

    def _slots(self, names: Sequence[str]) -> list[Slot]:
        return slots(self.name, self.inputs, names)

    def _reader(self, name: str, slot: Slot) -> Callable[[Scalar], Scalar]:
        def read(value: Scalar) -> float:
            if isinstance(value, (str, bool)):
                raise InputError(f"{self.name}: {name} is {value!r}; give numbers", input=name)
            return float(value)

        return read if slot.kind != "option" else lambda value: value

    def units(self, names: Sequence[str]) -> Mapping[str, str]:
        """Units of inputs and columns."""
        places = self._slots(names)
        inputs = {name: slot.unit for name, slot in zip(names, places, strict=True)}
        return inputs | {column.name: column.unit for column in self.columns}

    # What is computed.

    def run(self, names: Sequence[str], rows: Sequence[Row]) -> list[Outcome]:
        """Cases of the same options together, in batches where steps are fixed; else one by one."""
        outcomes: dict[int, Outcome] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DescriptionWarning)  # of constants that vary
            for options, members in self._groups(names, rows):
                size = self._batch(options)
                for start in range(0, len(members), max(1, size)):
                    some = members[start : start + max(1, size)]
                    call = self._together if size else self._alone
                    outcomes |= zip(some, call(names, [rows[i] for i in some], options), strict=True)
        return [outcomes[i] for i in range(len(rows))]

    def _groups(
        self, names: Sequence[str], rows: Sequence[Row]
    ) -> Iterator[tuple[dict[str, Any], list[int]]]:
        """Options, and the rows that have them."""
        places = [k for k, slot in enumerate(self._slots(names)) if slot.kind == "option"]

        def key(i: int) -> tuple[str, ...]:
            return tuple(repr(rows[i][k]) for k in places)

        for _, members in groupby(sorted(range(len(rows)), key=key), key):
            every = list(members)
            yield self.options | {names[k]: rows[every[0]][k] for k in places}, every

    def _batch(self, options: Mapping[str, Any]) -> int:
        """Number of cases in one batch; 0: none do. It does not depend on the other cases of a sweep."""
        dt = options.get("dt")
        adaptive = integrator_named(options.get("integrator", DEFAULT_INTEGRATOR)).adaptive
        if (dt is None and adaptive) or self.functions or self.drive.kind == "called":
            return 0
        try:
            times = options["duration"], dt or DT, options.get("output"), options.get("time", 0.0)
            samples = len(fixed_plan(self.name, *times).sampled) + 1
        except (InputError, TypeError, ZeroDivisionError):
            return 0  # the case will say what is wrong
        numbers_a_sample = self.mechanism.nq + 2 * self.mechanism.nv + 4
        return max(1, ROOM // (8 * numbers_a_sample * samples))

    def _together(
        self, names: Sequence[str], rows: Sequence[Row], options: Mapping[str, Any]
    ) -> list[Outcome]:
        """One call for all rows; if that cannot be, each row for itself, so that only the culprit fails."""
        try:
            run = self._simulated(self._arguments(names, rows), options)
        except Exception:
            if len(rows) == 1:
                return self._alone(names, rows, options)
            return [outcome for row in rows for outcome in self._together(names, [row], options)]
        if not run.status.ok and not run.failures:  # the whole does not say which row it is
            if len(rows) == 1:
                return self._alone(names, rows, options)
            return [outcome for row in rows for outcome in self._together(names, [row], options)]
        values = {c.name: np.asarray(c.of(run)).tolist() for c in self.columns}
        rowwise = ({name: column[i] for name, column in values.items()} for i in range(len(rows)))
        return [_judged(outcome, run.failures.get(i)) for i, outcome in enumerate(rowwise)]

    def _alone(self, names: Sequence[str], rows: Sequence[Row], options: Mapping[str, Any]) -> list[Outcome]:
        """Make one call for each row."""
        return [tried(partial(self._recorded, names, row, options)) for row in rows]

    def _recorded(self, names: Sequence[str], row: Row, options: Mapping[str, Any]) -> Outcome:
        arguments = self._arguments(names, [row])
        batch = {key: x[0] if isinstance(x, np.ndarray) else x for key, x in arguments.items()}
        batch["parameters"] = {name: float(np.ravel(x)[0]) for name, x in arguments["parameters"].items()}
        run = self._simulated(batch, options)
        if not run.status.finished:
            raise StoppedError(str(run.status))
        values: dict[str, Value] = {c.name: np.asarray(c.of(run)).tolist() for c in self.columns}
        wrong = [] if run.status.ok else [str(run.status)]
        for f in self.functions:
            called = getattr(f, "__name__", "record")
            more = numbers(f(run), called, (*names, *values))
            wrong.append(unsound(more, called))
            values |= more
        return Outcome(values, next(filter(None, wrong), ""))

    def _simulated(self, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Result:
        """Simulate to an end of the run's own: Ctrl-C, or `sys.exit` in a function, is raised."""
        run, raised, _ = outcome_of(self.mechanism, Options(**arguments, **options), progress=False)
        if run.status.name == INTERRUPTED:
            raise raised or KeyboardInterrupt
        return run

    def _arguments(self, names: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
        """Arguments of `simulate`, with the axis of the batch."""
        m, word = self.mechanism, self.control
        names_of = m.v_names if word == "torque" else m.u_names
        constant = self.drive.values if self.drive.kind == "constant" else np.zeros(len(names_of))
        into = {"q": self.q, "qd": self.qd, word: constant}
        into = {key: np.tile(x, (len(rows), 1)) for key, x in into.items()}
        parameters: dict[str, Any] = dict(self.parameters)
        places = self._slots(names)
        for k, (name, slot) in enumerate(zip(names, places, strict=True)):
            column = [row[k] for row in rows]
            if slot.kind in into:
                into[slot.kind][:, slot.entry] = column
            elif slot.kind == "parameter":
                parameters[name] = np.array(column, dtype=float)
        fixed, driven = ([x.name for x in places if x.kind == kind] for kind in ("q", "qd"))
        for k, state in enumerate(zip(into["q"], into["qd"], strict=True)):
            into["q"][k], into["qd"][k] = obeying(
                self.mechanism, *state, fixed, driven, self.options.get("time", 0.0)
            )
        if all(slot.kind != word for slot in places):
            into[word] = self._fresh_drive()
        return {**into, "parameters": parameters}

    def _fresh_drive(self) -> Any:
        """A controller with a memory begins each case without one."""
        own = self.torque if self.control == "torque" else self.input
        return copy.deepcopy(own) if self.drive.kind == "called" else self.drive


def _mechanism(mechanism: Any) -> Mechanism:
    if isinstance(mechanism, (str, os.PathLike)):
        path = cast("str | os.PathLike[str]", mechanism)
        mechanism = load(path) if Path(path).is_file() or Path(path).suffix else example(os.fspath(path))
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"a study takes a Mechanism, a file or a name of an example, not {type(mechanism).__name__}"
        )
    return mechanism


def _control(m: Mechanism, torque: Any, input: Any) -> str:
    """Name of the control: torque or input."""
    if torque is not None and (input is not None or has_actuators(m.model)):
        raise InputError(
            f"{m.name}: torque= and input= are both given; give one of them"
            if input is not None
            else f"{m.name}: has actuators, and they make the joint efforts; give input= in place of torque=",
            argument="torque",
        )
    return "input" if input is not None or has_actuators(m.model) else "torque"


def _named(m: Mechanism, word: str, values: Any) -> Any:
    """Constant controls by name as an array; anything else as it is."""
    names = m.v_names if word == "torque" else m.u_names
    return entries(m, word, names, values, np.zeros(len(names))) if isinstance(values, Mapping) else values


def _check_record(m: Mechanism, record: Sequence[Any]) -> None:
    if not record or not all(isinstance(x, str) or callable(x) for x in record):
        raise InputError(
            f"{m.name}: record is {record!r}; give words such as 'final' or functions of the Result"
        )
    columns_of(m, [word for word in record if isinstance(word, str)])


def _judged(values: Mapping[str, Value], failure: Status | None) -> Outcome:
    """Numbers of a run that reached its end, with what is wrong with them; of others the reason alone."""
    if failure is None:
        return Outcome(values)
    return Outcome(values if failure.finished else {}, str(failure))
