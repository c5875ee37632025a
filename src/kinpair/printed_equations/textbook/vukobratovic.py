"""Vukobratović, chapters 1 to 3 (`popov`, `lagrange`, `appell`): linear forms, Lagrange's forms, Renaud's graph.

Numbers with a dot are those of the book, where its text has them; others are ours, see docs/equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinpair.formulations import appell, kinematics, lagrange, lagrange_cylinders, popov
from kinpair.formulations.graph import renaud, sliding
from kinpair.formulations.linear_forms import accelerations, assembled, forms
from kinpair.formulations.roberson_wittenburg import arcs_of
from kinpair.model.model import Model
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, symbol

LATER_POPOV = ("epsilon", "w", "F", "M", "f", "n", "P")
LATER_LAGRANGE = ("tau",)
LATER_APPELL = ("S", "Q", "tau")
LATER_CYLINDERS = ("tau",)


def graph(model: Model) -> Iterator[Symbol]:
    """Renaud's description of the tree, chapter 1.2."""
    x = renaud(arcs_of(model))
    yield symbol("e", "1.2", "e_ij = 1: body j sits on body i", x.e, "e")
    yield symbol(
        "epsilon_ij", "1.2", "ε_ij = 1: body i lies on the chain from body 0 to j", x.epsilon, r"\varepsilon"
    )
    yield symbol("a_i", "1.2", "a(i): number of the body that carries i, 0 the ground", x.a, "a(i)")
    yield symbol("sigma", "1.2", "σ = 0: turns, 1: slides; by rate", sliding(model), r"\sigma")


def _rates(model: Model) -> Blocks:
    return Blocks(model.joint_names[1:], model.v_span[1:])


def _of_forms(x: Moment) -> tuple[np.ndarray, np.ndarray]:
    """α and β (n, 3, nv)."""
    model = x.model
    alpha, beta = np.zeros((2, len(model.moving), 3, model.nv))
    for i, own in zip(model.moving, forms(model, assembled(model, x.q))[1:], strict=True):
        for k, form in own.items():
            alpha[i - 1][:, model.v_span[k]], beta[i - 1][:, model.v_span[k]] = form.alpha, form.beta
    return alpha, beta


def _linear(x: Moment) -> Iterator[Symbol]:
    """The linear forms of the accelerations."""
    model = x.model
    rest = accelerations(model, assembled(model, x.q), x.q, x.qd, np.zeros(model.nv))
    alpha, beta = _of_forms(x)
    yield symbol("omega", "(LF4)", "angular velocities, by body", _column(rest, "omega"), r"\omega")
    yield symbol("alpha", "(LF8)", "ε_i = Σ α_ik q̈_k + α_i⁰, by body", alpha, r"\alpha")
    yield symbol(
        "alpha0", "(LF8)", "angular accelerations at q̈ = 0, by body", _column(rest, "epsilon"), r"\alpha^0"
    )
    yield symbol("beta", "(LF9)", "w_i = Σ β_ik q̈_k + β_i⁰, by body", beta, r"\beta")
    yield symbol(
        "beta0", "(LF9)", "accelerations of the mass centres at q̈ = 0", _column(rest, "w"), r"\beta^0"
    )


def _column(values: Any, name: str) -> np.ndarray:
    return np.array([np.asarray(getattr(value, name), dtype=float) for value in values[1:]])


def of_popov(x: Moment) -> Iterator[Symbol]:
    """Pair by pair in inertial axes; the wrenches of cut joints of a closed chain are applied loads."""
    model, rates = x.model, _rates(x.model)
    placed = assembled(model, x.q)
    yield symbol("R", "(LF1)", "axes of the bodies, by body", _column(placed, "R"), "R")
    yield symbol("a", "(LF2)", "joint of the parent to the own joint, by body", _column(placed, "a"), "a")
    yield symbol("d", "(LF2)", "joint to mass centre, by body", _column(placed, "d"), "d")
    yield symbol("J", "(LF2)", "inertia about the mass centre, by body", _column(placed, "I"), "J")
    yield symbol("e_k", "(LF3)", "axes of the pairs, one a rate", _joined(x, placed, "e"), "e")
    yield symbol(
        "u_k", "(LF3)", "directions of sliding of the pairs, one a rate", _joined(x, placed, "u"), "u"
    )
    yield from _linear(x)
    yield symbol(
        "H", "(PV6)", "inertia matrix, P = H q̈ + h", popov.mass_matrix(model, x.q), "H", rates, rates
    )
    h = popov.inverse_dynamics(model, x.q, x.qd, np.zeros(model.nv), x.w_ext)
    yield symbol("h", "(PV4)", "drives at q̈ = 0", h, "h", rates)
    yield from _rows(x, rates)
    if x.qdd is None or x.tau is None:
        return
    efforts, wrenches = x.cut
    moved = accelerations(model, placed, x.q, x.qd, x.qdd)
    F = [-model.body[i].m * moved[i].w for i in model.moving]
    M = [-popov.turning_couple(model.body[i], placed[i], moved[i]) for i in model.moving]
    w = np.array(popov.wrenches(model, placed, moved, wrenches)[1:])
    P = popov.drives(model, placed, moved, x.qdd, wrenches)
    yield symbol("q_ddot", "(LF5)", "accelerations of the pairs", x.qdd, r"\ddot q", rates)
    yield symbol(
        "epsilon", "(LF5)", "angular accelerations, by body", _column(moved, "epsilon"), r"\varepsilon"
    )
    yield symbol("w", "(LF7)", "accelerations of the mass centres, by body", _column(moved, "w"), "w")
    yield symbol("F", "(PV1)", "inertia forces, by body", F, "F")
    yield symbol("M", "(PV1)", "inertia couples, by body", M, "M")
    yield symbol("f", "(PV2)", "reaction forces of the pairs, by body", w[:, 3:], "f")
    yield symbol("n", "(PV3)", "reaction couples of the pairs, by body", w[:, :3], "n")
    yield symbol("P", "(PV4)", "drives", P - (efforts - x.tau), "P", rates)


