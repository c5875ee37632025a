"""Derivatives at a state: of the accelerations, with the places where they do not exist, and of named outputs.

Elements with internal states and inputs act by their efforts, q̈ = f(q, q̇, τ(q, q̇, x, u)), so

    ∂q̈/∂q = f_q + f_τ τ_q,   ∂q̈/∂q̇ = f_q̇ + f_τ τ_q̇,   ∂q̈/∂x = f_τ τ_x,   ∂q̈/∂u = f_τ τ_u                     (LI18)

Outputs of a linear model have names:

| name | what |
|---|---|
| `q.NAME`, `qd.NAME`, `qdd.NAME` | displacement, rate or acceleration, dependent ones too |
| `tau.NAME` | an effort |
| `FRAME.x`, `.y`, `.z`, `.rx`, `.ry`, `.rz` | place and turn of a link or frame, in world axes |
| `FRAME.vx`, `.vy`, `.vz`, `.wx`, `.wy`, `.wz` | its velocity |
| `FRAME` | the six of its place and turn |
| `energy`, `centre_of_mass`, `momentum` | quantities of the mechanism |
| a function (time, q, qd) → numbers | in NumPy terms, see docs/compiler.md |

y = g(q, q̇, q̈, τ) changes by

    δy = g_q δq + g_q̇ δq̇ + g_q̈ δq̈ + g_τ δτ                                                       (LI14)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra.arrays import columns
from kinpair.algebra.user_functions import call
from kinpair.analysis.linear.point import Point, has_ports
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.errors import InputError, SingularError, TraceError, listed, nearest
from kinpair.evaluation.quantities.dynamics import actuation
from kinpair.evaluation.quantities.request import request_of
from kinpair.evaluation.quantities.table import QUANTITIES
from kinpair.forces.elements import acting, elements_of
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.system import System

ROUNDING = 1e4 * np.finfo(float).eps  # of the terms that an entry is the sum of
AT = 1e-12  # a switching function below this is at its switch
EDGE = 1e-9  # of the level: friction so near to it is at it
PLACE = ("rx", "ry", "rz", "x", "y", "z")
SPEED = ("wx", "wy", "wz", "vx", "vy", "vz")
QUANTITY = {  # the quantities that are numbers of the state, and what each number is called
    "energy": ("kinetic", "potential"),
    "centre_of_mass": ("x", "y", "z"),
    "momentum": ("Lx", "Ly", "Lz", "Px", "Py", "Pz"),
}
GROUPS = ("q", "qd", "qdd", "tau")
Function: TypeAlias = Callable[..., Any]
Gradients: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Partials:
    """q̈ (..., nv), ∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ (..., nv, nv), and below which size (..., nv) entries of the first two are
    rounding: a part of the accelerations that the forces, one by one, would give."""

    qdd: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    rounding: np.ndarray
    ports: Ports | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """Derivatives of the efforts τ(q, q̇, x, u) of elements with internal states and inputs, and of ẋ, by q, q̇, x and
    u (..., nv or nx, n); and ẋ (..., nx)."""

    effort: tuple[np.ndarray, ...]
    rate: tuple[np.ndarray, ...]
    x_rate: np.ndarray


def partials(m: Mechanism | System, at: Point, passive: bool) -> Partials:
    """Compute partial derivatives with constraints active, if there are any."""
    state = (at.q, at.qd, at.tau)
    if m.closure is None and isinstance(m, Mechanism):
        qdd = m.forward_dynamics(*state, passive=passive)
        by = m.forward_dynamics_derivatives(*state, passive=passive)
        M, response = m.mass_matrix(at.q), np.abs(by.tau)
        force = np.abs(at.tau)
    else:
        assert m.closure is not None
        options = {"passive": passive} if isinstance(m, Mechanism) else {}
        qdd = m.closure.dynamics.forward(state, at.time, DEFAULT_SOLVER, options, {}, None, 1)
        by = m.closure.derivatives.derivatives(state, at.time, options, {}, 1)
        M, F, *_ = m.closure.terms(state, at.time, options, {})
        response, force = _response(M, by[2]), 2.0 * np.abs(F)  # constraints push back as much
    whole = np.abs(M @ by[0]).max(-1, initial=0.0) + np.abs(M @ by[1]).max(-1, initial=0.0) + force
    whole = whole + (np.abs(M) @ np.abs(qdd)[..., None])[..., 0]
    size = (response @ whole[..., None])[..., 0] + (at.qd * at.qd).max(-1, initial=0.0)[..., None]
    ports = _ports(m, at, passive) if isinstance(m, Mechanism) and has_ports(m) else None
    f_q, f_qd, f_tau = by
    if ports is None:
        return Partials(qdd, f_q, f_qd, f_tau, ROUNDING * size)
    of_q, of_qd = (f_tau @ part for part in ports.effort[:2])  # (LI18)
    return Partials(qdd, f_q + of_q, f_qd + of_qd, f_tau, ROUNDING * size, ports)


def _ports(m: Mechanism, at: Point, passive: bool) -> Ports:
    """Recorded once for a mechanism."""
    kernel = m.model.once(f"derivatives of actuation {passive}", lambda: _actuation(m, passive))
    time = np.broadcast_to(np.asarray(at.time, dtype=float), at.batch)[..., None]
    found = kernel(at.q, at.qd, at.x, at.u, np.ascontiguousarray(time))
    return Ports(tuple(found[:4]), tuple(found[4:8]), found[8])


def _actuation(m: Mechanism, passive: bool) -> Kernel:
    model, request = m.model, request_of("actuation", passive=passive)

    def derivatives(q: Any, qd: Any, x: Any, u: Any, time: Any) -> Any:
        effort, rate = actuation(model, request, q, qd, x, u, time)
        parts: list[Any] = []
        for value in (effort, rate):
            by_q, *others = (jacobian(value, v) for v in (q, qd, x, u))
            parts += [along_rates(model, q, by_q), *others]
        return (*parts, rate)

    sizes = {"q": (m.nq,), "qd": (m.nv,), "x": (m.nx,), "u": (m.nu,), "time": (1,)}
    return Kernel(trace(derivatives, sizes, name="derivatives of actuation"))


def along_rates(model: Model, q: Any, J: Any) -> Any:
    """∂/∂q along the rates."""
    if model.nq == model.nv:
        return J
    return J @ np.array([list(kinematics.dq_dt(model, q, unit)) for unit in np.eye(model.nv)]).T


def _response(M: np.ndarray, constrained: np.ndarray) -> np.ndarray:
    """|M⁻¹|; where there is none, what the constraints leave of it."""
    try:
        return np.abs(np.linalg.inv(M))
    except np.linalg.LinAlgError:
        return np.abs(constrained)


def cleaned(A: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """A with zeros where its entries are rounding (..., rows, columns)."""
    return np.where(np.abs(A) <= rounding, 0.0, A)


class AtRest(NamedTuple):
    """Names of the rates with dry friction that stick, and whether one of the rates at rest is at its level, so that
    the derivative holds on one side only."""

    sticking: tuple[str, ...] = ()
    at_boundary: bool = False


def phases_at(m: Mechanism | System, at: Point) -> AtRest:
    """Return the phases of dry friction at a state, or of all states of a motion; refuse other switches by name."""
    if not any(x.jumps for x in elements_of(m.model, driven=bool(at.u.size))):
        return AtRest()
    q, qd, x, u = (columns(np.atleast_2d(a)) if a.size else a for a in (at.q, at.qd, at.x, at.u))
    count = int(np.prod(at.batch, dtype=int))
    every = [(own.element, own_state) for own, own_state in acting(m.model, State(q, qd, x, u, at.time))]
    at_switch = {x.name: _switched(x.switches(state).values(), count) for x, state in every if x.jumps}
    kinks = {x.name: at_switch[x.name] for x, _ in every if x.jumps and not x.sticks}
    states = np.flatnonzero(np.any(list(kinks.values()), axis=0)) if kinks else np.zeros(0, dtype=int)
    if len(states):
        which = f" (state {states[0]})" if at.batch else ""
        names = [name for name, found in kinks.items() if found[states[0]]]
        raise SingularError(
            f"{m.name}: the force of {listed(map(repr, names))} has a kink at this state{which}, and no derivative; "
            "move it a little",
            elements=names,
        )
    resting = np.flatnonzero(np.any(list(at_switch.values()), axis=0))
    return _at_rest(m, at, resting.tolist()) if isinstance(m, Mechanism) else AtRest()


def _at_rest(m: Mechanism, at: Point, states: Sequence[int]) -> AtRest:
    """Return the phases at rest of some states."""
    sticking, boundary = dict[str, None](), False
    for k in states:
        q, qd, tau = (np.atleast_2d(x)[k if np.ndim(x) > 1 else 0] for x in (at.q, at.qd, at.tau))
        time = float(np.broadcast_to(at.time, max(len(states), 1) if not at.batch else at.batch)[k])
        for name, own in m.friction(q, qd, tau, time=time).items():
            if abs(qd[m.v_names.index(name)]) <= AT:
                sticking.update({name: None} if own.sticks and own.level > 0.0 else {})
                boundary |= not own.sticks or abs(own.effort) >= (1.0 - EDGE) * own.level
    return AtRest(tuple(sticking), bool(boundary))


def check_slides(m: Mechanism, model: Any) -> None:
    """Refuse a linear model with joints that stick: gains cannot move them."""
    if model.sticking:
        has, sticks = ("has", "sticks") if len(model.sticking) == 1 else ("have", "stick")
        raise SingularError(
            f"{m.name}: {listed(map(repr, model.sticking))} {has} dry friction and {sticks}, so no input moves it a "
            "little: give a rate, or leave friction out of the gains with passive='efforts', or with passive=False",
            rates=model.sticking,
        )


def _switched(values: Iterable[Any], count: int) -> np.ndarray:
    """Find the states in which one of the switching functions is at its switch (states,)."""
    found = np.zeros(count, dtype=bool)
    for value in values:
        found |= np.abs(np.broadcast_to(np.asarray(value, dtype=float), count)) <= AT
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """Numbers with their names; `gradients`: g_q, g_q̇, g_q̈, g_τ (..., numbers, nv) at a point."""

    names: tuple[str, ...]
    gradients: Callable[[Point], Gradients]


def outputs_of(m: Mechanism | System, given: Any) -> list[Output]:
    """Read the argument `outputs=`: a name, a function, several of them, or functions by name."""
    if isinstance(given, Mapping):
        return [_of_function(m, str(name), f) for name, f in given.items()]
    several: Sequence[Any] = (given,) if isinstance(given, str) or callable(given) else given
    return [_output(m, x) for x in several]


def _output(m: Mechanism | System, given: Any) -> Output:
    if callable(given):
        return _of_function(m, getattr(given, "__name__", "output"), given)
    name = str(given)
    group, _, entry = name.partition(".")
    if group in GROUPS and entry in m.v_names:
        return Output((name,), partial(_entry, m.nv, GROUPS.index(group), m.v_names.index(entry)))
    if isinstance(m, Mechanism):
        if name in QUANTITY:
            return _of_quantity(m, name)
        frame, _, what = name.rpartition(".")
        if name in m.frames:
            return Output(tuple(f"{name}.{x}" for x in PLACE), partial(_place, m, name, list(range(6))))
        if frame in m.frames and what in PLACE:
            return Output((name,), partial(_place, m, frame, [PLACE.index(what)]))
        if frame in m.frames and what in SPEED:
            return _of_speed(m, name, frame, SPEED.index(what))
    entries = [f"{group}.{x}" for group in GROUPS for x in m.v_names]
    frames = m.frames if isinstance(m, Mechanism) else ()
    parts = [f"{frame}.{x}" for frame in frames for x in (*PLACE, *SPEED)]
    raise InputError(
        f"{m.name}: no output {name!r}; {nearest(name, (*entries, *frames, *parts, *QUANTITY))}Outputs: "
        f"{', '.join(f'{group}.NAME' for group in GROUPS)}, FRAME.x, FRAME.vx, {listed(QUANTITY)}, or a function; "
        f"names: {listed(m.v_names)}; frames: {listed(frames) or 'none'}",
        output=name,
    )


def _nothing(at: Point, rows: int) -> list[np.ndarray]:
    shape = (*at.batch, rows, at.qd.shape[-1])
    return [np.zeros(shape) for _ in GROUPS]


def _entry(nv: int, group: int, entry: int, at: Point) -> Gradients:
    found = _nothing(at, 1)
    found[group][..., 0, entry] = 1.0
    return tuple(found)  # type: ignore[return-value]


def _place(m: Mechanism, frame: str, rows: list[int], at: Point) -> Gradients:
    found = _nothing(at, len(rows))
    found[0] = m.jacobian(at.q, frame)[..., rows, :]
    return tuple(found)  # type: ignore[return-value]


def _of_speed(m: Mechanism, name: str, frame: str, row: int) -> Output:
    def twist(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        place = m.model.place(frame)
        return kinematics.twist(kinematics.states(m.model, q, qd)[place.body], place)[row : row + 1]

    return Output((name,), _gradients_of(m, name, twist))


def _of_quantity(m: Mechanism, name: str) -> Output:
    quantity, request = QUANTITIES[name], request_of(name)

    def value(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        state = {"q": q, "qd": qd, "qdd": qdd}
        return quantity.compute(m.model, request, *(state[x] for x in quantity.state))

    return Output(tuple(f"{name}.{x}" for x in QUANTITY[name]), _gradients_of(m, name, value))


def _of_function(m: Mechanism | System, name: str, function: Any) -> Output:
    def value(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        return np.ravel(np.asarray(call(function, time[0], q, qd)))

    try:
        gradients = _gradients_of(m, name, value)
    except (TraceError, TypeError, ValueError) as problem:
        raise InputError(
            f"{m.name}: output {name!r} is a function that cannot be recorded: {problem}; it must be (time, q, qd) → "
            "numbers in NumPy terms, see docs/compiler.md",
            output=name,
        ) from problem
    count = gradients.count
    names = (name,) if count == 1 else tuple(f"{name}.{k}" for k in range(count))
    return Output(names, gradients)


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Derivatives of a recorded function of q, q̇, q̈ and time."""

    kernel: Kernel
    nv: int

    @property
    def count(self) -> int:
        """Numbers of the function."""
        return next(iter(self.kernel.signature.outputs.values()))[0]

    def __call__(self, at: Point) -> Gradients:
        still = np.zeros_like(at.qd)
        time = np.broadcast_to(np.asarray(at.time, dtype=float), at.batch)[..., None]
        found = self.kernel(at.q, at.qd, still, np.ascontiguousarray(time))
        return (*found, np.zeros_like(found[0]))


def _gradients_of(m: Mechanism | System, name: str, function: Function) -> Recorded:
    model = m.model

    def gradients(q: Any, qd: Any, qdd: Any, time: Any) -> Any:
        value = np.asarray(function(q, qd, qdd, time))
        by = [jacobian(value, x) for x in (q, qd, qdd)]
        return along_rates(model, q, by[0]), by[1], by[2]

    sizes = {"q": (model.nq,), "qd": (model.nv,), "qdd": (model.nv,), "time": (1,)}
    return Recorded(Kernel(trace(gradients, sizes, name=f"derivatives of {name}")), model.nv)
