"""Compilation of the quantities of one model. Only this file and `body_loops.py` know both.

A kernel is made when first asked for and kept in memory and on disk. Its key says what determines the code:
the model to the last bit, the quantity, how it is asked for; the compiler adds sources, versions and CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from math import inf
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import at, jacobian, like_symbols, operations
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.trace import is_longer, trace
from kinpair.constraints import quantities as constrained
from kinpair.constraints.quantities.table import CALLED, CONSTRAINED, EVERY, LOOPS
from kinpair.errors import InputError, LengthError
from kinpair.evaluation.quantities.derivatives import forward_of, solved_for
from kinpair.evaluation.quantities.dynamics import forward_dynamics, inverse_dynamics
from kinpair.evaluation.quantities.request import METHODS, External, Request, is_default
from kinpair.evaluation.quantities.table import Quantity, timed
from kinpair.forces.elements import is_timed, loads_on
from kinpair.forces.states import ports_of
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.digest import digest, has_functions
from kinpair.model.model import Model
from kinpair.model.slip import sliding
from kinpair.model.state import State
from kinpair.model.symbols import with_symbols

WRENCH = 6
SPARSE = 600  # bodies: many short branches between loops
ROOM, ROOM_OF_OTHERS = 400_000, 100_000  # operations; LLVM takes some ten seconds for 100 000
UNROLLED = 120  # bodies: the one formula of a longer mechanism would be too long to compile
LOOPED = (
    20_000  # operations: beyond, loops over the bodies are as fast as a formula that folds little more, and
)
# compiled in a tenth of the time
BOTH = (
    8  # rates: up to here derivatives are recorded in two ways; the closed form of more has fewer operations
)
FEW = 12  # bodies, of which no quantity that has loops takes as many operations


def effort_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix]:
    """Derivatives in closed form where there is one, else by the chain rule on the recorded inverse dynamics; of a
    mechanism with few rates by what has fewer operations. ∂/∂q along the directions of the rates."""
    own = _in_closed_form(model, request, State(q, qd, time=model.time), qdd, loads)
    if own is not None and model.nv > BOTH:
        return own
    tau = inverse_dynamics(model, request, q, qd, qdd, loads)
    chained = _along_rates(model, q, jacobian(tau, q)), jacobian(tau, qd)
    return chained if own is None else min(chained, own, key=operations)


def _in_closed_form(
    model: Model, request: Request, state: State, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix] | None:
    """Derivatives by (ED11) and (ED12), with those of passive efforts by the chain rule.

    None for other formulations, where wrenches act on bodies, and for pairs whose axes move."""
    from kinpair.formulations import effort_derivatives as closed

    usual = is_default(replace(request, quantity="inverse_dynamics")) and model.terms is None
    if not usual or loads or is_loaded(model, passive=request.passive) or not closed.serves(model):
        return None
    moved = sliding(model, state.qd, qdd) if request.passive and model.slip is None else model
    acting = loads_on(moved, state, passive=request.passive)
    if not all(is_nothing(x) for w in acting.wrenches for x in w):
        return None
    by_q, by_qd = closed.effort_derivatives(model, state.q, state.qd, qdd)
    if all(map(is_nothing, acting.efforts)):
        return by_q, by_qd
    passive = acting.efforts
    return by_q - _along_rates(model, state.q, jacobian(passive, state.q)), by_qd - jacobian(
        passive, state.qd
    )


def _along_rates(model: Model, q: Vector, J: Matrix) -> Matrix:
    """∂/∂q (nv, nq) → (nv, nv): times the columns dq/dt of unit rates."""
    if model.nq == model.nv:
        return J
    return J @ array([list(kinematics.dq_dt(model, q, unit)) for unit in np.eye(model.nv)]).T


def acceleration_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """Derivatives of the accelerations."""
    by_q, by_qd = effort_derivatives(model, request, q, qd, qdd, loads)
    if not is_loaded(model, passive=request.passive):
        return solved_for(model, q, by_q, by_qd)
    return solved_for(
        model, q, by_q, by_qd, jacobian(inverse_dynamics(model, request, q, qd, qdd, loads), qdd)
    )


def derivatives_at_efforts(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[tuple[Matrix, Matrix, Matrix], Vector]:
    """Derivatives of the efforts at the accelerations that the efforts make; they count as constants while ∂τ is
    taken."""
    qdd, soundness = forward_dynamics(model, forward_of(request), q, qd, tau, loads)
    constant = like_symbols("qdd", tau)
    wanted = replace(request, quantity="forward_dynamics_derivatives")
    by_q, by_qd = effort_derivatives(model, wanted, q, qd, constant, loads)
    return solved_for(model, q, *(at(D, constant, qdd) for D in (by_q, by_qd))), soundness


def balance_derivatives(model: Model, request: Request, *arguments: Any) -> tuple[Matrix, Matrix]:
    """Derivatives by q and q̇ of what vanishes in motion, see `constrained.balance`; arguments: those of `Moving`, and
    the loads."""
    *motion, loads = arguments
    x = constrained.Moving(*motion)
    missing = constrained.balance(model, request, x, loads)
    return _along_rates(model, x.q, jacobian(missing, x.q)), jacobian(missing, x.qd)


def balance_slopes(model: Model, request: Request, *arguments: Any) -> constrained.Slopes:
    """Derivatives of the balance by q, q̇, τ, q̈ and λ."""
    *motion, loads = arguments
    x = constrained.Moving(*motion)
    missing = constrained.balance(model, request, x, loads)
    by_q, *others = (jacobian(missing, part) for part in (x.q, x.qd, x.tau, x.qdd, x.lam))
    return constrained.Slopes(_along_rates(model, x.q, by_q), *others)


def constrained_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[tuple[Matrix, ...], Scalar]:
    """∂q̈ under constraints, and one where the result is accepted, zero where it must be solved again."""
    solution = constrained.solve(model, request, State(q, qd, tau=tau, time=time[0]), loads)
    motion = np.concatenate([solution.qdd, solution.lam])
    constant = like_symbols("motion", np.resize(tau, len(motion)))
    still = constant[: model.nv], constant[model.nv :]
    if is_loaded(model, passive=request.passive):
        slopes = balance_slopes(model, request, q, qd, tau, time, *still, loads)
        here = constrained.Slopes(*(at(D, constant, motion) for D in slopes))
        return constrained.by_slopes(here, model), solution.soundness[1] * solution.alone
    found = balance_derivatives(model, request, q, qd, tau, time, *still, loads)
    at_motion = (at(D, constant, motion) for D in found)
    balances = ((D[: model.nv], D[model.nv :]) for D in at_motion)
    return tuple(constrained.embedded(solution.equations.problem(request), *balances)), solution.soundness[1]


def rate_row_derivatives(model: Model, request: Request, q: Vector, qd: Vector, time: Vector) -> Matrix:
    """∂ψ/∂q of every row of the constraints."""
    return _along_rates(model, q, jacobian(constrained.rate_rows(model, request, q, qd, time), q))


RECORDED: dict[str, Quantity] = {
    "inverse_dynamics_derivatives": Quantity(("q", "qd", "qdd"), effort_derivatives, loaded=True),
    "forward_dynamics_derivatives": Quantity(("q", "qd", "qdd"), acceleration_derivatives, loaded=True),
    "derivatives_at_efforts": Quantity(("q", "qd", "tau"), derivatives_at_efforts, loaded=True),
    "constrained_derivatives": Quantity(("q", "qd", "tau", "time"), constrained_derivatives, loaded=True),
    "rate_row_derivatives": Quantity(("q", "qd", "time"), rate_row_derivatives),
    "balance_slopes": Quantity(("q", "qd", "tau", "time", "qdd", "lam"), balance_slopes, loaded=True),
    "balance_derivatives": Quantity(
        ("q", "qd", "tau", "time", "qdd", "lam"), balance_derivatives, loaded=True
    ),
}
COMPILED: Mapping[str, Quantity] = EVERY | RECORDED


def _room(request: Request) -> float:
    """Number of operations that it may have: a formulation that is not the default is mostly asked for once, to
    compare; derivatives under constraints take another path."""
    if request.quantity == "constrained_derivatives":
        return ROOM_OF_OTHERS
    if request.force or (is_default(request) and request.quantity not in METHODS):
        return inf
    return ROOM if is_default(request) else ROOM_OF_OTHERS


_SLIDES = (
    "Friction from load: made for states in which every joint that has it slides. Look at {}: it is 1 where the loads "
    "were found and all of them slide. Elsewhere, and always at rest, the accelerations are not those of the mechanism."
)
NOTES = {
    "forward_dynamics": _SLIDES.format("the last of the numbers next to the accelerations"),
    "accelerations": _SLIDES.format("the last result"),
    "inverse_dynamics": "Friction from load has the direction of qd, where that is zero of qdd; none where both are.",
}


def _note(model: Model, request: Request) -> str:
    """Note that a user of exported code must know."""
    return NOTES.get(request.quantity, "") if is_loaded(model, passive=request.passive) else ""


def are_loops_preferred(count: int, function: Callable[..., Any], shapes: Mapping[str, Shape]) -> bool:
    """True where loops of `count` operations are too many, and one formula, which folds more, has more than half."""
    if count <= LOOPED:
        return False
    with np.errstate(all="ignore"):
        return is_longer(function, shapes, min(LOOPED, count // 2))


class Kernels:
    """The kernels of one model."""

    def __init__(self, model: Model, store: Store | None = None) -> None:
        self.model = model
        self._store = store if store is not None else Store()
        self._kernels: dict[tuple[Any, ...], Kernel] = {}
        self._rolled: dict[Request, Rolled] = {}
        self._long: dict[Request, bool] = {}

    def can(self, request: Request) -> bool:
        """True if this request is compiled. Long mechanisms only have what can be written as loops over the bodies."""
        fits = len(self.model.moving) <= (SPARSE if request.quantity in CONSTRAINED else UNROLLED)
        return self.model.nv > 0 and (fits or self.is_rolled(request))

    def is_rolled(self, request: Request) -> bool:
        """True where it is compiled as loops over the bodies, because one formula would have too many operations."""
        if request not in self._long:
            few = (
                (len(self.model.moving) <= FEW and request.quantity not in LOOPS)
                or self._obstacle(request)
                or is_timed(self.model)
            )
            many = len(self.model.moving) > UNROLLED or request.quantity in LOOPS
            self._long[request] = not few and (many or self._is_long(request))
        return self._long[request]

    def _is_long(self, request: Request) -> bool:
        """True where loops over the bodies are preferred to one formula for this request."""
        count = self._loops(request).count["total"]
        return are_loops_preferred(count, self._function(request, ()), self._shapes(request, ()))

    def _obstacle(self, request: Request, parameters: tuple[str, ...] = ()) -> str:
        """Return why a quantity cannot be compiled as loops over the bodies; empty where it can be."""
        from kinpair.evaluation import body_loops

        return body_loops.obstacle(self.model, request, parameters)

    def _loops(self, request: Request) -> Rolled:
        """The quantity as loops over the bodies; recorded once."""
        if request not in self._rolled:
            name, quantity = CALLED.get(request.quantity, request.quantity), self._quantity(request)
            closed = request.quantity in LOOPS
            function = self._function(request, ())
            from kinpair.evaluation import body_loops

            self._rolled[request] = body_loops.rolled(
                self.model, name, quantity.state, function, closed=closed
            )
        return self._rolled[request]

    @cached_property
    def _digest(self) -> str:
        return digest(self.model)

    def get(
        self,
        request: Request,
        *,
        dtype: Any = "float64",
        parameters: tuple[str, ...] = (),
        rolled: bool | None = None,
    ) -> Kernel:
        """The kernel of a quantity; named parameters become arguments behind the state.

        rolled: whether it is compiled as loops over the bodies; None: where it has many operations.
        """
        if rolled and (obstacle := self._obstacle(request, parameters)):
            raise InputError(
                f"{self.model.name}: {request.quantity} cannot be compiled as loops over the bodies: {obstacle}; "
                "leave out rolled=True",
                quantity=request.quantity,
            )
        looped = rolled if rolled is not None else not parameters and self.is_rolled(request)
        key = (request, str(dtype), parameters, looped)
        if key not in self._kernels:
            straight = partial(self._traced, request, parameters)
            kernel = Kernel(
                partial(self._loops, request) if looped else straight,
                dtype=dtype,
                key=repr((self._digest, request, parameters, looped)),
                store=self.store,
                within=partial(self._short, request) if looped else straight,
                straight=straight,
            )
            self._kernels.setdefault(key, kernel)  # of several threads the first one's
        return self._kernels[key]

    @property
    def store(self) -> Store | None:
        """Store where code is kept between runs; nowhere where the model holds functions of Python."""
        return None if has_functions(self.model) else self._store

    def key_of(self, request: Request, *more: str) -> str:
        """Key of code that is made of a quantity elsewhere."""
        return repr((self._digest, request, *more))

    def function_of(self, request: Request) -> Callable[..., Any]:
        """The quantity as a function of its state and of `model`."""
        return self._function(request, ())

    def _short(self, request: Request, most: float) -> Rolled:
        """The loops; LengthError where they have more than `most` operations."""
        if self._loops(request).count["total"] > most:
            raise LengthError(f"{self.model.name}: a loop over bodies")
        return self._loops(request)

    def adopt(self, request: Request, kernel: Kernel) -> None:
        """Make sure that a request is answered by a kernel that was made elsewhere for it."""
        self._kernels[request, "float64", (), False] = kernel

    def _traced(self, request: Request, parameters: tuple[str, ...], most: float = inf) -> Program:
        """The program; LengthError where it has more than `most` operations. Functions of a user run to their end,
        so that no other thread runs them."""
        room = _room(request) if has_functions(self.model) else min(most, _room(request))
        with np.errstate(all="ignore"):  # constants of a mechanism without inertia divide by zero here
            name = CALLED.get(request.quantity, request.quantity)
            function, shapes = self._function(request, parameters), self._shapes(request, parameters)
            try:
                return replace(trace(function, shapes, name=name, room=room), note=_note(self.model, request))
            except LengthError as reason:
                by = f" by method {request.method!r}" if request.method else ""
                raise LengthError(
                    f"{self.model.name}: {name}{by} is more than {_room(request)} operations, which take long "
                    "to compile; force=True compiles them, `reference` of the mechanism evaluates them without",
                    quantity=name,
                    method=request.method,
                ) from reason

    def _shapes(self, request: Request, parameters: tuple[str, ...]) -> dict[str, Shape]:
        ports = ports_of(self.model)
        own = {"x": len(ports.x_names), "u": len(ports.u_names)}
        near = len(surfaces_of(self.model))
        sizes = {"q": self.model.nq, "time": 1, "lam": len(request.kept), "near": near, **own}
        shapes: dict[str, Shape] = {
            name: (sizes.get(name, self.model.nv),) for name in self._quantity(request).state
        }
        shapes |= {f"external {name}": (WRENCH,) for name in request.external}
        return shapes | dict.fromkeys(parameters, ())

    def _quantity(self, request: Request) -> Quantity:
        quantity = COMPILED[request.quantity]
        return timed(quantity) if is_timed(self.model) else quantity

    def _function(self, request: Request, parameters: tuple[str, ...]) -> Callable[..., Any]:
        quantity = self._quantity(request)
        n = len(quantity.state)

        def f(*arguments: Any, model: Model = self.model) -> Any:
            state, wrenches, values = (
                arguments[:n],
                arguments[n : n + len(request.external)],
                arguments[n + len(request.external) :],
            )
            model = with_symbols(model, dict(zip(parameters, values, strict=True))) if values else model
            loads = (dict(zip(request.external, wrenches, strict=True)),) if quantity.loaded else ()
            return quantity.compute(model, request, *state, *loads)

        return f
