"""Conversion of logged columns to filtered rows: the signal chain.

q_f = F_q q,   q̇ = D q_f,   q̈ = D q̇          F: zero-phase Butterworth filter, D: central differences      (ID3)
F_τ τ = F_τ [Y(q_f, q̇, q̈) π]                  one filter on both sides keeps equality                       (ID4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.errors import InputError
from kinpair.formulations.kinematics import difference, normalised
from kinpair.identification.columns import Layout
from kinpair.identification.log import Log
from kinpair.mechanism import Mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

ORDER = 4  # of the Butterworth design; forward and backward it acts twice
SETTLING = 3.0  # periods of the cut-off by which a signal is continued at its ends
EDGE = 1.0  # periods of both cut-offs at the ends of a run that are left out: filters have no data beyond
GAP = 0.05  # [s]: rows in a longer gap of the log are left out, and those within it of its ends
FLOOR = 10.0  # the spectrum of a motion ends where it is below this many times its floor
SPEED_CUTOFF = 5.0  # cut-off of positions as a multiple of the highest frequency of the motion
LEAST_CUTOFF = 5.0  # [Hz]: friction changes faster than a slow motion
EFFORT_CUTOFF = 10.0  # [Hz] at most
ROWS_PER_CUTOFF = 2.5  # rows per second kept, by the cut-off of the efforts
LEAST_SPEED = 0.02  # [rad/s] or [m/s]: below, the direction of friction is not known


@dataclass(frozen=True, slots=True)
class Signals:
    """Settings of the chain; zero: chosen from the data.

    rate: of the uniform samples [Hz]. position_cutoff, effort_cutoff: of the filters [Hz]. output_rate: rows per
    second that are kept. least_speed: rows of a joint below it are left out, a number or one per joint. delay: of
    efforts behind positions [s], None: scanned.
    """

    rate: float = 0.0
    position_cutoff: float = 0.0
    effort_cutoff: float = 0.0
    output_rate: float = 0.0
    least_speed: float | tuple[float, ...] = LEAST_SPEED
    delay: float | None = None

    @classmethod
    def of(cls, settings: Signals | Mapping[str, Any] | None) -> Signals:
        """Settings from a mapping of them; keys that do not exist raise InputError."""
        if settings is None:
            return cls()
        if isinstance(settings, Signals):
            return settings
        try:
            keys: dict[str, Any] = {k: tuple(np.ravel(x)) if np.ndim(x) else x for k, x in settings.items()}
            made = cls(**keys)
        except TypeError:
            known = ", ".join(cls.__dataclass_fields__)
            raise InputError(
                f"signals is {dict(settings)!r}; its keys are {known}", argument="signals"
            ) from None
        for key in ("rate", "position_cutoff", "effort_cutoff", "output_rate"):
            x = getattr(made, key)
            if not 0.0 <= x < np.inf:
                raise InputError(
                    f"signals: {key} is {x!r}; give a number above zero [Hz], or leave it out",
                    argument="signals",
                )
        return made


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """A run on a uniform grid: time (n,), q (n, nq), qd, qdd (n, nv), measured efforts (n, rows), unfiltered.

    usable (n,): outside gaps of the log. step: samples per row that is kept. settings: all chosen. notes: how.
    """

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    usable: np.ndarray
    settings: Signals
    notes: tuple[str, ...]
    loaded: bool = False

    @property
    def step(self) -> int:
        """Samples per row that is kept."""
        return max(1, round(self.settings.rate / self.settings.output_rate))

    def shifted(self, delay: float) -> Samples:
        """Samples with the efforts moved earlier by a delay [s]."""
        tau = np.stack([np.interp(self.time + delay, self.time, x) for x in self.tau.T], axis=1)
        return replace(self, tau=tau, settings=replace(self.settings, delay=delay))


def zero_phase(x: np.ndarray, cutoff: float, rate: float) -> np.ndarray:
    """Filter x (n, ...) along its first axis, forward and backward; a cut-off at half the rate or above changes
    nothing.    (ID3)"""
    from scipy.signal import butter, sosfiltfilt

    if cutoff >= 0.499 * rate:
        return np.asarray(x, dtype=float)
    pad = min(round(SETTLING * rate / cutoff), len(x) - 1)
    return sosfiltfilt(butter(ORDER, cutoff, fs=rate, output="sos"), x, axis=0, padlen=pad)


def samples_of(m: Mechanism, log: Log, settings: Signals) -> Samples:
    """Resample, filter and differentiate a log; what is not given is chosen from it."""
    chosen, notes = choose(log, settings)
    time = np.arange(log.time[0], log.time[-1] + 1e-9, 1.0 / chosen.rate)
    if len(time) < 8 * ORDER:
        raise InputError(f"{log.name}: {len(time)} samples at {chosen.rate:g} Hz; a longer log is required")
    q, tau = (np.stack([np.interp(time, log.time, x) for x in y.T], axis=1) for y in (log.q, log.tau))
    q, qd, qdd = motion_of(m, log, zero_phase(q, chosen.position_cutoff, chosen.rate), 1.0 / chosen.rate)
    edge = EDGE / chosen.position_cutoff + EDGE / chosen.effort_cutoff
    inside = (time > time[0] + edge) & (time < time[-1] - edge)
    notes.append(
        f"chain: {chosen.rate:g} Hz, positions {chosen.position_cutoff:g} Hz, efforts {chosen.effort_cutoff:g} Hz, "
        f"{chosen.rate / max(1, round(chosen.rate / chosen.output_rate)):g} rows per second"
    )
    notes.append(f"{edge:.3g} s at both ends left out: the filters have no data beyond")
    usable = _outside_gaps(log, time) & inside
    return Samples(time, q, qd, qdd, tau, usable, chosen, tuple(notes), log.loaded)


def motion_of(m: Mechanism, log: Log, q: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q (n, nq), q̇, q̈ (n, nv) by central differences; quaternions normalised, loops closed.    (ID3)"""
    model = m.model
    if m.nq != m.nv:
        q = rows(normalised(model, columns(q)), len(q))
    if m.closure is not None:
        q = closed_path(m, q, log)
    if m.nq == m.nv:
        qd = np.gradient(q, dt, axis=0)
    else:
        here, ahead = columns(q), columns(np.append(q[1:], q[-1:], axis=0))
        behind = columns(np.append(q[:1], q[:-1], axis=0))
        qd = (
            rows(difference(model, here, ahead), len(q)) - rows(difference(model, here, behind), len(q))
        ) / (2 * dt)
        qd[[0, -1]] *= 2.0  # one side alone
    qdd = np.gradient(qd, dt, axis=0)
    if m.closure is not None:
        given = {m.v_names[k]: k for k in log.rows}
        qd = m.velocities(q, {x: qd[:, k] for x, k in given.items()}, guess=qd)
        qdd = m.accelerations(q, qd, {x: qdd[:, k] for x, k in given.items()})
    return q, qd, qdd


