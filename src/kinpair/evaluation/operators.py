"""Matrices of long mechanisms by products, in time proportional to the bodies.

J x and Jᵀ y of derivatives, H x and H⁻¹ f; H as a sparse matrix from few products.

Directions of q are those of the rates, as for every derivative by q; with quaternions dq/dt of them is taken first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.rolled_derivative import forward_product, reverse_product
from kinpair.description.memory import available_memory
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation import body_loops
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.kernels import Kernels
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.model.recursion import rate_tree

Product: TypeAlias = Callable[[np.ndarray], np.ndarray]
ENTRY = 40.0  # bytes of an entry of H that is not zero, while the matrix is made
AT_ONCE = 64  # products
OF = {  # what is differentiated: the state, and the result as a function of it
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "bias_forces": ("q", "qd"),
    "gravity_forces": ("q",),
    "momentum": ("q", "qd"),
    "centre_of_mass": ("q",),
    "energy": ("q", "qd"),
    "dq_dt": ("q", "qd"),
}


@dataclass(frozen=True, slots=True)
class Products:
    """J x and Jᵀ y of a quantity by one of its arguments at any state."""

    along: Kernel
    across: Kernel


def derivative_operator(kernels: Kernels, quantity: str, by: str, state: Mapping[str, np.ndarray]) -> Any:
    """∂quantity/∂by at one state as a `scipy.sparse.linalg.LinearOperator`."""
    model = kernels.model
    values = tuple(state.values())
    products = _products(kernels, quantity, by)
    turns = by == "q" and model.nq > model.nv
    moves = _products(kernels, "dq_dt", "qd") if turns else None
    q = state["q"]

    def along(x: np.ndarray) -> np.ndarray:
        way = np.ravel(np.asarray(x, dtype=float))
        if moves is not None:
            way = moves.along(q, np.zeros(model.nv), way)
        return np.ravel(products.along(*values, way))

    def across(y: np.ndarray) -> np.ndarray:
        way = products.across(*values, np.ravel(np.asarray(y, dtype=float)))
        return way if moves is None else moves.across(q, np.zeros(model.nv), way)

    rows = int(np.prod(next(iter(products.along.signature.outputs.values()))))
    return linear_operator((rows, model.nv), along, across)


def linear_operator(shape: tuple[int, int], along: Product, across: Product) -> Any:
    """Return a `scipy.sparse.linalg.LinearOperator` of J x and Jᵀ y; products with a matrix go column by column."""
    from scipy.sparse.linalg import LinearOperator

    def columns(product: Product, rows: int) -> Product:
        return lambda X: np.stack([product(x) for x in X.T], axis=1) if X.shape[1] else np.zeros((rows, 0))

    operator: Any = LinearOperator
    matrices = {"matmat": columns(along, shape[0]), "rmatmat": columns(across, shape[1])}
    return operator(shape, matvec=along, rmatvec=across, dtype=np.dtype(float), **matrices)


def check_derivative(owner: str, quantity: str, by: str) -> None:
    """Refuse a quantity or argument that has no such derivative."""
    if quantity not in OF:
        raise InputError(
            f"{owner}: no derivative operator of {quantity!r}; {nearest(str(quantity), OF)}Quantities: {listed(OF)}",
            quantity=quantity,
        )
    if by not in OF[quantity]:
        raise InputError(
            f"{owner}: {quantity} is differentiated by {listed(OF[quantity])}, not by {by!r}", argument=by
        )


def _products(kernels: Kernels, quantity: str, by: str) -> Products:
    """The kernels of J x and Jᵀ y, made once for a model."""
    return kernels.model.once(f"products {quantity} by {by}", lambda: _made(kernels, quantity, by))


def _made(kernels: Kernels, quantity: str, by: str) -> Products:
    request = request_of(quantity)
    if obstacle := body_loops.obstacle(kernels.model, request):
        raise InputError(
            f"{kernels.model.name}: {quantity} has no derivative operator: {obstacle}; "
            "inverse_dynamics_derivatives and forward_dynamics_derivatives give matrices",
            quantity=quantity,
        )

    def made(way: Callable[[Rolled, tuple[str, ...]], Rolled], name: str) -> Kernel:
        return Kernel(
            lambda: way(_recorded(kernels, request), (by,)),
            key=kernels.key_of(request, name, by),
            store=kernels.store,
        )

    return Products(made(forward_product, "along"), made(reverse_product, "across"))


def _recorded(kernels: Kernels, request: Request) -> Rolled:
    """The quantity as loops over the bodies, without the numbers that judge a solve."""
    compute = kernels.function_of(request)

    def result(*state: Any, model: Any) -> Any:
        value = compute(*state, model=model)
        return value[0] if request.quantity == "forward_dynamics" else value

    return body_loops.rolled(kernels.model, request.quantity, OF[request.quantity], result)


def mass_operator(calls: Calls, q: np.ndarray, *, inverse: bool) -> Any:
    """H, or its inverse, at one position as a `scipy.sparse.linalg.LinearOperator` (nv, nv)."""
    request = request_of("mass_solution" if inverse else "mass_product", owner=calls.model.name)

    def product(x: np.ndarray) -> np.ndarray:
        return calls(request, (q, np.ravel(np.asarray(x, dtype=float))))

    return linear_operator((calls.model.nv, calls.model.nv), product, product)


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
