"""Joints with dry friction at rest: which stick, and in which direction the others go.

With q̈₀ the accelerations without friction in the rates at rest, N their rows, G what efforts do to rates that obey
the constraints, F_s and F_c the levels of static and sliding friction:

    c = N G Nᵀ x + N q̈₀,   −F_s ≤ x ≤ F_s:   x = −F_s where c > 0,  x = F_s where c < 0,  c = 0 between     (ST1)
    F_s ← F_c where c ≠ 0, and (ST1) again, until no further one leaves rest                                (ST2)

    F_s ← (1 − ε) F_s  of one that has reached its level and hardly moves: what moves then, begins to       (ST3)
    |c| ≤ ε (|N G| |F| + |N G Nᵀ| F_s)  counts as c = 0                                                     (ST4)

Where constraints join rates, what each of them holds is not unique; x is then the least that does. A set of
independent rates is `HELD`, and the others, which stand still with them, keep the x of now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.constraints.solvers import rank_revealing
from kinpair.constraints.solvers.rank_revealing import null_space

SLIDES, HELD, CARRIED, LOOSE = (
    0.0,
    1.0,
    2.0,
    3.0,
)  # phases of a rate: carried ones stand still because others do, loose ones because no effort moves them just here
STILL = 1e-11  # of the accelerations that the single forces cause: less counts as zero
DEPENDENT = 1e-10
ASKED = 1e-6  # ε: a rate at its level leaves rest where the others do not hold this part of it in its place
HIDDEN = (
    1e-4,
    1e-2,
)  # larger parts: along a chain rounding of the others hides ε, and without rows a rate must leave


class Levels(NamedTuple):
    """Least and greatest effort (n,) of friction on each rate: at rest, and as it begins to move forward or back."""

    rest_lo: np.ndarray
    rest_hi: np.ndarray
    slide_lo: np.ndarray
    slide_hi: np.ndarray


class AtRest(NamedTuple):
    """State of each rate at rest (n,): phase, share of the sliding level, effort of friction, acceleration; and q̈
    (nv,)."""

    phase: np.ndarray
    share: np.ndarray
    effort: np.ndarray
    acceleration: np.ndarray
    qdd: np.ndarray


def at_rest(
    M: np.ndarray,
    F: np.ndarray,
    A: np.ndarray,
    b: np.ndarray,
    rates: np.ndarray,
    levels: Levels,
    leaving: np.ndarray,
) -> AtRest:
    """Find what happens to `rates` (n,) that are at rest. F is without their friction.

    `leaving` (n,) is the sign of sliding of one that is known to leave rest, 0 of the others.
    """
    G = response(M, A)
    qdd = rank_revealing.solve(M, F, A, b).qdd if len(b) else G @ F
    D, g = G[rates][:, rates], qdd[rates]
    left = leaving != 0.0
    if not len(b) and not left.any():
        x = _all_at_rest(D, g, levels)
        if x is not None:
            still = np.zeros(len(rates))
            qdd = qdd + G[:, rates] @ x
            qdd[rates] = 0.0
            return AtRest(still + HELD, still, x, still, qdd)
    level = np.maximum(np.maximum(-levels.rest_lo, levels.rest_hi), 0.0)
    friction = np.where(np.isfinite(level), level, 0.0)
    small = STILL * (np.abs(G[rates]) @ np.abs(F) + np.abs(D) @ friction)  # (ST4)
    while True:
        lo = np.where(left, levels.slide_lo, levels.rest_lo)
        hi = np.where(left, levels.slide_hi, levels.rest_hi)
        x, c = _solved(D, g, lo, hi)  # (ST1)
        moves = moving_among(c, small)
        if not (moves & ~left).any():
            break
        left = left | moves  # (ST2)
    share = np.where(moves, np.sign(c), 0.0)
    faint = np.abs(c) <= ASKED * np.abs(g).max(initial=0.0)
    if ((leaving != 0.0) & faint).any():
        for part in (ASKED,) if len(b) else (ASKED, *HIDDEN):
            less = np.where(leaving != 0.0, 1.0 - part, 1.0)
            ahead = _solved(D, g, less * lo, less * hi)[1]  # (ST3)
            share = np.where(moving_among(ahead, small), np.sign(ahead), 0.0)
            if share[leaving != 0.0].any():
                break
    margin = np.minimum(x - levels.rest_lo, levels.rest_hi - x)
    still = np.flatnonzero(share == 0.0)
    phase = np.full(len(rates), SLIDES)
    phase[still] = held_first(D, [[k] for k in still.tolist()], margin[still]) if len(b) else HELD
    carried = phase == CARRIED
    share[carried] = _share(x[carried], levels.slide_lo[carried], levels.slide_hi[carried])
    qdd = qdd + G[:, rates] @ x
    qdd[rates[(phase == HELD) | (phase == CARRIED)]] = 0.0
    return AtRest(phase, share, x, c, qdd)


def _all_at_rest(D: np.ndarray, g: np.ndarray, levels: Levels) -> np.ndarray | None:
    """Return x with c = 0 everywhere, where that is well inside all sets: it is the solution of (ST1) then."""
    try:
        x = -np.linalg.solve(D, g)
    except np.linalg.LinAlgError:
        return None
    margin = ASKED * (np.abs(x).max(initial=0.0) + 1e-300)
    inside = (levels.rest_lo + margin < x) & (x < levels.rest_hi - margin)
    return x if bool(inside.all()) else None


def moving_among(c: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Find accelerations (n,) above `small` (n,); next to one that is, a hundredth of it is enough."""
    size = np.abs(c)
    moves = size > small
    return size > np.minimum(small, 0.01 * size[moves].max()) if moves.any() else moves


