"""Monitors of a run that reached its end: constraints, energy, momentum.

Energy that came from nowhere, or is missing, beyond a part of the energy that moved leaves the run in doubt:

    allowed    1 % of what moved; 10 % for a method of first order
    missing    any amount for generalised-alpha with rho_inf < 1, which is made to take it from fast vibrations

Momentum that nothing outside can change is measured by the same rule.

The energy adds up where stored = work − loss since the start of the run, at every sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from kinpair.simulation.held import WORST, Residual
from kinpair.simulation.methods.integrators import Integrator
from kinpair.simulation.monitors.momentum import momentum_of
from kinpair.simulation.rounding import ENERGY_KNOWN, NEVER_MOVED
from kinpair.simulation.run import Run
from kinpair.simulation.sample_memory import blocks, largest
from kinpair.simulation.status import Status


@dataclass(frozen=True, slots=True)
class Balance:
    """Energy [J]: done by drives and applied wrenches, taken by dampers and friction, stored since the start.

    `error` is the largest |stored − work + loss| over the samples, `relative` the same against the largest energy that
    moved. Of a batch, the sums over the trajectories and the worst of the errors.
    """

    work: float
    loss: float
    stored: float
    error: float
    relative: float


class Energies(NamedTuple):
    """Kinetic, potential, work and loss [J], each (..., samples)."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """Energies of every trajectory (rows,) [J]: work, loss and stored energy at the end, and the largest over the
    samples of energy that came from nowhere, that is missing, that moved, and that there was; where anything moved.
    """

    work: np.ndarray
    loss: np.ndarray
    stored: np.ndarray
    gained: np.ndarray
    missing: np.ndarray
    moved: np.ndarray
    size: np.ndarray
    moves: np.ndarray | bool = True

    @property
    def error(self) -> np.ndarray:
        """The larger of what came and what is missing."""
        return np.maximum(self.gained, self.missing)

    def part(self, energy: np.ndarray) -> np.ndarray:
        """Part of what moved; 0 where that is not more than rounding, or a mechanism is at rest."""
        known = (self.moved > ENERGY_KNOWN * self.size) & self.moves
        return np.divide(energy, self.moved, out=np.zeros_like(energy), where=known)

    @property
    def balance(self) -> Balance:
        """Balance of all trajectories."""
        done, taken, kept = (float(np.nansum(x)) for x in (self.work, self.loss, self.stored))
        if len(self.stored) and np.isnan(self.stored).all():
            return Balance(done, taken, np.nan, np.nan, np.nan)
        worst = float(self.error.max(initial=0.0))
        return Balance(done, taken, kept, worst, float(self.part(self.error).max(initial=0.0)))


def start_of(samples: Energies, begin: np.ndarray | None) -> np.ndarray:
    """Kinetic and potential energy (rows, 2) at the start; those given, or those of the first sample.

    What was done and taken at the very start, by an impact, is in the first sample already.
    """
    if begin is not None:
        return np.reshape(begin, (-1, 2))
    T, V, W, D = (np.atleast_2d(x)[:, 0] for x in samples)
    return np.stack([T - W + D, V], axis=-1)


def off(samples: tuple[np.ndarray, ...], start: np.ndarray) -> np.ndarray:
    """stored − work + loss (rows, samples)."""
    T, V, W, D = samples
    return T + V - start.sum(axis=-1, keepdims=True) - W + D


def ledger(samples: Energies, begin: np.ndarray | None, qd: np.ndarray) -> Ledger:
    """Make the ledger from samples, the energies (rows, 2) at the start of the run, if it is no sample, and the rates
    (..., samples, nv)."""
    rows = [np.atleast_2d(x) for x in samples]
    if not rows[0].size:
        none = np.zeros(len(rows[0]))
        return Ledger(none, none, none, none, none, none, none)
    start = start_of(samples, begin)
    ends = np.full((3, len(rows[0])), np.nan)  # work, loss, what is wrong at the last sample that is a number
    gained, missing, moved, size = np.zeros((4, len(rows[0])))
    V0 = start[:, 1]
    for part in blocks(*rows):
        T, V, W, D, fine = _numbers(part)
        wrong = off((T, V, W, D), start)
        low, high = _range(wrong)
        gained, missing = np.fmax(gained, high), np.fmax(missing, -low)
        (_, fastest), (deep, tall), (back, forth), (given, taken) = map(_range, (T, V, W, D))
        for x in (fastest, tall - V0, V0 - deep, forth, -back, taken, -given):
            moved = np.fmax(moved, x)
        for x in (fastest, tall, -deep):
            size = np.fmax(size, x)
        ends = _newer(ends, (W, D, wrong), fine)
    work, loss, wrong = ends
    return Ledger(work, loss, wrong + work - loss, gained, missing, moved, size, _moves(qd))


def _range(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest number of each row."""
    return np.fmin.reduce(x, axis=1), np.fmax.reduce(x, axis=1)


