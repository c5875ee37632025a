"""Derivatives of long mechanisms as products: J x and Jᵀ y in time proportional to the bodies, without J.

Directions of q are those of the rates, as for every derivative by q; with quaternions dq/dt of them is taken first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.rolled_derivative import forward_product, reverse_product
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation import body_loops
from kinpair.evaluation.kernels import Kernels
from kinpair.evaluation.quantities.request import Request, request_of

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
    from scipy.sparse.linalg import LinearOperator

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

    def columns(product: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        return lambda X: np.stack([product(x) for x in X.T], axis=1) if X.shape[1] else np.zeros(X.shape)

    rows = int(np.prod(next(iter(products.along.signature.outputs.values()))))
    operator: Any = LinearOperator
    return operator(
        (rows, model.nv),
        matvec=along,
        rmatvec=across,
        matmat=columns(along),
        rmatmat=columns(across),
        dtype=np.dtype(float),
    )


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
