"""What a simulation gives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.errors import InputError, MissingExtraError, listed, nearest
from kinpair.mechanism import Energy, Mechanism
from kinpair.simulation.balance import Balance, balance
from kinpair.simulation.events import Happening
from kinpair.simulation.pictures import curves
from kinpair.simulation.residual import Residual, Singular
from kinpair.simulation.summary import summary
from kinpair.simulation.units import units
from kinpair.viewer.curves import draw_curves


class ByJoint(dict[str, np.ndarray]):
    """Arrays by name of the joint; a name that is not there is answered with those that are."""

    def __missing__(self, name: Any) -> np.ndarray:
        raise InputError(f"no joint {name!r}; {nearest(str(name), self)}Joints: {listed(self)}", joint=name)


@dataclass(frozen=True, slots=True)
class Status:
    """How a run ended: `name`, at which time, and why in words.

    Names: `done`, `event` (one of them stopped it), `zeno` (events without end), `interrupted`, `not finite`,
    `not converged`, `collapsed` (no step is short enough), `exhausted` (too many are needed), `refused` (the torque
    failed), `drifted` (constraints have come apart), `not saved` (the disk refused), `unfinished` (a file of a run that
    goes on, or was killed).
    """

    name: str
    time: float
    message: str

    @property
    def ok(self) -> bool:
        """Was the end reached, or an event that stops?"""
        return self.name in ("done", "event")

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, eq=False)
class Result:
    """Samples of a motion. A batch has the axis of trajectories in front: q is (batch, samples, nq).

    time (samples,) [s]; q, qd, tau; energy (kinetic, potential); work and loss since the start [J]. Everything
    computed is here, whatever the `status` says; `events` has what happened on the way; of a batch, `failures` has the
    rows that did not arrive. Under constraints, `residual` says how well they hold, and `singular` where they were
    nearest to dependence, if they came near to it.
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

    def __repr__(self) -> str:
        shape = f"{len(self.q)} × " if self.q.ndim == 3 else ""
        return f"<Result of {self.mechanism.name!r}: {shape}{len(self.time)} samples, {self.status.name}>"

    def __str__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """One paragraph: what was done, how it ended, and whether the energy adds up."""
        return summary(self)

    @cached_property
    def balance(self) -> Balance:
        """Does the energy add up?"""
        return balance(self.energy.kinetic, self.energy.potential, self.work, self.loss)

    @cached_property
    def qdd(self) -> np.ndarray:
        """Accelerations at the samples."""
        return self._by_rows(self._accelerations)

    @cached_property
    def reactions(self) -> dict[str, np.ndarray]:
        """Wrench in every joint at the samples, by name of the joint (..., samples, 6)."""
        motion = [self._rows(x) for x in (self.q, self.qd, self.qdd)]
        loads = self._loads()
        if self.mechanism.closure is not None:
            return self._closed_reactions(motion, loads or {})
        found = self.mechanism.reactions(*motion, external=loads)
        return ByJoint({name: w.reshape(*self.q.shape[:-1], 6) for name, w in found.items()})

    def _closed_reactions(self, motion: list[np.ndarray], loads: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Those of loops depend on time and efforts; sample by sample."""
        if self.mechanism.model.terms is not None:
            raise InputError(
                f"{self.mechanism.name}: a system given by its forces has no joints with reactions"
            )
        tau, time = self._rows(self.tau), np.broadcast_to(self.time, self.q.shape[:-1]).reshape(-1)
        found = [
            self.mechanism.reactions(
                *(x[k] for x in motion),
                tau=tau[k],
                time=float(time[k]),
                external={name: w[k] for name, w in loads.items()},
            )
            for k in range(len(tau))
        ]
        return ByJoint(
            {
                name: np.stack([x[name] for x in found]).reshape(*self.q.shape[:-1], 6)
                for name in (found[0] if found else {})
            }
        )

    def _accelerations(self) -> np.ndarray:
        if self.parameters:
            raise InputError(
                f"{self.mechanism.name}: the run had other {', '.join(self.parameters)} than the mechanism; for "
                "accelerations and reactions build a mechanism with these"
            )
        rows = [self._rows(x) for x in (self.q, self.qd, self.tau)]
        if self.mechanism.closure is None:
            return self.mechanism.forward_dynamics(*rows, external=self._loads(), passive=self.passive)
        time = np.broadcast_to(self.time, self.q.shape[:-1]).reshape(-1)
        own = {"time": time, "solver": self.options.get("solver")}
        if self.mechanism.model.terms is not None:
            return self.mechanism.forward_dynamics(*rows, **own)
        return self.mechanism.forward_dynamics(*rows, external=self._loads(), passive=self.passive, **own)

    def _by_rows(self, f: Any) -> np.ndarray:
        return f().reshape(*self.q.shape[:-1], -1)

    def _rows(self, x: np.ndarray) -> np.ndarray:
        return x.reshape(-1, x.shape[-1])

    def _loads(self) -> dict[str, np.ndarray] | None:
        """Applied wrenches at every sample."""
        found: dict[str, np.ndarray] = {}
        time = np.broadcast_to(self.time, self.q.shape[:-1]).reshape(-1)
        for name, wrench in self.external.items():
            if callable(wrench):
                states = zip(time, self._rows(self.q), self._rows(self.qd), strict=True)
                found[name] = np.array([wrench(*state) for state in states], dtype=float).reshape(-1, 6)
            else:
                w = np.asarray(wrench, dtype=float)
                w = w[:, None, :] if w.ndim == 2 else w
                found[name] = np.broadcast_to(w, (*self.q.shape[:-1], 6)).reshape(-1, 6)
        return found or None

    def plot(self, path: str | os.PathLike[str] = "run.png", *, row: int = 0) -> Path:
        """Draw coordinates, rates, efforts (if any) and energies over time; of a batch, one row."""
        time, panels = curves(self, row)
        return draw_curves(path, time, panels, title=self.mechanism.name, columns=2 - len(panels) % 2)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to an HDF5 file, see docs/simulate.md; `kinpair.load_run` reads it."""
        from kinpair.simulation.storage import save

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
