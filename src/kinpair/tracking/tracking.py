"""How well a run follows a motion: errors, efforts against limits, settling, a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.errors import InputError
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.units import units
from kinpair.motion.trajectory import Trajectory
from kinpair.runs.result import Result
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import distinct
from kinpair.viewer.panels import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAND = 0.02  # of the largest error: what is smaller has settled
EXACT = 1e-9  # [rad] or [m]: a smaller error has settled
NEAR = 1.0 - 1e-9  # of a limit: an effort beyond this is at it


@final
@dataclass(frozen=True, eq=False)
class Tracking:
    """A run beside the motion that it should follow; in a batch all numbers have an axis of motions in front.

    `band` [rad] or [m]: an error that stays below it has settled; by default a fiftieth of the largest error of the
    rate, and not less than 1e-9.
    """

    run: Result
    motion: Trajectory
    band: float | None = None

    def __post_init__(self) -> None:
        m = self.mechanism
        if self.motion.shape != (m.nq,):
            raise InputError(
                f"{m.name}: the motion has shape {self.motion.shape}; give one of all {m.nq} coordinates"
            )
        if self.band is not None and not 0.0 < self.band < np.inf:
            raise InputError(f"{m.name}: band is {self.band!r}; give a number above zero", argument="band")

    @property
    def mechanism(self) -> Mechanism:
        """That moves."""
        return self.run.mechanism

    @property
    def time(self) -> np.ndarray:
        """Of the samples (n,) [s]."""
        return self.run.time

    @cached_property
    def error(self) -> np.ndarray:
        """q ⊖ q⁰(t) along the rates (..., n, nv): where it is, less where it should be."""
        m, x = self.mechanism, self.run.q
        wanted = np.broadcast_to(self.motion.at(self.time).q, x.shape)
        flat = [columns(np.reshape(a, (-1, m.nq))) for a in (wanted, x)]
        found = rows(kinematics.difference(m.model, *flat), flat[0][0].size)
        return np.reshape(found, (*x.shape[:-1], m.nv))

    @cached_property
    def rate_error(self) -> np.ndarray:
        """q̇ − q̇⁰(t) (..., n, nv)."""
        return self.run.qd - self.motion.at(self.time).qd

    @property
    def largest(self) -> np.ndarray:
        """Of the errors of each rate (..., nv)."""
        return np.abs(self.error).max(-2)

    @property
    def final(self) -> np.ndarray:
        """Size of the errors at the last sample (..., nv)."""
        return np.abs(self.error[..., -1, :])

    @property
    def rms(self) -> np.ndarray:
        """Root of the mean square of the errors of each rate (..., nv)."""
        return np.sqrt((self.error**2).mean(-2))

    @cached_property
    def settled(self) -> np.ndarray:
        """Time [s] from which on the error of each rate stays within the band (..., nv); NaN where it does not."""
        size = np.abs(self.error)
        own = np.maximum(BAND * self.largest, EXACT)
        band = own if self.band is None else np.full(self.largest.shape, self.band)
        beyond = size > band[..., None, :]
        last = np.where(beyond.any(-2), size.shape[-2] - 1 - np.argmax(beyond[..., ::-1, :], axis=-2), -1)
        after = np.append(self.time, np.nan)
        return after[last + 1]

    @property
    def effort(self) -> np.ndarray:
        """Largest effort of each rate (..., nv)."""
        return np.abs(self.run.tau).max(-2)

    @property
    def saturated(self) -> np.ndarray:
        """Part of the samples at which each effort is at the limit of its joint, or beyond (..., nv)."""
        return (np.abs(self.run.tau) >= NEAR * self.mechanism.model.joints.effort).mean(-2)

    def plot(self, path: str | os.PathLike[str] | None = None, *, row: int = 0) -> Figure:
        """Coordinates with the motion, errors and efforts over time as a figure of matplotlib; of a batch one row."""
        m, unit = self.mechanism, units(self.mechanism.model)
        lead = (row,) if self.run.q.ndim == 3 else ()
        q, tau, error = (x[lead] for x in (self.run.q, self.run.tau, self.error))
        tables = [
            ("coordinates", "q", q, unit["q"], m.q_names),
            ("error", "q − q⁰", error, unit["qd"], m.v_names),
            ("efforts", "τ", tau, unit["tau"], m.v_names),
        ]
        panels: list[list[Panel]] = []
        for title, letter, values, own, names in tables:
            kinds = list(dict.fromkeys(_length(u) if title == "error" else u for u in own))
            every = [_length(u) if title == "error" else u for u in own]
            panels.append([_panel(f"{letter} [{u}]", title, values, every, names, u) for u in kinds])
        motion = dict(zip(m.q_names, self.motion.at(self.time).q.T, strict=True))
        panels[0] = [replace(x, behind={name: motion[name] for name in x.curves}) for x in panels[0]]
        figure = figure_of(self.time, panels, title=f"{m.name}: along a motion of {self.motion.duration:g} s")
        if path is not None:
            write_figure(figure, path)
        return figure

    def __repr__(self) -> str:
        name, most = self.mechanism.name, self.largest.max()
        return f"<Tracking of {name!r}: {self.motion.duration:g} s, largest error {most:.3g}>"

    def __str__(self) -> str:
        m, n = self.mechanism, self.run.q.shape[0] if self.run.q.ndim == 3 else 1
        largest, final = (x.reshape(-1, m.nv).max(0) for x in (self.largest, self.final))
        k, j = int(largest.argmax()), int(final.argmax())
        of = f"{n} motions along {self.motion.duration:g} s" if n > 1 else f"along {self.motion.duration:g} s"
        lines = [
            f"{m.name}: {of}; largest error {largest[k]:.3g} ({m.v_names[k]}), at the end {final[j]:.3g} "
            f"({m.v_names[j]})"
        ]
        settled = self.settled.reshape(-1, m.nv)
        if np.isnan(settled).any():
            names = [m.v_names[k] for k in np.flatnonzero(np.isnan(settled).any(0))]
            lines.append(f"not settled: {', '.join(names)}")
        else:
            lines.append(f"settled after {settled.max():.3g} s")
        for k in np.flatnonzero(self.saturated.reshape(-1, m.nv).max(0)):
            part, most = self.saturated.reshape(-1, m.nv)[:, k].max(), m.model.joints.effort[k]
            lines.append(f"{m.v_names[k]} is at its limit of {most:g} for {100 * part:.3g} % of the time")
        if not self.run.status.ok:
            lines.append(str(self.run.status))
        return "\n".join(lines)


def _length(unit: str) -> str:
    """The unit of a displacement along a rate."""
    return unit.removesuffix("/s")


def _panel(
    quantity: str, title: str, values: np.ndarray, unit: Sequence[str], names: Sequence[str], kind: str
) -> Panel:
    own = [k for k, u in enumerate(unit) if u == kind]
    return Panel(title, quantity, {names[k]: values[:, k] for k in own}, distinct(names))
