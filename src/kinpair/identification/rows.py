"""Filtered rows of all runs: A θ = y, each row with its joint, its run and its block of one second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinpair.identification.columns import Layout
from kinpair.identification.inertia_space import TEN
from kinpair.identification.signals import Samples, zero_phase

BLOCK = 1.0  # [s]: residuals of different blocks count as independent


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """Inertial columns of one run: on all samples (n, rows, p), and filtered at the rows that are kept (k, rows, p).

    y (k, rows): filtered efforts. keep (k, rows): rows of joints that move fast enough, outside gaps.
    """

    samples: Samples
    inertial: np.ndarray
    filtered: np.ndarray
    y: np.ndarray
    keep: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A (k, p), y (k,), and of each row its joint (position in `layout.rows`), run, block and time [s]."""

    layout: Layout
    A: np.ndarray
    y: np.ndarray
    joint: np.ndarray
    run: np.ndarray
    block: np.ndarray
    time: np.ndarray

    def take(self, chosen: np.ndarray) -> Rows:
        """Some of the rows."""
        parts = (self.A, self.y, self.joint, self.run, self.block, self.time)
        return Rows(self.layout, *(x[chosen] for x in parts))


def filtered(x: np.ndarray, samples: Samples) -> np.ndarray:
    """Filter x (n, ...) as the efforts and keep every `step`-th sample; columns of zeros stay.    (ID4)"""
    s = samples.settings
    flat = x.reshape(len(x), -1)
    active = np.flatnonzero(flat.any(0))
    result = np.zeros((len(range(0, len(x), samples.step)), flat.shape[1]))
    result[:, active] = zero_phase(flat[:, active], s.effort_cutoff, s.rate)[:: samples.step]
    return result.reshape(len(result), *x.shape[1:])


def run_columns(layout: Layout, samples: Samples) -> RunColumns:
    """Evaluate and filter the inertial columns of a run."""
    Y = layout.inertial(samples.q, samples.qd, samples.qdd, samples.loaded)
    speed = np.abs(samples.qd[:: samples.step][:, list(layout.rows)])
    least = np.broadcast_to(np.asarray(samples.settings.least_speed, dtype=float), (len(layout.driven),))
    keep = np.ones(speed.shape, dtype=bool)
    keep[:, layout.driven] = speed[:, layout.driven] > least
    keep &= samples.usable[:: samples.step, None]
    return RunColumns(samples, Y, filtered(Y, samples), filtered(samples.tau, samples), keep)


def external(run: RunColumns, theta: np.ndarray) -> np.ndarray:
    """T (n, rows): effort on each link, of the inertial columns.    (ID7)"""
    return run.inertial @ theta[: run.inertial.shape[2]]


def design(layout: Layout, run: RunColumns, theta: np.ndarray | None) -> np.ndarray:
    """All columns (k, rows, p) of a run, filtered; θ gives the loads of friction, without them they are zero."""
    s = run.samples
    loads = theta is not None and any(x.kind == "load" for x in layout.terms)
    T = external(run, theta) if loads and theta is not None else None
    return np.concatenate([run.filtered, filtered(layout.further(s.qd, s.qdd, T), s)], axis=2)


def rows_of(layout: Layout, runs: Sequence[RunColumns], theta: np.ndarray | None) -> Rows:
    """Stack the rows of all runs that are kept."""
    parts: list[tuple[np.ndarray, ...]] = []
    blocks = 0
    for number, run in enumerate(runs):
        D = design(layout, run, theta)
        time = run.samples.time[:: run.samples.step]
        where, joint = np.nonzero(run.keep)
        block = blocks + ((time - time[0]) / BLOCK).astype(int)
        blocks = int(block[-1]) + 1
        parts.append(
            (D[run.keep], run.y[run.keep], joint, np.full(len(where), number), block[where], time[where])
        )
    return Rows(layout, *(np.concatenate(x) for x in zip(*parts, strict=True)))


def inertial_count(layout: Layout) -> int:
    """Number of columns of pseudo-inertias."""
    return TEN * len(layout.bodies_of_ten)
