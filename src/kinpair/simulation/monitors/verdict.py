"""Monitors of a run that reached its end: constraints, energy, momentum.

Energy that came from nowhere, or is missing, beyond a part of the energy that moved leaves the run in doubt:

    allowed    1 % of what moved; 10 % for a method of first order
    missing    any amount for generalised-alpha with rho_inf < 1, which is made to take it from fast vibrations

Momentum that nothing outside can change is measured in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from kinpair.simulation.held import WORST, Residual
from kinpair.simulation.methods.integrators import Integrator
from kinpair.simulation.monitors.balance import Energies, Ledger, ledger, off, start_of
from kinpair.simulation.monitors.momentum import momentum_of
from kinpair.simulation.run import Run
from kinpair.simulation.sample_memory import blocks, largest
from kinpair.simulation.status import Status

ALLOWED, FIRST_ORDER = 0.01, 0.1  # of the energy that moved
REST = 1e-6  # [rad/s], [m/s]: what never moves faster is at rest, and its energy is rounding
Rows = dict[int, Status]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Samples to be looked over: times (n,), q, q̇, τ (..., n, k), energies (..., n), residuals of constraints.

    `begin` has the energies (rows, 2) at the start of the run, where that is no sample.
    """

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    energies: Energies
    residual: Residual | None
    begin: np.ndarray | None = None

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """What momentum is found from."""
        return {"q": self.q, "qd": self.qd, "tau": self.tau, "kinetic": self.energies.kinetic}


def allowed(method: Integrator) -> tuple[float, float]:
    """Parts of the energy that moved: how much may come from nowhere, and how much may be missing."""
    part = FIRST_ORDER if method.order == 1 else ALLOWED
    return part, np.inf if method.dissipates else part


def verdict(run: Run, status: Status, failures: Rows, seen: Seen) -> tuple[Status, Rows]:
    """The same, unless a motion that reached its end has lost its constraints or its energy on the way."""
    if not status.ok or not len(seen.time):
        return _together(run, status, failures), failures
    failed = {**_turned(run, status, seen), **_poor(run, status, seen), **_apart(status, seen), **failures}
    if run.batch is None:
        return failed.get(0, status), {}
    return _together(run, status, failed), failed


def _together(run: Run, status: Status, failures: Rows) -> Status:
    """Of a batch: it is well if all its motions are."""
    if not failures or not status.ok:
        return status
    row = min(failures)
    count, batch = len(failures), run.batch or 1
    which = "all motions failed" if count == batch else f"{count} of {batch} motions failed"
    which = "the motion failed" if batch == 1 else which
    return Status("failed", status.time, f"{status.message}, but {which}; motion {row}: {failures[row]}")


def _apart(status: Status, seen: Seen) -> Rows:
    """Motions whose loops have come apart."""
    if seen.residual is None or largest(seen.residual.position) <= WORST:
        return {}
    gap = np.atleast_2d(seen.residual.position)
    start, first, worst = gap[:, :1].copy(), np.full(len(gap), np.nan), np.zeros(len(gap))
    for time, part in blocks(seen.time, gap):
        first = _first(first, time, part - start > WORST)
        worst = np.fmax(worst, np.fmax.reduce(part, axis=1))
    return {
        int(row): Status(
            "drifted",
            float(first[row]),
            f"{status.message}, but the constraints have drifted apart since t = {first[row]:.9g} s, by up to "
            f"{worst[row]:.2g}; hold='project' keeps them",
        )
        for row in np.flatnonzero(~np.isnan(first))
    }


def _first(known: np.ndarray, time: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The first time at which a row of (rows, samples) is true, unless one is known."""
    new = np.isnan(known) & there.any(axis=1)
    return np.where(new, time[np.argmax(there, axis=1)], known)


def _poor(run: Run, status: Status, seen: Seen) -> Rows:
    """Motions whose energy does not add up."""
    begin, (gain, loss) = seen.begin, allowed(run.integrator)
    if _surely_adds_up(seen.energies, begin, min(gain, loss)):
        return {}
    books = ledger(seen.energies, begin)
    wrong = (books.part(books.gained) > gain) | (books.part(books.missing) > loss)
    wrong &= _moves(seen.qd) if wrong.any() else True
    if not wrong.any():
        return {}
    limit = np.where(wrong, books.moved, np.inf)
    first = np.full(len(wrong), np.nan)
    start = start_of(seen.energies, begin)
    for time, *part in blocks(seen.time, *(np.atleast_2d(x) for x in seen.energies)):
        error = off(tuple(part), start)
        first = _first(first, time, (error > gain * limit[:, None]) | (-error > loss * limit[:, None]))
    return {int(k): _doubtful(run, status, books, int(k), float(first[k])) for k in np.flatnonzero(wrong)}


def _surely_adds_up(energies: Energies, begin: np.ndarray | None, part: float) -> bool:
    """Does the sum that should stay the same vary by no more than that part of the largest kinetic energy? At least so
    much energy has moved."""
    sums: list[Any] = [] if begin is None else [begin.sum(axis=-1)]
    fastest: list[Any] = []
    with np.errstate(all="ignore"):  # a comparison with NaN is false
        for T, V, W, D in blocks(*energies):
            total = T + V - W + D
            sums += np.minimum.reduce(total, axis=-1), np.maximum.reduce(total, axis=-1)
            fastest.append(np.maximum.reduce(T, axis=-1))
        varies = reduce(np.maximum, sums) - reduce(np.minimum, sums)
        return bool((varies <= part * reduce(np.maximum, fastest)).all())


def _turned(run: Run, status: Status, seen: Seen) -> Rows:
    """Motions that have not kept momentum which nothing outside could change."""
    momentum = momentum_of(run.mechanism, run.options, seen.time, seen.motion)
    if momentum is None or momentum.is_rounding:
        return {}
    part = momentum.relative.max(axis=1)
    wrong = part > allowed(run.integrator)[0]
    wrong &= _moves(seen.qd) if wrong.any() else True
    return {
        int(row): Status(
            "doubtful",
            status.time,
            f"{status.message}, but {momentum.words}, which nothing outside changes, is off by {100 * part[row]:.3g} % "
            f"of what it could be; {remedy(run)}",
        )
        for row in np.flatnonzero(wrong)
    }


def _moves(qd: np.ndarray) -> np.ndarray:
    """Is there a rate that is more than rest, in each row?"""
    rates = qd if qd.ndim == 3 else qd[None]
    fastest = np.zeros(len(rates))
    for (part,) in blocks(rates, axis=-2):
        fastest = np.fmax(fastest, np.fmax.reduce(np.abs(part), axis=(1, 2), initial=0.0))
    return fastest > REST


def _doubtful(run: Run, status: Status, books: Ledger, row: int, time: float) -> Status:
    came = books.gained[row] >= books.missing[row] or run.integrator.dissipates
    energy = books.gained if came else books.missing
    which = "came from nowhere" if came else "are missing"
    return Status(
        "doubtful",
        time,
        f"{status.message}, but the energy does not add up since t = {time:.9g} s: {energy[row]:.3g} J {which}, "
        f"{100 * books.part(energy)[row]:.3g} % of the energy that moved; {remedy(run)}",
    )


def remedy(run: Run) -> str:
    """What would help."""
    return "take a shorter dt" if run.fixed else "take smaller rtol and atol"
