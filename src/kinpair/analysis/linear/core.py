"""The part of a linear model that has eigenvalues to be found.

Where a vehicle is and where it heads to matters for nothing else. Such displacements have eigenvalues of their own,
zero as a rule, and a solver that has to find them among the others finds all of them with the error of a multiple
root. So they are split off first. With A = [A₁₁ A₁₂; A₂₁ A₂₂] of displacements ξ and rates η,

    N = null space of [A₂₁; A₂₁ A₁₁; A₂₁ A₁₁²; ...]              ignorable displacements            (LI7)
    z = ξ_P − N_P N_D⁻¹ ξ_D                                      what is left of them               (LI8)

with D chosen by pivoting, one displacement a column of N. Of what is left, a state k has the eigenvalue zero where

    column k is zero: nothing depends on it;   row k is zero: it stays                              (LI9)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.algebra.lu import pivot_order

NOTHING = 1e-9  # a singular value below this, of rows of length one, is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """How a matrix is taken apart.

    N (nq, k), the displacements `dropped` for it, and the states `kept`; `A` is the matrix of what is left, and `left`
    makes it, [z; η], of all states. Among the kept ones: those that nothing depends on (`ignored`, in the order in
    which they were taken away), those that stay (`constant`), and those with eigenvalues to be found (`states`).
    """

    N: np.ndarray
    dropped: tuple[int, ...]
    kept: tuple[int, ...]
    A: np.ndarray
    left: np.ndarray
    ignored: tuple[int, ...]
    constant: tuple[int, ...]
    states: tuple[int, ...]

    def completed(self, A: np.ndarray, z: np.ndarray, value: complex) -> np.ndarray:
        """The eigenvector of all states from that of the kept ones; ignorable displacements follow."""
        x = np.zeros(len(A), dtype=complex)
        x[list(self.kept)] = z
        if not self.dropped:
            return x
        D, nq = list(self.dropped), len(self.N)
        over = np.linalg.inv(self.N[D])
        own = over @ (A[:nq, :nq] @ self.N)[D]
        lhs = value * np.eye(len(D)) - own
        if np.linalg.svd(lhs, compute_uv=False)[-1] > NOTHING:
            x[:nq] += self.N @ np.linalg.solve(lhs, over @ (A @ x)[D])
        return x


def core_of(A: np.ndarray, nq: int) -> Core:
    """Of a matrix whose first nq states are displacements."""
    N = ignorable(A, nq)
    _, dropped = pivot_order(N.T) if N.size else ([], [])
    kept = [k for k in range(len(A)) if k not in dropped]
    left = np.eye(len(A))
    if dropped:
        left[:nq, dropped] -= N @ np.linalg.inv(N[dropped])  # (LI8)
    left = left[kept]
    own = left @ A[:, kept] if dropped else A
    own = np.where(np.abs(own) <= NOTHING * NOTHING * np.abs(own).max(initial=0.0), 0.0, own)
    return Core(N, tuple(dropped), tuple(kept), own, left, *_stripped(own))


def ignorable(A: np.ndarray, nq: int) -> np.ndarray:
    """N (nq, any), orthonormal, unit vectors where it can be.    (LI7)"""
    step = rows = _unit(A[nq:, :nq])
    known = 0
    while len(step) and known < nq:
        rank = int((np.linalg.svd(rows, compute_uv=False) > NOTHING).sum())
        if rank == known:
            break
        known, step = rank, _unit(step @ A[:nq, :nq])
        rows = np.concatenate([rows, step])
    lone = [k for k in range(nq) if not rows[:, k].any()]
    rest = [k for k in range(nq) if k not in lone]
    N = np.zeros((nq, nq - known))
    N[lone, range(len(lone))] = 1.0
    if len(lone) < nq - known:
        _, sigma, Vt = np.linalg.svd(rows[:, rest])
        N[rest, len(lone) :] = Vt[int((sigma > NOTHING).sum()) :].T
    return N


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; those of zeros are left out."""
    sizes = np.linalg.norm(rows, axis=1)
    return rows[sizes > 0.0] / sizes[sizes > 0.0, None]


def _stripped(A: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """States that nothing depends on, states that stay, and the others, (LI9) used as often as it can be."""
    left, ignored, constant = list(range(len(A))), list[int](), list[int]()
    while left:
        there = A[np.ix_(left, left)] != 0.0
        columns = [k for n, k in enumerate(left) if not there[:, n].any()]
        rows = [] if columns else [k for n, k in enumerate(left) if not there[n].any()]
        if not (columns or rows):
            break
        ignored += columns
        constant += rows
        left = [k for k in left if k not in (*columns, *rows)]
    return tuple(ignored), tuple(constant), tuple(left)
