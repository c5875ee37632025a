"""Dynamics as functions of time, state y and inputs u that a time loop can be made of.

`layout.py` says what is where in y and in u.

The file is long because it is one class: all functions of a run share the state of `layout.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, where
from kinpair.constraints import quantities as constrained
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.forces.element import Element
from kinpair.forces.elements import acting, applied_wrenches, elements_of, losses, stored_energy
from kinpair.forces.states import (
    Group,
    account_names,
    account_of,
    driven_efforts,
    ports_of,
    state_rates,
    sticking_groups,
)
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.surfaces.table import at_moment, surfaces_of
from kinpair.model.model import Model
from kinpair.model.slip import Slip
from kinpair.model.state import NOTHING, State
from kinpair.model.symbols import with_symbols
from kinpair.simulation.contact.numbers import ACTIVE, KEPT, SUMS
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.held import FREE, AnyEnforcement
from kinpair.simulation.layout import InputLayout, StateLayout, WatchedLayout
from kinpair.simulation.rounding import LEAST

if TYPE_CHECKING:
    from kinpair.simulation.contact.stepped import Stepped

WRENCH = 6
Loads = dict[str, Vector]


def on_the_sphere(model: Model, time: Scalar, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
    """Quaternions of unit length."""
    return kinematics.normalised(model, q), qd


def with_quaternion(model: Model) -> list[int]:
    """Numbers of the bodies whose pair has one."""
    return model.once(
        "with_quaternion",
        lambda: [i for i in model.moving if model.body[i].pair.nq > model.body[i].pair.nv],
    )


def without_loads(model: Model) -> Model:
    """Return the model without friction from load."""
    return replace(model, surfaces=()) if model.surfaces else model


def _is_one(arm: Scalar) -> bool:
    return isinstance(arm, float) and arm == 1.0


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A model and all that acts on it.

    `torque` is (time, q, qd) or (time, q, qd, x) → efforts (nv,), or, where there are actuators, inputs (nu,);
    functions of `external` are (time, q, qd) → wrench (6,). Both are recorded with the rest; None takes them from u.
    `driven` is False where there are no actuators and no torque at all. `parameters` names constants that are
    arguments p. `enforcement` says how constraints are enforced. `memory` counts the
    entries that a method carries along, `remembered` those of a regulator among the inputs. `at_ends`: dry friction
    takes hold and lets go at the ends of steps, where no events are looked for. `actuated`: are the inputs those of
    actuators and single rates, not efforts? `saturation`: the largest size of each effort or input, which are clipped
    there; empty where they are not. `stops`: limits of joints whose phases, open or closed, are in the state.
    `contact`: what is solved for in time steps with contact, dry friction of joints included; None: no such steps.
    `touching`: geoms whose contact is found by events, with the limits of joints; None: there are none.
    """

    model: Model
    passive: bool = True
    driven: bool = True
    torque: Callable[..., Any] | None = None
    external: tuple[tuple[str, Callable[..., Any] | None], ...] = ()
    parameters: tuple[str, ...] = ()
    enforcement: AnyEnforcement = FREE
    memory: int = 0
    remembered: int = 0
    at_ends: bool = False
    actuated: bool = False
    saturation: tuple[float, ...] = ()
    stops: tuple[Limit, ...] = ()
    contact: Stepped | None = None
    touching: Stepped | None = None

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Key of what the equations depend on; functions of the user stand for their formulas."""
        external = tuple((name, getattr(f, "formula", f)) for name, f in self.external)
        own = (self.model, self.passive, self.driven, getattr(self.torque, "formula", self.torque), external)
        own += (self.parameters, self.enforcement, self.memory, self.remembered, self.at_ends)
        return (*own, self.actuated, self.saturation, self.stops, self.contact, self.touching)

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Machine code that was looked up before, see `loops.kernel_of`."""
        return {}

    @cached_property
    def request(self) -> Request:
        """Request of forward dynamics."""
        return request_of("forward_dynamics", passive=self.passive, external=self._external)

    @property
    def inverse(self) -> Request:
        """Request of inverse dynamics."""
        return request_of("inverse_dynamics", passive=self.passive, external=self._external)

    @property
    def _external(self) -> dict[str, Any]:
        return dict(self.external)

    # sizes

    @property
    def loaded(self) -> tuple[str, ...]:
        """Links and frames whose wrench is in u."""
        return tuple(name for name, f in self.external if f is None)

    @property
    def torque_in_u(self) -> bool:
        """True if the efforts are among the inputs."""
        return self.driven and self.torque is None

    @property
    def controls(self) -> tuple[str, ...]:
        """Names of the efforts, or of the inputs of actuators and other rates."""
        return ports_of(self.model).u_names if self.actuated else self.model.v_names

    @cached_property
    def input_layout(self) -> InputLayout:
        """Layout of the inputs u."""
        control = len(self.controls) if self.torque_in_u else 0
        return InputLayout.of(control=control, wrenches=WRENCH * len(self.loaded), memory=self.remembered)

    @cached_property
    def layout(self) -> StateLayout:
        """Layout of the state y."""
        m, account = self.model, sum(map(len, account_names(self.model, self.actuated, passive=self.passive)))
        own = {"q": m.nq, "qd": m.nv, "x": len(ports_of(m).x_names)}
        rough = {"way": len(self.groups), "share": len(self.sticking), "phase": len(self.groups)}
        rough |= {"closed": len(self.stops), "contact": self._contact_numbers}
        return StateLayout.of(
            **own, work=1, loss=1, account=account, **rough, trace=2 * self.traced, memory=self.memory
        )

    @property
    def _contact_numbers(self) -> int:
        """Entries of the state that contact has."""
        if self.touching is not None:
            return SUMS + ACTIVE * self.places
        return 0 if self.contact is None else self.contact.numbers

    @property
    def places(self) -> int:
        """Number of points, limits and rates with dry friction that may be closed in contact by events."""
        assert self.touching is not None
        return self.touching.data.max_contacts + len(self.touching.limits) + len(self.rough_rates)

    @cached_property
    def rough_rates(self) -> list[int]:
        """Rates with dry friction of constant level, where it is solved for together with contact."""
        groups = sticking_groups(without_loads(self.model), passive=self.passive)
        return [k for group in groups for k in group.rates]

    @property
    def with_contact(self) -> bool:
        """True if contact is solved for together with limits and dry friction of joints."""
        return self.contact is not None or self.touching is not None

    @cached_property
    def watched_layout(self) -> WatchedLayout:
        """Layout of what is watched at each sample."""
        residual = self.enforcement.residuals
        u = len(self.controls) if self.actuated else 0
        contact = 0 if self.touching is None else KEPT * self.touching.data.max_contacts
        return WatchedLayout.of(
            kinetic=1, potential=1, tau=self.model.nv, u=u, residual=residual, contact=contact
        )

    @cached_property
    def ny(self) -> int:
        """Entries of the state."""
        return self.layout.size

    @cached_property
    def nu(self) -> int:
        """Entries of the inputs."""
        return self.input_layout.size

    @cached_property
    def nw(self) -> int:
        """Entries of what is watched."""
        return self.watched_layout.size

    @property
    def constraints_work(self) -> bool:
        """True if constraints move, so that their forces do work."""
        return self.enforcement.moves

    @property
    def elements(self) -> tuple[Element, ...]:
        """Elements that act on the model."""
        return elements_of(self.model, passive=self.passive, driven=self.actuated)

    @cached_property
    def jumps(self) -> bool:
        """True if the forces of an element other than friction may jump, so that its loss begins or ends at once."""
        return any(x.jumps and not x.sticks for x in self.elements)

    def switches(self, state: State) -> dict[str, Scalar]:
        """Functions that change their sign where forces of elements other than friction have a kink or a jump."""
        if not self.jumps:
            return {}
        return {
            name: value
            for x, at in acting(self.model, state, passive=self.passive)
            if x.element.jumps and not x.element.sticks
            for name, value in x.element.switches(at).items()
        }

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Rates that dry friction may hold at rest; those of a group stick and slide as one."""
        return () if self.with_contact else sticking_groups(self.model, passive=self.passive)

    @cached_property
    def sticking(self) -> list[int]:
        """Numbers of all these rates, one group behind the other."""
        return [k for x in self.groups for k in x.rates]

    @cached_property
    def arms(self) -> list[Vector]:
        """Arms of each group, how fast it slides by its rates; one of a rate alone, which slides in its own unit."""
        by_first = {self.model.v_span[x.body].start: x for x in surfaces_of(self.model)}
        return [
            np.ones(1) if len(x.rates) == 1 else np.diag(by_first[x.rates[0]].sliding()) for x in self.groups
        ]

    def by_group(self, of_sticking: Any) -> list[Vector]:
        """Entries of a vector over the rates `sticking`, group by group."""
        return [array(list(of_sticking[part])) for part in self._parts]

    @cached_property
    def _parts(self) -> list[slice]:
        """Places where each group has its rates among `sticking`."""
        stops = accumulate((len(x.rates) for x in self.groups), initial=0)
        return [slice(*ends) for ends in pairwise(stops)]

    def sliding(self, rates: Any) -> list[Vector]:
        """Velocities of sliding of each group by rates (nv,), or accelerations."""
        pairs = zip(self.groups, self.arms, strict=True)
        return [
            array([rates[k] if _is_one(a) else a * rates[k] for k, a in zip(x.rates, arms, strict=True)])
            for x, arms in pairs
        ]

    def forces(self, efforts: Any) -> list[Vector]:
        """Friction forces of each group from efforts (nv,)."""
        pairs = zip(self.groups, self.arms, strict=True)
        return [
            array([efforts[k] if _is_one(a) else efforts[k] / a for k, a in zip(x.rates, arms, strict=True)])
            for x, arms in pairs
        ]

    @property
    def traced(self) -> bool:
        """True if it is known after every step how near the constraints are to dependence."""
        return self.enforcement.way == "project"

    @property
    def special(self) -> str:
        """Reason why the run is not one that loops over the bodies know; empty of a tree on which gravity, efforts,
        actuators, and springs and dampers of joints act, or of a mechanism whose constraints are solved along it."""
        layout, closed = self.layout, self.enforcement.joins
        reasons = {
            "its efforts are functions of time and motion, not numbers or a table": self.torque is not None,
            "it has parameters or external wrenches": bool(self.parameters or self.external),
            "dry friction holds its joints at rest": bool(self.sticking),
            "limits of joints stop it": bool(self.stops),
            "its efforts saturate": bool(np.isfinite(self.saturation).any()),
            "its steps are solved with contact and dry friction": bool(self.contact or self.touching),
            "elements have internal states": layout.x.stop > layout.x.start and not self.actuated,
            "a mechanism with constraints has actuators, or a method that remembers accelerations": closed
            and bool(self.actuated or self.memory),
            "actuators take no method that remembers accelerations": bool(self.actuated and self.memory),
            "its constraints are not solved along the tree": not self.enforcement.by_loops,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    # pieces of the state

    def concrete(self, p: Vector) -> Dynamics:
        """Return the dynamics with numbers for parameters."""
        if not self.parameters:
            return self
        return replace(
            self, model=with_symbols(self.model, dict(zip(self.parameters, p, strict=True))), parameters=()
        )

    def in_phase(self, y: Vector) -> Dynamics:
        """Return the dynamics with the phases of dry friction and of limits that the state has."""
        from kinpair.simulation.phases import is_held

        if self.contact is not None or (self.touching is not None and self.rough_rates):
            if self.model.slip is not None:
                return self
            nothing = np.zeros(self.model.nv)
            return replace(self, model=replace(self.model, slip=Slip(nothing, nothing)))
        if not (self.sticking or self.stops) or self.model.slip is not None:
            return self
        share, held = np.zeros(self.model.nv, dtype=object), np.zeros(self.model.nv, dtype=object)
        parts = zip(self.groups, self.by_group(y[self.layout.share]), y[self.layout.phase], strict=True)
        for group, own, phase in parts:
            for k, part in zip(group.rates, own, strict=True):
                share[k], held[k] = part, is_held(phase)
        for stop, closed in zip(self.stops, y[self.layout.closed], strict=True):
            held[stop.v] = 1.0 - (1.0 - held[stop.v]) * (1.0 - closed)
        slip = Slip(array(list(share)), array(list(held)))
        return replace(self, model=replace(self.model, slip=slip))

    def _at(self, state: State) -> Model:
        """Return the model at the time of a state, where coefficients of friction depend on it."""
        return at_moment(self.model, state.time)

    @property
    def weight(self) -> float:
        """Weight of all links [N]: the size of forces of which those in joints are differences."""
        description = self.model.description
        return float(np.linalg.norm(description.gravity)) * sum(x.mass for x in description.links)

    def held_motion(self, state: State, loads: Loads) -> tuple[Vector, Vector]:
        """q̈, and the efforts (nv,) by which rates are locked."""
        return self.enforcement.held_motion(self._at(state), self.request, state, loads)

    def levels_from_load(self, state: State, loads: Loads) -> Any:
        """Friction from load of each rate (nv,): that may hold it, and that it begins to slide with."""
        return self.enforcement.levels(self._at(state), self.request, state, loads)

    def load_terms(self, state: State, loads: Loads) -> tuple[Any, ...]:
        """M, F, A and b of all rows, and forms of loads, from which friction is solved in floats: see
        `friction/phases/resting.py`; and ψ of all rows."""
        from kinpair.constraints.quantities.friction import load_forms

        request = self.enforcement.own(self.request)
        x = constrained.equations(self._at(state), request, state, loads)
        forms = load_forms(self._at(state), request, state, loads)
        return x.M, x.F, x.every.A, x.every.b, *forms, x.every.psi

    @property
    def kept(self) -> tuple[int, ...]:
        """Numbers of the rows of constraints that the others follow from."""
        return self.enforcement.request.kept

    def rubbing(self, state: State, loads: Loads) -> Vector:
        """Efforts of friction from load (nv,); none where steps solve for it."""
        if self.contact is not None:
            return np.zeros(self.model.nv)
        return self.enforcement.rubbing(self._at(state), self.request, state, loads)

    def holding(self, time: Scalar, y: Vector, u: Vector) -> Vector:
        """Efforts (nv,) by which rates are locked."""
        d = self.in_phase(y)
        state = d.state(time, y, u)
        return d.held_motion(state, d.loads(time, state.q, state.qd, u))[1]

    def with_phases(self, y: Vector, qd: list[Any], share: list[Vector], phase: list[Any]) -> Vector:
        """The state with other rates, and shares and phases by group."""
        layout = self.layout
        before, after = y[layout.qd.stop : layout.share.start], y[layout.phase.stop :]
        return array([*y[layout.q], *qd, *before, *(x for own in share for x in own), *phase, *after])

    def motion(self, y: Vector) -> tuple[Vector, Vector]:
        """q and q̇."""
        return y[self.layout.q], y[self.layout.qd]

    def state(self, time: Scalar, y: Vector, u: Vector) -> State:
        """State that formulas see."""
        return self.at(time, *self.motion(y), u, y[self.layout.x])

    def at(self, time: Scalar, q: Vector, qd: Vector, u: Vector, x: Vector = NOTHING) -> State:
        """State of a motion and internal states."""
        inputs = self.inputs(time, q, qd, x, u)
        if self.actuated:
            return State(q, qd, x, inputs, time, np.zeros(self.model.nv))
        return State(q, qd, x, time=time, tau=inputs)

    def without_inputs(self, time: Scalar, y: Vector) -> State:
        """State with inputs of zero: what elements store does not depend on them."""
        u = np.zeros(len(self.controls)) if self.actuated else NOTHING
        return State(*self.motion(y), y[self.layout.x], u, time)

    def parted(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """y and u (..., n) of a vector that begins with both, one behind the other."""
        return state[..., : self.ny], state[..., self.ny : self.ny + self.nu]

    def stepped(
        self, y: Vector, q: Vector, qd: Vector, dt: Scalar, powers: list[Scalar], x_rate: Vector = NOTHING
    ) -> Vector:
        """The state after a step to q and q̇ with these mean powers and rates of x; the rest is as it was."""
        ledger = [x + dt * power for x, power in zip(y[self.layout.ledger], powers, strict=True)]
        own = [x + dt * rate for x, rate in zip(y[self.layout.x], x_rate, strict=True)]
        return array([*q, *qd, *own, *ledger, *y[self.layout.ledger.stop :]])

    def inputs(self, time: Scalar, q: Vector, qd: Vector, x: Vector, u: Vector) -> Vector:
        """Return τ, or, where there are actuators, the inputs; clipped where they saturate."""
        if not self.driven:
            return np.zeros(self.model.nv)
        if self.torque is None:
            return self._saturated(u[self.input_layout.control])
        more = (x,) if getattr(self.torque, "takes_x", False) else ()
        return self._saturated(np.asarray(self.torque(time, q, qd, *more)))

    def _saturated(self, inputs: Vector) -> Vector:
        from kinpair.forces.actuators.machine import clipped

        if not np.isfinite(self.saturation).any():
            return inputs
        bounded = zip(inputs, self.saturation, strict=True)
        return array([clipped(x, -bound, bound) if np.isfinite(bound) else x for x, bound in bounded])

    def efforts(self, state: State) -> Vector:
        """Efforts on the joints: τ, or what actuators do."""
        return driven_efforts(self.model, state) if self.actuated else state.tau

    def loads(self, time: Scalar, q: Vector, qd: Vector, u: Vector) -> Loads:
        """Wrenches by name."""
        wrenches = u[self.input_layout.wrenches]
        given = {name: wrenches[WRENCH * k : WRENCH * (k + 1)] for k, name in enumerate(self.loaded)}
        return {name: given[name] if f is None else np.asarray(f(time, q, qd)) for name, f in self.external}

    # what happens

    def powers(self, state: State, loads: Loads) -> list[Scalar]:
        """Rates of work and loss, and of the account."""
        q, qd = state.q, state.qd
        work = (state.tau @ qd if self.driven and not self.actuated else 0.0) + self._applied_power(
            q, qd, loads
        )
        loaded = is_loaded(self.model, passive=self.passive)
        rubbing = self.rubbing(state, loads) if loaded else None
        own = account_of(self.model, state, passive=self.passive, rubbing=rubbing)
        lost = list(losses(self.model, state, passive=self.passive).values())
        if rubbing is not None:
            lost.append(-(rubbing @ qd))
        supply = sum(own.supply.values(), 0.0)
        slip = self.model.slip
        ways = [] if slip is None else self._ways(slip, qd)
        return [work + supply, sum(lost, 0.0), *own.supply.values(), *own.losses.values(), *ways]

    def _ways(self, slip: Slip, qd: Vector) -> list[Scalar]:
        """Sliding speeds of each group."""
        from kinpair.simulation.phases import slid_rate

        pairs = zip(self.groups, self.sliding(qd), strict=True)
        return [slid_rate(array([slip.share[k] for k in group.rates]), s) for group, s in pairs]

    def _applied_power(self, q: Vector, qd: Vector, loads: Loads) -> Scalar:
        """Σ wrench · twist of what it acts on."""
        if not loads:
            return 0.0
        w, state = applied_wrenches(self.model, q, loads), kinematics.states(self.model, q, qd)
        bodies = {self.model.place(name).body for name in loads} - {0}
        return sum((w[i][:3] @ state[i].omega + w[i][3:] @ state[i].v for i in sorted(bodies)), 0.0)

    def rate(self, time: Scalar, y: Vector, u: Vector) -> Vector:
        """Compute the rate ẏ."""
        state = self.state(time, y, u)
        q, qd = state.q, state.qd
        loads = self.loads(time, q, qd, u)
        qdd, of_constraints = self.accelerations(state, loads)
        powers = self.powers(state, loads)
        if self.constraints_work:
            powers[0] = powers[0] + of_constraints
        qdd = self._still(y, qdd)
        moves = [*kinematics.dq_dt(self.model, q, qd), *qdd, *self.x_rates(state)]
        return array([*moves, *powers, *np.zeros(self.ny - self.layout.ledger.stop)])

    def rate_at(self, time: Scalar, y: Vector, u: Vector, qdd: Vector, friction: Scalar) -> Vector:
        """ẏ where q̈ and the power of friction in contact are known."""
        state = self.state(time, y, u)
        powers = self.powers(state, self.loads(time, state.q, state.qd, u))
        powers[1] = powers[1] + friction
        moves = [*kinematics.dq_dt(self.model, state.q, state.qd), *qdd, *self.x_rates(state)]
        others = np.zeros(self.ny - self.layout.ledger.stop, dtype=object)
        others[self.layout.contact.start + 1 - self.layout.ledger.stop] = friction
        return array([*moves, *powers, *others])

    def _still(self, y: Vector, qdd: Vector) -> Vector:
        """q̈ where rates that others carry stand still as these do, to the last bit."""
        from kinpair.simulation.phases import is_carried

        if not (self.enforcement.joins and self.sticking):
            return qdd
        entries = list(qdd)
        for group, phase in zip(self.groups, y[self.layout.phase], strict=True):
            for k in group.rates:
                entries[k] = entries[k] * (1.0 - is_carried(phase))
        return array(entries)

    def x_rates(self, state: State) -> Vector:
        """Compute the rates ẋ."""
        return state_rates(self.model, state, passive=self.passive)

    def accelerations(self, state: State, loads: Loads) -> tuple[Vector, Scalar]:
        """q̈, and the power of constraint forces; without friction from load where steps solve for it."""
        model = self._at(state) if self.contact is None else without_loads(self.model)
        return self.enforcement.accelerations(model, self.request, state, loads)

    def settled(self, time: Scalar, y: Vector, *u: Vector) -> Any:
        """The state where it belongs; with inputs u, also a number above one while it is not yet there."""
        from kinpair.simulation.phases import ended_step, followed

        if self.at_ends and u:
            y, more = ended_step(self, time, y, *u)
            return self.in_phase(y).settled(time, y), more
        if self._turns:
            y = followed(self, y)
        q, qd = self.motion(y)
        if with_quaternion(self.model):
            q, qd = on_the_sphere(self.model, time, q, qd)
        rest = y[self.layout.motion.stop :]
        if not self.traced:
            return array([*q, *qd, *rest])
        q, qd, pivot = self.enforcement.settle(self.model, time, q, qd)
        worst, when = y[self.layout.trace]
        over = 1.0 / maximum(np.abs(pivot), LEAST)
        worse = less(worst, over)
        trace = [where(worse, over, worst), where(worse, time, when)]
        before, after = y[self.layout.motion.stop : self.layout.trace.start], y[self.layout.memory]
        return array([*q, *qd, *before, *trace, *after])

    @property
    def settles(self) -> bool:
        """True if something is to be done to a state reached."""
        ends = bool(self.at_ends and self.sticking)
        return bool(with_quaternion(self.model)) or self.traced or self._turns or ends

    @property
    def _turns(self) -> bool:
        """True if there is a group whose direction of sliding may turn."""
        return any(len(x.rates) > 1 for x in self.groups)

    def watched(self, time: Scalar, y: Vector, u: Vector) -> Vector:
        """Kinetic and potential energy, the efforts, and the inputs of actuators."""
        state = self.state(time, y, u)
        q, qd = state.q, state.qd
        residuals = self.enforcement.watched(self.model, time, q, qd)
        return array([*self.energies(state), *self.efforts(state), *state.u, *residuals])

    def energies(self, state: State) -> tuple[Scalar, Scalar]:
        """Kinetic, and potential with all that elements store; NaN where forces are all that is known."""
        q, qd, time = state.q, state.qd, state.time
        if self.model.terms is not None:
            return 0.5 * qd @ (self.model.terms(q, qd, time)[0] @ qd), np.nan
        kinetic, potential = (
            kinematics.kinetic_energy(self.model, q, qd),
            kinematics.potential_energy(self.model, q),
        )
        return kinetic, potential + stored_energy(self.model, state, passive=self.passive)
