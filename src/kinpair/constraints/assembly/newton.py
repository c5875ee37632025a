"""Many states at once on their way to closed positions: Newton's steps of `constraints/rows/closing.py`, compiled.

Only what goes straight to a position near to its guess is taken; a state that needs shorter steps, more damping or
another guess is left to the search that takes one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rows.closing import CLOSED, LONGEST, NEAR, ROUNDED
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.quantities import Request

STEPS = 12  # from a near guess it takes three or four
FALLS = 1.0 - 1e-4  # what |φ| must at least be multiplied by in each step


def closed(
    of: ConstraintRows, guess: np.ndarray, free: Sequence[int], moments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (batch, nq), and in which states they close; the guesses have quaternions of length one."""
    request, q = Request("closing_step", dependent=tuple(free)), guess.copy()
    done, left = np.zeros(len(q), dtype=bool), np.arange(len(q))
    if not len(left) or not free or of.calls.kernel(request) is None:
        return q, done

    def looked_at(q: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return of.calls(request, (q, moments[some]))

    step, gap = looked_at(q, left)
    for _ in range(STEPS):
        going = np.isfinite(gap) & (np.abs(step).max(axis=1, initial=0.0) <= LONGEST)
        left, step, gap = left[going], step[going], gap[going]
        if not len(left):
            break
        there = _moved(of.model, q[left], step)
        step, after = looked_at(there, left)
        better = after < np.where(gap <= CLOSED, 1.0, FALLS) * gap
        q[left[better]] = there[better]
        finished = (gap <= CLOSED) | (
            ~better & (gap <= ROUNDED)
        )  # one step more where it is closed: the last digits
        done[left[finished]] = True
        on = better & ~finished
        left, step, gap = left[on], step[on], after[on]
    done &= np.abs(q - guess).max(axis=1, initial=0.0) <= NEAR
    return q, done


def _moved(model: Model, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Coordinates after steps of the rates."""
    if model.nq == model.nv:
        return q + step
    there: Any = kinematics.moved(model, columns(q), columns(step))
    return rows(kinematics.normalised(model, there), len(q))
