"""The layouts of the state y of a run, of its inputs u, and of what is watched at its samples: slices by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import TypeVar

import numpy as np

L = TypeVar("L", bound="Layout")


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Slices of a vector, one behind the other, in the order of the fields; of the same sizes one object, see `of`."""

    @classmethod
    @cache
    def of(cls: type[L], **sizes: int) -> L:
        """The layout with these sizes by name; what is not named has none."""
        stop, slices = 0, dict[str, slice]()
        for field in fields(cls):
            start, stop = stop, stop + sizes.get(field.name, 0)
            slices[field.name] = slice(start, stop)
        return cls(**slices)

    @property
    def slices(self) -> dict[str, slice]:
        """Slices of all parts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def size(self) -> int:
        """Entries of the vector: where the last slice ends."""
        return getattr(self, next(reversed(self.__dataclass_fields__))).stop

    def converted(self: L, vectors: np.ndarray, other: L) -> np.ndarray:
        """Vectors (..., size) of this layout in another one; what is missing is zero."""
        if other is self:
            return vectors.copy()
        result = np.zeros((*vectors.shape[:-1], other.size))
        for here, there in _common(self, other):
            result[..., there] = vectors[..., here]
        return result


@cache
def _common(one: Layout, other: Layout) -> tuple[tuple[slice, slice], ...]:
    """Return where two layouts have entries of the same name and number, neighbours in one slice."""
    pairs = list[tuple[slice, slice]]()
    for name in one.__dataclass_fields__:
        a, b = getattr(one, name), getattr(other, name)
        if a.stop == a.start or a.stop - a.start != b.stop - b.start:
            continue
        if pairs and pairs[-1][0].stop == a.start and pairs[-1][1].stop == b.start:
            first = pairs.pop()
            a, b = slice(first[0].start, a.stop), slice(first[1].start, b.stop)
        pairs.append((a, b))
    return tuple(pairs)


@dataclass(frozen=True, slots=True, eq=False)
class StateLayout(Layout):
    """The state vector: the motion, internal states of elements, the ledger, and what is carried along.

    `work` and `loss` are energies since the start [J], `account` those of elements with internal states or inputs, by
    name. `way` is how far each rate with dry friction has slid, `share` and `phase` are how it slides, see `phases.py`.
    `closed` is 1 for each limit that is closed, 0 for the others. `contact` has the numbers of time steps with contact.
    `trace` says how near the constraints came to dependence: one over their smallest pivot, and the time of that.
    `memory` is what a method carries from step to step.
    """

    q: slice
    qd: slice
    x: slice
    work: slice
    loss: slice
    account: slice
    way: slice
    share: slice
    phase: slice
    closed: slice
    contact: slice
    trace: slice
    memory: slice

    @property
    def motion(self) -> slice:
        """Coordinates and rates."""
        return slice(self.q.start, self.qd.stop)

    @property
    def ledger(self) -> slice:
        """Work, loss, account and distances: what is summed up along the motion."""
        return slice(self.work.start, self.way.stop)

    @property
    def solved(self) -> slice:
        """Part on which the motion depends: coordinates, rates and internal states."""
        return slice(self.q.start, self.x.stop)


@dataclass(frozen=True, slots=True, eq=False)
class InputLayout(Layout):
    """The inputs of a run: joint efforts or inputs of elements, wrenches [n; f] one behind the other, and what a
    regulator remembers from sample to sample; what equations have inside is not here."""

    control: slice
    wrenches: slice
    memory: slice


@dataclass(frozen=True, slots=True, eq=False)
class WatchedLayout(Layout):
    """Layout of what is evaluated at each sample: energies [J], efforts, inputs of elements, the largest residuals
    of positions and of rates, slots and forces of contact."""

    kinetic: slice
    potential: slice
    tau: slice
    u: slice
    residual: slice
    contact: slice
