"""The generalised-α method for mechanisms under constraints (Arnold & Brüls 2007; Brüls & Cardona 2010).

    q₁ = q ⊕ dt (q̇ + dt (½ − β) a + dt β a₁),   q̇₁ = q̇ + dt (1 − γ) a + dt γ a₁                    (AL1)
    (1 − αm) a₁ + αm a = (1 − αf) q̈₁ + αf q̈                                                        (AL2)
    M q̈₁ = F + Aᵀλ₁,   φ(q₁) = 0,  and ψ(q₁, q̇₁) = 0 for rows that are not holonomic               (AL3)

    αm = (2ρ − 1)/(ρ + 1),  αf = ρ/(ρ + 1),  γ = ½ + αf − αm,  β = (γ + ½)²/4                       (AL4)
    M s = Aᵀμ,   A s = ψ(q₁, q̇₁)                                                                   (AL5)
    a = q̈ + (αm − αf)(q̈₁ − q̈)          in a step that begins afresh                                (AL6)

Rates of holonomic rows obey to the order of the method only. What is handed out is q̇₁ − s, which obeys to rounding;
the method goes on from q̇₁, its own: order, damping and energy are what they are without.

A step begins afresh at the start and where efforts that stay constant between samples have changed: q̈ jumps there,
and a, the acceleration
a part αm − αf of a step before it, is unknown. By (AL6) the first step is the trapezoidal rule, of second order too.

ρ is what is left of an infinitely fast vibration after a step: 1 keeps it, 0 kills it at once. a is an acceleration
half-way between steps, carried along; ⊕ is Cayley's sum where q holds a quaternion. q̈₁ is found by Newton's method
with M and the derivatives of what elements do in the matrix, and the multipliers with it.

Newton's method cannot do better than the rounding of its right side. φ_k is known to ε L_k, L_k the reach of the
mechanism where φ_k is a length and one where it is not, and F − M q̈₁ to ε |a|. Along a row A_k this leaves
accelerations wrong by ε L_k/(|A_k| β'dt²) and ε |a|, and rates by dt times that. A solve with rows that are nearly
dependent makes both larger, by one over the sine of the angle between a row and the others in the metric of M⁻¹. The
square of that sine is a pivot of A M⁻¹ Aᵀ as a part of its entry. With p the smallest of them an iteration must reach

    |Δq̇₁| ≤ 1e-13 |q̇| + ε (|q|/dt + |a| dt) / n,        n = √p min(1, |A_k|/L_k)                      (AL7)

n falls to zero at a singular position: near one, less cannot be asked for. No more than 1e4 ε is allowed for, and where
n is below 1e-8, so that the pivot is rounding, the step is not solved: it ends in a singular position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.constraints import quantities as constrained
from kinpair.constraints.quantities.equations import Equations
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.stacked import holonomic_rows, scales
from kinpair.evaluation.quantities.request import Request
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.steps import ahead, newton_matrix, newton_tree, without_held
from kinpair.simulation.rounding import RESIDUAL, SOLVED

NEAREST, SINGULAR = 1e-4, 1e-8  # n of (AL7): the least that is allowed for, and that of a singular position


class Kept(NamedTuple):
    """Values that a step has from the last one: a, q̈, the power of the constraint forces, and s."""

    a: Vector
    qdd: Vector
    power: Scalar
    slip: Vector


@dataclass(frozen=True, slots=True)
class GeneralisedAlpha:
    """The step; z = [q̈₁, power, and what was kept]."""

    rho: float

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
        """Entries of the state next to the motion: what is kept, and whether anything is."""
        return 3 * nv + 2

    def size(self, d: Dynamics) -> int:
        """Unknowns, and what is kept next to them."""
        return 4 * d.model.nv + 2

    def start(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """q̈₁ = q̈; in a step that begins afresh the accelerations are those of its start."""
        q, qd = d.motion(y)
        kept, fresh = _kept(y[d.layout.memory][:-1], d.model.nv), begins(y[-1])
        qdd, power = d.accelerations(d.at(time, q, qd, u), d.loads(time, q, qd, u))
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
        x, request, mu = _equations(d, later, q, qd, u)
        of_rates, of_coordinates = self.slopes(dt, begins(y[-1]))
        missing = _missing(x, request, of_rates, of_coordinates)
        matrix = newton_matrix(d, x.M, State(q, qd), qdd)
        matrix, residual = without_held(d, matrix, x.F - x.M @ qdd, -qdd)
        step = replace(x, M=matrix, F=residual, b=missing, A=_of_moving(d, x.A))
        solved = constrained.solve_equations(step, request, mu, newton_tree(d))  # (AL3)
        improved = array([*(qdd + solved.qdd), solved.power, *z[n + 1 :]])
        nearness = np.sqrt(maximum(solved.pivots[1], 0.0)) * _shortest(d, x.A)
        largest = [reduce(maximum, [np.abs(x) for x in v], 1.0) for v in (q, qd, kept.a)]
        step = reduce(maximum, [np.abs(x) for x in solved.qdd])
        return improved, distance(step, of_rates, largest, dt, nearness)

    def finish(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """y₁; work and loss by the forces at both ends and the mean rate, which is the distance travelled."""
        n = d.model.nv
        qdd, power, kept = z[:n], z[n], _kept(z[n + 1 :], n)
        q, qd = d.motion(y)
        end, rate, a, mean = self._reached(d, dt, y, qdd, kept)
        slip = _slip(d, time + dt, end, rate)
        before = self._powers(d, time, q, (qd + kept.slip, mean), u, kept.power)
        after = self._powers(d, time + dt, end, (rate, mean), u, power)
        powers = [0.5 * (p + s) for p, s in zip(before, after, strict=True)]
        reached = d.stepped(y, end, rate - slip, dt, powers)
        return array([*reached[: d.layout.memory.start], *a, *qdd, power, *slip, 1.0])

    def slopes(self, dt: Scalar, fresh: Scalar) -> tuple[Scalar, Scalar]:
        """Derivatives of q̇₁ and q₁ by q̈₁."""
        of_mass, of_force, gamma, beta = self.coefficients
        share, early = (1 - of_force) / (1 - of_mass), of_mass - of_force
        of_rates = where(fresh, (1 - gamma) * early + gamma * (1 + early), share * gamma)
        of_coordinates = where(fresh, (0.5 - beta) * early + beta * (1 + early), share * beta)
        return of_rates * dt, of_coordinates * dt * dt

    def _reached(
        self, d: Dynamics, dt: Scalar, y: Vector, qdd: Vector, kept: Kept
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """q₁, q̇₁, a₁, and the rate at which q₁ is reached from q."""
        q, qd = d.motion(y)
        rate, a1, mean = self.rates(dt, begins(y[-1]), qd, qdd, kept)
        return ahead(d, q, dt, mean), rate, a1, mean

    def rates(
        self, dt: Scalar, fresh: Scalar, qd: Vector, qdd: Vector, kept: Kept
    ) -> tuple[Vector, Vector, Vector]:
        """q̇₁, a₁, and the rate at which q₁ is reached from q; of all rates, or of some."""
        of_mass, of_force, gamma, beta = self.coefficients
        early = where(fresh, of_mass - of_force, 0.0)
        a = kept.a + early * (qdd - kept.qdd)  # (AL6)
        a1 = ((1 - of_force) * qdd + of_force * kept.qdd - of_mass * a) * (1 / (1 - of_mass))  # (AL2)
        qd = qd + kept.slip
        mean = qd + dt * ((0.5 - beta) * a + beta * a1)
        return qd + dt * ((1 - gamma) * a + gamma * a1), a1, mean  # (AL1)

    def _powers(
        self, d: Dynamics, time: Scalar, q: Vector, rates: tuple[Vector, Vector], u: Vector, power: Scalar
    ) -> list[Any]:
        """Powers of forces at the rates there, at the mean rate."""
        qd, mean = rates
        result = d.powers(replace(d.at(time, q, qd, u), qd=mean), d.loads(time, q, qd, u))
        if d.constraints_work:
            result[0] = result[0] + power
        return result


def _of_moving(d: Dynamics, A: Matrix) -> Matrix:
    """Rows of constraints without the rates that are locked."""
    held = None if d.model.slip is None else d.model.slip.held
    return A if held is None or not len(A) else A * (1.0 - held)


def begins(flag: Scalar) -> Scalar:
    """True if nothing is kept from a step before, by the last entry of the state."""
    return less(flag, 0.5)


def _kept(x: Vector, n: int) -> Kept:
    return Kept(x[:n], x[n : 2 * n], x[2 * n], x[2 * n + 1 : 3 * n + 1])


def _equations(
    d: Dynamics, time: Scalar, q: Vector, qd: Vector, u: Vector
) -> tuple[Equations, Request, tuple[float, ...]]:
    """The equations of motion, the rows that are solved for, and how much slack they have."""
    state, loads = d.at(time, q, qd, u), d.loads(time, q, qd, u)
    request = d.enforcement.own(d.request)
    return constrained.equations(d.model, request, state, loads), request, d.enforcement.mu


def _missing(x: Equations, request: Request, of_rates: Scalar, of_coordinates: Scalar) -> Vector:
    """The change of q̈₁ along each row that makes φ or ψ vanish."""
    gaps = dict(zip(holonomic_rows(constraints_of(x.at.model)), x.phi, strict=True))
    missing: list[Any] = [
        -gaps[k] / of_coordinates if k in gaps else -psi / of_rates
        for k, psi in zip(request.kept, x.psi, strict=True)
    ]
    return array(missing) if missing else np.zeros(0)


def _slip(d: Dynamics, time: Scalar, q: Vector, qd: Vector) -> Vector:
    """s: what the rates are off by from the nearest ones, as the mass matrix measures it, that obey."""
    model, nothing = d.model, np.zeros(d.model.nv)
    if not d.kept:
        return nothing
    x = constrained.equations(model, d.enforcement.request, State(q, qd, tau=nothing, time=time), {})
    return constrained.least_step(model, x.M, x.A, x.psi, d.enforcement.mu).qdd  # (AL5)


def _shortest(d: Dynamics, A: Matrix) -> Scalar:
    """The length of the shortest row A_k as a part of L_k, or one; rows of any rank may be of any length."""
    if d.enforcement.mu:
        return 1.0
    constraints = constraints_of(d.model)
    sizes = dict(zip(holonomic_rows(constraints), scales(d.model, constraints), strict=True))
    lengths = [
        np.sqrt(row @ row) / sizes[k]
        for k, row in zip(d.enforcement.request.kept, A, strict=True)
        if k in sizes
    ]
    return reduce(minimum, lengths, 1.0)


def distance(
    step: Scalar, of_rates: Scalar, largest: Sequence[Scalar], dt: Scalar, nearness: Scalar
) -> Scalar:
    """Return the largest change of the rates in units of what is allowed; largest: coordinate, rate, a, at least 1."""
    q, qd, a = largest
    allowed = SOLVED * qd + RESIDUAL * (q / dt + dt * a) / maximum(nearness, NEAREST)  # (AL7)
    return where(less(nearness, SINGULAR), np.inf, of_rates * step / allowed)
