"""Sources beyond the five: Luh, Walker & Paul, Uicker, Kane, Roberson & Wittenburg.

The numbers are those of docs/equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kinpair.formulations import kane, kinematics, newton_euler, uicker
from kinpair.formulations import roberson_wittenburg as rw
from kinpair.formulations import roberson_wittenburg_augmented as augmented
from kinpair.formulations.graph import incidence, path
from kinpair.formulations.linear_forms import accelerations, assembled
from kinpair.formulations.roberson_wittenburg_augmented import augmented_bodies, floats, from_mass_centre
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, sixes, symbol
from kinpair.printed_equations.textbook.vukobratovic import graph

LATER_NEWTON_EULER = ("alpha", "a", "f", "n", "tau")
LATER_UICKER = ("q_ddot", "tau")
LATER_KANE = ("F_star", "tau")
LATER_AUGMENTED = ("q_ddot", "omega_dot", "tau")
LATER_GRAPH = ("B", "X", "Y")


def _rates(x: Moment) -> Blocks:
    return Blocks(x.model.joint_names[1:], x.model.v_span[1:])


def _column(values: Sequence[Any], name: str) -> np.ndarray:
    return np.array([np.asarray(getattr(value, name), dtype=float) for value in values[1:]])


def of_newton_euler(x: Moment) -> Iterator[Symbol]:
    """Outward motion and inward wrenches, in axes of the bodies."""
    model, rates = x.model, _rates(x)
    places = kinematics.placements(model, x.q)
    yield symbol("R", "(NE2)", "axes of the body in those of its parent, by body", _column(places, "R"), "R")
    yield symbol(
        "r",
        "(NE4)",
        "joint of the parent to the own joint, axes of the parent, by body",
        _column(places, "a"),
        "a",
    )
    moving, _ = newton_euler.motions(model, x.q, x.qd, np.zeros(model.nv) if x.qdd is None else x.qdd)
    yield symbol("omega", "(NE2)", "angular velocities, by body", _column(moving, "omega"), r"\omega")
    if x.qdd is None or x.tau is None:
        return
    w = np.array(newton_euler.wrenches(model, x.q, x.qd, x.qdd, x.w_ext)[1:])
    yield symbol("q_ddot", "(NE3)", "accelerations of the joints", x.qdd, r"\ddot q", rates)
    yield symbol("alpha", "(NE3)", "angular accelerations, by body", _column(moving, "alpha"), r"\alpha")
    yield symbol("a", "(NE4)", "accelerations of the joint points less g, by body", _column(moving, "a"), "a")
    yield symbol("f", "(NE5)", "forces of the joints, by body", w[:, 3:], "f")
    yield symbol("n", "(NE6)", "moments of the joints, by body", w[:, :3], "n")
    yield symbol("tau", "(NE7)", "efforts", x.tau, r"\tau", rates)


def of_uicker(x: Moment) -> Iterator[Symbol]:
    """Coefficients by 4 × 4 matrices; loops are closed by rows A q̈ = b."""
    model, rates = x.model, _rates(x)
    terms = uicker.terms(model, x.q)
    where = kinematics.poses(model, x.q)
    n = model.nv
    D3 = np.zeros((n, n, n))
    for i, entries in enumerate(uicker.convective(model, terms)):
        for (j, k), value in entries.items():
            D3[i, j, k] = D3[i, k, j] = value
    T = [_homogeneous(where[i].R, where[i].R @ model.body[i].d + where[i].a) for i in model.moving]
    Delta = [np.vstack([D, np.zeros(4)]) for D in terms.Delta]
    W = [uicker.second_moments(model.body[i], where[i]) for i in model.moving]
    yield symbol("T", "(U1)", "pose of the mass centre of each body", T, "T")
    yield symbol("Delta", "(U1)", "derivative operators in the world, by rate", Delta, r"\Delta")
    yield symbol("W", "(U3)", "second moments T Ψ Tᵀ, by body", W, "W")
    yield symbol(
        "D_ij",
        "(U4)",
        "inertia coefficients, without rotors",
        uicker.inertias(model, terms),
        "D_{ij}",
        rates,
        rates,
    )
    yield symbol("D_ijk", "(U5)", "convective coefficients", D3, "D_{ijk}")
    yield symbol("D_i", "(U6)", "gravity coefficients", uicker.weights(model, terms), "D_i", rates)
    if x.loops.names:
        rows = Blocks(x.loops.names, tuple(slice(k, k + 1) for k in range(len(x.loops.names))))
        yield symbol("A", "(CS1)", "rows of the loop closures, A q̈ = b", x.loops.A, "A", rows, rates)
        yield symbol("b", "(CS1)", "right side of the rows", x.loops.b, "b", rows)
        if x.qdd is not None:
            yield symbol("lam", "(CS1)", "multipliers of the rows", x.multipliers, r"\lambda", rows)
    if x.qdd is not None and x.tau is not None:
        yield symbol("q_ddot", "(U7)", "accelerations", x.qdd, r"\ddot q", rates)
        yield symbol("tau", "(U7)", "efforts", x.tau, r"\tau", rates)


def _homogeneous(R: np.ndarray, a: np.ndarray) -> np.ndarray:
    return np.vstack([np.column_stack([R, a]), [0.0, 0.0, 0.0, 1.0]])


def of_kane(x: Moment) -> Iterator[Symbol]:
    """Partial velocities and generalised forces; the speeds are the rates."""
    model, rates = x.model, _rates(x)
    placed = assembled(model, x.q)
    partial = kane.partial_velocities(model, placed)
    omega, v = np.zeros((2, len(model.moving), 3, model.nv))
    for i in model.moving:
        for part in partial[i]:
            omega[i - 1][:, part.at], v[i - 1][:, part.at] = part.omega, part.v
    active = kane.active_forces(model, placed, partial, x.w_ext, model.nv)
    yield symbol("omega_ir", "(KN1)", "partial angular velocities, by body", omega, r"\omega_r")
    yield symbol("v_ir", "(KN1)", "partial velocities of the mass centres, by body", v, "v_r")
    yield symbol("H", "(KN6)", "inertia matrix, with rotors", kane.mass_matrix(model, x.q), "H", rates, rates)
    yield symbol("F_g", "(KN3)", "generalised active forces of gravity", active, "F_g", rates)
    if x.qdd is not None and x.tau is not None:
        moved = accelerations(model, placed, x.q, x.qd, x.qdd)
        inertial = kane.inertia_forces(model, placed, moved, partial, model.nv) - kane.rotors(model) * x.qdd
        yield symbol("u_dot", "(KN5)", "derivatives of the speeds", x.qdd, r"\dot u", rates)
        yield symbol("F", "(KN3)", "generalised active forces, drives with them", active + x.tau, "F", rates)
        yield symbol("F_star", "(KN4)", "generalised inertia forces, F + F* = 0", inertial, "F^*", rates)
        yield symbol("tau", "(KN5)", "efforts", x.tau, r"\tau", rates)


def of_graph(x: Moment) -> Iterator[Symbol]:
    """Incidence and path matrix, partial velocities, A q̈ = B, forces and couples of the joints."""
    model, rates = x.model, _rates(x)
    arcs = rw.arcs_of(model)
    S_0, S = incidence(arcs)
    placed = rw.links(model, x.q)
    n = len(model.moving)
    a1, a2, CT = np.zeros((n, 3, model.nv)), np.zeros((n, 3, model.nv)), np.zeros((n + 1, n, 3))
    for (i, a), block in rw.partial_velocities(model, placed).items():
        a1[i - 1][:, model.v_span[a]], a2[i - 1][:, model.v_span[a]] = block, placed[a].e
    for (k, i), vector in rw.carried_vectors(model, x.q, arcs).items():
        CT[k, i - 1] = vector
    rest = rw.motions(model, x.q, x.qd, np.zeros(model.nv), placed)
    yield symbol("S_0", "(GR1)", "incidence row of the ground; arc i leads outward to body i", S_0, "S_0")
    yield symbol("S", "(GR1)", "incidence matrix, bodies × arcs", S, "S")
    yield symbol("T", "(GR2)", "path matrix, arcs × bodies; T S = S T = 1", path(arcs), "T")
    yield from graph(model)
    yield symbol("CT", "(RW2)", "(CT)_ki: what body k adds to C_i, ground first, by k and i", CT, "CT")
    yield symbol("omega", "(RW1)", "angular velocities, by body", _column(rest, "omega"), r"\omega")
    yield symbol("a1", "(RW3)", "partial velocities of the mass centres, by body", a1, "a_1")
    yield symbol("a2", "(RW3)", "partial angular velocities, by body", a2, "a_2")
    yield symbol(
        "b1", "(RW5)", "accelerations of the mass centres at q̈ = 0, by body", _column(rest, "a"), "b_1"
    )
    yield symbol("b2", "(RW4)", "angular accelerations at q̈ = 0, by body", _column(rest, "alpha"), "b_2")
    A = rw.mass_matrix(model, x.q)
    yield symbol("A", "(RW6)", "inertia matrix, A q̈ = B", A, "A", rates, rates)
    if x.qdd is not None and x.tau is not None:
        forces, couples = rw.constraint_forces(model, x.q, x.qd, x.qdd, x.w_ext, arcs)
        h = rw.inverse_dynamics(model, x.q, x.qd, np.zeros(model.nv), x.w_ext)
        yield symbol("B", "(RW7)", "right side of A q̈ = B", x.tau - h, "B", rates)
        yield symbol("q_ddot", "(RW8)", "accelerations", x.qdd, r"\ddot q", rates)
        yield symbol("X", "(RW9)", "forces of the joints on body i⁺, by arc", forces, "X")
        yield symbol("Y", "(RW10)", "couples of the joints on body i⁺, by arc", couples, "Y")


def of_augmented(x: Moment) -> Iterator[Symbol]:
    """Augmented bodies of a floating tree, and where only the root slides their equations of motion."""
    model, rates = x.model, _rates(x)
    body = augmented_bodies(model, x.q)
    b = np.array([[body.b[k, i] for i in model.moving] for k in model.moving])
    r = [from_mass_centre(body, i, model.moving) for i in model.moving]
    yield symbol("M", "(RA1)", "mass of the system [kg]", body.M, "M")
    yield symbol("b", "(RA2)", "b_ki from the barycentre of k towards body i, by k and i", b, "b")
    yield symbol("r", "(RA3)", "mass centres from that of the system, Σ_k b_ki, by body", r, "r")
    yield symbol("K", "(RA4)", "inertias of the augmented bodies, by body", body.K[1:], "K")
    if not floats(model):
        return
    turning, sides = augmented.turning(model, x.q, x.qd), sixes(x.bodies, 3)
    yield symbol(
        "Phi", "(RA6)", "Φ of Φ ω̇ + h = L + couples of the joints", turning.Phi, r"\Phi", sides, sides
    )
    yield symbol("h", "(RA6)", "terms of the rates", turning.h, "h", sides)
    yield symbol("a2", "(RW3)", "ω̇ = a2 q̈ + b2", turning.a2, "a_2", sides, rates)
    yield symbol("b2", "(RW4)", "ω̇ at q̈ = 0", turning.b2, "b_2", sides)
    if x.qdd is not None:
        tau = augmented.inverse_dynamics(model, x.q, x.qd, x.qdd)
        yield symbol("q_ddot", "(RA8)", "accelerations", x.qdd, r"\ddot q", rates)
        yield symbol(
            "omega_dot", "(RA6)", "ω̇ of the bodies", turning.a2 @ x.qdd + turning.b2, r"\dot\omega", sides
        )
        yield symbol("tau", "(RA8)", "efforts, constraint couples removed", tau, r"\tau", rates)
