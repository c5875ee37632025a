"""Where the two halves meet: the quantities of one model, compiled. Only this file and `rolling.py` know both.

A kernel is made when first asked for and kept in memory and on disk. Its key says what determines the code:
the model to the last bit, the quantity, how it is asked for; the compiler adds sources, versions and CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from math import inf
from typing import Any

import numpy as np

from kinpair import constrained, rolling
from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.trace import trace
from kinpair.constrained import CALLED, CONSTRAINED, EVERY
from kinpair.errors import LengthError
from kinpair.forces.passive import has_passive
from kinpair.formulations import kinematics
from kinpair.model.digest import digest, has_functions
from kinpair.model.model import Model
from kinpair.model.symbols import with_symbols
from kinpair.quantities import (
    METHODS,
    Ask,
    External,
    Quantity,
    inverse_dynamics,
    is_default,
    solved_for,
)

WRENCH = 6
SPARSE = 600  # bodies: many short branches between loops
ROOM, ROOM_OF_OTHERS = 400_000, 100_000  # operations; LLVM takes some ten seconds for 100 000
UNROLLED = 120  # bodies: the one formula of a longer mechanism would be too long to compile


def effort_derivatives(
    model: Model, ask: Ask, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix]:
    """By the chain rule on the recorded inverse dynamics; ∂/∂q along the directions of the rates."""
    tau = inverse_dynamics(model, ask, q, qd, qdd, loads)
    return _along_rates(model, q, jacobian(tau, q)), jacobian(tau, qd)


def _along_rates(model: Model, q: Vector, J: Matrix) -> Matrix:
    """∂/∂q (nv, nq) → (nv, nv): times the columns dq/dt of unit rates."""
    if model.nq == model.nv:
        return J
    return J @ array([list(kinematics.dq_dt(model, q, unit)) for unit in np.eye(model.nv)]).T


def acceleration_derivatives(
    model: Model, ask: Ask, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """The same for the accelerations."""
    return solved_for(model, q, *effort_derivatives(model, ask, q, qd, qdd, loads))


def balance_derivatives(model: Model, ask: Ask, q: Vector, qd: Vector, *others: Any) -> tuple[Matrix, Matrix]:
    """Derivatives by q and q̇ of what vanishes in motion, see `constrained.balance`, with all it takes."""
    balance = np.concatenate(constrained.balance(model, ask, q, qd, *others))
    by_q = jacobian(balance, q)
    return _along_rates(model, q, by_q), jacobian(balance, qd)


RECORDED: dict[str, Quantity] = {
    "inverse_dynamics_derivatives": Quantity(("q", "qd", "qdd"), effort_derivatives, loaded=True),
    "forward_dynamics_derivatives": Quantity(("q", "qd", "qdd"), acceleration_derivatives, loaded=True),
    "balance_derivatives": Quantity(
        ("q", "qd", "tau", "time", "qdd", "lam"), balance_derivatives, loaded=True
    ),
}
COMPILED: Mapping[str, Quantity] = EVERY | RECORDED


def _room(ask: Ask) -> float:
    """How many operations it may have: a formulation that is not the default is mostly asked for once, to compare."""
    if ask.force or (is_default(ask) and ask.quantity not in METHODS):
        return inf
    return ROOM if is_default(ask) else ROOM_OF_OTHERS


class Kernels:
    """The kernels of one model."""

    def __init__(self, model: Model, store: Store | None = None) -> None:
        self.model = model
        self._store = store if store is not None else Store()
        self._made: dict[tuple[Any, ...], Kernel] = {}

    def can(self, ask: Ask) -> bool:
        """Is this wish compiled? Long mechanisms only have what can be written as loops over the bodies."""
        fits = len(self.model.moving) <= (SPARSE if ask.quantity in CONSTRAINED else UNROLLED)
        return self.model.nv > 0 and (fits or self._is_rolled(ask))

    @property
    def _long(self) -> bool:
        return len(self.model.moving) > UNROLLED

    def _is_rolled(self, ask: Ask) -> bool:
        passive = ask.passive and has_passive(self.model)
        plain = ask.method == "newton-euler" and not ask.external and not passive
        return self._long and ask.quantity == "inverse_dynamics" and plain

    @cached_property
    def _digest(self) -> str:
        return digest(self.model)

    def get(self, ask: Ask, *, dtype: Any = "float64", parameters: tuple[str, ...] = ()) -> Kernel:
        """The kernel of a quantity; named parameters become arguments behind the state."""
        key = (ask, str(dtype), parameters)
        if key not in self._made:
            self._made[key] = Kernel(
                partial(self._traced, ask, parameters),
                dtype=dtype,
                key=repr((self._digest, ask, parameters)),
                store=None if has_functions(self.model) else self._store,
            )
        return self._made[key]

    def _traced(self, ask: Ask, parameters: tuple[str, ...]) -> Program | Rolled:
        if self._is_rolled(ask) and not parameters:
            return rolling.inverse_dynamics(self.model)
        with np.errstate(all="ignore"):  # constants of a mechanism without inertia divide by zero here
            name = CALLED.get(ask.quantity, ask.quantity)
            made, shapes = self._function(ask, parameters), self._shapes(ask, parameters)
            try:
                return trace(made, shapes, name=name, room=_room(ask))
            except LengthError as reason:
                by = f" by method {ask.method!r}" if ask.method else ""
                raise LengthError(
                    f"{self.model.name}: {name}{by} is more than {_room(ask)} operations, which take long to compile; "
                    "force=True compiles them, `reference` of the mechanism evaluates them without",
                    quantity=name,
                    method=ask.method,
                ) from reason

    def _shapes(self, ask: Ask, parameters: tuple[str, ...]) -> dict[str, Shape]:
        sizes = {"q": self.model.nq, "time": 1, "lam": len(ask.kept)}
        shapes: dict[str, Shape] = {
            name: (sizes.get(name, self.model.nv),) for name in COMPILED[ask.quantity].state
        }
        shapes |= {f"external {name}": (WRENCH,) for name in ask.external}
        return shapes | dict.fromkeys(parameters, ())

    def _function(self, ask: Ask, parameters: tuple[str, ...]) -> Callable[..., Any]:
        quantity = COMPILED[ask.quantity]
        n = len(quantity.state)

        def f(*given: Any) -> Any:
            state, wrenches, values = (
                given[:n],
                given[n : n + len(ask.external)],
                given[n + len(ask.external) :],
            )
            model = (
                with_symbols(self.model, dict(zip(parameters, values, strict=True))) if values else self.model
            )
            loads = (dict(zip(ask.external, wrenches, strict=True)),) if quantity.loaded else ()
            return quantity.compute(model, ask, *state, *loads)

        return f
