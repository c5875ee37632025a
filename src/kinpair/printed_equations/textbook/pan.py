"""Pan Yang, lecture 4 (`screw`): all bodies at one fixed origin, screws with the linear half first, trees and loops.

The lecture has no equation numbers; those given are the ones of docs/equations/screw.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.errors import InputError, SingularError, listed, offered
from kinpair.formulations.kinematics import poses
from kinpair.formulations.screw_block import Drive, Joint, driven, holding, tree_drives, tree_joints
from kinpair.formulations.screw_bodies import jacobian, loads, motions
from kinpair.model.recursion import ByBody, rates
from kinpair.printed_equations.textbook.record import Blocks, Moment, Symbol, sixes, symbol
from kinpair.spatial.pose import Pose

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
