"""Names in a study: inputs, states to start from, recorded columns, and their units.

What is recorded of a run: words such as `max q.elbow`, and functions of the Result.

| word | columns |
|---|---|
| final, samples | of every coordinate and rate |
| final X, min X, max X, peak X | of a series X: its last, smallest, largest value, its largest magnitude |
| samples X | the series itself, a vector |
| energy drift | largest error of the energy balance over the samples [J] |

Series: q.NAME, qd.NAME, tau.NAME, x.NAME, u.NAME, kinetic, potential, energy, work, loss, time. All words work on a
batch too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numpy as np

from kinpair.description.actuator_parts import GEAR, KINDS
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.arguments import Expected
from kinpair.forces.states import has_actuators, ports_of
from kinpair.mechanism import Mechanism
from kinpair.model.symbols import symbol_names
from kinpair.model.units import units
from kinpair.runs.simulate import simulate
from kinpair.simulation.given import tolerance
from kinpair.simulation.schedule import finite, positive, wanted_times

CONSTANTS = {"mass": "kg", "com": "m", "inertia": "kg m²"}
OPTIONS = {"duration": "s", "dt": "s", "time": "s", "output": "s", "alpha": "1/s"}


def entry_units(mechanism: Mechanism) -> dict[str, dict[str, str]]:
    """Units of every entry of q, qd and tau, and of x and u where there are internal states or actuators, by name."""
    names = {"q": mechanism.q_names, "qd": mechanism.v_names, "tau": mechanism.v_names}
    own = {
        group: dict(zip(names[group], column, strict=True))
        for group, column in units(mechanism.model).items()
    }
    ports = ports_of(mechanism.model)
    own["x"] = dict(zip(ports.x_names, ports.x_units, strict=True))
    return {**own, "u": input_units(mechanism)} if has_actuators(mechanism.model) else own


def input_units(mechanism: Mechanism) -> dict[str, str]:
    """Units of every input, by name."""
    ports = ports_of(mechanism.model)
    return dict(zip(ports.u_names, ports.u_units, strict=True))


def actuator_units(mechanism: Mechanism) -> dict[str, str]:
    """Units of every number of an actuator, by name."""
    every = {f"gear.{key}": number.unit for key, number in GEAR.items()}
    return {
        f"{x.name}.{key}": {**every, **{name: n.unit for name, n in KINDS[x.kind].items()}}[key]
        for x in mechanism.model.actuators
        for key in x.numbers
    }


def constant_unit(name: str) -> str:
    """Unit of a constant of the bodies and joints, such as upper.mass or elbow.x."""
    return next((CONSTANTS[part] for part in name.split(".")[-2:] if part in CONSTANTS), "m")


def entries(m: Mechanism, what: str, names: tuple[str, ...], values: Any, start: np.ndarray) -> np.ndarray:
    """All entries: those given, or the start with some replaced by name."""
    if values is None:
        return start
    if not isinstance(values, Mapping):
        numbers = Expected(what, names).checked(m.name, values)
        if numbers.ndim != 1:
            raise InputError(
                f"{m.name}: {what} has shape {numbers.shape}; a study has one state, vary its entries"
            )
        return numbers
    numbers = start.copy()
    for name, value in cast("Mapping[str, Any]", values).items():
        if name not in names:
            raise InputError(
                f"{m.name}: {what} has no entry {name!r}; {nearest(name, names)}Entries: {listed(names)}"
            )
        numbers[names.index(name)] = value
    return numbers


def obeying(
    m: Mechanism, q: np.ndarray, qd: np.ndarray, fixed: Sequence[str], driven: Sequence[str], time: float
) -> tuple[np.ndarray, np.ndarray]:
    """q with the coordinates `fixed` as they are and the rest assembled; rates likewise, as near to qd as can be."""
    if not m.constraints or not (fixed or driven):
        return q, qd
    closed = m.assemble(q, fixed=fixed, time=time) if fixed else q
    inputs = {name: float(qd[m.v_names.index(name)]) for name in driven}
    return closed, m.velocities(closed, inputs, guess=qd, time=time)


OWN_ARGUMENTS = ("mechanism", "q", "qd", "torque", "input", "parameters")
OWN_ARGUMENTS += ("threads", "save", "checkpoint", "progress")


@dataclass(frozen=True, slots=True)
class Slot:
    """Place of an input: an entry of `q`, `qd`, `torque` or `input`, a `parameter`, or an `option`; and its unit."""

    kind: str
    entry: int
    unit: str
    name: str = ""  # of the entry


def slots(study: str, known: Mapping[str, Slot], names: Sequence[str]) -> list[Slot]:
    """Slots of each name; InputError for one that is no input."""
    for name in names:
        if name not in known:
            raise InputError(
                f"{study}: no input {name!r}; {nearest(name, known)}Inputs: {listed(known, 40)}", input=name
            )
    return [known[name] for name in names]


def inputs_of(mechanism: Mechanism, control: str = "torque") -> dict[str, Slot]:
    """Inputs that may vary; an entry of the start hides a constant of the same name. control: torque or input."""
    slots = {name: Slot("option", 0, OPTIONS.get(name, "")) for name in options()}
    of_actuators, units = actuator_units(mechanism), entry_units(mechanism)
    slots |= {
        name: Slot("parameter", 0, of_actuators.get(name, constant_unit(name)))
        for name in symbol_names(mechanism.model)
    }
    controls = units["tau"] if control == "torque" else input_units(mechanism)
    groups = {"q": units["q"], "qd": units["qd"], control: controls}
    entries = {
        f"{group}.{name}": Slot(group, k, unit, name)
        for group, column in groups.items()
        for k, (name, unit) in enumerate(column.items())
    }
    return entries | {name: slot for name, slot in slots.items() if name not in entries}


@lru_cache(maxsize=1)
def options() -> tuple[str, ...]:
    """Options of `simulate` that a study may give."""
    return tuple(name for name in inspect.signature(simulate).parameters if name not in OWN_ARGUMENTS)


def check_numbers(mechanism: Mechanism, settings: Mapping[str, Any]) -> None:
    """Refuse wrong times and tolerances before any case is computed."""
    name, time = mechanism.name, finite(mechanism.name, "time", settings.get("time", 0.0))
    duration = positive(name, "duration", settings["duration"])
    for what in ("dt", "max_step"):
        if settings.get(what) is not None:
            positive(name, what, settings[what])
    for what, size in (("rtol", ()), ("atol", (mechanism.nq + mechanism.nv,))):
        if settings.get(what) is not None:
            tolerance(name, what, settings[what], size)
    output = settings.get("output")
    if output is not None:
        wanted_times(name, output, duration, time) if np.ndim(output) else positive(name, "output", output)


def check_options(name: str, settings: dict[str, Any]) -> None:
    """Refuse what `simulate` does not know."""
    for key in settings:
        if key not in options():
            raise InputError(
                f"{name}: no option {key!r}; {nearest(key, options())}Options: {listed(options())}",
                option=key,
            )


Run: TypeAlias = Any  # kinpair.runs.result.Result
DRIFT = "energy drift"
STATISTICS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "final": lambda x: x[..., -1],
    "min": lambda x: x.min(axis=-1),
    "max": lambda x: x.max(axis=-1),
    "peak": lambda x: np.abs(x).max(axis=-1),
    "samples": lambda x: x,
}
WHOLE = ("final", "samples")  # words that may stand alone
ENERGIES: Mapping[str, Callable[[Run], np.ndarray]] = {
    "kinetic": lambda run: run.energy.kinetic,
    "potential": lambda run: run.energy.potential,
    "energy": lambda run: run.energy.kinetic + run.energy.potential,
    "work": lambda run: run.work,
    "loss": lambda run: run.loss,
}


@dataclass(frozen=True, slots=True)
class Series:
    """Samples of one thing (..., samples)."""

    name: str
    unit: str
    of: Callable[[Run], np.ndarray]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table, from a run or a batch of runs."""

    name: str
    unit: str
    of: Callable[[Run], np.ndarray]


