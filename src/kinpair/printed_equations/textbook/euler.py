"""Vukobratović 2.1.2 and 2.2.3 (`popov/euler`, `lagrange/links`, `lagrange/euler`): Euler angles of the links.

The angles of each link are measured in a sequence of axes with an offset, selected before anything is traced; a
compiled function keeps its choice and checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.compiler.kernel import Kernel, compile
from kinpair.errors import InputError
from kinpair.formulations import lagrange_euler, lagrange_links, popov_euler
from kinpair.formulations.euler_angles import (
    SEQUENCES,
    Choice,
    angles_of,
    determinant,
    rates_matrix,
    rates_matrix_rate,
    rotation,
)
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.linear_forms import assembled
from kinpair.formulations.popov_euler import AUTO, Choices, Link, check, chosen
from kinpair.model.model import Model
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, symbol

LATER = ("eta_ddot", "epsilon", "Q", "Q_eta", "Q_z", "n", "f", "tau")
OPTIONS = ("sequence", "offset")


def _links(x: Moment, choices: Choices) -> list[Link]:
    return popov_euler.links(x.model, x.q, x.qd, np.zeros(x.model.nv) if x.qdd is None else x.qdd, choices)[
        1:
    ]


def _angles(x: Moment, links: Sequence[Link], choices: Choices) -> Iterator[Symbol]:
    """η, Π and strokes of all links; how the angles are measured as numbers of axes and rotations."""
    measured = [link.angles for link in links]
    Pi = np.array([rates_matrix(a.eta, a.choice) for a in measured])
    Pi_dot = np.array([rates_matrix_rate(a.eta, a.etad, a.choice) for a in measured])
    eta, eta_dot = np.array([a.eta for a in measured]), np.array([a.etad for a in measured])
    axes = [["xyz".index(axis) + 1 for axis in choice.sequence] for choice in choices[1:]]
    yield symbol("axes", "(EU1)", "sequence of axes, 1 for x, by link", axes, "abc")
    yield symbol(
        "O",
        "(EU1)",
        "offset: constant rotation of the body axes, by link",
        [c.offset for c in choices[1:]],
        "O",
    )
    yield symbol("eta", "(EU1)", "Euler angles ψ, ϑ, φ, by link", eta, r"\eta")
    yield symbol("eta_dot", "(EU2)", "their rates, by link", eta_dot, r"\dot\eta")
    yield symbol("R", "(EU1)", "axes of the links", [rotation(a.eta, a.choice) for a in measured], "R")
    yield symbol("Pi", "(EU2)", "Π of ω = Π η̇, by link", Pi, r"\Pi")
    yield symbol("Pi_dot", "(EU3)", "derivative of Π, by link", Pi_dot, r"\dot\Pi")
    yield symbol("det_Pi", "(EU5)", "determinants of Π, by link", np.linalg.det(Pi), r"\det\Pi")
    yield symbol(
        "omega", "(EU2)", "angular velocities, by link", np.einsum("ijk,ik->ij", Pi, eta_dot), r"\omega"
    )
    yield symbol("z", "(EU4)", "displacements in the seats, by link", [link.z for link in links], "z")
    if x.qdd is not None:
        eta_ddot = np.array([a.etadd for a in measured])
        epsilon = np.einsum("ijk,ik->ij", Pi, eta_ddot) + np.einsum("ijk,ik->ij", Pi_dot, eta_dot)
        yield symbol("eta_ddot", "(EU3)", "second derivatives of the angles, by link", eta_ddot, r"\ddot\eta")
        yield symbol("epsilon", "(EU3)", "angular accelerations, by link", epsilon, r"\varepsilon")


def of_popov(x: Moment, *, sequence: Any = AUTO, offset: Any = None) -> Iterator[Symbol]:
    """Force sums of `popov` with the rotation of each link from its own angles."""
    choices = chosen(x.model, x.q, sequence, offset)
    links = _links(x, choices)
    yield from _angles(x, links, choices)
    if x.qdd is not None:
        P = popov_euler.drives(x.model, x.q, x.qdd, [None, *links], x.w_ext)
        yield symbol("tau", "(PV4)", "drives P", P, "P", Blocks(x.model.joint_names[1:], x.model.v_span[1:]))


def of_links(x: Moment, *, sequence: Any = AUTO, offset: Any = None) -> Iterator[Symbol]:
    """Lagrange's equations in angles and strokes of the links, every pair."""
    model, choices = x.model, chosen(x.model, x.q, sequence, offset)
    links = _links(x, choices)
    yield from _angles(x, links, choices)
    if x.qdd is not None:
        reacting = lagrange_links.reacting(model, x.q, x.qd, x.qdd, x.w_ext, choices)
        Q = lagrange_links.forces(model, reacting.turned, [None, *links], x.w_ext)[1:]
        w = np.array(reacting.wrenches[1:])
        tau = lagrange_links.inverse_dynamics(model, x.q, x.qd, x.qdd, x.w_ext, choices)
        yield symbol("Q_eta", "(LK5)", "forces along the angles, by link", [y.eta for y in Q], r"Q_\eta")
        yield symbol("Q_z", "(LK5)", "forces along the strokes, by link", [y.z for y in Q], "Q_z")
        yield symbol("n", "(LK5)", "couples of the joints, by link", w[:, :3], "n")
        yield symbol("f", "(LK5)", "forces of the joints, by link", w[:, 3:], "f")
        yield symbol("tau", "(LK6)", "efforts", tau, r"\tau", Blocks(model.joint_names[1:], model.v_span[1:]))


