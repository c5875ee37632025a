"""The algorithm KINPAIR step by step, with numbers: `formulation("popov").explain(m, q, qd, qdd)`.

Headings and their order are those of Vukobratović's list of contents, 2.1.1 (1)–(14), 3.9 and 3.10. The text of these
chapters was not available: the equations are ours, computed by `linear_forms.py` and `popov.py`. j is the body that
carries body i, k are bodies between body i and the ground.

    p_i = [e_i; u_i]                             axis of turning, direction of sliding, in axes of body i        (KP1)
    m_i, I_i, d_i = O_i → C_i, a_i = O_j → O_i   constants of a link, in axes of the link                         (KP2)
    x' = x cos q + (1 − cos q)(e·x) e + sin q e × x           turn by Rodrigues' formula about the placed axis    (KP3)
    O_i = O_j + a_i,   C_i = O_i + d_i                                                                            (KP4)
    ω_i = ω_j + e_i q̇_i,   v_i = Σ_k β_ik q̇_k                                                                    (KP5)
    ε_i = Σ_k α_ik q̈_k + α_i⁰,   w_i = Σ_k β_ik q̈_k + β_i⁰                                                       (KP6)
    F_i = −m_i w_i,   M_i = −(I_i ε_i + ω_i × I_i ω_i)                                                            (KP7)
    f_i = Σ f_k − F_i − m_i g,   n_i = Σ (n_k + a_k × f_k) − M_i − d_i × (F_i + m_i g)     k: bodies on body i    (KP8)
    P_i = e_i·n_i + u_i·f_i + rotor q̈_i = Σ_k H_ik q̈_k + h_i                                                     (KP9)
    H_ik = e_i·(n_k + (O_k − O_i) × f_k) + u_i·f_k      lever: n_k, f_k of q̈_k = 1 at rest without gravity       (KP10)
    freedoms = rates − independent rows              a closed chain is cut at one joint of each loop              (KP11)
    φ(q) = 0                                         closure of the cut joints, by Newton's method                (KP12)
    G q̇ = 0,   G q̈ = b                                                                                           (KP13)
    H q̈ + h = P + Gᵀ λ                               λ: reactions of the cut joints                              (KP14)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.printed_equations.textbook.record import Arrays, Moment
from kinpair.spatial.rotation import about

DIGITS = 6  # significant digits of a number
NOT_CLOSED = "The chain is open: no joint is cut."


@dataclass(frozen=True, slots=True)
class Step:
    """A step: number and heading of the book, numbers of our equations, lines with what was computed."""

    number: str
    heading: str
    equations: tuple[str, ...]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        tags = " ".join(f"({tag})" for tag in self.equations)
        return "\n".join(
            [f"{self.number} {self.heading}   {tags}".rstrip(), *(f"    {line}" for line in self.lines)]
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """The steps of KINPAIR for one state; `print` it. `arrays` has the same numbers in full."""

    mechanism: str
    steps: tuple[Step, ...]
    arrays: Arrays

    def __str__(self) -> str:
        head = f"KINPAIR, {self.mechanism}: headings and order of the book, equations of docs/equations/kinpair.md"
        return "\n\n".join([head, *map(str, self.steps)])


def numbers(x: Any) -> str:
    """Write numbers in brackets, to six significant digits."""
    values = np.atleast_1d(np.asarray(x, dtype=float))
    if values.ndim == 2:
        return "; ".join(numbers(row) for row in values)
    texts = (f"{0.0 if abs(value) < 5e-15 else value:.{DIGITS}g}" for value in values.tolist())
    return f"({', '.join(texts)})"


def walk(m: Mechanism, x: Moment, arrays: Arrays) -> Walk:
    """The steps of a state in the order of the headings: 2.1.1 for the whole mechanism, 3.10 element by element."""
    return Walk(m.name, (*_of_mechanism(m, x, arrays), *_of_elements(x, arrays)), arrays)


def _of_mechanism(m: Mechanism, x: Moment, a: Arrays) -> Iterator[Step]:
    yield Step("2.1.1 (1)", "Model of the kinematic pair", ("KP1",), tuple(_pairs(x)))
    yield Step("2.1.1 (2)", "Parameters of the mechanism", ("KP2",), tuple(_parameters(x)))
    yield Step("2.1.1 (3)", "Assembly of the mechanism", ("KP3",), tuple(_assembly(x, a)))
    yield Step("2.1.1 (4)", "Position of the open chain", ("KP4",), tuple(_positions(x, a)))
    yield Step("2.1.1 (5)", "Velocity of the open kinematic chain", ("KP5",), tuple(_velocities(x, a)))
    yield Step("2.1.1 (6)", "Acceleration of the open kinematic chain", ("KP6",), tuple(_accelerations(x, a)))
    yield Step("2.1.1 (7)", "Inertia forces and their moments", ("KP7",), tuple(_inertia_forces(x, a)))
    yield Step("2.1.1 (8)", "Reactions of the open kinematic chain", ("KP8",), tuple(_reactions(x, a)))
    yield Step("2.1.1 (9)", "Equations of motion", ("KP9",), tuple(_equations(a)))
    yield Step("2.1.1 (10)", "Property of the lever", ("KP10",), tuple(_levers(x, a)))
    yield Step("2.1.1 (11)", "Closed kinematic chain", ("KP11",), tuple(_cuts(m, x)))
    yield Step("2.1.1 (12)", "Position of the closed chain", ("KP12",), tuple(_closure(m, x)))
    yield Step("2.1.1 (13)", "Velocity and acceleration of the closed chain", ("KP13",), tuple(_rows(x)))
    yield Step("2.1.1 (14)", "Motion of the closed chain", ("KP14",), tuple(_closed_motion(x, a)))


def _of_elements(x: Moment, a: Arrays) -> Iterator[Step]:
    count = len(x.bodies)
    lines = (
        f"for each of the {count} elements in turn: pair, rotation of the joint, motion, inertia forces",
    )
    yield Step("3.9", "Details of the algorithm", (), lines)
    for k, (name, joint) in enumerate(zip(x.bodies, _joints(x), strict=True), start=1):
        place = f"3.10.{k}" if k <= 3 else "3.10.3 again"
        yield Step(place, f"Model of element {k}: {name}", (), ())
        yield Step("  (1)", "Pair", ("KP1", "KP4"), (f"{joint}: O = {numbers(_origins(x, a)[k - 1])}",))
        turn = f"R = {numbers(a.R[k - 1])}"
        yield Step("  (2)", "Rotation of the joint", ("KP3",), (turn,))
        motion = (
            f"ω = {numbers(a.omega[k - 1])}, ε = {numbers(a.epsilon[k - 1])}",
            f"w = {numbers(a.w[k - 1])}",
        )
        yield Step("  (3)", "Velocity and acceleration", ("KP5", "KP6"), motion)
        inertial = f"F = {numbers(a.F[k - 1])}, M = {numbers(a.M[k - 1])}"
        yield Step("  (4)", "Force and moment of inertia forces", ("KP7",), (inertial,))
    yield Step("3.10.4", "Equations of motion", ("KP9",), tuple(_equations(a)))


def _joints(x: Moment) -> Sequence[str]:
    return x.model.joint_names[1:]


def _pairs(x: Moment) -> Iterator[str]:
    """Kind, bodies and motion of each pair.    (KP1)"""
    model = x.model
    for i in model.moving:
        body = model.body[i]
        p = np.asarray(body.pair.p(x.q[model.q_span[i]]), dtype=float)
        motions = "; ".join(f"e = {numbers(c[:3])}, u = {numbers(c[3:])}" for c in p.T)
        yield f"{model.joint_names[i]}: {body.pair.kind}, {model.names[i]} on {model.names[model.parent[i]]}; {motions}"


def _parameters(x: Moment) -> Iterator[str]:
    """Constants of each link.    (KP2)"""
    for i in x.model.moving:
        body = x.model.body[i]
        yield f"{x.model.names[i]}: m = {body.m:.{DIGITS}g}, d = {numbers(body.d)}, a = {numbers(body.a_seat)}"
        yield f"    I = {numbers(body.I)}"


def _assembly(x: Moment, a: Arrays) -> Iterator[str]:
    """Axes of each link; of a hinge the turn by Rodrigues' formula, which gives the same.    (KP3)"""
    model = x.model
    for i in model.moving:
        body, parent = model.body[i], model.parent[i]
        R_j = a.R[parent - 1] if parent else np.eye(3)
        yield f"{model.names[i]}: R = {numbers(a.R[i - 1])}"
        if body.pair.kind == "revolute":
            e = a.e_k[:, model.v_span[i].start]
            turned = about(e, float(x.q[model.q_span[i]][0])) @ (R_j @ body.R_seat)  # (KP3)
            yield f"    by Rodrigues about e = {numbers(e)}: the same to {np.abs(turned - a.R[i - 1]).max():.0e}"


