"""All elements of a model, where their internal states and inputs are, and the sums that everybody asks for.

`passive=False` leaves out those of the description: what a run has added acts all the same, and rotors do. An element
with inputs acts where the state has inputs, and only there: without them, efforts on the joints stand in its place.

Effort of rotor inertia that arises because the axes of a free joint's rates turn with the body: −J K q̇ of (RO1).

It belongs to inertia, so that `passive=False` does not leave it out, and it does no work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.element import Element, Instant
from kinpair.forces.joint import joint_elements, joint_inputs, walked_efforts, walked_energy, walked_losses
from kinpair.forces.walked_inputs import input_efforts, input_energy, input_losses
from kinpair.formulations.kinematics import Placement, no_wrenches, placements, poses
from kinpair.formulations.rotors import turning_rotors
from kinpair.friction.laws.joint import joint_frictions
from kinpair.friction.surfaces.table import loaded_joints
from kinpair.model.model import Body, Model
from kinpair.model.recursion import coordinates, inward, joined
from kinpair.model.state import NOTHING, State
from kinpair.spatial.pose import rotate, shift_wrench

NO_LOADS: Mapping[str, Vector] = {}


def applied_wrenches(model: Model, q: Vector, external: Mapping[str, Vector]) -> list[Vector]:
    """Wrench on each body at O_i in its axes, from wrenches [n; f] in world axes at the origin of the
    link or frame named."""
    w_ext = no_wrenches(model)
    if not external:
        return w_ext
    where = poses(model, q)
    for name, w in external.items():
        place = model.place(name)
        if place.body:
            in_body = rotate(where[place.body].R.T, np.asarray(w))
            w_ext[place.body] = w_ext[place.body] + shift_wrench(in_body, place.pose.a)
    return w_ext


def as_efforts(model: Model, q: Vector, wrenches: list[Vector]) -> Vector:
    """Efforts (nv,) that do the same work as wrenches by body: τ_i = p_iᵀ (w_i + what the children of i carry)."""
    place = placements(model, q)
    return joined(model, inward(model, _effort, (np.zeros(6),), place, coordinates(model, q), wrenches))


def _effort(
    body: Body, outer: tuple[Vector], place: Placement, q: Vector, w: Vector
) -> tuple[Vector, tuple[Any]]:
    whole = w + outer[0]
    return body.pair.p(q).T @ whole, (shift_wrench(rotate(place.R, whole), place.a),)


@final
@dataclass(frozen=True, slots=True)
class FreeRotor(Element):
    """The rotor in the joint of body `i`."""

    name: str
    bodies: tuple[int, ...]
    i: int

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−J K q̇."""
        body, span = at.model.body[self.i], at.model.v_span[self.i]
        qd = at.state.qd[span]
        tau = -body.rotor * (body.pair.convection(qd) @ qd)
        return dict(zip(range(span.start, span.stop), tau, strict=True))


def free_rotors(model: Model) -> tuple[FreeRotor, ...]:
    """Free rotors of all joints of several rates."""
    return tuple(
        FreeRotor(f"{model.joint_names[i]}.rotor", (model.parent[i], i), i) for i in turning_rotors(model)
    )


class Owner(NamedTuple):
    """An element, its part of the internal states and of the inputs; whether `passive=False` leaves it out, and whether
    it is the plain effort on a rate that no actuator drives."""

    element: Element
    x: slice
    u: slice
    passive: bool
    plain: bool

    @property
    def ports(self) -> bool:
        """True if it has internal states or inputs."""
        return bool(self.element.nx or self.element.nu)


class Loads(NamedTuple):
    """Efforts on the rates (nv,), and wrenches by body at its origin and in its axes, as formulations take them."""

    efforts: Vector
    wrenches: list[Vector]
    driving: Vector = NOTHING  # efforts of elements with inputs, without friction; empty where there are none

    @property
    def beside(self) -> Vector:
        """Efforts of what is no motor: has no inputs, or is friction."""
        return self.efforts - self.driving if len(self.driving) else self.efforts


def owners_of(model: Model) -> tuple[Owner, ...]:
    """Every element that may act: those of the joints, those between points, rotors of free joints, those that were
    added, and the efforts on rates that no actuator drives. Elements with an input of one name share it."""
    return model.once("owners", lambda: (*own_elements(model), *_plain(model)))


def own_elements(model: Model) -> tuple[Owner, ...]:
    """Every element but the plain efforts on rates, of which a long mechanism has one a rate."""
    return model.once("own elements", lambda: _numbered(model))


def _numbered(model: Model) -> tuple[Owner, ...]:
    frictions = joint_frictions(model)
    described = (
        *joint_elements(model),
        *(x for x in frictions if not x.nu),
        *loaded_joints(model),
        *_between_points(model),
        *_actuators(model),
        *(x for x in frictions if x.nu),
    )
    owners, nx, places = list[Owner](), 0, dict[str, int]()
    for k, x in enumerate((*described, *free_rotors(model), *model.added)):
        passive = k < len(described) and not x.nu
        first = places.get(x.u_names[0], len(places)) if x.nu else 0
        places |= {name: places.get(name, first + n) for n, name in enumerate(x.u_names)}
        owners.append(Owner(x, slice(nx, nx + x.nx), slice(first, first + x.nu), passive, plain=False))
        nx += x.nx
    return tuple(owners)


