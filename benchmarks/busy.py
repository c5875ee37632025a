"""Was the machine free enough for figures to be trusted? Looked at before the first measurement and after the last."""

from __future__ import annotations

import os
from dataclasses import dataclass
from statistics import median

from benchmarks.timing import wall_time

WORK = 200_000  # additions of the calibration loop: some milliseconds
TURNS = 25
SPREAD = 0.10  # of a free machine the median is within this part of the best
DRIFT = 0.10  # and the best does not change by more than this from beginning to end
LOAD = 0.2  # processes beside our own that wait for a core, a core


@dataclass(frozen=True, slots=True)
class Look:
    """The time of the same loop of Python, over and over: the best, and how far the median is above it; and how many
    processes wanted to run in the last minute, a core."""

    best: float
    spread: float
    load: float


def look(own: int = 0) -> Look:
    """Takes a tenth of a second; `own` processes of the load are ours."""
    times = sorted(_loop() for _ in range(TURNS))
    waiting = os.getloadavg()[0] - own if hasattr(os, "getloadavg") else 0.0
    return Look(times[0], median(times) / times[0] - 1.0, max(waiting, 0.0) / (os.cpu_count() or 1))


def _loop() -> float:
    start, x = wall_time(), 0
    for k in range(WORK):
        x += k
    return wall_time() - start


@dataclass(frozen=True, slots=True)
class Watch:
    """Two looks, and what they say together."""

    before: Look
    after: Look

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why figures are not to be trusted; empty where they are."""
        found: list[str] = []
        for when, one in (("before", self.before), ("after", self.after)):
            if one.spread > SPREAD:
                found.append(
                    f"{when} the measurements the same loop took {one.spread:.0%} longer at the median"
                )
        if self.before.load > LOAD:
            found.append(f"{self.before.load:.1f} processes a core wanted to run before it began")
        drift = self.after.best / self.before.best - 1.0
        if abs(drift) > DRIFT:
            found.append(f"the same loop took {drift:+.0%} of its time at the end")
        return tuple(found)

    @property
    def trusted(self) -> bool:
        """May the figures be quoted?"""
        return not self.reasons

    def __str__(self) -> str:
        load = f"load before {self.before.load:.2f} a core, after {self.after.load:.2f}"
        if self.trusted:
            return f"the machine was free ({load}): figures may be quoted"
        return f"THE MACHINE WAS BUSY ({load}), do not quote these figures: {'; '.join(self.reasons)}"