def series_of(mechanism: Mechanism) -> dict[str, Series]:
    """Every series of a mechanism, by name."""
    every = [
        Series(f"{group}.{name}", unit, _entry(group, k))
        for group, units in entry_units(mechanism).items()
        for k, (name, unit) in enumerate(units.items())
    ]
    every += [Series(name, "J", of) for name, of in ENERGIES.items()]
    every += [Series("time", "s", lambda run: np.broadcast_to(run.time, run.q.shape[:-1]))]
    return {series.name: series for series in every}


def _entry(group: str, k: int) -> Callable[[Run], np.ndarray]:
    return lambda run: getattr(run, group)[..., k]


def columns_of(mechanism: Mechanism, words: Sequence[str]) -> tuple[Column, ...]:
    """The columns that the words ask for, each once."""
    series = series_of(mechanism)
    return tuple({c.name: c for word in words for c in _columns(mechanism, series, word)}.values())


def _columns(mechanism: Mechanism, series: Mapping[str, Series], word: str) -> Iterator[Column]:
    if word == DRIFT:
        yield Column(DRIFT, "J", _drift)
        return
    statistic, _, name = word.partition(" ")
    if statistic not in STATISTICS or not (name or statistic in WHOLE):
        known = [DRIFT, *(f"{x} q.NAME" for x in STATISTICS)]
        raise InputError(
            f"{mechanism.name}: record has {word!r}; {nearest(word, known)}Words: {listed(known)}"
        )
    if name and name not in series:
        raise InputError(
            f"{mechanism.name}: record has {word!r}, and there is no {name!r}; {nearest(name, series)}"
            f"Series: {listed(series)}",
            series=name,
        )
    every = ["time"] if statistic == "samples" else []
    every += [x for x in series if x.startswith(("q.", "qd."))]
    for chosen in [name] if name else every:
        yield _column(statistic, series[chosen])


def _column(statistic: str, series: Series) -> Column:
    reduced, of = STATISTICS[statistic], series.of
    return Column(f"{statistic} {series.name}", series.unit, lambda run: reduced(of(run)))


def _drift(run: Run) -> np.ndarray:
    return run.ledger.error.reshape(run.work.shape[:-1])
