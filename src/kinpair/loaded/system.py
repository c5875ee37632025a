"""Loads of all surfaces as one small system, and Newton's method for it, over floats, symbols or columns of a batch.

Friction of surface l pushes the rates by −D_l N_l, D_l = G_lᵀ μ_l u_l with u_l the direction of sliding. Wrenches are
affine in what acts, so the forms c_k of surface k are affine in the loads of all surfaces:

    q̈ = q̈₀ + Σ_l a_l N_l,     a_l = −H⁻¹D_l              with constraints in force, where there are any   (FS1)
    c_k = c_k0 + Σ_l C_kl N_l                                                                          (FS2)
    F_k(N) = N_k − load_k(c_k, −μ_k u_k N_k) = 0                                                         (FS3)
    N ← N − J⁻¹F,   J_kl = ∂F_k/∂N_l                                                                   (FS4)

From N of the frictionless motion a few sweeps of (FS4) are enough; they are unrolled. Where no load satisfies (FS3), F
stays; where det J < 0, the root is not the one that continues from μ = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from kinpair.algebra import lu
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, sign, where
from kinpair.forces.surfaces.surface import Carried, Surface, length, magnitude

MET = 1e-10  # |F| against the largest load
FEELING = 3  # sweeps where a load depends on the friction force alone: a kinked line, or nearly one
SMALL = 1e-12  # [m/s]: sliding slower than this has no direction of its own
NARROW = 0.5  # cosine of the angle by which several rates may turn away from a direction that is fixed


class Slip(NamedTuple):
    """How a surface slides: direction u (k,) of length one, or zeros where it does not act, and μ."""

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
        """c_k.    (FS2)"""
        x = self.response
        return [_affine(first, columns, N) for first, columns in zip(x.forms, x.forms_by_load, strict=True)]

    def loads(self, N: Vector) -> list[Scalar]:
        """What the surfaces carry while they rub by loads N."""
        rows = zip(self.surfaces, self.slips, self.joints, self.forms(N), N, strict=True)
        return [x.load(c, slip.force(n), at) for x, slip, at, c, n in rows]

    def residual(self, N: Vector) -> Vector:
        """F.    (FS3)"""
        return array([n - load for n, load in zip(N, self.loads(N), strict=True)])

    def jacobian(self, N: Vector) -> Matrix:
        """J.    (FS4)"""
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
        """q̈.    (FS1)"""
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
        """One where (FS3) is met by the root that continues from μ = 0, else zero."""
        met = less(self.residual, MET)
        return where(met, where(less(0.0, self.orientation), 1.0, 0.0), 0.0)


def solve(system: System, start: Vector | None, sweeps: int) -> Solved:
    """N by so many sweeps, from the loads of the frictionless motion where no start is given.    (FS4)"""
    n = len(system.surfaces)
    if not n:
        return Solved(np.zeros(0), 0.0, 1.0, np.zeros(0))
    N = array(system.loads(np.zeros(n))) if start is None else start
    pivots: Sequence[Scalar] = [1.0]
    for _ in range(sweeps):
        factors = lu.factor(system.jacobian(N))
        pivots = factors.D
        N = N - lu.solve(factors, system.residual(N))
    return Solved(N, measured(list(system.residual(N)), N), reduce(mul, [sign(x) for x in pivots]), N)


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
    short = SMALL - speed
    if through:
        short = maximum(short, NARROW * speed - dot(given, s))  # (FP1)
    moves, over = less(short, 0.0), np.divide(1.0, speed)
    u = array([where(moves, x * over, y) for x, y in zip(s, given, strict=True)])
    return Slip(u, surface.grip.coefficient(speed))


def columns(
    nv: int, surfaces: Sequence[Surface], slips: Sequence[Slip], spans: Sequence[slice]
) -> list[Vector]:
    """D_l (nv,): efforts against which a unit load rubs."""
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
