"""A sparse nonlinear program whose functions are evaluated at many points.

    minimise  cᵀ r(w)   subject to   lower ≤ w ≤ upper,   row_lower ≤ A w + C r(w) ≤ row_upper          (OP2)

r stacks the values of all blocks; a block is one recorded function at k points, whose variables are entries of w. The
matrices A and C are constant, so the derivatives are

    J = A + C r′(w),    L = Σ_points L_point(λ = σ c + Cᵀ y)                                            (OP3)

and which of their entries are not zero is known before the first evaluation.

A function of a few variables that is evaluated at many points: values and exact derivatives as kernels.

    y = F(v, d)                       v: variables (n,), d: data of the point (nd,)
    J_ij = ∂F_i/∂v_j                  entries that are not zero for every v
    L_jk = ∂²(λᵀF)/∂v_j∂v_k, k ≤ j    entries that are not zero for every v                             (OP1)

The function is recorded once. Which entries of J and L are zero follows from the recording. The points are the batch of
the kernels, so that they are evaluated in SIMD lanes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import gradient, jacobian, tangents
from kinpair.compiler.graph import Expr
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Leaf, Program
from kinpair.compiler.trace import filled, no_collection, trace

Function = Callable[[Any, Any], Any]


class Pointwise:
    """F with its derivatives; `rows` and `columns` of the entries of J, `upper` and `lower` of those of L.    (OP1)"""

    def __init__(self, function: Function, variables: int, data: int, name: str) -> None:
        self.name, self.n = name, variables
        self.rows = self.columns = self.lower = self.upper = np.zeros(0, dtype=int)

        def recorded(v: Any, d: Any, weights: Any) -> tuple[Any, ...]:
            values = np.concatenate([np.zeros(0, dtype=object), np.reshape(function(v, d), -1)])
            J = np.asarray(jacobian(values, v), dtype=object).reshape(len(values), variables)
            self.rows, self.columns = _entries(J)
            L = _second(values, v, weights)
            self.lower, self.upper = (np.array(x, dtype=int) for x in (*zip(*L, strict=True),) or ((), ()))
            return (
                values,
                filled([J[i, j] for i, j in zip(self.rows, self.columns, strict=True)]),
                filled(list(L.values())),
            )

        shapes: dict[str, tuple[int, ...]] = {"v": (variables,), "d": (max(data, 1),)}
        with np.errstate(all="ignore"):
            plain = trace(lambda v, d: np.reshape(function(v, d), -1), shapes, name=name)
            self.m = plain.outputs[0].size
            program = trace(recorded, shapes | {"weights": (max(self.m, 1),)}, name=name)
        self._programs = [
            replace(
                program,
                name=f"{name} {what}",
                inputs=program.inputs[:k],
                outputs=(leaf,),
                structure=leaf.name,
            )
            for what, k, leaf in zip(
                ("values", "Jacobian", "Hessian"), (2, 2, 3), program.outputs, strict=True
            )
        ]

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels of values, Jacobian and Hessian; machine code is stored by the recorded formula."""
        return tuple(Kernel(x, key=_fingerprint(x), store=Store()) for x in self._programs)

    @property
    def program(self) -> Program:
        """The recorded values."""
        return self._programs[0]

    @property
    def operations(self) -> tuple[int, ...]:
        """Number of operations of values, Jacobian and Hessian."""
        return tuple(x.count["total"] for x in self._programs)

    def values(self, v: np.ndarray, d: np.ndarray) -> np.ndarray:
        """F at points v (k, n) with data d (k, nd): (k, m)."""
        return self.kernels[0](v, d)

    def jacobian(self, v: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Entries of J at points (k, entries)."""
        return self.kernels[1](v, d)

    def hessian(self, v: np.ndarray, d: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Entries of L at points (k, entries) for λ = weights (k, m)."""
        return self.kernels[2](v, d, weights)


def _entries(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the entries that are not the number zero."""
    occupied = [(i, j) for i, row in enumerate(J) for j, x in enumerate(row) if not _is_zero(x)]
    return tuple(np.array(x, dtype=int) for x in ((*zip(*occupied, strict=True),) or ((), ())))  # type: ignore[return-value]


def _is_zero(x: Any) -> bool:
    return x.value == 0.0 if isinstance(x, Expr) else x == 0.0


def _second(values: np.ndarray, v: np.ndarray, weights: np.ndarray) -> dict[tuple[int, int], Expr]:
    """Entries of L by place (j, k), k ≤ j: forward derivatives of the reverse gradient of λᵀF."""
    nodes = [(w, x) for w, x in zip(weights, values, strict=False) if isinstance(x, Expr)]
    if not nodes:
        return {}
    total: Expr = nodes[0][0] * nodes[0][1]
    for w, x in nodes[1:]:
        total = total + w * x
    one = total.graph.const(1.0)
    slopes = tangents(gradient(total, list(v)), {x.id: {k: one} for k, x in enumerate(v)})
    return {
        (j, k): x for j, row in enumerate(slopes) for k, x in sorted(row.items()) if k <= j and x.value != 0.0
    }


def _fingerprint(program: Program) -> str:
    """A digest of the recorded formula: operations, constants, inputs and outputs in order."""
    digest = hashlib.sha256()
    place: dict[int, int] = {}
    with no_collection():
        for leaf in program.inputs:
            _number(place, leaf)
            digest.update(f"{leaf.shape}".encode())
        for x in program.nodes:
            place.setdefault(x.id, len(place))
            digest.update(f"{x.op}{[place[y.id] for y in x.args]}{x.value!r}".encode())
        for leaf in program.outputs:
            digest.update(f"{leaf.shape}{[place[x.id] for x in leaf.entries]}".encode())
    return f"pointwise {digest.hexdigest()}"


def _number(place: dict[int, int], leaf: Leaf) -> None:
    for x in leaf.entries:
        place.setdefault(x.id, len(place))


@final
@dataclass(frozen=True, eq=False)
class Block:
    """A recorded function at points: numbers of its variables (k, n) in w, and data of the points (k, nd)."""

    function: Pointwise
    variables: np.ndarray
    data: np.ndarray

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.variables) * self.function.m


class Bounds(NamedTuple):
    """Lower and upper bounds."""

    lower: np.ndarray
    upper: np.ndarray


class Outcome(NamedTuple):
    """Outcome of a solver: w, multipliers of rows and of both bounds, its status and what it took."""

    w: np.ndarray
    rows: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    status: str
    iterations: int
    optimality: float  # dual infeasibility, of the scaled problem
    violation: float


@final
class NonlinearProgram:
    """The program (OP2): values and derivatives at w. Entries of J are at (`J_rows`, `J_columns`), of L at
    (`L_rows`, `L_columns`), the lower triangle."""

    def __init__(
        self,
        blocks: list[Block],
        A: sparse.csr_matrix,
        C: sparse.csr_matrix,
        c: np.ndarray,
        bounds: Bounds,
        row_bounds: Bounds,
        place: Callable[[int], tuple[str, int, float]],
    ) -> None:
        self.blocks, self.C, self.c = blocks, C, c
        self.A, self.bounds, self.row_bounds, self.place = A, bounds, row_bounds, place
        self.m, self.n = len(row_bounds.lower), len(bounds.lower)
        self._offsets = np.cumsum([0, *(x.size for x in blocks)])
        self._build_jacobian()
        self._build_hessian()
        self._at: np.ndarray | None = None

    def _build_jacobian(self) -> None:
        """Maps from the entries of r′ to those of J and of the gradient."""
        raw_rows, raw_columns = [], []
        for x, start in zip(self.blocks, self._offsets[:-1], strict=True):
            point = np.arange(len(x.variables))[:, None]
            raw_rows.append((start + point * x.function.m + x.function.rows).ravel())
            raw_columns.append(x.variables[:, x.function.columns].ravel())
        rows, columns = (np.concatenate([np.zeros(0, dtype=int), *x]) for x in (raw_rows, raw_columns))
        count = len(rows)
        spread = self.C[:, rows].tocoo()  # (row of J, entry of r′): coefficient
        linear = self.A.tocoo()
        spread_rows, linear_rows = (x.row.astype(np.int64) for x in (spread, linear))  # of scipy: 32 bits
        keys = np.concatenate([spread_rows * self.n + columns[spread.col], linear_rows * self.n + linear.col])
        occupied, place = np.unique(keys, return_inverse=True)
        self.J_rows, self.J_columns = occupied // self.n, occupied % self.n
        split = len(spread.row)
        shape = (len(occupied), count)
        self._to_J = sparse.csr_matrix((spread.data, (place[:split], spread.col)), shape=shape)
        self._J_constant = np.bincount(place[split:], linear.data, len(occupied)).astype(float)
        weights = self.c[rows]
        self._to_gradient = sparse.csr_matrix((weights, (columns, np.arange(count))), shape=(self.n, count))
        self._to_gradient.eliminate_zeros()

    def _build_hessian(self) -> None:
        keys = []
        for x in self.blocks:
            first, second = x.variables[:, x.function.lower], x.variables[:, x.function.upper]
            keys.append((np.maximum(first, second) * self.n + np.minimum(first, second)).ravel())
        every = np.concatenate([np.zeros(0, dtype=int), *keys])
        occupied, place = np.unique(every, return_inverse=True)
        self.L_rows, self.L_columns = occupied // self.n, occupied % self.n
        ones = np.ones(len(every))
        self._to_L = sparse.csr_matrix(
            (ones, (place, np.arange(len(every)))), shape=(len(occupied), len(every))
        )
        self._Ct = self.C.T.tocsr()

    def with_cost(self, block: Block, weight: float) -> NonlinearProgram:
        """The program with another cost: a weight times the sum of all values of a block."""
        more = sparse.csr_matrix((self.m, block.size))
        C, c = (
            sparse.csr_matrix(sparse.hstack([self.C, more])),
            np.append(self.c, np.full(block.size, weight)),
        )
        return NonlinearProgram([*self.blocks, block], self.A, C, c, self.bounds, self.row_bounds, self.place)

    # values

    def _gathered(self, w: np.ndarray, method: str) -> np.ndarray:
        parts = [
            getattr(x.function, method)(w[x.variables], x.data).ravel()
            for x in self.blocks
            if len(x.variables)
        ]
        return np.concatenate([np.zeros(0), *parts])

    def values(self, w: np.ndarray) -> np.ndarray:
        """r(w); kept until w changes."""
        if self._at is None or not np.array_equal(self._at, w):
            self._r = self._gathered(w, "values")
            self._slopes: np.ndarray | None = None
            self._at = w.copy()
        return self._r

    def slopes(self, w: np.ndarray) -> np.ndarray:
        """Entries of r′(w); kept until w changes."""
        self.values(w)
        if self._slopes is None:
            self._slopes = self._gathered(w, "jacobian")
        return self._slopes

    def cost(self, w: np.ndarray) -> float:
        """Compute the cost cᵀ r(w)."""
        return float(self.c @ self.values(w))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Derivatives of the cost (n,)."""
        return self._to_gradient @ self.slopes(w)

    def rows(self, w: np.ndarray) -> np.ndarray:
        """A w + C r(w), (m,)."""
        return self.A @ w + self.C @ self.values(w)

    def jacobian(self, w: np.ndarray) -> np.ndarray:
        """Entries of J.    (OP3)"""
        return self._to_J @ self.slopes(w) + self._J_constant

    def hessian(self, w: np.ndarray, sigma: float, y: np.ndarray) -> np.ndarray:
        """Entries of L for the weight σ of the cost and multipliers y of the rows.    (OP3)"""
        weights = sigma * self.c + self._Ct @ y
        parts = [
            x.function.hessian(
                w[x.variables], x.data, weights[start : start + x.size].reshape(-1, x.function.m)
            ).ravel()
            for x, start in zip(self.blocks, self._offsets[:-1], strict=True)
            if len(x.variables)
        ]
        return self._to_L @ np.concatenate([np.zeros(0), *parts])

    def violation(self, w: np.ndarray) -> np.ndarray:
        """Violation of each row (m,)."""
        g = self.rows(w)
        return np.maximum(np.maximum(self.row_bounds.lower - g, g - self.row_bounds.upper), 0.0)

    def row_name(self, row: int) -> str:
        """Describe a row and where it is."""
        name, _, fraction = self.place(row)
        return name if np.isnan(fraction) else f"{name} at {fraction:.3g} of the duration"
