"""Time stepping with contact (Moreau–Jean): what is recorded before and after the loop function of a step.

    q_θ = q ⊕ (1 − θ) h v⁻,   δ = h/2 q̈(q_θ, v⁻),   v_f = v⁻ + h (q̈(q_θ, v⁻ + δ) − q̈(q_θ, δ) + q̈(q_θ, 0))     (CN7)
    q⁺ = q ⊕ h (θ v⁺ + (1 − θ) v⁻)                                                                         (CN6)
    C = diag(max(0, −∂τ_k/∂q̇_k)): M + h C in place of M, and v_f ← v_f − (M + h C)⁻¹ h C (v_f − v⁻)         (CN18)

Contact points are those at q. Forces that are quadratic in the rates are those of the middle of the step, forces that
are linear in them those of its start, but damping of a joint that of its end; at rest every force is that at q,
whatever its accelerations would be without contact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, where
from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.compiler.time_loop.parts import Solve
from kinpair.constraints.solve.chain import PLAN, SMALL, VECTORS
from kinpair.constraints.solve.residual import PART, WIDTH
from kinpair.contact.records import INTEGERS, MEMORY, OF_GEOM, OF_POINT, WORK
from kinpair.forces.elements import loads_on
from kinpair.simulation.contact.closing import FROZEN
from kinpair.simulation.contact.loads import OWN
from kinpair.simulation.contact.prediction import CURVED
from kinpair.simulation.contact.rows import GROUPS, ROWS
from kinpair.simulation.contact.step import (
    FRICTION,
    IMPACT,
    KEPT,
    LEDGER,
    RESULTS,
    SEPARATION,
    SUMS,
    Sizes,
    step,
)
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.contact_terms import (
    biases_of,
    friction_efforts,
    geoms_of,
    masses,
    poses_of,
    row_count,
    screws_of,
    tree_of,
)
from kinpair.simulation.methods.load_terms import counts_of, load_terms, whole_numbers
from kinpair.simulation.methods.steps import ahead
from kinpair.simulation.rounding import STILL


@dataclass(frozen=True, slots=True)
class TimeStepping:
    """Steps of velocities and impulses; z has what the loop function `step` reads and writes."""

    theta: float = 0.5

    def size(self, d: Dynamics) -> int:
        """Number of entries of z."""
        s = sizes_of(d)
        state = 18 * s.bodies + 12 * s.rates + s.rates**2 + 4 * s.rates + s.constraints * s.rates
        loads = 5 * s.surfaces + 3 * s.parts + s.forms * (s.rates + 10 + s.constraints)
        loads += s.rates if s.surfaces else 0
        return state + s.limits + 2 * s.frictions + loads + KEPT * s.points + RESULTS * s.rates + LEDGER + 1

    def start(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """Return z before the step: poses, screws, H, v⁻, v_f, rows of constraints, joints."""
        q, qd = d.motion(y)
        entries = poses_of(d, q)
        entries += [x for row in biases_of(d, q, qd) for x in row]
        end = ahead(d, q, dt, qd)
        for place in (q, end):
            entries += [x for screw in screws_of(d, place) for x in screw]
        M, A = masses(d, time + dt, end, qd)
        damping = dt * sum(self.damping(d, time, dt, y, u))
        M = M + np.diag(damping)  # (CN18)
        moving, still, delta = self.accelerations(d, time, dt, y, u, 1.0 - damping / np.diag(M))
        entries += [*np.ravel(M), *qd, *(qd + dt * moving), *(dt * still), *damping, *np.ravel(A)]
        entries += joints(d, time, dt, y, u)
        later, rates = time + (1.0 - self.theta) * dt, qd + delta
        middle = d.at(later, ahead(d, q, (1.0 - self.theta) * dt, qd), rates, u, y[d.layout.x])
        entries += load_terms(d, dt, middle, d.loads(later, middle.q, rates, u), qd, end, dt * moving)
        return array([*entries, *np.zeros(self.size(d) - len(entries))])

    def accelerations(
        self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, undamped: Vector
    ) -> tuple[Vector, Vector, Vector]:
        """q̈ without impulses, q̈ without impulses and rates, and δ.    (CN7)

        `undamped`: M_kk/(M_kk + h C_k), by which δ is reduced: with strong damping it would be larger than the rates.
        """
        q, qd = d.motion(y)
        x, later = y[d.layout.x], time + (1.0 - self.theta) * dt
        q = ahead(d, q, (1.0 - self.theta) * dt, qd)

        def at(rates: Vector) -> Vector:
            state = d.at(later, q, rates, u, x)
            return d.accelerations(state, d.loads(later, q, rates, u))[0]

        delta, still = 0.5 * dt * undamped * at(qd), at(np.zeros(d.model.nv))
        return at(qd + delta) - at(delta) + still, still, delta

    def damping(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> tuple[Vector, Vector]:
        """C (nv,) of efforts τ and of elements: how much each falls with its joint's own rate.    (CN18)"""
        q, qd = d.motion(y)
        later, q = time + (1.0 - self.theta) * dt, ahead(d, q, (1.0 - self.theta) * dt, qd)
        state = d.at(later, q, qd, u, y[d.layout.x])
        passive = loads_on(d.model, state, passive=d.passive).efforts
        slopes = [jacobian(x, qd, mode="forward") for x in (state.tau, passive)]
        of_torque, of_elements = ([maximum(0.0, -x[k, k]) for k in range(d.model.nv)] for x in slopes)
        return array(of_torque), array(of_elements)

    def finish(self, d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """Compute the state y₁, but for forces of the step, which are zero."""
        (q, qd), nv, layout = d.motion(y), d.model.nv, d.layout
        kept = KEPT * sizes_of(d).points
        results = len(z) - RESULTS * nv - LEDGER - 1
        rate, theta, shift = (z[results + k * nv : results + (k + 1) * nv] for k in range(RESULTS))
        ledger = z[results + RESULTS * nv : -1]
        mean = 0.5 * (rate + qd)
        later, middle = time + (1.0 - self.theta) * dt, ahead(d, q, (1.0 - self.theta) * dt, qd)
        state = d.at(later, middle, mean, u, y[layout.x])
        powers = d.powers(state, d.loads(later, middle, mean, u))
        drive, passive = (0.5 * (x * mean) @ (rate - qd) for x in self.damping(d, time, dt, y, u))
        powers[0] = powers[0] - drive  # damping is −C v⁺, powers are those of the mean rate
        powers[1] = powers[1] + passive + (ledger[IMPACT] + ledger[FRICTION] + ledger[SEPARATION]) / dt
        if d.constraints_work:
            _, smooth = d.accelerations(state, d.loads(later, middle, mean, u))
            impulses = self._work_of_constraints(d, time, dt, y, z, rate, theta, ledger)
            powers[0] = powers[0] + smooth + impulses / dt
        end = ahead(d, q, dt, theta * rate + (1.0 - theta) * qd + shift / dt)
        after = d.stepped(y, end, rate, dt, powers, d.x_rates(state))
        sums = y[layout.contact][:SUMS] + ledger[:SUMS]
        own = [*sums, *ledger[SUMS:], *np.zeros(kept)]
        return array([*after[: layout.contact.start], *own, *after[layout.contact.stop :]])

    def _work_of_constraints(
        self,
        d: Dynamics,
        time: Scalar,
        dt: Scalar,
        y: Vector,
        z: Vector,
        rate: Vector,
        theta: Vector,
        ledger: Vector,
    ) -> Scalar:
        """Compute the work of moving constraints that impulses of contact cause: that of all impulses along the mean
        rate, without that of contact.    (CN25)"""
        (q, qd), s = d.motion(y), sizes_of(d)
        first = 18 * s.bodies + 12 * s.rates + s.rates**2 + s.rates
        free, still, damping = (z[first + k * s.rates : first + (k + 1) * s.rates] for k in range(3))
        M, _ = masses(d, time + dt, ahead(d, q, dt, qd), qd)
        impulse = M @ (rate - free) + damping * (rate - qd)  # (CN25)
        shifted = ((theta - 0.5) * (rate - qd)) @ (M @ still)
        return 0.5 * (rate + qd) @ impulse - (shifted - ledger[IMPACT] - ledger[FRICTION])

    def solve(self, d: Dynamics) -> Solve:
        """The loop function with its constants and memory."""
        assert d.contact is not None
        s, c, limits = sizes_of(d), d.contact.data, d.contact.limits
        of_geoms, numbers = geoms_of(c)
        whole = [*s, *tree_of(d), *(x.v for x in limits), *d.rough_rates, *whole_numbers(d), *of_geoms]
        ends = [*(x.side for x in limits), *(x.restitution for x in limits)]
        numbers = [self.theta, *ends, *np.ravel(PLAN), *numbers]
        constants = np.array(numbers, dtype=float), np.array(whole, dtype=np.int64)
        return Solve(_code(), *constants, *room(s), carried=self.carried(d))

    def carried(self, d: Dynamics) -> tuple[int, int, int]:
        """Return where forces of the last step are in y and in z, and their number, see `Solve`."""
        kept = KEPT * sizes_of(d).points
        return d.layout.contact.start + LEDGER, self.size(d) - 1 - LEDGER - RESULTS * d.model.nv - kept, kept


@cache
def _code() -> LoopFunction:
    """The step as machine code."""
    return compiled(step, store=Store())


def sizes_of(d: Dynamics) -> Sizes:
    """Sizes of the arrays of a step."""
    assert d.contact is not None
    c, rows = d.contact.data, row_count(d)
    per_point = ROWS if c.rolling.any() or c.torsional.any() else 3
    geoms, pairs, nb = len(c.names), len(c.first), len(d.model.parent)
    contact = geoms, pairs, c.planes, len(c.vertices), len(c.faces), len(PLAN), per_point
    own = d.model.nv, nb, c.max_contacts, rows, len(d.contact.limits), len(d.rough_rates)
    return Sizes(*own, *contact, *counts_of(d).sizes)


def joints(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> list[Scalar]:
    """Return gaps of limits, and least and greatest impulse of dry friction on the rates that have it."""
    assert d.contact is not None
    state = d.state(time, y, u)
    still = [less(np.abs(state.qd[k]), STILL) for k in d.rough_rates]
    rest, slide = friction_efforts(d, state)
    ends = [where(rests, rest[n][i], slide[n][i]) for n in range(len(rest)) for i, rests in enumerate(still)]
    return [*(x.gap(state.q) for x in d.contact.limits), *(dt * x for x in ends)]


def room(s: Sizes) -> tuple[int, int]:
    """Numbers and whole numbers of working memory, see `step.step` and `step.solve_items`."""
    items, rows = s.points + s.joints, s.per_point * s.points + s.joints + (OWN - 1) * s.surfaces
    groups = GROUPS * rows
    found = OF_POINT * s.points + OF_GEOM * s.geoms + 3 * WORK + MEMORY + 31 * items + 14 * s.rates + CURVED
    problem = rows * s.rates + 5 * rows**2 + 8 * rows + 6 * groups + VECTORS * rows + 4 * SMALL
    problem += 6 * s.parts + 2 * s.forms * (1 + rows)
    places = 2 * s.points + s.geoms + s.pairs + INTEGERS + 7 * items + items * s.rates + PART * s.parts
    return found + problem + FROZEN * items, places + WIDTH * groups + 4 * rows + 3 + rows**2
