"""A function of a few variables that is evaluated at many points: values and exact derivatives as kernels.

    y = F(v, d)                       v: variables (n,), d: data of the point (nd,)
    J_ij = ∂F_i/∂v_j                  entries that are not zero for every v
    L_jk = ∂²(λᵀF)/∂v_j∂v_k, k ≤ j    entries that are not zero for every v                             (OP1)

The function is recorded once. Which entries of J and L are zero follows from the recording. The points are the batch of
the kernels, so that they are evaluated in SIMD lanes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

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
