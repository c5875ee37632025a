"""Saha 1999 (`denoc`): the decoupled natural orthogonal complement in full, in inertial axes as in the source."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinpair.formulations import denoc
from kinpair.formulations.kinematics import poses
from kinpair.formulations.screw_algebra import swapped, wrenches_of
from kinpair.model.recursion import coordinates, rates
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, sixes, symbol
from kinpair.spatial.pose import shift_wrench, spin

LATER = ("theta_dd", "t_dot", "w", "w_E", "w_I", "w_tilde_E", "tau")


def symbols(x: Moment) -> Iterator[Symbol]:
    """The symbols of sections 1 to 3; blocks are 6 × 6, bodies in the order of the model."""
    model, q, qd = x.model, x.q, x.qd
    sides = sixes(x.bodies)
    pairs = Blocks(model.joint_names[1:], model.v_span[1:])
    where = poses(model, q)
    links = denoc.geometry(model, q)
    moving = denoc.motion(model, q, qd, links)
    turn = _diagonal([np.kron(np.eye(2), where[i].R) for i in model.moving])
    M = turn @ _diagonal([denoc.body_mass(model.body[i]) for i in model.moving]) @ turn.T
    M_dot = (
        turn
        @ _diagonal([denoc.body_mass_rate(model.body[i], moving[i].t[:3]) for i in model.moving])
        @ turn.T
    )
    N_l, N_d = denoc.complement(model, q)
    N_l, N_d = turn @ N_l @ turn.T, turn @ N_d
    Nl_dot, Nd_dot = denoc.complement_rate(model, q, qd)
    Nl_dot, Nd_dot = turn @ Nl_dot @ turn.T, turn @ Nd_dot
    Omega = turn @ _diagonal([spin(moving[i].t[:3]) for i in model.moving]) @ turn.T
    N, N_dot = N_l @ N_d, Nl_dot @ N_d + N_l @ Nd_dot
    t = N @ qd
    M_tilde, mu = N_l.T @ M @ N_l, N_l.T @ M_dot @ N_l
    H_tilde = N_l.T @ M @ Nl_dot
    yield symbol("theta_dot", "(5)", "joint rates", qd, r"\dot\theta", pairs)
    yield symbol("t", "(3)", "twists [ω; v] of the mass centres", t, r"\mathbf t", sides)
    yield symbol("Omega", "(4)", "angular velocities, diag(Ω_i)", Omega, r"\boldsymbol\Omega", sides, sides)
    yield symbol("M", "(4)", "mass matrices, diag(M_i)", M, r"\mathbf M", sides, sides)
    yield symbol(
        "M_dot", "(10)", "diag(Ṁ_i), Ṁ_i t_i the gyroscopic wrench", M_dot, r"\dot{\mathbf M}", sides, sides
    )
    yield symbol("N_l", "(17)", "twist propagation, blocks B_ij", N_l, r"\mathbf N_l", sides, sides)
    yield symbol("N_d", "(17)", "joint-rate propagation, diag(p_i)", N_d, r"\mathbf N_d", sides, pairs)
    yield symbol("N", "(16)", "complement N_l N_d, t = N θ̇", N, r"\mathbf N", sides, pairs)
    yield symbol(
        "Nl_dot", "(27)", "derivative of N_l, blocks Ḃ_ij", Nl_dot, r"\dot{\mathbf N}_l", sides, sides
    )
    yield symbol(
        "Nd_dot",
        "(26)",
        "derivative of N_d; Ω N_d for turning and sliding pairs",
        Nd_dot,
        r"\dot{\mathbf N}_d",
        sides,
        pairs,
    )
    yield symbol(
        "M_tilde",
        "(22)",
        "N_lᵀ M N_l; diagonal blocks: composite bodies (23)",
        M_tilde,
        r"\tilde{\mathbf M}",
        sides,
        sides,
    )
    yield symbol(
        "I",
        "(24)",
        "generalised inertia matrix, with rotors",
        denoc.mass_matrix(model, q),
        r"\mathbf I",
        pairs,
        pairs,
    )
    yield symbol(
        "H_tilde",
        "(27)",
        "N_lᵀ M Ṅ_l; below the diagonal the blocks H̃_ij of (28)",
        H_tilde,
        r"\tilde{\mathbf H}",
        sides,
        sides,
    )
    yield symbol(
        "mu",
        "(27)",
        "N_lᵀ Ṁ N_l; block (i, j) is μ of the outer of i and j, (28)",
        mu,
        r"\tilde{\dot{\mathbf M}}",
        sides,
        sides,
    )
    yield symbol(
        "M_tilde_prime",
        "(25)",
        "N_lᵀ M Ṅ_l + M̃ Ω + N_lᵀ Ṁ N_l",
        H_tilde + M_tilde @ Omega + mu,
        r"\tilde{\mathbf M}'",
        sides,
        sides,
    )
    yield symbol(
        "C",
        "(29)",
        "convective inertia Nᵀ(M Ṅ + Ṁ N)",
        denoc.coriolis_matrix(model, q, qd),
        r"\mathbf C",
        pairs,
        pairs,
    )
    if x.qdd is not None and x.tau is not None:
        yield from _forced(x, x.qdd, x.tau, N_l, N, N_dot, M, M_dot, t, turn, sides, pairs)


def _forced(
    x: Moment,
    qdd: np.ndarray,
    tau: np.ndarray,
    N_l: np.ndarray,
    N: np.ndarray,
    N_dot: np.ndarray,
    M: np.ndarray,
    M_dot: np.ndarray,
    t: np.ndarray,
    turn: np.ndarray,
    sides: Blocks,
    pairs: Blocks,
) -> Iterator[Symbol]:
    t_dot = N @ qdd + N_dot @ x.qd
    w = M @ t_dot + M_dot @ t
    w_E = turn @ _actuators(x, qdd, tau) + _weights(x)
    yield symbol("theta_dd", "(20)", "joint accelerations", qdd, r"\ddot\theta", pairs)
    yield symbol("t_dot", "(10)", "derivatives of the twists, N θ̈ + Ṅ θ̇", t_dot, r"\dot{\mathbf t}", sides)
    yield symbol("w", "(9)", "wrenches M ṫ + Ṁ t at the mass centres", w, r"\mathbf w", sides)
    yield symbol("w_E", "(18)", "external wrenches: gravity and actuators", w_E, r"\mathbf w^E", sides)
    yield symbol("w_I", "(18)", "constraint wrenches w − w_E; Nᵀ w_I = 0", w - w_E, r"\mathbf w^I", sides)
    yield symbol(
        "w_tilde_E",
        "(31)",
        "external wrenches of the composite bodies, N_lᵀ w_E",
        N_l.T @ w_E,
        r"\tilde{\mathbf w}^E",
        sides,
    )
    yield symbol(
        "tau", "(30)", "generalised forces Nᵀ w_E, gravity with them", N.T @ w_E, r"\boldsymbol\tau", pairs
    )


def _diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    n = len(blocks)
    whole = np.zeros((6 * n, 6 * n))
    for k, block in enumerate(blocks):
        whole[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
    return whole


def _weights(x: Moment) -> np.ndarray:
    """[0; m_i g] of each body."""
    return np.concatenate(
        [np.concatenate([np.zeros(3), x.model.body[i].m * x.model.gravity]) for i in x.model.moving]
    )


def _actuators(x: Moment, qdd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Wrenches of the actuators at the mass centres, in axes of the bodies: on a body, and opposite on its parent.

    An actuator with a rotor hands over τ − rotor q̈.
    """
    model = x.model
    links, qs = denoc.geometry(model, x.q), coordinates(model, x.q)
    efforts, qdds = rates(model, tau), rates(model, qdd)
    on = [np.zeros(6) for _ in model.parent]
    for i in model.moving:
        body = model.body[i]
        D = swapped(wrenches_of(body.pair).drive(body.pair, qs[i]))
        w = shift_wrench(D @ (efforts[i] - body.rotor * qdds[i]), -body.d)
        on[i], on[model.parent[i]] = on[i] + w, on[model.parent[i]] - links[i].B.T @ w
    return np.concatenate(on[1:])
