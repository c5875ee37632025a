"""Surfaces that do not slide: which stick, which begin to slide, and by what forces; in floats.

The chain of `kinpair.constraints.solve` solves (FH2) and (FH3) of `resting.py` for all surfaces at once, from the
forces that keep all of them at rest. Where it fails, every choice of what sticks and what slides is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinpair.constraints.solve import problem, solutions
from kinpair.friction.phases.resting import Found, Resting


def solve(x: Resting, start: np.ndarray | None = None) -> Found:
    """Return f of (FH2) and (FH3), from `start` or from the forces that keep all surfaces at rest."""
    found = from_start(x, still(x) if start is None else start)
    if found.met:
        return found
    return next(iter(every(x)), found)


def from_start(x: Resting, start: np.ndarray) -> Found:
    """Return f of (FH2) and (FH3) as the chain finds it."""
    D, g = x.problem
    solution = problem.solve(D, g, x.groups, start)
    return x.found(solution.x, solution.residual, solution.met)


def every(x: Resting) -> list[Found]:
    """Return all solutions that the choices of what sticks and what slides lead to."""
    return [x.found(own.x, own.residual, True) for own in solutions.every(*x.problem, x.groups)]


def still(x: Resting) -> np.ndarray:
    """Return the forces that keep all surfaces at rest, as a start; surfaces that slide have none here."""
    f = np.zeros(len(x.a))
    rows = [v for k in x.still for v in range(x.where[k].start, x.where[k].stop)]
    rows += x.of_limits
    f[rows] = np.linalg.lstsq(x.A[np.ix_(rows, rows)], -x.a[rows], rcond=None)[0]
    return with_jumps(x, f)


def with_jumps(x: Resting, f: np.ndarray) -> np.ndarray:
    """Return x = (f, θ) with θ of the side on which each load that jumps is at f."""
    D, g = x.problem
    n = len(f)
    return np.concatenate([f, (D[n:, :n] @ f + g[n:] < 0.0).astype(float)])


def others(x: Resting) -> Iterator[Found]:
    """Return solutions from other starts: no friction, and all surfaces at rest pushed forward or backward."""
    n = len(x.a)
    zero = np.zeros(n + len(x.jumps))
    yield from_start(x, zero)
    levels = np.zeros(len(zero))
    N = x.loads(zero)
    for k in x.still:
        levels[x.where[k]] = x.mu_static[k] * N[k] + x.surplus[k]
    for sign in (-4.0, 4.0):
        yield from_start(x, sign * levels)


def settled(x: Resting, first: Found) -> Found:
    """Return f with the friction of sliding, not that at rest, on the surfaces that begin to slide.

    Those that break away at their static level slide in the direction of their acceleration, then by μ; the others may
    break away too.
    """
    found = first
    while found.met:
        static = [k for k in x.still if x.mu[k] < x.mu_static[k] or x.surplus[k] > 0.0]
        leaving = [k for k in static if _leaves(x, found, k)]
        if not leaving:
            break
        x = breaking_away(x, leaving)
        found = solve(x, found.x)
    return found


def breaking_away(x: Resting, leaving: Sequence[int], part: float = 1.0) -> Resting:
    """Return the system where surfaces have broken away: `part` of the friction of sliding acts on them, against the
    direction in which they accelerate."""
    mu_static, surplus = x.mu_static.copy(), x.surplus.copy()
    mu_static[list(leaving)] = part * x.mu[list(leaving)]
    surplus[list(leaving)] = 0.0
    return replace(x, mu_static=mu_static, surplus=surplus)


def _leaves(x: Resting, found: Found, k: int) -> bool:
    """Return True if the friction force is at its bound and the surface accelerates."""
    force, a = np.linalg.norm(found.f[x.where[k]]), np.linalg.norm(found.a[x.where[k]])
    edge = force >= (1.0 - 1e-9) * (x.mu_static[k] * found.N[k] + x.surplus[k])
    return bool(edge and a > 1e-9 * (1.0 + float(np.abs(x.a).max())))
