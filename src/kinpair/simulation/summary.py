"""A run in words, and whether its energy adds up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from kinpair.errors import listed
from kinpair.simulation.residual import Residual, Singular

if TYPE_CHECKING:
    from kinpair.simulation.result import Result

PASSED = 1e-9  # [rad], [m]


def summary(run: Result) -> str:
    """One paragraph."""
    parts = [_what(run), _how(run), _events(run), _energy(run), _constraints(run.residual)]
    parts += [_passage(run.singular), _beyond(run)]
    return " ".join(part for part in parts if part)


def _what(run: Result) -> str:
    count = f"{len(run.q)} trajectories, each " if run.q.ndim == 3 else ""
    start, end = (run.time[0], run.time[-1]) if len(run.time) else (np.nan, np.nan)
    return f"{run.mechanism.name}: {count}{len(run.time)} samples from t = {start:g} s to {end:g} s."


def _how(run: Result) -> str:
    rejected = f" and {run.rejected} in vain" if run.rejected else ""
    steps = (
        f"{run.steps} steps of {run.integrator}{rejected}, the last of {run.dt:.3g} s, took {run.took:.3g} s."
    )
    lost = f" {len(run.failures)} did not arrive." if run.failures else ""
    return f"{run.status.message}. {steps}{lost}"


def _events(run: Result) -> str:
    """What happened, by name, and how much energy it took."""
    if not run.events:
        return ""
    counts = Counter(x.name for x in run.events)
    named = listed((f"{name!r}" + (f" {n} times" if n > 1 else "") for name, n in counts.items()), 6)
    lost = sum(x.lost for x in run.events)
    took = f", which took {lost:.6g} J" if lost else ""
    return f"{len(run.events)} event{'s' if len(run.events) > 1 else ''}: {named}{took}."


def _beyond(run: Result) -> str:
    """Limits that were passed."""
    joints, names = run.mechanism.model.joints, run.mechanism.q_names
    q = run.q.reshape(-1, len(names))
    if not len(q) or not np.isfinite([joints.lower, joints.upper]).any():
        return ""
    with np.errstate(invalid="ignore"):
        depth = np.fmax.reduce(np.fmax(joints.lower - q, q - joints.upper), axis=0)
    passed = [f"{names[k]} went {depth[k]:.3g}" for k in np.flatnonzero(depth > PASSED)]
    if run.springs:
        return f"Into the springs at the limits: {listed(passed, 6)}." if passed else ""
    return f"Limits were passed: {listed(passed, 6)}; limits='stop' would hold them." if passed else ""


def _constraints(residual: Residual | None) -> str:
    if residual is None:
        return ""
    position, rate = residual.worst
    return f"Constraints hold to {position:.2g}, their rates to {rate:.2g}."


def _passage(found: Singular | None) -> str:
    if found is None:
        return ""
    return (
        f"Near t = {found.time:.6g} s the mechanism came close to a singular position, where motions branch: a pivot "
        f"of the constraints was {found.pivot:.1g} of what it was at the start."
    )


def _energy(run: Result) -> str:
    if np.isnan(run.energy.potential).all():
        return "Energy: the potential of a system given by its forces is not known; no balance."
    found = run.balance
    if not np.isfinite(found.error):
        return "Energy: no balance."
    return (
        f"Energy: {found.work:.6g} J put in, {found.loss:.6g} J dissipated, {found.stored:.6g} J stored; "
        f"the balance is off by at most {found.error:.2g} J, {found.relative:.1g} of what moved."
    )