def closed_path(m: Mechanism, q: np.ndarray, log: Log) -> np.ndarray:
    """Coordinates (n, nq) that close all loops, actuated ones as logged; those without a column follow step by step."""
    names = [m.v_names[k] for k in log.rows]
    if len(log.moving) == m.nq:
        return m.assemble(q, fixed=names)
    found, logged = q.copy(), list(log.moving)
    guess = m.start()
    for k in range(len(q)):
        guess[logged] = q[k, logged]
        guess = found[k] = m.assemble(guess, fixed=names)
    return found


def _outside_gaps(log: Log, time: np.ndarray) -> np.ndarray:
    steps = np.diff(log.time)
    usable = np.ones(len(time), dtype=bool)
    for k in np.flatnonzero(steps > max(GAP, 5.0 * float(np.median(steps)))):
        usable &= (time < log.time[k] - GAP) | (time > log.time[k + 1] + GAP)
    return usable


def choose(log: Log, settings: Signals) -> tuple[Signals, list[str]]:
    """Settings with everything chosen, and sentences on how."""
    steps = np.diff(log.time)
    notes: list[str] = []
    rate = settings.rate
    if not rate:
        rate = float(f"{1.0 / float(np.median(steps)):.2g}")
        notes.append(f"resampled at {rate:g} Hz, the median rate of the log")
    elif rate > 4.0 / float(np.median(steps)):
        notes.append(f"resampled at {rate:g} Hz, more than four times the median rate of the log")
    spread = float(steps.max() / steps.min()) if steps.min() > 0 else np.inf
    if spread > 1.5:
        notes.append(
            f"time steps between {1e3 * steps.min():.3g} and {1e3 * steps.max():.3g} ms: resampled by interpolation"
        )
    gaps = int((steps > max(GAP, 5.0 * float(np.median(steps)))).sum())
    if gaps:
        notes.append(f"{gaps} gap(s) of up to {steps.max():.3g} s: rows in and next to them are left out")
    top = motion_bandwidth(log, rate)
    cutoff = settings.position_cutoff
    if not cutoff:
        cutoff = float(f"{min(max(SPEED_CUTOFF * top, LEAST_CUTOFF), 0.4 * rate):.2g}")
        notes.append(f"positions filtered at {cutoff:g} Hz: the motion has power up to {top:.2g} Hz")
    effort = settings.effort_cutoff
    if not effort:
        effort = min(cutoff, EFFORT_CUTOFF)
        notes.append(f"efforts and all columns filtered at {effort:g} Hz")
    output = settings.output_rate
    if not output:
        output = min(rate, ROWS_PER_CUTOFF * effort)
        notes.append(f"{rate / max(1, round(rate / output)):g} rows per second kept")
    return replace(
        settings, rate=rate, position_cutoff=cutoff, effort_cutoff=effort, output_rate=output
    ), notes


