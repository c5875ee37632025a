"""Calls of quantities: straight to machine code where the arguments are usual, checked and explained elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constrained import CALLED, EVERY
from kinpair.errors import InputError, LengthError
from kinpair.evaluation import Expected, Given, evaluate, given
from kinpair.model.model import Model
from kinpair.quantities import Ask, check_method

if TYPE_CHECKING:
    from kinpair.kernels import Kernels


class Calls:
    """What evaluates each wish of one model: compiled code, or the reference."""

    def __init__(self, model: Model, compiled: bool) -> None:
        self.model = model
        self.compiled = compiled
        rates = dict.fromkeys(("qd", "qdd", "tau"), model.v_names)
        entries = {"q": model.q_names, **rates, "time": ("time",)}
        self._expected = {name: Expected(name, names) for name, names in entries.items()}
        self._ready: dict[Ask, Any] = {}

    @cached_property
    def kernels(self) -> Kernels:
        """The compiled quantities; the compiler is imported here."""
        from kinpair.kernels import Kernels

        return Kernels(self.model)

    def __call__(self, ask: Ask, arguments: tuple[Any, ...], out: Any = None, threads: int = 1) -> Any:
        """The quantity of the state and the wrenches, in the order of the wish."""
        call = self._ready.get(ask) or self._prepared(ask)
        if self._quaternions.size:
            self._check_quaternions(arguments[0])
        if out is None and threads == 1:
            return call(*arguments)
        return call(*arguments, out=out, threads=threads)

    def asking(self, ask: Ask) -> Any:
        """A function of the arguments and of `out=`, `threads=`."""

        def call(*arguments: Any, out: Any = None, threads: int = 1) -> Any:
            return self(ask, arguments, out, threads)

        return call

    def checked(self, name: str, value: Any) -> np.ndarray:
        """An argument of one state or of a batch, checked."""
        return self._expected[name].checked(self.model.name, value)

    def given(self, external: Mapping[str, Any], **state: Any) -> Given:
        """Arguments and wrenches of one state or of a batch, checked alone and against each other."""
        return given(self.model.name, [(self._expected[name], x) for name, x in state.items()], external)

    def one(self, name: str, value: Any) -> np.ndarray:
        """An argument of one state, checked."""
        x = self.checked(name, value)
        if x.ndim != 1:
            raise InputError(
                f"{self.model.name}: {name} has shape {x.shape}; this takes one state", argument=name
            )
        return x

    def direct(self, ask: Ask, method: Any) -> Any:
        """A function in the place of `method`: machine code that hands unusual arguments back to it."""
        if not (self.compiled and self.kernels.can(ask)):
            return method
        entry = self.kernels.get(ask).entry(method)
        return self._looking_at_quaternions(entry, method) if self._quaternions.size else entry

    def _looking_at_quaternions(self, entry: Any, method: Any) -> Any:
        """The entry for one state whose quaternions turn; everything else goes to the method."""
        first = [(k, k + 1, k + 2, k + 3) for k in self._quaternions[:, 0].tolist()]
        shape = (self.model.nq,)

        def call(*arguments: Any, **options: Any) -> Any:
            q = arguments[0] if arguments else None
            if options or type(q) is not np.ndarray or q.shape != shape:
                return method(*arguments, **options)
            for x, y, z, w in first:
                if not (q[w] or q[x] or q[y] or q[z]):
                    return method(*arguments)
            return entry(*arguments)

        return call

    def _prepared(self, ask: Ask) -> Any:
        check_method(self.model, ask)
        for name in ask.external:
            self.model.place(name)
        call = self._code(ask) or partial(self._interpreted, ask)
        self._ready[ask] = call
        return call

    def _code(self, ask: Ask) -> Any:
        """Machine code; None where there is none, or where it would be too long to compile."""
        if not (self.compiled and self.kernels.can(ask)):
            return None
        try:
            return self.kernels.get(ask).entry(partial(self._explained, ask))
        except LengthError:
            return None

    def _given(self, ask: Ask, arguments: tuple[Any, ...]) -> Given:
        names = EVERY[ask.quantity].state
        every = {**self._expected, "lam": Expected("lam", tuple(map(str, ask.kept)))}
        state = [(every[name], x) for name, x in zip(names, arguments, strict=False)]
        wrenches = dict(zip(ask.external, arguments[len(names) :], strict=True))
        return given(self.model.name, state, wrenches)

    def _explained(self, ask: Ask, *arguments: Any, out: Any = None, threads: int = 1) -> Any:
        """Arguments that are not plain arrays of the right shape: converted, or refused with a reason."""
        x = self._given(ask, arguments)
        return self.kernels.get(ask).general(*x.state, *x.external.values(), out=out, threads=threads)

    def _interpreted(self, ask: Ask, *arguments: Any, out: Any = None, threads: int = 1) -> Any:
        """The reference road."""
        quantity = EVERY[ask.quantity]
        compute = partial(quantity.compute, self.model, ask)
        if threads != 1:
            from kinpair.compiler.arguments import whole_threads

            whole_threads(CALLED.get(ask.quantity, ask.quantity), threads)
        x = self._given(ask, arguments)
        result = evaluate(compute, x, quantity.loaded, quantity.columns)
        return result if out is None else _copied(ask.quantity, result, out, x.batch)

    @cached_property
    def _with_quaternion(self) -> list[int]:
        return [i for i in self.model.moving if self.model.body[i].pair.nq > self.model.body[i].pair.nv]

    @cached_property
    def _quaternions(self) -> np.ndarray:
        """Where the quaternions are in q (joints, 4)."""
        stops = [self.model.q_span[i].stop for i in self._with_quaternion]
        return np.array([range(stop - 4, stop) for stop in stops], dtype=int).reshape(-1, 4)

    def _check_quaternions(self, q: Any) -> None:
        turning = self._expected["q"].checked(self.model.name, q)[..., self._quaternions].any(-1)
        if not turning.all():
            k = int(np.argwhere(~turning)[0][-1])
            joint = self.model.joint_names[self._with_quaternion[k]]
            raise InputError(
                f"{self.model.name}: joint {joint!r} has the quaternion 0 0 0 0 in q; no rotation is 0 0 0 1",
                joint=joint,
            )


def _copied(name: str, result: Any, out: Any, batch: int | None) -> Any:
    """The results in the arrays given for them."""
    from kinpair.compiler.arguments import checked_out

    found = result if isinstance(result, tuple) else (result,)
    targets = out if isinstance(out, tuple) else (out,)
    shapes = {str(k): x.shape[0 if batch is None else 1 :] for k, x in enumerate(found)}
    for target, x in zip(checked_out(name, shapes, targets, batch, np.dtype(float)), found, strict=True):
        target[...] = x
    return out
