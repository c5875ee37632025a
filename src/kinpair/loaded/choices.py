"""Every choice of what sticks and what begins to slide which way, all of them at once, in floats.

A surface at rest sticks, or slides along one of its directions, forward or back. For each choice Newton's method solves

    a_k = 0   where it sticks,        f_k = −μ_s N_k w_k   where it slides along w_k                      (FM1)

from several starts, and every candidate is judged by (FH2): whether what sticks is held by no more than its level, and
what slides accelerates the way it was said to. A surface that slides in a plane or in space turns w_k against its force
while it is solved for; its directions are starts only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from kinpair.loaded.resting import FINE, RANK, Found, Resting, measured, residual, responses

MANY = 20_000  # choices: beyond, none is tried
SWEEPS = 25
STARTS = (0.0, 1.0, 4.0, 30.0)  # forces of sliding, against those by the frictionless loads
SAME = 1e-8  # forces that differ by less are one solution
AT_ONCE = 4_096  # candidates


def count(x: Resting) -> int:
    """How many choices there are."""
    return int(np.prod([1 + 2 * (x.where[k].stop - x.where[k].start) for k in x.still], dtype=float))


def every(x: Resting) -> list[Found]:
    """All solutions that the choices lead to, without repetition; none where there are too many choices."""
    solutions: list[Found] = []
    if count(x) > MANY:
        return solutions
    for ways in _ways(x):
        for f in _solved(x, ways).T:
            scale = max(1.0, float(np.abs(f).max(initial=0.0)))
            if any(np.abs(f - other.f).max(initial=0.0) <= SAME * scale for other in solutions):
                continue
            found = measured(x, f)
            if found.met:
                solutions.append(found)
    return solutions


def _ways(x: Resting) -> Iterator[np.ndarray]:
    """Directions of sliding (numbers, choices) of surfaces at rest, zeros where they stick; in parts."""
    n, still = len(x.a), x.still
    options = []
    for k in still:
        unit = np.eye(n)[x.where[k]]
        options.append([np.zeros(n), *unit, *-unit])
    part: list[np.ndarray] = []
    for choice in product(*options):
        part.append(sum(choice, np.zeros(n)))
        if len(part) == AT_ONCE // len(STARTS):
            yield np.array(part).T
            part = []
    if part:
        yield np.array(part).T


def _solved(x: Resting, ways: np.ndarray) -> np.ndarray:
    """Candidates (numbers, some) that Newton's method ends at, and that (FH2) accepts."""
    rho, mu = responses(x), np.where(x.at_rest, x.mu_static, x.mu)
    given = ways.copy()
    for k, own in enumerate(x.where):
        if not x.at_rest[k]:
            given[own] = x.u[k][:, None]
    N = x.loads(np.zeros(len(x.a)))
    by_load = np.concatenate([np.full(own.stop - own.start, mu[k] * N[k]) for k, own in enumerate(x.where)])
    w = np.concatenate([given] * len(STARTS), axis=1)
    f = np.concatenate([-part * by_load[:, None] * given for part in STARTS], axis=1)
    joined = _joined(x)
    open_, ended = np.arange(f.shape[1]), np.zeros(f.shape[1], dtype=bool)
    for _ in range(SWEEPS):
        F, J = _system(x, f[:, open_], w[:, open_], rho, mu)
        fine = np.isfinite(F).all(0) & np.isfinite(J).all((0, 1))
        open_, F, J = open_[fine], F[:, fine], J[:, :, fine]
        if not len(open_):
            break
        step = _steps(J.transpose(2, 0, 1), -F.T, joined).T
        ahead = f[:, open_] + step
        f[:, open_] = ahead
        small = np.abs(step).max(0) <= FINE * np.maximum(1.0, np.abs(ahead).max(0))
        ended[open_[small]] = True
        open_ = open_[~small]
        if not len(open_):
            break
    f = f[:, ended]
    with np.errstate(all="ignore"):
        left = np.abs(residual(x, f, rho)).max(0) / np.maximum(1.0, np.abs(f).max(0))
    return f[:, left <= FINE]


def _joined(x: Resting) -> bool:
    """Do constraints join surfaces at rest, so that what each of them holds is not unique?"""
    numbers = [n for k in x.still for n in range(x.where[k].start, x.where[k].stop)]
    own = np.linalg.eigvalsh(x.A[np.ix_(numbers, numbers)])
    return bool(len(own)) and not own[0] > RANK * own[-1]


def _steps(J: np.ndarray, right: np.ndarray, joined: bool) -> np.ndarray:
    """Newton's, of each candidate."""
    if joined:
        return (np.linalg.pinv(J, rcond=RANK) @ right[..., None])[..., 0]
    try:
        return np.linalg.solve(J, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return (np.linalg.pinv(J, rcond=RANK) @ right[..., None])[..., 0]


def _system(
    x: Resting, f: np.ndarray, w: np.ndarray, rho: np.ndarray, mu: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(FM1) as F = 0 (numbers, candidates), and its slope (numbers, numbers, candidates)."""
    N, by_f, a, one = x.loads(f), x.load_slopes(f), x.accelerations(f), np.eye(len(f))
    F, J = np.empty_like(f), np.empty((len(f), *f.shape))
    for k, own in enumerate(x.where):
        way, edge = w[own], one[own][:, :, None]
        if x.at_rest[k] and len(way) > 1:
            y = f[own] - rho[k] * a[own]
            far = np.linalg.norm(y, axis=0)
            far = np.where(far > 0.0, far, 1.0)
            way = np.where(np.abs(way).max(0) > 0.0, -y / far, 0.0)
            by_y = (one[own] - rho[k] * x.A[own])[:, :, None]
            along = np.einsum("iz,inz->nz", way, by_y + np.zeros_like(J[own]))
            turning = mu[k] * N[k] / far * (by_y - way[:, None, :] * along[None, :, :])
            edge = edge - turning
        sticks = np.abs(way).max(0) == 0.0 if x.at_rest[k] else np.zeros(f.shape[1], dtype=bool)
        F[own] = np.where(sticks, a[own], f[own] + mu[k] * N[k] * way)  # (FM1)
        slides = edge + mu[k] * way[:, None, :] * by_f[k][None, :, :]
        J[own] = np.where(sticks, x.A[own][:, :, None], slides)
    return F, J
