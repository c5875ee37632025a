"""Sources beyond the first four: Luh, Walker & Paul, Uicker, Kane, Roberson & Wittenburg, and
Pan (lecture 4).

The numbers are those of docs/equations. Pan Yang (`screw`) has all bodies at one fixed origin, screws with the linear
half first, trees and loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.errors import InputError, SingularError, listed, offered
from kinpair.formulations import kane, kinematics, newton_euler, uicker
from kinpair.formulations import roberson_wittenburg as rw
from kinpair.formulations import roberson_wittenburg_augmented as augmented
from kinpair.formulations.graph import incidence, path
from kinpair.formulations.kinematics import poses
from kinpair.formulations.linear_forms import accelerations, assembled
from kinpair.formulations.roberson_wittenburg_augmented import augmented_bodies, floats, from_mass_centre
from kinpair.formulations.screw_block import Drive, Joint, driven, holding, tree_drives, tree_joints
from kinpair.formulations.screw_bodies import jacobian, loads, motions
from kinpair.model.recursion import ByBody, rates
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, sixes, symbol
from kinpair.printed_equations.textbook.vukobratovic import graph
from kinpair.spatial.pose import Pose

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


LATER = ("c_v_dot", "c_a", "f_p", "a", "eta")
GROUND = "ground"


class Column(NamedTuple):
    """Columns of C, and their name."""

    name: str
    joint: Joint


def symbols(x: Moment, *, ground: bool = False, drives: Sequence[str] | None = None) -> Iterator[Symbol]:
    """The symbols of the lecture.

    `ground`: with rows for the ground and the block C_00 that fixes it, as in the example of problem 6. `drives`: names
    of joints whose drives are columns of C; by default all of a tree where qdd was given to `arrays`, else none. Drives
    that are no columns act by their efforts, in f_p.
    """
    model = x.model
    where = poses(model, x.q)
    moving = motions(model, x.q, x.qd, where)
    free, columns = _columns(x, where, moving, drives)
    bodies = sixes((*((GROUND,) if ground else ()), *x.bodies))
    names = _names(columns, ground)
    C, C_dot = (_matrix(model.moving, columns, part, ground) for part in ("C", "Cd"))
    first = 6 if ground else 0
    V = _stacked(first, [moving[i].V for i in model.moving])
    loaded = loads(model, moving, where, x.w_ext)
    I = np.zeros((len(V), len(V)))
    for i, span in zip(model.moving, bodies.spans[-len(model.moving) :], strict=True):
        I[span, span] = loaded[i].I
    yield symbol("v", "(SB2)", "velocity screws (v; ω) of all bodies", V, "v", bodies)
    S = np.concatenate([moving[i].S for i in model.moving], axis=1)
    yield symbol("S", "(SB1)", "unit velocity screws of the joints, one a column", S, r"\hat v_j")
    yield symbol("C", "(SK1)", "constraint matrix, Cᵀ v = c_v", C, "C", bodies, names)
    yield symbol("C_dot", "(SK1)", "derivative of C, blocks v_i ×* C_k", C_dot, r"\dot C", bodies, names)
    yield symbol("c_v", "(SK3)", "Cᵀ v: rates of the drives, zero elsewhere", C.T @ V, "c_v", names)
    yield symbol("I", "(SA8)", "spatial inertias at the origin, diag(I_i)", I, "I", bodies, bodies)
    if x.tau is None or x.qdd is None:
        return
    f_p = _stacked(first, [loaded[i].f_p for i in model.moving]) - _efforts(x.qdd, x, free, first)
    demands = np.concatenate([np.zeros(first), *(column.joint.demand for column in columns)])
    c_a = demands - C_dot.T @ V
    a, eta = _solved(x, I, C, f_p, c_a)
    yield symbol(
        "c_v_dot", "(SK3)", "derivative of c_v: accelerations of the drives", demands, r"\dot c_v", names
    )
    yield symbol("c_a", "(SK3)", "ċ_v − Ċᵀ v, so that Cᵀ a = c_a", c_a, "c_a", names)
    yield symbol("f_p", "(SB4)", "−f_e − I ĝ + v ×* I v by body", f_p, "f_p", bodies)
    yield symbol("a", "(SK4)", "acceleration screws of all bodies", a, "a", bodies)
    yield symbol("eta", "(SK4)", "multipliers: −I a + C η = f_p", eta, r"\eta", names)


def _columns(
    x: Moment, where: ByBody, moving: ByBody, drives: Sequence[str] | None
) -> tuple[list[Drive], list[Column]]:
    """Drives that act by their efforts; and the columns of the joints, of the loops and of the other drives."""
    model = x.model
    tau, qdd = (np.zeros(model.nv) if value is None else value for value in (x.tau, x.qdd))
    chosen = _chosen(x, drives)
    every = dict(zip(model.joint_names[1:], tree_drives(model, x.q, x.qd, tau), strict=True))
    demands = dict(zip(model.joint_names[1:], rates(model, qdd)[1:], strict=True))
    joints = zip(model.joint_names[1:], tree_joints(model, x.q, x.qd), strict=True)
    rows = driven([every[name] for name in chosen], [demands[name] for name in chosen])
    columns = [
        *(Column(name, joint) for name, joint in joints),
        *_loops(x, where, moving),
        *(Column(f"drive {name}", joint) for name, joint in zip(chosen, rows, strict=True)),
    ]
    return [drive for name, drive in every.items() if name not in chosen], columns


def _chosen(x: Moment, drives: Sequence[str] | None) -> list[str]:
    if drives is None:
        return list(x.model.joint_names[1:]) if x.motion_given else []
    for name in drives:
        if name not in x.model.joint_names[1:]:
            raise InputError(
                f"{x.model.name}: drives has {name!r}; {offered(str(name), 'joints', x.model.joint_names[1:])}",
                joint=name,
            )
    return list(drives)


def _loops(x: Moment, where: ByBody, moving: ByBody) -> Iterator[Column]:
    """Columns of the joints that close loops, redundant ones left out."""
    model = x.model
    constraints = constraints_of(model)
    others = [c.name for c in constraints if not isinstance(c, LoopClosure)]
    if others:
        raise InputError(
            f"{model.name}: C of 'screw' has columns of joints only, not of other constraints: "
            f"{listed(map(repr, others))}. kinpair.solver('multipliers').arrays takes every constraint",
            constraints=others,
        )
    whole = [_closing(c, x, where, moving) for c in constraints if isinstance(c, LoopClosure)]
    rows = [joint.C.T @ (_jacobian(x, joint.outer) - _jacobian(x, joint.inner)) for joint in whole]
    kept = list(independent_rows(np.concatenate(rows))) if rows else []
    start = 0
    for constraint, joint in zip(constraints, whole, strict=True):
        own = [k - start for k in kept if start <= k < start + joint.C.shape[1]]
        start += joint.C.shape[1]
        yield Column(
            constraint.name, joint._replace(C=joint.C[:, own], Cd=joint.Cd[:, own], demand=joint.demand[own])
        )


def _jacobian(x: Moment, body: int) -> np.ndarray:
    return jacobian(x.model, x.q, body) if body else np.zeros((6, x.model.nv))


def _closing(c: LoopClosure, x: Moment, where: ByBody, moving: ByBody) -> Joint:
    """The joint of a loop; of a Hooke joint the first angle and its rate are those its frames have."""
    S, M = c.places(x.model)
    seat, moved = where[S.body] @ S.pose, where[M.body] @ M.pose
    R = seat.R.T @ moved.R
    omega = seat.R.T @ (moving[M.body].V[3:] - moving[S.body].V[3:])
    q, qd = np.array([np.arctan2(R[2, 1], R[1, 1]), 0.0]), np.array([omega[0], 0.0])
    return holding(c.pair, q, qd, Pose(seat.R, seat.a), moving[S.body].V, S.body, M.body)


def _names(columns: Sequence[Column], ground: bool) -> Blocks:
    sizes = [*([6] if ground else []), *(column.joint.C.shape[1] for column in columns)]
    spans = tuple(slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist()))
    return Blocks((*((GROUND,) if ground else ()), *(column.name for column in columns)), spans)


def _matrix(moving: range, columns: Sequence[Column], part: str, ground: bool) -> np.ndarray:
    """C or Ċ: −C_k in the rows of the inner body, +C_k in those of the outer; C_00 = 1 fixes the ground."""
    first = 6 if ground else 0
    width = first + sum(column.joint.C.shape[1] for column in columns)
    whole = np.zeros((first + 6 * len(moving), width))
    if ground and part == "C":
        whole[:6, :6] = np.eye(6)
    start = first
    for _, joint in columns:
        block = getattr(joint, part)
        for body, signed in ((joint.inner, -block), (joint.outer, block)):
            row = first + 6 * body - 6
            if row >= 0:
                whole[row : row + 6, start : start + block.shape[1]] = signed
        start += block.shape[1]
    return whole


def _stacked(first: int, parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(first), *parts])


def _efforts(qdd: np.ndarray, x: Moment, drives: Sequence[Drive], first: int) -> np.ndarray:
    """Wrenches of the drives that act by their efforts: D (τ − rotor q̈) on the outer body, opposite on the inner."""
    whole = np.zeros(first + 6 * len(x.model.moving))
    qdds = rates(x.model, qdd)
    for drive in drives:
        w = drive.D @ (drive.effort - drive.rotor * qdds[drive.outer])
        for body, sign in ((drive.inner, -1.0), (drive.outer, 1.0)):
            row = first + 6 * body - 6
            if row >= 0:
                whole[row : row + 6] += sign * w
    return whole


def _solved(
    x: Moment, I: np.ndarray, C: np.ndarray, f_p: np.ndarray, c_a: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """a and η of [−I C; Cᵀ 0] [a; η] = [f_p; c_a]."""
    n, k = C.shape
    dependent = np.linalg.matrix_rank(C) < k
    if dependent:
        raise SingularError(
            f"{x.model.name}: the columns of C depend on each other; leave out drives of joints that the others move"
        )
    solution = np.linalg.solve(np.block([[-I, C], [C.T, np.zeros((k, k))]]), np.concatenate([f_p, c_a]))
    return solution[:n], solution[n:]
