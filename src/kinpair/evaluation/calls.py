"""Calls of quantities: straight to machine code where the arguments are usual, checked and explained elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.choice import holds_symbols
from kinpair.algebra.user_arrays import UserArray, user_array
from kinpair.constraints.quantities.table import CALLED, CONSTRAINED, quantity_of
from kinpair.errors import InputError, LengthError, TraceError
from kinpair.evaluation.arguments import WRENCH, Arguments, Expected, checked_arguments, evaluate
from kinpair.evaluation.quantities.request import Request, check_method
from kinpair.forces.elements import is_timed
from kinpair.forces.states import ports_of
from kinpair.model.model import Model

if TYPE_CHECKING:
    from kinpair.compiler.entry_table import Outcome
    from kinpair.compiler.kernel import Kernel
    from kinpair.evaluation.kernels import Kernels

MOST_ROWS, MOST_ROWS_ONE_BY_ONE = 1024, 4  # of a batch that the reference answers while code is made


class Calls:
    """Evaluation of the requests of one model: compiled code, or the reference; `kernels` where some are there."""

    def __init__(self, model: Model, compiled: bool, kernels: Kernels | None = None) -> None:
        self.model = model
        self.compiled = compiled
        if kernels is not None:
            self.kernels = kernels
        rates = dict.fromkeys(("qd", "qdd", "tau", "slip"), model.v_names)
        entries = {"q": model.q_names, **rates, "time": ("time",)}
        self._expected = {name: Expected(name, names) for name, names in entries.items()}
        self._ready: dict[Request, Any] = {}
        self._defaults: dict[str, np.ndarray] = {}

    def defaults(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Values of those arguments that a caller may leave out: time, internal states, inputs."""
        ways = {
            "time": lambda: np.zeros(1),
            "x": lambda: np.array(ports_of(self.model).x_start, dtype=float),
            "u": lambda: np.zeros(len(ports_of(self.model).u_names)),
        }
        for name in ways.keys() & set(names) - self._defaults.keys():
            self._defaults[name] = ways[name]()  # kept: machine code points to it
        return self._defaults

    @cached_property
    def kernels(self) -> Kernels:
        """The compiled quantities; the compiler is imported here."""
        from kinpair.evaluation.kernels import Kernels

        return Kernels(self.model)

    def __call__(
        self, request: Request, arguments: tuple[Any, ...], out: Any = None, threads: int = 1
    ) -> Any:
        """The quantity of the state and the wrenches, in the order of the request."""
        call = self._ready.get(request) or self._prepared(request)
        if self._timed:
            arguments = self._with_time(request, arguments)
        if self.quaternions.size:
            self._check_quaternions(arguments[0])
        if out is None and threads == 1:
            return call(*arguments)
        return call(*arguments, out=out, threads=threads)

    @cached_property
    def _timed(self) -> bool:
        return is_timed(self.model)

    def _with_time(self, request: Request, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with time zero where the quantity takes a time and none is among them."""
        n = len(quantity_of(self.model, request.quantity).state)
        if len(arguments) == n + len(request.external):
            return arguments
        return (*arguments[: n - 1], np.zeros(1), *arguments[n - 1 :])

    def caller_of(self, request: Request) -> Any:
        """A function of the arguments and of `out=`, `threads=`."""

        def call(*arguments: Any, out: Any = None, threads: int = 1) -> Any:
            return self(request, arguments, out, threads)

        return call

    def checked(self, name: str, value: Any) -> np.ndarray:
        """An argument of one state or of a batch, checked."""
        return self._expect(name).checked(self.model.name, value)

    def _expect(self, name: str) -> Expected:
        """Expected form of an argument; the elements of a model are asked for their states and inputs only where
        needed."""
        if name not in self._expected:
            ports = ports_of(self.model)
            self._expected |= {"x": Expected("x", ports.x_names), "u": Expected("u", ports.u_names)}
        return self._expected[name]

    def checked_arguments(self, external: Mapping[str, Any], **state: Any) -> Arguments:
        """Arguments and wrenches of one state or of a batch, checked alone and against each other."""
        return checked_arguments(
            self.model.name, [(self._expect(name), x) for name, x in state.items()], external
        )

    def one(self, name: str, value: Any) -> np.ndarray:
        """An argument of one state, checked."""
        x = self.checked(name, value)
        if x.ndim != 1:
            raise InputError(
                f"{self.model.name}: {name} has shape {x.shape}; this takes one state", argument=name
            )
        return x

    def direct(self, request: Request, method: Any) -> Any:
        """A function in the place of `method`: machine code that hands unusual arguments back to it."""
        kernel = self.kernel(request)
        if kernel is None or not self.is_settled(request):
            return method
        return kernel.entry(method, replace(self.outcome(request), line=None, shape=None))

    def kernel(self, request: Request) -> Kernel | None:
        """Kernel of the request; None where it is evaluated without."""
        return self.kernels.get(request) if self.compiled and self.kernels.can(request) else None

    def is_settled(self, request: Request) -> bool:
        """True if it is known what answers the request: not while its first code is being made."""
        from kinpair.compiler.background import must_wait

        kernel = self.kernel(request)
        return kernel is None or bool(kernel.making.made) or must_wait() or not self._goes_on(request)

    def outcome(self, request: Request) -> Outcome:
        """Data that machine code looks at, and hands out."""
        from kinpair.compiler.entry_table import Outcome

        quantity = quantity_of(self.model, request.quantity)
        quaternions = tuple(self.quaternions[:, 0].tolist()) if quantity.state[0] == "q" else ()
        return Outcome(quaternions, (), quantity.line, quantity.shape)

    def _prepared(self, request: Request) -> Any:
        check_method(self.model, request)
        for name in request.external:
            self.model.place(name)
        if not self.is_settled(request):
            return partial(self._explained, request)
        call = self._code(request) or partial(self._interpreted, request)
        self._ready[request] = call
        return call

    def _code(self, request: Request) -> Any:
        """Machine code; None where there is none, or where it would be too long to compile."""
        try:
            kernel = self.kernel(request)
            return None if kernel is None else kernel.entry(partial(self._explained, request))
        except LengthError:
            return None

    def _named(self, request: Request, arguments: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
        """Name what is expected of the state, with its values; and the wrenches."""
        names = quantity_of(self.model, request.quantity).state
        lam = {"lam": Expected("lam", tuple(map(str, request.kept)))}
        state = [(lam.get(name) or self._expect(name), x) for name, x in zip(names, arguments, strict=False)]
        return state, dict(zip(request.external, arguments[len(names) :], strict=True))

    def _checked(self, request: Request, arguments: tuple[Any, ...]) -> Arguments:
        return checked_arguments(self.model.name, *self._named(request, arguments))

    def _recorded(self, request: Request, arguments: tuple[Any, ...]) -> Any:
        """The quantity of symbols: its equations run on them, and become part of what is being recorded."""
        owner, quantity = self.model.name, quantity_of(self.model, request.quantity)
        if not quantity.recorded:
            raise TraceError(
                f"{owner}: {request.quantity} is differentiated when it is compiled, and cannot be recorded in another "
                "function"
            )
        state, external = self._named(request, arguments)
        numbers = [expected.recorded(owner, x) for expected, x in state]
        loads = {name: Expected(name, WRENCH).recorded(owner, w) for name, w in external.items()}
        value = quantity.compute(self.model, request, *numbers, *([loads] if quantity.loaded else []))
        return user_array(value) if any(isinstance(x, UserArray) for x in arguments) else value

    def _explained(self, request: Request, *arguments: Any, out: Any = None, threads: int = 1) -> Any:
        """Arguments that are not plain arrays of the right shape: converted, or refused with a reason."""
        if any(map(holds_symbols, arguments)):
            return self._recorded(request, arguments)
        x = self._checked(request, arguments)
        kernel, form = self.kernels.get(request), "one" if x.batch is None else "batch"
        patient = (
            request.quantity in CONSTRAINED
        )  # rows lose their meaning in some positions: rounding tells where
        try:
            if not self._goes_on(request, x.batch) or kernel.making.is_near(form, patient=patient):
                return kernel.general(*x.state, *x.external.values(), out=out, threads=threads)
        except LengthError:
            self._ready[request] = partial(self._interpreted, request)
            return self._interpreted(request, *arguments, out=out, threads=threads)
        answer = self._interpreted(request, *arguments, out=out, threads=threads)
        kernel.making.begin(form)
        return answer

    def _goes_on(self, request: Request, batch: int | None = None) -> bool:
        """True if the reference answers while code is made. Large batches wait, since code is there before the
        reference would be done; so do loops over bodies, and friction from load, which the reference solves another
        path."""
        rows = MOST_ROWS if quantity_of(self.model, request.quantity).columns else MOST_ROWS_ONE_BY_ONE
        waits = bool(self.model.surfaces) or self.kernels.is_rolled(request)
        return not waits and (batch or 0) <= rows

    def _by_columns(self, request: Request) -> bool:
        by_columns = quantity_of(self.model, request.quantity).columns
        return by_columns and not self.model.surfaces  # Newton's method takes one state

    def _interpreted(self, request: Request, *arguments: Any, out: Any = None, threads: int = 1) -> Any:
        """The reference road."""
        if any(map(holds_symbols, arguments)):
            return self._recorded(request, arguments)
        quantity = quantity_of(self.model, request.quantity)
        compute = partial(quantity.compute, self.model, request)
        if threads != 1:
            from kinpair.compiler.arguments import whole_threads

            whole_threads(CALLED.get(request.quantity, request.quantity), threads)
        x = self._checked(request, arguments)
        result = evaluate(compute, x, quantity.loaded, self._by_columns(request))
        return result if out is None else _copied(request.quantity, result, out, x.batch)

    @cached_property
    def _with_quaternion(self) -> list[int]:
        which, chosen = self.model.different
        pairs = [self.model.body[i].pair for i in chosen]
        return np.flatnonzero(np.array([pair.nq > pair.nv for pair in pairs])[which]).tolist()

    @cached_property
    def quaternions(self) -> np.ndarray:
        """Places of the quaternions in q (joints, 4)."""
        stops = [self.model.q_span[i].stop for i in self._with_quaternion]
        return np.array([range(stop - 4, stop) for stop in stops], dtype=int).reshape(-1, 4)

    def _check_quaternions(self, q: Any) -> None:
        if holds_symbols(q):
            return
        turning = self._expected["q"].checked(self.model.name, q)[..., self.quaternions].any(-1)
        if not turning.all():
            k = int(np.argwhere(~turning)[0][-1])
            joint = self.model.joint_names[self._with_quaternion[k]]
            raise InputError(
                f"{self.model.name}: joint {joint!r} has the quaternion 0 0 0 0 in q, which is not a rotation; "
                "the identity is 0 0 0 1",
                joint=joint,
            )


def _copied(name: str, result: Any, out: Any, batch: int | None) -> Any:
    """The results in the arrays given for them."""
    from kinpair.compiler.arguments import checked_out
    from kinpair.compiler.program import flatten

    results, targets = ([x for _, x in flatten(value)[1]] for value in (result, out))
    shapes = {str(k): x.shape[0 if batch is None else 1 :] for k, x in enumerate(results)}
    for target, x in zip(checked_out(name, shapes, targets, batch, np.dtype(float)), results, strict=True):
        target[...] = x
    return out
