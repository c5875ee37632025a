"""What each quantity of the face is: a formulation, and the loads it is given.

A quantity is a function of (model, request, state..., external wrenches) over floats, symbols or columns of a batch.
`QUANTITIES` is the table of all of them. `METHODS` lists, for each that several formulations give, which do; the
first is the default. It is the one with the fewest operations (`make bench` prints them), except for the Coriolis
matrix: there it is DeNOC's, the published form for every pair. The rows are in `formulations/catalogue.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import mul
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra import lu, tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, single
from kinpair.algebra.choice import maximum, minimum
from kinpair.constraints.solvers.problem import masked
from kinpair.description.parts import GROUND
from kinpair.errors import InputError, offered
from kinpair.forces import friction_regressor
from kinpair.forces.elements import Loads, loads_on, stored_energy
from kinpair.forces.states import beside_forward_dynamics, state_rates
from kinpair.forces.surfaces.table import surfaces_of
from kinpair.formulations import composite, kinematics, newton_euler, rotors
from kinpair.formulations import regressor as regressors
from kinpair.formulations.catalogue import Function as Formulation
from kinpair.formulations.catalogue import differentiated, giving
from kinpair.formulations.limits import refusal
from kinpair.formulations.solution import Solution
from kinpair.loaded.dynamics import Levels, friction_of_motion, is_loaded, standing
from kinpair.loaded.dynamics import forward as loaded_motion
from kinpair.loaded.tree import Forced
from kinpair.loaded.tree import composite as composite_terms
from kinpair.model.model import Model, Place
from kinpair.model.recursion import ByBody, coordinates, rate_tree
from kinpair.model.slip import signs, sliding
from kinpair.model.state import State
from kinpair.results import AccelerationDerivatives, Actuation, EffortDerivatives, Energy, FramePose
from kinpair.spatial.twist import rotate

External: TypeAlias = Mapping[str, Vector]
_DEFAULT = next(iter(giving("inverse_dynamics")))
DOUBTFUL = 1e-12  # a solve for accelerations less sound than this is looked at closely
STEP = 1e-200  # of the complex step: its square vanishes beside any number

METHODS: dict[str, dict[str, Formulation]] = {
    "inverse_dynamics": giving("inverse_dynamics"),
    "forward_dynamics": giving("forward_dynamics"),
    "mass_matrix": giving("mass_matrix"),
    "coriolis_matrix": giving("coriolis_matrix"),
    "bias_forces": giving("inverse_dynamics"),
    "gravity_forces": giving("inverse_dynamics"),
    "reactions": giving("reactions"),
    "inverse_dynamics_derivatives": differentiated(),
    "forward_dynamics_derivatives": differentiated(),
}


@dataclass(frozen=True, slots=True)
class Request:
    """How a quantity is wanted: by which formulation, of which frame, with which loads, at any price."""

    quantity: str
    method: str = ""
    frame: str = ""
    passive: bool = True
    external: tuple[str, ...] = ()
    force: bool = False
    axes: str = ""  # of reactions; those of the joint frame on the parent where empty
    solver: str = ""  # of the constraints
    kept: tuple[int, ...] = ()  # rows that are not redundant
    rows: tuple[int, ...] = ()  # the order in which an embedding eliminates them
    dependent: tuple[int, ...] = ()  # the rates it finds from them
    actuated: tuple[int, ...] = ()  # the rates that have efforts

    @property
    def formulation(self) -> Formulation:
        """The function of the formulation."""
        return METHODS[self.quantity][self.method]


def request_of(
    quantity: str,
    *,
    owner: str = "",
    method: str | None = None,
    frame: str = "",
    passive: bool = True,
    external: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Request:
    """The request with its method found: the default one for None, an error that lists them for an unknown one.

    owner: the name of the mechanism, for the errors.
    """
    table = METHODS.get(quantity, {})
    if method is None:
        method = next(iter(table), "")
    elif not isinstance(method, str) or method not in table:  # type: ignore[redundant-expr]
        of = f"{owner}: " if owner else ""
        raise InputError(f"{of}{_no_method(quantity, method, table)}", quantity=quantity, method=method)
    if external is not None and not isinstance(external, Mapping):  # type: ignore[redundant-expr]
        raise InputError(
            f"external is {type(external).__name__}; give a dict: name of a link or frame → wrench (6,)"
        )
    return Request(quantity, method, frame, passive, tuple(external or ()), bool(force))


def is_default(request: Request) -> bool:
    """Is it asked for by the formulation that is taken where none is named?"""
    table = METHODS.get(request.quantity, METHODS["inverse_dynamics"])
    return request.method in ("", next(iter(table)))


def _no_method(quantity: str, method: Any, table: Mapping[str, Formulation]) -> str:
    if not table:
        return f"{quantity} has no method {method!r}; there is one way only"
    ways = ", ".join(table)
    if any(str(method) in other for other in METHODS.values()):
        return f"method {method!r} does not give {quantity}; these do: {ways}"
    return f"{quantity} has no method {method!r}; {offered(str(method), 'methods', table)}"


def check_method(model: Model, request: Request) -> None:
    """Refuses what a formulation cannot do for this model, or would do at too high a price, before any work."""
    if reason := refusal(model, request.quantity, request.method, force=request.force):
        raise InputError(f"{model.name}: {reason}", quantity=request.quantity, method=request.method)


def inverse_dynamics(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> Vector:
    """τ = H q̈ + C q̇ + gravity − applied − passive; dry friction at rest has the sign of q̈."""
    model = sliding(model, qd, qdd) if model.slip is None else model
    acting = loads_on(model, State(q, qd), loads, passive=request.passive)
    tau = request.formulation(model, q, qd, qdd, acting.wrenches) - acting.efforts
    if is_loaded(model, passive=request.passive):
        tau = tau - friction_of_motion(model, request.method, q, qd, qdd, acting).efforts
    return tau


def forward_dynamics(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Vector, Vector]:
    """q̈ of H q̈ = τ − h; and the soundness of the solve, two numbers that are zero where it is lost."""
    return accelerations(model, request, State(q, qd, tau=tau), loads)


def accelerations(model: Model, request: Request, state: State, loads: External) -> tuple[Vector, Vector]:
    """The same with internal states and inputs of elements.

    Soundness: the smallest pivot as a part of the largest, and the smallest determinant of a joint of several degrees
    as a part of the product of its diagonal. With friction from load one more: one where its loads are found, else
    zero.
    """
    loaded = is_loaded(model, passive=request.passive)
    if model.slip is not None and model.slip.held is not None and not loaded:
        return _held_accelerations(model, request, state, loads)
    acting = loads_on(model, state, loads, passive=request.passive)
    if loaded:
        solution, _, solved = loaded_motion(model, request.method, state, acting)
        of_loads = [solved.sound]
    else:
        tau = state.tau + acting.efforts
        solution = request.formulation(model, state.q, state.qd, tau, acting.wrenches)
        of_loads = []
    pivots = list(solution.pivots) or [1.0]
    of_pivots = np.divide(reduce(minimum, pivots), reduce(maximum, pivots))
    return solution.qdd, array([of_pivots, reduce(minimum, _determinants(model, solution)), *of_loads])


def _held_accelerations(
    model: Model, request: Request, state: State, loads: External
) -> tuple[Vector, Vector]:
    """The same where rates are held at rest, by the tree factors of H without them."""
    H, F = free_terms(model, request, state, loads)
    held = masked(H, model.slip.held)
    factors = tree_ldl.factor(held, *rate_tree(model))
    D = list(tree_ldl.pivots(factors))
    qdd = tree_ldl.solve(factors, array([f * (1.0 - h) for f, h in zip(F, model.slip.held, strict=True)]))
    return qdd, array([np.divide(reduce(minimum, D), reduce(maximum, D)), 1.0])


def free_terms(model: Model, request: Request, state: State, loads: External) -> tuple[Matrix, Vector]:
    """H and F = τ + acting − h of the motion without constraints, H q̈ = F."""
    acting = loads_on(model, state, loads, passive=request.passive)
    still = np.zeros(model.nv)
    h = METHODS["inverse_dynamics"][_DEFAULT](model, state.q, state.qd, still, acting.wrenches)
    return composite.mass_matrix(model, state.q), state.tau - h + acting.efforts


def held_motion(model: Model, request: Request, state: State, loads: External) -> tuple[Vector, Vector]:
    """q̈, and the efforts (nv,) that hold rates at rest: H q̈ − F, zero where none is held."""
    if is_loaded(model, passive=request.passive):
        x = standing(model, state, loads_on(model, state, loads))
        return x.qdd, x.holding
    H, F = free_terms(model, request, state, loads)
    qdd = _held_accelerations(model, request, state, loads)[0]
    return qdd, H @ qdd - F


def rubbing(model: Model, request: Request, state: State, loads: External) -> Vector:
    """Efforts of friction from load (nv,)."""
    acting = loads_on(model, state, loads, passive=request.passive)
    return loaded_motion(model, request.method, state, acting).friction


def levels_from_load(model: Model, request: Request, state: State, loads: External) -> Levels:
    """Friction from load of each rate: that may hold it, and that it begins to slide with."""
    return standing(model, state, loads_on(model, state, loads, passive=request.passive)).levels


def _determinants(model: Model, solution: Solution) -> list[Scalar]:
    spans = [model.v_span[i] for i in model.moving if model.body[i].pair.nv > 1]
    ratios = [
        [np.divide(p, s) for p, s in zip(solution.pivots[k], solution.scales[k], strict=True)] for k in spans
    ]
    return [1.0, *(reduce(mul, ratio) for ratio in ratios)]


def bias_forces(model: Model, request: Request, q: Vector, qd: Vector, loads: External) -> Vector:
    """h = C q̇ + gravity − applied − passive: the efforts of motion without acceleration."""
    return inverse_dynamics(model, request, q, qd, np.zeros(model.nv), loads)


def gravity_forces(model: Model, request: Request, q: Vector) -> Vector:
    """The efforts that hold the mechanism still against gravity alone."""
    nothing = np.zeros(model.nv)
    return request.formulation(model, q, nothing, nothing, kinematics.no_wrenches(model))


def matrix(model: Model, request: Request, *state: Vector) -> Matrix:
    """The matrix a formulation gives of the state, as H(q)."""
    return request.formulation(model, *state)


def coriolis_matrix(model: Model, request: Request, q: Vector, qd: Vector) -> Matrix:
    """C(q, q̇) of C q̇ + gravity = h."""
    C = request.formulation(model, q, qd)
    return C + rotors.convective_matrix(model, qd) if rotors.turning_rotors(model) else C


def reactions(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> dict[str, Vector]:
    """Wrench on the child in every joint, by name of the joint in the order of the description."""
    acting = loads_on(model, State(q, qd), loads, passive=request.passive)
    w = _in_axes(model, request.axes, q, request.formulation(model, q, qd, qdd, acting.wrenches))
    number = {model.joint_names[i]: i for i in model.moving}
    return {joint.name: w[number[joint.name]] for joint in model.description.joints if joint.name in number}


AXES = ("joint", "child", "world")  # in which reactions are given


def _in_axes(model: Model, axes: str, q: Vector, w: ByBody) -> ByBody:
    """Wrenches by body in axes of the joint frame on the parent: in those of the joint frame on the child, or of the
    world."""
    if axes not in AXES[1:]:
        return w
    poses, qs = kinematics.poses(model, q), coordinates(model, q)
    found: ByBody = [None]
    for i in model.moving:
        body, described = model.body[i], model.R_joint[i]
        if axes == "world":
            turn = poses[model.parent[i]].R @ body.R_seat @ described
        else:
            turn = described.T @ body.pair.rotation(qs[i]).T @ described
        found.append(rotate(turn, w[i]))
    return found


def resultant(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External) -> Vector:
    """[moment about the world's origin; force] that the ground hands to all that moves, in world axes.    (GZ1)"""
    acting = loads_on(model, State(q, qd), loads, passive=request.passive)
    n, f = newton_euler.wrenches(model, q, qd, qdd, acting.wrenches)[0]
    return np.concatenate([n, f])  # (GZ1)


def regressor(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector) -> Matrix:
    """Y of τ = Y π."""
    Y = regressors.regressor(model, q, qd, qdd)
    further = friction_regressor.matrix(model, qd, signs(qd, qdd)) if model.nv else np.zeros((0, 0))
    return np.concatenate([Y, further], axis=1) if further.shape[1] else Y


def regressor_parameters(model: Model) -> np.ndarray:
    """π."""
    return np.concatenate([regressors.parameters(model), friction_regressor.values(model)])


def regressor_names(model: Model) -> tuple[str, ...]:
    """What each entry of π is."""
    return (*regressors.parameter_names(model), *friction_regressor.names(model))


def _complex_step(f: Callable[[Vector], Vector], x: Vector, direction: Vector) -> Vector:
    """Derivative of f at x along a direction, exact to rounding: Im f(x + i ε d) / ε."""
    return array([np.imag(y) / STEP for y in f(x + 1j * STEP * direction)])


def effort_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix]:
    """∂τ/∂q and ∂τ/∂q̇ by complex steps along the unit rates: slow, and what compiled ones are judged by."""
    units = np.eye(model.nv)
    by_q = [
        _complex_step(
            lambda x: inverse_dynamics(model, request, x, qd, qdd, loads), q, kinematics.dq_dt(model, q, unit)
        )
        for unit in units
    ]
    by_qd = [
        _complex_step(lambda x: inverse_dynamics(model, request, q, x, qdd, loads), qd, unit)
        for unit in units
    ]
    return _side_by_side(by_q), _side_by_side(by_qd)