def _joined(x: Moment, placed: Any, name: str) -> np.ndarray:
    columns = np.zeros((3, x.model.nv))
    for i in x.model.moving:
        columns[:, x.model.v_span[i]] = getattr(placed[i], name)
    return columns


def _rows(x: Moment, rates: Blocks) -> Iterator[Symbol]:
    """Rows of the joint at which a closed chain is cut."""
    if x.loops.names:
        rows = Blocks(x.loops.names, tuple(slice(k, k + 1) for k in range(len(x.loops.names))))
        yield symbol("G", "(CS1)", "rows of the cut joints, G q̈ = b", x.loops.A, "G", rows, rates)
        yield symbol("b", "(CS1)", "right side of the rows", x.loops.b, "b", rows)
        if x.qdd is not None:
            yield symbol(
                "lam", "(CS1)", "multipliers of the rows, H q̈ + h = P + Gᵀλ", x.multipliers, r"\lambda", rows
            )


def of_lagrange(x: Moment) -> Iterator[Symbol]:
    """Lagrange's equations for links of general inertia, with the graph of chapter 1.2."""
    model, rates = x.model, _rates(x.model)
    yield from graph(model)
    alpha, beta = _of_forms(x)
    T, V = lagrange.energies(model, x.q, x.qd)
    g = kinematics_gravity(x)
    yield symbol("q", "1.2", "generalised coordinates", x.q, "q")
    yield symbol("q_dot", "1.2", "their rates", x.qd, r"\dot q", rates)
    yield symbol("alpha", "(LG1)", "ω_i = Σ α_ik q̇_k, by body", alpha, r"\alpha")
    yield symbol("beta", "(LG1)", "v_i = Σ β_ik q̇_k, by body", beta, r"\beta")
    yield symbol("E_k", "1.2", "kinetic energy [J]", T, "E_k")
    yield symbol("E_p", "1.2", "potential energy of gravity [J]", V, "E_p")
    yield symbol("L", "1.2", "Lagrange function E_k − E_p [J]", T - V, "L")
    yield symbol(
        "H", "(LG2)", "inertia matrix, E_k = ½ q̇ᵀ H q̇", lagrange.mass_matrix(model, x.q), "H", rates, rates
    )
    h = lagrange.inverse_dynamics(model, x.q, x.qd, np.zeros(model.nv), x.w_ext)
    if all(model.body[i].pair.nq == model.body[i].pair.nv for i in model.moving):
        C = lagrange.coriolis_matrix(model, x.q, x.qd)
        yield symbol("C", "(LG8)", "Christoffel's matrix", C, "C", rates, rates)
    yield symbol("Q_g", "(LG6)", "∂E_p/∂q", g, r"\partial E_p/\partial q", rates)
    yield symbol("h", "(LG6)", "efforts at q̈ = 0", h, "h", rates)
    if x.qdd is not None and x.tau is not None:
        yield symbol("q_ddot", "(LG6)", "accelerations", x.qdd, r"\ddot q", rates)
        yield symbol("Q", "1.2", "d/dt ∂E_k/∂q̇ − ∂E_k/∂q: efforts less gravity", x.tau - g, "Q", rates)
        yield symbol("tau", "(LG6)", "efforts", x.tau, r"\tau", rates)


def kinematics_gravity(x: Moment) -> np.ndarray:
    """∂V/∂q (nv,): efforts that hold the mechanism at rest."""
    still = np.zeros(x.model.nv)
    return lagrange.inverse_dynamics(x.model, x.q, still, still, x.w_ext)


