"""Suspicions about a log: units, joints that do not move, signs and order of efforts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.identification.base_parameters import Base
from kinpair.identification.columns import Layout
from kinpair.identification.estimators import Estimate
from kinpair.identification.log import Log
from kinpair.identification.signals import Rows, RunColumns, Samples, design
from kinpair.mechanism import Mechanism

DEGREES, RPM = 180.0 / np.pi, 30.0 / np.pi
CLEAR = 3.0  # friction is clear where it is this many times the residuals
OPPOSITE = 0.8  # correlation of efforts with those of the file, negative
WORSE = 3.0  # error of a joint's own effort by that of another
ENOUGH = 2.0  # rows per column for such a comparison
POOR = 0.5  # relative error of a joint that is not explained
CLOSE = 0.1  # relative: a ratio is that of a unit


def units(m: Mechanism, log: Log) -> list[str]:
    """Sentences on positions and rates that seem to be in degrees or turns per minute."""
    found: list[str] = []
    if m.nq != m.nv:
        return found
    low, high = m.model.joints.lower, m.model.joints.upper
    for k in log.moving:
        reach = float(np.abs(log.q[:, k]).max())
        limit = float(max(abs(low[k]), abs(high[k])))
        bound = limit if np.isfinite(limit) else 4 * np.pi
        if reach > 2.0 * bound and reach / DEGREES <= 1.05 * bound:
            found.append(
                f"{log.name}: position of {m.q_names[k]} reaches {reach:.3g}, beyond its limit of {bound:.3g}; in "
                "degrees? Convert it to rad"
            )
    if log.qd is not None:
        step = np.diff(log.time)
        slope = np.diff(log.q, axis=0) / step[:, None]
        for k in log.moving:
            mean = 0.5 * (log.qd[1:, k] + log.qd[:-1, k])
            if not np.isfinite(mean).all() or float(slope[:, k] @ slope[:, k]) == 0.0:
                continue
            ratio = float(mean @ slope[:, k]) / float(slope[:, k] @ slope[:, k])
            for name, unit, factor in (
                ("turns per minute", "rad/s", RPM),
                ("degrees per second", "rad/s", DEGREES),
            ):
                if abs(ratio / factor - 1.0) < CLOSE:
                    found.append(
                        f"{log.name}: logged rate of {m.v_names[k]} is {ratio:.3g} times the slope of its position; in "
                        f"{name}? Convert it to {unit}"
                    )
    return found


def motionless(m: Mechanism, runs: Sequence[Samples], rows: Sequence[int]) -> list[int]:
    """Rates that never move in any run; InputError where none moves."""
    least = np.asarray(runs[0].settings.least_speed, dtype=float)
    top = np.max([np.abs(x.qd[x.usable]).max(0, initial=0.0) for x in runs], axis=0)
    bound = np.zeros(m.nv)
    driven = list(rows)[-least.size :] if least.ndim else list(rows)
    bound[driven] = least
    still = [k for k in range(m.nv) if top[k] <= max(bound[k], 1e-9)]
    if all(k in still for k in rows):
        speeds = listed([f"{m.v_names[k]} {top[k]:.2g}" for k in rows])
        raise InputError(
            f"the log is at rest: no joint exceeds the least speed (largest rates: {speeds}); log a motion, such as "
            "kp.motion.excitation(m, duration)"
        )
    return still


def signs(rows: Rows, base: Base, estimate: Estimate) -> list[str]:
    """Sentences on joints whose estimated friction would feed energy: their efforts have the wrong sign."""
    layout, found = rows.layout, list[str]()
    place = {int(k): n for n, k in enumerate(base.independent)}
    for j, rate in enumerate(layout.rows):
        own = [
            k
            for k, x in enumerate(layout.parameters)
            if x.group == "friction" and x.owner == j and x.term is not None and x.term.kind != "offset"
        ]
        if not own or any(k not in place for k in own):
            continue
        at = rows.joint == j
        effort = rows.A[at][:, own] @ estimate.beta[[place[k] for k in own]]
        direction = np.sign(rows.A[at][:, own[0]])
        mean = float((effort * direction).mean())
        if mean < -CLEAR * float(estimate.sigma[layout.groups[j]]) / np.sqrt(
            max(at.sum() / 25.0, 1.0)
        ) and abs(mean) > 0.01 * float(np.abs(rows.y[at]).mean()):
            found.append(
                f"friction of {layout.m.v_names[rate]} comes out negative ({mean:.3g} in the direction of motion): "
                "its effort seems to have the wrong sign"
            )
    return found


def unrelated(names: Sequence[str], relative: np.ndarray) -> list[str]:
    """Sentences on joints whose efforts the model hardly explains."""
    poor = [f"{name} ({e:.0%})" for name, e in zip(names, relative, strict=True) if e > POOR]
    if not poor:
        return []
    return [
        f"efforts hardly related to the motion, with their relative error: {listed(poor)}; are these columns efforts?"
    ]


def order(layout: Layout, runs: Sequence[RunColumns]) -> list[str]:
    """Sentences on efforts that the columns of another joint explain much better: another order of the axes.

    Each measured effort is fitted by the columns of each joint alone.
    """
    from scipy.optimize import linear_sum_assignment

    designs = [design(layout, x, None) for x in runs]
    y = np.concatenate([x.y[x.samples.usable[:: x.samples.step]] for x in runs])
    names = [layout.m.v_names[k] for k in layout.rows]
    size = np.linalg.norm(y, axis=0)
    if not size.all() or len(y) < ENOUGH * len(layout.parameters):
        return []
    E = np.ones((len(names), len(names)))  # error of joint j's columns for effort i
    for j in range(len(names)):
        A = np.concatenate(
            [d[x.samples.usable[:: x.samples.step], j] for d, x in zip(designs, runs, strict=True)]
        )
        A = A[:, np.linalg.norm(A, axis=0) > 0]
        A = A / np.linalg.norm(A, axis=0)
        c = A.T @ y
        fitted = A @ np.linalg.solve(A.T @ A + 1e-8 * np.eye(A.shape[1]), c)
        E[j] = np.linalg.norm(y - fitted, axis=0) / size
    _, best = linear_sum_assignment(np.log(E + 1e-6))
    return [
        f"effort column {best[j] + 1} fits the motion of {name} with an error of {E[j, best[j]]:.0%}, column {j + 1} "
        f"of {E[j, j]:.0%}: is the order of the axes another one?"
        for j, name in enumerate(names)
        if best[j] != j and E[j, j] > WORSE * E[j, best[j]]
    ]


def opposite(m: Mechanism, runs: Sequence[RunColumns], file: np.ndarray) -> list[str]:
    """Sentences on efforts that are opposite to those of the file's parameters."""
    inertial = file[: runs[0].filtered.shape[2]]
    found: list[str] = []
    for j in range(runs[0].y.shape[1]):
        model = np.concatenate([x.filtered[:, j] @ inertial for x in runs])
        measured = np.concatenate([x.y[:, j] for x in runs])
        if np.ptp(model) == 0.0 or np.ptp(measured) == 0.0:
            continue
        c = float(np.corrcoef(model, measured)[0, 1])
        if c < -OPPOSITE:
            found.append(
                f"effort of {m.v_names[j]} is opposite to that of the file's parameters (correlation {c:.2f}): "
                "its sign seems to be wrong"
            )
    return found
