"""Number of solutions of a state, and the coefficients from which it has several.

one               exactly one motion, by exactly one set of friction forces
shared            one motion, by friction forces that constraints share out among joints in many distributions
several           more than one motion
none              no motion without an impact
ill-conditioned   equations met to less than SOLVED and more than rounding: whether there is one cannot be decided
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinpair.constraints.solve import solutions
from kinpair.friction.phases import resting
from kinpair.friction.phases.resting import Found, Resting
from kinpair.friction.rounding import SAME_MOTION

ONE, SHARED, SEVERAL, NONE, ILL = KINDS = ("one", "shared", "several", "none", "ill-conditioned")
SOLVED, NEARLY = 1e-10, 1e-6  # |F| of the scaled problem
HALVINGS = 20  # of the coefficients, for the least at which several solutions are there


class Classified(NamedTuple):
    """Kind of a state; is that proved, or the outcome of trying every choice? And its solutions, the one in which most
    surfaces stick before the others."""

    kind: str
    proved: bool
    solutions: tuple[Found, ...]

    @property
    def differ(self) -> list[int]:
        """Numbers of f in which the solutions differ."""
        f = np.array([x.f for x in self.solutions])
        scale = max(1.0, float(np.abs(f).max(initial=0.0)))
        return np.flatnonzero(np.ptp(f, axis=0) > SAME_MOTION * scale).tolist() if len(f) else []


def classified(x: Resting, first: Found | None = None) -> Classified:
    """Classify the solutions of one state; `first` is a solution that is known."""
    first = resting.from_start(x, resting.still(x)) if first is None else first
    if first.met and is_unique(x):
        return Classified(ONE, True, (first,))
    return of_choices(x, first)


def is_unique(x: Resting) -> bool:
    """Return True if it is proved that the state has exactly one solution."""
    return solutions.is_unique(x.problem[0], x.groups)


def found_one(x: Resting) -> Classified:
    """Return a solution without trying every choice, unless there is none or another start leads to another motion."""
    first = resting.from_start(x, resting.still(x))
    if not first.met:
        return of_choices(x, first)
    if not any(x.load) or is_unique(x):  # where no force changes bounds, every solution is one motion
        return Classified(ONE, True, (first,))
    apart = any(other.met and not _same(first.a, other.a) for other in resting.others(x))
    return of_choices(x, first) if apart else Classified(ONE, False, (first,))


def of_choices(x: Resting, first: Found | None = None) -> Classified:
    """Constant over every choice of what sticks and what slides in which direction, and nothing else."""
    found = resting.every(x)
    if first is not None and first.met and not any(_same(first.f, other.f) for other in found):
        found = [first, *found]
    if not found:
        near = first is not None and first.residual <= NEARLY
        solved = first is not None and first.residual <= SOLVED
        return Classified(
            ONE if solved else ILL if near else NONE, False, (first,) if solved and first else ()
        )
    found.sort(key=lambda own: -len(sticking(x, own)))
    motions = [own for n, own in enumerate(found) if not any(_same(own.a, k.a) for k in found[:n])]
    kind = SEVERAL if len(motions) > 1 else SHARED if len(found) > 1 else ONE
    return Classified(kind, False, tuple(motions if kind == SEVERAL else found))


def sticking(x: Resting, found: Found) -> list[int]:
    """Numbers of the surfaces at rest that stay so."""
    moves = resting.moving(x, found, x.still)
    return [k for k in x.still if k not in moves]


def begins(x: Resting) -> float:
    """The part of the coefficients from which on there are several motions, all of them made smaller by it."""
    lo, hi = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (lo + hi)
        own = _scaled(x, middle)
        many = not is_unique(own) and of_choices(own).kind == SEVERAL
        lo, hi = (lo, middle) if many else (middle, hi)
    return hi


def ends(x: Resting) -> tuple[float, Found]:
    """The part of the coefficients up to which there is a solution, all of them made smaller by it, and the last."""
    lo, hi, last = 0.0, 1.0, resting.solve(_scaled(x, 0.0))
    for _ in range(HALVINGS):
        middle = 0.5 * (lo + hi)
        own = resting.solve(_scaled(x, middle), last.x)
        lo, hi, last = (middle, hi, own) if own.met else (lo, middle, last)
    return lo, last


def _scaled(x: Resting, part: float) -> Resting:
    return replace(x, mu=part * x.mu, mu_static=part * x.mu_static, surplus=part * x.surplus)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    size = max(1.0, float(np.abs(a).max(initial=0.0)), float(np.abs(b).max(initial=0.0)))
    return float(np.abs(a - b).max(initial=0.0)) <= SAME_MOTION * size
