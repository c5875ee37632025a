"""Times at which samples are taken: a plan of steps for fixed ones, times for adaptive ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.errors import InputError

WHOLE = 1e-6  # of a step: how far a time may lie from the end of one
SAMPLES = 10_000  # unless asked for otherwise, fixed steps give at most so many samples,
EVENLY = 1_001  # and adaptive ones so many, evenly spaced
MOST = 100_000_000  # samples: beyond that an interval is taken for a mistake
USUAL = 1000  # steps of a short run
PATIENCE = 10.0  # seconds of computing without progress after which a run ends
MOST_STEPS = 10**12  # steps: beyond that a length of steps is taken for a mistake
RESOLVED = 1e-3  # a step, as a part of which neighbouring times may be apart
SPANNED = 1e-6  # the same for the duration of a run that chooses its steps
FINEST = 1e-15  # relative tolerance: beyond that double precision resolves no error
SMALLEST = 1e-100  # absolute tolerance: squares of errors in units of it overflow far below
MOST_AT_START = {
    "q": (1e12, "rad or m"),
    "qd": (1e8, "rad/s or m/s"),
}  # beyond that a number is taken for a mistake


@dataclass(frozen=True)
class Plan:
    """Fixed steps: how many, their length, and (stops, steps before each) one after the other, up to the end.

    A stop is a sample; the last one, at the end of the run, is only if `to_end`.
    """

    dt: float
    steps: int
    blocks: tuple[tuple[int, int], ...]
    from_start: bool
    """Is the start itself a sample?"""
    to_end: bool = True
    """Is the end itself a sample?"""

    @cached_property
    def _ends(self) -> list[int]:
        """Steps behind which each block ends."""
        return np.cumsum([samples * every for samples, every in self.blocks]).tolist()

    def _behind(self, k: int, step: int) -> int:
        """Distance of a step behind the start of block k."""
        return step - (self._ends[k - 1] if k else 0)

    def ahead(self, step: int) -> tuple[int, int]:
        """Samples that follow each other at equal distances from a step on, and the steps before each."""
        k = bisect_right(self._ends, step)
        samples, every = self.blocks[k]
        done, over = divmod(self._behind(k, step), every)
        return (1, every - over) if over else (samples - done, every)

    @property
    def samples(self) -> int:
        """Number of samples."""
        return self.from_start + sum(samples for samples, _ in self.blocks) - (not self.to_end)

    @property
    def sampled(self) -> np.ndarray:
        """Steps after which a sample is taken."""
        gaps = np.repeat([every for _, every in self.blocks], [samples for samples, _ in self.blocks])
        stops = np.cumsum(gaps) if self.to_end else np.cumsum(gaps)[:-1]
        return np.concatenate([[0] * self.from_start, stops]).astype(int)

    def samples_at(self, step: int) -> bool:
        """True if a sample is taken behind this step."""
        if not 0 < step <= self.steps or (step == self.steps and not self.to_end):
            return False
        k = bisect_left(self._ends, step)
        return self._behind(k, step) % self.blocks[k][1] == 0


def fixed_plan(name: str, duration: float, dt: float, output: Any, start: float) -> Plan:
    """Steps of equal length to the end, and the samples among them."""
    check_step(name, "dt", dt, duration)
    check_clock(name, start, duration, dt * RESOLVED, f"a step dt = {dt:g} s")
    steps = _steps(name, "duration", duration, dt)
    if not steps:
        raise InputError(
            f"{name}: dt {dt:g} s is longer than the duration {duration:g} s; give dt = {duration:g} or a shorter one",
            argument="dt",
        )
    if output is None:
        every = -(-steps // SAMPLES) if steps > SAMPLES else 1
    elif np.ndim(output) == 0:
        interval = _interval(name, output, duration)
        every = _steps(name, "output", interval, dt)
        if not every:
            raise InputError(
                f"{name}: output {interval:g} s is shorter than a step dt = {dt:g} s", argument="output"
            )
    else:
        wanted = [
            _steps(name, "a time of output", t - start, dt)
            for t in wanted_times(name, output, duration, start)
        ]
        to_end = wanted[-1] == steps
        stops = wanted if to_end else [*wanted, steps]
        return Plan(dt, steps, _blocks(stops), wanted[0] == 0, to_end)
    samples, rest = divmod(steps, every)
    blocks = ((samples, every), (1, rest))
    return Plan(dt, steps, tuple(block for block in blocks if all(block)), True)


def _blocks(sampled: list[int]) -> tuple[tuple[int, int], ...]:
    """Equal distances between samples, counted."""
    gaps = np.diff([step for step in sampled if step], prepend=0)
    starts = np.flatnonzero(np.diff(gaps, prepend=-1))
    counts = np.diff(starts, append=len(gaps))
    return tuple((int(n), int(gaps[k])) for n, k in zip(counts, starts, strict=True))


def adaptive_times(name: str, duration: float, output: Any, start: float) -> np.ndarray:
    """Times of samples: those given, or times at an interval and the end."""
    check_clock(name, start, duration, duration * SPANNED, f"the duration {duration:g} s")
    if output is None:
        return start + np.linspace(0.0, duration, EVENLY)
    end = start + duration
    if np.ndim(output) > 0:
        return _up_to(end, wanted_times(name, output, duration, start))
    every = _interval(name, output, duration)
    times = _up_to(end, start + np.arange(int(np.floor(duration / every * (1 + 1e-12))) + 1) * every)
    return times if times[-1] == end else np.append(times, end)


def _up_to(end: float, times: np.ndarray) -> np.ndarray:
    """The times, the last one at the end itself where it is no further than rounding from it, or beyond it."""
    if times[-1] > end - 1e-12 * max(1.0, abs(end)):
        times[-1] = end
    return times


def _interval(name: str, output: Any, duration: float) -> float:
    """Time between two samples, checked."""
    every = positive(name, "output", output)
    if every * MOST < duration:
        raise InputError(
            f"{name}: output {every:g} s would be {duration / every:.3g} samples; at most {MOST:g} are taken",
            argument="output",
        )
    return every


def wanted_times(name: str, output: Any, duration: float, start: float) -> np.ndarray:
    """Times of output, checked."""
    times = real(output).copy()
    if not times.size:
        raise InputError(
            f"{name}: output is empty; give an interval [s], or times, or leave it out", argument="output"
        )
    inside = times.ndim == 1 and (np.diff(times) > 0).all() and np.isfinite(times).all()
    slack = 1e-9 * max(1.0, abs(start) + duration)
    if not inside or (len(times) and (times[0] < start - slack or times[-1] > start + duration + slack)):
        raise InputError(
            f"{name}: output must be an interval [s] or increasing times between {start:g} and {start + duration:g} s"
        )
    return times


def check_step(name: str, what: str, step: float, duration: float) -> None:
    """Reject a length of steps of which a run has more than can be taken."""
    if duration / MOST_STEPS > step:
        raise InputError(
            f"{name}: {what} {step:g} s makes {duration / step:.3g} steps in a duration of {duration:g} s; at most "
            f"{MOST_STEPS:.0e} are taken: use a longer {what}, such as {duration / USUAL:g} s, or a shorter duration",
            argument=what,
        )


def check_clock(name: str, time: float, duration: float, gap: float, needs: str) -> None:
    """Reject times at which neighbouring numbers are farther apart than a gap [s]."""
    last = max(abs(time), abs(time + duration))
    if np.spacing(last) > gap:
        raise InputError(
            f"{name}: the run lasts from time = {time:g} s to {time + duration:g} s, where neighbouring numbers are "
            f"{np.spacing(last):.3g} s apart, too far for {needs}; start nearer to zero, such as time = 0, and shift "
            "functions of time",
            argument="time",
        )


def check_tolerance(name: str, rtol: float, finest: float) -> float:
    """Return the relative tolerance; reject one that double precision cannot satisfy."""
    if rtol < finest:
        raise InputError(
            f"{name}: rtol is {rtol:g}; double precision resolves {np.finfo(float).eps:.2g}: give rtol = {finest:g} or "
            "larger, such as 1e-9",
            argument="rtol",
        )
    return rtol


def check_allowed(name: str, atol: np.ndarray) -> np.ndarray:
    """Return the absolute tolerances; reject one in whose units errors overflow."""
    if atol.min() < SMALLEST:
        raise InputError(
            f"{name}: atol is {atol.min():g}; errors in units of it are not finite numbers: give atol = {SMALLEST:g} "
            "or larger, such as 1e-10",
            argument="atol",
        )
    return atol


def check_size(name: str, what: str, names: Sequence[str], values: np.ndarray) -> None:
    """Reject coordinates q (nq,) [rad], [m] or rates qd (nv,) [rad/s], [m/s] that no mechanism has."""
    k, (most, unit) = int(np.argmax(np.abs(values))), MOST_AT_START[what]
    if abs(values[k]) > most:
        raise InputError(
            f"{name}: {what} of {names[k]!r} is {values[k]:g} at the start; at most {most:.0e} {unit} is simulated: "
            "check its unit",
            argument=what,
        )


def positive(name: str, what: str, value: Any) -> float:
    """A number above zero."""
    x = real(value)
    if x.ndim or not 0 < x < np.inf:
        raise InputError(f"{name}: {what} is {value!r}; it must be a number above zero", argument=what)
    return float(x)


def patient(name: str, value: Any) -> float:
    """Return the seconds of computing without progress after which a run ends; infinity waits."""
    x = real(value)
    if x.ndim or not x > 0:
        raise InputError(
            f"{name}: patience is {value!r}; it must be a number of seconds above zero, or inf to wait",
            argument="patience",
        )
    return float(x)


def finite(name: str, what: str, value: Any) -> float:
    """Check that it is finite."""
    x = real(value)
    if x.ndim or not np.isfinite(x):
        raise InputError(f"{name}: {what} is {value!r}; it must be a finite number", argument=what)
    return float(x)


def real(value: Any) -> np.ndarray:
    """The value as floats; NaN if it is anything but real numbers, such as text."""
    try:
        x = np.asarray(value)
        return x.astype(float) if x.dtype.kind in "fiubO" else np.array(np.nan)
    except (TypeError, ValueError):
        return np.array(np.nan)


def _steps(name: str, what: str, length: float, dt: float) -> int:
    """Number of steps in a length of time."""
    steps = round(length / dt)
    if abs(steps * dt - length) > WHOLE * dt:
        near = length / max(1, np.ceil(length / dt))
        raise InputError(
            f"{name}: {what} {length:g} s is not a whole number of steps dt = {dt:g} s; give dt = {near:.9g}",
            argument=what,
        )
    return steps


def held_steps(name: str, sample_time: float, dt: float) -> int:
    """Return the number of steps for which a torque is constant."""
    steps = _steps(name, "the sample time of torque,", sample_time, dt)
    if not steps:
        raise InputError(
            f"{name}: the sample time of torque, {sample_time:g} s, is shorter than a step dt = {dt:g} s; give "
            f"dt = {sample_time:g} or a longer sample_time",
            argument="dt",
        )
    return steps
