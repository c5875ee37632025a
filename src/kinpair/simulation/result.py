"""What a simulation gives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.description.fields import counted
from kinpair.errors import MissingExtraError
from kinpair.mechanism import Energy, Mechanism
from kinpair.simulation.accelerations import accelerations, reactions
from kinpair.simulation.events.events import Happening
from kinpair.simulation.events.history import History
from kinpair.simulation.pictures import curves
from kinpair.simulation.storage.targets import PICTURE, target
from kinpair.simulation.units import units
from kinpair.simulation.watch.balance import Balance, Energies, Ledger, ledger
from kinpair.simulation.watch.momentum import Momentum, momentum_of
from kinpair.simulation.watch.residual import Residual, Singular
from kinpair.simulation.watch.summary import summary
from kinpair.viewer.curves import draw_curves

WELL = ("done", "event")
FINISHED = (*WELL, "doubtful", "drifted", "failed")


@dataclass(frozen=True, slots=True)
class Status:
    """How a run ended: `name`, at which time, and why in words.

    Names: `done`, `event` (one of them stopped it); at the end, but not well: `doubtful` (energy or momentum does not
    add up), `drifted` (constraints have come apart), `failed` (motions of a batch did, or did not arrive); before the
    end: `zeno` (events without end), `interrupted`, `not finite`, `not converged`, `collapsed` (no step is short
    enough), `exhausted`, `endless` (too many are needed), `runaway` (the motion has no bound), `refused` (the torque
    failed), `not saved` (the disk refused), `unfinished` (a file of a run that goes on, or was killed).
    """

    name: str
    time: float
    message: str

    @property
    def ok(self) -> bool:
        """Was the end reached, or an event that stops, and is all well?"""
        return self.name in WELL

    @property
    def finished(self) -> bool:
        """Is there nothing left to be done?"""
        return self.name in FINISHED

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, eq=False)
class Result:
    """Samples of a motion. A batch has the axis of trajectories in front: q is (batch, samples, nq).

    time (samples,) [s]; q, qd, tau; energy (kinetic, potential); work and loss since the start [J]. Everything
    computed is here, whatever the `status` says; `events` has what happened on the way; of a batch, `failures` has the
    rows that are not well. Under constraints, `residual` says how well they hold, and `singular` where they were
    nearest to dependence, if they came near to it. `start` has the energies (..., 2) at the start, where that is no
    sample.
    """

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    energy: Energy
    work: np.ndarray
    loss: np.ndarray
    status: Status
    integrator: str
    steps: int
    rejected: int
    dt: float
    took: float
    external: Mapping[str, Any] = field(default_factory=dict[str, Any])
    passive: bool = True
    parameters: tuple[str, ...] = ()
    failures: Mapping[int, Status] = field(default_factory=dict[int, Status])
    events: tuple[Happening, ...] = ()
    springs: bool = False  # at the limits
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    residual: Residual | None = None
    singular: Singular | None = None
    start: np.ndarray | None = None
    history: History | None = None  # of modes

    def __repr__(self) -> str:
        shape = f"{len(self.q)} × " if self.q.ndim == 3 else ""
        return f"<Result of {self.mechanism.name!r}: {shape}{counted(len(self.time), 'sample')}, {self.status.name}>"

    def __str__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """One paragraph: what was done, how it ended, and whether the energy adds up."""
        return summary(self)

    @cached_property
    def balance(self) -> Balance:
        """Does the energy add up?"""
        return self.ledger.balance

    @cached_property
    def ledger(self) -> Ledger:
        """The same of every motion of a batch."""
        return ledger(Energies(*self.energy, self.work, self.loss), self.start)

    @cached_property
    def momentum(self) -> Momentum | None:
        """How well momentum that nothing outside can change was kept; None where there is none such."""
        samples = {"q": self.q, "qd": self.qd, "tau": self.tau, "kinetic": self.energy.kinetic}
        return momentum_of(self.mechanism, self.options, self.time, samples)

    @cached_property
    def qdd(self) -> np.ndarray:
        """Accelerations at the samples, under the constraints and at the limits that held there."""
        return accelerations(self)

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """Wrench in every joint at the samples, by name of the joint (..., samples, 6)."""
        return reactions(self)

    def plot(self, path: str | os.PathLike[str] = "run.png", *, row: int = 0) -> Path:
        """Draw coordinates, rates, efforts (if any) and energies over time; of a batch, one row."""
        file = target(path, PICTURE)
        time, panels = curves(self, row)
        return draw_curves(file, time, panels, title=self.mechanism.name, columns=2 - len(panels) % 2)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to an HDF5 file, see docs/simulate.md; `kinpair.load_run` reads it."""
        from kinpair.simulation.storage.storage import save

        return save(self, path)

    def report(self, path: str | os.PathLike[str] = "run.html", *, row: int = 0) -> Path:
        """Write a page that is complete in itself: summary, curves, ends, options; of a batch, one row."""
        from kinpair.simulation.report import write_report

        return write_report(self, path, row=row)

    def to_xarray(self) -> Any:
        """Samples as a data set with names and units."""
        try:
            import xarray
        except ImportError:
            raise MissingExtraError("a data set needs xarray; install it with pip install xarray") from None
        lead = ("run",) if self.q.ndim == 3 else ()
        m, unit = self.mechanism, units(self.mechanism.model)
        arrays = {
            "q": ((*lead, "time", "coordinate"), self.q, {"units": unit["q"]}),
            "qd": ((*lead, "time", "rate"), self.qd, {"units": unit["qd"]}),
            "tau": ((*lead, "time", "rate"), self.tau, {"units": unit["tau"]}),
            "kinetic": ((*lead, "time"), self.energy.kinetic, {"units": "J"}),
            "potential": ((*lead, "time"), self.energy.potential, {"units": "J"}),
            "work": ((*lead, "time"), self.work, {"units": "J"}),
            "loss": ((*lead, "time"), self.loss, {"units": "J"}),
        }
        axes = {"time": self.time, "coordinate": list(m.q_names), "rate": list(m.v_names)}
        return xarray.Dataset(arrays, axes, {"status": str(self.status), "integrator": self.integrator})
