"""Closed loops along a motion, and how well a run follows the motion."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.control.laws import computed_torque, force_feedback, pd
from kinpair.control.linear_quadratic import lqr
from kinpair.control.regulator import Regulator
from kinpair.errors import InputError, expect, listed, nearest
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.entries import filled, spans_of, words_of
from kinpair.model.units import units
from kinpair.motion.follow import follow
from kinpair.motion.nominal import Nominal
from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Trajectory
from kinpair.runs.result import Result
from kinpair.runs.simulate import simulate
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import Panel, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAND = 0.02  # of the largest error: what is smaller has settled
EXACT = 1e-9  # [rad] or [m]: a smaller error has settled
NEAR = 1.0 - 1e-9  # of a limit: an effort beyond this is at it


@final
@dataclass(frozen=True, eq=False)
class Tracking:
    """A run compared with the motion that it should follow; in a batch all numbers have an axis of motions in front.

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
        """Mechanism that moves."""
        return self.run.mechanism

    @property
    def time(self) -> np.ndarray:
        """Times of the samples (n,) [s]."""
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
        """Largest of the errors of each rate (..., nv)."""
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


REGULATORS: Mapping[str, Callable[..., Regulator]] = {
    "lqr": lqr,
    "pd": pd,
    "computed-torque": computed_torque,
    "force-feedback": force_feedback,
}


def track(
    mechanism: Mechanism,
    motion: Any,
    regulator: Any = "lqr",
    *,
    off: Any = 0.0,
    off_rates: Any = 0.0,
    hold: float = 0.0,
    band: float | None = None,
    plant: Mechanism | None = None,
    **options: Any,
) -> Tracking:
    """The closed loop along a motion from a perturbed start; see docs/regulators.md.

    * `motion`: a trajectory of all coordinates, a nominal motion, or motions of frames as `kp.motion.follow` has them;
    * `regulator`: made by `kp.regulator`, or "lqr", "pd", "computed-torque", "force-feedback" for one with its usual
      gains; None: the nominal efforts alone;
    * `off`, `off_rates`: displacement of the start along the rates, a number, (nv,), by name, or (batch, nv), and
      change of the rates there. A closed mechanism starts at the nearest state that obeys its constraints; what is
      given by name is kept exactly, if there are not more names than freedoms;
    * `hold` [s]: how long it goes on after the motion has ended; `band`: errors below it have settled;
    * `plant`: the mechanism that moves in truth, with the same rates, where it is not the one that the regulator
      knows; all other options are those of `kp.simulate`.
    """
    expect("track", mechanism, Mechanism)
    path = _path(mechanism, motion)
    m = mechanism if plant is None else plant
    if not 0.0 <= hold < np.inf:
        raise InputError(f"{m.name}: hold is {hold!r}; give seconds, not below zero", argument="hold")
    start = path.at(0.0)
    dq, dqd = _change(m, "off", off), _change(m, "off_rates", off_rates)
    q = _moved(m, start.q, dq)
    qd = start.qd + dqd
    if m.closure is not None and (dq.any() or dqd.any()):
        q, qd = _obeying(m, q, qd, _held(m, start.q, off), _held(m, start.q, off_rates))
    torque = _regulator(mechanism, path, regulator)
    run = simulate(m, q, qd, duration=path.duration + hold, torque=torque, **options)
    return Tracking(run, path, band)


def _path(m: Mechanism, motion: Any) -> Trajectory:
    if isinstance(motion, Nominal):
        return motion.motion
    if isinstance(motion, Mapping):
        return follow(m, motion)
    if not isinstance(motion, Trajectory):
        raise InputError(
            f"{m.name}: motion is {motion!r}; give a trajectory, such as kp.motion.cycloid(start, end, duration)",
            argument="motion",
        )
    return with_rates(m, motion)


def _regulator(m: Mechanism, path: Trajectory, given: Any) -> Any:
    if given is None:
        return pd(m, path, kp=0.0, kd=0.0)
    if not isinstance(given, str):
        return given
    if given not in REGULATORS:
        raise InputError(
            f"{m.name}: no regulator {given!r}; {nearest(given, REGULATORS)}Regulators: "
            f"{listed(REGULATORS)}, or one made by kp.regulator",
            argument="regulator",
        )
    own = {} if given == "lqr" else {"frequency": 10.0}
    return REGULATORS[given](m, path, **own)


def _change(m: Mechanism, what: str, given: Any) -> np.ndarray:
    """A change along the rates (..., nv)."""
    if isinstance(given, Mapping):
        return filled(m.model, words_of(what), given, np.zeros(m.nv))[0]
    try:
        found = np.asarray(given, dtype=float)
        return np.array(np.broadcast_to(found, (*found.shape[:-1], m.nv)))
    except (TypeError, ValueError):
        raise InputError(
            f"{m.name}: {what} is {given!r}; give a number, {m.nv} of them, some by name, or rows for a batch",
            argument=what,
        ) from None


def _held(m: Mechanism, q: np.ndarray, given: Any) -> list[str]:
    """Return the names that a change by name keeps exactly: none if they are more than the freedoms at q (nq,)."""
    names = list(given) if isinstance(given, Mapping) else []
    spans = spans_of(m.model, False)
    return names if sum(len(range(m.nv)[spans[x]]) for x in names) <= m.mobility(q).freedom else []


def _obeying(
    m: Mechanism, q: np.ndarray, qd: np.ndarray, held: Sequence[str], held_rates: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates (..., nq) and rates (..., nv) that obey the constraints, near to those given."""
    front = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
    q = m.assemble(q, fixed=[x for x in held if x in (*m.joint_names, *m.q_names)])
    at, near = np.broadcast_to(q, (*front, m.nq)), np.broadcast_to(qd, (*front, m.nv))
    spans = spans_of(m.model, False)
    inputs = {x: near[..., spans[x]] if x in m.joint_names else near[..., spans[x].start] for x in held_rates}
    return q, m.velocities(at, inputs, guess=near)


def _moved(m: Mechanism, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    if step.ndim > 1:
        return np.array([_moved(m, q, x) for x in step])
    return np.asarray(kinematics.normalised(m.model, kinematics.moved(m.model, q, step)), dtype=float)
