"""From what was given to a run that is ready: everything is checked here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.compiler.arguments import whole_threads
from kinpair.compiler.time_loop_inputs import Inputs
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.simulation.events.eventful import Eventful, with_events
from kinpair.simulation.events.events import events_given
from kinpair.simulation.events.limits import CLOSED, Limits, bumpers_of, limits_given, limits_of
from kinpair.simulation.given import in_rows, parameter_values, start_states
from kinpair.simulation.held import check_start, held
from kinpair.simulation.methods.integrators import Integrator, integrator_named
from kinpair.simulation.options import ATOL, DT, RTOL, Options
from kinpair.simulation.ready import Adaptive, Fixed, Outside, Run
from kinpair.simulation.schedule import adaptive_times, finite, fixed_plan, positive
from kinpair.simulation.systems import model_to_move
from kinpair.simulation.torques import external_of, torque_of
from kinpair.simulation.wish import Wish


def prepared(mechanism: Mechanism, given: Options) -> Fixed | Adaptive | Outside | Eventful:
    """Everything checked, and ready to run."""
    m, time = mechanism, finite(mechanism.name, "time", given.time)
    states = start_states(m, given.q, given.qd)
    first = states.reshape(-1, states.shape[-1])[0]
    at = first[: m.nq], first[m.nq :]
    drive = torque_of(m, given.torque, *at, time)
    functions, wrenches = external_of(m, given.external, *at, time)
    names, values = parameter_values(m, given.parameters)
    states, batch = in_rows(m, states, drive, wrenches, values)
    method = integrator_named(given.integrator).with_rho(given.rho_inf)
    constraints = held(m, at[0], time, given.solver, method.holding(given.hold), given.alpha)
    if given.hold != "none":
        check_start(m, states, time)
    acting = drive, functions, names, given.passive, batch is not None, constraints
    wish = Wish(m, method, *acting, model=model_to_move(m.model, *at, time))
    happenings, ends = events_given(m, given.events, *at, time), limits_given(m, given.limits)
    bumpers = bumpers_of(m, ends, at[0])
    eventful = bool(happenings[0]) or (ends.unilateral and bool(limits_of(m, ends)))
    if eventful or bumpers is not None:
        wish = replace(wish, bumpers=bumpers, tallied=eventful)
        _check_eventful(wish, ends, at[0], eventful)
    _check_steps(wish, given)
    longest = np.inf if given.max_step is None else positive(m.name, "max_step", given.max_step)
    duration = positive(m.name, "duration", given.duration)
    fixed, inputs = _is_fixed(wish.integrator, given), _inputs(wish, wrenches, values)
    run = Run(wish, duration, time, inputs, fixed=fixed, longest=longest)
    run.options = given.named
    ready = _stepping(run, run.start(states, wrenches), given)
    if not eventful:
        return ready
    return with_events(ready, happenings, ends, (given.solver, given.hold, given.alpha))


def _is_fixed(method: Integrator, given: Options) -> bool:
    return not method.adaptive or given.dt is not None


def _stepping(run: Run, start: np.ndarray, given: Options) -> Fixed | Adaptive | Outside:
    """By the steps that were asked for."""
    name, method, threads = run.name, run.wish.integrator, whole_threads(run.name, given.threads)
    if _is_fixed(method, given):
        step = positive(name, "dt", DT if given.dt is None else given.dt)
        return Fixed(run, start, fixed_plan(name, run.duration, step, given.output, run.time), threads)
    wanted = adaptive_times(name, run.duration, given.output, run.time)
    rtol = method.rtol or RTOL if given.rtol is None else given.rtol
    allowed = rtol, ATOL if given.atol is None else given.atol
    return (Outside if method.outside else Adaptive)(run, start, wanted, *allowed)


def _check_eventful(wish: Wish, limits: Limits, q: np.ndarray, eventful: bool) -> None:
    """Refuse what cannot be done with events or limits."""
    name, method = wish.mechanism.name, wish.integrator
    if eventful and wish.batch:
        raise InputError(
            f"{name}: events and limits that stop or bounce take one motion at a time; of a batch, simulate the "
            "motions one after the other, or take limits='spring'"
        )
    if eventful and wish.dynamics.memory:
        raise InputError(
            f"{name}: integrator {method.name!r} takes no events and no limits that stop or bounce; 'rk4', 'dop853' "
            "and the other explicit ones do",
            integrator=method.name,
        )
    if method.solved is not None and limits.way in ("stop", "bounce", "spring"):
        raise InputError(
            f"{name}: integrator {method.name!r} takes no limits={limits.way!r}; 'rk4', 'dop853' and the other "
            "explicit ones do",
            integrator=method.name,
        )
    if not limits.unilateral:
        return
    for limit in limits_of(wish.mechanism, limits):
        gap = float(limit.gap(q))
        if gap < -CLOSED * max(1.0, abs(limit.at)):
            raise InputError(
                f"{name}: {limit.name!r} starts {-gap:.3g} beyond its {limit.word} limit {limit.at:g}; start within "
                "the limits, or give limits='spring' or 'ignore'",
                joint=limit.name,
            )


def _check_steps(wish: Wish, given: Options) -> None:
    name, method = wish.mechanism.name, wish.integrator.name
    if wish.integrator.outside and given.dt is not None:
        raise InputError(
            f"{name}: {method} chooses its steps; give rtol= and atol=, not dt=", integrator=method
        )
    fixed = _is_fixed(wish.integrator, given)
    if wish.batch and not fixed:
        raise InputError(
            f"{name}: a batch takes fixed steps; give dt=, for instance integrator='rk4', dt=0.001",
            integrator=method,
        )
    if wish.batch and wish.torque.kind == "called":
        raise InputError(
            f"{name}: torque is a function that cannot be recorded, and a batch does not call Python; write it in "
            "NumPy terms (docs/compiler.md) or give its values as (times, values)"
        )
    if fixed and (given.rtol is not None or given.atol is not None):
        raise InputError(f"{name}: {method} by fixed steps takes dt=, no rtol= and atol=", integrator=method)
    if fixed and given.max_step is not None:
        raise InputError(f"{name}: {method} by fixed steps takes dt=, no max_step=", integrator=method)


def _inputs(wish: Wish, wrenches: dict[str, np.ndarray], values: np.ndarray) -> Inputs:
    """Parameters, and the table of efforts with the wrenches, which do not change, beside them."""
    drive = wish.torque
    if drive.kind != "table":
        return Inputs(parameters=values)
    lead = max((drive.values.shape[:-2], *(w.shape[:-1] for w in wrenches.values())), key=len)
    columns = [drive.values, *(w[..., None, :] for w in wrenches.values())]
    shape = (*lead, len(drive.times))
    rows = np.concatenate([np.broadcast_to(c, (*shape, c.shape[-1])) for c in columns], axis=-1)
    return Inputs(values, drive.times, rows)
