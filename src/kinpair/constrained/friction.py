"""Friction from load under constraints: multipliers load the joints, and friction changes the multipliers.

Efforts of friction −D_l N_l are answered by accelerations and multipliers, both linear in N. Each answer is one more
solve with the same M and rows; the wrenches of its motion and its multipliers are the C_kl of (FS2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.constraints.build import constraints_of
from kinpair.constraints.loads import wrench_rows
from kinpair.constraints.solvers import Accelerations, Problem, Solver
from kinpair.forces.elements import Loads, loads_on
from kinpair.forces.surfaces.surface import Carried
from kinpair.forces.surfaces.table import surfaces_of
from kinpair.formulations import newton_euler
from kinpair.formulations.kinematics import no_wrenches
from kinpair.loaded import dynamics, system, tree
from kinpair.loaded.system import Response, Solved, System, times
from kinpair.model.model import Model
from kinpair.model.recursion import coordinates
from kinpair.model.state import State
from kinpair.quantities import External, Request, request_of

SWEEPS = 6  # loops answer more strongly than trees


class Loaded(NamedTuple):
    """How surfaces slide, what their joints are in, their forms and loads."""

    own: dynamics.Sliding
    joints: list[Carried]
    forms: list[list[Scalar]]
    N: Vector


class Rubbed(NamedTuple):
    """q̈ and λ with friction, its efforts (nv,), and the loads with their measures."""

    solved: Accelerations
    efforts: Vector
    loads: Solved
    loaded: Loaded


def with_friction(
    model: Model,
    request: Request,
    state: State,
    external: External,
    problem: Problem,
    first: Accelerations,
    answer: Solver,
) -> Rubbed:
    """From the solution without friction; `answer` solves for the answers to it."""
    acting = loads_on(model, state, external, passive=request.passive)
    own = dynamics.sliding(model, state.qd)
    none = np.zeros(len(problem.b))
    answers = [answer(problem._replace(F=-column, b=none)) for column in own.D]
    unit = unit_wrenches(model, request, state)
    still, at_rest = np.zeros(model.nv), replace(model, gravity=np.zeros(3))
    of_motion = newton_euler.wrenches(
        model, state.q, state.qd, first.qdd, _added(acting.wrenches, unit, first.lam)
    )
    of_loads = [
        newton_euler.wrenches(at_rest, state.q, still, x.qdd, _added(no_wrenches(model), unit, x.lam))
        for x in answers
    ]
    forms = tree.formed(model, state.q, own.surfaces, of_motion, of_loads)
    joints = dynamics.carried(model, own, state.q, state.qd, state.tau, acting)
    both = System(own.surfaces, own.slips, joints, Response(first.qdd, [x.qdd for x in answers], *forms))
    loads = system.solve(both, None, SWEEPS)
    lam = sum((times(n, x.lam) for x, n in zip(answers, loads.N, strict=True)), first.lam)
    solved = first._replace(qdd=both.accelerations(loads.N), lam=lam)
    loaded = Loaded(own, joints, both.forms(loads.N), loads.N)
    return Rubbed(solved, own.efforts(loads.N, model.nv), loads, loaded)


def of_motion(
    model: Model, request: Request, state: State, qdd: Vector, lam: Vector, acting: Loads
) -> Vector:
    """Efforts of friction (nv,) while the rows kept have the multipliers `lam`, and motors the efforts of the state."""
    on = acting._replace(wrenches=_added(acting.wrenches, unit_wrenches(model, request, state), lam))
    method = request_of("inverse_dynamics").method
    return dynamics.friction_of_motion(model, method, state.q, state.qd, qdd, on, state.tau).efforts


def unit_wrenches(model: Model, request: Request, state: State) -> list[dict[int, Vector] | None]:
    """What unit multipliers of the rows kept put on bodies."""
    every = wrench_rows(model, constraints_of(model), state.q, state.time)
    return [every[k] for k in request.kept]


def _added(w_ext: Sequence[Any], unit: Sequence[dict[int, Vector] | None], lam: Vector) -> list[Any]:
    found = list(w_ext)
    for row, force in zip(unit, lam, strict=True):
        for i, w in (row or {}).items():
            found[i] = found[i] + array([x * force for x in w])
    return found


class LoadedTerms(NamedTuple):
    """Numbers of `loaded/terms.py`: M, F, the rows kept, forms at rest, by rate and by multiplier; efforts beside those
    of motors."""

    M: Matrix
    F: Vector
    A: Matrix
    b: Vector
    c: Vector
    Q: Matrix
    L: Matrix
    beside: Vector


def loaded_terms(
    model: Model, request: Request, state: State, external: External, problem: Problem
) -> LoadedTerms:
    """Of a state under constraints."""
    acting: Loads = loads_on(model, state, external, passive=request.passive)
    surfaces = surfaces_of(model)
    forced = tree.Forced(model, state.q, state.qd, state.tau + acting.efforts, acting.wrenches)
    x = tree.composite(forced, surfaces)
    c, Q = [form for row in x.forms for form in row], [row for rows in x.Q for row in rows]
    L = load_columns(model, request, state)
    return LoadedTerms(problem.M, problem.F, problem.A, problem.b, array(c), array(Q), L, acting.efforts)


def load_columns(model: Model, request: Request, state: State) -> Matrix:
    """Forms of all surfaces, one after the other, by unit multipliers of the rows kept (forms, rows)."""
    surfaces, qs = surfaces_of(model), coordinates(model, state.q)
    at_rest, still = replace(model, gravity=np.zeros(3)), np.zeros(model.nv)
    columns: list[list[Scalar]] = []
    for row in unit_wrenches(model, request, state):
        w_ext = _added(no_wrenches(model), [row], array([1.0]))
        w = newton_euler.wrenches(at_rest, state.q, still, still, w_ext)
        columns.append([form for s in surfaces for form in s.forms(w[s.body], qs[s.body])])
    count = sum(len(s.forms(np.zeros(6), qs[s.body])) for s in surfaces)
    return array(columns).T if columns else np.zeros((count, 0))
