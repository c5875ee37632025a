"""Cause of a motion that has become NaN or infinite: an input or a level of friction stopped being a number, or
friction from load has no solution.

A run that became NaN is followed once more from its last state, in floats and small steps: the first state without
solution says why it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError, SingularError
from kinpair.evaluation.arguments import WRENCH
from kinpair.forces.element import Instant
from kinpair.forces.elements import Owner, acting
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.phases.states import Numbers, RestingStates
from kinpair.friction.surfaces.table import check_coefficients
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.run import Run

LOOKS = 400  # at so many times between a state that was fine and the end of the step that was not
HALVINGS = 60
LARGE = 1e8  # a motion beyond that has made its torque infinite, not the other way round
NEAR = 1e-9  # of the time, or of a second: a step that has collapsed ends at least so far ahead


def lost_number(run: Run, state: np.ndarray, since: float, time: float, dt: float) -> str:
    """Name what is no number, or nothing; from a state (at least nq) at `since`, carried on by its rates."""
    n = run.d.layout.solved.stop
    known = np.append(state, np.zeros(max(0, n - len(state))))[:n]
    (q, qd), x = run.d.motion(known), known[run.d.layout.x]
    if not np.abs(known).max() < LARGE:
        return ""
    moves = qd if len(qd) == len(q) else np.zeros(len(q))
    until = time + max(dt, NEAR * max(1.0, abs(time)))
    for what, function, names in _inputs(run):
        more = (x,) if getattr(function, "takes_x", False) else ()
        first = _first(
            lambda t, f=function, more=more: _value(f, t, q + (t - since) * moves, qd, *more), since, until
        )
        if first is not None:
            when, value = first
            k = int(np.flatnonzero(~np.isfinite(value))[0])
            return f"{what} is {value[k]} for {names[k]!r} at t = {when:.9g} s"
    return _lost_level(run, known, since, until) or _lost_coefficient(run, since, until)


def _lost_coefficient(run: Run, since: float, until: float) -> str:
    """Return which coefficient of friction is below zero first, or nothing."""
    model = run.d.concrete(run.inputs.parameters).model

    def trouble(time: float) -> str:
        try:
            check_coefficients(replace(model, time=time))
        except InputError as problem:
            return str(problem).removeprefix(f"{model.name}: ")
        return ""

    first = _first(lambda time: np.array([np.nan if trouble(time) else 0.0]), since, until)
    return trouble(first[0]) if first is not None and any(x.signals for x in model.surfaces) else ""


def _lost_level(run: Run, y: np.ndarray, since: float, until: float) -> str:
    """Name the level of friction that is below zero, or nothing; from the state y at `since`, carried on by its
    rates."""
    d = run.d.concrete(run.inputs.parameters)
    q, qd = d.motion(y)
    names = [x.element.name for x, _ in _levels(run, d, since, y)]
    if not names:
        return ""
    moves = qd if len(qd) == len(q) else np.zeros(len(q))

    def bounds(time: float) -> np.ndarray:
        there = np.concatenate([q + (time - since) * moves, y[len(q) :]])
        every = (x.element.holds(at).values() for x, at in _levels(run, d, time, there))
        return np.array([np.sum([*pairs], dtype=float) for pairs in every])

    first = _first(bounds, since, until)
    if first is None:
        return ""
    when, value = first
    name = names[int(np.flatnonzero(~np.isfinite(value))[0])]
    return f"{name} has a level below zero at t = {when:.9g} s; friction resists motion, so its level is zero or above"


def _levels(run: Run, d: Dynamics, time: float, y: np.ndarray) -> list[tuple[Owner, Instant]]:
    """Elements with a level that changes, and the state as each sees it."""
    state = d.state(time, y, inputs_at(run, time, y))
    every = acting(d.model, state, passive=d.passive)
    return [(x, at) for x, at in every if x.element.sticks and (x.element.timed or x.element.nu)]


def inputs_at(run: Run, time: float, y: np.ndarray) -> np.ndarray:
    """Inputs u at a state; those that a Python function gave are the first."""
    u = np.atleast_2d(run.start)[0, run.d.ny :]
    if run.torque.source == "table":
        return run.inputs.at(time)
    if run.torque.kind == "regulated" and not run.torque.sampled:
        return run.controlled(time, y, u)
    return u


def _inputs(run: Run) -> list[tuple[str, Any, Sequence[str]]]:
    """Functions that were recorded: what each is called, itself, and the names of its entries."""
    torque, wrenches = run.torque, dict(run.d.external or {})
    inputs: list[tuple[str, Any, Sequence[str]]] = []
    if torque.kind == "recorded":
        inputs.append((torque.word, torque.function, run.d.controls))
    return inputs + [(f"external[{name!r}]", f, WRENCH) for name, f in wrenches.items() if f is not None]


def _value(function: Callable[..., Any], time: float, *state: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(function(time, *(x.copy() for x in state)), dtype=float)


def _first(
    value: Callable[[float], np.ndarray], since: float, until: float
) -> tuple[float, np.ndarray] | None:
    """The first of many times at which it has no number, narrowed down, and what it has there."""
    times = np.linspace(since, until, LOOKS)
    bad = next((k for k, t in enumerate(times) if not np.isfinite(value(t)).all()), None)
    if bad is None:
        return None
    good, late = times[max(0, bad - 1)], times[bad]
    for _ in range(HALVINGS):
        middle = 0.5 * (good + late)
        good, late = (middle, late) if np.isfinite(value(middle)).all() else (good, middle)
    return float(late), value(late)


STEPS = 40  # from the last state to the end of the step that was not finite, and as long again
SHORTEST = 1e-9  # [s]: so far ahead at least
UNSOLVED = (
    "the loads of joints with friction from load are not found by the sweeps of the compiled code, though there are "
    "some; take shorter steps, or another integrator"
)


class Jam(NamedTuple):
    """Time when the state had no solution, and the joint, the coefficient and the reason in words."""

    time: float
    reason: str


def jam_of(run: Run, y: np.ndarray, since: float, until: float, dt: float) -> Jam | None:
    """Find why a run with friction from load ended, if that is the cause; from its last state y at `since`."""
    if not is_loaded(run.d.model, passive=run.d.passive) or not np.isfinite(y).all():
        return None
    d, y = run.d.concrete(run.inputs.parameters), y.copy()
    if run.event_log and run.event_log[-1].time >= since:  # which may have changed the state of that sample
        last = run.event_log[-1]
        since, y[d.layout.q], y[d.layout.qd] = last.time, last.q, last.qd
    states = RestingStates(d.model, None)
    u = inputs_at(run, since, y)
    time, h, missed = since, max(until - since, dt, SHORTEST) / STEPS, None
    with np.errstate(all="ignore"):
        for _ in range(2 * STEPS):
            here = d.in_phase(y)
            state = here.state(time, y, u)
            loads = here.loads(time, state.q, state.qd, u)
            try:
                tau = np.asarray(here.efforts(state), dtype=float)
                own = states.at(time, np.asarray(state.u, dtype=float) if d.actuated else None)
                check_coefficients(own.model)
                numbers = Numbers(*here.load_terms(state, loads)[:-1])._replace(kept=here.kept)
                qdd = own.of_numbers(numbers, state.q, state.qd, tau).qdd
            except (SingularError, InputError) as problem:
                return Jam(time, str(problem).removeprefix(f"{d.model.name}: "))
            if not (
                missed or np.isfinite(np.asarray(here.accelerations(state, loads)[0], dtype=float)).all()
            ):
                missed = Jam(time, UNSOLVED)  # loads may be about to grow without bound
            y[d.layout.q] = kinematics.moved(d.model, state.q, h * state.qd)
            y[d.layout.qd], time = state.qd + h * qdd, time + h
            if run.torque.source != "call":
                u = inputs_at(run, time, y)
    return missed
