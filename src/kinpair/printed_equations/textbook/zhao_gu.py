"""Zhao Yushan & Gu Liangxian 1991 (`zhao-gu`): distribution matrices, motion equation and reaction equation.

Translation in inertial axes, rotation in axes of the bodies, as in the source. P bodies, f coordinates Y, q components
of reactions. Closed chains are cut, as its conclusion proposes: the rows of the cut joints are `A` and `b`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kinpair.formulations import zhao_gu
from kinpair.formulations.linear_forms import rotors
from kinpair.formulations.zhao_gu_bodies import (
    jacobians,
    motions,
    placed,
    products,
    stacked,
    velocity_matrices,
)
from kinpair.formulations.zhao_gu_friction import friction_distribution
from kinpair.formulations.zhao_gu_reactions import distribution_matrix, filled_tensor, held, massless
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.model import Model
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, sixes, symbol

LATER = ("Y_ddot", "q_e", "q", "q_hat", "g")


def symbols(x: Moment) -> Iterator[Symbol]:
    """The symbols of sections 3 to 6."""
    model, Y, Yd = x.model, x.q, x.qd
    at = placed(model, Y)
    moved, J = motions(model, Y, Yd, at), jacobians(model, Y, at)
    J_bar = stacked(model, J)
    P = len(model.moving)
    sides, halves = _reactions(x), _halves(x)
    pairs = Blocks(model.joint_names[1:], model.v_span[1:])
    Q = distribution_matrix(model, held(model, Y, at))
    K_T, K_R = velocity_matrices(model, Y)
    friction = friction_distribution(
        model, Y, [(s.body, np.asarray(s.sliding())) for s in surfaces_of(model)]
    )
    yield symbol("Y", "(3.2)", "generalised coordinates", Y, r"\mathbf Y")
    yield symbol("Y_dot", "(3.2)", "their rates", Yd, r"\dot{\mathbf Y}", pairs)
    yield symbol(
        "S",
        "(3.1)",
        "axes of the parent seen from the body, by body",
        _by_body([y.S for y in at]),
        r"\mathbf S",
    )
    yield symbol(
        "omega",
        "(3.1)",
        "angular velocities, in axes of the bodies",
        _by_body([y.omega for y in moved]),
        r"\boldsymbol\omega",
    )
    yield symbol("J_R", "(3.2)", "ω_i = J_Ri Ẏ, by body", J_bar[3 * P :].reshape(P, 3, -1), r"\mathbf J_R")
    yield symbol("J_T", "(3.3)", "v_i = J_Ti Ẏ, by body", J_bar[: 3 * P].reshape(P, 3, -1), r"\mathbf J_T")
    yield symbol(
        "Y_dot2",
        "(3.4)",
        "products Ẏ_a Ẏ_b, a ≤ b, the columns of K_T and K_R",
        [Yd[a] * Yd[b] for a, b in products(model.nv)],
        r"\dot{\mathbf Y}^2",
    )
    yield symbol("K_R", "(3.4)", "α_i = J_Ri Ÿ + K_Ri Ẏ², by body", _by_body(K_R), r"\mathbf K_R")
    yield symbol("K_T", "(3.5)", "a_i = J_Ti Ÿ + K_Ti Ẏ², by body", _by_body(K_T), r"\mathbf K_T")
    yield symbol(
        "F", "(4.1)", "forces of unit reactions, by body", Q[: 3 * P].reshape(P, 3, -1), r"\mathbf F"
    )
    yield symbol(
        "L", "(4.1)", "moments of unit reactions, by body", Q[3 * P :].reshape(P, 3, -1), r"\mathbf L"
    )
    yield symbol(
        "F_f",
        "(4.2)",
        "forces of unit friction, by body",
        friction[: 3 * P].reshape(P, 3, -1),
        r"\mathbf F^f",
    )
    yield symbol(
        "L_f",
        "(4.2)",
        "moments of unit friction, by body",
        friction[3 * P :].reshape(P, 3, -1),
        r"\mathbf L^f",
    )
    M_bar = zhao_gu.mass(model)
    rest = zhao_gu.equations(model, Y, Yd, np.zeros(model.nv))
    yield symbol("M_bar", "(5.5)", "diag(m_i E, Ī_i)", M_bar, r"\bar{\mathbf M}", halves, halves)
    yield symbol("J_bar", "(5.6)", "all J_T, then all J_R", J_bar, r"\bar{\mathbf J}", halves, pairs)
    yield symbol("Q_bar", "(5.7)", "all F, then all L; J̄ᵀ Q̄ = 0 (6.3)", Q, r"\bar{\mathbf Q}", halves, sides)
    yield symbol("q_c", "(5.8)", "inertia forces at Ÿ = 0", rest.q_c, r"\bar{\mathbf q}^c", halves)
    yield symbol(
        "M", "(6.4)", "J̄ᵀ M̄ J̄, with rotors", zhao_gu.mass_matrix(model, Y), r"\mathbf M", pairs, pairs
    )
    yield symbol("K", "(6.4)", "J̄ᵀ q̄ᶜ", J_bar.T @ rest.q_c, r"\mathbf K", pairs)
    inverse = _inverse(model)
    if inverse is not None:
        yield symbol("N", "(6.5)", "N(Y) = Q̄ᵀ M̄⁻¹ Q̄", Q.T @ inverse @ Q, r"\mathbf N", sides, sides)
        yield symbol("K_hat", "(6.5)", "Q̄ᵀ M̄⁻¹ q̄ᶜ", Q.T @ inverse @ rest.q_c, r"\hat{\mathbf K}", sides)
    if len(x.loops.names):
        rows = Blocks(x.loops.names, tuple(slice(k, k + 1) for k in range(len(x.loops.names))))
        yield symbol("A", "(ZR7)", "rows of the cut joints, A Ÿ = b", x.loops.A, r"\mathbf A", rows, pairs)
        yield symbol("b", "(ZR7)", "right side of the rows", x.loops.b, r"\mathbf b", rows)
    if x.qdd is not None and x.tau is not None:
        yield from _forced(x, J_bar, Q, inverse, sides, halves, pairs)


def _forced(
    x: Moment,
    J_bar: np.ndarray,
    Q: np.ndarray,
    inverse: np.ndarray | None,
    sides: Blocks,
    halves: Blocks,
    pairs: Blocks,
) -> Iterator[Symbol]:
    """Terms that depend on efforts; a rotor takes its part of them, and wrenches of cut joints are applied forces."""
    model = x.model
    efforts, wrenches = x.cut
    equations = zhao_gu.equations(model, x.q, x.qd, efforts - rotors(model) * x.qdd, wrenches)
    yield symbol("Y_ddot", "(6.4)", "generalised accelerations", x.qdd, r"\ddot{\mathbf Y}", pairs)
    yield symbol(
        "q_e",
        "(5.8)",
        "applied forces: gravity, control, cut joints",
        equations.q_e,
        r"\bar{\mathbf q}^e",
        halves,
    )
    yield symbol(
        "q", "(6.6)", "generalised applied forces J̄ᵀ q̄ᵉ", J_bar.T @ equations.q_e, r"\mathbf q", pairs
    )
    if inverse is not None:
        N, right = Q.T @ inverse @ Q, Q.T @ inverse
        yield symbol("q_hat", "(6.5)", "Q̄ᵀ M̄⁻¹ q̄ᵉ", right @ equations.q_e, r"\hat{\mathbf q}", sides)
        g = np.linalg.solve(N, right @ (equations.q_c - equations.q_e))
        yield symbol("g", "(6.5)", "generalised reactions, N g + q̂ = K̂", g, r"\mathbf g", sides)


def _inverse(model: Model) -> np.ndarray | None:
    """M̄⁻¹ (6P, 6P), with any inertia about axes that a body never turns about; None where a body has no mass."""
    if massless(model):
        return None
    filled, P = zhao_gu.mass(model), len(model.moving)
    for i in model.moving:
        span = slice(3 * (P + i) - 3, 3 * (P + i))
        filled[span, span] = filled_tensor(model, i)
    return np.linalg.inv(filled)


def _by_body(values: Sequence[Any]) -> np.ndarray:
    """The values of the moving bodies; entry 0 belongs to the ground."""
    return np.array([np.asarray(value, dtype=float) for value in values[1:]])


def _halves(x: Moment) -> Blocks:
    """Three rows for the force on each body, then three for the moment."""
    return sixes([*(f"force {name}" for name in x.bodies), *(f"moment {name}" for name in x.bodies)], 3)


def _reactions(x: Moment) -> Blocks:
    """The components of each joint."""
    ends = np.cumsum([0, *(6 - x.model.body[i].pair.nv for i in x.model.moving)]).tolist()
    return Blocks(x.model.joint_names[1:], tuple(slice(*pair) for pair in pairwise(ends)))