def _origins(x: Moment, a: Arrays) -> np.ndarray:
    """O_i (n, 3).    (KP4)"""
    origins = np.zeros((len(x.model.parent), 3))
    for i in x.model.moving:
        origins[i] = origins[x.model.parent[i]] + a.a[i - 1]  # (KP4)
    return origins[1:]


def _positions(x: Moment, a: Arrays) -> Iterator[str]:
    for name, O, d in zip(x.bodies, _origins(x, a), a.d, strict=True):
        yield f"{name}: O = {numbers(O)}, C = {numbers(O + d)}"


def _velocities(x: Moment, a: Arrays) -> Iterator[str]:
    """Angular velocities, and velocities of the mass centres.    (KP5)"""
    for name, omega, beta in zip(x.bodies, a.omega, a.beta, strict=True):
        yield f"{name}: ω = {numbers(omega)}, v = {numbers(beta @ x.qd)}"  # (KP5)


def _inertia_forces(x: Moment, a: Arrays) -> Iterator[str]:
    """Forces and couples of each body.    (KP7)"""
    for name, F, M in zip(x.bodies, a.F, a.M, strict=True):
        yield f"{name}: F = {numbers(F)}, M = {numbers(M)}"


def _reactions(x: Moment, a: Arrays) -> Iterator[str]:
    """Forces and couples of each pair on its body, at O_i.    (KP8)"""
    for name, f, n in zip(_joints(x), a.f, a.n, strict=True):
        yield f"{name}: f = {numbers(f)}, n = {numbers(n)}"


