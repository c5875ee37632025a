"""Accelerations and reactions at the samples of a run, each in the mode that was in force there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.forces.elements import is_timed
from kinpair.mechanism import Mechanism
from kinpair.runs.record import Record
from kinpair.simulation.events.limits import limit_springs, limits_from
from kinpair.simulation.modes.modes import mechanism_in


class ByName(dict[str, np.ndarray]):
    """Arrays by name of a joint, or of a row; a name that is not there is answered with those that are."""

    def __init__(self, word: str, arrays: Mapping[str, np.ndarray]) -> None:
        super().__init__(arrays)
        self._word = word

    def __missing__(self, name: Any) -> np.ndarray:
        word = self._word
        raise InputError(
            f"no {word} {name!r}; {nearest(str(name), self)}{word.capitalize()}s: {listed(self) or 'none'}",
            **{word: name},
        )


def accelerations(run: Record) -> np.ndarray:
    """q̈ (..., samples, nv)."""
    if run.parameters:
        raise InputError(
            f"{run.mechanism.name}: the run had other {', '.join(run.parameters)} than the mechanism; for "
            "accelerations and reactions build a mechanism with these"
        )
    q, qd, tau, time = _samples(run)
    loads, qdd = _loads(run), np.full_like(qd, np.nan)
    if run.mechanism.nx:
        tau = _beside_forward_dynamics(run, q, qd, time)
    for mechanism, there in _in_turn(run):
        state = [x[there] for x in (q, qd, tau)]
        own: dict[str, Any] = {}
        if mechanism.closure is not None:
            own |= {"solver": run.options.get("solver")}
        if mechanism.closure is not None or is_timed(mechanism.model):
            own |= {"time": time[there]}
        if mechanism.model.terms is None:
            own |= {"external": {name: w[there] for name, w in loads.items()} or None, "passive": run.passive}
        qdd[there] = mechanism.forward_dynamics(*state, **own)
    return qdd.reshape(run.qd.shape)


def _beside_forward_dynamics(run: Record, q: np.ndarray, qd: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Efforts by which forward dynamics gives the accelerations at the internal states and inputs of the samples."""
    m = run.mechanism
    x, u = (np.asarray(a.reshape(len(q), -1)) for a in (run.x, run.u))
    return m.actuation(q, qd, x, u, time, passive=run.passive).effort


def reactions(run: Record, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """Wrenches (..., samples, 6) by name of the joint, and of loops; NaN while a loop is open."""
    if run.mechanism.model.terms is not None:
        raise InputError(f"{run.mechanism.name}: a system given by its forces has no joints with reactions")
    q, qd, tau, time = _samples(run)
    qdd, loads = qdd.reshape(qd.shape), _loads(run)
    by_joint: dict[str, np.ndarray] = {}
    for mechanism, there in _in_turn(run):
        external = {name: w[there] for name, w in loads.items()} or None
        own: dict[str, Any] = {"passive": run.passive}
        if mechanism.closure is not None:
            own |= {"tau": tau[there], "time": time[there]}
        wrenches = mechanism.reactions(*(x[there] for x in (q, qd, qdd)), external=external, **own)
        for name, w in wrenches.items():
            by_joint.setdefault(name, np.full((len(q), 6), np.nan))[there] = w
    return ByName("joint", {name: w.reshape(*run.q.shape[:-1], 6) for name, w in by_joint.items()})


def constraint_forces(run: Record, qdd: np.ndarray) -> dict[str, np.ndarray]:
    """Multipliers (..., samples) by name of the row of a constraint; NaN where that does not hold."""
    q, qd, tau, time = _samples(run)
    qdd, loads = qdd.reshape(qd.shape), _loads(run)
    by_row: dict[str, np.ndarray] = {}
    for mechanism, there in _in_turn(run):
        if mechanism.closure is None:
            continue
        external = {name: w[there] for name, w in loads.items()}
        state = q[there], qd[there], qdd[there]
        drives = mechanism.closure.drives
        lam = drives.multipliers(state, tau[there], time[there], external, passive=run.passive)
        for k, row in enumerate(mechanism.closure.row_names):
            by_row.setdefault(row, np.full(len(q), np.nan))[there] = lam[:, k]
    return ByName("row", {row: x.reshape(run.q.shape[:-1]) for row, x in by_row.items()})


def _samples(run: Record) -> tuple[np.ndarray, ...]:
    """q, q̇, efforts and time, a sample a row."""
    q, qd, tau = (np.asarray(x.reshape(-1, x.shape[-1])) for x in (run.q, run.qd, run.tau))
    return q, qd, tau, np.broadcast_to(run.time, run.q.shape[:-1]).reshape(-1)


def _in_turn(run: Record) -> Iterator[tuple[Mechanism, Any]]:
    """Each mechanism that moved, and its samples."""
    history = run.history
    if history is None:
        yield _with_limit_springs(run, run.mechanism), slice(None)
        return
    for number in np.unique(history.number):
        there = mechanism_in(run.mechanism, history.modes[number])
        yield _with_limit_springs(run, there), history.number.reshape(-1) == number


def _with_limit_springs(run: Record, mechanism: Mechanism) -> Mechanism:
    """The mechanism with the springs at limits that the run had."""
    if not run.springs:
        return mechanism
    m = run.mechanism
    start = np.reshape(np.asarray(run.options["q"], dtype=float), (-1, m.nq))[0]
    springs = limit_springs(m, limits_from(m, run.options["limits"]), start)
    return Mechanism(
        replace(mechanism.model, added=(*mechanism.model.added, *springs)), compiled=mechanism.compiled
    )


def _loads(run: Record) -> dict[str, np.ndarray]:
    """Applied wrenches at every sample."""
    loads: dict[str, np.ndarray] = {}
    time = np.broadcast_to(run.time, run.q.shape[:-1]).reshape(-1)
    for name, wrench in run.external.items():
        if callable(wrench):
            states = zip(time, run.q.reshape(len(time), -1), run.qd.reshape(len(time), -1), strict=True)
            loads[name] = np.array([wrench(*state) for state in states], dtype=float).reshape(-1, 6)
        else:
            w = np.asarray(wrench, dtype=float)
            w = w[:, None, :] if w.ndim == 2 else w
            loads[name] = np.broadcast_to(w, (*run.q.shape[:-1], 6)).reshape(-1, 6)
    return loads
