"""Drive gains from runs with and without a payload of known mass.

Y θ + Y_p π_p − i K = −Y_m m                 unknown: θ, π_p without its mass, K; known: the mass m            (ID23)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.errors import InputError
from kinpair.identification.base_parameters import reduced
from kinpair.identification.columns import Layout
from kinpair.identification.estimators import wls
from kinpair.identification.rows import RunColumns, filtered, rows_of

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
    rows = rows_of(layout, runs, None)
    at = int(layout.bodies_of_ten[-1][0])
    others = np.array([k for k in range(rows.A.shape[1]) if k != at])
    currents = np.zeros((len(rows.y), len(layout.driven)))
    for n, j in enumerate(layout.driven):
        currents[rows.joint == j, n] = -rows.y[rows.joint == j]
    A = np.column_stack([currents, rows.A[:, others]])  # (ID23)
    base = reduced([f"gain {n}" for n in range(len(layout.driven))] + [layout.names[k] for k in others], A)
    y = -rows.A[:, at] * mass
    estimate = wls(A[:, base.independent], y, rows.joint)
    K = np.ones(len(layout.driven))
    weak: list[str] = []
    N = A[:, base.independent].T @ (A[:, base.independent] * estimate.weight[:, None])
    deviation = np.sqrt(np.diag(np.linalg.pinv(N, hermitian=True)))
    for n, j in enumerate(layout.driven):
        place = np.flatnonzero(base.independent == n)
        value = float(estimate.beta[place[0]]) if len(place) else 0.0
        if value <= 0.0 or deviation[place[0]] > WEAK * value:
            weak.append(layout.m.v_names[layout.rows[j]])
        else:
            K[n] = value
    if weak:
        good = [n for n, j in enumerate(layout.driven) if layout.m.v_names[layout.rows[j]] not in weak]
        if not good:
            raise InputError("no drive gain is identifiable: the payload moves no effort; give gains=")
        for n, j in enumerate(layout.driven):
            if layout.m.v_names[layout.rows[j]] in weak:
                K[n] = float(np.median(K[good]))
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
