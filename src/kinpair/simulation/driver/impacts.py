"""Impacts: rates jump, positions do not. Loops stay closed, friction acts by impulses, and energy does not grow.

With the rows A of the constraints, the rows N of the limits reached (ġ = N q̇), the rows S of the surfaces under load
(s = S q̇), and Z a basis of A's null space:

    H (q̇⁺ − q̇⁻) = Aᵀμ + NᵀΛ + SᵀΦ,   A q̇⁺ + a = 0                                            (IM1)
    G = Z (ZᵀHZ)⁻¹ Zᵀ,   q̇⁺ = q̇⁻ + G (NᵀΛ + SᵀΦ)                 G: `stick.response`          (IM2)
    0 ≤ Λ  ⟂  N q̇⁺ + e N q̇⁻ ≥ 0                                  Newton's law, every limit      (IM3)
    T⁺ − T⁻ = −½ (1 − e)/(1 + e) Λᵀ N G Nᵀ Λ                     for one e, without friction     (IM4)
    q̇⁺ = q̇⁻ − H⁻¹Aᵀ (A H⁻¹ Aᵀ)⁻¹ ψ                              a constraint that begins       (IM5)
    ‖Φ_k‖ ≤ μ_k N_k(Λ, Φ),   −S_k q̇⁺ in the normal cone of the disc at Φ_k                      (IM6)
    Λ of (IM3) with e = 0, then Λ ← those with Λ⁺ ≥ e Λ ⟂ N q̇⁺ ≥ 0                 Poisson's law (IM7)

N_k is the part of degree one of the load of a surface, at the impulses that the joint transmits: constant levels,
preloads and finite efforts have no impulse. (IM3) and (IM6) are one problem, see `constraints/solve/problem.py`. Where
T⁺ > T⁻, which friction and different e can cause, all e are multiplied by the largest β ≤ 1 for which T does not grow.

Derivation, no line of code: (IM1), (IM4).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinpair.constraints.rows.bounded import BoundedRows
from kinpair.constraints.solve.problem import Disc, Group, Interval, Part, solve
from kinpair.constraints.solvers.rank_revealing import solve as solved
from kinpair.errors import SingularError, listed
from kinpair.friction.phases.resting import SHAPES, Affine, Resting
from kinpair.friction.surfaces.surface import LINEAR, NORM, STILL, Surface
from kinpair.simulation.rounding import RELATIVE, UNCHANGED

OF_DEGREE_ONE = (NORM, LINEAR)  # parts of loads that impulses have
AGAIN = 20  # impacts after one another at one instant
HALVINGS = 50  # of the interval of β


class RoughSurfaces(NamedTuple):
    """Surfaces under load in an impact: rows S (n, nv) and where each surface has its own, μ of each, forms of the
    joints' impulses by a constraint that begins, and by impulses on the rates."""

    surfaces: Sequence[Surface]
    S: np.ndarray
    where: Sequence[slice]
    mu: np.ndarray
    forms: Sequence[np.ndarray]
    by_impulse: Sequence[np.ndarray]

    def groups(self, J: np.ndarray, first: int) -> list[Group]:
        """Return a group for each surface, over the multipliers of the rows J (n, nv); its own begin at `first`.

        (IM6)"""
        found = list[Group]()
        for x, c, E, mu, k in zip(
            self.surfaces, self.forms, self.by_impulse, self.mu, self.where, strict=True
        ):
            rows = tuple(range(first + k.start, first + k.stop))
            load = list[Part]()
            for part in x.parts(STILL):
                if part.shape not in OF_DEGREE_ONE:
                    continue
                A = part.C @ E @ J.T
                if part.E is not None:
                    A[:, list(rows)] += part.E
                weights = float(mu * part.weights[0]), float(mu * part.weights[1])
                load.append(Part(A, part.C @ c, weights, SHAPES[part.shape]))
            one = len(rows) == 1
            found.append(
                Interval(rows[0], 0.0, 0.0, x.name, tuple(load))
                if one
                else Disc(rows, mu=1.0, load=tuple(load))
            )
        return found


def rough_surfaces(x: Affine, system: Resting, S: Sequence[np.ndarray]) -> RoughSurfaces | None:
    """Return the surfaces that friction impulses act on; None where there is none.

    x: response to impulses; system: the surfaces with their coefficients; S: velocity of sliding by rates, by surface.
    """
    chosen = [k for k, own in enumerate(system.surfaces) if own.kind != "level"]
    if not chosen:
        return None
    stops = np.cumsum([0, *(len(S[k]) for k in chosen)]).tolist()
    mu = np.where(system.at_rest, system.mu_static, system.mu)[chosen]
    where = [slice(*ends) for ends in pairwise(stops)]
    surfaces, forms = [system.surfaces[k] for k in chosen], [x.c[k] for k in chosen]
    return RoughSurfaces(
        surfaces, np.concatenate([S[k] for k in chosen]), where, mu, forms, [x.E[k] for k in chosen]
    )


