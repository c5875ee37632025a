"""Which mode was in force at each sample of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinpair.simulation.events.limits import Limit
from kinpair.simulation.events.mode_text import Known, written
from kinpair.simulation.events.modes import Entry, Mode


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A mode as text, and where it was entered first."""

    time: float
    q: np.ndarray
    text: str


@dataclass(frozen=True, eq=False)
class History:
    """Modes as they were entered, the number of the one at each sample (samples,), and what they are made of."""

    number: np.ndarray
    entered: tuple[Entered, ...]
    known: Known

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """By number; InputError where one holds a function that a file does not have."""
        return tuple(self.known.mode(x.text) for x in self.entered)


def as_text(entry: Entry) -> Entered:
    """An entry as it is kept."""
    return Entered(entry.time, entry.q, written(entry.mode))


def history_of(
    name: str, entered: Sequence[Entry], limits: Sequence[Limit], numbers: Sequence[np.ndarray]
) -> History:
    """Of a run: the numbers of the modes at its samples, piece by piece."""
    conditions = tuple(x for entry in entered for x in entry.mode.add)
    number = np.concatenate([np.zeros(0, dtype=int), *numbers])
    return History(number, tuple(map(as_text, entered)), Known(name, tuple(limits), conditions))