def of_cylinders(x: Moment) -> Iterator[Symbol]:
    """Cylinders on hinges, (1.1) to (1.25); `by link` arrays have the link first."""
    model, rates = x.model, _rates(x.model)
    every = lagrange_cylinders.cylinders(model)[1:]
    where = kinematics.poses(model, x.q)
    alpha, beta = _of_forms(x)
    slopes = [np.array(lagrange_cylinders.inertia_slopes(model, x.q, i)) for i in model.moving]
    M1 = np.array(lagrange_cylinders.inertia_shares(model, x.q))
    M2 = np.array(lagrange_cylinders.convective_shares(model, x.q, x.qd))
    f = np.array(lagrange_cylinders.weight_shares(model, x.q))
    axes = np.array([where[i].R @ c.q for i, c in zip(model.moving, every, strict=True)])
    centres = np.array([where[i].R @ c.d + where[i].a for i, c in zip(model.moving, every, strict=True)])
    e = np.array([where[i].R[:, 2] for i in model.moving])
    r = np.array(
        [
            [
                centres[i - 1] - where[l].a if l in model.path_to_ground(i) else np.zeros(3)
                for i in model.moving
            ]
            for l in model.moving
        ]
    )
    energies = 0.5 * np.einsum("k,ikl,l->i", x.qd, M1, x.qd)
    yield from graph(model)
    yield symbol("phi", "(1.5)", "joint angles", x.q, r"\phi")
    yield symbol("phi_dot", "(1.6)", "joint rates", x.qd, r"\dot\phi", rates)
    yield symbol(
        "J_S", "(1.2)", "inertia about the axis of the cylinder, by link", [c.J_S for c in every], "J_S"
    )
    yield symbol("J_N", "(1.2)", "inertia across, by link", [c.J_N for c in every], "J_N")
    yield symbol("q_1", "(1.2)", "axes of the cylinders, by link", axes, "q_1")
    yield symbol("X", "(1.5)", "mass centres, by link", centres, "X")
    yield symbol("dX", "(1.7)", "∂X_i/∂φ_k, by link", beta, r"\partial X/\partial\phi")
    yield symbol("v", "(1.7)", "velocities of the mass centres, by link", beta @ x.qd, "v")
    yield symbol("e_l", "(1.8)", "hinge axes", e, "e")
    yield symbol("omega", "(1.8)", "angular velocities, by link", alpha @ x.qd, r"\omega")
    yield symbol(
        "r", "(1.15)", "r_li from hinge l to the mass centre of link i; zero if l does not carry i", r, "r"
    )
    yield symbol("E_k", "(1.12)", "kinetic energy ½ φ̇ᵀ M¹ⁱ φ̇ [J], by link", energies, "E_k")
    yield symbol("M1", "(1.16)", "inertia M¹ⁱ_lm, by link", M1, "M^1")
    yield symbol(
        "E_p",
        "(1.17)",
        "potential energy [J], by link",
        [-c.m * (model.gravity @ X) for c, X in zip(every, centres, strict=True)],
        "E_p",
    )
    yield symbol("dM1", "(1.21)", "∂M¹ⁱ/∂φ_k, by link and k", slopes, r"\partial M^1/\partial\phi")
    yield symbol("M2", "(1.25)", "M²ⁱ, the bracket of (1.23), by link", M2, "M^2")
    yield symbol("f", "(1.25)", "weight fⁱ, by link", f, "f")
    if x.qdd is not None:
        yield symbol("phi_ddot", "(1.23)", "joint accelerations", x.qdd, r"\ddot\phi", rates)
        yield symbol(
            "tau",
            "(1.25)",
            "joint torques of each link; their sum drives the chain",
            M1 @ x.qdd + M2 @ x.qd + f,
            r"\mathcal M",
        )


def of_appell(x: Moment) -> Iterator[Symbol]:
    """The energy of accelerations, chapters 1.4 and 2.3."""
    model, rates = x.model, _rates(x.model)
    yield from _linear(x)
    yield symbol("H", "(GA5)", "∂²S/∂q̈²", appell.mass_matrix(model, x.q), "H", rates, rates)
    yield symbol(
        "h", "(GA6)", "∂S/∂q̈ − Q at q̈ = 0", appell.bias_forces(model, x.q, x.qd, x.w_ext), "h", rates
    )
    gravity = appell.bias_forces(model, x.q, np.zeros(model.nv), x.w_ext)
    yield symbol("Q", "(GA3)", "generalised forces of gravity", -gravity, "Q", rates)
    if x.qdd is not None and x.tau is not None:
        S = appell.acceleration_energy(model, x.q, x.qd, x.qdd)
        yield symbol("q_ddot", "(GA2)", "accelerations", x.qdd, r"\ddot q", rates)
        yield symbol("S", "(GA1)", "energy of accelerations [N m/s²]", S, "S")
        yield symbol("tau", "(GA2)", "∂S/∂q̈ − Q", x.tau, r"\tau", rates)
