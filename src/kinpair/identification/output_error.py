"""Output error: parameters with which simulated windows of a run follow the logged positions.

    ẋ = (q̇, q̈(q, q̇, τ; θ)),   Ṡ = [0, 1; ∂q̈/∂q, ∂q̈/∂q̇] S + [0; −∂q̈/∂τ Y_θ]                                   (ID24)
    min_β Σ ‖q_logged − q(β)‖²/σ_j²          by Gauss–Newton steps with the exact sensitivities S               (ID25)

Windows of 0.2 s start at logged states, so that errors do not grow without bound as they do in one long run. The
mechanism is built with the parameters of each step; its accelerations and their derivatives are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinpair.errors import InputError
from kinpair.identification.base_parameters import Base
from kinpair.identification.columns import Layout
from kinpair.identification.consistency import Prior, consistent
from kinpair.identification.estimators import Estimate, deviations
from kinpair.identification.signals import RunColumns, zero_phase
from kinpair.mechanism import Mechanism

WINDOW = 0.2  # [s]
OUTPUTS = 4  # positions compared in a window
STEPS = 3  # of Gauss and Newton's method
MOST = 400  # windows


def output_error(
    layout: Layout,
    runs: Sequence[RunColumns],
    until: Sequence[float],
    base: Base,
    theta: np.ndarray,
    prior: Prior,
    gamma: float,
    built: Callable[[np.ndarray], Mechanism],
) -> tuple[Estimate, np.ndarray, str]:
    """β of (ID25), consistent θ and a sentence; `until` [s]: end of the fitted part of each run.

    built: the mechanism with parameters θ, by the laws of the library.
    """
    m = layout.m
    if m.closure is not None or m.nq != m.nv or layout.couplings or list(layout.rows) != list(range(m.nv)):
        raise InputError(
            f"{m.name}: output-error takes open mechanisms with efforts of all joints and without coupled motors; "
            "choose estimator='wls'",
            argument="estimator",
        )
    q, qd, tau, measured, dt = _windows(layout, runs, until)
    M, beta, errors = base.matrix, base.matrix @ theta, list[float]()
    sigma, joint = np.ones(m.nv), np.tile(np.arange(m.nv), measured.shape[0] * measured.shape[1])
    for _ in range(STEPS):
        simulated, S = _simulated(built(theta), layout, theta, q, qd, tau, dt)
        r = (measured - simulated).ravel()
        A = S[..., base.independent].reshape(len(r), -1)
        sigma = deviations(r, joint, A.shape[1])
        errors.append(float(np.sqrt((r**2).mean())))
        w = 1.0 / sigma[joint] ** 2
        N = A.T @ (A * w[:, None])
        target = N @ (M @ theta) + A.T @ (w * r)  # (ID25)
        scale = np.sqrt(np.maximum(np.diag(N), 1e-300))
        beta = np.linalg.lstsq(N / np.outer(scale, scale), target / scale, rcond=1e-12)[0] / scale
        theta, _ = consistent(M.T @ N @ M, M.T @ target, prior, gamma)
    text = ", ".join(f"{x:.3g}" for x in errors)
    note = f"output error over {len(q)} windows of {WINDOW:g} s: RMS of positions before each step {text}"
    return Estimate(beta, sigma, np.ones(1)), theta, note


def _windows(
    layout: Layout, runs: Sequence[RunColumns], until: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Start states (b, nv), efforts at half steps (b, 2 steps + 1, nv), logged positions (b, OUTPUTS, nv), and dt.

    Windows in which a joint turns round are left out.
    """
    starts: list[tuple[np.ndarray, ...]] = []
    dt = 1.0 / runs[0].samples.settings.rate
    steps = max(OUTPUTS, round(WINDOW / dt))
    steps -= steps % OUTPUTS
    for run, end in zip(runs, until, strict=True):
        s = run.samples
        smooth = zero_phase(s.tau, s.settings.effort_cutoff, s.settings.rate)
        number = np.arange(len(s.time))
        half = np.stack([np.interp(np.arange(2 * len(number) - 1) / 2, number, x) for x in smooth.T], axis=1)
        least = np.asarray(s.settings.least_speed)
        for k in range(0, len(s.time) - steps - 1, steps):
            inside = slice(k, k + steps + 1)
            v = s.qd[inside]
            if s.usable[inside].all() and s.time[k + steps] < end and (np.abs(v) > least).all():
                outputs = s.q[k + steps // OUTPUTS : k + steps + 1 : steps // OUTPUTS]
                starts.append((s.q[k], s.qd[k], half[2 * k : 2 * (k + steps) + 1], outputs))
    if len(starts) * OUTPUTS * layout.m.nv < 2 * len(layout.parameters):
        raise InputError(
            f"output-error: {len(starts)} windows of {WINDOW:g} s in which no joint turns round are too few for "
            f"{len(layout.parameters)} parameters; choose estimator='wls', or a longer log",
            argument="estimator",
        )
    chosen = np.linspace(0, len(starts) - 1, min(len(starts), MOST)).astype(int)
    q, qd, tau, measured = (np.array([starts[k][n] for k in chosen]) for n in range(4))
    return q, qd, tau, measured, dt


def _simulated(
    m: Mechanism, layout: Layout, theta: np.ndarray, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (b, OUTPUTS, nv) and their slopes (b, OUTPUTS, nv, p), by rk4 on (ID24)."""
    n, p = m.nv, len(layout.parameters)
    offset = np.zeros(n)
    for k, x in enumerate(layout.parameters):
        if x.term is not None and x.term.kind == "offset" and layout.offsets_measured:
            offset[x.owner] = theta[k]
    state = np.concatenate([q, qd], axis=1)
    S = np.zeros((len(q), 2 * n, p))

    def rate(x: np.ndarray, S: np.ndarray, effort: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, qd = x[:, :n], x[:, n:]
        effort = effort - offset
        qdd = m.forward_dynamics(q, qd, effort)
        by_q, by_qd, by_tau = m.forward_dynamics_derivatives(q, qd, effort)
        inertial = layout.inertial(q, qd, qdd, False)
        T = inertial @ theta[: inertial.shape[2]]
        Y = np.concatenate([inertial, layout.further(qd, qdd, T)], axis=2)
        for k, z in enumerate(layout.parameters):  # friction from load depends on inertia, too
            if z.term is not None and z.term.kind == "load":
                j = z.owner
                share = theta[k] * np.sign(qd[:, j]) * np.sign(T[:, j])
                Y[:, j, : inertial.shape[2]] += share[:, None] * inertial[:, j]
        down = by_q @ S[:, :n] + by_qd @ S[:, n:] - by_tau @ Y  # (ID24)
        return np.concatenate([qd, qdd], axis=1), np.concatenate([S[:, n:], down], axis=1)

    steps, found, slopes = (tau.shape[1] - 1) // 2, list[np.ndarray](), list[np.ndarray]()
    for k in range(steps):
        a, b, c = (tau[:, 2 * k + i] for i in range(3))
        k1, s1 = rate(state, S, a)
        k2, s2 = rate(state + 0.5 * dt * k1, S + 0.5 * dt * s1, b)
        k3, s3 = rate(state + 0.5 * dt * k2, S + 0.5 * dt * s2, b)
        k4, s4 = rate(state + dt * k3, S + dt * s3, c)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        S = S + dt / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
        if (k + 1) % (steps // OUTPUTS) == 0:
            found.append(state[:, :n])
            slopes.append(S[:, :n])
    return np.stack(found, axis=1), np.stack(slopes, axis=1)
