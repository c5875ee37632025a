"""Eigenvalues of a linear model, and its modes: natural frequencies, damping, shapes, participation.

The part of a linear model that has eigenvalues to be found.

Where a vehicle is and where it heads to matters for nothing else. Such displacements have eigenvalues of their own,
zero as a rule, and a solver that has to find them among the others finds all of them with the error of a multiple
root. So they are split off first. With A = [A₁₁ A₁₂; A₂₁ A₂₂] of displacements ξ and rates η,

    N = null space of [A₂₁; A₂₁ A₁₁; A₂₁ A₁₁²; ...]              ignorable displacements            (LI7)
    z = ξ_P − N_P N_D⁻¹ ξ_D                                      what is left of them               (LI8)

with D chosen by pivoting, one displacement a column of N. Of what is left, a state k has the eigenvalue zero where

    column k is zero: nothing depends on it;   row k is zero: it stays                              (LI9)

Natural frequencies, damping, shapes, and who takes part.

With A v = λ v, w A = λ w, w v = 1 in the core:

    ω_n = |λ|,   ζ = −Re λ / |λ|,   p_k = |w_k v_k| / Σ_j |w_j v_j|                                 (LI10)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.formulations import kinematics
from kinpair.model.model import Model

LENGTH_ROUNDING = 1e-9  # a singular value below this, of rows of length one, is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """Parts of a matrix: the core and its complement.

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
        if np.linalg.svd(lhs, compute_uv=False)[-1] > LENGTH_ROUNDING:
            x[:nq] += self.N @ np.linalg.solve(lhs, over @ (A @ x)[D])
        return x


def core_of(A: np.ndarray, nq: int) -> Core:
    """Return the core of a matrix whose first nq states are displacements."""
    N = ignorable(A, nq)
    _, dropped = pivot_order(N.T) if N.size else ([], [])
    kept = [k for k in range(len(A)) if k not in dropped]
    left = np.eye(len(A))
    if dropped:
        left[:nq, dropped] -= N @ np.linalg.inv(N[dropped])  # (LI8)
    left = left[kept]
    own = left @ A[:, kept] if dropped else A
    own = np.where(np.abs(own) <= LENGTH_ROUNDING * LENGTH_ROUNDING * np.abs(own).max(initial=0.0), 0.0, own)
    return Core(N, tuple(dropped), tuple(kept), own, left, *_stripped(own))


def ignorable(A: np.ndarray, nq: int) -> np.ndarray:
    """N (nq, any), orthonormal, unit vectors where it can be.    (LI7)"""
    step = rows = _unit(A[nq:, :nq])
    known = 0
    while len(step) and known < nq:
        rank = int((np.linalg.svd(rows, compute_uv=False) > LENGTH_ROUNDING).sum())
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
        N[rest, len(lone) :] = Vt[int((sigma > LENGTH_ROUNDING).sum()) :].T
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


NOTHING = 1e-13  # of the largest |λ|: what is smaller is zero
PAIRED = 1e-9  # of |λ|: an imaginary part below this is rounding of a real eigenvalue
MAINLY = 0.1  # of a participation: who has less is not named


class Spectrum(NamedTuple):
    """Eigenvalues (n,) of the core, vectors A v = λ v as columns (states, n), and participation (states, n)."""

    values: np.ndarray
    vectors: np.ndarray
    participation: np.ndarray


