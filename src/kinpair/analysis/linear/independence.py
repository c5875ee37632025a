"""Independent coordinates and rates of a mechanism, at a state or for all states of a motion.

Which coordinates and rates say where a mechanism is and how it moves, once its constraints have said the rest.

A small change of the state obeys the rows differentiated (A of the constraints, ψ = A q̇ + a):

    A_h δq = 0                                   rows between positions                           (LI1)
    A δq̇ + ∂ψ/∂q δq = 0                          all rows                                         (LI2)

Pivoting splits the rates into dependent ones D and independent ones: J for displacements, I ⊂ J for rates. Then

    δq = Z_h ξ,   ξ = δq_J,   Z_h,D = −A_h,D⁻¹ A_h,J                                              (LI3)
    δq̇ = Z η + Y δq,   η = δq̇_I,   Z_D = −A_D⁻¹ A_I,   Y_D = −A_D⁻¹ ∂ψ/∂q,   Y_I = 0               (LI4)

Derivation, no line of code: (LI1), (LI2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.analysis.linear.point import Point
from kinpair.constraints.assembly.batch import at_time
from kinpair.constraints.rounding import RANK
from kinpair.constraints.rows.stacked import holonomic_rows
from kinpair.constraints.solvers.rank_revealing import lengths
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.evaluation.quantities.request import Request
from kinpair.mechanism import Mechanism
from kinpair.system import System

RELUCTANT = 30.0  # times larger must a pivot be in the column of a rate that rather stays independent


@dataclass(frozen=True, slots=True)
class Independence:
    """Numbers of rows and rates: what of the rows is kept, and which rates are independent.

    `held` and `rows`: rows between positions, and all rows, none of which the others imply. `coordinates` is J,
    `rates` is I.
    """

    held: tuple[int, ...]
    rows: tuple[int, ...]
    coordinates: tuple[int, ...]
    rates: tuple[int, ...]
    nv: int

    def dependent(self, independent: Sequence[int]) -> list[int]:
        """Numbers of the dependent rates."""
        known = set(independent)
        return [k for k in range(self.nv) if k not in known]


def all_free(nv: int) -> Independence:
    """Independence without constraints: all rates are free."""
    every = tuple(range(nv))
    return Independence((), (), every, every, nv)


def chosen(A: np.ndarray, holonomic: Sequence[int], reluctant: Sequence[int] = ()) -> Independence:
    """Choose rates by complete pivoting on A (rows, nv), so that Z is well-conditioned; `reluctant` rates stay
    independent where that is not much worse."""
    nv, held = A.shape[1], list(holonomic)
    ease = np.ones(nv)
    ease[list(reluctant)] = 1.0 / RELUCTANT
    others = [k for k in range(len(A)) if k not in set(held)]
    rows_h, D_h = _pivots(A[held] / lengths(A[held])[:, None], ease)
    J = [k for k in range(nv) if k not in D_h]
    kept = [held[k] for k in rows_h]
    left = A[others] @ displacements(A[kept], D_h, J) / lengths(A[others])[:, None]
    rows_n, columns = _pivots(left, ease[J])
    I = [k for n, k in enumerate(J) if n not in columns]
    return Independence(tuple(kept), (*kept, *(others[k] for k in rows_n)), tuple(J), tuple(I), nv)


def _pivots(A: np.ndarray, ease: np.ndarray) -> tuple[list[int], list[int]]:
    """Rows and columns in the order of the pivots, of rows of about length one; none where only rounding is left."""
    if not np.abs(A).max(initial=0.0) > RANK:
        return [], []
    return pivot_order(A * ease, RANK)


def displacements(A: np.ndarray, dependent: Sequence[int], independent: Sequence[int]) -> np.ndarray:
    """Z (..., nv, independent) of the rows A (..., r, nv).    (LI3), (LI4)"""
    D, free = list(dependent), list(independent)
    Z = np.zeros((*A.shape[:-2], A.shape[-1], len(free)))
    Z[..., free, range(len(free))] = 1.0
    if D:
        Z[..., D, :] = -np.linalg.solve(A[..., D], A[..., free])
    return Z


@dataclass(frozen=True, slots=True, eq=False)
class Variations:
    """Z_h (..., nv, nJ), Z (..., nv, nI) and Y (..., nv, nv) at one state or at several."""

    Z_h: np.ndarray
    Z: np.ndarray
    Y: np.ndarray


def variations(x: Independence, A: np.ndarray, psi_q: np.ndarray) -> Variations:
    """Variations of the rows A (..., rows, nv) and ∂ψ/∂q (..., rows, nv).    (LI3), (LI4)"""
    D_h, D = x.dependent(x.coordinates), x.dependent(x.rates)
    kept = A[..., list(x.rows), :]
    Y = np.zeros((*A.shape[:-2], x.nv, x.nv))
    if D:
        Y[..., D, :] = -np.linalg.solve(kept[..., D], psi_q[..., list(x.rows), :])
    Z_h = displacements(A[..., list(x.held), :], D_h, x.coordinates)
    return Variations(Z_h, displacements(kept, D, x.rates), Y)


def weakest(v: Variations) -> np.ndarray:
    """The largest entry of Z_h and Z (...): one where a choice is as good as can be, large where it is not."""
    sizes = [np.abs(Z).max(axis=(-2, -1), initial=0.0) for Z in (v.Z_h, v.Z)]
    return np.maximum(*sizes)


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
    """Weakness of a choice in each state (states,); infinite where it cannot be made."""
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
