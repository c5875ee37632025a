"""Surfaces at rest: which stick, which begin to slide, and by what forces; in floats.

f are the friction forces of all surfaces, one number a direction of sliding. Accelerations of sliding and forms of the
wrenches are affine in them:

    a = a₀ + A f,     c_k = c_k0 + C_k f,     N_k = load_k(c_k, f_k)                                     (FH1)
    f_k = P(f_k − ρ_k a_k, μ_s N_k)           at rest; P: to the nearest point of the interval or disc   (FH2)
    f_k = −μ_k N_k u_k                        sliding along u_k                                          (FH3)

(FH2) says both: inside the disc a_k = 0, on its edge f_k is against a_k. One semismooth Newton method solves all of
them, ρ_k = 1/A_kk. Where it fails: other ρ, other starts, the path from μ = 0, and at last every choice of what sticks
and what slides which way. Where constraints join surfaces that stick, what each of them holds is not unique.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kinpair.forces.surfaces.surface import Carried, Surface

FINE = 1e-12  # |Φ| against the largest force
SWEEPS, HALVINGS = 40, 12
STEPS = 8  # of the path from μ = 0
RANK = 1e-11  # a response below this part of the largest counts as zero
MANY = 8  # surfaces of one direction at rest: beyond, not every choice is tried


@dataclass(frozen=True, slots=True, eq=False)
class Resting:
    """(FH1): what acts, where each surface has its numbers in f, and which are at rest; `u` and `mu` of the others."""

    surfaces: Sequence[Surface]
    joints: Sequence[Carried]
    where: Sequence[slice]
    a: np.ndarray
    A: np.ndarray
    c: Sequence[np.ndarray]
    C: Sequence[np.ndarray]
    at_rest: Sequence[bool]
    u: Sequence[np.ndarray]
    mu: np.ndarray
    mu_static: np.ndarray

    def loads(self, f: np.ndarray) -> np.ndarray:
        """N."""
        return np.array(
            [
                float(x.load(list(self.c[k] + self.C[k] @ f), f[self.where[k]], self.joints[k]))
                for k, x in enumerate(self.surfaces)
            ]
        )

    def load_slopes(self, f: np.ndarray) -> np.ndarray:
        """∂N/∂f (surfaces, numbers)."""
        rows = np.zeros((len(self.surfaces), len(f)))
        for k, x in enumerate(self.surfaces):
            c, own = list(self.c[k] + self.C[k] @ f), f[self.where[k]]
            slope = np.array(x.slopes(c, own, self.joints[k]), dtype=float)
            rows[k] = slope @ self.C[k]
            rows[k, self.where[k]] += np.array(x.force_slopes(c, own, self.joints[k]), dtype=float)
        return rows

    def accelerations(self, f: np.ndarray) -> np.ndarray:
        """a."""
        return self.a + self.A @ f


class Found(NamedTuple):
    """f, N, a, the largest |Φ| against the largest force, and whether that is rounding."""

    f: np.ndarray
    N: np.ndarray
    a: np.ndarray
    residual: float
    met: bool


def solve(x: Resting, start: np.ndarray | None = None) -> Found:
    """f of (FH2) and (FH3)."""
    best: Found | None = None
    for tried in _attempts(x, start):
        if best is None or tried.residual < best.residual:
            best = tried
        if best.met:
            break
    assert best is not None
    return best


def settled(x: Resting, start: np.ndarray | None = None) -> Found:
    """f with the friction of sliding, not that at rest, on the surfaces that begin to slide.

    Those that break away at their static level slide the way they accelerate, then by μ; the others may break away too.
    """
    found = solve(x, start)
    while found.met:
        static = [k for k, still in enumerate(x.at_rest) if still and x.mu[k] < x.mu_static[k]]
        leaving = [k for k in static if _leaves(x, found, k)]
        if not leaving:
            break
        u = [
            -found.f[x.where[k]] / _norm(found.f[x.where[k]]) if k in leaving else d
            for k, d in enumerate(x.u)
        ]
        x = replace(x, at_rest=[rest and k not in leaving for k, rest in enumerate(x.at_rest)], u=u)
        found = solve(x, found.f)
    return found


def _leaves(x: Resting, found: Found, k: int) -> bool:
    """Is the friction force on the edge, and does it slide?"""
    force, a = found.f[x.where[k]], found.a[x.where[k]]
    edge = _norm(force) >= (1.0 - 1e-9) * x.mu_static[k] * found.N[k]
    return edge and _norm(a) > 1e-9 * (1.0 + float(np.abs(x.a).max()))


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


def _attempts(x: Resting, start: np.ndarray | None) -> Iterator[Found]:
    zero = np.zeros(len(x.a))
    first = zero if start is None else start
    still = np.linalg.lstsq(x.A, -x.a, rcond=None)[0]
    for begin, rho in ((first, 1.0), (first, 3.0), (still, 1.0), (still, 0.3), (zero, 10.0)):
        yield newton(x, begin, rho)
    f = zero
    for part in np.linspace(1.0 / STEPS, 1.0, STEPS, endpoint=False):
        f = newton(replace(x, mu=part * x.mu, mu_static=part * x.mu_static), f, 1.0).f
    yield newton(x, f, 1.0)
    yield from choices(x)


def newton(x: Resting, f: np.ndarray, rho: float) -> Found:
    """Semismooth Newton with a line search."""
    size = rho * responses(x)
    Phi, J = _residual(x, f, size)
    for _ in range(SWEEPS):
        scale = max(1.0, float(np.abs(f).max(initial=0.0)))
        if not np.isfinite(Phi).all() or np.abs(Phi).max(initial=0.0) <= 1e-3 * FINE * scale:
            break
        if not np.isfinite(J).all():
            break
        step = np.linalg.lstsq(J, -Phi, rcond=RANK)[0]
        norm, part = float(np.linalg.norm(Phi)), 1.0
        for _ in range(HALVINGS):
            ahead = _residual(x, f + part * step, size)
            if float(np.linalg.norm(ahead[0])) < (1.0 - 1e-4 * part) * norm:
                break
            part *= 0.5
        else:
            break
        f, (Phi, J) = f + part * step, ahead
    return _measured(x, f, size)


def responses(x: Resting) -> np.ndarray:
    """1/A_kk, the mean over the directions of a surface; of one that constraints hold, that of the others."""
    own = np.array([float(np.trace(x.A[k, k])) / (k.stop - k.start) for k in x.where])
    largest = float(own.max(initial=0.0)) or 1.0
    return 1.0 / np.where(own > RANK * largest, own, largest)


def _measured(x: Resting, f: np.ndarray, size: np.ndarray) -> Found:
    Phi, _ = _residual(x, f, size)
    worst = float(np.abs(Phi).max(initial=0.0)) / max(1.0, float(np.abs(f).max(initial=0.0)))
    worst = worst if np.isfinite(worst) else np.inf
    return Found(f, x.loads(f), x.accelerations(f), worst, worst <= FINE)


def _residual(x: Resting, f: np.ndarray, rho: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Φ and its slope."""
    N, by_f, a = x.loads(f), x.load_slopes(f), x.accelerations(f)
    Phi, J, one = np.zeros(len(f)), np.zeros((len(f), len(f))), np.eye(len(f))
    for k, own in enumerate(x.where):
        if not x.at_rest[k]:
            Phi[own] = f[own] + x.mu[k] * N[k] * x.u[k]  # (FH3)
            J[own] = one[own] + x.mu[k] * np.outer(x.u[k], by_f[k])
            continue
        y, level = f[own] - rho[k] * a[own], x.mu_static[k] * N[k]
        far = float(np.linalg.norm(y))
        if far <= level:
            Phi[own], J[own] = rho[k] * a[own], rho[k] * x.A[own]  # (FH2), inside
            continue
        n = y / far
        by_y = one[own] - rho[k] * x.A[own]
        turning = level / far * (by_y - np.outer(n, n @ by_y))
        Phi[own] = f[own] - level * n  # (FH2), on the edge
        J[own] = one[own] - turning - x.mu_static[k] * np.outer(n, by_f[k])
    return Phi, J