def _solved(D: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and c; of one rate alone at once."""
    if len(g) != 1 or not D[0, 0] > 0.0:
        from kinpair.constraints.solve.problem import (  # it brings the compiler of loop functions
            intervals,
            solve,
        )

        return solve(D, g, intervals(lo, hi))[:2]
    x = np.minimum(np.maximum(-g / D[0], lo), hi)
    return x, np.where((x == lo) | (x == hi), D[0] * x + g, 0.0)


def response(M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Compute G (nv, nv): accelerations that satisfy A by unit efforts, or changes of rates by unit impulses.

    What has no inertia does not respond.
    """
    if not len(A):
        return np.linalg.inv(M) if np.diag(M).all() else np.linalg.pinv(M)
    Z = null_space(A)
    return Z @ np.linalg.lstsq(Z.T @ M @ Z, Z.T, rcond=None)[0]


def held_first(G: np.ndarray, groups: Sequence[Sequence[int]], margin: np.ndarray) -> list[float]:
    """Phases of groups of rates that stay at rest. Those with the largest margin are locked, as many as can move while
    the others stand still."""
    largest = float(np.diag(G).max(initial=0.0))
    phase = [CARRIED if G[k, k].max() > DEPENDENT * largest else LOOSE for k in map(list, groups)]
    chosen: list[int] = []
    for n in np.argsort(-margin, kind="stable").tolist():
        if phase[n] == CARRIED and can_move(G, chosen, groups[n]):
            chosen += groups[n]
            phase[n] = HELD
    return phase


def can_move(G: np.ndarray, others: Sequence[int], own: Sequence[int]) -> bool:
    """True if one of the rates `own` moves while the rates `others` stand still; G: response of rates to efforts."""
    cross, diagonal = G[np.ix_(others, own)], G[np.ix_(own, own)]
    left = diagonal - cross.T @ np.linalg.lstsq(G[np.ix_(others, others)], cross, rcond=None)[0]
    return bool((np.diag(left) > DEPENDENT * np.diag(diagonal)).any())


def _share(x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """−x as a part of the sliding level in its direction."""
    level = np.where(x < 0.0, -lo, hi)
    return np.where(x == 0.0, 0.0, -x / np.where(level > 0.0, level, np.inf))
