"""Interface of every regulator: efforts from what is measured, its numbers at the time, and its memory.

A regulator is data and one pure function, over floats, symbols or columns: so it is part of a compiled time loop or of
a stepper, and it is the same regulator when it is called from Python.

Quantities over time as polynomials between knots: the motion that a regulator keeps to, its efforts, its gains.

    f(t) = Σ_j c_j x^j,   x = 2 (t − t_i)/(t_{i+1} − t_i) − 1,   t_i ≤ t ≤ t_{i+1}                        (RG13)

The coefficients are data of a run: another motion needs no compiling. A spline of degree 7 or less is represented
exactly. Any other motion is fitted at Chebyshev's points inside each piece, and the knots are halved until the fit
differs from the motion by rounding only. The largest difference found is kept by name in `errors`.

The numbers of a regulator over time: a course of quantities, and constants.

A row has the coefficients of (RG13) of one piece. It is in the table twice, for both ends of the piece, and its
first entry x is −1 in one and 1 in the other. A loop that reads the table on straight lines gets x, and coefficients
that do not change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.errors import InputError
from kinpair.model.model import Model

DEGREE = 7
FINE = {"q": 1e-13, "qd": 1e-12, "qdd": 1e-10}  # of the largest value: allowed error of the fit
MOST = 4096  # pieces
LEAST = 1e-9  # of the duration: knots that are closer are one knot
AFTER = 1.0  # [s]: length of the piece before the motion and of the piece after it
POINTS = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
CHECKED = np.array([-0.96, -0.4, 0.0, 0.4, 0.96])

Sampled = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Knots (pieces + 1,), coefficients (pieces, degree + 1, n) by name, and the error of each quantity."""

    knots: np.ndarray
    parts: Mapping[str, np.ndarray]
    errors: Mapping[str, float]

    def only(self, *names: str) -> Course:
        """Return the course of some quantities."""
        errors = {name: self.errors[name] for name in names if name in self.errors}
        return Course(self.knots, {name: self.parts[name] for name in names}, errors)

    def joined(self, other: Course) -> Course:
        """Return both courses as one; `other` has straight lines and fewer knots, and is constant beyond its ends."""
        more = {name: lines(self.knots, other.at(self.knots)[name]) for name in other.parts}
        return Course(self.knots, {**self.parts, **more}, {**self.errors, **other.errors})

    def at(self, time: np.ndarray) -> dict[str, np.ndarray]:
        """Return every quantity (times, n) at the times (times,)."""
        t = np.clip(time, self.knots[0], self.knots[-1])
        k = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)
        x = 2.0 * (t - self.knots[k]) / (self.knots[k + 1] - self.knots[k]) - 1.0
        return {name: horner(np.moveaxis(c[k], 1, 0), x[:, None]) for name, c in self.parts.items()}


def horner(coefficients: Any, x: Any) -> Any:
    """Return Σ_j c_j x^j of coefficients (degree + 1, ...)."""
    value = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = c + x * value
    return value


