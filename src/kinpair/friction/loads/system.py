"""Loads of all surfaces as one small system, and Newton's method for it, over floats, symbols or columns of a batch.

Friction of surface l pushes the rates by −D_l N_l, D_l = G_lᵀ μ_l u_l with u_l the direction of sliding. Wrenches are
affine in what acts, so the forms c_k of surface k are affine in the loads of all surfaces:

    q̈ = q̈₀ + Σ_l a_l N_l,     a_l = −H⁻¹D_l              with constraints in force, where there are any   (FS1)
    c_k = c_k0 + Σ_l C_kl N_l                                                                          (FS2)
    F_k(N) = N_k − load_k(c_k, −μ_k u_k N_k) = 0                                                         (FS3)
    N ← N − J⁻¹F,   J_kl = ∂F_k/∂N_l                                                                   (FS4)

A load that jumps by h where y passes a limit has the part θ of the jump as one more unknown; z = θ + (y − limit)/|h|:

    y = limit   where 0 < z < 1,   else θ = 0 or 1 by the side of z                                      (FS6)

Where the jump moves y on by itself, so that both sides may fit, θ is 0 or 1 by the side of y.

From N of the frictionless motion a few sweeps of (FS4) are enough; they are unrolled. Where no load satisfies (FS3), F
stays; where det J < 0, the root is not the one that continues from μ = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from kinpair.algebra import lu
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, minimum, sign, where
from kinpair.friction.rounding import CREEP, LEAST_SQUARE, MET, NO_DIRECTION
from kinpair.friction.surfaces.surface import Carried, Jump, Surface, length, magnitude

FEELING = 3  # sweeps where a load depends on the friction force alone: a kinked line, or nearly one
NARROW = 0.5  # cosine of the angle by which several rates may turn away from a direction that is fixed


class Slip(NamedTuple):
    """Sliding of a surface: direction u (k,) of length one, or zeros where it does not act, and μ."""

    u: Vector
    mu: Scalar

    def force(self, N: Scalar) -> Vector:
        """−μ N u."""
        return times(-(self.mu * N), self.u)


class Response(NamedTuple):
    """Affine answer of a mechanism to the loads of its surfaces: q̈₀ and a_l, c_k0 and C_kl."""

    qdd: Vector
    by_load: Sequence[Vector]  # a_l (nv,)
    forms: Sequence[Sequence[Scalar]]  # c_k0
    forms_by_load: Sequence[Sequence[Sequence[Scalar]]]  # C_kl


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """(FS3): surfaces, how each slides, what its joint is in, and the response."""

    surfaces: Sequence[Surface]
    slips: Sequence[Slip]
    joints: Sequence[Carried]
    response: Response

    def forms(self, N: Vector) -> list[list[Scalar]]:
        """Compute the forms c_k.    (FS2)"""
        x = self.response
        return [_affine(first, columns, N) for first, columns in zip(x.forms, x.forms_by_load, strict=True)]

    def loads(self, N: Vector) -> list[Scalar]:
        """Loads that the surfaces carry while they slide with loads N."""
        rows = zip(self.surfaces, self.slips, self.joints, self.forms(N), N, strict=True)
        return [x.load(c, slip.force(n), at) for x, slip, at, c, n in rows]

    def residual(self, N: Vector) -> Vector:
        """Compute the residual F.    (FS3)"""
        return array([n - load for n, load in zip(N, self.loads(N), strict=True)])

    def jacobian(self, N: Vector) -> Matrix:
        """Compute the Jacobian J.    (FS4)"""
        c, x, n = self.forms(N), self.response, len(N)
        rows: list[list[Scalar]] = []
        for k in range(n):
            own, slip, at = self.surfaces[k], self.slips[k], self.joints[k]
            by_form = own.slopes(c[k], slip.force(N[k]), at)
            of_force = force_slope(own, c[k], slip, N[k], at)
            row = [-dot(by_form, x.forms_by_load[k][l]) for l in range(n)]
            row[k] = row[k] + (1.0 - of_force)
            rows.append(row)
        return array(rows)

    def accelerations(self, N: Vector) -> Vector:
        """Compute accelerations q̈.    (FS1)"""
        pairs = zip(self.response.by_load, N, strict=True)
        return sum((times(n, a) for a, n in pairs), self.response.qdd)


class Solved(NamedTuple):
    """N of all surfaces; how far (FS3) is from being met; the sign of det J; and N before the last step, where another
    solve nearby may start."""

    N: Vector
    residual: Scalar
    orientation: Scalar
    before: Vector

    @property
    def sound(self) -> Scalar:
        """Return one where (FS3) is met by the root that continues from μ = 0, else zero."""
        met = less(self.residual, MET)
        return where(met, where(less(0.0, self.orientation), 1.0, 0.0), 0.0)


class Edge(NamedTuple):
    """A jump of one load: the jump, the part θ of it, one where y = limit is required instead of a given θ, and by
    how much y or θ is to change.    (FS6)"""

    surface: int
    jump: Jump
    theta: Scalar
    inside: Scalar
    change: Scalar

    @property
    def unmet(self) -> Scalar:
        """Residual of (FS6), as a load."""
        return self.change * where(less(0.5, self.inside), 1.0, self.jump.height)

    @property
    def right(self) -> Scalar:
        """Right side of its row."""
        return (1.0 - 2.0 * self.inside) * self.change

    def row(self, slopes: Sequence[Scalar], place: int, count: int) -> list[Scalar]:
        """Row of the jump by unknowns of which y has these slopes, and behind them by `count` θ; the sign keeps det
        J > 0."""
        own = [1.0 - self.inside if n == place else 0.0 for n in range(count)]
        return [*(-(self.inside * x) for x in slopes), *own]


def sides(
    surfaces: Sequence[Surface], joints: Sequence[Carried], c: Sequence[Sequence[Scalar]]
) -> list[Scalar]:
    """θ of each load that jumps, by the side on which its y is."""
    jumps = [s.jump(forms, at) for s, at, forms in zip(surfaces, joints, c, strict=True) if s.jumps]
    return [where(less(x.limit, x.y), 1.0, 0.0) for x in jumps]


def edges_of(
    surfaces: Sequence[Surface],
    joints: Sequence[Carried],
    c: Sequence[Sequence[Scalar]],
    thetas: Sequence[Scalar],
    moved: Sequence[Scalar],
) -> tuple[list[Edge], list[Carried]]:
    """The jumps at forms c, each with its θ, and what the joints are in with these θ; `moved`: zero where friction of a
    surface moves nothing.    (FS6)"""
    edges, own, given = list[Edge](), list(joints), iter(thetas)
    for k, (s, at) in enumerate(zip(surfaces, joints, strict=True)):
        if not s.jumps:
            continue
        jump, theta = s.jump(c[k], at), next(given)
        beyond = jump.y - jump.limit
        z = theta + np.divide(beyond, magnitude(jump.height) + LEAST_SQUARE)
        alone = where(less(moved[k], LEAST_SQUARE), 1.0, jump.helps)
        side = where(less(0.0, beyond), 1.0, 0.0)
        clipped = where(less(0.5, alone), side, minimum(maximum(z, 0.0), 1.0))
        inside = (1.0 - alone) * where(less(0.0, z), where(less(z, 1.0), 1.0, 0.0), 0.0)
        edges.append(Edge(k, jump, theta, inside, where(less(0.5, inside), -beyond, clipped - theta)))
        own[k] = at._replace(theta=theta)
    return edges, own


def solve(system: System, start: Vector | None, sweeps: int) -> Solved:
    """N by so many sweeps, from the loads of the frictionless motion where no start is given.    (FS4)"""
    n = len(system.surfaces)
    if not n:
        return Solved(np.zeros(0), 0.0, 1.0, np.zeros(0))
    N = array(system.loads(np.zeros(n))) if start is None else start
    pivots: Sequence[Scalar] = [1.0]
    free = bool(sweeps and len(system.response.by_load))  # a motion that is given has no jumps to find
    thetas = sides(system.surfaces, system.joints, system.forms(N)) if free else []
    for _ in range(sweeps):
        here, edges = _with_edges(system, N, thetas)
        factors = lu.factor(_with_jumps(here, N, edges))
        pivots = factors.D
        step = lu.solve(factors, array([*here.residual(N), *(-edge.right for edge in edges)]))
        N = N - step[:n]
        thetas = [edge.theta - step[n + k] for k, edge in enumerate(edges)]
    here, edges = _with_edges(system, N, thetas)
    left = [*here.residual(N), *(edge.unmet for edge in edges)]
    return Solved(N, measured(left, N), reduce(mul, [sign(x) for x in pivots]), N)


def _with_edges(system: System, N: Vector, thetas: Sequence[Scalar]) -> tuple[System, list[Edge]]:
    """The system with parts θ of the jumps, and these jumps."""
    if not thetas:
        return system, []
    moved = [dot(x, x) for x in system.response.by_load]
    edges, joints = edges_of(system.surfaces, system.joints, system.forms(N), thetas, moved)
    return replace(system, joints=joints), edges


def _with_jumps(here: System, N: Vector, edges: Sequence[Edge]) -> Matrix:
    """J with a row and a column for each jump behind."""
    rows = [list(row) for row in here.jacobian(N)]
    forms = here.forms(N) if edges else []
    for k, row in enumerate(rows):
        row += [-edge.jump.height if edge.surface == k else 0.0 for edge in edges]
    for n, edge in enumerate(edges):
        k = edge.surface
        by_c = here.surfaces[k].jump_slopes(forms[k], here.joints[k])
        slopes = [dot(by_c, column) for column in here.response.forms_by_load[k]]
        rows.append(edge.row(slopes, n, len(edges)))
    return array(rows)


def measured(F: Sequence[Scalar], N: Vector) -> Scalar:
    """√Σ F² against √(Σ N²/n), or 1 N where that is more: no less than the largest |F| against the largest load."""
    loads = maximum(1.0, sum((x * x for x in N), 0.0) * (1.0 / len(N)))
    return np.sqrt(np.divide(sum((x * x for x in F), 0.0), loads))


def slips_of(
    surfaces: Sequence[Surface], rates: Sequence[Vector], given: Sequence[Vector], *, through: bool = False
) -> list[Slip]:
    """Directions and coefficients at rates q̇ by joint. One number: the sign that is given. Several: their own
    direction, and the one given where they are zero; `through` a stop the one given goes on, see (FP1)."""
    return [_slip(x, qd, u, through) for x, qd, u in zip(surfaces, rates, given, strict=True)]


def _slip(surface: Surface, qd: Vector, given: Vector, through: bool) -> Slip:
    s = surface.sliding() @ qd
    if len(s) == 1:
        return Slip(given, surface.grip.coefficient(magnitude(s[0])))
    speed = length(*s)
    if through:
        return Slip(steady(s, given), surface.grip.coefficient(speed))
    moves, over = less(NO_DIRECTION, speed), np.divide(1.0, speed)
    u = array([where(moves, x * over, y) for x, y in zip(s, given, strict=True)])
    return Slip(u, surface.grip.coefficient(speed))


def steady(s: Vector, d: Vector) -> Vector:
    """Return the direction u of sliding by several rates s in a run, d being the direction that is fixed.

    u = s/|s| where d·s > |s|/2 and |s| > c, d elsewhere,   c = CREEP                                     (FP1)
    """
    speed = length(*s)
    moves, over = less(maximum(CREEP - speed, NARROW * speed - dot(d, s)), 0.0), np.divide(1.0, speed)
    return array([where(moves, x * over, y) for x, y in zip(s, d, strict=True)])


def columns(
    nv: int, surfaces: Sequence[Surface], slips: Sequence[Slip], spans: Sequence[slice]
) -> list[Vector]:
    """D_l (nv,): efforts against which the friction of a unit load acts."""
    found: list[Vector] = []
    for x, slip, span in zip(surfaces, slips, spans, strict=True):
        own = -(x.sliding().T @ slip.force(1.0))
        entries: list[Scalar] = [0.0] * nv
        entries[span] = list(own)
        found.append(array(entries))
    return found


def _affine(first: Sequence[Scalar], columns: Sequence[Sequence[Scalar]], N: Vector) -> list[Scalar]:
    return [
        sum((column[m] * n for column, n in zip(columns, N, strict=True) if not is_nothing(column[m])), c)
        for m, c in enumerate(first)
    ]


def force_slope(surface: Surface, c: Sequence[Scalar], slip: Slip, N: Scalar, at: Carried) -> Scalar:
    """d load/d N through the friction force; zero for laws that do not feel it."""
    if not surface.feels_force:
        return 0.0
    return dot(surface.force_slopes(c, slip.force(N), at), slip.force(1.0))


def times(s: Scalar, x: Vector) -> Vector:
    """s x, entry by entry: s may be a column of a batch."""
    return array([s * entry for entry in x]) if len(x) else x


def dot(a: Sequence[Scalar] | Vector, b: Sequence[Scalar] | Vector) -> Scalar:
    """Σ a b without what is nothing."""
    pairs = zip(a, b, strict=True)
    return sum((x * y for x, y in pairs if not (is_nothing(x) or is_nothing(y))), 0.0)
