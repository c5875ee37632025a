"""Forward and inverse dynamics of a tree with friction from load, over floats, symbols or columns of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, minimum, sign, where
from kinpair.constraints.solvers.problem import masked
from kinpair.formulations.solution import Solution
from kinpair.friction.loads import contraction, system, tree
from kinpair.friction.loads.system import Response, Slip, Solved, System, times
from kinpair.friction.loads.tree import Sweeps
from kinpair.friction.surfaces.surface import Carried, Surface, length
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.recursion import coordinates, each, joined, rate_tree

if TYPE_CHECKING:
    from kinpair.forces.elements import Loads
    from kinpair.model.model import Model
    from kinpair.model.state import State

LEAN = "newton-euler"  # the formulation whose system has the fewest operations
USUAL = Sweeps(4, 3)
BRIEF = Sweeps(
    3, 2
)  # enough for nearly all states where no coefficient is above MILD; `USUAL` for the others
JUMPS = Sweeps(9, 9)  # for loads that jump: the first sweeps find the side
STRONG = Sweeps(7, 5, settled=False)  # for guides and sleeves: their edge pressure answers strongly
NEAR = Sweeps(2, 1)  # from loads that are known to a part in a hundred or so
MILD = 0.1


class Sliding(NamedTuple):
    """Surfaces with the rates of their joints, how each slides, and D_l."""

    surfaces: Sequence[Surface]
    spans: Sequence[slice]
    slips: Sequence[Slip]
    D: Sequence[Vector]

    def efforts(self, N: Vector, nv: int) -> Vector:
        """τ_f = −Σ D_l N_l (nv,).    (FS1)"""
        return sum((times(-n, d) for d, n in zip(self.D, N, strict=True)), np.zeros(nv))


class Moved(NamedTuple):
    """q̈ with its solve, efforts of friction (nv,), and loads with their measures."""

    solution: Solution
    friction: Vector
    loads: Solved


class Rubbing(NamedTuple):
    """Efforts of friction (nv,), and the loads of the surfaces."""

    efforts: Vector
    N: Vector


def is_loaded(model: Model, *, passive: bool = True) -> bool:
    """True if there is friction from load."""
    return passive and bool(model.surfaces)


def slides(model: Model, qd: Vector) -> Scalar:
    """Return one where every surface slides, zero where one is at rest: friction of sliding has no direction there."""
    own = [x.sliding() @ qd[model.v_span[x.body]] for x in surfaces_of(model)]
    return reduce(mul, [where(less(0.0, s @ s), 1.0, 0.0) for s in own], 1.0)


def sliding(model: Model, qd: Vector, qdd: Vector | None = None) -> Sliding:
    """Directions in which the surfaces of a model slide: as its `slip` says, else by the sign of each rate.

    Several rates together have the direction of q̇, where that is zero of `qdd`.
    """
    surfaces = surfaces_of(model)
    spans = [model.v_span[x.body] for x in surfaces]
    share = array([sign(v) for v in qd]) if model.slip is None else model.slip.share
    begins = None if is_held(model) else qdd  # a run knows the direction
    given = [
        _direction(x, share[k], None if begins is None else begins[k])
        for x, k in zip(surfaces, spans, strict=True)
    ]
    slips = system.slips_of(surfaces, [qd[k] for k in spans], given, through=is_held(model))
    return Sliding(surfaces, spans, slips, system.columns(model.nv, surfaces, slips, spans))


def _direction(surface: Surface, share: Vector, qdd: Vector | None) -> Vector:
    """Direction of sliding where the rates of the joint have none themselves."""
    G = surface.sliding()
    if len(G) == 1:
        return share[surface.rate : surface.rate + 1]
    if qdd is None:
        return share
    a = G @ qdd
    over = np.divide(1.0, length(*a))
    return array([x * over for x in a])


def carried(model: Model, x: Sliding, q: Vector, qd: Vector, tau: Vector, acting: Loads) -> list[Carried]:
    """State of the joints of the surfaces; efforts of elements with inputs are those of motors."""
    qs, beside = coordinates(model, q), acting.beside
    motor = tau + acting.driving if len(acting.driving) else tau
    rows = zip(x.surfaces, x.spans, x.slips, strict=True)
    return [
        Carried(qs[s.body], qd[k], motor[k], beside[k], toward=slip.u[0] if len(slip.u) == 1 else 0.0)
        for s, k, slip in rows
    ]


def forward(
    model: Model, method: str, state: State, acting: Loads, *, brief: bool = False, near: Vector | None = None
) -> Moved:
    """q̈ under the efforts of the state and all that acts.

    brief: by few sweeps where friction is mild. near: loads (surfaces,) that are not far from those to be found.
    """
    q, qd, tau = state.q, state.qd, state.tau
    own = sliding(model, qd)
    forced = tree.Forced(model, q, qd, tau + acting.efforts, acting.wrenches)
    joints = carried(model, own, q, qd, tau, acting)
    sweeps = sweeps_of(own.surfaces, brief=brief)
    if method == LEAN or is_held(model) or near is not None:
        x, D = held_terms(model, tree.composite(forced, own.surfaces), own.D)
        equations = tree.Equations(x.H, x.factors, x.F, D, x.forms, x.Q)
        rubbing = tree.Rubbing(own.surfaces, own.slips, joints)
        if near is None:
            qdd, loads = tree.solve(equations, rubbing, sweeps)
        else:
            qdd, loads = tree.solve_from(equations, rubbing, near, NEAR)
        solution = Solution(qdd, *x.soundness)
    else:
        response, solution = of_method(forced, method, own.surfaces, own.D)
        both = System(own.surfaces, own.slips, joints, response)
        loads = system.solve(both, None, sweeps.number)
        solution = solution._replace(qdd=both.accelerations(loads.N))
    return Moved(solution, own.efforts(loads.N, model.nv), loads)


def one_solution(model: Model, state: State, acting: Loads) -> Scalar:
    """Return one where exactly one solution is proved, or the surfaces need no proof; zero elsewhere."""
    own = sliding(model, state.qd)
    if not contraction.needs_proof(own.surfaces):
        return 1.0
    forced = tree.Forced(model, state.q, state.qd, state.tau + acting.efforts, acting.wrenches)
    response, _ = tree.by_composite_bodies(forced, own.surfaces, own.D)
    joints = carried(model, own, state.q, state.qd, state.tau, acting)
    return contraction.proved(System(own.surfaces, own.slips, joints, response))


def is_held(model: Model) -> bool:
    """True if rates are locked."""
    return model.slip is not None and model.slip.held is not None


def held_terms(
    model: Model, x: tree.Composite, D: Sequence[Vector]
) -> tuple[tree.Composite, Sequence[Vector]]:
    """The terms without rates that are locked, see (CS17)."""
    if not is_held(model):
        return x, D
    free = [1.0 - h for h in model.slip.held]
    H = masked(x.H, model.slip.held)
    F = array([f * p for f, p in zip(x.F, free, strict=True)])
    factors = tree_ldl.factor(H, *rate_tree(model))
    columns = [array([d * p for d, p in zip(column, free, strict=True)]) for column in D]
    return x._replace(H=H, F=F, factors=factors), columns


class Standing(NamedTuple):
    """q̈ (nv,), the efforts by which rates are locked, and the levels of friction from load."""

    qdd: Vector
    holding: Vector
    levels: Levels


class Levels(NamedTuple):
    """Levels of each rate (nv,): the friction from load that may hold it, and that it begins to slide with; of rates
    that slide together as one the force."""

    rest: Vector
    slide: Vector


def standing(model: Model, state: State, acting: Loads) -> Standing:
    """Find the efforts that hold rates at rest, and their limits."""
    own = sliding(model, state.qd)
    forced = tree.Forced(model, state.q, state.qd, state.tau + acting.efforts, acting.wrenches)
    moved = forward(model, LEAN, state, acting)
    x, qdd = tree.composite(forced, own.surfaces), moved.solution.qdd
    holding = x.H @ qdd - x.F - moved.friction
    joints = carried(model, own, state.q, state.qd, state.tau, acting)
    forms = tree.forms_of(tree.Equations(x.H, x.factors, x.F, own.D, x.forms, x.Q), qdd)
    return Standing(qdd, holding, levels_of(model, state, own, forms, joints, moved.loads.N, holding))


def levels_of(
    model: Model,
    state: State,
    own: Sliding,
    forms: Sequence[Sequence[Scalar]],
    joints: Sequence[Carried],
    N: Vector,
    holding: Vector,
) -> Levels:
    """Levels of the surfaces at the forms of a solution."""
    rest, slide = list[Scalar](np.zeros(model.nv)), list[Scalar](np.zeros(model.nv))
    for k, s in enumerate(own.surfaces):
        G = s.sliding()
        if len(G) > 1:
            load = s.load(forms[k], own.slips[k].force(N[k]), joints[k])
            for v in range(model.nv)[own.spans[k]]:
                rest[v], slide[v] = s.grip.mu_static * load, s.grip.coefficient(0.0) * load
            continue
        v, arm = own.spans[k].start + s.rate, G[0][s.rate if len(G[0]) > 1 else 0]
        force = own.slips[k].force(N[k])
        at = joints[k]
        if is_held(model):
            held = model.slip.held[v]
            force = array([force[0] + held * np.divide(holding[v], arm)])
            at = at._replace(toward=at.toward * (1.0 - held) - held * sign(force[0]))
            if s.beside_levels:
                at = at._replace(beside=at.beside + held * _of_levels(model, state, v, holding[v]))
        load = s.load(forms[k], force, at)
        rest[v] = rest[v] + s.grip.mu_static * arm * load
        slide[v] = slide[v] + s.grip.coefficient(0.0) * arm * load
    return Levels(array(rest), array(slide))


def _of_levels(model: Model, state: State, v: int, effort: Scalar) -> Scalar:
    """Return the part of the effort that holds a rate which constant levels give."""
    from kinpair.forces.elements import acting

    lo, hi = [0.0], [0.0]
    for owner, at in acting(model, state):
        for k, (least, most) in owner.element.holds(at).items():
            if k == v:
                lo.append(least)
                hi.append(most)
    return minimum(maximum(effort, sum(lo)), sum(hi)) if len(lo) > 1 else 0.0


def only_sound(qdd: Vector, sound: Scalar) -> Vector:
    """q̈ where loads are found, NaN elsewhere: a run stops there."""
    return array([where(less(0.5, sound), x, np.nan) for x in qdd])


def sweeps_of(surfaces: Sequence[Surface], *, brief: bool = False) -> Sweeps:
    """Choose the number and kind of sweeps."""
    if any(x.jumps for x in surfaces):
        return JUMPS
    if any(x.answers_strongly for x in surfaces):
        return STRONG
    return BRIEF if brief and all(is_mild(x) for x in surfaces) else USUAL


def is_brief(model: Model) -> bool:
    """True if forward dynamics takes fewer sweeps than a run."""
    return sweeps_of(surfaces_of(model), brief=True) is BRIEF


def is_mild(surface: Surface) -> bool:
    """True if its friction is known to be small."""
    numbers = surface.grip.mu, surface.grip.mu_static
    return surface.kind == "bearing" and all(isinstance(x, float) and x <= MILD for x in numbers)


def of_method(
    state: tree.Forced, method: str, surfaces: Sequence[Surface], D: Sequence[Vector]
) -> tuple[Response, Solution]:
    """The response by a formulation."""
    if method == "zhao-gu":
        return tree.by_reaction_equation(state, surfaces, D)
    if method == LEAN:
        return tree.by_composite_bodies(state, surfaces, D)
    return tree.by_formulation(state, method, surfaces, D)


def friction_of_motion(
    model: Model,
    method: str,
    q: Vector,
    qd: Vector,
    qdd: Vector,
    acting: Loads,
    tau: Vector | None = None,
) -> Rubbing:
    """Compute friction of a given motion; `tau`: efforts of the motors, by default those that the motion takes. With
    them the slopes are those of a load that stays at its jump, where it is there."""
    own = sliding(model, qd, qdd)
    n = len(own.surfaces)
    w = tree.wrenches_of(method, model, q, qd, qdd, acting.wrenches)
    if tau is None:
        rotors = joined(model, each(model, lambda body: body.rotor)) * qdd
        joints = [x._replace(yields=1.0) for x in carried(model, own, q, qd, rotors, acting)]
    else:
        joints = [x._replace(steep=True) for x in carried(model, own, q, qd, tau, acting)]
    forms, _ = tree.formed(model, q, own.surfaces, w, [])
    nothing = [[[0.0] * len(c) for _ in range(n)] for c in forms]
    both = System(own.surfaces, own.slips, joints, Response(qdd, [], forms, nothing))
    feels = any(x.feels_force for x in own.surfaces)
    N = system.solve(both, None, system.FEELING if feels else 0).N
    return Rubbing(own.efforts(N, model.nv), N)
