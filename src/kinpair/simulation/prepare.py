"""Preparation of a run from the arguments of `simulate`: everything is checked here.

The file is long because it is one list of checks, in the order in which arguments depend on each other.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.compiler.arguments import whole_threads
from kinpair.compiler.time_loop.inputs import Inputs, callback
from kinpair.errors import InputError, listed
from kinpair.forces.states import has_actuators, ports_of
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.mechanism import Mechanism
from kinpair.model.contact_data import ContactData
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import events_from
from kinpair.simulation.events.limits import limit_springs, limits_from, limits_of, saturation, stated
from kinpair.simulation.given import (
    ATOL,
    DT,
    RTOL,
    Options,
    by_name,
    in_rows,
    named_numbers,
    parameter_values,
    start_states,
    start_x,
    tolerance,
)
from kinpair.simulation.held import Holding, check_start, enforcement_of, model_to_move, with_elements
from kinpair.simulation.loops import BoundedCache, begin
from kinpair.simulation.methods.integrators import Integrator, check_combination, integrator_named
from kinpair.simulation.run import Run
from kinpair.simulation.schedule import (
    FINEST,
    adaptive_times,
    check_allowed,
    check_step,
    check_tolerance,
    finite,
    fixed_plan,
    patient,
    positive,
)
from kinpair.simulation.stiffness import (
    INSTEAD,
    REMEDY,
    STIFF,
    check_stiffness,
    reason_for_implicit,
    unstable,
    warn,
)
from kinpair.simulation.torques import (
    Caller,
    Start,
    Torque,
    Wanted,
    constant_torque,
    control_of,
    external_of,
    torque_of,
    with_called,
)

if TYPE_CHECKING:
    from kinpair.simulation.contact.stepped import Stepped
    from kinpair.simulation.events.limits import Limit

PREPARED = 16  # runs of a mechanism that are kept, for others like them
ABSENT = ("input", "x", "external", "parameters", "events")  # in a run that is kept
SIMPLE = {type(None), str, int, float, bool}
absent_of = attrgetter(*ABSENT)
plain_of = attrgetter(*sorted(set(Options.__dataclass_fields__) - {"q", "qd", "torque", "limits", *ABSENT}))


def prepared(mechanism: Mechanism, chosen: Options) -> Run:
    """Prepare a run with everything checked. Of a run that repeats an earlier one from another start or with other
    constant efforts, those are."""
    key = _repeated(mechanism, chosen)
    if key is None:
        return _prepared(mechanism, chosen)
    known = mechanism.model.once("prepared runs", lambda: BoundedCache(PREPARED))
    run = known.get(key, lambda: _prepared(mechanism, chosen))
    states = start_states(mechanism, chosen.q, chosen.qd)
    torque = run.torque if chosen.torque is None else constant_torque(mechanism, chosen.torque)
    start = _start(run.d, torque, states, np.zeros(0), {})
    options = {**run.options, "q": chosen.q, "qd": chosen.qd, "torque": chosen.torque}
    shared = {} if mechanism.closure is None else run.shared  # closed mechanisms are kept with their start
    new: dict[str, Any] = {
        "start": start,
        "shared": shared,
        "event_log": [],
        "passages": [],
    }
    return _begun(replace(run, torque=torque, options=options, **new))


def _begun(run: Run) -> Run:
    """Begin with the phases of dry friction at its start, where no event finds them."""
    if run.d.at_ends:
        begin(run.d, run.inputs.parameters, run.time, run.start)
    return run


def _repeated(m: Mechanism, chosen: Options) -> Any:
    """Key that distinguishes a run of plain numbers and words from others, start and constant efforts aside where
    nothing depends on them; None of a run with functions, events or anything else that is looked at anew."""
    if m.nx or m.model.terms is not None or stated(m, chosen.limits) != "ignore":
        return None
    if any(x is not None for x in absent_of(chosen)):
        return None
    q, qd, torque = map(_numbers, (chosen.q, chosen.qd, () if chosen.torque is None else chosen.torque))
    plain = plain_of(chosen)
    kinds = tuple(map(type, plain))
    plain = (plain, kinds) if SIMPLE.issuperset(kinds) else _plain(plain)
    if plain is None or q is None or qd is None or torque is None or torque.ndim > 1:
        return None
    start = (q.ndim, qd.ndim) if m.closure is None else _plain((q, qd))
    return m.compiled, start, torque.shape, plain


def _numbers(x: Any) -> np.ndarray | None:
    """An array of floats, or a list of numbers as one; None of anything else."""
    if type(x) is np.ndarray:
        return x if x.dtype == float else None
    is_list = isinstance(x, (list, tuple)) and all(type(number) in (int, float) for number in x)
    return np.array(x, dtype=float) if is_list else None


def _plain(x: Any) -> Any:
    """Numbers, words, and lists and arrays of them, as something that distinguishes them; None of anything else."""
    if x is None or isinstance(x, (str, int, float)):
        return type(x), x
    if type(x) is np.ndarray and x.dtype == float:
        return x.shape, x.tobytes()
    parts = tuple(map(_plain, x)) if isinstance(x, (list, tuple)) else (None,)
    return None if None in parts else parts


def _prepared(mechanism: Mechanism, chosen: Options) -> Run:
    m, name, time = mechanism, mechanism.name, finite(mechanism.name, "time", chosen.time)
    chosen = replace(chosen, **by_name(m, chosen.q, chosen.qd, chosen.torque, time))
    chosen = replace(chosen, limits=stated(m, chosen.limits))
    chosen = replace(chosen, input=named_numbers(m, "input", m.u_names, chosen.input, np.zeros(m.nu)))
    chosen = replace(chosen, x=named_numbers(m, "x", m.x_names, chosen.x, m.x_start))
    states = start_states(m, chosen.q, chosen.qd)
    x = start_x(m, chosen.x, states)
    first = states.reshape(-1, states.shape[-1])[0]
    at = first[: m.nq], first[m.nq :]
    torque = _control(m, chosen, Start(*at, time, x.reshape(-1, m.nx)[0] if m.nx else x))
    applied = external_of(m, chosen.external, *at, time)
    wrenches = applied.numbers
    names, values = parameter_values(m, chosen.parameters)
    states, _ = in_rows(m, states, torque, wrenches, values, x)
    automatic, name_of_method = chosen.integrator is None, chosen.integrator or default_integrator(m)
    chosen = replace(chosen, integrator=name_of_method)
    method = integrator_named(name_of_method).with_rho(chosen.rho_inf).with_theta(chosen.theta)
    _check_contact(m, method)
    holding = Holding(chosen.solver, method.holding(chosen.hold), chosen.alpha, chosen.passive)
    enforcement = enforcement_of(m, at[0], time, holding)
    if chosen.hold != "none":
        check_start(m, states, time)
    events, recorded = events_from(m, chosen.events, *at, time)
    limits, touches = limits_from(m, chosen.limits), _touching(m, method)
    ends = limits_of(m, limits) if limits.unilateral else ()
    actuated = has_actuators(m.model) or (torque.word == "input" and m.u_names != m.v_names)
    d = Dynamics(
        with_elements(model_to_move(m.model, *at, time), (*m.model.added, *limit_springs(m, limits, at[0]))),
        chosen.passive,
        driven=torque.kind != "none" or actuated,
        torque=torque.inside,
        external=tuple(applied.functions.items()),
        parameters=names,
        enforcement=enforcement,
        memory=method.memory(m.nv),
        remembered=torque.memory.shape[-1],
        at_ends=method.memory(m.nv) > 0,
        actuated=actuated,
        saturation=saturation(m, limits, actuated),
        contact=_stepped(m.model.contacts, ends) if method.impulsive else None,
        touching=None if touches is None else _stepped(touches, ends),
    )
    torque = with_called(m, torque, applied, len(d.controls) if d.torque_in_u else 0)
    run = Run(
        mechanism=m,
        integrator=method,
        torque=torque,
        holding=holding,
        d=d,
        inputs=_inputs(torque, wrenches, values),
        start=_start(d, torque, states, x, wrenches),
        time=time,
        duration=0.0,
        options=chosen.named,
        events=events,
        recorded=recorded,
        limits=limits,
        ends=() if method.impulsive or touches is not None else ends,
    )
    _check_guards(run)
    _check_steps(run, chosen)
    longest = np.inf if chosen.max_step is None else positive(name, "max_step", chosen.max_step)
    duration = positive(name, "duration", chosen.duration)
    check_step(name, "max_step", longest, duration)
    check_step(name, f"sample_time of {torque.word}", torque.sample_time or np.inf, duration)
    if method.tableau is not None and chosen.dt is None:
        reason = reason_for_implicit(d, m.model, run.start, duration, method.name) if automatic else ""
        if reason and find_spec("sksundae") is not None:
            return replace(_prepared(m, replace(chosen, integrator=STIFF)), reason=reason)
        check_stiffness(d, run.start, duration, method.name)
    if _is_fixed(method, chosen):
        warn(unstable(d.model, at[0], time, method, chosen.dt or DT, chosen.passive), REMEDY)
    waits = patient(name, chosen.patience)
    threads = whole_threads(name, chosen.threads)
    run = replace(run, duration=duration, longest=longest, threads=threads, patience=waits)
    run = _begun(replace(run, **_schedule(run, chosen)))
    return _with_caller(run, wrenches) if torque.kind == "called" else run


def default_integrator(mechanism: object, otherwise: str = "dop853") -> str:
    """Return the integrator that a run has where none is given: one that sees contact, if geoms may touch."""
    return "time-stepping" if isinstance(mechanism, Mechanism) and _touches(mechanism) else otherwise


def stepper_integrator(m: Mechanism, q: np.ndarray, time: float, dt: float, passive: bool) -> str:
    """Return the integrator that a stepper has where none is given; one that is stable, if rk4 is not."""
    name = default_integrator(m, "rk4")
    reason = unstable(m.model, q, time, integrator_named(name), dt, passive)
    if not reason:
        return name
    warn(reason, INSTEAD)
    return "time-stepping"


def _touches(m: Mechanism) -> bool:
    return m.model.contacts is not None and len(m.model.contacts.first) > 0


def _check_contact(m: Mechanism, method: Integrator) -> None:
    """Reject methods that do not see the contact of a mechanism."""
    if _touching(m, method) is not None and method.tableau is None:
        raise InputError(
            f"{m.name}: has geoms that touch, and integrator {method.name!r} does not see them; give "
            "integrator='time-stepping' or 'dop853' (--integrator), or load it without contact",
            integrator=method.name,
        )


def _stepped(contacts: ContactData | None, ends: tuple[Limit, ...]) -> Stepped:
    """Return what contact in time steps or by events is about."""
    from kinpair.simulation.contact.stepped import Stepped, no_geoms

    return Stepped(contacts or no_geoms(), ends)


def _touching(m: Mechanism, method: Integrator) -> ContactData | None:
    """Return geoms and pairs whose contact is found by events; None where there are none, or steps see them."""
    return m.model.contacts if _touches(m) and not method.impulsive else None


def _is_fixed(method: Integrator, chosen: Options) -> bool:
    return not method.adaptive or chosen.dt is not None


def _control(m: Mechanism, chosen: Options, start: Start) -> Torque:
    """Read `torque=` or `input=`; without actuators both are the joint efforts."""
    if chosen.torque is not None and has_actuators(m.model):
        raise InputError(
            f"{m.name}: has actuators, and they make the joint efforts; give input= in place of torque=: "
            f"{listed(m.u_names, 12)}; or load it with actuators=False",
            argument="torque",
        )
    if chosen.torque is not None and chosen.input is not None:
        raise InputError(f"{m.name}: torque= and input= are both given; give one of them", argument="input")
    if chosen.torque is not None:
        return torque_of(m, chosen.torque, *start[:3])
    if chosen.input is None and not has_actuators(m.model):
        return Torque()
    return control_of(m, Wanted("input", m.u_names), chosen.input, start)


def _start(
    d: Dynamics, torque: Torque, states: np.ndarray, x: np.ndarray, wrenches: dict[str, np.ndarray]
) -> np.ndarray:
    """State and inputs at the beginning (..., ny + nu)."""
    numbers = np.zeros((*states.shape[:-1], d.ny + d.nu))
    y, u = d.parted(numbers)
    y[..., d.layout.motion], y[..., d.layout.x] = states, x
    if torque.kind == "constant":
        u[..., d.input_layout.control] = torque.values
    if wrenches:
        constant = np.broadcast_arrays(*wrenches.values())
        u[..., d.input_layout.wrenches] = np.concatenate(constant, axis=-1)
    u[..., d.input_layout.memory] = torque.memory
    return numbers


def _schedule(run: Run, chosen: Options) -> dict[str, Any]:
    """The steps that were asked for."""
    name, method = run.name, run.integrator
    if _is_fixed(method, chosen):
        step = positive(name, "dt", DT if chosen.dt is None else chosen.dt)
        return {"plan": fixed_plan(name, run.duration, step, chosen.output, run.time)}
    rtol = method.rtol or RTOL if chosen.rtol is None else chosen.rtol
    return {
        "wanted": adaptive_times(name, run.duration, chosen.output, run.time),
        "rtol": check_tolerance(
            name, float(tolerance(name, "rtol", rtol, ())), min(FINEST, method.rtol or RTOL)
        ),
        "atol": _allowed(run, ATOL if chosen.atol is None else chosen.atol),
    }


def _allowed(run: Run, atol: Any) -> np.ndarray:
    """Tolerances (ny,); work, loss and what else is carried along follow the motion and do not decide the steps."""
    layout = run.d.layout
    allowed = np.full(layout.size, np.inf)
    motion = layout.motion
    allowed[motion] = check_allowed(run.name, tolerance(run.name, "atol", atol, (motion.stop,)))
    allowed[layout.x] = allowed[motion].min() * ports_of(run.d.model).x_scale
    changing = any(x.sticks and (x.timed or x.nu) for x in run.d.elements)
    if run.d.jumps or changing:  # a loss begins, ends or bends where the motion shows nothing
        allowed[layout.loss] = allowed[motion].max()
    return allowed


def _check_guards(run: Run) -> None:
    """Refuse what cannot be done with events or limits."""
    name = run.name
    if run.events and run.batch is not None:
        raise InputError(
            f"{name}: events take one motion at a time; of a batch, simulate the motions one after the other, or leave "
            "out events=; limits='stop' and 'bounce' take batches",
            argument="events",
        )
    features = {
        "events": run.events,
        "limits": run.ends and run.limits.way == "stop",
        "impact": run.ends and run.limits.way == "bounce",
        "level": run.d.sticking,
        "load": run.d.passive and run.d.model.surfaces,
    }
    _check_touching(run)
    check_combination(name, run.integrator.name, [x for x, there in features.items() if there])
    check_within(run, run.states)


def _check_touching(run: Run) -> None:
    """Reject what contact by events does not take."""
    if run.d.touching is None:
        return
    data = run.d.touching.data
    other = {
        "a batch": run.batch is not None,
        "friction from load": is_loaded(run.d.model, passive=run.d.passive),
        "dry friction whose level changes": any(x.sticks and (x.timed or x.nu) for x in run.d.elements),
        "constraints that move": run.d.constraints_work,
        "rolling or torsional friction": bool(data.rolling.any() or data.torsional.any()),
    }
    for what, there in other.items():
        if there:
            raise InputError(
                f"{run.name}: contact by events does not take {what}; give integrator='time-stepping' "
                "(--integrator time-stepping)",
                integrator=run.integrator.name,
            )


def check_within(run: Run, states: np.ndarray) -> None:
    """Reject states (rows, nq + nv) beyond limits that stop or bounce."""
    q = states[:, : run.mechanism.nq].T
    for limit in run.ends if run.d.touching is None else run.d.touching.limits:
        gaps = limit.gap(q)
        row = int(np.argmin(gaps))
        if gaps[row] < -limit.near:
            which = f" (motion {row} of the batch)" if run.batch is not None else ""
            raise InputError(
                f"{run.name}: {limit.name!r} starts {-gaps[row]:.3g} beyond its {limit.word} limit {limit.at:g}{which}"
                "; start within the limits, or give limits='spring' or 'ignore'",
                joint=limit.name,
            )


def _check_steps(run: Run, chosen: Options) -> None:
    name, method = run.name, run.integrator.name
    if run.integrator.external and chosen.dt is not None:
        raise InputError(
            f"{name}: {method} chooses its steps; give rtol= and atol=, not dt=", integrator=method
        )
    fixed = _is_fixed(run.integrator, chosen)
    if run.batch is not None and not fixed:
        raise InputError(
            f"{name}: a batch takes fixed steps; give dt=, for instance integrator='rk4', dt=0.001",
            integrator=method,
        )
    if run.batch is not None and run.torque.kind == "called":
        called = next((wrench.word for wrench in run.torque.wrenches), run.torque.word)
        raise InputError(
            f"{name}: {called} is a function that cannot be recorded, and a batch does not call Python; write "
            "it in NumPy terms (docs/compiler.md) or give its values as (times, values)"
        )
    if fixed and (chosen.rtol is not None or chosen.atol is not None):
        raise InputError(f"{name}: {method} by fixed steps takes dt=, no rtol= and atol=", integrator=method)
    if fixed and chosen.max_step is not None:
        raise InputError(f"{name}: {method} by fixed steps takes dt=, no max_step=", integrator=method)


def _inputs(torque: Torque, wrenches: dict[str, np.ndarray], values: np.ndarray) -> Inputs:
    """Parameters, and the table: of a regulator, or of efforts with the wrenches, which do not change, next to them."""
    if torque.kind == "regulated":
        return Inputs(values, torque.times, torque.values)
    if torque.kind != "table":
        return Inputs(parameters=values)
    lead = max((torque.values.shape[:-2], *(w.shape[:-1] for w in wrenches.values())), key=len)
    columns = [torque.values, *(w[..., None, :] for w in wrenches.values())]
    shape = (*lead, len(torque.times))
    rows = np.concatenate([np.broadcast_to(c, (*shape, c.shape[-1])) for c in columns], axis=-1)
    return Inputs(values, torque.times, rows)


def _with_caller(run: Run, wrenches: dict[str, np.ndarray]) -> Run:
    """The user's function as one that a compiled loop can call."""
    layout = run.d.layout
    caller = Caller(run.d.controls if run.d.torque_in_u else (), layout, run.torque, wrenches)
    inputs = replace(run.inputs, called=callback(caller, layout.solved.stop, run.d.nu, caller.keep))
    return replace(run, caller=caller, inputs=inputs)
