"""Response of a tree to the loads of its surfaces, by composite bodies or by any formulation.

The same system with the accelerations as unknowns has fewer operations, since nothing is solved beforehand:

    H q̈ + Σ_l D_l N_l = F,   N_l = load_l(c_l, −μ_l u_l N_l),   c_l = c_l(0) + Q_l q̈                    (FN1)
    Γ_l = (∂load_l/∂c) Q_l / e_l,   e_l = 1 − dload_l/dN_l                                              (FN2)
    (H + D Γ) δq̈ = L − D N,   L ← L − H δq̈                                                              (FN3)
    q̈ = H⁻¹(F − D N⁰),   L = D N⁰,   N⁰: loads of the frictionless motion H⁻¹F                            (FN4)

L = F − H q̈ is what friction would have to be. It is the sweep (FS4), and det J has the sign of det(H + D Γ) Π e. The
matrix H + D Γ is computed anew in the first sweeps only; those after them cost half, and converge as well.

After the last step nothing is evaluated. With r the size of L − D N before a step, and k the last one, a step with the
matrix of the one before leaves 2 r_k²/r_{k−1} to first order; five times as much is what counts:

    r = min(r_k, 10 r_k²/r_{k−1})                                                                       (FN5)

A load that jumps has the part θ of the jump as one more unknown, see (FS6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import lu, tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import minimum, sign
from kinpair.formulations import newton_euler
from kinpair.formulations.catalogue import FORMULATIONS
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.solution import Solution
from kinpair.friction.loads.system import (
    FEELING,
    Edge,
    Response,
    Slip,
    Solved,
    dot,
    edges_of,
    force_slope,
    sides,
)
from kinpair.friction.rounding import NOTHING
from kinpair.friction.surfaces.surface import Carried, Surface
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates, each, joined, rate_tree
from kinpair.spatial.pose import rotate


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
    """Compute by composite bodies: H, and the wrenches as linear forms of q̈, in one walk."""
    from kinpair.formulations.carried_wrenches import carried_wrenches

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
    from kinpair.formulations import zhao_gu
    from kinpair.formulations.zhao_gu_friction import reaction_response

    model = x.model
    solution = zhao_gu.forward_dynamics(model, x.q, x.qd, x.tau, x.w_ext)
    factors = tree_ldl.factor(zhao_gu.mass_matrix(model, x.q), *rate_tree(model))
    by_load = [-tree_ldl.solve(factors, column) for column in D]
    wrenches = reaction_response(model, x.q, x.qd, x.w_ext)
    first, columns = wrenches(x.tau, False), [wrenches(-column, True) for column in D]
    return Response(solution.qdd, by_load, *formed(model, x.q, surfaces, first, columns)), solution


CAUTION = 10.0  # in (FN5)


class Equations(NamedTuple):
    """(FN1): H with its factors, F, D by surface (nv,), c_k(0), and Q_k by form (forms, nv)."""

    H: Matrix
    factors: tree_ldl.TreeFactors
    F: Vector
    D: Sequence[Vector]
    forms: Sequence[Sequence[Scalar]]
    Q: Sequence[Sequence[Sequence[Scalar]]]


class Sweeps(NamedTuple):
    """Number of sweeps, in how many of the first the matrix is computed anew, and whether they start under the loads
    of the frictionless motion (FN4), or from that motion itself."""

    number: int
    anew: int
    settled: bool = True


class Rubbing(NamedTuple):
    """Surfaces, how each slides, and what its joint is in."""

    surfaces: Sequence[Surface]
    slips: Sequence[Slip]
    joints: Sequence[Carried]


class _Slopes(NamedTuple):
    """Factors of H + D Γ with the rows of jumps behind, ∂N/∂c by surface, and the sign of the determinant."""

    factors: lu.LUFactors
    by_form: list[list[Scalar]]
    orientation: Scalar


def solve(x: Equations, own: Rubbing, sweeps: Sweeps) -> tuple[Vector, Solved]:
    """q̈ and N from the frictionless motion."""
    qdd = tree_ldl.solve(x.factors, x.F)
    if sweeps.settled:
        return solve_from(x, own, loads_of(own, forms_of(x, qdd)), sweeps)
    return _swept(x, own, qdd, np.zeros(len(own.surfaces)), sweeps)


def solve_from(x: Equations, own: Rubbing, N: Vector, sweeps: Sweeps) -> tuple[Vector, Solved]:
    """Solve from the motion under these loads.    (FN4)"""
    return _swept(x, own, tree_ldl.solve(x.factors, x.F - _efforts(x, N)), N, sweeps)


def _swept(x: Equations, own: Rubbing, qdd: Vector, N: Vector, sweeps: Sweeps) -> tuple[Vector, Solved]:
    """Solve by two sweeps or more, from accelerations that meet the first of (FN1) with loads N."""
    L, slopes, sizes = _efforts(x, N), list[_Slopes](), list[Scalar]()
    step, n_rates, thetas = qdd, len(x.F), sides(own.surfaces, own.joints, forms_of(x, qdd))
    edges, moved = list[Edge](), [dot(column, column) for column in x.D]
    for n in range(sweeps.number):
        c = forms_of(x, qdd)
        edges, joints = edges_of(own.surfaces, own.joints, c, thetas, moved)
        here = own._replace(joints=joints)
        N = loads_of(here, c)
        if n < sweeps.anew:
            slopes.append(_slopes(x, here, c, N, edges))
        rubs = _efforts(x, N)
        missed = _missed(here, c, N)
        for edge in edges:
            missed[edge.surface] = missed[edge.surface] + edge.unmet
        sizes.append(_measured(x, L - rubs, rubs, missed))
        right = array([*(L - rubs), *(edge.right for edge in edges)])
        both = lu.solve(slopes[-1].factors, right)  # (FN3)
        step = both[:n_rates]
        thetas = [edge.theta + both[n_rates + k] for k, edge in enumerate(edges)]
        qdd, L = qdd + step, L - x.H @ step
    rows = zip(N, slopes[-1].by_form, x.Q, strict=True)
    after = [n + dot(slope, [dot(row, step) for row in Q]) for n, slope, Q in rows]
    for edge, theta in zip(edges, thetas, strict=True):
        after[edge.surface] = after[edge.surface] + edge.jump.height * (theta - edge.theta)
    last, before = sizes[-1], sizes[-2] + NOTHING
    residual = minimum(last, CAUTION * np.divide(last * last, before))  # (FN5)
    return qdd, Solved(array(after), residual, slopes[-1].orientation, N)


def forms_of(x: Equations, qdd: Vector) -> list[list[Scalar]]:
    """Compute the forms c_k.    (FN1)"""
    return [
        [c + dot(row, qdd) for c, row in zip(first, Q, strict=True)]
        for first, Q in zip(x.forms, x.Q, strict=True)
    ]


def loads_of(own: Rubbing, c: Sequence[Sequence[Scalar]]) -> Vector:
    """N at forms c, by Newton's method where a load depends on the friction force itself.    (FN1)"""
    loads = list[Scalar]()
    for x, slip, at, forms in zip(own.surfaces, own.slips, own.joints, c, strict=True):
        N = x.load(forms, slip.force(0.0), at)
        for _ in range(FEELING if x.feels_force else 0):
            missed = N - x.load(forms, slip.force(N), at)
            N = N - np.divide(missed, 1.0 - force_slope(x, forms, slip, N, at))
        loads.append(N)
    return array(loads)