def _between_points(model: Model) -> Iterator[Element]:
    """Yield springs between points and compliant contacts; their kinds are imported where there are some."""
    if model.springs:
        from kinpair.forces.springs import point_springs

        yield from point_springs(model)
    if model.pads:
        from kinpair.forces.pad import pad_elements

        yield from pad_elements(model)


def _actuators(model: Model) -> Iterable[Element]:
    """The actuators of a model; their kinds are imported where there are some."""
    if not model.actuators:
        return ()
    from kinpair.forces.actuators.actuator import actuator_elements

    return actuator_elements(model)


def _plain(model: Model) -> Iterator[Owner]:
    """The efforts on rates that no actuator drives, with places behind those of the other elements."""
    own = own_elements(model)
    places = {name: x.u.start + n for x in own for n, name in enumerate(x.element.u_names)}
    nx = own[-1].x.stop if own else 0
    for x in joint_inputs(model, frozenset(v for y in own for v in y.element.drives)):
        first = places.setdefault(x.name, len(places))
        yield Owner(x, slice(nx, nx), slice(first, first + 1), passive=False, plain=True)


def is_timed(model: Model) -> bool:
    """True if an element depends on time."""
    return model.once("timed", lambda: any(x.element.timed for x in own_elements(model)))


def elements_of(model: Model, *, passive: bool = True, driven: bool = False) -> tuple[Element, ...]:
    """Elements that act; with `driven`, those with inputs as well."""
    return model.once(
        f"elements {passive} {driven}", lambda: tuple(x.element for x in _acting(model, passive, driven))
    )


def _acting(model: Model, passive: bool, driven: bool) -> list[Owner]:
    def chosen() -> list[Owner]:
        every = owners_of(model) if driven else own_elements(model)
        return [x for x in every if (passive or not x.passive) and (driven or not x.element.nu)]

    return model.once(f"acting {passive} {driven}", chosen)


def acting(model: Model, state: State, *, passive: bool = True) -> Iterator[tuple[Owner, Instant]]:
    """Every element that acts, with the state as it sees it."""
    at = Instant(model, state)
    for x in _acting(model, passive, len(state.u) > 0):
        if not x.ports:
            yield x, at
        else:
            yield x, at.of(_own_states(x, state), state.u[x.u] if x.element.nu else NOTHING)


def _own_states(owner: Owner, state: State) -> Vector:
    if not owner.element.nx:
        return NOTHING
    return state.x[owner.x] if len(state.x) else array(list(owner.element.x_start))


def loads_on(
    model: Model, state: State, external: Mapping[str, Vector] = NO_LOADS, *, passive: bool = True
) -> Loads:
    """Loads of all elements, and of wrenches [n; f] applied to links and frames, in world axes at their origins."""
    if model.walker:
        efforts = walked_efforts(model, state) if _of_joints(model, passive) else np.zeros(model.nv)
        by_inputs = input_efforts(model, state) if len(state.u) else NOTHING
        every = efforts + by_inputs if len(by_inputs) else efforts
        return Loads(every, no_wrenches(model), by_inputs)
    w = applied_wrenches(model, state.q, external)
    tau: list[Any] = [0.0] * model.nv
    driving: list[Any] = [0.0] * model.nv if len(state.u) else []
    for owner, at in acting(model, state, passive=passive):
        for k, effort in owner.element.efforts(at).items():
            tau[k] = tau[k] + effort
            if owner.element.nu and not owner.element.sticks:
                driving[k] = driving[k] + effort
        for i, wrench in owner.element.wrenches(at).items():
            w[i] = w[i] + wrench
    return Loads(array(tau) if tau else np.zeros(0), w, array(driving) if driving else NOTHING)


def _of_joints(model: Model, passive: bool) -> bool:
    """True if a spring, damper or friction of a joint acts. A model with a walker has no other elements."""
    x = model.joints
    return passive and bool(x.damping.any() or x.stiffness.any() or model.frictions)


def efforts_of(
    model: Model, state: State, external: Mapping[str, Vector] = NO_LOADS, *, passive: bool = True
) -> Vector:
    """Loads as efforts on the rates alone (nv,)."""
    tau, w, _ = loads_on(model, state, external, passive=passive)
    return tau + as_efforts(model, state.q, w)


def stored_energy(model: Model, state: State, *, passive: bool = True) -> Scalar:
    """Energy that all elements store [J]."""
    if model.walker:
        energy = walked_energy(model, state) if _of_joints(model, passive) else 0.0
        return energy + input_energy(model, state) if len(state.u) else energy
    return sum((x.element.energy(at) for x, at in acting(model, state, passive=passive)), 0.0)


def losses(model: Model, state: State, *, passive: bool = True) -> dict[str, Scalar]:
    """Powers that elements take for good, by name [W]."""
    if model.walker:
        lost = {"joints": walked_losses(model, state)} if _of_joints(model, passive) else {}
        return {**lost, "inputs": input_losses(model, state)} if len(state.u) else lost
    return {
        name: power
        for x, at in acting(model, state, passive=passive)
        if x.element.dissipates
        for name, power in x.element.losses(at).items()
    }


def couples_branches(model: Model, *, passive: bool = True) -> bool:
    """True if an element acts between bodies of which none carries the other."""
    for element in elements_of(model, passive=passive):
        outermost = max(element.bodies, default=0)
        if not set(element.bodies) <= {0, *model.path_to_ground(outermost)}:
            return True
    return False
