"""`kp.identify`: a mechanism and a log in, consistent parameters with intervals out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from kinpair.compiler.patience import progress as shown_progress
from kinpair.errors import (
    IdentificationWarning,
    InputError,
    caller_level,
    expect,
    known_keywords,
    listed,
    nearest,
)
from kinpair.identification import suspicions
from kinpair.identification.base_parameters import Base, numerical
from kinpair.identification.columns import (
    OPTIONAL,
    PLAIN,
    Layout,
    Term,
    coupled,
    terms_from,
    with_terms,
)
from kinpair.identification.consistency import (
    Choice,
    Prior,
    Squares,
    choose_terms,
    columns_of,
    consistent,
    file_values,
    first_guess,
    largest_weight,
    parts_of,
    payload_body,
    prior_of,
    restricted,
    spread,
    squares,
    validation_errors,
)
from kinpair.identification.estimators import ESTIMATORS, Estimate, covariance, identified_gains, iv, wls
from kinpair.identification.fitted import Source, described
from kinpair.identification.identification import Identification
from kinpair.identification.log import TORQUES, Log, Torque, base_rates, gear_matrix, read_log
from kinpair.identification.output_error import output_error
from kinpair.identification.signals import (
    Rows,
    RunColumns,
    Samples,
    Signals,
    rows_of,
    run_columns,
    samples_of,
    scan_delay,
    smoothed,
)
from kinpair.loading import build
from kinpair.mechanism import Mechanism

EstimatorName = Literal["wls", "ols", "huber", "tls", "iv", "output-error"]
NAMES = (*ESTIMATORS, "iv", "output-error")
ROUNDS = 4  # of friction from load
SETTLED = 1e-3  # change of the loads, relative
STAGES = ("read", "columns", "friction", "estimate", "consistent", "done")
Progress = Callable[[str], None]


@known_keywords
def identify(
    m: Mechanism,
    log: Any,
    *,
    columns: Mapping[str, Any] | None = None,
    torque: Torque = "joint",
    gear: Any = None,
    gains: Any = None,
    friction: Any = "auto",
    estimator: EstimatorName = "wls",
    prior: Any = "file",
    validate: Any = None,
    progress: bool | Progress | None = None,
    payload: Mapping[str, Any] | None = None,
    signals: Signals | Mapping[str, Any] | None = None,
    rotors: bool | None = None,
) -> Identification:
    """Identify masses, inertias, rotors and friction of a mechanism from its log; see docs/identification.md.

    * `log`: a path (.csv, .parquet, .npz), a DataFrame, a mapping name → array, or a list of them. Columns are `t`,
      `q_<joint>` or `q1` ..., `tau_<joint>` or `tau1` ...; others by `columns={"q": [...], "tau": [...]}`. `zero` there
      are numbers added to the positions;
    * `torque`: efforts are those of the joints, of motors behind a `gear` (ratios, or a matrix of motor turns per
      joint turn), motor currents with drive `gains` [N m/A], or of a torque sensor behind the gear (no rotors);
    * `friction`: "auto" (terms chosen by cross-validation), or a list of viscous, coulomb, offset, power, stribeck,
      load;
    * `estimator`: wls, ols, huber, tls, iv or output-error;
    * `prior`: "file", "none", or a mechanism whose bodies are the prior;
    * `validate`: a log or several for validation, or the part at the end of each log that is kept for it, such as 0.3;
    * `payload`: {"link": name, "runs": [numbers of logs with it], "mass": if known}. With a known mass and currents
      without gains, the gains are identified;
    * `signals`: settings of the signal chain; `rotors`: whether rotor inertias are identified.

    Ctrl-C ends the work; what was reached is returned, and `stage` says what it is. Units: SI.
    """
    expect("identify", m, Mechanism)
    if torque not in TORQUES:
        raise InputError(
            f"torque is {torque!r}; {nearest(str(torque), TORQUES)}It is one of {listed(TORQUES)}"
        )
    if estimator not in NAMES:
        raise InputError(
            f"no estimator {estimator!r}; {nearest(str(estimator), NAMES)}Estimators: {listed(NAMES)}",
            argument="estimator",
        )
    work = _Work(
        m, Source(columns, torque, gear, gains), Signals.of(signals), terms_from(friction), estimator, prior, validate,
        payload, rotors if rotors is not None else torque != "sensor",
    )  # fmt: skip
    if callable(progress):
        return work.run(log, progress)
    with shown_progress("identification", len(STAGES)) as begin:
        return work.run(log, begin if progress is not False else lambda _: None)


@dataclass
class _Work:
    """An identification: its arguments and its results."""

    m: Mechanism
    source: Source
    signals: Signals
    terms: tuple[Term, ...] | None
    estimator: str
    prior: Any
    validate: Any
    payload: Mapping[str, Any] | None
    rotors: bool

    def run(self, log: Any, begin: Progress) -> Identification:
        begin("read")
        logs, samples, notes, suspicious = self._read(log)
        layout = self._layout(logs)
        still = suspicions.motionless(self.m, samples, layout.rows)
        moved = [k for k in layout.rows if k in still]
        if moved:
            names = listed([self.m.v_names[k] for k in moved])
            suspicious.append(
                f"{names} did not move: parameters that only this motion shows are not identifiable"
            )
        begin("columns")
        runs = [run_columns(layout, x) for x in samples]
        notes += _rest_notes(layout, runs)
        fixed_gains = None
        if self.source.torque == "current" and self.source.gains is None:
            fixed_gains, runs, note = identified_gains(layout, runs, self.payload)
            notes.append(note)
        file = self.file_values(layout)
        suspicious += suspicions.order(layout, runs) + suspicions.opposite(self.m, runs, file)
        runs, note = scan_delay(layout, runs, self.signals)
        notes += note
        empty = Choice(layout.terms, 1.0, {}, {1.0: 1.0})
        still_open = np.ones(len(layout.rows))
        state = _State(
            self,
            layout,
            tuple(runs),
            file,
            logs,
            notes,
            suspicious,
            still,
            fixed_gains,
            file,
            still_open,
            empty,
        )
        try:
            state.choose(begin)
            state.fit(begin)
        except KeyboardInterrupt:
            if state.estimate is None:
                raise
            notes.append(f"interrupted: results of the stage {state.stage!r}")
        rows, base, estimate = state.rows, state.base, state.estimate
        if rows is None or base is None or estimate is None:
            raise AssertionError("fit sets all of them")
        result = state.result(rows, base, estimate)
        for x in result.warnings:
            warnings.warn(x, IdentificationWarning, stacklevel=caller_level())
        return result

    @property
    def split(self) -> float:
        """Part at the end of each log that is kept for validation."""
        return float(self.validate) if isinstance(self.validate, (int, float)) and self.validate else 0.0

    def _read(self, log: Any) -> tuple[list[Log], list[Samples], list[str], list[str]]:
        several = list(log) if isinstance(log, (list, tuple)) else [log]
        if not several:
            raise InputError("log is an empty list; give a log", argument="log")
        if not 0.0 <= self.split < 0.9:
            raise InputError(f"validate is {self.validate!r}; as a number it is a part between 0 and 0.9")
        loaded = set((self.payload or {}).get("runs", [len(several) - 1] if self.payload else []))
        s = self.source
        logs = [
            read_log(self.m, x, s.columns, s.torque, s.gear, s.gains, k in loaded)
            for k, x in enumerate(several)
        ]
        if len({x.rows for x in logs}) > 1:
            raise InputError("logs have efforts of different joints; identify them one by one")
        samples = [samples_of(self.m, logs[0], self.signals)]
        self.signals = replace(samples[0].settings, delay=self.signals.delay)
        samples += [samples_of(self.m, x, self.signals) for x in logs[1:]]
        notes = [f"{x.name}: {note}" for x in logs for note in x.notes] + list(samples[0].notes)
        return logs, samples, notes, [w for x in logs for w in suspicions.units(self.m, x)]

    def _layout(self, logs: Sequence[Log]) -> Layout:
        free = tuple(range(base_rates(self.m)))
        rows = logs[0].rows
        driven = len(rows) - len(free)
        R = gear_matrix(self.source.gear, driven)
        body = None
        if self.payload is not None:
            body = payload_body(self.m, self.payload)
        terms = PLAIN if self.terms is None else self.terms
        return Layout(
            self.m, rows, terms, self.rotors, coupled(R), body, free, self.source.torque == "sensor"
        )

    def file_values(self, layout: Layout) -> np.ndarray:
        """θ of the prior: of the mechanism, or of another one."""
        if not isinstance(self.prior, Mechanism) and self.prior not in ("file", "none", None):
            raise InputError(
                f"prior is {self.prior!r}; it is 'file', 'none', or a mechanism", argument="prior"
            )
        return file_values(layout, self.prior if isinstance(self.prior, Mechanism) else self.m, self.payload)


@dataclass
class _State:
    """Estimates so far: friction terms, β, θ."""

    work: _Work
    layout: Layout
    runs: tuple[RunColumns, ...]
    file: np.ndarray
    logs: list[Log]
    notes: list[str]
    suspicious: list[str]
    still: list[int]
    gains: np.ndarray | None
    theta: np.ndarray
    sigma: np.ndarray
    choice: Choice
    base: Base | None = None
    estimate: Estimate | None = None
    rows: Rows | None = None
    stage: str = "columns"
    steps: int = 0

    def _training(self, rows: Rows) -> Rows:
        """Rows that are fitted: those before the part for validation."""
        split = self.work.split
        if not split:
            return rows
        ends = np.array([[x.samples.time[0], x.samples.time[-1]] for x in self.runs])
        last = ends[:, 0] + (1.0 - split) * (ends[:, 1] - ends[:, 0])
        return rows.take(rows.time < last[rows.run])

    def choose(self, begin: Progress) -> None:
        """Choose friction terms and the weight of the prior by cross-validation."""
        begin("friction")
        optional = OPTIONAL if self.work.terms is None else ()
        full = with_terms(self.layout, (*self.layout.terms, *optional))
        file = self.work.file_values(full)
        theta, value = file, file
        for _ in range(2):
            rows = self._training(rows_of(full, self.runs, theta))
            s = squares(rows, parts_of(rows))
            x, sigma = first_guess(s, full, file)
            prior = prior_of(full, file, x)
            self.choice = self._chosen(s, rows, prior, sigma, optional)
            at = columns_of(rows, self.choice.terms)
            N, c = s.of(at).weighted(sigma)
            value, _ = consistent(N.sum(0), c.sum(0), restricted(prior, at), self.choice.gamma)
            self.sigma = spread(s.of(at), full, value)
            theta = np.zeros(len(file))
            theta[at] = value
            if not any(x.kind == "load" for x in full.terms):
                break
        self.layout = with_terms(self.layout, self.choice.terms)
        self.file, self.theta, self.stage = self.work.file_values(self.layout), value, "friction"

    def _chosen(
        self, s: Squares, rows: Rows, prior: Prior, sigma: np.ndarray, optional: Sequence[Term]
    ) -> Choice:
        if self.work.terms is None:
            choice = choose_terms(s, rows, prior, sigma, optional)
        else:
            weights = validation_errors(s, prior, sigma)
            choice = Choice(rows.layout.terms, largest_weight(weights), {}, weights)
        return replace(choice, gamma=min(choice.weights)) if self.work.prior in ("none", None) else choice

    def fit(self, begin: Progress) -> None:
        """Estimate base parameters, then consistent parameters; loads of friction are iterated."""
        begin("estimate")
        loads = any(x.kind == "load" for x in self.layout.terms)
        self.base = numerical(self.layout, self.still, self.runs[0].samples.q[0])
        prior = prior_of(self.layout, self.file, np.ones(len(self.file)))
        for k in range(ROUNDS if loads else 1):
            before = self.theta
            self.rows = self._training(rows_of(self.layout, self.runs, self.theta))
            self.estimate = self._estimated(self.rows, self.base)
            if k == 0:
                begin("consistent")
            s = squares(self.rows, np.zeros(len(self.rows.y), dtype=int))
            N, c = s.weighted(self.sigma)
            prior = prior_of(self.layout, self.file, first_guess(s, self.layout, self.file)[0])
            self.theta, self.steps = consistent(N[0], c[0], prior, self.choice.gamma)
            self.sigma = spread(s, self.layout, self.theta)
            self.stage = "consistent"
            if _settled(self.rows, before, self.theta):
                break
        if self.work.estimator == "output-error":
            begin("output error")
            self._follow_outputs(prior)
        self.stage = "done"

    def _follow_outputs(self, prior: Prior) -> None:
        """Replace estimates of efforts by those of simulated positions."""
        if self.base is None or self.estimate is None:
            raise AssertionError("fit sets both")
        ends = [x.samples.time[-1] - self.work.split * np.ptp(x.samples.time) for x in self.runs]
        own, self.theta, note = output_error(
            self.layout, self.runs, ends, self.base, self.theta, prior, self.choice.gamma, self._built
        )
        self.estimate = replace(self.estimate, beta=own.beta)
        self.notes.append(note)

    def _built(self, theta: np.ndarray) -> Mechanism:
        return build(described(self.layout, theta))

    def _estimated(self, rows: Rows, base: Base) -> Estimate:
        A = rows.A[:, base.independent]
        if self.work.estimator == "iv":
            Z = self._training(rows_of(self.layout, smoothed(self.layout, self.runs), self.theta)).A
            return iv(A, rows.y, self.layout.groups[rows.joint], Z[:, base.independent])
        return ESTIMATORS.get(self.work.estimator, wls)(A, rows.y, self.layout.groups[rows.joint])

    def result(self, rows: Rows, base: Base, estimate: Estimate) -> Identification:
        """Collect what was reached."""
        work = self.work
        found = covariance(rows, rows.A[:, base.independent], estimate.beta, estimate.weight)
        suspicious = [*self.suspicious, *suspicions.signs(rows, base, estimate)]
        validation = () if work.split or work.validate is None else work.validate
        logs = tuple(validation) if isinstance(validation, (list, tuple)) else (validation,)
        result = Identification(
            work.m, self.layout, self.theta, self.file, base, estimate, found, self.choice, work.estimator,
            self.choice.gamma, self.steps, rows, self.runs, tuple(self.logs), work.source,
            self.runs[0].samples.settings, logs, work.split, self.stage, tuple(self.notes), tuple(suspicious),
            "" if self.layout.payload is None else self.layout.bodies[self.layout.payload], self.gains,
        )  # fmt: skip
        poor = suspicions.unrelated(result.joints, result.fit.relative)
        return replace(result, warnings=(*result.warnings, *poor))


def _settled(rows: Rows, before: np.ndarray, after: np.ndarray) -> bool:
    change = rows.A @ (after - before)
    return float(np.linalg.norm(change)) < SETTLED * float(np.linalg.norm(rows.y))


def _rest_notes(layout: Layout, runs: Sequence[RunColumns]) -> list[str]:
    parts: list[str] = []
    for j in layout.driven:
        lost = sum(int((~x.keep[:, j] & x.samples.usable[:: x.samples.step]).sum()) for x in runs)
        total = sum(int(x.samples.usable[:: x.samples.step].sum()) for x in runs)
        if lost:
            parts.append(f"{layout.m.v_names[layout.rows[j]]} {lost} of {total}")
    if not parts:
        return []
    return [f"rows at rest left out, where the direction of friction is not known: {listed(parts)}"]
