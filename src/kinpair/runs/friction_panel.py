"""Dry friction of a run as a panel: its effort in each joint, and bars where the joint sticks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from kinpair.errors import KinpairError
from kinpair.forces.states import sticking_groups
from kinpair.model.units import units
from kinpair.runs.record import Record, Rubbed
from kinpair.viewer.looks import Look
from kinpair.viewer.panels import Panel

TITLE = "friction; bars: sticks"
FEWEST, MOST, SHARED = 60, 300, 1200  # states at which efforts are solved for; joints share them


def friction_panels(
    run: Record, lead: tuple[int, ...], looks: Mapping[str, Look], labels: Mapping[str, str]
) -> list[Panel]:
    """One for each unit, curves looking as those of the rates; none without dry friction, and bars alone where its
    effort is not known from a state."""
    if not run.friction or not len(run.time):
        return []
    unit = dict(zip(run.mechanism.v_names, units(run.mechanism.model)["tau"], strict=True))
    held = _by_rate(run)
    count = min(max(FEWEST, min(MOST, SHARED // len(run.friction))), len(run.time))
    chosen = np.unique(np.linspace(0, len(run.time) - 1, count).astype(int))
    time, efforts = np.asarray(run.time)[chosen], _efforts(run, lead, chosen)
    panels: list[Panel] = []
    for own in dict.fromkeys(unit[name] for name in held):
        names = [name for name in held if unit[name] == own]
        curves = {name: efforts.get(name, np.full(len(time), np.nan)) for name in names}
        bars = {name: spans(np.asarray(run.time), held[name].sticks[lead]) for name in names}
        panels.append(Panel(TITLE, f"effort [{own}]", curves, looks, labels, time=time, bars=bars))
    return panels


def _by_rate(run: Record) -> dict[str, Rubbed]:
    """Friction by name of the rate; rates that rub as one share it."""
    names, groups = run.mechanism.v_names, sticking_groups(run.mechanism.model, passive=run.passive)
    return {names[k]: run.friction[group.name] for group in groups for k in group.rates}


def spans(time: np.ndarray, holds: np.ndarray) -> list[tuple[float, float]]:
    """Intervals of time at whose samples something holds; a single sample is an interval up to the next."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], holds.astype(int), [0]])))
    last = len(time) - 1
    return [(float(time[a]), float(time[min(b, last)])) for a, b in edges.reshape(-1, 2)]


def _efforts(run: Record, lead: tuple[int, ...], chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Friction at the chosen samples by name of the rate; empty where a state alone does not tell it."""
    m = run.mechanism
    several = run.history is not None and len(run.history.entered) > 1  # modes
    if m.nx or run.parameters or run.external or several:
        return {}
    q, qd, tau = (np.asarray(x[lead])[chosen] for x in (run.q, run.qd, run.tau))
    held = {name: x.sticks[lead][chosen] for name, x in _by_rate(run).items()}
    rates = {name: m.v_names.index(name) for name in held}
    efforts = {name: np.zeros(len(chosen)) for name in held}
    with suppress(KinpairError):
        for k, t in enumerate(np.asarray(run.time)[chosen]):
            rate = qd[k].copy()
            for name, where in rates.items():
                rate[where] = 0.0 if held[name][k] else rate[where]
            for name, found in m.friction(q[k], rate, tau[k], time=float(t)).items():
                if name in efforts:
                    efforts[name][k] = found.effort
        return efforts
    return {}
