"""Response of a tree to the loads of its surfaces, by composite bodies or by any formulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.formulations import newton_euler, zhao_gu
from kinpair.formulations.carried_wrenches import carried_wrenches
from kinpair.formulations.catalogue import FORMULATIONS
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.solution import Solution
from kinpair.formulations.zhao_gu_friction import reaction_response
from kinpair.friction.loads.system import Response, dot
from kinpair.friction.surfaces.surface import Surface
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates, each, joined, rate_tree
from kinpair.spatial.twist import rotate


class Forced(NamedTuple):
    """A tree under efforts and wrenches at one state."""

    model: Model
    q: Vector
    qd: Vector
    tau: Vector
    w_ext: Sequence[Any]


class Composite(NamedTuple):
    """H q̈ = F without friction, and the forms of the surfaces at q̈ = 0 and by rate (forms, nv); factors of H."""

    H: Matrix
    F: Vector
    forms: list[list[Scalar]]
    Q: list[list[list[Scalar]]]
    factors: tree_ldl.TreeFactors

    @property
    def soundness(self) -> tuple[Vector, Vector]:
        """Pivots of H, and what they are judged by."""
        return tree_ldl.pivots(self.factors), np.diag(self.H)


def composite(x: Forced, surfaces: Sequence[Surface]) -> Composite:
    """By composite bodies: H, and the wrenches as linear forms of q̈, in one walk."""
    model, qs = x.model, coordinates(x.model, x.q)
    bias = newton_euler.wrenches(model, x.q, x.qd, np.zeros(model.nv), x.w_ext)
    h = joined(model, each(model, lambda body, w, own: body.pair.p(own).T @ w, bias, qs))
    H, on = carried_wrenches(model, x.q, {s.body for s in surfaces})
    forms, Q = list[list[Scalar]](), list[list[list[Scalar]]]()
    for s in surfaces:
        columns = {
            model.v_span[j].start + n: s.forms(w[:, n], qs[s.body])
            for j, w in on[s.body].items()
            for n in range(w.shape[1])
        }
        own = s.forms(bias[s.body], qs[s.body])
        forms.append(own)
        Q.append([[columns[v][m] if v in columns else 0.0 for v in range(model.nv)] for m in range(len(own))])
    return Composite(H, x.tau - h, forms, Q, tree_ldl.factor(H, *rate_tree(model)))


def by_composite_bodies(
    x: Forced, surfaces: Sequence[Surface], D: Sequence[Vector]
) -> tuple[Response, Solution]:
    """The response from the forms by rate."""
    own = composite(x, surfaces)
    qdd = tree_ldl.solve(own.factors, own.F)
    by_load = [-tree_ldl.solve(own.factors, column) for column in D]
    forms = [
        [c + dot(row, qdd) for c, row in zip(*k, strict=True)] for k in zip(own.forms, own.Q, strict=True)
    ]
    by_forms = [[[dot(row, a) for row in Q] for a in by_load] for Q in own.Q]
    return Response(qdd, by_load, forms, by_forms), Solution(qdd, *own.soundness)


def by_formulation(
    x: Forced, method: str, surfaces: Sequence[Surface], D: Sequence[Vector]
) -> tuple[Response, Solution]:
    """Accelerations and reactions of a formulation, one column after the other; reactions are Newton and Euler's where
    it has none of its own."""
    row, model = FORMULATIONS[method], x.model
    solution = row.forward_dynamics(model, x.q, x.qd, x.tau, x.w_ext)
    still, nothing = np.zeros(model.nv), no_wrenches(model)
    at_rest = replace(model, gravity=np.zeros(3))
    by_load = [row.forward_dynamics(at_rest, x.q, still, -column, nothing).qdd for column in D]
    of_motion = wrenches_of(method, model, x.q, x.qd, solution.qdd, x.w_ext)
    of_loads = [wrenches_of(method, at_rest, x.q, still, a, nothing) for a in by_load]
    return Response(solution.qdd, by_load, *formed(model, x.q, surfaces, of_motion, of_loads)), solution


def formed(
    model: Model, q: Vector, surfaces: Sequence[Surface], first: ByBody, columns: Sequence[ByBody]
) -> tuple[list[list[Scalar]], list[list[list[Scalar]]]]:
    """Forms of the surfaces from wrenches by body, and from those of each load."""
    qs = coordinates(model, q)
    return (
        [s.forms(first[s.body], qs[s.body]) for s in surfaces],
        [[s.forms(w[s.body], qs[s.body]) for w in columns] for s in surfaces],
    )


def wrenches_of(
    method: str, model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]
) -> ByBody:
    """Wrench on each body from its pair, at O_i in axes of the body."""
    reactions = FORMULATIONS[method].reactions
    if reactions is None or method == "newton-euler":
        return newton_euler.wrenches(model, q, qd, qdd, w_ext)
    qs = coordinates(model, q)
    return [
        None,
        *(
            rotate(model.body[i].pair.rotation(qs[i]).T @ model.R_joint[i], w)
            for i, w in enumerate(reactions(model, q, qd, qdd, w_ext))
            if i
        ),
    ]


def by_reaction_equation(
    x: Forced, surfaces: Sequence[Surface], D: Sequence[Vector]
) -> tuple[Response, Solution]:
    """Zhao & Gu's: wrenches from the reaction equation, in which there is no acceleration; then those of motion."""
    model = x.model
    solution = zhao_gu.forward_dynamics(model, x.q, x.qd, x.tau, x.w_ext)
    factors = tree_ldl.factor(zhao_gu.mass_matrix(model, x.q), *rate_tree(model))
    by_load = [-tree_ldl.solve(factors, column) for column in D]
    wrenches = reaction_response(model, x.q, x.qd, x.w_ext)
    first, columns = wrenches(x.tau, False), [wrenches(-column, True) for column in D]
    return Response(solution.qdd, by_load, *formed(model, x.q, surfaces, first, columns)), solution
