"""Accelerations and reactions at the samples of a run, each in the mode that was in force there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.simulation.events.limits import bumpers_of, limits_given
from kinpair.simulation.events.modes import mechanism_in

if TYPE_CHECKING:
    from kinpair.simulation.result import Result


class ByJoint(dict[str, np.ndarray]):
    """Arrays by name of the joint; a name that is not there is answered with those that are."""

    def __missing__(self, name: Any) -> np.ndarray:
        raise InputError(f"no joint {name!r}; {nearest(str(name), self)}Joints: {listed(self)}", joint=name)


def accelerations(run: Result) -> np.ndarray:
    """q̈ (..., samples, nv)."""
    if run.parameters:
        raise InputError(
            f"{run.mechanism.name}: the run had other {', '.join(run.parameters)} than the mechanism; for "
            "accelerations and reactions build a mechanism with these"
        )
    q, qd, tau, time = _samples(run)
    loads, found = _loads(run), np.full_like(qd, np.nan)
    for mechanism, there in _in_turn(run):
        state = [x[there] for x in (q, qd, tau)]
        own: dict[str, Any] = {}
        if mechanism.closure is not None:
            own |= {"time": time[there], "solver": run.options.get("solver")}
        if mechanism.model.terms is None:
            own |= {"external": {name: w[there] for name, w in loads.items()} or None, "passive": run.passive}
        found[there] = mechanism.forward_dynamics(*state, **own)
    return found.reshape(run.qd.shape)


def reactions(run: Result) -> dict[str, np.ndarray]:
    """Wrenches (..., samples, 6) by name of the joint, and of loops; NaN while a loop is open."""
    if run.mechanism.model.terms is not None:
        raise InputError(f"{run.mechanism.name}: a system given by its forces has no joints with reactions")
    q, qd, tau, time = _samples(run)
    qdd, loads = run.qdd.reshape(qd.shape), _loads(run)
    found: dict[str, np.ndarray] = {}
    for mechanism, there in _in_turn(run):
        external = {name: w[there] for name, w in loads.items()} or None
        own: dict[str, Any] = {}
        if mechanism.closure is not None:
            own |= {"tau": tau[there], "time": time[there]}
        wrenches = mechanism.reactions(*(x[there] for x in (q, qd, qdd)), external=external, **own)
        for name, w in wrenches.items():
            found.setdefault(name, np.full((len(q), 6), np.nan))[there] = w
    return ByJoint({name: w.reshape(*run.q.shape[:-1], 6) for name, w in found.items()})


def _samples(run: Result) -> tuple[np.ndarray, ...]:
    """q, q̇, efforts with those of springs at limits, and time, a sample a row."""
    q, qd, tau = (np.asarray(x.reshape(-1, x.shape[-1])) for x in (run.q, run.qd, run.tau))
    return q, qd, tau + _pushes(run, q, qd), np.broadcast_to(run.time, run.q.shape[:-1]).reshape(-1)


def _pushes(run: Result, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Efforts of springs at limits."""
    if not run.springs:
        return np.zeros_like(qd)
    m = run.mechanism
    start = np.reshape(np.asarray(run.options["q"], dtype=float), (-1, m.nq))[0]
    bumpers = bumpers_of(m, limits_given(m, run.options["limits"]), start)
    assert bumpers is not None
    return rows(bumpers.efforts(columns(q), columns(qd)), len(q))


def _in_turn(run: Result) -> Iterator[tuple[Mechanism, Any]]:
    """Each mechanism that moved, and its samples."""
    history = run.history
    if history is None:
        yield run.mechanism, slice(None)
        return
    for number in np.unique(history.number):
        yield mechanism_in(run.mechanism, history.modes[number]), history.number == number


def _loads(run: Result) -> dict[str, np.ndarray]:
    """Applied wrenches at every sample."""
    found: dict[str, np.ndarray] = {}
    time = np.broadcast_to(run.time, run.q.shape[:-1]).reshape(-1)
    for name, wrench in run.external.items():
        if callable(wrench):
            states = zip(time, run.q.reshape(len(time), -1), run.qd.reshape(len(time), -1), strict=True)
            found[name] = np.array([wrench(*state) for state in states], dtype=float).reshape(-1, 6)
        else:
            w = np.asarray(wrench, dtype=float)
            w = w[:, None, :] if w.ndim == 2 else w
            found[name] = np.broadcast_to(w, (*run.q.shape[:-1], 6)).reshape(-1, 6)
    return found
