"""H of long mechanisms: as an operator, and as a sparse matrix from few products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinpair.description.memory import available_memory
from kinpair.errors import InputError
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities.request import request_of
from kinpair.model.recursion import rate_tree

ENTRY = 40.0  # bytes of an entry that is not zero, while the matrix is made
AT_ONCE = 64  # products


def mass_operator(calls: Calls, q: np.ndarray, *, inverse: bool) -> Any:
    """H, or its inverse, at one position as a `scipy.sparse.linalg.LinearOperator` (nv, nv)."""
    from scipy.sparse.linalg import LinearOperator

    request = request_of("mass_solution" if inverse else "mass_product", owner=calls.model.name)

    def product(x: np.ndarray) -> np.ndarray:
        return calls(request, (q, np.ravel(np.asarray(x, dtype=float))))

    def products(X: np.ndarray) -> np.ndarray:
        return np.stack([product(x) for x in X.T], axis=1) if X.shape[1] else np.zeros(X.shape)

    nv, operator = calls.model.nv, LinearOperator
    either: dict[str, Any] = {"matvec": product, "rmatvec": product, "matmat": products, "rmatmat": products}
    return operator((nv, nv), dtype=np.dtype(float), **either)  # type: ignore[call-arg]


def sparse_mass_matrix(calls: Calls, q: np.ndarray) -> Any:
    """H at one position as a `scipy.sparse.csc_array` (nv, nv).

    H_ik is not zero where one of the rates i, k carries the other. Rates of equal depth carry no other rate of that
    depth: one product with the sum of their unit vectors has a column of H for each, below the diagonal. So there are
    as many products as rates on the longest path from the ground.
    """
    from scipy.sparse import csc_array

    parent = np.array(rate_tree(calls.model)[0], dtype=np.int64)
    depth = _depths(calls.model)
    _check_memory(calls.model.name, ENTRY * float(2 * (depth + 1).sum()))
    rows, columns, values = (np.concatenate(x) for x in zip(*_columns(calls, q, parent, depth), strict=True))
    beside = rows != columns
    data = np.concatenate([values, values[beside]])
    places = np.concatenate([rows, columns[beside]]), np.concatenate([columns, rows[beside]])
    return csc_array((data, places), shape=(len(parent), len(parent)))


def _depths(model: Any) -> np.ndarray:
    """Number of rates between each rate and the ground (nv,)."""
    parent, inward = rate_tree(model)
    depth = [0] * len(parent)
    for k in reversed(inward):
        depth[k] = depth[parent[k]] + 1 if parent[k] >= 0 else 0
    return np.array(depth, dtype=np.int64)


def _check_memory(owner: str, needed: float) -> None:
    room = available_memory()
    if needed > room:
        raise InputError(
            f"{owner}: its mass matrix needs about {needed / 1e9:.3g} GB of memory; {room / 1e9:.3g} GB are available: "
            "mass_operator(q) gives products with it"
        )


def _columns(
    calls: Calls, q: np.ndarray, parent: np.ndarray, depth: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, columns and entries of H on and below the diagonal, from the tips to the ground."""
    request, every = request_of("mass_product", owner=calls.model.name), np.arange(len(parent))
    carrier = every.copy()  # of each rate, the one at the depth in hand
    for start in range(int(depth.max(initial=-1)), -1, -AT_ONCE):
        depths = np.arange(start, max(start - AT_ONCE, -1), -1)
        products = calls(request, (q, (depth == depths[:, None]).astype(float)))
        for d, product in zip(depths.tolist(), products, strict=True):
            further = depth > d
            carrier[further] = parent[carrier[further]]
            own = every[depth >= d]
            yield own, carrier[own], product[own]
