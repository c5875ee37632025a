"""Time and accuracy of the nonsmooth solver: python -m benchmarks.contact_problems FOLDER of friction-contact problems.

Each `.npz` has W as CSC (`data`, `indices`, `indptr`, `shape`), `q`, `mu` (one per contact) and `d` (2 or 3), with the
normal first in each contact: u = W r + q.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csc_matrix

from kinpair.nonsmooth.problem import Disc, Group, Interval, solve


def error(W: np.ndarray, q: np.ndarray, mu: np.ndarray, d: int, r: np.ndarray) -> float:
    """E2 = maxᵢ ‖rᵢ − P_K(rᵢ − τᵢ ũᵢ)‖/τᵢ / ‖q‖∞ with ũ = u + μ‖u_T‖n and τᵢ = d/tr Wᵢᵢ."""
    u, largest = W @ r + q, 0.0
    for i, own in enumerate(mu):
        rows = slice(d * i, d * (i + 1))
        tau, velocity = d / np.trace(W[rows, rows]), u[rows].copy()
        velocity[0] += own * np.linalg.norm(velocity[1:])
        largest = max(largest, float(np.linalg.norm(r[rows] - _in_cone(r[rows] - tau * velocity, own))) / tau)
    return largest / float(np.abs(q).max())


def _in_cone(p: np.ndarray, mu: float) -> np.ndarray:
    """The nearest point of the friction cone."""
    size = float(np.linalg.norm(p[1:]))
    if size <= mu * p[0]:
        return p
    if mu * size <= -p[0]:
        return np.zeros_like(p)
    height = (mu * size + p[0]) / (1.0 + mu**2)
    return np.array([height, *(mu * height * p[1:] / size)])


def contacts(mu: np.ndarray, d: int) -> list[Group]:
    """A normal and a disc for each contact."""
    groups: list[Group] = []
    for i, own in enumerate(mu):
        groups += [Interval(d * i), Disc(tuple(range(d * i + 1, d * (i + 1))), mu=float(own), normal=d * i)]
    return groups


def main(folder: str) -> None:
    """Print a line per problem, cold and warm."""
    solve(np.eye(2), -np.ones(2), contacts(np.ones(1), 2))  # compiles the solver
    print(f"{'problem':45} {'contacts':>8} {'E2':>8} {'cold ms':>9} {'warm ms':>9}")
    for path in sorted(Path(folder).glob("*.npz")):
        stored = np.load(path)
        W = csc_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"]).toarray()
        q, mu, d = stored["q"], stored["mu"], int(stored["d"])
        groups = contacts(mu, d)
        begin = time.perf_counter()
        cold = solve(W, q, groups)
        middle = time.perf_counter()
        solve(W, q, groups, start=cold.x)
        end = time.perf_counter()
        e2 = error(W, q, mu, d, cold.x)
        times = f"{1e3 * (middle - begin):9.2f} {1e3 * (end - middle):9.2f}"
        print(f"{path.stem:45} {len(mu):8} {e2:8.1e} {times}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
