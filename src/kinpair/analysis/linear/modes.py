"""Natural frequencies, damping, shapes, and who takes part.

With A v = λ v, w A = λ w, w v = 1 in the core:

    ω_n = |λ|,   ζ = −Re λ / |λ|,   p_k = |w_k v_k| / Σ_j |w_j v_j|                                 (LI10)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinpair.analysis.linear.core import Core
from kinpair.formulations import kinematics
from kinpair.model.model import Model

NOTHING = 1e-13  # of the largest |λ|: what is smaller is zero
PAIRED = 1e-9  # of |λ|: an imaginary part below this is rounding of a real eigenvalue
MAINLY = 0.1  # of a participation: who has less is not named


class Spectrum(NamedTuple):
    """Eigenvalues (n,) of the core, vectors A v = λ v as columns (states, n), and participation (states, n)."""

    values: np.ndarray
    vectors: np.ndarray
    participation: np.ndarray


def eigenvalues(A: np.ndarray) -> np.ndarray:
    """Of a matrix, tidied: zero, real or imaginary where only rounding makes them otherwise; slow ones first."""
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
    """Of the core, with vectors of all states."""
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
        """Is it one of a pair?"""
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
    """One a real eigenvalue or pair; the first `coordinates` states are displacements, which Z_h completes."""
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
