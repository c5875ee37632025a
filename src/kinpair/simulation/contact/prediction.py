"""Prediction of contact points at the end of a step at the rates of its start. Loop functions.

J and M of a step are those at q ⊕ h v⁻, with points and axes of contact moved from q by their velocities (CT3), because
v⁺ are rates at the end of the step; u⁻ = J(q) v⁻. So (CN4) has φ/h − ½ h (J̇q̇)_n in place of φ/h.          (CN9)

Points are searched that v⁻ could close in two steps, see (CT6). Where a body changes its velocity in the step so much
that it could reach a point beyond them, they are searched again.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.contact.broad import length
from kinpair.contact.points import curvature_bias
from kinpair.contact.records import Found, Geometry
from kinpair.simulation.contact.items import Contact
from kinpair.simulation.contact.rows import Items
from kinpair.simulation.contact.tree import Tree

CURVED = 22  # numbers of working memory of `curvature_bias`
TURN = 0.5  # [rad] of a body or a normal in a step, as seen from b, beyond which a point has first order


def norm(x: Vector) -> float:
    """Compute the length of a vector (3,)."""
    return length(x[0], x[1], x[2])


def body_speed(W: Matrix, tip: int, c: Vector) -> float:
    """Compute a bound of the speed at a point: the sum of all products that its velocity is made of."""
    if tip < 0:
        return 0.0
    total = 0.0
    for i in range(3):
        total += abs(W[tip, 3 + i]) + abs(W[tip, i]) * (abs(c[0]) + abs(c[1]) + abs(c[2]))
    return total


def body_motion(W: Matrix, A: Matrix, P: Matrix, tip: int, body: int, c: Vector, out: Matrix) -> None:
    """Compute velocity, angular velocity and bias acceleration (3, 3) of a point of a body."""
    out[:] = 0.0
    if tip < 0:
        return
    w0, w1, w2 = W[tip, 0], W[tip, 1], W[tip, 2]
    out[1, 0], out[1, 1], out[1, 2] = w0, w1, w2
    out[0, 0] = W[tip, 3] + w1 * c[2] - w2 * c[1]
    out[0, 1] = W[tip, 4] + w2 * c[0] - w0 * c[2]
    out[0, 2] = W[tip, 5] + w0 * c[1] - w1 * c[0]
    r0, r1, r2 = c[0] - P[body, 0], c[1] - P[body, 1], c[2] - P[body, 2]
    s0, s1, s2 = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
    out[2, 0] = A[body, 3] + A[body, 1] * r2 - A[body, 2] * r1 + w1 * s2 - w2 * s1
    out[2, 1] = A[body, 4] + A[body, 2] * r0 - A[body, 0] * r2 + w2 * s0 - w0 * s2
    out[2, 2] = A[body, 5] + A[body, 0] * r1 - A[body, 1] * r0 + w0 * s1 - w1 * s0


def look_ahead(W: Matrix, t: Tree, g: Geometry, f: Found, time: float) -> None:
    """Write how far the twists W take each geom in this time."""
    for k in range(len(g.body)):
        geom_move(W, int(t.last[g.body[k]]), f.pose[k, 9:12], time, f.moves[k])


def geom_move(W: Matrix, tip: int, p: Vector, time: float, out: Vector) -> None:
    """Compute the turn and the displacement of a point of a body at the twists W in this time."""
    out[:] = 0.0
    if tip >= 0:
        w0, w1, w2 = W[tip, 0], W[tip, 1], W[tip, 2]
        out[0], out[1], out[2] = time * w0, time * w1, time * w2
        out[3] = time * (W[tip, 3] + w1 * p[2] - w2 * p[1])
        out[4] = time * (W[tip, 4] + w2 * p[0] - w0 * p[2])
        out[5] = time * (W[tip, 5] + w0 * p[1] - w1 * p[0])


def widen(W: Matrix, t: Tree, g: Geometry, f: Found, dt: float, margin: float, out: Vector) -> bool:
    """Give geoms whose velocity has changed in the step to that of the twists W more slack; True if one needs it.

    A gap falls by h |u⁻| + h |u⁺ − u⁻| at most; points were searched with 2 h |u⁻| and the margin.
    """
    wider = False
    for k in range(len(g.body)):
        geom_move(W, int(t.last[g.body[k]]), f.pose[k, 9:12], dt, out)
        for i in range(6):
            out[i] -= 0.5 * f.moves[k, i]
        more = length(out[3], out[4], out[5]) + length(out[0], out[1], out[2]) * g.radius[k] - 0.5 * margin
        if more > f.slack[k]:
            f.slack[k] = more
            wider = True
    return wider


def predict(
    items: Items,
    f: Found,
    count: int,
    W: Matrix,
    A: Matrix,
    P: Matrix,
    g: Geometry,
    dt: float,
    c: Contact,
    work: Vector,
) -> None:
    """Move points and axes to where they are at the end of the step at the rates v⁻, and write h (J̇q̇)_n.    (CN9)"""
    one, two, u, omega, out = f.work[0:3], f.work[3:6], f.work[6], f.work[7], f.work[8]
    slide, turn = work[13:16], work[16:19]  # of the point on a, and of n as seen from b: `curvature_bias`
    for k in range(count):
        a, b = int(g.body[g.first[f.pair[k]]]), int(g.body[g.second[f.pair[k]]])
        body_motion(W, A, P, items.tip[2 * k], a, f.point[k], one)
        body_motion(W, A, P, items.tip[2 * k + 1], b, f.point[k], two)
        v, w = two[0], two[1]
        for i in range(3):
            u[i], omega[i] = one[0, i] - v[i], one[1, i] - w[i]
        x0 = one[2, 0] - two[2, 0] - 2.0 * (w[1] * u[2] - w[2] * u[1])
        x1 = one[2, 1] - two[2, 1] - 2.0 * (w[2] * u[0] - w[0] * u[2])
        x2 = one[2, 2] - two[2, 2] - 2.0 * (w[0] * u[1] - w[1] * u[0])
        n0, n1, n2 = f.frame[k, 0], f.frame[k, 1], f.frame[k, 2]
        out[0], out[1], out[2] = n0 * x0 + n1 * x1 + n2 * x2, 0.0, 0.0
        curvature_bias(f, k, u, omega, work, out)
        reach = max(g.radius[g.first[f.pair[k]]], g.radius[g.second[f.pair[k]]])
        if dt * norm(slide) > reach or dt * max(norm(turn), norm(omega)) > TURN:
            out[0], slide[:], turn[:] = 0.0, 0.0, 0.0
        c.drift[k] = dt * out[0]
        for i in range(3):
            f.point[k, i] += dt * (one[0, i] + slide[i])
        f.frame[k, 0] += dt * (w[1] * n2 - w[2] * n1 + turn[0])
        f.frame[k, 1] += dt * (w[2] * n0 - w[0] * n2 + turn[1])
        f.frame[k, 2] += dt * (w[0] * n1 - w[1] * n0 + turn[2])
        orthonormal_axes(f.frame[k])


def orthonormal_axes(frame: Vector) -> None:
    """Scale n to unit length, and make t1, t2 unit vectors perpendicular to it, t1 near to what it was."""
    size = math.sqrt(frame[0] * frame[0] + frame[1] * frame[1] + frame[2] * frame[2])
    for i in range(3):
        frame[i] /= size
    along = frame[0] * frame[3] + frame[1] * frame[4] + frame[2] * frame[5]
    for i in range(3):
        frame[3 + i] -= along * frame[i]
    size = math.sqrt(frame[3] * frame[3] + frame[4] * frame[4] + frame[5] * frame[5])
    for i in range(3):
        frame[3 + i] /= size
    frame[6] = frame[1] * frame[5] - frame[2] * frame[4]
    frame[7] = frame[2] * frame[3] - frame[0] * frame[5]
    frame[8] = frame[0] * frame[4] - frame[1] * frame[3]