def _accelerations(x: Moment, a: Arrays) -> Iterator[str]:
    """Linear forms, and what they give.    (KP6)"""
    for i, name in enumerate(x.bodies):
        yield f"{name}: α = {numbers(a.alpha[i].T)}"
        yield f"    α⁰ = {numbers(a.alpha0[i])}, ε = {numbers(a.epsilon[i])}"
        yield f"    β = {numbers(a.beta[i].T)}"
        yield f"    β⁰ = {numbers(a.beta0[i])}, w = {numbers(a.w[i])}"


def _equations(a: Arrays) -> Iterator[str]:
    """H, h and the drives.    (KP9)"""
    yield f"H = {numbers(a.H)}"
    yield f"h = {numbers(a.h)}"
    yield f"P = {numbers(a.P)}"


def _levers(x: Moment, a: Arrays) -> Iterator[str]:
    """Row and column of H from the reaction of the outermost pair to its own unit acceleration.    (KP10)"""
    model, origins = x.model, np.vstack([np.zeros(3), _origins(x, a)])
    k = max(model.moving, key=lambda i: len(model.path_to_ground(i)))
    beyond = [i for i in model.moving if k in model.path_to_ground(i)]
    for rate in range(model.v_span[k].start, model.v_span[k].stop):
        f = sum((model.body[i].m * a.beta[i - 1][:, rate] for i in beyond), np.zeros(3))
        n = np.zeros(3)
        for i in beyond:
            arm = origins[i] + a.d[i - 1] - origins[k]
            n = (
                n
                + np.cross(arm, model.body[i].m * a.beta[i - 1][:, rate])
                + a.J[i - 1] @ a.alpha[i - 1][:, rate]
            )
        yield f"q̈ = 1 in {model.v_names[rate]}: f = {numbers(f)}, n = {numbers(n)} at {model.joint_names[k]}"
        for i in model.path_to_ground(k):
            for row in range(model.v_span[i].start, model.v_span[i].stop):
                lever = n + np.cross(origins[k] - origins[i], f)
                H = a.e_k[:, row] @ lever + a.u_k[:, row] @ f  # (KP10)
                rotor = " + rotor" if row == rate and model.body[k].rotor.any() else ""
                yield f"    at {model.v_names[row]}: H = {numbers(H)[1:-1]}{rotor}"


def _cuts(m: Mechanism, x: Moment) -> Iterator[str]:
    """Number of rates, rows and freedoms.    (KP11)"""
    if not x.loops.names:
        yield NOT_CLOSED
        return
    rows = len(x.loops.names)
    yield f"cut: {', '.join(m.constraints)}"
    yield f"freedoms: {m.nv} rates − {rows} independent rows = {m.nv - rows}"


def _closure(m: Mechanism, x: Moment) -> Iterator[str]:
    """Residuals of the closure.    (KP12)"""
    if not x.loops.names:
        yield NOT_CLOSED
        return
    yield f"q = {numbers(x.q)}"
    yield f"largest |φ| = {np.abs(m.constraint_residual(x.q)).max(initial=0.0):.1e}"


def _rows(x: Moment) -> Iterator[str]:
    """G, b, and how well rates and accelerations satisfy them.    (KP13)"""
    if not x.loops.names:
        yield NOT_CLOSED
        return
    for name, row, b in zip(x.loops.names, x.loops.A, x.loops.b, strict=True):
        yield f"{name}: G = {numbers(row)}, b = {numbers(b)[1:-1]}"
    yield f"largest |G q̇| = {np.abs(x.loops.A @ x.qd).max():.1e}"
    if x.qdd is not None:
        yield f"largest |G q̈ − b| = {np.abs(x.loops.A @ x.qdd - x.loops.b).max():.1e}"


def _closed_motion(x: Moment, a: Arrays) -> Iterator[str]:
    """Accelerations and reactions of the cut joints.    (KP14)"""
    if not x.loops.names:
        yield NOT_CLOSED
        return
    yield f"q̈ = {numbers(x.qdd)}"
    yield f"λ = {numbers(a.lam)}"
