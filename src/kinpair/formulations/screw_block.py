"""The block system of all bodies with its constraint wrenches, in full and eliminated (Pan, lecture 4).

Joint k between body i (inner) and body j (outer); C_k its unit constraint wrenches, D_k those of its drives, at the
fixed origin. Global columns: C_ik = −C_k, C_jk = +C_k; so C_k η_k acts on the outer body.

    C_k = T*_i C_0,   Ċ_k = V_i ×* C_k + T*_i C̊_0                                                (SK1)
    D_k = T*_j D_0,   Ḋ_k = V_j ×* D_k + T*_j D̊_0                                                (SK2)
    C_kᵀ (A_j − A_i) = −Ċ_kᵀ (V_j − V_i)           drive: D_kᵀ (A_j − A_i) = q̈ − Ḋ_kᵀ (V_j − V_i)  (SK3)
    [−𝓘 C; Cᵀ 0] [A; η] = [f_p; c_a]                                                             (SK4)

Forward: the effort of a drive is a load, D_k (τ − rotor q̈) on j and its opposite on i. Inverse: the drives are
constraint rows, and their multipliers are τ − rotor q̈.

Elimination from the tips, a body and its joint at a time. The basis [C_k D_k] has the dual [N_k S_k], so the
rows (SK3) are A_j = A_i + ζ_j + S_j q̈, and what is left of body j is one block of the size of q̈:

    U = 𝓘 S,   E = Sᵀ U + rotor,   u = τ − Sᵀ b                  b = f_p to begin with           (SK5)
    handed on:   𝓘 − U E⁻¹ Uᵀ,   b + (𝓘 − U E⁻¹ Uᵀ) ζ + U E⁻¹ u                                  (SK6)
    q̈ = E⁻¹ (u − Uᵀ (A_i + ζ)),   A_j = A_i + ζ + S q̈                                            (SK7)
    η = Nᵀ (𝓘 A_j + b),   N = M − S Dᵀ M,   M = T_i M_0                                          (SK8)

No inertia of a single body is inverted, so links without mass do not matter as long as E is regular.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Vector, assemble, symmetric
from kinpair.errors import InputError, listed
from kinpair.formulations.arguments import check_wrenches, checked
from kinpair.formulations.kinematics import poses
from kinpair.formulations.screw_algebra import force_cross, force_moved, motion_moved, swapped, wrenches_of
from kinpair.formulations.screw_bodies import NO_SCREW, Loaded, Moving, loads, motions
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, inward, joined, outward, rates
from kinpair.pairs import Closing, Pair
from kinpair.spatial.pose import HOME, Pose

# The system in full, for any list of joints.


class Joint(NamedTuple):
    """Rows between two bodies: Cᵀ (V_j − V_i) has the rate `demand`, zero where the joint holds."""

    inner: int  # i, 0 the ground
    outer: int  # j
    C: Matrix  # (6, k) unit wrenches on the outer body, at the origin
    Cd: Matrix  # (6, k) Ċ
    demand: Vector  # (k,)


class Drive(NamedTuple):
    """Efforts between two bodies, applied along the wrenches D."""

    inner: int
    outer: int
    D: Matrix  # (6, k)
    Dd: Matrix  # (6, k) Ḋ
    effort: Vector  # (k,)
    rotor: Vector  # (k,) inertia as felt at the joint


def holding(pair: Closing, q: Vector, qd: Vector, seat: Pose, V_i: Vector, inner: int, outer: int) -> Joint:
    """The rows of a pair whose seat is at a pose in the world and moves with V_i.    (SK1)

    For a joint that closes a loop: the pose of its seat on the inner body, and the coordinates it has there.
    """
    row = wrenches_of(pair)
    C = force_moved(seat.R, seat.a, row.wrenches(pair, q))
    Cd = force_cross(V_i) @ C + force_moved(seat.R, seat.a, row.rates(pair, q, qd))  # (SK1)
    return Joint(inner, outer, C, Cd, np.zeros(C.shape[1]))


def _drive_wrenches(pair: Pair, q: Vector, qd: Vector, pose: Pose, V_j: Vector) -> tuple[Matrix, Matrix]:
    D = force_moved(pose.R, pose.a, wrenches_of(pair).drive(pair, q))
    Dd = force_cross(V_j) @ D + force_moved(pose.R, pose.a, swapped(pair.pd(q, qd)))  # (SK2)
    return D, Dd


def _seat(model: Model, where: ByBody, j: int) -> Pose:
    return where[model.parent[j]] @ Pose(model.body[j].R_seat, model.body[j].a_seat)


def tree_joints(model: Model, q: Vector, qd: Vector) -> list[Joint]:
    """Constraint space of the joints of the tree, body by body."""
    q, qd = checked(model, q=q, qd=qd)
    where = poses(model, q)
    moving = motions(model, q, qd, where)
    qs, qds = coordinates(model, q), rates(model, qd)
    return [
        holding(model.body[j].pair, qs[j], qds[j], _seat(model, where, j), moving[i].V, i, j)
        for j in model.moving
        for i in (model.parent[j],)
    ]


def tree_drives(model: Model, q: Vector, qd: Vector, tau: Vector) -> list[Drive]:
    """The drives of the tree with the efforts τ, body by body."""
    q, qd, tau = checked(model, q=q, qd=qd, tau=tau)
    where = poses(model, q)
    moving = motions(model, q, qd, where)
    qs, qds, taus = coordinates(model, q), rates(model, qd), rates(model, tau)
    return [
        Drive(
            model.parent[j],
            j,
            *_drive_wrenches(model.body[j].pair, qs[j], qds[j], where[j], moving[j].V),
            taus[j],
            model.body[j].rotor,
        )
        for j in model.moving
    ]


def driven(drives: Sequence[Drive], qdd: Sequence[Vector]) -> list[Joint]:
    """The drives as constraint rows that demand the accelerations q̈, a vector a drive.    (SK3)"""
    wanted = [(x.D.shape[1],) for x in drives]
    shapes = [np.shape(demand) for demand in qdd]
    if shapes != wanted:
        raise InputError(
            f"qdd has vectors of the shapes {_shapes(shapes)}; expected one for each drive: {_shapes(wanted)}",
            qdd=shapes,
        )
    return [Joint(x.inner, x.outer, x.D, x.Dd, np.asarray(y)) for x, y in zip(drives, qdd, strict=True)]


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    return listed(map(str, shapes), 12) or "none"


def block_system(
    model: Model,
    q: Vector,
    qd: Vector,
    w_ext: Sequence[Any],
    joints: Sequence[Joint],
    drives: Sequence[Drive] = (),
) -> tuple[Matrix, Vector]:
    """The matrix and the right-hand side of (SK4): all A (6 each, bodies 1…n), then all η in the order of the joints.

    Any joints: those of the tree, drives as rows, joints that close loops. The matrix is symmetric and indefinite, and
    regular where no constraint is redundant and no freedom is without inertia.
    """
    q, qd = checked(model, q=q, qd=qd)
    check_wrenches(model, w_ext)
    _check_bodies(model, [*joints, *drives])
    where = poses(model, q)
    moving = motions(model, q, qd, where)
    loaded = loads(model, moving, where, w_ext)
    V = [x.V for x in moving]
    parts = [Part(_rows(i), _rows(i), -loaded[i].I, loaded[i].f_p) for i in model.moving]
    start = 6 * len(model.moving)
    for joint in joints:
        span = slice(start, start + joint.C.shape[1])
        parts += _joint_parts(joint, span, V)
        start = span.stop
    for drive in drives:
        parts += _drive_parts(drive, V)
    return _summed(start, parts)


def _check_bodies(model: Model, between: Sequence[Joint | Drive]) -> None:
    for k, x in enumerate(between):
        if not {x.inner, x.outer} <= set(range(len(model.parent))):
            raise InputError(
                f"{model.name}: joint or drive {k} joins bodies {x.inner} and {x.outer}; there are bodies 0 to "
                f"{len(model.moving)}",
                joint=k,
            )


class Part(NamedTuple):
    """A block of the matrix, and what its rows add to the right-hand side."""

    rows: slice
    columns: slice
    block: Matrix
    right: Vector


def _joint_parts(joint: Joint, span: slice, V: Sequence[Vector]) -> Iterator[Part]:
    c_a = joint.demand - joint.Cd.T @ (V[joint.outer] - V[joint.inner])  # (SK3)
    yield Part(span, span, np.zeros((len(c_a), len(c_a))), c_a)
    for body, C in _signed(joint.inner, joint.outer, joint.C):
        yield Part(body, span, C, NO_SCREW)  # (SK4)
        yield Part(span, body, C.T, np.zeros(len(c_a)))


def _drive_parts(drive: Drive, V: Sequence[Vector]) -> Iterator[Part]:
    """The load D (τ − rotor q̈), with q̈ as (SK3) has it."""
    net = drive.effort - drive.rotor * (drive.Dd.T @ (V[drive.outer] - V[drive.inner]))
    sides = list(_signed(drive.inner, drive.outer, drive.D))
    for body, D in sides:
        yield Part(body, body, np.zeros((6, 6)), -(D @ net))
        for other, E in sides:
            yield Part(body, other, -((D * drive.rotor) @ E.T), NO_SCREW)


def _rows(body: int) -> slice:
    return slice(6 * body - 6, 6 * body)


def _signed(inner: int, outer: int, C: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """+C in the rows of the outer body, −C in those of the inner; the ground has no rows."""
    yield from ((_rows(body), X) for body, X in ((outer, C), (inner, -C)) if body)


def _summed(size: int, parts: Sequence[Part]) -> tuple[Matrix, Vector]:
    K, right = np.zeros((size, size)), np.zeros((size, 1))
    for part in parts:
        K = K + assemble((size, size), [(part.rows, part.columns, part.block)])
        right = right + assemble((size, 1), [(part.rows, slice(0, 1), part.right.reshape(-1, 1))])
    return K, right[:, 0]


# The same for a tree, eliminated from the tips.


class BlockSolution(NamedTuple):
    """Accelerations and constraint wrenches of all bodies, by body; q̈ with the pivots of its blocks."""

    A: ByBody
    eta: ByBody
    solution: Solution


class Eliminated(NamedTuple):
    """Results of the inward sweep for one body."""

    I: Matrix
    b: Vector
    U: Matrix
    u: Vector
    factors: ldl.Factors
    scales: Vector


def _eliminate(
    body: Body, outer: tuple[Matrix, Vector], moving: Moving, loaded: Loaded, tau: Vector
) -> tuple[Eliminated, tuple[Matrix, Vector]]:
    S, zeta = moving.S, moving.zeta
    I, b = loaded.I + outer[0], loaded.f_p + outer[1]
    U = I @ S  # (SK5)
    E = S.T @ U + np.diag(body.rotor)
    u = tau - S.T @ b
    factors = ldl.factor(E)
    G = ldl.solve_columns(factors, U.T).T
    handed = I - symmetric(G @ U.T)  # (SK6)
    left = Eliminated(I, b, U, u, factors, np.diag(E))
    return left, (handed, b + handed @ zeta + G @ u)


class BlockAcceleration(NamedTuple):
    """Accelerations of a pair and of its body."""

    qdd: Vector
    A: Vector


def _answer(body: Body, parent: BlockAcceleration, x: Eliminated, moving: Moving) -> BlockAcceleration:
    carried = parent.A + moving.zeta
    qdd = ldl.solve_factored(x.factors, x.u - x.U.T @ carried)  # (SK7)
    return BlockAcceleration(qdd, carried + moving.S @ qdd)


class Elimination(NamedTuple):
    """Results of both sweeps, by body, and the accelerations of the pairs with their pivots."""

    left: ByBody
    moving: ByBody
    A: ByBody
    solution: Solution


def eliminated(
    model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any], where: ByBody
) -> Elimination:
    """Both sweeps, with the bodies at the poses given."""
    moving = motions(model, q, qd, where)
    loaded = loads(model, moving, where, w_ext)
    nothing = (np.zeros((6, 6)), NO_SCREW)
    left = inward(model, _eliminate, nothing, moving, loaded, rates(model, tau))
    answers = outward(model, _answer, BlockAcceleration(np.zeros(0), NO_SCREW), left, moving)
    qdd = joined(model, each(model, lambda _, answer: answer.qdd, answers))
    pivots = joined(model, each(model, lambda _, x: ldl.pivots(x.factors), left))
    scales = joined(model, each(model, lambda _, x: x.scales, left))
    A = each(model, lambda _, answer: answer.A, answers)
    return Elimination(left, moving, A, Solution(qdd, pivots, scales))


def _multipliers(
    body: Body, x: Eliminated, A: Vector, moving: Moving, pose: Pose, seat: Pose, q: Vector
) -> Vector:
    row = wrenches_of(body.pair)
    D = force_moved(pose.R, pose.a, row.drive(body.pair, q))
    M = motion_moved(seat.R, seat.a, row.denied(body.pair, q))
    N = M - moving.S @ (D.T @ M)
    return N.T @ (x.I @ A + x.b)  # (SK8)


def block_solve(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> BlockSolution:
    """A, η and q̈ of a tree under the efforts τ; the work grows as n."""
    q, qd, tau = checked(model, q=q, qd=qd, tau=tau)
    check_wrenches(model, w_ext)
    where = poses(model, q)
    x = eliminated(model, q, qd, tau, w_ext, where)
    seats = [HOME, *(_seat(model, where, j) for j in model.moving)]
    eta = each(model, _multipliers, x.left, x.A, x.moving, where, seats, coordinates(model, q))
    return BlockSolution(x.A, eta, x.solution)
