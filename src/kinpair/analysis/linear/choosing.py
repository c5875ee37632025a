"""One choice of independent coordinates and rates for a state, or for all states of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.analysis.linear.independence import (
    Independence,
    Variations,
    all_free,
    chosen,
    variations,
    weakest,
)
from kinpair.analysis.linear.point import Point
from kinpair.constraints.assembly.batch import at_time
from kinpair.constraints.rows.stacked import holonomic_rows
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.quantities import Request
from kinpair.system import System

WEAK = 1e3  # entries of Z beyond this call for other independent rates
LOST = 1e8  # and these are no choice at all
TRIALS = 3
STANDS = 1e-9  # an acceleration below this part of the largest counts as zero


def independence_of(
    m: Mechanism | System, at: Point, qdd: np.ndarray, named: Sequence[str] | None = None
) -> tuple[Independence, Variations]:
    """The choice, and what it makes of the states; rates that are constant in the motion rather stay independent."""
    closure = m.closure
    if closure is None or not closure.row_names:
        if named is not None and set(named) != set(m.v_names):
            raise _refused(m, named, all_free(m.nv))
        x, nothing = all_free(m.nv), np.zeros((*at.batch, 0, m.nv))
        return x, variations(x, nothing, nothing)
    A = closure.rows(at.q, at.qd, at.time)[0]
    psi_q = closure.calls(Request("rate_row_derivatives"), (at.q, at.qd, at_time(at.time)))
    holonomic = holonomic_rows(closure.constraints)
    x = (
        _best(A, psi_q, holonomic, _constant(at, qdd))
        if named is None
        else _named(m, A.reshape(-1, *A.shape[-2:])[0], holonomic, named)
    )
    worst = _weakness(x, A, psi_q)
    if worst.max() > LOST:
        which = f" (state {int(np.argmax(worst))})" if at.batch else ""
        names = [m.v_names[k] for k in x.rates]
        raise SingularError(
            f"{m.name}: the rates {listed(names)} do not determine the others{which}; "
            "name others by independent=, or linearise a shorter part of the motion",
            rates=names,
        )
    return x, variations(x, A, psi_q)


def _constant(at: Point, qdd: np.ndarray) -> list[int]:
    """Rates that do not change in the motion; none of a mechanism at rest."""
    if not at.qd.any():
        return []
    sizes = np.abs(qdd.reshape(-1, qdd.shape[-1]))
    return np.flatnonzero((sizes <= STANDS * (1.0 + sizes.max())).all(0)).tolist()


def _best(A: np.ndarray, psi_q: np.ndarray, holonomic: list[int], reluctant: list[int]) -> Independence:
    """The choice made at the first state, or at one where that is weak, whichever is better in all."""
    every, trial = A.reshape(-1, *A.shape[-2:]), 0
    found: list[tuple[float, Independence]] = []
    for _ in range(TRIALS):
        x = chosen(every[trial], holonomic, reluctant)
        weakness = _weakness(x, A, psi_q)
        found.append((float(weakness.max()), x))
        if found[-1][0] < WEAK:
            break
        trial = int(np.argmax(weakness))
    return min(found, key=lambda pair: pair[0])[1]


def _weakness(x: Independence, A: np.ndarray, psi_q: np.ndarray) -> np.ndarray:
    """How weak a choice is in each state (states,); infinite where it cannot be made."""
    try:
        return np.atleast_1d(np.nan_to_num(weakest(variations(x, A, psi_q)), nan=np.inf))
    except np.linalg.LinAlgError:
        return np.full(len(A) if A.ndim == 3 else 1, np.inf)


def _named(m: Mechanism | System, A: np.ndarray, holonomic: list[int], names: Sequence[str]) -> Independence:
    """The choice with these independent rates."""
    wanted: list[int] = []
    for name in names:
        if name not in m.v_names:
            near = nearest(str(name), m.v_names)
            raise InputError(
                f"{m.name}: no rate {name!r} for independent=; {near}Rates: {listed(m.v_names)}", rate=name
            )
        wanted.append(m.v_names.index(name))
    free = chosen(A, holonomic)
    x = chosen(A, holonomic, wanted) if len(free.rates) == len(wanted) else free
    if set(x.rates) != set(wanted):
        raise _refused(m, names, free)
    return x


def _refused(m: Mechanism | System, names: Sequence[str], free: Independence) -> InputError:
    return InputError(
        f"{m.name}: independent= has {len(names)} rates, {listed(names) or 'none'}; it takes {len(free.rates)} from "
        f"which the constraints give the others, such as {listed([m.v_names[k] for k in free.rates])}",
        rates=tuple(names),
    )