def _numbers(part: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    """T, V, W, D (rows, samples), NaN where an energy is not a number, and where they are numbers; None: everywhere."""
    T, V = part[0], part[1]
    if np.isfinite(T.sum() + V.sum()):
        return *part, None
    fine = np.isfinite(T) & ~np.isinf(V)
    return *(np.where(fine, x, np.nan) for x in part), fine


def _newer(ends: np.ndarray, x: tuple[np.ndarray, ...], fine: np.ndarray | None) -> np.ndarray:
    """The last numbers of each x (rows, samples) that are fine; where none is, the ends (k, rows) known before."""
    if fine is None:
        return np.array([each[:, -1] for each in x])
    last = fine.shape[1] - 1 - np.argmax(fine[:, ::-1], axis=1)
    return np.where(fine.any(axis=1), np.array([each[np.arange(len(fine)), last] for each in x]), ends)


ALLOWED, FIRST_ORDER = 0.01, 0.1  # of the energy that moved
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
        """Motion that momentum is found from."""
        return {"q": self.q, "qd": self.qd, "tau": self.tau, "kinetic": self.energies.kinetic}


def allowed(method: Integrator) -> tuple[float, float]:
    """Parts of the energy that moved: how much may come from nowhere, and how much may be missing."""
    part = FIRST_ORDER if method.order == 1 else ALLOWED
    return part, np.inf if method.dissipates else part


def verdict(run: Run, status: Status, failures: Rows, seen: Seen) -> tuple[Status, Rows]:
    """Return the status, unless a motion that reached its end has lost its constraints or its energy during the run."""
    if not status.ok or not len(seen.time):
        return _together(run, status, failures), failures
    failed = {**_turned(run, status, seen), **_poor(run, status, seen), **_apart(status, seen), **failures}
    if run.batch is None:
        return failed.get(0, status), {}
    return _together(run, status, failed), failed


def _together(run: Run, status: Status, failures: Rows) -> Status:
    """Status of a batch: it is well if all its motions are."""
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
    books = ledger(seen.energies, begin, seen.qd)
    wrong = (books.part(books.gained) > gain) | (books.part(books.missing) > loss)
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
    """True if the sum that should stay equal varies by no more than that part of the largest kinetic energy. At
    least so much energy has moved."""
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
            f"of the largest possible; {remedy(run)}",
        )
        for row in np.flatnonzero(wrong)
    }


def _moves(qd: np.ndarray) -> np.ndarray:
    """Flags of the rows in which a rate is more than rest."""
    rates = qd if qd.ndim == 3 else qd[None]
    fastest = np.zeros(len(rates))
    for (part,) in blocks(rates, axis=-2):
        fastest = np.fmax(fastest, np.fmax.reduce(np.abs(part), axis=(1, 2), initial=0.0))
    return fastest > NEVER_MOVED


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
    """Sentence about what would help."""
    return "take a shorter dt" if run.fixed else "take smaller rtol and atol"
