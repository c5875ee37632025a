"""The generalised-α method for mechanisms under constraints (Arnold & Brüls 2007; Brüls & Cardona 2010).

    q₁ = q ⊕ dt (q̇ + dt (½ − β) a + dt β a₁),   q̇₁ = q̇ + dt (1 − γ) a + dt γ a₁                    (AL1)
    (1 − αm) a₁ + αm a = (1 − αf) q̈₁ + αf q̈                                                        (AL2)
    M q̈₁ = F + Aᵀλ₁,   φ(q₁) = 0,  and ψ(q₁, q̇₁) = 0 for rows that are not holonomic               (AL3)

    αm = (2ρ − 1)/(ρ + 1),  αf = ρ/(ρ + 1),  γ = ½ + αf − αm,  β = (γ + ½)²/4                       (AL4)
    M s = Aᵀμ,   A s = ψ(q₁, q̇₁)                                                                   (AL5)
    a = q̈ + (αm − αf)(q̈₁ − q̈)          in a step that begins afresh                                (AL6)

Rates of holonomic rows obey to the order of the method only. What is handed out is q̇₁ − s, which obeys to rounding;
the method goes on from q̇₁, its own: order, damping and energy are what they are without.

A step begins afresh at the start and where efforts that are held have changed: q̈ jumps there, and a, the acceleration
a part αm − αf of a step before it, is unknown. By (AL6) the first step is the trapezoidal rule, of second order too.

ρ is what is left of an infinitely fast vibration after a step: 1 keeps it, 0 kills it at once. a is an acceleration
half-way between steps, carried along; ⊕ is Cayley's sum where q holds a quaternion. q̈₁ is found by Newton's method
with M, dampers and springs in the matrix, and the multipliers with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from kinpair import constrained
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, where
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Motion
from kinpair.constraints.solvers import Problem
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.steps import ahead

RHO = 0.9
TOLERANCE = 1e-13  # of the rates, against the largest of them or 1
ROUNDED = 1e-14  # of coordinates over dt, and of dt times accelerations: rounding of φ and F, less cannot be asked for


class Kept(NamedTuple):
    """What a step has from the last one: a, q̈, the power of the constraint forces, and s."""

    a: Vector
    qdd: Vector
    power: Scalar
    slip: Vector


@dataclass(frozen=True, slots=True)
class GeneralisedAlpha:
    """The step; z = [q̈₁, power, and what was kept]."""

    rho: float = RHO

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """αm, αf, γ, β by (AL4)."""
        of_mass, of_force = (2 * self.rho - 1) / (self.rho + 1), self.rho / (self.rho + 1)
        gamma = 0.5 + of_force - of_mass
        return of_mass, of_force, gamma, 0.25 * (gamma + 0.5) ** 2

    @property
    def ahead(self) -> float:
        """A table of efforts is read at the end of a step."""
        return 1.0

    def memory(self, nv: int) -> int:
        """Entries of the state beside the motion: what is kept, and whether anything is."""
        return 3 * nv + 2

    def size(self, d: Dynamics) -> int:
        """Unknowns, and what is kept beside them."""
        return 4 * d.model.nv + 2

    def start(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """q̈₁ = q̈; in a step that begins afresh the accelerations are those of its start."""
        q, qd, rest = d.parts(y)
        kept, fresh = _kept(rest[len(rest) - d.memory :][:-1], d.model.nv), _begins(y)
        qdd, power = d.accelerations(time, q, qd, d.efforts(time, q, qd, u), d.loads(time, q, qd, u))
        a = array([where(fresh, new, old) for new, old in zip(qdd, kept.a, strict=True)])
        here = array([where(fresh, new, old) for new, old in zip(qdd, kept.qdd, strict=True)])
        power = where(fresh, power, kept.power)
        slip = [where(fresh, 0.0, old) for old in kept.slip]
        return array([*here, power, *a, *here, power, *slip])

    def improve(
        self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector
    ) -> tuple[Vector, Scalar]:
        """Better accelerations, and how far they were, in units of the tolerance."""
        n = d.model.nv
        qdd, kept = z[:n], _kept(z[n + 1 :], n)
        q, qd, _, _ = self._reached(d, dt, y, qdd, kept)
        later = time + dt
        tau, loads = d.efforts(later, q, qd, u), d.loads(later, q, qd, u)
        if d.bumpers is not None:
            tau = tau + d.bumpers.efforts(q, qd)
        M, F = constrained.free_terms(d.model, d.ask, q, qd, tau, later, loads)
        of_rates, of_coordinates = self._slopes(dt, _begins(y))
        A, missing = self._rows(d, later, q, qd, of_rates, of_coordinates)
        matrix = _with_springs(d, M, of_rates, of_coordinates)
        solve = constrained.of_rank(d.held.mu if d.held is not None else 0.0)
        solved = solve(Problem(matrix, F - M @ qdd, A, missing, *constrained.mass_tree(d.model)))  # (AL3)
        power = solved.lam @ (A @ qd) if len(missing) else 0.0
        found = array([*(qdd + solved.qdd), power, *z[n + 1 :]])
        return found, _distance(solved.qdd, of_rates, (q, qd, kept.a), dt)

    def finish(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """y₁; work and loss by the forces at both ends and the mean rate, which is the way that was gone."""
        n = d.model.nv
        qdd, power, kept = z[:n], z[n], _kept(z[n + 1 :], n)
        q, qd, rest = d.parts(y)
        end, rate, a, mean = self._reached(d, dt, y, qdd, kept)
        slip = _slip(d, time + dt, end, rate)
        before = self._powers(d, time, q, (qd + kept.slip, mean), u, kept.power)
        after = self._powers(d, time + dt, end, (rate, mean), u, power)
        count = len(before)
        sums = [x + 0.5 * dt * (p + s) for x, p, s in zip(rest[:count], before, after, strict=True)]
        tracked = rest[count : len(rest) - d.memory]
        return array([*end, *(rate - slip), *sums, *tracked, *a, *qdd, power, *slip, 1.0])

    def _slopes(self, dt: Scalar, fresh: Scalar) -> tuple[Scalar, Scalar]:
        """How q̇₁ and q₁ change with q̈₁."""
        of_mass, of_force, gamma, beta = self.coefficients
        share, early = (1 - of_force) / (1 - of_mass), of_mass - of_force
        of_rates = where(fresh, (1 - gamma) * early + gamma * (1 + early), share * gamma)
        of_coordinates = where(fresh, (0.5 - beta) * early + beta * (1 + early), share * beta)
        return of_rates * dt, of_coordinates * dt * dt

    def _reached(
        self, d: Dynamics, dt: Scalar, y: Vector, qdd: Vector, kept: Kept
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """q₁, q̇₁, a₁, and the rate at which q₁ is reached from q."""
        of_mass, of_force, gamma, beta = self.coefficients
        q, qd, _ = d.parts(y)
        early = where(_begins(y), of_mass - of_force, 0.0)
        a = kept.a + early * (qdd - kept.qdd)  # (AL6)
        a1 = ((1 - of_force) * qdd + of_force * kept.qdd - of_mass * a) * (1 / (1 - of_mass))  # (AL2)
        qd = qd + kept.slip
        mean = qd + dt * ((0.5 - beta) * a + beta * a1)
        return ahead(d, q, dt, mean), qd + dt * ((1 - gamma) * a + gamma * a1), a1, mean  # (AL1)

    def _rows(
        self, d: Dynamics, time: Scalar, q: Vector, qd: Vector, of_rates: Scalar, of_coordinates: Scalar
    ) -> tuple[Matrix, Vector]:
        """A, and the change of q̈₁ along each row that makes φ or ψ vanish."""
        if d.held is None:
            return np.zeros((0, d.model.nv)), np.zeros(0)
        constraints = constraints_of(d.model)
        at = Motion(d.model, q, time, qd)
        found, phi = all_rows.rows_at(constraints, at), all_rows.residual_at(constraints, at)
        gaps = dict(zip(all_rows.holonomic_rows(constraints), phi, strict=True))
        kept = list(d.held.ask.kept)
        missing: list[Any] = [
            -gaps[k] / of_coordinates if k in gaps else -found.psi[k] / of_rates for k in kept
        ]
        return found.A[kept], array(missing) if kept else np.zeros(0)

    def _powers(
        self, d: Dynamics, time: Scalar, q: Vector, rates: tuple[Vector, Vector], u: Vector, power: Scalar
    ) -> list[Any]:
        """Those of forces at the rates there, at the mean rate."""
        qd, mean = rates
        found = d.powers(q, mean, d.efforts(time, q, qd, u), d.loads(time, q, qd, u))
        if d.constraints_work:
            found[0] = found[0] + power
        return found


def _begins(y: Vector) -> Scalar:
    """Is there nothing kept from a step before?"""
    return less(y[-1], 0.5)


def _kept(x: Vector, n: int) -> Kept:
    return Kept(x[:n], x[n : 2 * n], x[2 * n], x[2 * n + 1 : 3 * n + 1])


def _slip(d: Dynamics, time: Scalar, q: Vector, qd: Vector) -> Vector:
    """s: what the rates are off by from the nearest ones, as the mass matrix measures it, that obey."""
    model, nothing = d.model, np.zeros(d.model.nv)
    if d.held is None or not d.held.ask.kept:
        return nothing
    found = all_rows.rows(model, constraints_of(model), q, qd, time, d.held.ask.kept)
    M, _ = constrained.free_terms(model, d.held.ask, q, qd, nothing, time, {})
    solve = constrained.of_rank(d.held.mu)
    return solve(Problem(M, nothing, found.A, found.psi, *constrained.mass_tree(d.model))).qdd  # (AL5)


def _with_springs(d: Dynamics, M: Matrix, dampers: Scalar, springs: Scalar) -> Matrix:
    """M + dampers C + springs K, those of the joints."""
    joints = d.model.joints
    if not d.passive or d.model.terms is not None:
        return M
    pairs = zip(joints.damping, joints.stiffness, strict=True)
    extra: list[Any] = [dampers * c + springs * k for c, k in pairs]
    return M + np.diag(array(extra))


def _distance(step: Vector, of_rates: Scalar, motion: tuple[Vector, ...], dt: Scalar) -> Scalar:
    """The largest change of the rates in units of what is allowed."""
    q, qd, a = (reduce(maximum, [np.abs(x) for x in v], 1.0) for v in motion)
    allowed = TOLERANCE * qd + ROUNDED * (q / dt + dt * a)
    return of_rates * reduce(maximum, [np.abs(x) for x in step]) / allowed