def _side_by_side(columns: Sequence[Vector]) -> Matrix:
    return array([list(x) for x in columns]).T if columns else np.zeros((0, 0))


def acceleration_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ at the q̈ of the forward dynamics: ∂q̈ = H⁻¹ (∂τ − ∂(inverse dynamics))."""
    by_q, by_qd = effort_derivatives(model, request, q, qd, qdd, loads)
    if not is_loaded(model, passive=request.passive):
        return solved_for(model, q, by_q, by_qd)
    units = np.eye(model.nv)
    columns = [
        _complex_step(lambda x: inverse_dynamics(model, request, q, qd, x, loads), qdd, unit)
        for unit in units
    ]
    return solved_for(model, q, by_q, by_qd, _side_by_side(columns))


def solved_for(
    model: Model, q: Vector, by_q: Matrix, by_qd: Matrix, by_qdd: Matrix | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈ from ∂τ of the inverse dynamics, by the tree factors of H; by those of `by_qdd` where that is not H."""
    if by_qdd is None:
        factors = tree_ldl.factor(composite.mass_matrix(model, q), *rate_tree(model))
        one: Callable[[Vector], Vector] = partial(tree_ldl.solve, factors)
    else:
        one = partial(lu.solve, lu.factor(by_qdd))

    def solved(B: Matrix) -> Matrix:
        return _side_by_side([one(column) for column in B.T])

    return -solved(by_q), -solved(by_qd), solved(np.eye(model.nv))


