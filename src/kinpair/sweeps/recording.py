"""What is recorded of a run: words such as `max q.elbow`, and functions of the Result.

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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.sweeps.units import entry_units

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