def motion_bandwidth(log: Log, rate: float) -> float:
    """Frequency [Hz] at which the spectrum of the rates reaches its floor: the highest of all joints."""
    time = np.arange(log.time[0], log.time[-1], 1.0 / rate)
    top = 0.0
    for column in log.q.T:
        if np.ptp(column) == 0.0:
            continue
        x = np.diff(np.interp(time, log.time, column)) * np.hanning(len(time) - 1)
        power = np.abs(np.fft.rfft(x)) ** 2
        f = np.fft.rfftfreq(len(x), 1.0 / rate)
        w = max(1, len(power) // 400)
        power = np.convolve(power, np.ones(w) / w, mode="same")
        floor = float(np.median(power[len(power) // 2 :]))
        above = np.flatnonzero(power > max(FLOOR * floor, 1e-7 * float(power.max())))
        top = max(top, float(f[above[-1]]) if len(above) else 0.0)
    return max(top, 0.5)


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


DELAYS = np.arange(-20, 21) * 1e-3  # [s]
WORTH = 0.02  # part by which a delay has to lower the error


def scan_delay(
    layout: Layout, runs: list[RunColumns], signals: Signals
) -> tuple[list[RunColumns], list[str]]:
    """Runs with efforts moved by the delay that is given, or at which a fit is best, and a sentence on it."""
    if signals.delay is not None:
        if not signals.delay:
            return runs, []
        return [run_columns(layout, x.samples.shifted(signals.delay)) for x in runs], [
            f"efforts moved by {1e3 * signals.delay:g} ms, as given"
        ]
    rows = rows_of(layout, runs, None)
    y = np.stack([np.concatenate([_moved(x, float(d))[x.keep] for x in runs]) for d in DELAYS], axis=1)
    scale = np.sqrt(np.bincount(rows.joint, rows.y**2) / np.maximum(np.bincount(rows.joint), 1))[rows.joint]
    A, y = rows.A / scale[:, None], y / scale[:, None]
    A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    c = A.T @ y
    fitted = np.einsum("pd,pd->d", c, np.linalg.solve(A.T @ A + 1e-9 * np.eye(len(c)), c))
    squared = np.einsum("kd,kd->d", y, y)
    errors = np.sqrt(np.maximum(squared - fitted, 0.0) / squared)
    best, none = int(np.argmin(errors)), len(DELAYS) // 2
    sentence = f"delay of efforts behind positions: best fit at {1e3 * DELAYS[best]:g} ms"
    if errors[best] > (1.0 - WORTH) * errors[none]:
        return runs, [f"{sentence}, not worth a correction"]
    sentence += f", corrected (error {errors[none]:.2%} before, {errors[best]:.2%} after)"
    return [run_columns(layout, x.samples.shifted(float(DELAYS[best]))) for x in runs], [sentence]


def _moved(run: RunColumns, delay: float) -> np.ndarray:
    time = run.samples.time[:: run.samples.step]
    return np.stack([np.interp(time + delay, time, y) for y in run.y.T], axis=1)


def smoothed(layout: Layout, runs: Sequence[RunColumns]) -> list[RunColumns]:
    """Runs along a motion with half the bandwidth: instruments without most of the noise of positions."""
    found: list[RunColumns] = []
    for run in runs:
        s = run.samples
        cutoff, rate = s.settings.position_cutoff, s.settings.rate
        q, qd, qdd = (zero_phase(x, 0.5 * cutoff, rate) for x in (s.q, s.qd, s.qdd))
        own = run_columns(layout, replace(s, q=q, qd=qd, qdd=qdd))
        found.append(replace(own, keep=run.keep))
    return found
