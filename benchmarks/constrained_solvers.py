"""Rosenberg's embedding beside Udwadia & Kalaba's equation: operations and time, compiled and to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.timing import race, repeated
from kinpair.algebra.arrays import symmetric
from kinpair.algebra.lu import pivot_order
from kinpair.compiler.kernel import compile
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers import SOLVERS, Problem
from kinpair.constraints.solvers.problem import full

CLAIMED = (4.5, 7.5)  # Zhao et al. 2023: times faster than Udwadia & Kalaba's equation
EMBEDDING, PROJECTION = "rosenberg-extended", "udwadia-kalaba"
EXAMPLES = {  # a state of each, as far from anything singular as their files start them
    "space-robot": [np.pi / 36, -np.pi / 6, -np.pi / 6],
    "omni-robot": [1.0, 1.0, 1.0, 0.001, 0.001, np.pi / 6],
    "four-bar": [0.3, 2.2, 2.2],
    "stewart": None,
}
BATCH, TIMES = 1024, 20


@dataclass(frozen=True, slots=True)
class Compared:
    """One mechanism: rates and rows; by solver operations of the solve, and nanoseconds of it compiled, in NumPy, and
    of the whole forward dynamics in a batch."""

    name: str
    n: int
    rows: int
    operations: dict[str, int]
    solve: dict[str, float]
    literal: dict[str, float]
    whole: dict[str, float]

    def ratio(self, of: str) -> float:
        """How many times the projection costs the embedding."""
        result = getattr(self, of)
        return result[PROJECTION] / result[EMBEDDING]


def rows(turns: int) -> Iterator[Compared]:
    """A row a mechanism."""
    for name, start in EXAMPLES.items():
        m = kp.example(name)
        q = m.assemble(m.neutral() if start is None else start)
        qd = m.velocities(q, guess=np.cos(np.arange(m.nv)))
        yield _compared(m, q, qd, turns)


def _compared(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, turns: int) -> Compared:
    tau = np.sin(np.arange(m.nv))
    M, F, A = m.mass_matrix(q), tau - m.bias_forces(q, qd), m.constraint_matrix(q)
    qdd = m.forward_dynamics(q, qd, tau)
    A = A[list(independent_rows(A))]
    picked, one = pivot_order(A)
    order = [*one, *(k for k in range(m.nv) if k not in one)]  # dependent rates first
    A, M, F, qdd = A[picked][:, order], M[np.ix_(order, order)], F[order], qdd[order]
    terms = (M, F, A, A @ qdd)
    _check(qdd, *terms)
    kernels = {name: _kernel(name, *terms) for name in (EMBEDDING, PROJECTION)}
    batch, states = (
        [np.repeat(x[None], BATCH, axis=0) for x in arguments] for arguments in (terms, (q, qd, tau))
    )
    calls: dict[Any, Any] = {}
    for name, kernel in kernels.items():
        kernel(*batch)
        m.forward_dynamics(*states, solver=name)
        calls["solve", name] = repeated(kernel, *batch, times=1)
        calls["literal", name] = repeated(LITERAL[name], *terms, times=TIMES)
        calls["whole", name] = repeated(_asking(m, name), *states, times=1)
    sizes = {"solve": BATCH, "literal": TIMES, "whole": BATCH}
    best = {key: t / sizes[key[0]] * 1e9 for key, t in race(calls, turns).items()}
    times = {what: {name: best[what, name] for name in kernels} for what in sizes}
    counts = {name: kernel.count["total"] for name, kernel in kernels.items()}
    return Compared(m.name, m.nv, len(A), counts, **times)


def _asking(m: kp.Mechanism, solver: str) -> Any:
    return lambda q, qd, tau: m.forward_dynamics(q, qd, tau, solver=solver)


def _kernel(name: str, *terms: np.ndarray) -> Any:
    """The solve alone, of full matrices: nothing is known of M but that it is symmetric."""

    def accelerations(M: Any, F: Any, A: Any, b: Any) -> Any:
        l = range(len(b))
        return SOLVERS[name](Problem(symmetric(M), F, A, b, *full(len(F)), l, l)).qdd

    return compile(accelerations, *terms, name=name)


def embedding(M: np.ndarray, F: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Zhao et al. 2023, eqs 33, 34, with NumPy; dependent rates first."""
    l = len(A)
    result = np.linalg.solve(A[:, :l], np.column_stack([A[:, l:], b]))
    K, over_A1_b = result[:, :-1], result[:, -1]
    W = K.T @ M[:l, :l] - M[l:, :l]
    X = W @ K - K.T @ M[:l, l:] + M[l:, l:]
    qdd2 = np.linalg.solve(X, F[l:] - K.T @ F[:l] + W @ over_A1_b)
    return np.concatenate([over_A1_b - K @ qdd2, qdd2])


def projection(M: np.ndarray, F: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """q̈ = a + M^(−½) (A M^(−½))⁺ (b − A a), roots by eigenvalues and the pseudo-inverse by singular values."""
    values, vectors = np.linalg.eigh(M)
    root = (vectors / np.sqrt(values)) @ vectors.T  # M^(−½)
    a = root @ (root @ F)
    return a + root @ (np.linalg.pinv(A @ root) @ (b - A @ a))


LITERAL = {EMBEDDING: embedding, PROJECTION: projection}


def _check(expected: np.ndarray, *terms: np.ndarray) -> None:
    """All roads lead to the same accelerations."""
    for result in (f(*terms) for f in LITERAL.values()):
        assert np.abs(result - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())