def of_balls(x: Moment, *, sequence: Any = AUTO, offset: Any = None) -> Iterator[Symbol]:
    """Lagrange's equations of links on ball joints, whose angles are free coordinates."""
    model, choices = x.model, chosen(x.model, x.q, sequence, offset)
    links = _links(x, choices)
    each = [link.angles for link in links]
    eta, eta_dot = np.concatenate([a.eta for a in each]), np.concatenate([a.etad for a in each])
    eta_ddot = np.concatenate([a.etadd for a in each])
    H = lagrange_euler.mass_matrix(model, eta, choices)
    yield from _angles(x, links, choices)
    yield symbol("H", "(LE4)", "inertia matrix over the angles of all links", H, "H")
    if x.qdd is not None:
        Q = lagrange_euler.inverse_dynamics(model, eta, eta_dot, eta_ddot, choices)
        tau = lagrange_euler.efforts(model, x.q, x.qd, x.qdd, choices)
        yield symbol("Q", "(LE6)", "forces along the angles", Q, "Q")
        yield symbol("tau", "(LE7)", "couples in the joints", tau, r"\tau")


# Efforts and accelerations.

Function = Callable[[Model, Any, Any, Any, Choices], Any]
FUNCTIONS: Mapping[str, Mapping[str, Function]] = {
    "popov/euler": {
        "inverse_dynamics": lambda m, q, qd, x, c: popov_euler.inverse_dynamics(
            m, q, qd, x, no_wrenches(m), c
        ),
        "forward_dynamics": lambda m, q, qd, x, c: (
            popov_euler.forward_dynamics(m, q, qd, x, no_wrenches(m), c).qdd
        ),
    },
    "lagrange/links": {
        "inverse_dynamics": lambda m, q, qd, x, c: lagrange_links.inverse_dynamics(
            m, q, qd, x, no_wrenches(m), c
        ),
        "forward_dynamics": lambda m, q, qd, x, c: (
            lagrange_links.forward_dynamics(m, q, qd, x, no_wrenches(m), c).qdd
        ),
    },
    "lagrange/euler": {
        "inverse_dynamics": lagrange_euler.efforts,
        "forward_dynamics": lagrange_euler.accelerations,
    },
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class EulerFunction:
    """Compiled efforts or accelerations in Euler angles, of one state or a batch: call it with q, qd and qdd or tau.

    `sequences` and `offsets` (3, 3) by link were selected when it was compiled. Each call checks them: |det Π| < 1e-6
    raises SingularError with the link and the angle, below 1e-2 there is one AccuracyWarning.

    Units: SI, radians.
    """

    model: Model
    choices: Choices
    kernel: Kernel

    @property
    def sequences(self) -> dict[str, str]:
        """Sequence of axes by link."""
        return {
            name: choice.sequence for name, choice in zip(self.model.names[1:], self.choices[1:], strict=True)
        }

    @property
    def offsets(self) -> dict[str, np.ndarray]:
        """Offset (3, 3) by link."""
        return {
            name: choice.offset for name, choice in zip(self.model.names[1:], self.choices[1:], strict=True)
        }

    def __call__(self, q: Any, qd: Any, x: Any) -> np.ndarray:
        """Compute the result (nv,) or (batch, nv); x are accelerations or efforts."""
        result, angles = self.kernel(q, qd, x)
        rows = np.reshape(angles, (-1, len(self.model.moving), 3))
        sizes = [
            min(float(determinant(*pair)) for pair in zip(row, self.choices[1:], strict=True)) for row in rows
        ]
        if rows.size:
            check(self.model, rows[int(np.argmin(sizes))], self.choices)
        return result


def compiled(name: str, quantity: str, model: Model, q: Any, sequence: Any, offset: Any) -> EulerFunction:
    """Compile a quantity with the angles selected at the coordinates q (nq,)."""
    if quantity not in FUNCTIONS[name]:
        raise InputError(
            f"quantity is {quantity!r}; give one of {', '.join(FUNCTIONS[name])}", quantity=quantity
        )
    choices, function = chosen(model, q, sequence, offset), FUNCTIONS[name][quantity]

    def quantities(q: Any, qd: Any, x: Any) -> tuple[Any, Any]:
        placed = assembled(model, q)
        angles = [angles_of(placed[i].R, choices[i]) for i in model.moving]
        return function(model, q, qd, x, choices), np.concatenate(angles)

    shapes = {"q": (model.nq,), "qd": (model.nv,), "x": (model.nv,)}
    return EulerFunction(
        model, choices, compile(quantities, shapes=shapes, name=f"{model.name} {name} {quantity}")
    )


__all__ = ["OPTIONS", "SEQUENCES", "Choice", "EulerFunction", "compiled", "of_balls", "of_links", "of_popov"]