def choices(x: Resting) -> Iterator[Found]:
    """Every choice of what sticks and what begins to slide which way, of surfaces with one direction; checked."""
    free = [k for k, rest in enumerate(x.at_rest) if rest]
    single = all(x.where[k].stop - x.where[k].start == 1 for k in free)
    if not single or len(free) > MANY:
        return
    for modes in product((0.0, 1.0, -1.0), repeat=len(free)):
        found = chosen(x, dict(zip(free, modes, strict=True)))
        if found is not None:
            yield found


def chosen(x: Resting, modes: dict[int, float]) -> Found | None:
    """The solution with these surfaces sticking (0) or sliding forward or backward (±1), if it is one."""
    sticks = [k for k, mode in modes.items() if mode == 0.0]
    slides = {k: np.array([mode]) for k, mode in modes.items() if mode}
    u = [slides.get(k, x.u[k]) for k in range(len(x.surfaces))]
    mu = np.array([x.mu_static[k] if k in slides else x.mu[k] for k in range(len(x.surfaces))])
    f = np.zeros(len(x.a))
    for _ in range(SWEEPS):
        N, by_f, a = x.loads(f), x.load_slopes(f), x.accelerations(f)
        F, J = np.zeros(len(f)), np.zeros((len(f), len(f)))
        for k, own in enumerate(x.where):
            if k in sticks:
                F[own], J[own] = a[own], x.A[own]
            else:
                F[own] = f[own] + mu[k] * N[k] * u[k]
                J[own] = np.eye(len(f))[own] + mu[k] * np.outer(u[k], by_f[k])
        if not np.isfinite(J).all():
            return None
        step = np.linalg.lstsq(J, -F, rcond=RANK)[0]
        f = f + step
        if np.abs(step).max() <= FINE * max(1.0, np.abs(f).max()):
            break
    found = _measured(x, f, responses(x))
    return found if found.met else None


def every(x: Resting) -> list[Found]:
    """All solutions among the choices, without repetition."""
    solutions: list[Found] = []
    for found in choices(x):
        scale = max(1.0, float(np.abs(found.f).max(initial=0.0)))
        if not any(np.abs(found.f - other.f).max(initial=0.0) <= 1e-8 * scale for other in solutions):
            solutions.append(found)
    return solutions


def classes(solutions: Sequence[Any]) -> str:
    """What the number of solutions is called."""
    return {0: "no solution", 1: "one solution"}.get(len(solutions), "several solutions")
