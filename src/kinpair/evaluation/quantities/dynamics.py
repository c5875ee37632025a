"""Efforts, accelerations and energies: a formulation, and the loads it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from operator import mul

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing, single
from kinpair.algebra.choice import maximum, minimum
from kinpair.constraints.solvers.problem import masked
from kinpair.evaluation.quantities.request import METHODS, External, Request
from kinpair.forces.elements import loads_on, stored_energy
from kinpair.forces.states import beside_forward_dynamics, state_rates
from kinpair.formulations import articulated, composite, kinematics, rotors
from kinpair.formulations.catalogue import giving
from kinpair.formulations.solution import Solution
from kinpair.friction.loads.dynamics import forward as loaded_motion
from kinpair.friction.loads.dynamics import friction_of_motion, is_loaded, one_solution, slides, standing
from kinpair.model.inertia_scales import reach
from kinpair.model.model import Body, Model
from kinpair.model.recursion import coordinates, rate_tree, rates, total
from kinpair.model.slip import sliding
from kinpair.model.state import State

_DEFAULT = next(iter(giving("inverse_dynamics")))


def inverse_dynamics(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> Vector:
    """τ = H q̈ + C q̇ + gravity − applied − passive; dry friction at rest has the sign of q̈."""
    model = sliding(model, qd, qdd) if request.passive and model.slip is None else model
    acting = loads_on(model, State(q, qd, time=model.time), loads, passive=request.passive)
    tau = request.formulation(model, q, qd, qdd, acting.wrenches) - acting.efforts
    if is_loaded(model, passive=request.passive):
        tau = tau - friction_of_motion(model, request.method, q, qd, qdd, acting).efforts
    return tau


def forward_dynamics(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Vector, Vector]:
    """q̈ of H q̈ = τ − h; and the soundness of the solve, two numbers that are zero where it is lost. With friction from
    load one more: one where its loads are found, with guides and sleeves proved to be the only ones, and every such
    joint slides, else zero."""
    return _alone(model, request, State(q, qd, tau=tau, time=model.time), loads, brief=True)


def forward_dynamics_closer(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Vector, Vector]:
    """Forward dynamics by more sweeps of friction from load."""
    return _alone(model, request, State(q, qd, tau=tau, time=model.time), loads, brief=False)


def forward_dynamics_near(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, near: Vector, external: External
) -> tuple[Vector, Vector, Scalar]:
    """q̈, loads of the surfaces to start from at a state nearby, and one where q̈ is found, else zero; from loads near
    those to be found."""
    state = State(q, qd, tau=tau, time=model.time)
    acting = loads_on(model, state, external, passive=request.passive)
    moved = loaded_motion(model, request.method, state, acting, near=near)
    sound = moved.loads.sound * slides(model, qd) * one_solution(model, state, acting)
    return moved.solution.qdd, moved.loads.before, sound


def _alone(
    model: Model, request: Request, state: State, loads: External, *, brief: bool
) -> tuple[Vector, Vector]:
    """q̈ and soundness, of loads that are the only ones."""
    qdd, soundness = accelerations(model, request, state, loads, brief=brief)
    if not is_loaded(model, passive=request.passive):
        return qdd, soundness
    alone = one_solution(model, state, loads_on(model, state, loads, passive=request.passive))
    return qdd, array([*soundness[:2], soundness[2] * slides(model, state.qd) * alone])


def accelerations(
    model: Model, request: Request, state: State, loads: External, *, brief: bool = False
) -> tuple[Vector, Vector]:
    """Accelerations with internal states and inputs of elements.

    Soundness: the smallest pivot as a part of the largest, or less where links are far from their parents, and the
    smallest determinant of a joint of several degrees as a part of the product of its diagonal. With friction from load
    one more: one where its loads are found, else zero.
    """
    loaded = is_loaded(model, passive=request.passive)
    if model.slip is not None and model.slip.held is not None and not loaded:
        return _held_accelerations(model, request, state, loads)
    acting = loads_on(model, state, loads, passive=request.passive)
    if loaded:
        solution, _, solved = loaded_motion(model, request.method, state, acting, brief=brief)
        of_loads = [solved.sound]
    else:
        tau = state.tau + acting.efforts
        solution = request.formulation(model, state.q, state.qd, tau, acting.wrenches)
        of_loads = []
    of_pivots, determinants = pivot_measures(model, solution)
    for near in nearness(model, state.q):
        of_pivots = minimum(of_pivots, near)
    return solution.qdd, array([of_pivots, determinants, *of_loads])


def pivot_measures(model: Model, solution: Solution) -> tuple[Scalar, Scalar]:
    """The smallest pivot as a part of the largest, and the smallest determinant of a joint as a part of the product of
    its diagonal."""
    pivots = rates(model, solution.pivots)
    smallest = total(model, partial(_of_entries, minimum), np.inf, pivots, combine=minimum)
    largest = total(model, partial(_of_entries, maximum), -np.inf, pivots, combine=maximum)
    determinants = total(model, _determinant, 1.0, pivots, rates(model, solution.scales), combine=minimum)
    return np.divide(smallest, largest) if model.nv else 1.0, determinants


def _of_entries(combine: Callable[[Scalar, Scalar], Scalar], body: Body, pivots: Vector) -> Scalar:
    """The least or greatest of the pivots of a body, of none the one that changes nothing."""
    return reduce(combine, list(pivots) or [np.inf if combine is minimum else -np.inf])


def _determinant(body: Body, pivots: Vector, scales: Vector) -> Scalar:
    """The determinant of a joint as a part of the product of its diagonal; 1 of one degree."""
    return (
        reduce(mul, [np.divide(p, s) for p, s in zip(pivots, scales, strict=True)])
        if len(pivots) > 1
        else 1.0
    )


def nearness(model: Model, q: Vector) -> list[Scalar]:
    """Compute ℓ⁴/(ℓ² + Σ|t|²)², a measure of how exact inertias of bodies at a distance are; empty without such bodies.

    t are the translations that inner joints make, ℓ is the length of the mechanism without them. A joint on the ground
    moves everything by its translation, so that it does not count.
    """
    inner = (model.numbering.parent != 0).astype(float)
    squares = total(model, _distance, 0.0, coordinates(model, q), inner)
    if is_nothing(squares):
        return []
    near = np.divide(1.0, 1.0 + squares / reach(model) ** 2)
    return [near * near]


def _distance(body: Body, q: Vector, inner: float) -> Scalar:
    """The square of the translation of an inner joint [m²]."""
    return sum((inner * (x * x) for x in body.pair.translation(q) if not is_nothing(x)), 0.0)


def _held_accelerations(
    model: Model, request: Request, state: State, loads: External
) -> tuple[Vector, Vector]:
    """Accelerations with rates locked, by the tree factors of H without them."""
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
    """q̈, and the efforts (nv,) that hold rates at rest: H q̈ − F, zero where none is locked."""
    if is_loaded(model, passive=request.passive):
        x = standing(model, state, loads_on(model, state, loads))
        return x.qdd, x.holding
    H, F = free_terms(model, request, state, loads)
    qdd = _held_accelerations(model, request, state, loads)[0]
    return qdd, H @ qdd - F


def bias_forces(model: Model, request: Request, q: Vector, qd: Vector, loads: External) -> Vector:
    """h = C q̇ + gravity − applied − passive: the efforts of motion without acceleration."""
    return inverse_dynamics(model, request, q, qd, np.zeros(model.nv), loads)


def gravity_forces(model: Model, request: Request, q: Vector) -> Vector:
    """The efforts that hold the mechanism still against gravity alone."""
    nothing = np.zeros(model.nv)
    return request.formulation(model, q, nothing, nothing, kinematics.no_wrenches(model))


def mass_product(model: Model, request: Request, q: Vector, x: Vector) -> Vector:
    """H x without H: the efforts of accelerations x from rest, without gravity."""
    weightless = replace(model, gravity=np.zeros(3))
    still = np.zeros(model.nv)
    return METHODS["inverse_dynamics"][_DEFAULT](weightless, q, still, x, kinematics.no_wrenches(model))


def mass_solution(model: Model, request: Request, q: Vector, f: Vector) -> Vector:
    """H⁻¹ f without H, by articulated bodies."""
    return articulated.solve(model, q, f).qdd


def matrix(model: Model, request: Request, *state: Vector) -> Matrix:
    """The matrix a formulation gives of the state, as H(q)."""
    return request.formulation(model, *state)


def coriolis_matrix(model: Model, request: Request, q: Vector, qd: Vector) -> Matrix:
    """C(q, q̇) of C q̇ + gravity = h."""
    C = request.formulation(model, q, qd)
    return C + rotors.convective_matrix(model, qd) if rotors.turning_rotors(model) else C


def energy(model: Model, request: Request, q: Vector, qd: Vector) -> Vector:
    """(kinetic energy, potential energy of gravity and springs)."""
    potential = kinematics.potential_energy(model, q) + stored_energy(model, State(q, qd))
    return array([kinematics.kinetic_energy(model, q, qd), potential])


def energies(model: Model, request: Request, q: Vector, qd: Vector) -> tuple[Scalar, Scalar]:
    """Kinetic and potential energy one by one [J]."""
    kinetic, potential = energy(model, request, q, qd)
    return single(kinetic), single(potential)


def actuation(
    model: Model, request: Request, q: Vector, qd: Vector, x: Vector, u: Vector, time: Vector
) -> tuple[Vector, Vector]:
    """Efforts with which forward dynamics gives q̈ at internal states x and inputs u, and ẋ."""
    state = State(q, qd, x, u, time[0])
    efforts = beside_forward_dynamics(model, state, passive=request.passive)
    return efforts, state_rates(model, state, passive=request.passive)