def load_terms(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Matrix | Vector, ...]:
    """H and F of H q̈ = F + friction, no rows; forms of all surfaces under load at q̈ = 0 and by rate, see
    `loaded/terms.py`; and the efforts beside those of the motors."""
    acting = loads_on(model, State(q, qd), loads, passive=request.passive)
    return terms_under_load(model, State(q, qd, tau=tau), acting)


def terms_under_load(model: Model, state: State, acting: Loads) -> tuple[Matrix | Vector, ...]:
    """The same under all that acts."""
    forced = Forced(model, state.q, state.qd, state.tau + acting.efforts, acting.wrenches)
    x = composite_terms(forced, surfaces_of(model))
    c, Q = [form for row in x.forms for form in row], [row for rows in x.Q for row in rows]
    rows = np.zeros((0, model.nv)), np.zeros(0)
    return x.H, x.F, *rows, array(c), array(Q), np.zeros((len(c), 0)), acting.efforts


def derivatives_at_efforts(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[tuple[Matrix, Matrix, Matrix], Vector]:
    """The same at the q̈ that the efforts make, and how sound the solve for it is."""
    qdd, soundness = forward_dynamics(model, forward_of(request), q, qd, tau, loads)
    wanted = replace(request, quantity="forward_dynamics_derivatives")
    return acceleration_derivatives(model, wanted, q, qd, qdd, loads), soundness


def forward_of(request: Request) -> Request:
    """The accelerations at which derivatives are taken: by the default formulation, with the same loads."""
    return replace(request, quantity="forward_dynamics", method=next(iter(METHODS["forward_dynamics"])))


def energy(model: Model, request: Request, q: Vector, qd: Vector) -> Vector:
    """(kinetic energy, potential energy of gravity and springs)."""
    potential = kinematics.potential_energy(model, q) + stored_energy(model, State(q, qd))
    return array([kinematics.kinetic_energy(model, q, qd), potential])


def energies(model: Model, request: Request, q: Vector, qd: Vector) -> tuple[Scalar, Scalar]:
    """The same one by one."""
    kinetic, potential = energy(model, request, q, qd)
    return single(kinetic), single(potential)


def pose(model: Model, request: Request, q: Vector) -> tuple[Matrix, Vector]:
    """Rotation and origin of the frame in the world."""
    return kinematics.pose(model, q, model.place(request.frame))


def poses(model: Model, request: Request, q: Vector) -> dict[str, FramePose]:
    """Pose of every link, by name in the order of the description."""
    bodies = kinematics.poses(model, q)
    of_links = {name: bodies[place.body] @ place.pose for name, place in _links(model)}
    return {name: FramePose(x.R, x.a) for name, x in of_links.items()}


def pose_rows(model: Model, request: Request, q: Vector) -> Matrix:
    """The same as one matrix (links, 12): nine numbers of the rotation, row by row, then the origin."""
    every = poses(model, request, q).values()
    rows = [[*x.rotation.reshape(-1), *x.position] for x in every]
    return array(rows) if rows else np.zeros((0, 12))


def jacobian(model: Model, request: Request, q: Vector) -> Matrix:
    """(6, nv) at the origin of the frame, world axes, angular rows first."""
    return kinematics.jacobian(model, q, model.place(request.frame))


def jacobian_rate(model: Model, request: Request, q: Vector, qd: Vector) -> Matrix:
    """Its derivative in time."""
    return kinematics.jacobian_rate(model, q, qd, model.place(request.frame))


def twists(model: Model, request: Request, q: Vector, qd: Vector) -> dict[str, Vector]:
    """Twist of every link at its origin, world axes, by name in the order of the description."""
    state = kinematics.states(model, q, qd)
    return {name: kinematics.twist(state[place.body], place) for name, place in _links(model)}


def twist_rates(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector) -> dict[str, Vector]:
    """Their derivatives in time."""
    state, along = kinematics.states(model, q, qd), kinematics.states(model, q, qdd)
    bias = kinematics.biases(model, q, qd, state)
    return {
        name: kinematics.twist_rate(state[place.body], bias[place.body], along[place.body], place)
        for name, place in _links(model)
    }


def link_names(model: Model) -> tuple[str, ...]:
    """The links that have a pose, in the order of the description."""
    return tuple(name for name, _ in _links(model))


def _links(model: Model) -> list[tuple[str, Place]]:
    """The links with their places; the ground, which stands still, is none of them."""
    return [(x.name, model.places[x.name]) for x in model.description.links if x.name != GROUND]


def actuation(
    model: Model, request: Request, q: Vector, qd: Vector, x: Vector, u: Vector, time: Vector
) -> tuple[Vector, Vector]:
    """Efforts with which forward dynamics gives q̈ at internal states x and inputs u, and ẋ."""
    state = State(q, qd, x, u, time[0])
    efforts = beside_forward_dynamics(model, state, passive=request.passive)
    return efforts, state_rates(model, state, passive=request.passive)


def _of_model(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, request, *state: f(model, *state)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Which state a quantity takes, its function, whether wrenches may be applied, and whether the function
    takes the columns of a whole batch at once; whether it can be part of a function that is recorded.

    line: its result is (what is handed out, ..., what is judged), and states with a judged number that is not above
    the line are looked at closely. shape: the named tuple in which a method hands out what is a tuple here.
    """

    state: tuple[str, ...]
    compute: Callable[..., Any]
    loaded: bool = False
    columns: bool = True
    recorded: bool = True
    line: float | None = None
    shape: Callable[..., Any] | None = None


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(("q", "qd", "qdd"), inverse_dynamics, loaded=True),
    "forward_dynamics": Quantity(("q", "qd", "tau"), forward_dynamics, loaded=True, line=DOUBTFUL),
    "mass_matrix": Quantity(("q",), matrix),
    "coriolis_matrix": Quantity(("q", "qd"), coriolis_matrix),
    "bias_forces": Quantity(("q", "qd"), bias_forces, loaded=True),
    "gravity_forces": Quantity(("q",), gravity_forces),
    "reactions": Quantity(("q", "qd", "qdd"), reactions, loaded=True),
    "resultant": Quantity(("q", "qd", "qdd"), resultant, loaded=True),
    "regressor": Quantity(("q", "qd", "qdd"), regressor),
    "inverse_dynamics_derivatives": Quantity(
        ("q", "qd", "qdd"), effort_derivatives, loaded=True, recorded=False, shape=EffortDerivatives
    ),
    "forward_dynamics_derivatives": Quantity(
        ("q", "qd", "qdd"), acceleration_derivatives, loaded=True, recorded=False
    ),
    "energy": Quantity(("q", "qd"), energy),
    "pose": Quantity(("q",), pose, shape=FramePose),
    "poses": Quantity(("q",), poses),
    "jacobian": Quantity(("q",), jacobian),
    "jacobian_rate": Quantity(("q", "qd"), jacobian_rate),
    "twists": Quantity(("q", "qd"), twists),
    "twist_rates": Quantity(("q", "qd", "qdd"), twist_rates),
    "centre_of_mass": Quantity(("q",), _of_model(kinematics.centre_of_mass)),
    "momentum": Quantity(("q", "qd"), _of_model(kinematics.momentum)),
    "dq_dt": Quantity(("q", "qd"), _of_model(kinematics.dq_dt)),
    "actuation": Quantity(("q", "qd", "x", "u", "time"), actuation, shape=Actuation),
}
OF_TREES: dict[str, Quantity] = {  # what methods of a mechanism without constraints ask for by another name
    "derivatives_at_efforts": Quantity(
        ("q", "qd", "tau"),
        derivatives_at_efforts,
        loaded=True,
        recorded=False,
        line=DOUBTFUL,
        shape=AccelerationDerivatives,
    ),
    "energies": Quantity(("q", "qd"), energies, shape=Energy),
    "pose_rows": Quantity(("q",), pose_rows),
    "load_terms": Quantity(("q", "qd", "tau"), load_terms, loaded=True),
}
