"""Equations of a Mechanism or System: accelerations and multipliers are algebraic variables.

    q̇ = E(q)(v + Aᵀμ),   v̇ = a                                                                        (OP9)
    0 = ID(q, v, a) − τ(u) − Aᵀλ,   0 = A v + a₀,   0 = φ(q)                                            (OP10)

A, φ: independent rows of the constraints and their positions. So no mass matrix is inverted, positions and rates
satisfy the constraints at every point, and μ is zero but for the error of the scheme (the form of Gear, Gupta and
Leimkuhler). Unit quaternions have a term that restores their length.

Inputs: efforts of the actuated rates; of direct-current motors their currents, with the elasticity of gears left out;
with `internal` the inputs of all actuators, whose internal states are then states of the motion. Dry friction has the
sign of its rate, smoothed to tanh(v / 0.01).

The file is long because it is one class: mechanisms, systems, motors and loops have the same variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import array
from kinpair.algebra.user_arrays import plain
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.constraints import quantities as constrained
from kinpair.constraints.quantities.derivatives import Moving
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Configuration
from kinpair.constraints.rows.joined import Joined
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.quantities.dynamics import inverse_dynamics
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.forces.actuators.actuator import Actuator, actuator_elements
from kinpair.forces.actuators.dc_motor import DCMotor
from kinpair.forces.actuators.gear import RigidGear
from kinpair.forces.actuators.machine import LimitedEffort
from kinpair.forces.states import beside_forward_dynamics, ports_of, state_rates
from kinpair.formulations import composite, kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.slip import Slip
from kinpair.model.state import State
from kinpair.optimisation.equations import Equations, Limited, Point, effort, inner
from kinpair.system import System

SMOOTH = 0.01  # [rad/s], [m/s]: dry friction takes its level within a few of these
RESTORED = 10.0  # rate at which unit quaternions are restored, per duration
CLOSED = 1e-6  # [m], [rad]: a wider gap at an end is rejected


@final
@dataclass(frozen=True, eq=False)
class Motor:
    """A direct-current motor behind a gear that counts as rigid; `rotor` [kg m²] is not in the mass matrix."""

    name: str
    q: int
    v: int
    machine: DCMotor
    gear: RigidGear
    rotor: float

    @staticmethod
    def of(x: Actuator) -> Motor:
        """The motor of an actuator."""
        machine, gear = x.machine, x.gear
        assert isinstance(machine, DCMotor)
        free = replace(machine, inductance=1.0, voltage=None, current=None)  # the current is given
        if isinstance(gear, RigidGear):
            return Motor(x.name, x.q, x.v, free, gear, 0.0)
        return Motor(
            x.name, x.q, x.v, free, RigidGear(gear.ratio, gear.mesh), float(gear.inertia * gear.ratio**2)
        )

    def work(self, i: Any, qd: Any) -> tuple[Any, Any, Any]:
        """Effort on the joint, voltage, and power taken from the source, at a current and a rate."""
        warm = [port.start for port in self.machine.states if port.unit == "°C"]
        shaft = self.gear.shaft(np.zeros(0), 0.0, qd[self.v])
        work = self.machine.work(array([i, *warm]), 0.0, shaft)
        joint = self.gear.transmitted(np.zeros(0), work, qd[self.v], shaft.speed)
        voltage = -work.rates[0]
        return joint.effort, voltage, voltage * i


class Machine:
    """Equations of one mechanism for optimisation."""

    def __init__(
        self, m: Mechanism | System, actuators: Any, passive: bool, internal: bool | None, q: Any
    ) -> None:
        self.m, self.model, self.passive = m, m.model, passive
        elements = [x for x in actuator_elements(self.model) if isinstance(x, Actuator)]
        simple = all(isinstance(x.machine, DCMotor | LimitedEffort) for x in elements)
        self.internal = bool(elements) and not simple if internal is None else internal
        motors = [] if self.internal else [x for x in elements if isinstance(x.machine, DCMotor)]
        self.motors = [Motor.of(x) for x in motors]
        self.limits_of_motors = [(x.machine.current, x.machine.voltage) for x in motors]  # type: ignore[union-attr]
        self.direct = [] if self.internal else self._direct(actuators, q)
        self.kept = self._kept(q)
        every = all_rows.holonomic_rows(constraints_of(self.model))
        self.position_rows = [k for k in self.kept if k in every]
        self._places = [every.index(k) for k in self.position_rows]
        if self.kept and any(x.rotor for x in self.motors):
            raise InputError(
                f"optimise: {m.name} has constraints and motors behind elastic gears; use internal=True",
                mechanism=m.name,
            )

    def _direct(self, actuators: Any, q: Any) -> list[int]:
        """Rates whose efforts are inputs."""
        names = list(self.model.v_names)
        driven = {x.v for x in self.motors}
        if actuators is not None:
            chosen = [actuators] if isinstance(actuators, str) else list(actuators)
            for name in chosen:
                if name not in names:
                    raise InputError(
                        f"optimise: actuator {name!r} is no rate of {self.model.name}; {nearest(name, names)}"
                        f"Rates: {listed(names)}",
                        actuator=name,
                    )
            return [names.index(name) for name in chosen if names.index(name) not in driven]
        if isinstance(self.m, System):
            return list(range(self.model.nv))
        known = None if q is None or not np.isfinite(q).all() else q
        rates = self.m.actuated(known, call="kp.optimise(m, ..., actuators={})")
        free = {k for i in self.model.moving if self.model.body[i].pair.nv == 6 for k in self._span(i)}
        return [names.index(x) for x in rates if names.index(x) not in driven | free]

    def _span(self, i: int) -> range:
        span = self.model.v_span[i]
        return range(span.start, span.stop)

    def _kept(self, q: Any) -> tuple[int, ...]:
        closure = self.m.closure
        if closure is None or not constraints_of(self.model):
            return ()
        sample = (
            q
            if q is not None and np.isfinite(q).all()
            else self.m.start()
            if isinstance(self.m, Mechanism)
            else None
        )
        if sample is None:
            sample = np.zeros(self.model.nq)
        return closure.requests.choose(
            "accelerations", np.asarray(sample, dtype=float), 0.0, "multipliers", {}
        ).kept

    @cached_property
    def request(self) -> Request:
        """Request by which the dynamics are evaluated."""
        request = request_of("forward_dynamics", passive=self.passive)
        return replace(request, quantity="accelerations", solver="multipliers", kept=self.kept)

    # at a point

    def sliding(self, qd: Any) -> Model:
        """The model with smooth friction."""
        if not (self.model.frictions or self.model.surfaces):
            return self.model
        return replace(self.model, slip=Slip(array([np.tanh(x / SMOOTH) for x in qd])))

    def efforts(self, q: Any, qd: Any, x: Any, u: Any, time: Any) -> Any:
        """Efforts (nv,) of the inputs."""
        if self.internal:
            return beside_forward_dynamics(self.model, State(q, qd, x, u, time), passive=self.passive)
        tau: list[Any] = [0.0] * self.model.nv
        for motor, i in zip(self.motors, u, strict=False):
            tau[motor.v] = tau[motor.v] + motor.work(i, qd)[0]
        for k, each in zip(self.direct, u[len(self.motors) :], strict=True):
            tau[k] = tau[k] + each
        return array(tau)

    def explicit(self, point: Point) -> Any:
        """ẋ by the mass matrix, without algebraic variables."""
        q, qd, u, x = (plain(getattr(point, name)) for name in ("q", "qd", "u", "x"))
        own, request = self.sliding(qd), request_of("inverse_dynamics", passive=self.passive)
        bias = inverse_dynamics(own, request, q, qd, np.zeros(self.model.nv), {})
        H = composite.mass_matrix(self.model, q) + np.diag(self.rotors)
        qdd = ldl.solve(H, self.efforts(q, qd, x, u, point.time) - bias)[0]
        state = State(q, qd, x, u, point.time)
        xd = state_rates(self.model, state, passive=self.passive) if self.internal else []
        return [*kinematics.dq_dt(self.model, q, qd), *qdd, *xd]

    @property
    def rotors(self) -> np.ndarray:
        """Inertia of rotors that the mass matrix leaves out (nv,)."""
        D = np.zeros(self.model.nv)
        for x in self.motors:
            D[x.v] += x.rotor
        return D

    def rates(self, point: Point) -> Any:
        """Rates ẋ of the states.    (OP9)"""
        q, qd, qdd, mu = (plain(getattr(point, name)) for name in ("q", "qd", "qdd", "mu"))
        v = qd
        if len(mu):
            A = all_rows.matrix(self.model, constraints_of(self.model), q, point.time)
            v = qd + A[self.position_rows].T @ mu
        dq = kinematics.dq_dt(self.model, q, v)
        for span in self._quaternions:
            own = q[span]
            dq = [*dq]
            excess = (1.0 - own @ own) * RESTORED / point.duration
            dq[span] = [a + excess * b for a, b in zip(dq[span], own, strict=True)]
        xd = (
            state_rates(self.model, State(q, qd, point.x, point.u, point.time), passive=self.passive)
            if self.internal
            else []
        )
        third = [list(plain(point.jerk))] if "jerk" in point.equations.parts else []
        return [*dq, *qdd, *xd, *(x for part in third for x in part)]

    @cached_property
    def _quaternions(self) -> list[slice]:
        spans = [
            self.model.q_span[i]
            for i in self.model.moving
            if self.model.body[i].pair.nq > self.model.body[i].pair.nv
        ]
        return [slice(x.stop - 4, x.stop) for x in spans]

    def residual(self, point: Point) -> Any:
        """Rows that vanish.    (OP10)"""
        q, qd, qdd, lam, u, x = (plain(getattr(point, name)) for name in ("q", "qd", "qdd", "lam", "u", "x"))
        time = point.time
        tau = self.efforts(q, qd, x, u, time)
        moving = Moving(q, qd, tau, array([time]), qdd, lam)
        model, n = self.sliding(qd), self.model.nv
        missing = constrained.balance(model, self.request, moving, {})
        parts = [list(missing[:n] + self.rotors * qdd)]
        if self.kept:
            constraints = constraints_of(self.model)
            psi = all_rows.psi(self.model, constraints, q, qd, time)
            parts.append([psi[k] for k in self.kept])
            phi = all_rows.residual(self.model, constraints, q, time)
            parts.append([phi[k] for k in self._places])
        return [x for part in parts for x in part]

    def following(self, states: np.ndarray, which: str) -> tuple[int, ...]:
        """States of an end that follow from the others under the constraints: coordinates and rates by pivoting.

        InputError where the coordinates do not satisfy the constraints.
        """
        nq, nv = self.model.nq, self.model.nv
        q = states[:nq]
        if not self.kept or not np.isfinite(q).all():
            return ()
        constraints = constraints_of(self.model)
        gap = np.abs(all_rows.residual(self.model, constraints, q, 0.0)).max(initial=0.0)
        if gap > CLOSED:
            raise InputError(
                f"optimise: {which} breaks the constraints of {self.model.name} by {gap:.2g}; give m.assemble(q)",
                gap=gap,
            )
        A = np.asarray(all_rows.matrix(self.model, constraints, q, 0.0), dtype=float)
        E = np.array([kinematics.dq_dt(self.model, q, unit) for unit in np.eye(nv)], dtype=float).T
        of_q, of_qd = A[self.position_rows] @ np.linalg.pinv(E), A[list(self.kept)]
        return (*_pivots(of_q), *(nq + k for k in _pivots(of_qd)))

    def wrench(self, point: Point, loop: str) -> tuple[Any, Any]:
        """[moment; force] (6,) of a loop on its child, Wᵀλ in world axes, and the point (3,) at which it is given."""
        constraints, start = constraints_of(self.model), 0
        at = Configuration(self.model, plain(point.q), point.time)
        for x in constraints:
            if x.name == loop and isinstance(x, Joined):
                S, M = (at.pose(place) for place in x.places(self.model))
                W, lam = x.wrenches(S, M, point.time).M, plain(point.lam)
                rows = {k: n for n, k in enumerate(self.kept)}
                own = [(W[k], lam[rows[start + k]]) for k in range(len(x.labels)) if start + k in rows]
                return sum((w * force for w, force in own), np.zeros(6)), M.a
            start += len(x.labels)
        names = [x.name for x in constraints if isinstance(x, Joined)]
        raise InputError(
            f"{self.model.name} has no loop {loop!r}; {nearest(loop, names)}Loops: {listed(names)}"
        )

    # simulation, by another formulation

    @cached_property
    def _forward(self) -> Kernel:
        """Accelerations by the composite mass matrix, or by the solve under constraints; and rates of x."""
        model, ports = self.model, ports_of(self.model)

        def recorded(q: Any, qd: Any, x: Any, u: Any, time: Any) -> Any:
            own, u = self.sliding(qd), u[: self.nu]
            tau = self.efforts(q, qd, x, u, time)
            xd = (
                state_rates(model, State(q, qd, x, u, time), passive=self.passive)
                if self.internal
                else np.zeros(1)
            )
            dq = kinematics.dq_dt(model, q, qd)
            if self.kept or model.terms is not None:
                qdd = constrained.solve(own, self.request, State(q, qd, tau=tau, time=time), {}).qdd
                return qdd, xd, dq
            request = request_of("inverse_dynamics", passive=self.passive)
            bias = inverse_dynamics(own, request, q, qd, np.zeros(model.nv), {})
            return composite.mass_matrix(model, q) + np.diag(self.rotors), tau - bias, xd, dq

        shapes = {
            "q": (model.nq,),
            "qd": (model.nv,),
            "x": (len(ports.x_names) if self.internal else 1,),
            "u": (max(self.nu, 1),),
            "time": (),
        }
        return Kernel(trace(recorded, shapes, name="rates"))

    @property
    def nu(self) -> int:
        """Number of inputs."""
        return len(ports_of(self.model).u_names) if self.internal else len(self.motors) + len(self.direct)

    def simulated(self, y: np.ndarray, u: np.ndarray, time: np.ndarray, p: Mapping[str, Any]) -> np.ndarray:
        """ẋ of a batch (k, nx)."""
        nq, nv = self.model.nq, self.model.nv
        rest = y[:, nq + nv :] if self.internal else np.zeros((len(y), 1))
        u = u[:, : self.nu] if self.nu else np.zeros((len(y), 1))
        parts = [np.ascontiguousarray(x) for x in (y[:, :nq], y[:, nq : nq + nv], rest, u, time)]
        *found, xd, dq = self._forward(*parts)
        qdd = np.linalg.solve(found[0], found[1][..., None])[..., 0] if len(found) == 2 else found[0]
        return np.concatenate([dq, qdd, xd] if self.internal else [dq, qdd], axis=1)

    # costs

    def energy(self, point: Point) -> Any:
        """Power that motors take from their sources, and positive power of efforts [W]."""
        qd, u = plain(point.qd), plain(point.u)
        total = sum((motor.work(i, qd)[2] for motor, i in zip(self.motors, u, strict=False)), 0.0)
        return total + sum(plain(point.power), 0.0) if self.direct else total

    def unused(self, point: Point) -> Any:
        """Positive power less that of each effort, which is not negative [W]."""
        qd, u, power = (plain(getattr(point, name)) for name in ("qd", "u", "power"))
        return array(
            [p - each * qd[k] for k, each, p in zip(self.direct, u[len(self.motors) :], power, strict=True)]
        )

    def voltages(self, point: Point) -> Any:
        """Voltages of the motors that have a limit [V]."""
        qd, u = plain(point.qd), plain(point.u)
        return array(
            [
                x.work(i, qd)[1]
                for x, i, (_, v) in zip(self.motors, u, self.limits_of_motors, strict=False)
                if v
            ]
        )


def equations_of(
    subject: Any,
    *,
    cost: Any = None,
    actuators: Any = None,
    passive: bool = True,
    guess: Any = None,
    internal: bool | None = None,
) -> Equations:
    """Equations of a Mechanism, a System, or those of `kp.dynamics` as they are."""
    if isinstance(subject, Equations):
        if actuators is not None:
            raise InputError(f"optimise: {subject.name} is given by a function; actuators= is for mechanisms")
        return subject
    if not isinstance(subject, Mechanism | System):
        raise InputError(
            f"optimise: {type(subject).__name__} cannot be optimised; give a Mechanism, a System, kp.dynamics(...), "
            "or a list of kp.phase(...)"
        )
    own = Machine(subject, actuators, passive, internal, _coordinates(subject, guess))
    costs = {*cost} if isinstance(cost, Mapping) else {cost}
    return _assembled(own, "jerk" in costs, "energy" in costs and bool(own.direct))


def _coordinates(m: Mechanism | System, guess: Any) -> np.ndarray | None:
    """Coordinates among the start, if all of them are given."""
    value = guess.get("q") if isinstance(guess, Mapping) else guess
    if value is None or isinstance(value, Mapping):
        return None
    x = np.asarray(value, dtype=float)
    return x[: m.model.nq] if x.ndim == 1 and len(x) >= m.model.nq else None


def _assembled(own: Machine, jerky: bool, powered: bool) -> Equations:
    model, ports = own.model, ports_of(own.model)
    nq, nv = model.nq, model.nv
    x_names = tuple(ports.x_names) if own.internal else ()
    direct = tuple(f"{model.v_names[k]}.u" for k in own.direct)
    inputs = (
        tuple(f"{x}.u" for x in ports.u_names)
        if own.internal
        else (*(f"{x.name}.u" for x in own.motors), *direct)
    )
    qdd = tuple(f"{x}.qdd" for x in model.v_names)
    lam = tuple(f"{x}.lam" for x in _numbered(all_rows.row_names(constraints_of(model)), own.kept))
    mu = tuple(f"{x}.mu" for x in _numbered(all_rows.row_names(constraints_of(model)), own.position_rows))
    states = (*model.q_names, *(f"{x}.qd" for x in model.v_names), *x_names, *(qdd if jerky else ()))
    algebraic = (*(() if jerky else qdd), *lam, *mu)
    nx, first, nz = nq + nv + len(x_names), 0 if jerky else nv, len(lam)
    parts: dict[str, tuple[str, slice]] = {
        "q": ("states", slice(0, nq)),
        "qd": ("states", slice(nq, nq + nv)),
        "x": ("states", slice(nq + nv, nx)),
        "qdd": ("states", slice(nx, nx + nv)) if jerky else ("algebraic", slice(0, nv)),
        "lam": ("algebraic", slice(first, first + nz)),
        "mu": ("algebraic", slice(first + nz, first + nz + len(mu))),
        "u": ("inputs", slice(0, len(inputs))),
    }
    costs: dict[str, Callable[[Point], Any]] = {
        "effort": effort,
        "energy": inner(own.energy),
        "acceleration": inner(lambda point: sum(x * x for x in plain(point.qdd))),
    }
    if jerky:
        parts["jerk"] = ("inputs", slice(len(inputs), len(inputs) + nv))
        inputs += tuple(f"{x}.jerk" for x in model.v_names)
        costs["jerk"] = inner(lambda point: sum(x * x for x in plain(point.jerk)))
    if powered:
        parts["power"] = ("inputs", slice(len(inputs), len(inputs) + len(direct)))
        inputs += tuple(x.removesuffix(".u") + ".power" for x in direct)
    return Equations(
        model.name,
        states,
        algebraic,
        inputs,
        parts,
        own.rates,
        own.residual,
        _jerk_simulated(own, nv) if jerky else own.simulated,
        limits=_limits(own, jerky)
        | ({"power": (np.zeros(len(direct)), np.full(len(direct), np.inf))} if powered else {}),
        costs=costs,
        origin=_origin(own, len(states)),
        implicit=bool(own.kept),
        subject=own.m,
        path=_limited(own, powered),
        following=own.following,
        wrench=own.wrench,
        explicit=None if own.kept or jerky or model.terms is not None else own.explicit,
    )


def _pivots(A: np.ndarray) -> list[int]:
    """Columns that the rows determine best, as many as there are rows."""
    if not len(A):
        return []
    from scipy.linalg import qr

    return sorted(qr(A, pivoting=True, mode="r")[-1][: len(A)].tolist())


def _numbered(names: Sequence[str], rows: Sequence[int]) -> list[str]:
    return [names[k] for k in rows]


def _jerk_simulated(own: Machine, nv: int) -> Callable[..., np.ndarray]:
    """Rates with the accelerations as states: those of the dynamics, and the jerk."""
    nu = own.nu

    def simulated(y: np.ndarray, u: np.ndarray, time: np.ndarray, p: Mapping[str, Any]) -> np.ndarray:
        rates = own.simulated(y[:, :-nv], u[:, :nu], time, p)
        return np.concatenate([rates, u[:, nu : nu + nv]], axis=1)

    return simulated


def _limits(own: Machine, jerky: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Limits of the file by part."""
    if isinstance(own.m, System):
        return {}
    joints, most = own.model.joints, np.inf
    limits = {
        "q": (joints.lower, joints.upper),
        "qd": (-joints.velocity, joints.velocity),
        "qdd": (-joints.acceleration, joints.acceleration),
    }
    if jerky:
        limits["jerk"] = (-joints.jerk, joints.jerk)
    if own.internal:
        return limits
    currents = [most if i is None else float(i) for i, _ in own.limits_of_motors]
    high = np.array([*currents, *(joints.effort[k] for k in own.direct)])
    return limits | {"u": (-high, high)}


def _limited(own: Machine, powered: bool) -> tuple[Limited, ...]:
    """Limits of functions: voltages of motors, and the positive power of efforts, which is no less than their power."""
    high = np.array([float(v) for _, v in own.limits_of_motors if v])
    voltage = (Limited("voltage", inner(own.voltages), -high, high),) if len(high) else ()
    zero = np.zeros(len(own.direct))
    return (*voltage, Limited("power", inner(own.unused), zero, zero + np.inf)) if powered else voltage


def _origin(own: Machine, size: int) -> np.ndarray:
    """States from which a cold start takes what is free: the start of the mechanism, at rest."""
    states = np.zeros(size)
    nq, nv = own.model.nq, own.model.nv
    states[:nq] = own.m.start() if isinstance(own.m, Mechanism) else own.model.neutral()
    if own.internal:
        x = ports_of(own.model).x_start
        states[nq + nv : nq + nv + len(x)] = x
    return states
