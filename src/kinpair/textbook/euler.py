"""Vukobratović 2.1.2 and 2.2.3 (`popov/euler`, `lagrange/links`, `lagrange/euler`): Euler angles of the links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kinpair.formulations import lagrange_euler, lagrange_links, popov_euler
from kinpair.formulations.popov_euler import Link
from kinpair.textbook.moment import Moment
from kinpair.textbook.record import Blocks, Symbol, symbol

LATER = ("eta_ddot", "epsilon", "Q", "Q_eta", "Q_z", "n", "f", "tau")


def _links(x: Moment) -> list[Link]:
    return popov_euler.links(x.model, x.q, x.qd, np.zeros(x.model.nv) if x.qdd is None else x.qdd)[1:]


def _angles(x: Moment, links: Sequence[Link]) -> Iterator[Symbol]:
    """η, Π and strokes of all links."""
    eta, eta_dot = (np.array([getattr(link.angles, name) for link in links]) for name in ("eta", "etad"))
    Pi = np.array([popov_euler.rates_matrix(angles) for angles in eta])
    Pi_dot = np.array([popov_euler.rates_matrix_rate(*pair) for pair in zip(eta, eta_dot, strict=True)])
    yield symbol("eta", "(EU1)", "Euler angles ψ, ϑ, φ, by link", eta, r"\eta")
    yield symbol("eta_dot", "(EU2)", "their rates, by link", eta_dot, r"\dot\eta")
    yield symbol("R", "(EU1)", "axes of the links", [popov_euler.rotation(angles) for angles in eta], "R")
    yield symbol("Pi", "(EU2)", "Π of ω = Π η̇, by link", Pi, r"\Pi")
    yield symbol("Pi_dot", "(EU3)", "its derivative, by link", Pi_dot, r"\dot\Pi")
    yield symbol("det_Pi", "(EU2)", "determinants of Π, by link", np.linalg.det(Pi), r"\det\Pi")
    yield symbol(
        "omega", "(EU2)", "angular velocities, by link", np.einsum("ijk,ik->ij", Pi, eta_dot), r"\omega"
    )
    yield symbol("z", "(EU4)", "displacements in the seats, by link", [link.z for link in links], "z")
    if x.qdd is not None:
        eta_ddot = np.array([link.angles.etadd for link in links])
        epsilon = np.einsum("ijk,ik->ij", Pi, eta_ddot) + np.einsum("ijk,ik->ij", Pi_dot, eta_dot)
        yield symbol("eta_ddot", "(EU3)", "second derivatives of the angles, by link", eta_ddot, r"\ddot\eta")
        yield symbol("epsilon", "(EU3)", "angular accelerations, by link", epsilon, r"\varepsilon")


def of_popov(x: Moment) -> Iterator[Symbol]:
    """Force sums of `popov` with the rotation of each link from its own angles."""
    links = _links(x)
    yield from _angles(x, links)
    if x.qdd is not None:
        P = popov_euler.drives(x.model, x.q, x.qdd, [None, *links], x.w_ext)
        yield symbol("tau", "(PV4)", "drives P", P, "P", Blocks(x.model.joint_names[1:], x.model.v_span[1:]))


def of_links(x: Moment) -> Iterator[Symbol]:
    """Lagrange's equations in angles and strokes of the links, every pair."""
    model, links = x.model, _links(x)
    yield from _angles(x, links)
    if x.qdd is not None:
        reacting = lagrange_links.reacting(model, x.q, x.qd, x.qdd, x.w_ext)
        Q = lagrange_links.forces(model, reacting.turned, [None, *links], x.w_ext)[1:]
        w = np.array(reacting.wrenches[1:])
        tau = lagrange_links.inverse_dynamics(model, x.q, x.qd, x.qdd, x.w_ext)
        yield symbol("Q_eta", "(LK5)", "forces along the angles, by link", [y.eta for y in Q], r"Q_\eta")
        yield symbol("Q_z", "(LK5)", "forces along the strokes, by link", [y.z for y in Q], "Q_z")
        yield symbol("n", "(LK5)", "couples of the joints, by link", w[:, :3], "n")
        yield symbol("f", "(LK5)", "forces of the joints, by link", w[:, 3:], "f")
        yield symbol("tau", "(LK6)", "efforts", tau, r"\tau", Blocks(model.joint_names[1:], model.v_span[1:]))


def of_balls(x: Moment) -> Iterator[Symbol]:
    """Lagrange's equations of links on ball joints, whose angles are free coordinates."""
    model, links = x.model, _links(x)
    eta, eta_dot, eta_ddot = (
        np.concatenate([getattr(link.angles, name) for link in links]) for name in ("eta", "etad", "etadd")
    )
    H = lagrange_euler.mass_matrix(model, eta)
    yield from _angles(x, links)
    yield symbol("H", "(LE4)", "inertia matrix over the angles of all links", H, "H")
    if x.qdd is not None and x.tau is not None:
        Q = lagrange_euler.inverse_dynamics(model, eta, eta_dot, eta_ddot)
        yield symbol("Q", "(LE6)", "forces along the angles", Q, "Q")
        yield symbol("tau", "(LE7)", "couples in the joints", x.tau, r"\tau")
