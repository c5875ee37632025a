"""A mechanism at rest on its contacts: whether friction and normal forces hold it, and with which margin.

At a position with gaps closed and at rest, forces of contact are sought for which nothing accelerates:

    c = D λ + g = 0,   D = J G Jᵀ,   g = J a₀,   λ_n ≥ 0,   ‖λ_t‖ ≤ s μ λ_n

a₀ are the accelerations without contact, G the response of the mechanism with its loops. The least s for which the
accelerations vanish says how much of the friction is needed; the margin is 1/s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.constraints.solve.problem import Disc, Group, Interval, solve
from kinpair.contact.search import ContactPoint
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism

TOUCHES = 1e-6  # gap of a contact that counts as closed [m]
HOLDS = 1e-10  # accelerations that are left, of those without contact
MOST, LEAST = 1e4, 1e-6  # factors of friction between which the margin is sought
HALVINGS = 60


@final
@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Whether a mechanism at rest stays at q (nq,) on its contacts.

    `forces` (points, 3) [N] act on the first geom of each point, in the world; the one with the least sum of squares
    where they are not `unique`. `margin`: the coefficients of friction may be divided by this before it moves; inf
    where it needs no friction, 0 where no friction would hold it. `acceleration` (nv,) is what is left.
    """

    mechanism: Mechanism
    q: np.ndarray
    points: tuple[ContactPoint, ...]
    forces: np.ndarray
    acceleration: np.ndarray
    holds: bool
    unique: bool
    margin: float

    @property
    def by_pair(self) -> dict[tuple[str, str], np.ndarray]:
        """Sum of the forces on the first geom of each pair (3,) [N]."""
        sums: dict[tuple[str, str], np.ndarray] = {}
        for x, force in zip(self.points, self.forces, strict=True):
            sums[x.a, x.b] = sums.get((x.a, x.b), np.zeros(3)) + force
        return sums

    def __str__(self) -> str:
        m = self.mechanism
        lines = [
            f"{m.name}: {'stands' if self.holds else 'does not stand'}, margin of friction {self.margin:.6g}"
        ]
        for (a, b), force in self.by_pair.items():
            lines.append(f"{a} on {b}: force {', '.join(f'{x:.6g}' for x in force)} N")
        if not self.unique:
            lines.append("forces are not unique: those with the least sum of squares")
        return "\n".join(lines)


def standing(m: Mechanism, q: np.ndarray, tau: np.ndarray, time: float, *, passive: bool) -> Standing | None:
    """Return whether a mechanism stands at q with joint efforts tau (nv,); None where no geoms touch."""
    points = m.contacts(q, margin=TOUCHES)
    if not points:
        return None
    if m.model.frictions or m.model.surfaces:
        raise InputError(
            f"{m.name}: an equilibrium on contacts with dry friction in joints is not computed; leave that friction "
            "out, or simulate until it rests"
        )
    problem = _Problem(m, q, points, tau, time, passive)
    lam, qdd, holds = problem.solved(1.0)
    unique = bool(np.linalg.matrix_rank(problem.J) == len(problem.J))
    if holds and not unique:
        least = np.linalg.pinv(problem.J.T) @ (problem.J.T @ lam)
        lam = least if problem.allows(least) else lam
    frames = np.array([[p.normal, *p.tangents] for p in points])
    forces = np.einsum("ki,kij->kj", lam.reshape(-1, 3), frames)
    return Standing(m, q, points, forces, qdd, holds, unique, problem.margin(holds))


class _Problem:
    """The forces of contact at a position."""

    def __init__(
        self,
        m: Mechanism,
        q: np.ndarray,
        points: Sequence[ContactPoint],
        tau: np.ndarray,
        time: float,
        passive: bool,
    ) -> None:
        self.mu = [p.mu_static for p in points]
        self.J = m.contact_rows(q, points)
        H = m.mass_matrix(q)
        G = np.linalg.inv(H)
        if m.closure is not None:
            A = m.constraint_matrix(q, time=time)
            G = G - G @ A.T @ np.linalg.pinv(A @ G @ A.T) @ A @ G
        self.free = m.forward_dynamics(q, np.zeros(m.nv), tau, time=time, passive=passive)
        self.response = G @ self.J.T
        self.D, self.g = self.J @ self.response, self.J @ self.free

    def solved(self, factor: float) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return forces, accelerations, and whether nothing accelerates, with friction times `factor`."""
        groups: list[Group] = []
        for k, mu in enumerate(self.mu):
            groups.append(Interval(3 * k))
            groups.append(Disc((3 * k + 1, 3 * k + 2), mu=factor * mu, normal=3 * k))
        lam = solve(self.D, self.g, groups).x
        qdd = self.free + self.response @ lam
        return lam, qdd, bool(np.abs(qdd).max() <= HOLDS * np.abs(self.free).max(initial=1.0))

    def allows(self, lam: np.ndarray) -> bool:
        """True if forces are in their cones."""
        n, t = lam[::3], np.hypot(lam[1::3], lam[2::3])
        slack = 1e-9 * np.abs(lam).max()
        return bool((n >= -slack).all() and (t <= np.array(self.mu) * n + slack).all())

    def margin(self, holds: bool) -> float:
        """Return by what the coefficients of friction may be divided before it moves."""
        low, high = (LEAST, 1.0) if holds else (1.0, MOST)
        if holds and self.solved(LEAST)[2]:
            return np.inf
        if not holds and not self.solved(MOST)[2]:
            return 0.0
        for _ in range(HALVINGS):
            middle = np.sqrt(low * high)
            if self.solved(middle)[2]:
                high = middle
            else:
                low = middle
            if high - low <= 1e-13 * high:
                break
        return float(1.0 / high)
