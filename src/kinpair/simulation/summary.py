"""A run in words, and whether its energy adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.simulation.residual import Residual, Singular

if TYPE_CHECKING:
    from kinpair.simulation.result import Result


def summary(run: Result) -> str:
    """One paragraph."""
    parts = [_what(run), _how(run), _energy(run), _constraints(run.residual), _passage(run.singular)]
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


def _constraints(residual: Residual | None) -> str:
    if residual is None:
        return ""
    position, rate = residual.worst
    return f"Constraints hold to {position:.2g}, their rates to {rate:.2g}."


def _passage(found: Singular | None) -> str:
    if found is None:
        return ""
    return (
        f"Near t = {found.time:.6g} s they were all but dependent (pivot {found.pivot:.1g}): the mechanism passed a "
        "singular position, where motions branch."
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
