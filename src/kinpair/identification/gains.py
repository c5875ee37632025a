"""Drive gains from runs with and without a payload of known mass.

    min Σ_j ‖i_j − (Y_j θ + Y_mj m)/K_j‖²/σ_j²      unknown: θ with π_p beyond its mass, K; known: mass m     (ID23)

Residuals are those of the currents, which have the noise: K i = Y θ + Y_m m in squares would make all gains too small.
For given gains θ is a linear solve; gains are found by Gauss and Newton's method on log K.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.errors import InputError
from kinpair.identification.base_parameters import reduced
from kinpair.identification.columns import Layout
from kinpair.identification.estimators import compressed
from kinpair.identification.signals import Rows, RunColumns, filtered, rows_of

ROUNDS = 3  # of weights by joint
WEAK = 0.2  # relative standard deviation of a gain that is not identified


def identified_gains(
    layout: Layout, runs: Sequence[RunColumns], payload: Mapping[str, Any] | None
) -> tuple[np.ndarray, list[RunColumns], str]:
    """Gains K (driven joints,) [N m/A] of (ID23), runs with efforts in place of currents, and a sentence."""
    mass = float((payload or {}).get("mass") or 0.0)
    if layout.payload is None or mass <= 0.0:
        raise InputError(
            "torque='current' without gains: currents determine parameters only up to a factor per joint; give gains "
            "[N m/A], or payload={'link': ..., 'runs': [...], 'mass': ...} with runs that carry a known mass",
            argument="gains",
        )
    K, deviation = _fitted(layout, rows_of(layout, runs, None), mass)
    names = [layout.m.v_names[layout.rows[j]] for j in layout.driven]
    weak = [name for name, d in zip(names, deviation, strict=True) if not d < WEAK]
    if weak:
        good = [n for n, name in enumerate(names) if name not in weak]
        if not good:
            raise InputError("no drive gain is identifiable: the payload moves no effort; give gains=")
        K = np.where([name in weak for name in names], float(np.median(K[good])), K)
    scale = np.ones(len(layout.rows))
    scale[layout.driven] = K
    scaled: list[RunColumns] = []
    for run in runs:
        s = replace(run.samples, tau=run.samples.tau * scale)
        scaled.append(replace(run, samples=s, y=filtered(s.tau, s)))
    sentence = (
        f"drive gains identified with a payload of {mass:g} kg: {', '.join(f'{x:.4g}' for x in K)} N m/A"
    )
    if weak:
        sentence += f"; not identifiable, median of the others instead: {', '.join(weak)}"
    return K, scaled, sentence


def _fitted(layout: Layout, rows: Rows, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """Gains (driven joints,) of (ID23) and their relative standard deviations."""
    from scipy.optimize import least_squares

    at = int(layout.bodies_of_ten[-1][0])
    others = np.array([k for k in range(rows.A.shape[1]) if k != at])
    independent = others[reduced([layout.names[k] for k in others], rows.A[:, others]).independent]
    A = np.column_stack([rows.A[:, independent], mass * rows.A[:, at]])
    B, current, joint = compressed(A, rows.y, rows.joint)
    place = np.searchsorted(layout.driven, joint)
    sigma = np.ones(len(layout.driven))

    def residual(x: np.ndarray) -> np.ndarray:
        gain = np.exp(-x)[place]
        left = B * (gain / sigma[place])[:, None]
        right = current / sigma[place] - left[:, -1]
        scale = np.linalg.norm(left[:, :-1], axis=0)
        theta = np.linalg.lstsq(left[:, :-1] / scale, right, rcond=1e-12)[0]
        return right - left[:, :-1] / scale @ theta

    x = np.full(len(sigma), np.log(_scale(B, current)))
    for _ in range(ROUNDS):
        found = least_squares(residual, x, method="lm")
        x = found.x
        r = residual(x) * sigma[place]
        count = np.maximum(np.bincount(rows.joint, minlength=len(layout.rows))[layout.driven], 1)
        sigma = np.maximum(np.sqrt(np.bincount(place, r**2) / count), 1e-12)
    J = least_squares(residual, x, method="lm").jac
    deviation = np.sqrt(np.diag(np.linalg.pinv(J.T @ J, hermitian=True)))
    return np.exp(x), deviation


def _scale(B: np.ndarray, current: np.ndarray) -> float:
    """Size of a gain to start from: the effort of the payload by the current."""
    return max(float(np.linalg.norm(B[:, -1]) / max(float(np.linalg.norm(current)), 1e-12)), 1e-6)
