"""Which coordinates and rates say where a mechanism is and how it moves, once its constraints have said the rest.

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
from kinpair.constraints.solvers.rank_revealing import RANK, lengths

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
        """The other rates."""
        known = set(independent)
        return [k for k in range(self.nv) if k not in known]


def all_free(nv: int) -> Independence:
    """Without constraints."""
    every = tuple(range(nv))
    return Independence((), (), every, every, nv)


def chosen(A: np.ndarray, holonomic: Sequence[int], reluctant: Sequence[int] = ()) -> Independence:
    """By complete pivoting on A (rows, nv), so that Z is well-conditioned; `reluctant` rates stay independent where
    that is not much worse."""
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
    """Of the rows A (..., rows, nv) and ∂ψ/∂q (..., rows, nv).    (LI3), (LI4)"""
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
