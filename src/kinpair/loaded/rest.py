"""Surfaces at rest: which stick, which begin to slide, and by what forces; in floats.

One semismooth Newton method solves (FH2) and (FH3) of `resting.py` for all surfaces at once, with ρ_k = 1/A_kk. Where
it fails: other ρ, other starts, the path from μ = 0, and at last every choice of what sticks and what slides which way.
Then the state is classified: is the solution the only one?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinpair.loaded import choices
from kinpair.loaded.resting import FINE, RANK, Found, Resting, measured, responses

SWEEPS, HALVINGS = 40, 12
STEPS = 8  # of the path from μ = 0


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
        x = breaking_away(x, leaving)
        found = solve(x, found.f)
    return found


def breaking_away(x: Resting, leaving: Sequence[int], part: float = 1.0) -> Resting:
    """The system where these surfaces have broken away: `part` of the friction of sliding acts, against the way in
    which they accelerate."""
    mu_static = x.mu_static.copy()
    mu_static[list(leaving)] = part * x.mu[list(leaving)]
    return replace(x, mu_static=mu_static)


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
    yield from choices.every(x)


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
    return measured(x, f)


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