def lines(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return coefficients (pieces, 2, n) of straight lines between values (pieces + 1, ...)."""
    flat = np.asarray(values, dtype=float).reshape(len(times), -1)
    return np.stack([0.5 * (flat[1:] + flat[:-1]), 0.5 * (flat[1:] - flat[:-1])], axis=1)


def of_lines(times: np.ndarray, values: Mapping[str, Any]) -> Course:
    """Return quantities on straight lines between the times: gains, references of samples."""
    t = np.asarray(times, dtype=float)
    return Course(t, {name: lines(t, x) for name, x in values.items()}, {})


def standing(values: Mapping[str, Any]) -> Course:
    """Return quantities that do not change."""
    parts = {name: np.reshape(np.asarray(x, dtype=float), (1, 1, -1)) for name, x in values.items()}
    return Course(np.array([0.0, AFTER]), parts, {})


def fitted(knots: np.ndarray, f: Callable[[np.ndarray], Sampled]) -> Course:
    """Return the quantities f(times) → (times, n) by name, fitted between the knots."""
    parts = {name: _coefficients(x) for name, x in _inside(knots, POINTS, f).items()}
    true = _inside(knots, CHECKED, f)
    errors = {name: float(np.abs(_values(c) - true[name]).max(initial=0.0)) for name, c in parts.items()}
    return Course(knots, parts, errors)


def knots_for(
    f: Callable[[np.ndarray], Sampled], start: np.ndarray, breaks: Sequence[float], duration: float
) -> np.ndarray:
    """Return knots with which f is fitted to rounding: those of `start` and `breaks`, halved as often as required;
    one piece of rest before the motion and one after it."""
    knots = np.unique(np.concatenate([start, np.asarray(breaks, dtype=float), [0.0, duration]]))
    far = np.append(np.diff(knots) > LEAST * duration, True)
    knots = np.append(knots[far][:-1], knots[-1])
    while len(knots) <= MOST // 2 and not _is_fine(fitted(knots, f)):
        knots = np.sort(np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])]))
    return np.concatenate([[knots[0] - AFTER], knots, [knots[-1] + AFTER]])


def _is_fine(course: Course) -> bool:
    """True if the motion is fitted to rounding."""
    sizes = {name: 1.0 + np.abs(course.parts[name][:, 0]).max(initial=0.0) for name in FINE}
    return all(course.errors[name] <= part * sizes[name] for name, part in FINE.items())


def _inside(
    knots: np.ndarray, points: np.ndarray, f: Callable[[np.ndarray], Sampled]
) -> dict[str, np.ndarray]:
    """Return the quantities (pieces, points, n) at these points of every piece."""
    middle, half = 0.5 * (knots[1:] + knots[:-1]), 0.5 * np.diff(knots)
    times = middle[:, None] + half[:, None] * points
    return {name: np.reshape(x, (*times.shape, -1)) for name, x in f(times.reshape(-1)).items()}


def _coefficients(values: np.ndarray) -> np.ndarray:
    """Return coefficients (pieces, degree + 1, n) of values at Chebyshev's points; the change over a piece is fitted,
    so that rounding is that of the change."""
    first = values[:, :1]
    inverse = np.linalg.inv(np.vander(POINTS, increasing=True))
    fit = np.einsum("jk,ikn->ijn", inverse, values - first)
    fit[:, :1] += first
    return fit


def _values(coefficients: np.ndarray) -> np.ndarray:
    """Return the polynomials at the checked points (pieces, points, n)."""
    powers = np.vander(CHECKED, coefficients.shape[1], increasing=True)
    return np.einsum("kj,ijn->ikn", powers, coefficients)


def through(times: np.ndarray, values: Mapping[str, Any]) -> Course:
    """Return samples (times, n) joined by polynomials of degree 7 through the nearest eight samples.

    The error is estimated by the polynomials through the nearest six.
    """
    t = np.asarray(times, dtype=float)
    parts, errors = dict[str, np.ndarray](), dict[str, float]()
    for name, x in values.items():
        flat = np.asarray(x, dtype=float).reshape(len(t), -1)
        parts[name] = _local(t, flat, DEGREE)
        coarse = _local(t, flat, DEGREE - 2)
        errors[name] = float(np.abs(_values(parts[name]) - _values(coarse)).max(initial=0.0))
    return Course(t, parts, errors)


def _local(t: np.ndarray, values: np.ndarray, degree: int) -> np.ndarray:
    """Return coefficients (pieces, DEGREE + 1, n) of polynomials through the samples nearest to each piece."""
    count = min(degree + 1, len(t))
    found = np.zeros((len(t) - 1, DEGREE + 1, values.shape[1]))
    for i in range(len(t) - 1):
        first = min(max(i + 1 - count // 2, 0), len(t) - count)
        some = slice(first, first + count)
        x = 2.0 * (t[some] - t[i]) / (t[i + 1] - t[i]) - 1.0
        found[i, :count] = np.linalg.solve(np.vander(x, increasing=True), values[some] - values[i])
        found[i, 0] += values[i]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Times (m,), rows (m, n), and which part of a row is what.

    The numbers are data of a run, not part of its code: a loop compiled for one set of gains serves every other.
    `errors`: the largest difference of a quantity from the motion that it was made from, by name.
    """

    times: np.ndarray
    rows: np.ndarray
    spans: Mapping[str, slice]
    powers: Mapping[str, int]
    errors: Mapping[str, float] = field(default_factory=dict[str, float])

    @classmethod
    def along(cls, course: Course, constant: Mapping[str, Any] | None = None) -> Table:
        """Return the table of a course, with constants by name."""
        pieces = len(course.knots) - 1
        times = np.stack([course.knots[:-1], course.knots[1:]], axis=1).reshape(-1)
        columns = [np.tile([-1.0, 1.0], pieces)[:, None]]
        spans, powers, start = dict[str, slice](), dict[str, int](), 1
        every = {**course.parts, **standing(constant or {}).parts}
        for name, c in every.items():
            own = np.broadcast_to(c.reshape(len(c), -1), (pieces, c[0].size))
            columns.append(np.repeat(own, 2, axis=0))
            spans[name], powers[name] = slice(start, start + c[0].size), c.shape[1]
            start += c[0].size
        return cls(times, np.ascontiguousarray(np.concatenate(columns, axis=1)), spans, powers, course.errors)

    @classmethod
    def of(
        cls, times: np.ndarray, changing: Mapping[str, Any], constant: Mapping[str, Any] | None = None
    ) -> Table:
        """Return parts of a row by name: `changing` ones (m, ...) on straight lines between the times, and `constant`
        ones."""
        return cls.along(of_lines(times, changing), constant)

    def with_constants(self, constant: Mapping[str, Any]) -> Table:
        """Return the table with more constants behind the entries of each row."""
        spans, powers, columns = dict(self.spans), dict(self.powers), [self.rows]
        start = self.width
        for name, x in constant.items():
            own = np.asarray(x, dtype=float).reshape(1, -1)
            columns.append(np.broadcast_to(own, (len(self.rows), own.size)))
            spans[name], powers[name] = slice(start, start + own.size), 1
            start += own.size
        rows = np.ascontiguousarray(np.concatenate(columns, axis=1))
        return Table(self.times, rows, spans, powers, self.errors)

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return self.rows.shape[-1]

    def part(self, row: Vector, name: str) -> Vector:
        """Return the quantity (n,) that a row gives.    (RG13)"""
        own, count = row[self.spans[name]], self.powers[name]
        return own if count == 1 else horner(list(own.reshape(count, -1)), row[0])

    def at(self, time: float) -> np.ndarray:
        """Return the row at a time; the first and the last beyond the ends."""
        t = float(np.clip(time, self.times[0], self.times[-1]))
        k = min(max(int(np.searchsorted(self.times, t, side="right")) - 1, 0), len(self.times) - 2)
        part = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        return self.rows[k] + part * (self.rows[k + 1] - self.rows[k])


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Measurements that a regulator receives: time, q, q̇, the efforts or inputs that have acted until now, and,
    when asked for, the
    accelerations under them; `period` is the time between two samples, zero where there are none; `x`: internal
    states."""

    time: Scalar
    q: Vector
    qd: Vector
    efforts: Vector
    accelerations: Callable[[], Vector]
    period: float = 0.0
    x: Vector = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False, repr=False)
class Regulator(ABC):
    """Efforts (nv,) of a mechanism as a function of what is measured.

    `table`: its numbers over time. `sample_time` [s]: it is asked at multiples of that and its efforts stay constant
    between; None asks it at all times.
    """

    model: Model
    table: Table
    sample_time: float | None = field(default=None, kw_only=True)

    @property
    def memory(self) -> np.ndarray:
        """Memory at the start (n,), or (batch, n) where motions of a batch differ."""
        return np.zeros(0)

    @abstractmethod
    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        """Efforts (nv,), and what is remembered until the next sample; `row`: that of the table at the time."""

    @property
    def needs_samples(self) -> bool:
        """True if it works from one sample to the next only."""
        return bool(self.memory.size)

    def _words(self) -> str:
        """Return what is said of the regulator beyond its kind and mechanism."""
        error = self.table.errors.get("q")
        span = self.table.times[-2] - self.table.times[1]
        return "about one state" if error is None else f"along {span:g} s, coordinates to {error:.1g}"

    def __repr__(self) -> str:
        period = "" if self.sample_time is None else f", every {self.sample_time:g} s"
        return f"<{type(self).__name__} of {self.model.name!r}: {self._words()}{period}>"

    def __call__(self, time: float, q: Any, qd: Any, x: Any = ()) -> np.ndarray:
        """Efforts at a state; of regulators without a memory."""
        if self.needs_samples:
            raise InputError(
                f"{self.model.name}: this regulator works from sample to sample; give it to simulate, stepper or track"
            )
        state, own = (np.asarray(q), np.asarray(qd)), np.asarray(x, dtype=float)
        at = Measured(float(time), *state, np.zeros(self.model.nv), _unknown, x=own)
        return np.asarray(self.act(at, self.table.at(float(time)), np.zeros(0))[0], dtype=float)


def _unknown() -> Vector:
    raise InputError(
        "accelerations are known in a loop only; give the regulator to simulate, stepper or track"
    )


def check_sampled(regulator: Regulator) -> None:
    """Refuse a regulator with a memory and no sample time."""
    if regulator.needs_samples and regulator.sample_time is None:
        raise InputError(
            f"{regulator.model.name}: {type(regulator).__name__} works from sample to sample; give it a sample_time"
        )


def period_of(owner: str, sample_time: Any) -> float | None:
    """A sample time, checked."""
    if sample_time is None:
        return None
    if not (isinstance(sample_time, int | float) and 0.0 < sample_time < np.inf):
        raise InputError(
            f"{owner}: sample_time is {sample_time!r}; give seconds, above zero", argument="sample_time"
        )
    return float(sample_time)
