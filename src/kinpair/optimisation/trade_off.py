"""Two costs next to each other: optimal motions over their relative weight."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.errors import InputError
from kinpair.optimisation.optimise import optimise
from kinpair.optimisation.optimum import Optimum
from kinpair.viewer.curves import blank_figure, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, eq=False)
class TradeOff:
    """Motions over durations: `duration` (k,) [s], `cost` (k,), and the motions."""

    name: str
    motions: tuple[Optimum, ...]

    @property
    def duration(self) -> np.ndarray:
        """Durations of the motions [s]."""
        return np.array([x.duration for x in self.motions])

    @property
    def cost(self) -> np.ndarray:
        """Costs of the motions."""
        return np.array([x.cost for x in self.motions])

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Cost over duration as a figure of matplotlib; written to the path if given."""
        figure = blank_figure(6.0, 4.0)
        axes = figure.add_subplot()
        axes.plot(self.duration, self.cost, "o-")
        axes.set_xlabel("duration [s]")
        axes.set_ylabel(self.name)
        axes.set_yscale("log")
        axes.set_title(f"{self.name} over duration: no motion lies below the curve", loc="left")
        axes.grid(alpha=0.3)
        if path is not None:
            write_figure(figure, path)
        return figure


def trade_off(subject: Any, durations: Sequence[float], *, cost: Any = "effort", **goal: Any) -> TradeOff:
    """Find the motion of least cost for each duration [s]; goal: other arguments of `kp.optimise`.

    Each motion begins from the one before.
    """
    chosen = sorted(float(x) for x in durations)
    if len(chosen) < 2:
        raise InputError(f"trade_off: {len(chosen)} durations; give 2 or more")
    motions: list[Optimum] = []
    for duration in reversed(chosen):
        own: dict[str, Any] = {**goal, **({"guess": motions[-1]} if motions else {})}
        motions.append(optimise(subject, cost=cost, duration=duration, **own))
    return TradeOff(cost if isinstance(cost, str) else "cost", tuple(reversed(motions)))