def eigenvalues(A: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a matrix, tidied: zero, real or imaginary where only rounding makes them otherwise;
    slow ones first."""
    return _tidied(np.linalg.eigvals(A))[0] if len(A) else np.zeros(0, dtype=complex)


def _tidied(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values in order, and the order: of a pair the one with positive imaginary part first."""
    x = np.asarray(values, dtype=complex)
    x = np.where(np.abs(np.imag(x)) <= PAIRED * np.abs(x), np.real(x) + 0j, x)
    x = np.where(np.abs(np.real(x)) <= NOTHING * np.abs(x).max(initial=0.0), 1j * np.imag(x), x)
    x = np.where(np.abs(x) <= NOTHING * np.abs(x).max(initial=0.0), 0.0, x) + 0.0
    order = np.lexsort((-np.imag(x), -np.real(x), np.abs(x).round(9)))
    return x[order], order


def spectrum(A: np.ndarray, core: Core) -> Spectrum:
    """Return the eigenvalues of the core, with vectors of all states."""
    k = list(core.states)
    found, V = np.linalg.eig(core.A[np.ix_(k, k)])
    values, order = _tidied(found)
    V = np.asarray(V, dtype=complex)[:, order]
    shares = np.zeros((len(A), len(k)))
    p = np.abs(np.linalg.pinv(V).T * V)
    shares[[core.kept[n] for n in k]] = p / p.sum(0)  # (LI10)
    whole = np.zeros((len(core.kept), len(k)), dtype=complex)
    whole[k] = V
    over = np.divide(1.0, values, out=np.zeros_like(values), where=values != 0.0)
    for n in reversed(core.ignored):  # what it depends on was taken away later, or stays
        whole[n] = (core.A[n] @ whole) * over
    columns = [core.completed(A, whole[:, n], value) for n, value in enumerate(values)]
    return Spectrum(values, np.array(columns, dtype=complex).reshape(len(k), len(A)).T, shares)


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """A motion in which everything keeps its proportions.

    `shape`: amplitudes by name of the state, complex where parts are ahead of others; the largest displacement is one.
    `displacement` (nv,): the same along all rates, dependent ones too. `participation`: by name of the state, their sum
    is one.
    """

    eigenvalue: complex
    shape: Mapping[str, complex]
    displacement: np.ndarray
    participation: Mapping[str, float]

    @property
    def frequency(self) -> float:
        """Natural frequency [rad/s]."""
        return abs(self.eigenvalue)

    @property
    def damping(self) -> float:
        """Damping ratio: 0 where nothing is lost, 1 where it does not swing any more, below 0 where it grows."""
        return 0.0 - self.eigenvalue.real / self.frequency if self.frequency else 0.0

    @property
    def swings(self) -> bool:
        """True if it is one of a complex pair."""
        return self.eigenvalue.imag != 0.0

    @property
    def mainly(self) -> str:
        """The states that take part most, in words."""
        most = sorted(self.participation.items(), key=lambda x: -x[1])
        named = [(name, part) for name, part in most if part >= MAINLY] or most[:1]
        return ", ".join(f"{name} ({part:.2f})" for name, part in named[:4])

    def __str__(self) -> str:
        x = self.eigenvalue
        value = f"{x.real:.6g} ± {x.imag:.6g} i" if self.swings else f"{x.real:.6g}"
        told = f", {self.frequency:.6g} rad/s, damping {self.damping:.3g}" if self.swings else ""
        return f"{value} 1/s{told}: {self.mainly}"


def modes_of(found: Spectrum, names: tuple[str, ...], Z_h: np.ndarray, coordinates: int) -> tuple[Mode, ...]:
    """Return one mode for each real eigenvalue or pair; the first `coordinates` states are displacements, which Z_h
    completes."""
    every: list[Mode] = []
    for n, value in enumerate(found.values):
        if value.imag < 0.0:
            continue
        v = found.vectors[:, n]
        lead = v[:coordinates] if np.abs(v[:coordinates]).max(initial=0.0) > 0.0 else v
        v = v / lead[np.abs(lead).argmax()]
        every.append(
            Mode(
                complex(value),
                dict(zip(names, v.tolist(), strict=True)),
                Z_h @ v[:coordinates],
                dict(zip(names, found.participation[:, n].tolist(), strict=True)),
            )
        )
    return tuple(every)


def swung(
    model: Model, q: np.ndarray, shape: np.ndarray, amplitude: float, count: int, half_cycles: int
) -> np.ndarray:
    """Coordinates (count, nq) through half cycles of a shape (nv,) about q, its largest displacement the amplitude."""
    turns = np.exp(1j * np.linspace(0.0, half_cycles * np.pi, count))[:, None]
    parts = turns * shape / np.abs(shape).max(initial=1e-300)
    steps = amplitude * parts.real
    return np.array(
        [kinematics.normalised(model, kinematics.moved(model, q, step)) for step in steps], dtype=float
    )
