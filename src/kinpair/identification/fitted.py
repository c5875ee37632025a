"""Identified parameters: values, intervals, predictions and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.identification.base_parameters import Base, lengths_of
from kinpair.identification.columns import Layout, body_numbers, is_consistent
from kinpair.identification.consistency import Choice
from kinpair.identification.estimators import Covariance, Estimate, bootstrap
from kinpair.identification.log import Log, read_log
from kinpair.identification.signals import Rows, RunColumns, Signals, design, run_columns, samples_of
from kinpair.mechanism import Mechanism


class Prediction(NamedTuple):
    """Efforts of a run after the signal chain: time (k,) [s], measured and predicted (k, rows).

    kept (k, rows): rows that count; those of joints at rest, in gaps and at the ends do not.
    """

    time: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    kept: np.ndarray


class Score(NamedTuple):
    """Error ‖τ − τ̂‖/‖τ‖ over all joints, RMS error of each joint [N m] or [N], and ‖τ − τ̂‖/‖τ‖ of each joint."""

    total: float
    rms: np.ndarray
    relative: np.ndarray


class Interval(NamedTuple):
    """A base parameter: its sum of parameters, estimate, 95 % interval, consistent value, value of the file."""

    label: str
    estimate: float
    low: float
    high: float
    consistent: float
    file: float
    unit: str


@dataclass(frozen=True, slots=True)
class Source:
    """Source of logs: arguments of `identify`."""

    columns: Mapping[str, Any] | None
    torque: str
    gear: Any
    gains: Any


@dataclass(frozen=True, eq=False)
class Fitted:
    """Identified parameters of a mechanism.

    theta: consistent values of `layout.parameters`. base: independent combinations. estimate: β of the estimator.
    covariance: of β. file: values of the description. gamma: weight of the prior. steps: of Newton's method.
    stage: the last that was reached. notes: what was found in the logs and decided. warnings: what is suspicious.
    """

    mechanism: Mechanism
    layout: Layout
    theta: np.ndarray
    file: np.ndarray
    base: Base
    estimate: Estimate
    covariance: Covariance
    choice: Choice
    estimator: str
    gamma: float
    steps: int
    rows: Rows
    runs: tuple[RunColumns, ...]
    logs: tuple[Log, ...]
    source: Source
    settings: Signals
    validation: tuple[Any, ...]
    split: float
    stage: str
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    payload_frame: str = ""
    gains: np.ndarray | None = None
    extras: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def joints(self) -> list[str]:
        """Names of the rates with efforts."""
        return [self.mechanism.v_names[k] for k in self.layout.rows]

    @property
    def parameters(self) -> dict[str, float]:
        """Consistent values of all parameters by name.

        Units: mass [kg], first moments [kg m], inertia [kg m²], friction [N m] or [N].
        """
        return dict(zip(self.layout.names, self.theta.tolist(), strict=True))

    @cached_property
    def intervals(self) -> list[Interval]:
        """Base parameters with 95 % intervals. Parameters that are not identifiable have none."""
        M, d = self.base.matrix, self.covariance.reach
        labels = self.base.labels(lengths_of(self.mechanism))
        units = [self.layout.parameters[k].unit for k in self.base.independent]
        values = zip(labels, self.estimate.beta, d, M @ self.theta, M @ self.file, units, strict=True)
        return [Interval(label, x, x - w, x + w, c, f, unit) for label, x, w, c, f, unit in values]

    def bootstrap(self, draws: int = 400, seed: int = 0) -> np.ndarray:
        """95 % intervals (rank, 2) of the base parameters by drawing blocks of one second with replacement.

        Units: mass [kg], first moments [kg m], inertia [kg m²], friction [N m] or [N].
        """
        A = self.rows.A[:, self.base.independent]
        return bootstrap(self.rows, A, self.estimate.weight, draws=draws, seed=seed)

    @cached_property
    def essential(self) -> list[str]:
        """Base parameters that remain where those of the largest relative deviation are left out one by one."""
        return [self.base.label(k, lengths_of(self.mechanism)) for k in sorted(_essential(self))]

    @property
    def not_identifiable(self) -> list[str]:
        """Parameters without effect on the efforts, by name."""
        return self.base.without_effect

    @property
    def is_consistent(self) -> bool:
        """True if every pseudo-inertia is positive definite and every passive number above zero."""
        numbers = [x for x, p in zip(self.theta, self.layout.parameters, strict=True) if p.positive]
        return (
            all(is_consistent(self.theta[at]) for at in self.layout.bodies_of_ten)
            and min(numbers, default=1.0) > 0
        )

    @property
    def payload(self) -> dict[str, Any] | None:
        """Mass [kg], centre [m] and inertia [kg m²] about the centre of the payload, in the frame of its link."""
        if self.layout.payload is None:
            return None
        return body_numbers(self.theta[self.layout.bodies_of_ten[-1]])

    def predict(
        self, log: Any, *, payload: bool = False, span: tuple[float, float] = (0.0, 1.0)
    ) -> Prediction:
        """Efforts measured and predicted along a log; payload: it was recorded with the payload.

        span: part of the log by time, such as (0.7, 1.0) for its last 30 %.
        """
        x = read_log(
            self.mechanism,
            log,
            self.source.columns,
            self.source.torque,
            self.source.gear,
            self.gains_of(),
            payload,
        )
        return self.predicted(run_columns(self.layout, samples_of(self.mechanism, x, self.settings)), span)

    def gains_of(self) -> Any:
        """Drive gains: those given, or those identified."""
        return self.source.gains if self.gains is None else self.gains

    def predicted(self, run: RunColumns, span: tuple[float, float] = (0.0, 1.0)) -> Prediction:
        """Prediction of a run that was read before."""
        time = run.samples.time[:: run.samples.step]
        share = (time - time[0]) / max(float(time[-1] - time[0]), 1e-12)
        at = (share >= span[0]) & (share <= span[1])
        values = design(self.layout, run, self.theta) @ self.theta
        return Prediction(time[at], run.y[at], values[at], run.keep[at])

    def score(self, log: Any, *, payload: bool = False, span: tuple[float, float] = (0.0, 1.0)) -> Score:
        """Errors of the efforts predicted along a log."""
        return score_of([self.predict(log, payload=payload, span=span)])

    @cached_property
    def fit(self) -> Score:
        """Errors on the rows that were fitted."""
        return score_of([self.predicted(x, (0.0, 1.0 - self.split)) for x in self.runs])

    @cached_property
    def validated(self) -> Score | None:
        """Errors on the runs or parts of runs that were kept for validation; None without them."""
        found = self.validation_predictions
        return score_of(found) if found else None

    @cached_property
    def validation_predictions(self) -> list[Prediction]:
        """Predictions of what was kept for validation."""
        parts = [self.predicted(x, (1.0 - self.split, 1.0)) for x in self.runs] if self.split else []
        return parts + [self.predict(x) for x in self.validation]


def score_of(predictions: list[Prediction]) -> Score:
    """Errors of several runs together."""
    e = np.concatenate([np.where(p.kept, p.measured - p.predicted, 0.0) for p in predictions])
    y = np.concatenate([np.where(p.kept, p.measured, 0.0) for p in predictions])
    n = np.maximum(np.concatenate([p.kept for p in predictions]).sum(0), 1)
    size = np.linalg.norm(y, axis=0)
    size = np.where(size > 0, size, np.inf)  # without efforts there is no relative error
    total = float(np.linalg.norm(e) / max(float(np.linalg.norm(y)), 1e-300))
    return Score(total, np.sqrt((e**2).sum(0) / n), np.linalg.norm(e, axis=0) / size)


ESSENTIAL = 0.1  # part by which the error may grow while parameters are left out


def _essential(result: Fitted) -> list[int]:
    """Indices of base parameters that are left where the error of the fit grows by a tenth."""
    A = result.rows.A[:, result.base.independent] * np.sqrt(result.estimate.weight)[:, None]
    y = result.rows.y * np.sqrt(result.estimate.weight)
    scale = np.linalg.norm(A, axis=0)
    N, c, yy = (A / scale).T @ (A / scale), (A / scale).T @ y, float(y @ y)
    left, dropped = list(range(A.shape[1])), list[int]()
    first = np.inf
    while len(left) > 1:
        inverse = np.linalg.inv(N[np.ix_(left, left)])
        x = inverse @ c[left]
        error = yy - float(c[left] @ x)
        first = min(first, error)
        if error > (1.0 + ESSENTIAL) ** 2 * first:
            return [*left, dropped[-1]]
        dropped.append(left.pop(int(np.argmin(x**2 / np.diag(inverse)))))
    return left