class Struck(NamedTuple):
    """Data of an impact: inertia M, response G, limits and surfaces."""

    M: np.ndarray
    G: np.ndarray
    rows: BoundedRows
    rough: RoughSurfaces | None = None

    def impulses(
        self, qd: np.ndarray, e: np.ndarray, least: np.ndarray, *, from_rest: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve (IM3) and (IM6): impulses Λ ≥ least of the limits and on the rates (nv,), from rates qd.

        from_rest: of several solutions the one that is near to rest of all surfaces.
        """
        N, own = self.rows.N, self.rough
        J = N if own is None else np.concatenate([N, own.S])
        D, u = J @ self.G @ J.T, J @ qd
        u[: len(N)] += e * u[: len(N)]
        limits = [Interval(k, float(x), np.inf, self.rows.names[k]) for k, x in enumerate(least)]
        start = np.linalg.lstsq(D, -u, rcond=None)[0] if from_rest else None
        solution = solve(D, u, [*limits, *([] if own is None else own.groups(J, len(N)))], start)
        if not solution.met:
            raise self._unsolved()
        return solution.x[: len(N)], J.T @ solution.x

    def _unsolved(self) -> SingularError:
        return SingularError(
            f"no force at the limits holds {listed([repr(x) for x in self.rows.names], 4)}: the constraints "
            "drive the mechanism on; change the constraints, or the limits",
            rows=self.rows.names,
        )

    def after(self, qd: np.ndarray, e: np.ndarray, law: str) -> np.ndarray:
        """Return the rates (nv,) behind one impact by a law, with coefficients e."""
        nothing = np.zeros(len(e))
        if law == "newton":
            return qd + self.G @ self.impulses(qd, e, nothing)[1]  # (IM3)
        Lambda, impulse = self.impulses(qd, nothing, nothing)
        compressed = qd + self.G @ impulse  # (IM2)
        if not (e * Lambda).any():
            return compressed
        return compressed + self.G @ self.impulses(compressed, nothing, e * Lambda)[1]  # (IM7)

    def slammed(self, qd: np.ndarray) -> np.ndarray | None:
        """Return the rates (nv,) behind an impact without collision; None where there is none that moves something.

        Where no force satisfies friction, its impulses may: (IM6) with e = 0, from rest of all surfaces.
        """
        nothing = np.zeros(len(self.rows.N))
        try:
            after = qd + self.G @ self.impulses(qd, nothing, nothing, from_rest=True)[1]
        except SingularError:
            return None
        stays = np.abs(after - qd).max() <= UNCHANGED * np.abs(qd).max()
        return None if stays or self.energy(after) > (1.0 + RELATIVE) * self.energy(qd) else after

    def energy(self, qd: np.ndarray) -> float:
        """Compute the kinetic energy [J]."""
        return 0.5 * float(qd @ self.M @ qd)

    def sound(self, qd: np.ndarray, e: np.ndarray, law: str) -> tuple[np.ndarray, float]:
        """Return the rates (nv,) behind one impact that creates no energy, and β."""
        most = (1.0 + RELATIVE) * self.energy(qd)
        after = self.after(qd, e, law)
        if self.energy(after) <= most or not e.any():
            return after, 1.0
        low, high = 0.0, 1.0
        after = self.after(qd, 0.0 * e, law)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            trial = self.after(qd, middle * e, law)
            if self.energy(trial) <= most:
                low, after = middle, trial
            else:
                high = middle
        return after, low


class Impact(NamedTuple):
    """Rates behind an impact (nv,), and the least part β of the coefficients of restitution that was possible."""

    qd: np.ndarray
    beta: float


def impact(struck: Struck, qd: np.ndarray, e: np.ndarray, law: str = "newton") -> Impact:
    """Compute the rates behind an impact at limits with coefficients e; impacts that follow at once are in it."""
    N, least = struck.rows.N, 1.0
    small = RELATIVE * (1.0 + np.abs(N @ qd).max(initial=0.0))
    for turn in range(AGAIN):
        if not (N @ qd < -small).any():
            break
        qd, beta = struck.sound(qd, e if turn < AGAIN - 1 else 0.0 * e, law)
        least = min(least, beta)
    return Impact(qd, least)


def begun(M: np.ndarray, A: np.ndarray, psi: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return q̇⁺ that satisfies rows which begin to hold, ψ = A q̇⁻ + a being their residual; redundant ones too.

    (IM5)"""
    return qd + solved(M, np.zeros(len(qd)), A, -psi).qdd
