"""A run in words, and whether its energy adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.simulation.balance import Balance

if TYPE_CHECKING:
    from kinpair.simulation.result import Result


def summary(run: Result) -> str:
    """One paragraph."""
    return " ".join([_what(run), _how(run), _energy(run.balance)])


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


def _energy(found: Balance) -> str:
    if not np.isfinite(found.error):
        return "Energy: no balance."
    return (
        f"Energy: {found.work:.6g} J put in, {found.loss:.6g} J dissipated, {found.stored:.6g} J stored; "
        f"the balance is off by at most {found.error:.2g} J, {found.relative:.1g} of what moved."
    )