def _missed(own: Rubbing, c: Sequence[Sequence[Scalar]], N: Vector) -> list[Scalar]:
    """N − load, of surfaces whose load depends on the friction force itself."""
    rows = zip(own.surfaces, own.slips, own.joints, c, N, strict=True)
    return [n - x.load(forms, slip.force(n), at) if x.feels_force else 0.0 for x, slip, at, forms, n in rows]


def _efforts(x: Equations, N: Vector) -> Vector:
    """Σ D_l N_l (nv,)."""
    return array([dot(row, N) for row in _by_rate(x.D, len(x.F))])


def _measured(x: Equations, left: Vector, rubs: Vector, missed: Sequence[Scalar]) -> Scalar:
    """L − D N against D N, or against the friction of 1 N in each surface where that is more."""
    ones = [dot(column, column) for column in x.D]
    error = sum((m * m * d for m, d in zip(missed, ones, strict=True) if not is_nothing(m)), dot(left, left))
    return np.sqrt(np.divide(error, dot(rubs, rubs) + sum(ones, NOTHING)))


def _slopes(
    x: Equations, own: Rubbing, c: Sequence[Sequence[Scalar]], N: Vector, edges: Sequence[Edge] = ()
) -> _Slopes:
    """(FN2), with rows of jumps behind."""
    by_form, signs = list[list[Scalar]](), list[Scalar]()
    for s, slip, at, forms, load in zip(own.surfaces, own.slips, own.joints, c, N, strict=True):
        slopes = s.slopes(forms, slip.force(load), at)
        if s.feels_force:
            e = 1.0 - force_slope(s, forms, slip, load, at)
            signs.append(sign(e))
            slopes = [np.divide(g, e) for g in slopes]
        by_form.append(slopes)
    rows = [_row(x, by_form, i) for i in range(len(x.F))]
    for i, row in enumerate(rows):
        row += [x.D[edge.surface][i] * edge.jump.height for edge in edges]
    for n, edge in enumerate(edges):
        k = edge.surface
        by_c = own.surfaces[k].jump_slopes(c[k], own.joints[k])
        by_rate = [dot(by_c, [form[j] for form in x.Q[k]]) for j in range(len(x.F))]
        rows.append(edge.row(by_rate, n, len(edges)))
    factors = lu.factor(rows)
    return _Slopes(factors, by_form, reduce(mul, [*signs, *(sign(pivot) for pivot in factors.D)]))


def _row(x: Equations, by_form: Sequence[Sequence[Scalar]], i: int) -> list[Scalar]:
    """Row i of H + D Γ."""
    weights = [D[i] * g for D, slopes in zip(x.D, by_form, strict=True) for g in slopes]
    forms = [row for Q in x.Q for row in Q]
    return [x.H[i, j] + dot(weights, [row[j] for row in forms]) for j in range(len(x.F))]


def _by_rate(D: Sequence[Vector], n: int) -> list[list[Scalar]]:
    return [[column[i] for column in D] for i in range(n)]
