"""Closed and rolling mechanisms for the tests: consistent states of the bundled ones, and a plain solve."""

from __future__ import annotations

import numpy as np

import kinpair as kp
from kinpair.constraints.build import constraints_of
from kinpair.constraints.rows import residual, rows

STARTS: dict[str, list[float] | None] = {  # as their files say; None: the neutral coordinates
    "four-bar": [0, np.arccos(-0.65), np.arccos(-0.65)],
    "four-bar-3d": [0, np.arccos(-0.65), np.arccos(-0.65)],
    "slider-crank": [np.pi / 2, -1.9655874464946581, -0.06],
    "five-bar": [np.pi / 2, -0.3947911196997615, np.pi / 2, 0.3947911196997615],
    "bennett": [np.pi / 2, 2 * np.pi / 3, -np.pi / 2],
    "three-rrr": [0, 0, 0, *[0.9272952180016122, -1.8545904360032244] * 3],
    "stewart": None,
    "delta": None,
    "gripper": [0.5, -0.5, 0.5, -0.5, 0.5, -0.5],
    "space-robot": [np.pi / 36, -np.pi / 6, -np.pi / 6],
    "omni-robot": [1, 1, 1, 0.001, 0.001, np.pi / 6],
    "diff-drive": [0.3, -0.2, 0.4, 0.5, -0.6, 0.7, 0.8],
    "rolling-disk": None,
}


def start(name: str) -> np.ndarray:
    """The coordinates of an example that its file gives."""
    q = STARTS[name]
    return kp.example(name).neutral() if q is None else np.array(q, dtype=float)


def gap(m: kp.Mechanism, q: np.ndarray) -> np.ndarray:
    """φ of every holonomic row."""
    return residual(m.model, constraints_of(m.model), q, 0.0)


def conditions(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, ψ and b of every row."""
    found = rows(m.model, constraints_of(m.model), q, qd, 0.0)
    return tuple(np.array(x, dtype=float) for x in found)  # type: ignore[return-value]


def motion(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ of [H −Aᵀ; A 0] [q̈; λ] = [τ − h; b], the shortest λ where rows are redundant."""
    A, _, b = conditions(m, q, qd)
    H, h = m.reference.mass_matrix(q), m.reference.bias_forces(q, qd)
    system = np.block([[H, -A.T], [A, np.zeros((len(A), len(A)))]])
    found = np.linalg.lstsq(system, np.concatenate([tau - h, b]), rcond=1e-13)[0]
    return found[: m.nv], found[m.nv :]
