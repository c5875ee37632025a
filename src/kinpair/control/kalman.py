"""Kalman filters of linear models, and linear-quadratic regulators that see the outputs only: `kalman` and `lqg`.

    ẋ = A x + B u + w,   y = C x + v               w, v: white noise of intensity W and V
    A P + P Aᵀ − P Cᵀ V⁻¹ C P + W = 0,   L = P Cᵀ V⁻¹                                                        (KF1)
    x̂̇ = A x̂ + B u + L (y − C x̂)                                                                            (KF2)

and from sample to sample, with Φ and Γ of (LI11), V the covariance of a measured sample, and P that before it:

    W_T = ∫₀ᵀ exp(A s) W exp(Aᵀ s) ds                                                                        (KF3)
    P = Φ (P − M C P) Φᵀ + W_T,   M = P Cᵀ (C P Cᵀ + V)⁻¹                                                     (KF4)
    x̂ ← x̂ + M (y − C x̂),   u = −K x̂,   x̂ ← Φ x̂ + Γ u                                                       (KF5)

(KF1) and (KF4) are the equations (RG1) and (RG4) of the transposed model: the filter is the dual of the regulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.step_response import held
from kinpair.control import riccati
from kinpair.control.laws import OutputFeedback
from kinpair.control.linear_quadratic import LinearQuadratic
from kinpair.control.regulator import period_of
from kinpair.control.riccati import check_seen, check_states, weight
from kinpair.errors import InputError, expect, listed

STEP = 1e-3  # [s]: sample time of a continuous filter in a loop, unless stated


@final
@dataclass(frozen=True, eq=False, repr=False)
class Kalman:
    """A steady Kalman filter.

    `model`: the linear model, discrete for a filter with a sample time. `L` (states, outputs): gain of (KF2) [1/s], or
    M of (KF5). `P` (states, states): covariance of the error of the estimate, before a sample is measured. `residual`:
    what is left of Riccati's equation, relative to its terms.
    """

    model: LinearModel
    L: np.ndarray
    P: np.ndarray
    residual: float

    @property
    def sample_time(self) -> float | None:
        """Time between samples [s]; None for a continuous filter."""
        return self.model.dt

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of the error of the estimate (states,) [1/s]; with a sample time from sample to sample."""
        m = self.model
        return np.linalg.eigvals(m.A - (self.L if m.dt is None else m.A @ self.L) @ m.C)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance (states, states) of the error of the estimate, with the last sample used."""
        return self.P if self.model.dt is None else self.P - self.L @ self.model.C @ self.P

    def estimate(
        self, y: Any, u: Any = None, *, start: Any = None, sample_time: float | None = None
    ) -> np.ndarray:
        """Return the estimates (samples, states) from measured outputs y (samples, outputs) and inputs u (samples,
        inputs), zero by default; deviations, as the model has them.

        `start` (states,): the estimate before the first sample. `sample_time` [s]: of the samples of a continuous
        filter, 1 ms by default.
        """
        steps = self.steps(period_of(self.model.name, sample_time))
        outputs = self._checked("y", y, self.model.outputs)
        count = len(outputs)
        inputs = (
            np.zeros((count, len(self.model.inputs)))
            if u is None
            else self._checked("u", u, self.model.inputs)
        )
        if len(inputs) != count:
            raise InputError(
                f"{self.model.name}: y has {count} samples and u {len(inputs)}; give as many", argument="u"
            )
        x = np.zeros(len(self.model.states)) if start is None else np.asarray(start, dtype=float)
        found = np.empty((count, len(x)))
        for k in range(count):
            found[k], x = steps.stepped(x, outputs[k], inputs[k])
        return found

    def _checked(self, what: str, values: Any, names: tuple[str, ...]) -> np.ndarray:
        x = np.asarray(values, dtype=float)
        if x.ndim != 2 or x.shape[1] != len(names):
            raise InputError(
                f"{self.model.name}: {what} has shape {x.shape}; give (samples, {len(names)}): {listed(names, 12)}",
                argument=what,
            )
        return x

    def steps(self, sample_time: float | None) -> Steps:
        """Return the filter from sample to sample; a continuous one is integrated exactly while y and u stay
        constant."""
        m = self.model
        if m.dt is not None:
            return Steps(m.C, self.L, m.A, m.B, np.zeros(self.L.shape), m.dt)
        period = STEP if sample_time is None else sample_time
        inputs = np.concatenate([m.B, self.L], axis=1)
        F, G = held(m.A - self.L @ m.C, inputs, period)
        nu = m.B.shape[1]
        return Steps(m.C, np.zeros(self.L.shape), F, G[:, :nu], G[:, nu:], period)

    def __repr__(self) -> str:
        m = self.model
        period = "" if m.dt is None else f", every {m.dt:g} s"
        return f"<Kalman of {m.name!r}: {len(m.states)} states from {listed(m.outputs, 6)}{period}>"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A filter from sample to sample: x̂ ← x̂ + M (y − C x̂), then x̂ ← F x̂ + G u + H y."""

    C: np.ndarray
    M: np.ndarray
    F: np.ndarray
    G: np.ndarray
    H: np.ndarray
    period: float

    def stepped(self, x: np.ndarray, y: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimate that uses y, and that before the next sample."""
        own = x + self.M @ (y - self.C @ x)
        return own, self.F @ own + self.G @ u + self.H @ y


def kalman(model: LinearModel, *, W: Any = 1.0, V: Any = 1.0, sample_time: float | None = None) -> Kalman:
    """Return the steady Kalman filter of a linear model about a state; its `outputs` are what is measured.

    * `W`: intensity of the noise that drives the states [state²/s]: a number, one for each, by name, or a matrix;
    * `V`: of the noise of the outputs, likewise: intensity [output² s], or, with a sample time, covariance of a sample
      [output²];
    * `sample_time` [s]: a filter from sample to sample; None: a continuous filter.

    SingularError names a mode that no output shows.
    """
    expect("kalman", model, LinearModel, advice="kp.linearise(m, q, outputs=[...]) is one")
    check_states(model)
    if model.along or model.dt is not None:
        what = "along a motion" if model.along else "from sample to sample"
        raise InputError(f"{model.name}: the linear model is {what}; give a continuous model about one state")
    if np.any(model.D):
        jumps = [model.outputs[k] for k in np.flatnonzero(np.abs(model.D).max(axis=1))]
        raise InputError(
            f"{model.name}: the outputs {listed(jumps, 6)} jump with the inputs; leave out accelerations and efforts"
        )
    period = period_of(model.name, sample_time)
    check_seen(model)
    process, sensor = weight(model, "W", W, model.states), weight(model, "V", V, model.outputs)
    if period is None:
        K, P, left = riccati.continuous(model.A.T, model.C.T, process, sensor, 0.0)  # (KF1)
        return Kalman(model, K.T, P, left)
    own = model.discrete(period)
    spread = _integral(model.A, process, period)
    _, P, left = riccati.sampled(own.A.T, own.C.T, spread, sensor, 1.0)  # (KF4)
    L = np.linalg.solve(own.C @ P @ own.C.T + sensor, own.C @ P).T
    return Kalman(own, L, P, left)


def _integral(A: np.ndarray, W: np.ndarray, period: float) -> np.ndarray:
    """Return W_T of (KF3), from the exponential of [−A W; 0 Aᵀ] T (Van Loan 1978)."""
    from scipy.linalg import expm

    n = len(A)
    whole = expm(np.block([[-A, W], [np.zeros((n, n)), A.T]]) * period)
    found = whole[n:, n:].T @ whole[:n, n:]
    return 0.5 * (found + found.T)


def lqg(
    regulator: LinearQuadratic, filter: Kalman, *, start: Any = None, sample_time: float | None = None
) -> OutputFeedback:
    """Return a regulator that sees the outputs of the filter only: gains of `lqr`, states of `kalman`.    (KF5)

    It works from sample to sample, with the sample time of the filter; a continuous filter takes `sample_time` [s],
    1 ms by default, and is integrated exactly between samples. `start` (states,): the first estimate, zero deviation by
    default. Sensors, noise and delay: `in_loop`.
    """
    expect("lqg", regulator, LinearQuadratic, advice="kp.regulator.lqr(model) is one")
    expect("lqg", filter, Kalman, advice="kp.regulator.kalman(model, W=..., V=...) is one")
    _check_pair(regulator, filter)
    model = filter.model
    steps = filter.steps(period_of(model.name, sample_time))
    for owner, own in (("regulator", regulator.sample_time), ("filter", filter.sample_time)):
        period = steps.period if sample_time is None else sample_time
        if own is not None and not np.isclose(own, period, rtol=1e-12):
            raise InputError(
                f"{model.name}: the {owner} has a sample time of {own:g} s and the loop {period:g} s; "
                "give both the same sample_time",
                argument="sample_time",
            )
    first = np.zeros(len(model.states)) if start is None else np.asarray(start, dtype=float)
    if first.shape != (len(model.states),) or not np.isfinite(first).all():
        raise InputError(
            f"{model.name}: start has shape {first.shape}; give {len(model.states)} finite numbers: "
            f"{listed(model.states, 12)}",
            argument="start",
        )
    table = regulator.table.with_constants(
        {"C": steps.C, "M": steps.M, "F": steps.F, "G": steps.G, "H": steps.H}
    )
    parts = {
        name: getattr(regulator, name) for name in ("coordinates", "rates", "inputs", "internal", "size")
    }
    return OutputFeedback(
        regulator.model,
        table,
        sample_time=steps.period,
        start=tuple(first.tolist()),
        outputs=model.outputs,
        **parts,
    )


def _check_pair(regulator: LinearQuadratic, filter: Kalman) -> None:
    """Reject a regulator along a motion, and one of another linear model than that of the filter."""
    own, model = regulator.design.model, filter.model
    if own.along:
        raise InputError(
            f"{model.name}: the regulator is along a motion; lqg takes one about a state",
            argument="regulator",
        )
    if (model.name, model.states, model.inputs) != (own.name, own.states, own.inputs):
        raise InputError(
            f"{model.name}: the filter has the states {listed(model.states, 8)} and the inputs "
            f"{listed(model.inputs, 6)}, the regulator {listed(own.states, 8)} and "
            f"{listed(own.inputs, 6)}; make both from one linear model",
            argument="filter",
        )
