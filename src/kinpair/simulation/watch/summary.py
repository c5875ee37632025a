"""A run in words, and whether its energy adds up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from kinpair.description.fields import counted
from kinpair.errors import listed
from kinpair.simulation.storage.blocks import blocks
from kinpair.simulation.units import units
from kinpair.simulation.watch.residual import Residual, Singular

if TYPE_CHECKING:
    from kinpair.simulation.result import Result

PASSED = 1e-9  # [rad], [m]


def summary(run: Result) -> str:
    """One paragraph."""
    parts = [_what(run), _how(run), _events(run), _energy(run), _momentum(run), _constraints(run.residual)]
    parts += [_passage(run.singular), _beyond(run)]
    return " ".join(part for part in parts if part)


def _what(run: Result) -> str:
    count = f"{len(run.q)} trajectories, each " if run.q.ndim == 3 else ""
    start, end = (run.time[0], run.time[-1]) if len(run.time) else (np.nan, np.nan)
    return (
        f"{run.mechanism.name}: {count}{counted(len(run.time), 'sample')} from t = {start:g} s to {end:g} s."
    )


def _how(run: Result) -> str:
    rejected = f" and {run.rejected} in vain" if run.rejected else ""
    steps = (
        f"{counted(run.steps, 'step')} of {run.integrator}{rejected}, the last of {run.dt:.3g} s, "
        f"took {run.took:.3g} s."
    )
    return f"{run.status.message}. {steps}"


def _events(run: Result) -> str:
    """What happened, by name, and how much energy it took."""
    if not run.events:
        return ""
    counts = Counter(x.name for x in run.events)
    named = listed((f"{name!r}" + (f" {n} times" if n > 1 else "") for name, n in counts.items()), 6)
    lost = sum(x.lost for x in run.events)
    took = f", which took {lost:.6g} J" if lost else ""
    return f"{counted(len(run.events), 'event')}: {named}{took}."


def _beyond(run: Result) -> str:
    """Limits that were passed."""
    joints, names = run.mechanism.model.joints, run.mechanism.q_names
    if not np.isfinite([joints.lower, joints.upper]).any():
        return ""
    depth = np.zeros((2, len(names)))  # beyond lower, upper
    for (q,) in blocks(run.q, axis=-2):
        with np.errstate(invalid="ignore"):
            beyond = np.array([joints.lower - q, q - joints.upper]).reshape(2, -1, len(names))
        depth = np.fmax(depth, np.fmax.reduce(beyond, axis=1))
    unit = units(run.mechanism.model)["q"]
    passed = [
        f"{names[k]} went {depth[end, k]:.3g} {unit[k]} beyond its {('lower', 'upper')[end]} limit"
        for k, end in np.argwhere(depth.T > PASSED)
    ]
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


def _momentum(run: Result) -> str:
    found = run.momentum
    if found is None:
        return ""
    part = float(np.fmax.reduce(found.relative, axis=None, initial=0.0))
    words = found.words[:1].upper() + found.words[1:]
    return f"{words} is kept, to {part:.1g} of what it could be."


def _energy(run: Result) -> str:
    if not len(run.time):
        return ""
    found = run.balance
    if np.isnan(found.error):
        return "Energy: the potential of a system given by its forces is not known; no balance."
    if not np.isfinite(found.error):
        return "Energy: no balance."
    return (
        f"Energy: {found.work:.6g} J put in, {found.loss:.6g} J dissipated, {found.stored:.6g} J stored; "
        f"the balance is off by at most {found.error:.2g} J, {found.relative:.1g} of the energy that moved."
    )
