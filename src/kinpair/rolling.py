"""Long mechanisms: the walks over the bodies as loops of machine code, not one formula for all of them.

`Roller` is the walker of a model: the same steps of the same formulations, taken once for each kind of pair by
the compiler's tape. An argument of an equation is then its name, and a value by body is a field of the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from kinpair.compiler.rolled import Field, Rolled, Tape
from kinpair.formulations import newton_euler
from kinpair.formulations.kinematics import no_wrenches
from kinpair.model.model import Body, Model
from kinpair.pairs import Pair

CONSTANTS = tuple(field.name for field in fields(Body) if field.name != "pair")


class Roller:
    """Takes the steps of a recursion on a tape."""

    def __init__(self, model: Model) -> None:
        self.model = model
        pairs = [model.body[i].pair for i in model.moving]
        self._kinds = list(dict.fromkeys(type(pair) for pair in pairs))
        self._pairs = [next(pair for pair in pairs if type(pair) is kind) for kind in self._kinds]
        kinds = [self._kinds.index(type(pair)) for pair in pairs]
        self.tape = Tape([j - 1 for j in model.parent[1:]], kinds)
        self._bodies = self.tape.constants([self._numbers(i) for i in model.moving])

    def _numbers(self, i: int) -> dict[str, Any]:
        """The constants of a body as nested arrays, which kind of pair it has among them."""
        body = self.model.body[i]
        own = {f"pair.{f.name}": getattr(body.pair, f.name) for f in fields(body.pair)}  # type: ignore[arg-type]
        kind = {"kind": float(self._kinds.index(type(body.pair)))}
        return {**{name: getattr(body, name) for name in CONSTANTS}, **own, **kind}

    def _body(self, numbers: dict[str, Any]) -> Body:
        """A body whose constants are those of all bodies of its kind, symbols where they differ."""
        own = {name.removeprefix("pair."): x for name, x in numbers.items() if name.startswith("pair.")}
        pair: Pair = replace(self._pairs[int(numbers["kind"])], **own)  # type: ignore[type-var]
        return Body(pair, **{name: numbers[name] for name in CONSTANTS})

    def _fields(self, values: Sequence[Any]) -> list[Field]:
        """Fields as they are; lists of numbers by body as constants."""
        return [x if isinstance(x, Field) else self.tape.constants(list(x)[1:]) for x in values]

    def each(self, step: Callable[..., Any], *values: Any) -> Field:
        """x_i = step(body, given_i...)."""
        return self.tape.each(
            lambda body, *x: step(self._body(body), *x), self._bodies, *self._fields(values)
        )

    def outward(self, step: Callable[..., Any], ground: Any, *values: Any) -> Field:
        """x_i = step(body, x_parent, given_i...)."""
        return self.tape.outward(
            lambda parent, body, *x: step(self._body(body), parent, *x),
            ground,
            self._bodies,
            *self._fields(values),
        )

    def inward(self, step: Callable[..., Any], nothing: Any, *values: Any) -> Field:
        """x_i, y_i = step(body, Σ y_child, given_i...)."""
        return self.tape.inward(
            lambda outer, body, *x: step(self._body(body), outer, *x),
            nothing,
            self._bodies,
            *self._fields(values),
        )

    def coordinates(self, name: Any) -> Field:
        """The coordinates called `name` by body."""
        return self._input(name, self.model.nq, self.model.q_span, [pair.nq for pair in self._pairs])

    def rates(self, name: Any) -> Field:
        """The rates called `name` by body."""
        return self._input(name, self.model.nv, self.model.v_span, [pair.nv for pair in self._pairs])

    def _input(self, name: str, size: int, spans: Sequence[slice], widths: Sequence[int]) -> Field:
        return self.tape.input(name, size, [span.start for span in spans[1:]], widths)

    def joined(self, field: Field) -> Field:
        """A vector by body; `written` puts it in the order of the rates."""
        return field

    def written(self, name: str, field: Field) -> Rolled:
        """The whole recording, with one vector over the rates as its result."""
        self.tape.output(name, self.model.nv, field, [span.start for span in self.model.v_span[1:]])
        return self.tape.finish(name)


def inverse_dynamics(model: Model) -> Rolled:
    """Newton–Euler's inverse dynamics as loops over the bodies; no loads but gravity."""
    roller = Roller(model)
    rolled = replace(model, walker=roller)
    names: tuple[Any, ...] = ("q", "qd", "qdd")
    with np.errstate(all="ignore"):
        return roller.written("tau", newton_euler.inverse_dynamics(rolled, *names, no_wrenches(model)))  # type: ignore[arg-type]
